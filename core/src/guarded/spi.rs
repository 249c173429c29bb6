//! A device on an SPI bus, blocking and async.

use embedded_hal::spi::{Error, ErrorKind, ErrorType, Operation, SpiDevice};

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

/// SPI has no acknowledge: a missing device reads as ones or zeroes and is no error here.
/// Errors are the controller's (overrun, mode fault, a chip select on a failing expander); a driver
/// that checks what it read should record its own verdict with the breaker instead.
impl<T, D, W, C, O, P> SpiDevice<D> for Guarded<T, &Breaker<W, C, O>, P>
where
    T: SpiDevice<D>,
    D: Copy + 'static,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn transaction(&mut self, operations: &mut [Operation<'_, D>]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.transaction(operations);
        self.leave(permit, answer)
    }

    #[inline]
    fn read(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.read(words);
        self.leave(permit, answer)
    }

    #[inline]
    fn write(&mut self, words: &[D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.write(words);
        self.leave(permit, answer)
    }

    #[inline]
    fn transfer(&mut self, read: &mut [D], write: &[D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.transfer(read, write);
        self.leave(permit, answer)
    }

    #[inline]
    fn transfer_in_place(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.transfer_in_place(words);
        self.leave(permit, answer)
    }
}

/// Dropping a future gives the permit back; whether the bus itself survives is the bus's to say.
#[cfg(feature = "embedded-hal-async")]
impl<T, D, W, C, O, P> embedded_hal_async::spi::SpiDevice<D> for Guarded<T, &Breaker<W, C, O>, P>
where
    T: embedded_hal_async::spi::SpiDevice<D>,
    D: Copy + 'static,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    async fn transaction(
        &mut self,
        operations: &mut [Operation<'_, D>],
    ) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.transaction(operations).await;
        self.leave(permit, answer)
    }

    async fn read(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.read(words).await;
        self.leave(permit, answer)
    }

    async fn write(&mut self, words: &[D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.write(words).await;
        self.leave(permit, answer)
    }

    async fn transfer(&mut self, read: &mut [D], write: &[D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.transfer(read, write).await;
        self.leave(permit, answer)
    }

    async fn transfer_in_place(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.transfer_in_place(words).await;
        self.leave(permit, answer)
    }
}
