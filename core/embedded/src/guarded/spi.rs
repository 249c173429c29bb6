//! A device on an SPI bus, blocking and async.

use embedded_hal::spi::{Error, ErrorKind, ErrorType, Operation, SpiDevice};

#[cfg(feature = "embedded-hal-async")]
use super::RecoverAsync;
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

/// SPI has no acknowledge: a missing device reads as ones or zeroes and is no error here.
/// Errors are the controller's (overrun, mode fault, a chip select on a failing expander); a driver
/// that checks what it read should record its own verdict with the breaker instead.
impl<T, D, B, P, R> SpiDevice<D> for Guarded<T, B, P, R>
where
    T: SpiDevice<D>,
    D: Copy + 'static,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn transaction(&mut self, operations: &mut [Operation<'_, D>]) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.transaction(operations);
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn read(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.read(words);
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn write(&mut self, words: &[D]) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.write(words);
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn transfer(&mut self, read: &mut [D], write: &[D]) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.transfer(read, write);
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn transfer_in_place(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.transfer_in_place(words);
        call.end(&mut self.policy, answer)
    }
}

/// Dropping a future gives the permit back; whether the bus itself survives is the bus's to say.
#[cfg(feature = "embedded-hal-async")]
impl<T, D, B, P, R> embedded_hal_async::spi::SpiDevice<D> for Guarded<T, B, P, R>
where
    T: embedded_hal_async::spi::SpiDevice<D>,
    D: Copy + 'static,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: RecoverAsync<T, T::Error>,
{
    async fn transaction(&mut self, operations: &mut [Operation<'_, D>]) -> Result<(), Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.transaction(operations).await;
        call.end(&mut self.policy, answer)
    }

    async fn read(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.read(words).await;
        call.end(&mut self.policy, answer)
    }

    async fn write(&mut self, words: &[D]) -> Result<(), Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.write(words).await;
        call.end(&mut self.policy, answer)
    }

    async fn transfer(&mut self, read: &mut [D], write: &[D]) -> Result<(), Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.transfer(read, write).await;
        call.end(&mut self.policy, answer)
    }

    async fn transfer_in_place(&mut self, words: &mut [D]) -> Result<(), Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.transfer_in_place(words).await;
        call.end(&mut self.policy, answer)
    }
}
