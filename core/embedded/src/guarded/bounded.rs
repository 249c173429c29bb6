//! Async devices whose calls end.

use core::fmt;
use core::future::Future;

use embassy_futures::select::{Either, select};
use embedded_hal_async::delay::DelayNs;

/// An async bus or stream each of whose calls ends within a limit; implements what `T` implements.
///
/// `D` measures the limit: `embassy_time::Delay`, an RTIC monotonic, or any other `DelayNs`. Put it
/// inside the guard, and a device that hangs is a device that fails:
///
#[cfg_attr(feature = "embedded-hal-async", doc = "```")]
#[cfg_attr(not(feature = "embedded-hal-async"), doc = "```ignore")]
/// use embedded_hal_async::{delay::DelayNs, i2c::I2c};
/// use nanobreaker_core::{Breaker, Clock, window::Failures};
/// use nanobreaker_embedded::guarded::{Bounded, Guarded};
///
/// fn guarded<C: Clock>(
///     i2c: impl I2c,
///     delay: impl DelayNs, // for instance `embassy_time::Delay`
///     breaker: &Breaker<Failures<3>, C>,
/// ) -> impl I2c {
///     Guarded::new(Bounded::within_ms(25, i2c, delay), breaker)
/// }
/// ```
///
/// When the limit is over, the future of the device's own call is dropped. What that leaves on the
/// bus is the driver's to say; a [recovery hook](super::Guarded::recover_first_async) is the place
/// to clean it up.
#[derive(Clone, Debug)]
pub struct Bounded<T, D> {
    inner: T,
    delay: D,
    limit_us: u32,
}

impl<T, D> Bounded<T, D> {
    /// Each call of `inner` ends within `limit` milliseconds, at most 4,294,967 of them.
    pub const fn within_ms(limit: u32, inner: T, delay: D) -> Self {
        Self::within_us(limit.saturating_mul(1_000), inner, delay)
    }

    /// Each call of `inner` ends within `limit` microseconds.
    pub const fn within_us(limit: u32, inner: T, delay: D) -> Self {
        Self { inner, delay, limit_us: limit }
    }

    /// What is bounded, for calls that take as long as they take.
    pub const fn inner(&self) -> &T {
        &self.inner
    }

    /// What is bounded, for calls that take as long as they take.
    pub const fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Gives back what was bounded.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// What `call` answers, or [`BoundedError::TimedOut`] when `delay` is over first.
async fn within<R, E>(
    limit_us: u32,
    delay: &mut impl DelayNs,
    call: impl Future<Output = Result<R, E>>,
) -> Result<R, BoundedError<E>> {
    match select(call, delay.delay_us(limit_us)).await {
        Either::First(answer) => answer.map_err(BoundedError::Failed),
        Either::Second(()) => Err(BoundedError::TimedOut),
    }
}

/// Why a bounded call did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BoundedError<E> {
    /// The limit was over before the device answered.
    TimedOut,
    /// The device answered, and this is its error.
    Failed(E),
}

impl<E: fmt::Display> fmt::Display for BoundedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer within the limit"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// Shows the device's error itself, so it is not given as the source once more.
impl<E: core::error::Error> core::error::Error for BoundedError<E> {}

#[cfg(feature = "embedded-hal-async")]
mod hal {
    use embedded_hal_async::{i2c, spi};

    use super::{Bounded, BoundedError, DelayNs, within};

    /// I²C has no kind for a timeout: it is `Other`.
    impl<E: i2c::Error> i2c::Error for BoundedError<E> {
        fn kind(&self) -> i2c::ErrorKind {
            match self {
                Self::TimedOut => i2c::ErrorKind::Other,
                Self::Failed(error) => error.kind(),
            }
        }
    }

    impl<T: i2c::ErrorType, D> i2c::ErrorType for Bounded<T, D> {
        type Error = BoundedError<T::Error>;
    }

    impl<A: i2c::AddressMode, T: i2c::I2c<A>, D: DelayNs> i2c::I2c<A> for Bounded<T, D> {
        async fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error> {
            let call = self.inner.read(address, read);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error> {
            let call = self.inner.write(address, write);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn write_read(&mut self, address: A, write: &[u8], read: &mut [u8]) -> Result<(), Self::Error> {
            let call = self.inner.write_read(address, write, read);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn transaction(
            &mut self,
            address: A,
            operations: &mut [i2c::Operation<'_>],
        ) -> Result<(), Self::Error> {
            let call = self.inner.transaction(address, operations);
            within(self.limit_us, &mut self.delay, call).await
        }
    }

    /// SPI has no kind for a timeout: it is `Other`.
    impl<E: spi::Error> spi::Error for BoundedError<E> {
        fn kind(&self) -> spi::ErrorKind {
            match self {
                Self::TimedOut => spi::ErrorKind::Other,
                Self::Failed(error) => error.kind(),
            }
        }
    }

    impl<T: spi::ErrorType, D> spi::ErrorType for Bounded<T, D> {
        type Error = BoundedError<T::Error>;
    }

    impl<W: Copy + 'static, T: spi::SpiDevice<W>, D: DelayNs> spi::SpiDevice<W> for Bounded<T, D> {
        async fn transaction(&mut self, operations: &mut [spi::Operation<'_, W>]) -> Result<(), Self::Error> {
            let call = self.inner.transaction(operations);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn read(&mut self, words: &mut [W]) -> Result<(), Self::Error> {
            let call = self.inner.read(words);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn write(&mut self, words: &[W]) -> Result<(), Self::Error> {
            let call = self.inner.write(words);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn transfer(&mut self, read: &mut [W], write: &[W]) -> Result<(), Self::Error> {
            let call = self.inner.transfer(read, write);
            within(self.limit_us, &mut self.delay, call).await
        }

        async fn transfer_in_place(&mut self, words: &mut [W]) -> Result<(), Self::Error> {
            let call = self.inner.transfer_in_place(words);
            within(self.limit_us, &mut self.delay, call).await
        }
    }
}

#[cfg(feature = "embedded-io-async")]
mod io {
    use embedded_io_async::{BufRead, Error, ErrorKind, ErrorType, Read, Write};

    use super::{Bounded, BoundedError, DelayNs, within};

    impl<E: Error> Error for BoundedError<E> {
        fn kind(&self) -> ErrorKind {
            match self {
                Self::TimedOut => ErrorKind::TimedOut,
                Self::Failed(error) => error.kind(),
            }
        }
    }

    impl<T: ErrorType, D> ErrorType for Bounded<T, D> {
        type Error = BoundedError<T::Error>;
    }

    impl<T: Read, D: DelayNs> Read for Bounded<T, D> {
        async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
            within(self.limit_us, &mut self.delay, self.inner.read(buffer)).await
        }
    }

    impl<T: BufRead, D: DelayNs> BufRead for Bounded<T, D> {
        async fn fill_buf(&mut self) -> Result<&[u8], Self::Error> {
            within(self.limit_us, &mut self.delay, self.inner.fill_buf()).await
        }

        fn consume(&mut self, amount: usize) {
            self.inner.consume(amount);
        }
    }

    impl<T: Write, D: DelayNs> Write for Bounded<T, D> {
        async fn write(&mut self, buffer: &[u8]) -> Result<usize, Self::Error> {
            within(self.limit_us, &mut self.delay, self.inner.write(buffer)).await
        }

        async fn flush(&mut self) -> Result<(), Self::Error> {
            within(self.limit_us, &mut self.delay, self.inner.flush()).await
        }
    }
}
