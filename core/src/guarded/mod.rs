//! Buses, pins and streams that stop asking a device that does not answer.
//!
//! [`Guarded`] wraps something that implements a trait of `embedded-hal`, `embedded-io` or their
//! async sisters, and implements the same trait, so a driver crate runs on it unchanged:
//!
//! | feature | what can be wrapped |
//! | --- | --- |
//! | `embedded-hal` | `I2c`, `SpiDevice`, `OutputPin`, `StatefulOutputPin`, `InputPin` |
//! | `embedded-hal-async` | the async `I2c` and `SpiDevice` |
//! | `embedded-io` | `Read`, `BufRead`, `Write`, `ReadReady`, `WriteReady` (UARTs, modems, sockets) |
//! | `embedded-io-async` | the async `Read`, `BufRead` and `Write` |
//!
//! Each call first asks the breaker. While it is open the device is not touched: the answer is
//! [`GuardedError::Rejected`] at once, with the time after which asking again makes sense.
//! What counts as a failure is the [`Policy`]'s to say, by default every error.
//!
#![cfg_attr(feature = "embedded-hal", doc = "```")]
#![cfg_attr(not(feature = "embedded-hal"), doc = "```ignore")]
//! use embedded_hal::i2c::{Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation};
//! use nanobreaker_core::guarded::{Guarded, GuardedError};
//! use nanobreaker_core::window::Failures;
//! use nanobreaker_core::{Breaker, Config, ManualClock, checked};
//!
//! # struct Unplugged;
//! # impl ErrorType for Unplugged {
//! #     type Error = ErrorKind;
//! # }
//! # impl I2c for Unplugged {
//! #     fn transaction(&mut self, _: u8, _: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
//! #         Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address))
//! #     }
//! # }
//! static SENSOR: Breaker<Failures<3>, ManualClock> = Breaker::new(
//!     checked!(Failures::new(3, 10_000)),
//!     checked!(Config::builder().open_for_ms(5_000).build()),
//!     ManualClock::new(0),
//! );
//!
//! let mut bus = Guarded::new(Unplugged, &SENSOR); // give this to any driver
//! for _ in 0..3 {
//!     assert!(matches!(bus.write(0x70, &[1]), Err(GuardedError::Failed(_))));
//! }
//! let Err(GuardedError::Rejected(rejected)) = bus.write(0x70, &[1]) else { unreachable!() };
//! assert_eq!(rejected.retry_after_ms(), Some(5_000));
//! ```
//!
//! # What one breaker guards
//!
//! A breaker guards whatever its calls go through.
//! To guard a **whole bus**, wrap the bus itself, or let every handle on it share one breaker.
//! To guard **one device**, wrap that device's handle (`embedded-hal-bus` makes handles) with a
//! breaker of its own; where a driver borrows the whole bus, [`OnlyAddress`] lets all other
//! addresses pass unjudged. Both can be stacked: give the outer one [`UnlessRejected`], so that the
//! bus's rejections are not taken for the device's failures.
//!
//! # What no breaker can do
//!
//! It cannot end a blocking call that hangs: give the bus a timeout of its own. The breaker then
//! sees to it that the timeout is paid a few times instead of for ever. Nor does it know what the
//! device needs in order to recover; [`RecoverFirst`] runs your hook before a probe.
//!
//! # Async
//!
//! All futures are cancel-safe as far as the breaker goes: one that is dropped drops its permit,
//! which gives its place back and is judged neither success nor failure. So a timeout **around** a
//! guarded call is no failure to the breaker; put the timeout **inside**, on the bus that is
//! wrapped, and turn it into an error there.

#[cfg(feature = "embedded-hal")]
mod digital;
#[cfg(feature = "embedded-hal")]
mod i2c;
#[cfg(feature = "embedded-io")]
mod io;
mod policy;
#[cfg(feature = "embedded-hal")]
mod spi;

#[cfg(test)]
mod tests;

#[cfg(feature = "embedded-hal")]
pub use self::i2c::AddressNackIsNormal;
pub use self::policy::{EveryError, OnlyAddress, Policy, RecoverFirst, UnlessRejected};

use core::fmt;

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::observer::Observer;
use crate::outcome::Outcome;
use crate::permit::Permit;
use crate::rejected::Rejected;
use crate::window::Window;

/// A bus, pin or stream behind a breaker; implements what `T` implements.
///
/// `B` is a reference to a [`Breaker`], `P` the [`Policy`] that judges errors.
/// A call costs what [`Breaker::allow`] and [`Permit::record`] cost, and nothing else.
#[derive(Debug)]
#[must_use = "the breaker guards only calls that go through this wrapper"]
pub struct Guarded<T, B, P = EveryError> {
    inner: T,
    breaker: B,
    policy: P,
}

