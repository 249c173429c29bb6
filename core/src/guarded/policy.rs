//! What a failure is, and what a device needs before it is asked again.

use super::GuardedError;
use crate::outcome::Outcome;

/// How a [`Guarded`](super::Guarded) treats its device: `T` is the device, `E` its error.
///
/// Every method has a default, and any `Fn(&E) -> Outcome` is a policy that only judges.
/// Ready-made ones take another as their base, so they can be combined:
///
/// ```
/// use nanobreaker_core::guarded::{EveryError, OnlyAddress, RecoverFirst};
/// # struct Twi;
/// # impl Twi { fn clock_out_nine_bits_and_stop(&mut self) {} }
/// let policy = OnlyAddress::new(
///     0x70,
///     RecoverFirst::new(|bus: &mut Twi| bus.clock_out_nine_bits_and_stop(), EveryError),
/// );
/// # let _ = policy;
/// ```
pub trait Policy<T, E> {
    /// What an error means to the breaker.
    ///
    /// [`Outcome::Ignored`] is for errors that are answers (a device that says "busy"):
    /// they count neither way.
    #[inline]
    fn judge(&mut self, _error: &E) -> Outcome {
        Outcome::Failure
    }

    /// Runs after the breaker has granted a probe and before the device is asked.
    ///
    /// The place to free a stuck bus or to reset a modem. The probe's lease already runs.
    /// It must not wait for another probe of the same breaker.
    #[inline]
    fn before_probe(&mut self, _device: &mut T) {}

    /// Whether the breaker is asked for calls to this I²C address.
    #[inline]
    fn guards(&self, _address: u16) -> bool {
        true
    }
}

impl<T, E, F: Fn(&E) -> Outcome> Policy<T, E> for F {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        self(error)
    }
}

/// Every error is a failure: the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryError;

impl<T, E> Policy<T, E> for EveryError {}

/// Guards calls to one I²C address and lets all others pass unjudged.
#[derive(Clone, Copy, Debug)]
pub struct OnlyAddress<P = EveryError> {
    address: u16,
    base: P,
}

impl<P> OnlyAddress<P> {
    /// Guards `address` as `base` says.
    pub const fn new(address: u16, base: P) -> Self {
        Self { address, base }
    }
}

impl<T, E, P: Policy<T, E>> Policy<T, E> for OnlyAddress<P> {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        self.base.judge(error)
    }

    #[inline]
    fn before_probe(&mut self, device: &mut T) {
        self.base.before_probe(device);
    }

    #[inline]
    fn guards(&self, address: u16) -> bool {
        address == self.address && self.base.guards(address)
    }
}

/// Runs a hook before each probe, for instance nine clocks and a stop on I²C.
#[derive(Clone, Copy, Debug)]
pub struct RecoverFirst<F, P = EveryError> {
    hook: F,
    base: P,
}

impl<F, P> RecoverFirst<F, P> {
    /// Calls `hook` before each probe; otherwise as `base` says.
    pub const fn new(hook: F, base: P) -> Self {
        Self { hook, base }
    }
}

impl<T, E, F: FnMut(&mut T), P: Policy<T, E>> Policy<T, E> for RecoverFirst<F, P> {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        self.base.judge(error)
    }

    #[inline]
    fn before_probe(&mut self, device: &mut T) {
        (self.hook)(device);
        self.base.before_probe(device);
    }

    #[inline]
    fn guards(&self, address: u16) -> bool {
        self.base.guards(address)
    }
}

/// For a guard around another: the inner breaker's rejections say nothing about this device.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlessRejected<P = EveryError>(
    /// Judges what the device itself answered.
    pub P,
);

impl<T, E, P: Policy<T, E>> Policy<T, GuardedError<E>> for UnlessRejected<P> {
    #[inline]
    fn judge(&mut self, error: &GuardedError<E>) -> Outcome {
        match error {
            GuardedError::Rejected(_) => Outcome::Ignored,
            GuardedError::Failed(error) => self.0.judge(error),
        }
    }

    #[inline]
    fn before_probe(&mut self, device: &mut T) {
        self.0.before_probe(device);
    }

    #[inline]
    fn guards(&self, address: u16) -> bool {
        self.0.guards(address)
    }
}
