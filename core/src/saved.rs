//! A breaker's state as a plain integer that survives a reset of the chip.
//!
//! | field    | bits | meaning |
//! | -------- | ---- | ------- |
//! | phase    |    3 | 0 closed, 1 open, 2 isolated, 3 disabled |
//! | shadow   |    1 | the shadow switch |
//! | streak   |    4 | trips in a row |
//! | left     |   28 | milliseconds left of the open time |
//! | version  |    4 | of this layout: 2 |
//! | check    |   24 | a hash of the bits below |
//!
//! The same whatever the width of words, so that it may be stored by one firmware and read by
//! another.

use core::fmt;

use crate::Phase;
use crate::state::{ADVICE_MARGIN_MS, MAX_SPAN_MS};

const SHADOW: u32 = 3;
const STREAK: u32 = 4;
const LEFT: u32 = 8;
const VERSION: u32 = 36;
const CHECK: u32 = 40;

/// The longest time that anybody may be left with: the longest advice, and what rounding it up adds.
const MAX_LEFT_MS: u32 = 2 * MAX_SPAN_MS + 8 * ADVICE_MARGIN_MS;

const CURRENT_VERSION: u8 = 2;

/// The phases that each number stands for; the first is what comes back. A probe that was out is lost, so
/// half-open becomes an open time that is over. A ramp that was begun is not begun again.
const KEPT: [[Phase; 2]; 4] = [
    [Phase::Closed, Phase::Recovering],
    [Phase::Open, Phase::HalfOpen],
    [Phase::Isolated, Phase::Isolated],
    [Phase::Disabled, Phase::Disabled],
];

/// What is worth keeping over a reset: generations, probes and the window are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    /// Closed, open, isolated or disabled once it has been an integer.
    pub(crate) phase: Phase,
    pub(crate) in_shadow: bool,
    pub(crate) streak: u8,
    pub(crate) left_ms: u32,
}

/// An integer that no breaker [saved](crate::Breaker::save).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RestoreError {
    /// Its check does not fit, or it holds what no breaker saves: memory that was never written, or has
    /// lost bits.
    Damaged {
        /// The integer.
        saved: u64,
    },
    /// It was saved in another layout than this version of the crate knows.
    Version {
        /// The layout's version.
        found: u8,
        /// The only version that is known.
        known: u8,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { saved } => write!(f, "{saved:#x} is no saved state: its check differs"),
            Self::Version { found, known } => {
                write!(f, "the saved state has version {found}, but must have version {known}")
            }
        }
    }
}

impl core::error::Error for RestoreError {}

impl Saved {
    pub(crate) fn to_integer(self) -> u64 {
        let number = KEPT.iter().take_while(|phases| !phases.contains(&self.phase)).count() as u64;
        let low = number | u64::from(self.in_shadow) << SHADOW | u64::from(self.streak) << STREAK;
        with_check(low | u64::from(self.left_ms) << LEFT | u64::from(CURRENT_VERSION) << VERSION)
    }

    pub(crate) fn from_integer(saved: u64) -> Result<Self, RestoreError> {
        let damaged = RestoreError::Damaged { saved };
        if with_check(saved & ((1 << CHECK) - 1)) != saved {
            return Err(damaged);
        }
        let found = (saved >> VERSION) as u8 & 0xF;
        if found != CURRENT_VERSION {
            return Err(RestoreError::Version { found, known: CURRENT_VERSION });
        }
        let left_ms = (saved >> LEFT) as u32 & 0xFFF_FFFF;
        let phases = KEPT.get(saved as usize & 0x7).filter(|_| left_ms <= MAX_LEFT_MS);
        let [phase, _] = *phases.ok_or(damaged)?;
        let (in_shadow, streak) = (saved >> SHADOW & 1 != 0, (saved >> STREAK) as u8 & 0xF);
        Ok(Self { phase, in_shadow, streak, left_ms })
    }
}

/// The fields with their check: 24 bits of FNV-1a (Fowler, Noll, Vo, public domain) over their five bytes.
/// Never what memory full of zeroes or ones holds.
fn with_check(fields: u64) -> u64 {
    let mut hash: u32 = 0x811C_9DC5;
    for byte in fields.to_le_bytes().into_iter().take(5) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    fields | u64::from(hash >> 8) << CHECK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_phases() -> [Phase; 4] {
        [Phase::Closed, Phase::Open, Phase::Isolated, Phase::Disabled]
    }

    #[test]
    fn what_is_saved_comes_back() {
        for phase in all_phases() {
            for (in_shadow, streak, left_ms) in [(false, 0, 0), (true, 15, MAX_LEFT_MS)] {
                let saved = Saved { phase, in_shadow, streak, left_ms };
                assert_eq!(Saved::from_integer(saved.to_integer()), Ok(saved));
            }
        }
    }

    #[test]
    fn what_other_firmware_of_this_layout_saved_is_known() {
        let saved = Saved { phase: Phase::Open, in_shadow: true, streak: 3, left_ms: 5_000 };
        assert_eq!(saved.to_integer(), 0x598C_5D20_0013_8839);
        let probing = Saved { phase: Phase::HalfOpen, ..saved };
        assert_eq!(Saved::from_integer(probing.to_integer()), Ok(saved));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        for phase in all_phases() {
            let saved = Saved { phase, in_shadow: false, streak: 3, left_ms: 5_000 }.to_integer();
            for bit in 0..64 {
                let damaged = saved ^ (1 << bit);
                assert_eq!(Saved::from_integer(damaged), Err(RestoreError::Damaged { saved: damaged }));
            }
        }
    }

    #[test]
    fn memory_that_was_never_written_is_refused() {
        for saved in [0, u64::MAX, 0xAAAA_AAAA_AAAA_AAAA, 0xDEAD_BEEF_DEAD_BEEF] {
            assert!(matches!(Saved::from_integer(saved), Err(RestoreError::Damaged { .. })));
        }
    }

    #[test]
    fn what_no_breaker_saves_is_refused_though_its_check_fits() {
        let version = u64::from(CURRENT_VERSION) << VERSION;
        for fields in [version | 5, version | u64::from(MAX_LEFT_MS + 1) << LEFT] {
            let saved = with_check(fields);
            assert_eq!(Saved::from_integer(saved), Err(RestoreError::Damaged { saved }));
        }
        assert_eq!(
            Saved::from_integer(with_check(1 << VERSION)),
            Err(RestoreError::Version { found: 1, known: 2 })
        );
    }
}
