//! I²C, blocking and async.

use embedded_hal::i2c::{
    AddressMode, Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation,
};

use super::{Guarded, GuardedError, Policy};
use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::Observer;
use crate::outcome::Outcome;
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

/// A device that does not acknowledge its address is busy, not broken.
///
/// For polling: EEPROMs while they write, SHT and AHT sensors while they measure. Everything else
/// is a failure. It takes a missing device for a busy one: bound the polling.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressNackIsNormal;

impl<T, E: Error> Policy<T, E> for AddressNackIsNormal {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        match error.kind() {
            ErrorKind::NoAcknowledge(
                NoAcknowledgeSource::Address | NoAcknowledgeSource::Unknown,
            ) => Outcome::Ignored,
            _ => Outcome::Failure,
        }
    }
}

/// Asks the breaker and runs the call, or only the call where the address is not guarded.
macro_rules! guarded_call {
    ($guard:ident, $address:ident, |$inner:ident| $call:expr) => {{
        if !$guard.policy.guards($address.into()) {
            let $inner = &mut $guard.inner;
            return $call.map_err(GuardedError::Failed);
        }
        let permit = $guard.enter()?;
        let $inner = &mut $guard.inner;
        let answer = $call;
        $guard.leave(permit, answer)
    }};
}

impl<T, A, W, C, O, P> I2c<A> for Guarded<T, &Breaker<W, C, O>, P>
where
    T: I2c<A>,
    A: AddressMode + Copy + Into<u16>,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus.read(address, read))
    }

    #[inline]
    fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus.write(address, write))
    }

    #[inline]
    fn write_read(&mut self, address: A, write: &[u8], read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus.write_read(address, write, read))
    }

    #[inline]
    fn transaction(
        &mut self,
        address: A,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus.transaction(address, operations))
    }
}

/// Dropping a future gives the permit back; whether the bus itself survives is the bus's to say.
#[cfg(feature = "embedded-hal-async")]
impl<T, A, W, C, O, P> embedded_hal_async::i2c::I2c<A> for Guarded<T, &Breaker<W, C, O>, P>
where
    T: embedded_hal_async::i2c::I2c<A>,
    A: AddressMode + Copy + Into<u16>,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    async fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus.read(address, read).await)
    }

    async fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus.write(address, write).await)
    }

    async fn write_read(
        &mut self,
        address: A,
        write: &[u8],
        read: &mut [u8],
    ) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus
            .write_read(address, write, read)
            .await)
    }

    async fn transaction(
        &mut self,
        address: A,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Self::Error> {
        guarded_call!(self, address, |bus| bus
            .transaction(address, operations)
            .await)
    }
}
