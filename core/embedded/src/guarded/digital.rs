//! Pins that can fail: those of I/O expanders and of anything else behind a bus.
//!
//! A chip's own pins never fail, and guarding them would only cost. Waiting for an edge
//! (`embedded-hal-async`'s `Wait`) is not guarded: an edge that does not come is no answer.

use embedded_hal::digital::{Error, ErrorKind, ErrorType, InputPin, OutputPin, PinState, StatefulOutputPin};

use super::{CircuitBreaker, Guarded, GuardedError, Policy, Recover};

impl<E: Error> Error for GuardedError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected(_) => ErrorKind::Other,
            Self::Failed(error) => error.kind(),
        }
    }
}

impl<T: ErrorType, B, P, R> ErrorType for Guarded<T, B, P, R> {
    type Error = GuardedError<T::Error>;
}

impl<T, B, P, R> OutputPin for Guarded<T, B, P, R>
where
    T: OutputPin,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn set_low(&mut self) -> Result<(), Self::Error> {
        self.set_state(PinState::Low)
    }

    #[inline]
    fn set_high(&mut self) -> Result<(), Self::Error> {
        self.set_state(PinState::High)
    }

    #[inline]
    fn set_state(&mut self, state: PinState) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.set_state(state);
        call.end(&mut self.policy, answer)
    }
}

impl<T, B, P, R> StatefulOutputPin for Guarded<T, B, P, R>
where
    T: StatefulOutputPin,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn is_set_high(&mut self) -> Result<bool, Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.is_set_high();
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn is_set_low(&mut self) -> Result<bool, Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.is_set_low();
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn toggle(&mut self) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.toggle();
        call.end(&mut self.policy, answer)
    }
}

impl<T, B, P, R> InputPin for Guarded<T, B, P, R>
where
    T: InputPin,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn is_high(&mut self) -> Result<bool, Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.is_high();
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn is_low(&mut self) -> Result<bool, Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.is_low();
        call.end(&mut self.policy, answer)
    }
}
