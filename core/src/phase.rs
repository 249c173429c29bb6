//! The phases that a breaker can be in.

use core::fmt;

/// Where a breaker stands.
///
/// Displayed in lower case with underscores: `closed`, `open`, `half_open`, `recovering`,
/// `isolated`, `disabled`.
///
/// ```
/// use nanobreaker_core::Phase;
/// assert_eq!(Phase::HalfOpen.to_string(), "half_open");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Phase {
    /// Calls pass and the window judges them.
    Closed,
    /// Calls are rejected until the open time is over.
    Open,
    /// A few probes pass and decide whether to close or to open again.
    HalfOpen,
    /// The probes succeeded; a growing share of the calls passes, and the window judges them.
    Recovering,
    /// Held open by an operator, or by a latch after a trip, until someone resets it.
    Isolated,
    /// An operator lets all calls pass; nothing is judged.
    Disabled,
}

impl Phase {
    /// The phase's name, as displayed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::Recovering => "recovering",
            Self::Isolated => "isolated",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
