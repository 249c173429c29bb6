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
//! use nanobreaker_embedded::guarded::{Guarded, GuardedError};
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
//!     checked!(Failures::within_ms(10_000)),
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
//! device needs in order to recover: [`Guarded::recover_first`] runs your hook before a probe.
//!
//! # Async
//!
//! All futures are cancel-safe as far as the breaker goes: one that is dropped gives its place back.
//! By default it counts neither way, so a timeout **around** a guarded call does not open the
//! breaker, however often the device hangs. Two ways make a hang count:
//!
//! * a timeout **inside** the guard: wrap the device in `Bounded` (with one of the async features)
//!   and guard that;
//! * the policy [`DropIsFailure`], for callers that keep their timeout around the call.

#[cfg(any(feature = "embedded-hal-async", feature = "embedded-io-async"))]
mod bounded;
mod breaker;
mod call;
#[cfg(feature = "embedded-hal")]
mod digital;
#[cfg(feature = "embedded-hal")]
mod i2c;
#[cfg(feature = "embedded-io")]
mod io;
mod policy;
mod recovery;
#[cfg(feature = "embedded-hal")]
mod spi;

#[cfg(test)]
mod tests;

#[cfg(any(feature = "embedded-hal-async", feature = "embedded-io-async"))]
pub use self::bounded::{Bounded, BoundedError};
pub use self::breaker::CircuitBreaker;
#[cfg(feature = "embedded-hal")]
pub use self::i2c::AddressNackIsNormal;
pub use self::policy::{DropIsFailure, EveryError, OnlyAddress, Policy, UnlessRejected};
pub use self::recovery::{AsyncHook, Hook, NoRecovery, Recover, RecoverAsync};

use core::fmt;

use nanobreaker_core::Rejected;

use self::call::Call;

