//! How far a call is.

/// How far a call is: a word wide, see [`Held`](super::held::Held).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Stage {
    /// The breaker has not been asked.
    Idle,
    /// It waits.
    Waits,
    /// The caller's code panicked.
    Panicked,
    /// Its answer began in time, and is late no more.
    #[cfg(feature = "tower-http")]
    Fine,
    /// Its answer began too late.
    #[cfg(feature = "tower-http")]
    Slow,
    /// Its outcome was recorded, or it was not made, or it is part of a probe.
    Spent,
}
