//! Byte streams, blocking and async.
//!
//! A `write` into a buffer succeeds although nobody listens, and only the `flush` fails. The
//! failure ring sees through this (successes don't touch it); a consecutive window does not, for
//! each `write` starts its count again. Prefer `Failures` for streams.
//!
//! `write_all` and `read_exact` are many calls: when the breaker opens between two of them, the rest
//! is rejected, as a failing line would have cut it off.

use embedded_io::{BufRead, Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

#[cfg(feature = "embedded-io-async")]
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

impl<T, B, P, R> Read for Guarded<T, B, P, R>
where
    T: Read,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.read(buffer);
        call.end(&mut self.policy, answer)
    }
}

impl<T, B, P, R> BufRead for Guarded<T, B, P, R>
where
    T: BufRead,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn fill_buf(&mut self) -> Result<&[u8], Self::Error> {
        let call = self.enter()?;
        call.end(&mut self.policy, self.inner.fill_buf())
    }

    #[inline]
    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

impl<T, B, P, R> Write for Guarded<T, B, P, R>
where
    T: Write,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: Recover<T, T::Error>,
{
    #[inline]
    fn write(&mut self, buffer: &[u8]) -> Result<usize, Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.write(buffer);
        call.end(&mut self.policy, answer)
    }

    #[inline]
    fn flush(&mut self) -> Result<(), Self::Error> {
        let call = self.enter()?;
        let answer = self.inner.flush();
        call.end(&mut self.policy, answer)
    }
}

/// Looking whether bytes are there is no call: the breaker is not asked.
impl<T: ReadReady, B, P, R> ReadReady for Guarded<T, B, P, R> {
    #[inline]
    fn read_ready(&mut self) -> Result<bool, Self::Error> {
        self.inner.read_ready().map_err(GuardedError::Failed)
    }
}

/// Looking whether there is room is no call: the breaker is not asked.
impl<T: WriteReady, B, P, R> WriteReady for Guarded<T, B, P, R> {
    #[inline]
    fn write_ready(&mut self) -> Result<bool, Self::Error> {
        self.inner.write_ready().map_err(GuardedError::Failed)
    }
}

/// Dropping the future gives the permit back. Bytes that the stream had already taken are lost or
/// not as the stream itself says.
#[cfg(feature = "embedded-io-async")]
impl<T, B, P, R> embedded_io_async::Read for Guarded<T, B, P, R>
where
    T: embedded_io_async::Read,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: RecoverAsync<T, T::Error>,
{
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.read(buffer).await;
        call.end(&mut self.policy, answer)
    }
}

/// Dropping the future gives the permit back.
#[cfg(feature = "embedded-io-async")]
impl<T, B, P, R> embedded_io_async::BufRead for Guarded<T, B, P, R>
where
    T: embedded_io_async::BufRead,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: RecoverAsync<T, T::Error>,
{
    async fn fill_buf(&mut self) -> Result<&[u8], Self::Error> {
        let call = self.enter_async().await?;
        call.end(&mut self.policy, self.inner.fill_buf().await)
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// Dropping a future gives the permit back. Bytes that the stream had already taken are sent or not
/// as the stream itself says.
#[cfg(feature = "embedded-io-async")]
impl<T, B, P, R> embedded_io_async::Write for Guarded<T, B, P, R>
where
    T: embedded_io_async::Write,
    B: CircuitBreaker + Copy,
    P: Policy<T::Error>,
    R: RecoverAsync<T, T::Error>,
{
    async fn write(&mut self, buffer: &[u8]) -> Result<usize, Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.write(buffer).await;
        call.end(&mut self.policy, answer)
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        let call = self.enter_async().await?;
        let answer = self.inner.flush().await;
        call.end(&mut self.policy, answer)
    }
}
