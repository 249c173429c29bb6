//! The node between two sleeps.

use nanobreaker_core::window::Consecutive;
use nanobreaker_core::{Breaker, Clock, Config, ManualClock, RestoreError, checked};

use super::{Image, ImageError, Memory};

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;

/// How often a wake-up asks the sensor before it gives up.
const TRIES: u32 = 3;
/// What a try takes when nobody answers.
const TIMEOUT_MS: u64 = 25;

const CONFIG: Config =
    checked!(Config::builder().open_for_ms(2 * MINUTE_MS).max_open_ms(14 * MINUTE_MS).build());

type NodeBreaker<'a> = Breaker<Consecutive, &'a ManualClock>;

/// The breaker as it is after a reset.
fn new_breaker(uptime: &ManualClock) -> NodeBreaker<'_> {
    // The window is lost in each sleep, so the threshold is what one wake-up can reach.
    Breaker::new(checked!(Consecutive::new(TRIES)), CONFIG, uptime)
}

/// Eight hours, of which the sensor is dead for four.
#[derive(Clone, Copy, Debug)]
pub struct Night {
    /// The hour before whose first wake-up the memory is damaged.
    pub damaged_at_hour: Option<u64>,
}

impl Night {
    const HOURS: u64 = 8;
    const DEAD_MS: core::ops::Range<u64> = HOUR_MS..5 * HOUR_MS;
}

/// What a night added up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Wake-ups.
    pub wake_ups: u32,
    /// Tries of a dead sensor: what the battery pays for.
    pub in_vain: u32,
    /// Readings.
    pub readings: u32,
    /// Minutes from the sensor's recovery to the next reading.
    pub blind_minutes: u32,
    /// Images that were taken up again.
    pub resumed: u32,
    /// Wake-ups that found no image to trust.
    pub refused: u32,
    /// Images that were saved.
    pub saved: u32,
}

/// Why a wake-up begins with a breaker that is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused<E> {
    /// The memory has no image.
    Memory(E),
    /// The image holds no breaker's state: another firmware wrote it.
    State(RestoreError),
}

/// Plays a night. `damage` is what befalls the memory at the hour that `night` names.
pub fn sleep_through<M: Memory>(night: Night, memory: &mut M, mut damage: impl FnMut(&mut M)) -> Totals {
    let mut totals = Totals::default();
    let mut seen_after_recovery = false;
    for minute in 0..Night::HOURS * 60 {
        if minute % 60 == 0 && night.damaged_at_hour == Some(minute / 60) {
            damage(memory);
        }
        let now_ms = minute * MINUTE_MS;
        let sensor_answers = !Night::DEAD_MS.contains(&now_ms);
        let reading = wake_up(memory, now_ms, sensor_answers, &mut totals);
        totals.readings += u32::from(reading);
        seen_after_recovery |= reading && now_ms >= Night::DEAD_MS.end;
        totals.blind_minutes += u32::from(now_ms >= Night::DEAD_MS.end && !seen_after_recovery);
    }
    totals
}

/// One wake-up: a new breaker, as after any reset. Whether there is a reading.
fn wake_up<M: Memory>(memory: &mut M, real_time_ms: u64, sensor_answers: bool, totals: &mut Totals) -> bool {
    totals.wake_ups += 1;
    let uptime = ManualClock::new(0);
    let breaker = new_breaker(&uptime);
    match resume(&breaker, memory, real_time_ms) {
        Ok(()) => totals.resumed += 1,
        Err(_) => totals.refused += 1, // closed: the node tries its sensor, as a new one would
    }
    let (before, awake_since_ms) = (breaker.snapshot(), uptime.now_ms());

    let mut reading = false;
    for _ in 0..TRIES {
        let Ok(permit) = breaker.allow() else { break };
        if sensor_answers {
            permit.success();
            reading = true;
            break;
        }
        uptime.advance(TIMEOUT_MS);
        permit.failure();
        totals.in_vain += 1;
    }

    // Only a transition is worth a write: an older image is as good, for it says when it was saved.
    let after = breaker.snapshot();
    if (before.phase, before.generation) != (after.phase, after.generation) {
        let image = Image {
            sequence: 0,
            state: breaker.save(),
            saved_at_ms: real_time_ms + uptime.now_ms() - awake_since_ms,
        };
        totals.saved += u32::from(memory.save(&image).is_ok());
    }
    reading
}

/// Takes up what the last wake-up left behind.
fn resume<M: Memory>(
    breaker: &NodeBreaker<'_>,
    memory: &mut M,
    real_time_ms: u64,
) -> Result<(), Refused<M::Error>> {
    let image = memory.load().map_err(Refused::Memory)?;
    // A real-time clock that was reset shows less than before: how long the sleep was is not known,
    // and the open time begins again.
    let slept_ms = real_time_ms.saturating_sub(image.saved_at_ms);
    breaker.restore(image.state, slept_ms).map_err(Refused::State)
}