impl<T, B> Guarded<T, B> {
    /// Guards `inner` with `breaker`; every error is a failure.
    pub const fn new(inner: T, breaker: B) -> Self {
        Self::with_policy(inner, breaker, EveryError)
    }
}

impl<T, B, P> Guarded<T, B, P> {
    /// Guards `inner` with `breaker`; `policy` says what is a failure.
    ///
    /// A closure over the error is a policy too:
    ///
    #[cfg_attr(feature = "embedded-io", doc = "```")]
    #[cfg_attr(not(feature = "embedded-io"), doc = "```ignore")]
    /// use embedded_io::{Error, ErrorKind, Read};
    /// # use nanobreaker_core::guarded::Guarded;
    /// # use nanobreaker_core::window::Failures;
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, Outcome, Phase, checked};
    /// # struct Quiet;
    /// # impl embedded_io::ErrorType for Quiet {
    /// #     type Error = ErrorKind;
    /// # }
    /// # impl Read for Quiet {
    /// #     fn read(&mut self, _: &mut [u8]) -> Result<usize, ErrorKind> {
    /// #         Err(ErrorKind::TimedOut)
    /// #     }
    /// # }
    /// # static MODEM: Breaker<Failures<1>, ManualClock> = Breaker::new(
    /// #     checked!(Failures::new(1, 1_000)),
    /// #     Config::DEFAULT,
    /// #     ManualClock::new(0),
    /// # );
    /// // On this line silence is normal; anything else is not.
    /// let mut line = Guarded::with_policy(Quiet, &MODEM, |error: &ErrorKind| match error.kind() {
    ///     ErrorKind::TimedOut => Outcome::Ignored,
    ///     _ => Outcome::Failure,
    /// });
    /// assert!(line.read(&mut [0]).is_err());
    /// assert_eq!(MODEM.snapshot().phase, Phase::Closed);
    /// ```
    pub const fn with_policy(inner: T, breaker: B, policy: P) -> Self {
        Self {
            inner,
            breaker,
            policy,
        }
    }

    /// What is guarded, for calls that the breaker shall not see.
    pub const fn inner(&self) -> &T {
        &self.inner
    }

    /// What is guarded, for calls that the breaker shall not see.
    pub const fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The breaker.
    pub const fn breaker(&self) -> &B {
        &self.breaker
    }

    /// Gives back what was guarded.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<'b, T, W, C, O, P> Guarded<T, &'b Breaker<W, C, O>, P>
where
    W: Window,
    C: Clock,
    O: Observer,
{
    /// Asks the breaker; before a probe, lets the policy repair the device.
    #[inline]
    fn enter<E>(&mut self) -> Result<Permit<'b, W, C, O>, GuardedError<E>>
    where
        P: Policy<T, E>,
    {
        let permit = self.breaker.allow().map_err(GuardedError::Rejected)?;
        if permit.is_probe() {
            self.policy.before_probe(&mut self.inner);
        }
        Ok(permit)
    }

    /// Tells the breaker how the call went.
    #[inline]
    fn leave<R, E>(
        &mut self,
        permit: Permit<'b, W, C, O>,
        answer: Result<R, E>,
    ) -> Result<R, GuardedError<E>>
    where
        P: Policy<T, E>,
    {
        judge(&mut self.policy, permit, answer)
    }
}

/// Spends the permit on the answer of a call.
///
/// Apart from [`Guarded::leave`] because an answer may borrow the guarded stream.
#[inline]
fn judge<W, C, O, P, T, R, E>(
    policy: &mut P,
    permit: Permit<'_, W, C, O>,
    answer: Result<R, E>,
) -> Result<R, GuardedError<E>>
where
    W: Window,
    C: Clock,
    O: Observer,
    P: Policy<T, E>,
{
    let outcome = match &answer {
        Ok(_) => Outcome::Success,
        Err(error) => policy.judge(error),
    };
    permit.record(outcome);
    answer.map_err(GuardedError::Failed)
}

/// Why a guarded call did not succeed.
///
/// Its kind is the device's own where the device was asked, and `Other` where it was not: no trait
/// has a kind for "not asked", and I²C has none for a timeout. Match on this type for the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GuardedError<E> {
    /// The breaker said no; the device was not touched.
    Rejected(Rejected),
    /// The device was asked, and this is its error.
    Failed(E),
}

impl<E> GuardedError<E> {
    /// The rejection, where the device was not asked.
    pub const fn rejected(&self) -> Option<&Rejected> {
        match self {
            Self::Rejected(rejected) => Some(rejected),
            Self::Failed(_) => None,
        }
    }

    /// The device's own error, where it was asked.
    pub fn failed(self) -> Option<E> {
        match self {
            Self::Rejected(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}

impl<E: fmt::Display> fmt::Display for GuardedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(rejected) => rejected.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// Shows the device's error itself, so it is not given as the source once more.
impl<E: core::error::Error> core::error::Error for GuardedError<E> {}
