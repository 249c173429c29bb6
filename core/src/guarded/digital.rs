//! Pins that can fail: those of I/O expanders and of anything else behind a bus.
//!
//! A chip's own pins never fail, and guarding them would only cost. Waiting for an edge
//! (`embedded-hal-async`'s `Wait`) is not guarded: an edge that does not come is no answer.

use embedded_hal::digital::{
    Error, ErrorKind, ErrorType, InputPin, OutputPin, PinState, StatefulOutputPin,
};

use super::{Guarded, GuardedError, Policy};
use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::Observer;
use crate::window::Window;

impl<E: Error> Error for GuardedError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected(_) => ErrorKind::Other,
            Self::Failed(error) => error.kind(),
        }
    }
}

impl<T: ErrorType, B, P> ErrorType for Guarded<T, B, P> {
    type Error = GuardedError<T::Error>;
}

impl<T, W, C, O, P> OutputPin for Guarded<T, &Breaker<W, C, O>, P>
where
    T: OutputPin,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
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
        let permit = self.enter()?;
        let answer = self.inner.set_state(state);
        self.leave(permit, answer)
    }
}

impl<T, W, C, O, P> StatefulOutputPin for Guarded<T, &Breaker<W, C, O>, P>
where
    T: StatefulOutputPin,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn is_set_high(&mut self) -> Result<bool, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.is_set_high();
        self.leave(permit, answer)
    }

    #[inline]
    fn is_set_low(&mut self) -> Result<bool, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.is_set_low();
        self.leave(permit, answer)
    }

    #[inline]
    fn toggle(&mut self) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.toggle();
        self.leave(permit, answer)
    }
}

impl<T, W, C, O, P> InputPin for Guarded<T, &Breaker<W, C, O>, P>
where
    T: InputPin,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn is_high(&mut self) -> Result<bool, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.is_high();
        self.leave(permit, answer)
    }

    #[inline]
    fn is_low(&mut self) -> Result<bool, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.is_low();
        self.leave(permit, answer)
    }
}
