//! Why a call may not be made, and when to ask again.

use core::fmt;
use core::time::Duration;

use crate::Phase;

/// `allow()` said no: the call must not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rejected {
    /// The phase that rejected the call.
    pub phase: Phase,
    /// The generation that rejected the call.
    pub generation: u16,
    /// See [`Rejected::retry_after_ms`].
    pub(crate) retry_after_ms: Option<u32>,
}

impl Rejected {
    /// A rejection by a breaker of an adapter's own.
    pub const fn new(phase: Phase, generation: u16, retry_after_ms: Option<u32>) -> Self {
        Self { phase, generation, retry_after_ms }
    }

    /// Milliseconds after which asking again makes sense; `None` while isolated, where only an
    /// operator's reset helps.
    ///
    /// While open it is what is left of the open time; while half-open, at the most what is left of
    /// the probes' lease; while recovering, what is left of the ramp (earlier tries may well pass).
    pub const fn retry_after_ms(&self) -> Option<u32> {
        self.retry_after_ms
    }

    /// [`retry_after_ms`](Self::retry_after_ms) as a `Duration`.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.retry_after_ms {
            Some(ms) => Some(Duration::from_millis(ms as u64)),
            None => None,
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rejected by a breaker that is {}", self.phase)?;
        match self.retry_after_ms {
            Some(ms) => write!(f, "; retry after {ms} ms"),
            None => f.write_str(" until it is reset"),
        }
    }
}

impl core::error::Error for Rejected {}
