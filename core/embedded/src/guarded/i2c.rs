//! I²C, blocking and async.

use embedded_hal::i2c::{AddressMode, Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation};

#[cfg(feature = "embedded-hal-async")]
use super::RecoverAsync;
use super::{CircuitBreaker, Guarded, GuardedError, Policy, Recover};
use nanobreaker_core::Outcome;

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

/// A device that does not acknowledge its address is busy, not broken.
///
/// For polling: EEPROMs while they write, SHT and AHT sensors while they measure. Everything else
/// is a failure. It takes a missing device for a busy one: bound the polling.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressNackIsNormal;

impl<E: Error> Policy<E> for AddressNackIsNormal {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        match error.kind() {
            ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address | NoAcknowledgeSource::Unknown) => {
                Outcome::Ignored
            }
            _ => Outcome::Failure,
        }
    }
}

/// Asks the breaker and runs the call, or only the call where the address is not guarded.
macro_rules! guarded_call {
    ($guard:ident, $address:ident, $enter:expr, |$inner:ident| $call:expr) => {{
        if !$guard.policy.guards($address.into()) {
            let $inner = &mut $guard.inner;
            return $call.map_err(GuardedError::Failed);
        }
        let call = $enter?;
        let $inner = &mut $guard.inner;
        let answer = $call;
        call.end(&mut $guard.policy, answer)
    }};
}

impl<T, A, B, P, R> I2c<A> for Guarded<T, B, P, R>
where
    T: I2c<A>,
    A: AddressMode + Copy + Into<u16>,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter(), |bus| bus.read(address, read))
    }

    #[inline]
    fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter(), |bus| bus.write(address, write))
    }

    #[inline]
    fn write_read(&mut self, address: A, write: &[u8], read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter(), |bus| bus.write_read(address, write, read))
    }

    #[inline]
    fn transaction(&mut self, address: A, operations: &mut [Operation<'_>]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter(), |bus| bus.transaction(address, operations))
    }
}

/// Dropping a future gives the permit back; whether the bus itself survives is the bus's to say.
#[cfg(feature = "embedded-hal-async")]
impl<T, A, B, P, R> embedded_hal_async::i2c::I2c<A> for Guarded<T, B, P, R>
where
    T: embedded_hal_async::i2c::I2c<A>,
    A: AddressMode + Copy + Into<u16>,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: RecoverAsync<T, T::Error>,
{
    async fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter_async().await, |bus| bus.read(address, read).await)
    }

    async fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter_async().await, |bus| bus.write(address, write).await)
    }

    async fn write_read(&mut self, address: A, write: &[u8], read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter_async().await, |bus| bus
            .write_read(address, write, read)
            .await)
    }

    async fn transaction(&mut self, address: A, operations: &mut [Operation<'_>]) -> Result<(), Self::Error> {
        guarded_call!(self, address, self.enter_async().await, |bus| bus
            .transaction(address, operations)
            .await)
    }
}
