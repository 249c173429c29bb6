//! The phases that a breaker can be in.

use crate::name::named;

named! {
    /// Where a breaker stands.
    ///
    /// Displayed in lower case with underscores: `closed`, `open`, `half_open`, `recovering`,
    /// `isolated`, `disabled`.
    ///
    /// ```
    /// use nanobreaker_core::Phase;
    /// assert_eq!(Phase::HalfOpen.to_string(), "half_open");
    /// ```
    pub enum Phase {
        /// Calls pass and the window judges them.
        Closed = "closed",
        /// Calls are rejected until the open time is over.
        Open = "open",
        /// A few probes pass and decide whether to close or to open again.
        HalfOpen = "half_open",
        /// The probes succeeded; a growing share of the calls passes, and the window judges them.
        Recovering = "recovering",
        /// Held open by an operator, or by a latch after a trip, until someone resets it.
        Isolated = "isolated",
        /// An operator lets all calls pass; nothing is judged.
        Disabled = "disabled",
    }
}
