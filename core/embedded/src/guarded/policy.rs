//! What the end of a call means to the breaker.

use nanobreaker_core::Outcome;

use super::GuardedError;

/// How a [`Guarded`](super::Guarded) judges its device, whose error is `E`.
///
/// Every method has a default, and any `Fn(&E) -> Outcome` is a policy that judges errors.
/// Ready-made ones take another as their base, so they can be combined:
///
/// ```
/// use nanobreaker_embedded::guarded::{DropIsFailure, EveryError, OnlyAddress};
///
/// let policy = OnlyAddress::new(0x70, DropIsFailure(EveryError));
/// # let _ = policy;
/// ```
pub trait Policy<E> {
    /// What an error means to the breaker.
    ///
    /// [`Outcome::Ignored`] is for errors that are answers (a device that says "busy"):
    /// they count neither way.
    #[inline]
    fn judge(&mut self, _error: &E) -> Outcome {
        Outcome::Failure
    }

    /// What it means when the future of a call is dropped before the device has answered.
    ///
    /// By default [`Outcome::Cancelled`]: the caller lost interest, which says nothing about the
    /// device.
    #[inline]
    fn if_dropped(&self) -> Outcome {
        Outcome::Cancelled
    }

    /// Whether the breaker is asked for calls to this I²C address.
    #[inline]
    fn guards(&self, _address: u16) -> bool {
        true
    }
}

impl<E, F: Fn(&E) -> Outcome> Policy<E> for F {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        self(error)
    }
}

/// Every error is a failure: the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryError;

impl<E> Policy<E> for EveryError {}

/// A call whose future is dropped before the device has answered is a failure.
///
/// For callers that put a timeout around the guarded call (`with_timeout`, `select`): a device that
/// hangs is then noticed. Where callers also drop calls for other reasons, put the timeout inside
/// instead, with `Bounded`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropIsFailure<P = EveryError>(
    /// Judges what the device answered.
    pub P,
);

impl<E, P: Policy<E>> Policy<E> for DropIsFailure<P> {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        self.0.judge(error)
    }

    #[inline]
    fn if_dropped(&self) -> Outcome {
        Outcome::Failure
    }

    #[inline]
    fn guards(&self, address: u16) -> bool {
        self.0.guards(address)
    }
}

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

impl<E, P: Policy<E>> Policy<E> for OnlyAddress<P> {
    #[inline]
    fn judge(&mut self, error: &E) -> Outcome {
        self.base.judge(error)
    }

    #[inline]
    fn if_dropped(&self) -> Outcome {
        self.base.if_dropped()
    }

    #[inline]
    fn guards(&self, address: u16) -> bool {
        address == self.address && self.base.guards(address)
    }
}

/// For a guard around another: the inner breaker's rejections say nothing about this device.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlessRejected<P = EveryError>(
    /// Judges what the device itself answered.
    pub P,
);

impl<E, P: Policy<E>> Policy<GuardedError<E>> for UnlessRejected<P> {
    #[inline]
    fn judge(&mut self, error: &GuardedError<E>) -> Outcome {
        match error {
            GuardedError::Rejected(_) => Outcome::Ignored,
            GuardedError::Failed(error) => self.0.judge(error),
        }
    }

    #[inline]
    fn if_dropped(&self) -> Outcome {
        self.0.if_dropped()
    }

    #[inline]
    fn guards(&self, address: u16) -> bool {
        self.0.guards(address)
    }
}
