//! What a breaker remembers of recent calls, with the rule that says trip.
//!
//! | window | trips on | a success costs | a failure costs |
//! | ------ | -------- | --------------- | --------------- |
//! | [`Failures`] | K failures within a time | nothing | a clock read, up to K loads, one exchange |
//! | [`Consecutive`] | K failures with no success between | a load (an exchange after a failure) | one exchange |
//! | [`Calls`] | a failure rate over the last N calls | a load if all N succeeded, else 1–3 exchanges | 1–3 exchanges |
//! | [`Time`] | a failure rate over the last T | a clock read, one exchange | the same, and a sum over the buckets |
//!
//! [`StripedTime`] is [`Time`] for many cores: a success writes to memory of its own stripe only.
//! [`WithSlow`] sets a second window beside the first that judges slow calls; [`AnyWindow`] chooses
//! at run time, and within [`Adjustable`] it can be replaced while calls go on.
//!
//! # The rule for all windows
//!
//! Every word carries the generation that wrote it as a tag, so nothing has to be cleared when a
//! generation ends. Tags are compared for equality only. A word with another tag may be replaced
//! only after the state word was seen to be still in the writer's generation *after* that word was
//! loaded, and by an exchange from the loaded value: otherwise a stalled thread of the last
//! generation would write over the present one.

mod adjustable;
mod any;
mod call;
mod calls;
mod consecutive;
mod divisor;
mod failures;
mod judge;
mod parts;
mod rate;
mod slow;
mod striped;
mod tagged;
mod time;

pub use adjustable::{Adjustable, Replaceable};
pub use any::AnyWindow;
pub use calls::{Calls, calls_words};
pub use consecutive::Consecutive;
pub use failures::Failures;
pub use slow::WithSlow;
pub use striped::{StripedTime, Stripes};
pub use time::Time;

pub(crate) use call::Call;
pub(crate) use judge::{Judge, Verdict};

/// A breaker's memory of recent calls. Implemented by the types of this module only: how words may
/// be written is a protocol between the window and the breaker.
#[allow(private_bounds, reason = "sealed: the protocol is the breaker's own")]
pub trait Window: Judge {}

#[allow(private_bounds, reason = "see Window")]
impl<W: Judge> Window for W {}