/// A memory that forgets: the node without what this module is for.
#[derive(Debug)]
pub struct Forgetful;

impl Memory for Forgetful {
    type Error = ImageError;

    fn load(&mut self) -> Result<Image, ImageError> {
        Err(ImageError::NeverWritten)
    }

    fn save(&mut self, _: &Image) -> Result<(), ImageError> {
        Ok(())
    }
}

impl Totals {
    /// Whether the memory was worth it, beside the same night with a memory that forgets.
    pub fn is_better_than(&self, forgetful: &Self) -> bool {
        self.in_vain * 10 < forgetful.in_vain && self.blind_minutes <= 14
    }
}

#[cfg(test)]
mod tests {
    use nanobreaker_core::Phase;

    use super::*;
    use crate::sleep::{BackupRam, EmulatedFlash, Flash};

    const QUIET: Night = Night { damaged_at_hour: None };
    const DAMAGED: Night = Night { damaged_at_hour: Some(3) };

    #[test]
    fn without_memory_each_wake_up_tries_a_dead_sensor_anew() {
        let totals = sleep_through(QUIET, &mut Forgetful, |_| ());
        assert_eq!(totals.in_vain, 4 * 60 * TRIES);
        assert_eq!((totals.blind_minutes, totals.resumed), (0, 0));
    }

    #[test]
    fn backup_ram_keeps_a_breaker_open_over_sleeps_and_lets_it_probe_in_time() {
        let mut words = [0; BackupRam::WORDS];
        let totals = sleep_through(QUIET, &mut BackupRam::new(&mut words), |_| ());
        let forgetful = sleep_through(QUIET, &mut Forgetful, |_| ());
        assert!(totals.is_better_than(&forgetful), "{totals:?}");
        // Four hours have room for 2, 4, 8 and 16 times 14 minutes, each found over up to a minute late.
        let probes = totals.in_vain - TRIES;
        assert!((16..=20).contains(&probes), "{totals:?}");
        // It was never written until the first trip, and held an image from then on.
        assert_eq!(totals.refused, 61);
    }

    #[test]
    fn flash_does_the_same_and_is_written_at_transitions_only() {
        let mut flash = Flash::new(EmulatedFlash::erased(), 0);
        let totals = sleep_through(QUIET, &mut flash, |_| ());
        let mut words = [0; BackupRam::WORDS];
        let in_ram = sleep_through(QUIET, &mut BackupRam::new(&mut words), |_| ());
        assert_eq!(totals, in_ram);
        assert_eq!(flash.flash_mut().erased, totals.saved);
        assert!(totals.saved < 30, "{totals:?}");
    }

    #[test]
    fn a_damaged_image_is_refused_and_the_node_starts_as_a_new_one() {
        let quiet = sleep_through(QUIET, &mut BackupRam::new(&mut [0; BackupRam::WORDS]), |_| ());
        let mut words = [0; BackupRam::WORDS];
        let mut memory = BackupRam::new(&mut words);
        let damaged = sleep_through(DAMAGED, &mut memory, BackupRam::flip_bit);
        assert_eq!(damaged.refused, quiet.refused + 1);
        // What the lost image saved is paid again: one wake-up's tries, and the short open times.
        let again = damaged.in_vain - quiet.in_vain;
        assert!((1..=2 * TRIES).contains(&again), "{again}");
    }

    #[test]
    fn a_real_time_clock_that_was_reset_lets_the_open_time_begin_again() {
        let uptime = ManualClock::new(0);
        let breaker = new_breaker(&uptime);
        let mut words = [0; BackupRam::WORDS];
        let mut memory = BackupRam::new(&mut words);
        let before = new_breaker(&uptime);
        before.trip();
        let image = Image { sequence: 0, state: before.save(), saved_at_ms: HOUR_MS };
        memory.save(&image).unwrap();
        resume(&breaker, &mut memory, 5).unwrap();
        let snapshot = breaker.snapshot();
        assert_eq!(snapshot.phase, Phase::Open);
        // Small chips count time in coarser units.
        let missing_ms = CONFIG.open_for_ms() - snapshot.time_left_ms.unwrap();
        assert!(missing_ms < CONFIG.max_open_ms() / 128, "{missing_ms}");
    }

    #[test]
    fn an_image_of_another_firmware_is_refused_by_the_breaker() {
        let uptime = ManualClock::new(0);
        let breaker = new_breaker(&uptime);
        let mut words = [0; BackupRam::WORDS];
        let mut memory = BackupRam::new(&mut words);
        let image = Image { sequence: 0, state: 0x0BAD_CAFE, saved_at_ms: 0 };
        memory.save(&image).unwrap();
        let refused = resume(&breaker, &mut memory, 0).unwrap_err();
        assert!(matches!(refused, Refused::State(_)));
        assert_eq!(breaker.snapshot().phase, Phase::Closed);
    }
}
