//! Keeps the state over a reset of the chip, or of the process, as a plain integer.
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

use crate::breaker::timing::span_of;
use crate::state::{ADVICE_MARGIN_MS, Code, MAX_SPAN_MS, State};
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Phase, Snapshot};

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
struct Saved {
    /// Closed, open, isolated or disabled once it has been an integer.
    phase: Phase,
    in_shadow: bool,
    streak: u8,
    left_ms: u32,
}

/// An integer that no breaker [saved](Breaker::save).
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
            Self::Version { found, known } => write!(f, "the saved version is {found}, but must be {known}"),
        }
    }
}

impl core::error::Error for RestoreError {}

impl Saved {
    fn to_integer(self) -> u64 {
        let number = KEPT.iter().take_while(|phases| !phases.contains(&self.phase)).count() as u64;
        let low = number | u64::from(self.in_shadow) << SHADOW | u64::from(self.streak) << STREAK;
        with_check(low | u64::from(self.left_ms) << LEFT | u64::from(CURRENT_VERSION) << VERSION)
    }

    fn from_integer(saved: u64) -> Result<Self, RestoreError> {
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

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// The state as a plain integer, to be kept over a reset of the chip (in retained memory, in
    /// flash) and given to [`restore`](Self::restore) afterwards: phase, shadow switch, streak and
    /// what is left of an open time. The window is not kept, nor are probes in flight.
    ///
    /// ```
    /// # use nanobreaker_core::{Breaker, Config, ManualClock, Phase, window::Consecutive};
    /// # let radio = || Breaker::new(Consecutive::new(1).unwrap(), Config::DEFAULT, ManualClock::new(0));
    /// let before = radio();
    /// before.isolate();
    /// let saved: u64 = before.save();
    ///
    /// let after = radio(); // the chip was reset
    /// after.restore(saved, 0)?;
    /// assert_eq!(after.phase(), Phase::Isolated);
    /// assert!(radio().restore(0, 0).is_err()); // memory that was never written
    /// # Ok::<(), nanobreaker_core::RestoreError>(())
    /// ```
    pub fn save(&self) -> u64 {
        let Snapshot { phase, in_shadow, streak, time_left_ms, .. } = self.snapshot();
        let left_ms = time_left_ms.filter(|_| phase == Phase::Open).unwrap_or(0);
        Saved { phase, in_shadow, streak, left_ms }.to_integer()
    }

    /// Puts the breaker into a state that [`save`](Self::save) returned `slept_ms` milliseconds ago, in
    /// a new generation. An open breaker stays open for what is left after that, at most for the longest
    /// time that anybody may ask of it. A closed one that has a streak counts as just closed. A streak that
    /// is longer than this target can hold is cut.
    ///
    /// # Errors
    ///
    /// A [`RestoreError`] where `saved` is no saved state; the breaker stays as it is.
    pub fn restore(&self, saved: u64, slept_ms: u64) -> Result<(), RestoreError> {
        let saved = Saved::from_integer(saved)?;
        let slept_ms = u32::try_from(slept_ms).unwrap_or(u32::MAX);
        self.step_by(|state, config| {
            let (restored, left_ms) = restored(state, saved, slept_ms, config);
            Some(self.step(state, restored, Some(Cause::Restored), left_ms, config))
        });
        Ok(())
    }
}

fn restored(state: State, saved: Saved, slept_ms: u32, config: &Config) -> (State, Option<u32>) {
    let state = state.in_shadow(saved.in_shadow).with_streak(saved.streak);
    let left_ms = saved.left_ms.saturating_sub(slept_ms).min(config.max_open_ms());
    match saved.phase {
        Phase::Isolated => (state.entered(Code::ISOLATED), None),
        Phase::Disabled => (state.entered(Code::DISABLED), None),
        Phase::Open | Phase::HalfOpen => (state.entered(Code::OPEN_ASKED), Some(left_ms)),
        _ if saved.streak > 0 => {
            let closed = state.entered(Code::CLOSED).closed();
            (closed, Some(span_of(closed, config).ms()))
        }
        _ => (state.entered(Code::CLOSED), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;
    use crate::window::Consecutive;

    fn radio() -> Breaker<Consecutive, ManualClock> {
        // Short enough to be exact to the millisecond where words are 32 bits wide, too.
        let config = Config::builder().open_for_ms(50).max_open_ms(200);
        Breaker::new(Consecutive::new(1).unwrap(), config.build().unwrap(), ManualClock::new(0))
    }

    fn fail(breaker: &Breaker<Consecutive, ManualClock>) {
        breaker.allow().unwrap().failure();
    }

    #[test]
    fn a_crash_loop_goes_on_with_its_backoff() {
        let before = radio();
        fail(&before);
        before.clock().advance(50);
        fail(&before);
        assert_eq!(before.snapshot().streak, 1);
        before.clock().advance(25);
        let saved = before.save();

        let after = radio();
        after.restore(saved, 0).unwrap();
        let snapshot = after.snapshot();
        assert_eq!((snapshot.phase, snapshot.streak), (Phase::Open, 1));
        assert_eq!(snapshot.time_left_ms, Some(75));
        after.clock().advance(75);
        fail(&after);
        assert_eq!(after.snapshot().streak, 2);
        assert_eq!(after.snapshot().time_left_ms, Some(200));
    }

    #[test]
    fn a_probe_that_was_out_at_the_reset_is_asked_for_again() {
        let before = radio();
        fail(&before);
        before.clock().advance(50);
        let token = before.allow_token().unwrap();
        let saved = before.save();

        let after = radio();
        after.restore(saved, 0).unwrap();
        assert!(after.snapshot().ready_to_probe());
        assert_eq!(after.record(token, crate::Outcome::Success), crate::Recorded::Stale);
    }

    #[test]
    fn an_open_time_longer_than_configured_is_cut() {
        let before = radio();
        assert!(before.trip_for_ms(200));
        let short = Config::builder().open_for_ms(100).build().unwrap();
        let after = Breaker::new(Consecutive::new(1).unwrap(), short, ManualClock::new(0));
        after.restore(before.save(), 0).unwrap();
        assert_eq!(after.snapshot().time_left_ms, Some(100));
    }

    #[test]
    fn a_streak_is_kept_while_closed_and_forgotten_after_a_healthy_time() {
        let before = radio();
        fail(&before);
        before.clock().advance(50);
        fail(&before);
        before.clock().advance(100);
        before.allow().unwrap().success();
        let saved = before.save();
        for (healthy_ms, streak) in [(50, 2), (51, 0)] {
            let after = radio();
            after.restore(saved, 0).unwrap();
            after.clock().advance(healthy_ms);
            fail(&after);
            assert_eq!(after.snapshot().streak, streak);
        }
    }

    #[test]
    fn a_damaged_integer_changes_nothing() {
        let breaker = radio();
        fail(&breaker);
        let before = breaker.snapshot();
        assert!(breaker.restore(before.generation.into(), 0).is_err());
        assert_eq!(breaker.snapshot(), before);
    }

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
