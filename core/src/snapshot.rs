//! What a breaker looks like at one moment.

use crate::Phase;

/// A breaker at one moment, read with one load: its fields belong together.
///
/// It is right without any call having been made: an open breaker whose time is over says that it
/// is [ready to probe](Self::ready_to_probe), though only the next call makes it half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Snapshot {
    /// The phase.
    pub phase: Phase,
    /// Whether the breaker judges but never rejects.
    pub in_shadow: bool,
    /// Stepped on entering open, isolated or disabled, by every reset and by new settings; wraps after
    /// 4,096 (256 where words are 32 bits wide).
    pub generation: u16,
    /// How often in a row it tripped again without having stayed healthy: 0 after a first trip.
    pub streak: u8,
    /// Milliseconds until the open time, the lease of the probes in flight or the ramp is over;
    /// 0 when it is. `None` in phases that no time ends.
    pub time_left_ms: Option<u32>,
    /// Probes in flight, while half-open.
    pub in_flight: u8,
    /// Probes that succeeded in this half-open round.
    pub succeeded: u8,
    /// Probes that failed in this half-open round.
    pub failed: u8,
}

impl Snapshot {
    /// Whether the breaker is open, but the next call will be admitted as a probe.
    pub const fn ready_to_probe(&self) -> bool {
        matches!(self.phase, Phase::Open) && matches!(self.time_left_ms, Some(0))
    }
}
