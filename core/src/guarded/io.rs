//! Byte streams, blocking and async.
//!
//! A `write` into a buffer succeeds although nobody listens, and only the `flush` fails. The
//! failure ring sees through this (successes don't touch it); a consecutive window does not, for
//! each `write` starts its count again. Prefer `Failures` for streams.
//!
//! `write_all` and `read_exact` are many calls: when the breaker opens between two of them, the rest
//! is rejected, as a failing line would have cut it off.

use embedded_io::{BufRead, Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

use super::{Guarded, GuardedError, Policy, judge};
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

impl<T, W, C, O, P> Read for Guarded<T, &Breaker<W, C, O>, P>
where
    T: Read,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.read(buffer);
        self.leave(permit, answer)
    }
}

impl<T, W, C, O, P> BufRead for Guarded<T, &Breaker<W, C, O>, P>
where
    T: BufRead,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn fill_buf(&mut self) -> Result<&[u8], Self::Error> {
        let permit = self.enter()?;
        judge::<_, _, _, _, T, _, _>(&mut self.policy, permit, self.inner.fill_buf())
    }

    #[inline]
    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

impl<T, W, C, O, P> Write for Guarded<T, &Breaker<W, C, O>, P>
where
    T: Write,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    #[inline]
    fn write(&mut self, buffer: &[u8]) -> Result<usize, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.write(buffer);
        self.leave(permit, answer)
    }

    #[inline]
    fn flush(&mut self) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.flush();
        self.leave(permit, answer)
    }
}

/// Looking whether bytes are there is no call: the breaker is not asked.
impl<T: ReadReady, B, P> ReadReady for Guarded<T, B, P> {
    #[inline]
    fn read_ready(&mut self) -> Result<bool, Self::Error> {
        self.inner.read_ready().map_err(GuardedError::Failed)
    }
}

/// Looking whether there is room is no call: the breaker is not asked.
impl<T: WriteReady, B, P> WriteReady for Guarded<T, B, P> {
    #[inline]
    fn write_ready(&mut self) -> Result<bool, Self::Error> {
        self.inner.write_ready().map_err(GuardedError::Failed)
    }
}

/// Dropping the future gives the permit back. Bytes that the stream had already taken are lost or
/// not as the stream itself says.
#[cfg(feature = "embedded-io-async")]
impl<T, W, C, O, P> embedded_io_async::Read for Guarded<T, &Breaker<W, C, O>, P>
where
    T: embedded_io_async::Read,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.read(buffer).await;
        self.leave(permit, answer)
    }
}

/// Dropping the future gives the permit back.
#[cfg(feature = "embedded-io-async")]
impl<T, W, C, O, P> embedded_io_async::BufRead for Guarded<T, &Breaker<W, C, O>, P>
where
    T: embedded_io_async::BufRead,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    async fn fill_buf(&mut self) -> Result<&[u8], Self::Error> {
        let permit = self.enter()?;
        judge::<_, _, _, _, T, _, _>(&mut self.policy, permit, self.inner.fill_buf().await)
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// Dropping a future gives the permit back. Bytes that the stream had already taken are sent or not
/// as the stream itself says.
#[cfg(feature = "embedded-io-async")]
impl<T, W, C, O, P> embedded_io_async::Write for Guarded<T, &Breaker<W, C, O>, P>
where
    T: embedded_io_async::Write,
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, T::Error>,
{
    async fn write(&mut self, buffer: &[u8]) -> Result<usize, Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.write(buffer).await;
        self.leave(permit, answer)
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        let permit = self.enter()?;
        let answer = self.inner.flush().await;
        self.leave(permit, answer)
    }
}