/// A bus, pin or stream behind a breaker; implements what `T` implements.
///
/// `B` is a reference to a [`Breaker`](nanobreaker_core::Breaker) or a
/// [`OneWordBreaker`](crate::OneWordBreaker), `P` the [`Policy`] that judges
/// errors, `R` what runs before a probe. A call costs what asking the breaker and telling it the
/// outcome cost, and nothing else.
#[derive(Debug)]
#[must_use = "the breaker guards only calls that go through this wrapper"]
pub struct Guarded<T, B, P = EveryError, R = NoRecovery> {
    inner: T,
    breaker: B,
    policy: P,
    recovery: R,
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
    /// # use nanobreaker_embedded::guarded::Guarded;
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
    /// #     checked!(Failures::within_ms(1_000)),
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
        Self { inner, breaker, policy, recovery: NoRecovery }
    }

    /// Runs `hook` before each probe, for instance nine clocks and a stop on I²C.
    ///
    /// Where the hook fails the device is not asked; the policy judges the hook's error.
    ///
    #[cfg_attr(feature = "embedded-hal", doc = "```")]
    #[cfg_attr(not(feature = "embedded-hal"), doc = "```ignore")]
    /// use nanobreaker_embedded::guarded::Guarded;
    /// # use embedded_hal::i2c::{ErrorKind, ErrorType, I2c, Operation};
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, checked, window::Failures};
    /// # struct Twi;
    /// # impl Twi { fn nine_clocks_and_stop(&mut self) {} }
    /// # impl ErrorType for Twi { type Error = ErrorKind; }
    /// # impl I2c for Twi {
    /// #     fn transaction(&mut self, _: u8, _: &mut [Operation<'_>]) -> Result<(), ErrorKind> { Ok(()) }
    /// # }
    /// # static SENSOR: Breaker<Failures<1>, ManualClock> = Breaker::new(
    /// #     checked!(Failures::within_ms(1_000)),
    /// #     Config::DEFAULT,
    /// #     ManualClock::new(0),
    /// # );
    /// let mut bus = Guarded::new(Twi, &SENSOR).recover_first(|twi: &mut Twi| {
    ///     twi.nine_clocks_and_stop();
    ///     Ok(())
    /// });
    /// bus.write(0x70, &[1])?;
    /// # Ok::<(), nanobreaker_embedded::guarded::GuardedError<ErrorKind>>(())
    /// ```
    pub fn recover_first<F, E>(self, hook: F) -> Guarded<T, B, P, Hook<F>>
    where
        F: FnMut(&mut T) -> Result<(), E>,
    {
        self.with_recovery(Hook(hook))
    }

    /// Runs the async `hook` before each probe: it may wait, and it may fail.
    ///
    /// Where it fails the device is not asked; the policy judges the hook's error. Hook and call
    /// together must fit into the probe's lease, or the round ends without them.
    ///
    #[cfg_attr(feature = "embedded-hal-async", doc = "```")]
    #[cfg_attr(not(feature = "embedded-hal-async"), doc = "```ignore")]
    /// use embedded_hal::digital::OutputPin;
    /// use embedded_hal_async::delay::DelayNs;
    /// use embedded_hal_async::i2c::{ErrorKind, I2c};
    /// use nanobreaker_core::{Breaker, Clock, window::Failures};
    /// use nanobreaker_embedded::guarded::Guarded;
    ///
    /// /// A sensor that is powered off and on again before it is asked after an outage.
    /// fn power_cycled<C: Clock>(
    ///     i2c: impl I2c<Error = ErrorKind>,
    ///     mut supply: impl OutputPin,
    ///     mut delay: impl DelayNs,
    ///     breaker: &Breaker<Failures<3>, C>,
    /// ) -> impl I2c {
    ///     Guarded::new(i2c, breaker).recover_first_async(async move |bus| {
    ///         supply.set_low().map_err(|_| ErrorKind::Other)?;
    ///         delay.delay_ms(20).await;
    ///         supply.set_high().map_err(|_| ErrorKind::Other)?;
    ///         delay.delay_ms(5).await;
    ///         bus.write(0x44, &[0x94]).await // its soft reset
    ///     })
    /// }
    /// ```
    pub fn recover_first_async<F, E>(self, hook: F) -> Guarded<T, B, P, AsyncHook<F>>
    where
        F: AsyncFnMut(&mut T) -> Result<(), E>,
    {
        self.with_recovery(AsyncHook(hook))
    }

    fn with_recovery<R>(self, recovery: R) -> Guarded<T, B, P, R> {
        Guarded { inner: self.inner, breaker: self.breaker, policy: self.policy, recovery }
    }
}

impl<T, B, P, R> Guarded<T, B, P, R> {
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

impl<T, B: CircuitBreaker + Copy, P, R> Guarded<T, B, P, R> {
    /// Asks the breaker; before a probe, lets the device be repaired.
    #[inline]
    fn enter<E>(&mut self) -> Result<Call<B>, GuardedError<E>>
    where
        P: Policy<E>,
        R: Recover<T, E>,
    {
        let (call, is_probe) = self.admit()?;
        if is_probe {
            if let Err(error) = self.recovery.recover(&mut self.inner) {
                return call.end(&mut self.policy, Err(error));
            }
        }
        Ok(call)
    }

    /// The same; the repair may wait.
    #[cfg(any(feature = "embedded-hal-async", feature = "embedded-io-async"))]
    async fn enter_async<E>(&mut self) -> Result<Call<B>, GuardedError<E>>
    where
        P: Policy<E>,
        R: RecoverAsync<T, E>,
    {
        let (call, is_probe) = self.admit()?;
        if is_probe {
            if let Err(error) = self.recovery.recover(&mut self.inner).await {
                return call.end(&mut self.policy, Err(error));
            }
        }
        Ok(call)
    }

    #[inline]
    fn admit<E>(&self) -> Result<(Call<B>, bool), GuardedError<E>>
    where
        P: Policy<E>,
    {
        let token = self.breaker.allow_token().map_err(GuardedError::Rejected)?;
        let call = Call::new(self.breaker, token, self.policy.if_dropped());
        Ok((call, token.is_probe()))
    }
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
