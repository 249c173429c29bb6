//! What a breaker remembers of recent calls, with the rule that says trip.
//!
//! | window | trips on | a success costs | a failure costs |
//! | ------ | -------- | --------------- | --------------- |
//! | [`Failures`] | K failures within a time | nothing | a clock read, up to K loads, one exchange |
//! | [`Consecutive`] | K failures with no success between | a load (an exchange after a failure) | one exchange |
//! | [`Cusum`] | evidence that the dependency is broken | a load (an exchange after a failure) | one exchange |
//! | [`Calls`] | a failure rate over the last N calls | a load if all N succeeded, else 1–2 exchanges | 1–2 exchanges |
//! | [`Time`] | a failure rate over the last T | a clock read, one exchange | the same, and a sum over the buckets |
//! | [`Custom`] | what a [`Policy`] of your own says | what that costs | what that costs |
//!
//! [`StripedTime`] is [`Time`] for many cores: a success writes to memory of its own stripe only.
//! [`WithSlow`] sets a second window beside the first that judges slow calls. [`AnyWindow`] chooses
//! at run time, and [`Adjustable`] can be replaced while calls go on, with [`Lanes`] for the time windows of
//! many cores. [`Fixed`] has its settings in its type, for firmware that counts bytes.

mod adjustable;
mod any;
mod call;
mod calls;
mod cell;
mod consecutive;
mod cusum;
mod evidence;
mod failures;
mod judge;
mod lanes;
mod laps;
mod logarithm;
mod policy;
mod preset;
mod reading;
mod ruled;
mod slow;
mod striped;
mod tagged;
mod time;
mod turn;

pub use adjustable::Adjustable;
pub use any::AnyWindow;
pub use calls::{Calls, calls_words};
pub use consecutive::Consecutive;
pub use cusum::Cusum;
pub use evidence::{Evidence, Measured};
pub use failures::Failures;
pub use lanes::{Lane, Lanes};
pub use policy::{Custom, Policy};
pub use preset::{Fixed, Preset};
pub use ruled::Ruled;
pub use slow::WithSlow;
pub use striped::{StripedTime, Stripes};
pub use time::Time;

pub(crate) use call::Call;
pub(crate) use judge::{Inside, Verdict};
pub(crate) use tagged::{sweep, sweep_is_due};

/// A breaker's memory of recent calls. Implemented by the types of this module only: how words may
/// be written is a protocol between the window and the breaker.
#[allow(private_bounds, reason = "sealed: the protocol is the breaker's own")]
pub trait Window: Inside<Config = Self::Settings> {
    /// What the breaker keeps beside the window: its [`Config`](crate::Config), or `()` where the window
    /// holds all settings itself.
    type Settings;
}

#[allow(private_bounds, reason = "see Window")]
impl<W: Inside<Config = S>, S> Window for W {
    type Settings = S;
}
