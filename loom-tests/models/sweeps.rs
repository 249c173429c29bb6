//! Promises 3 to 5 where the number of a generation comes round again: what an earlier use of the
//! number left in a word must be gone by then, and nothing of the present one with it.
//!
//! With narrow words only, whose generations go round after 256: with wide ones it takes 4,096. Where the
//! many resets fall among another thread's steps is not explored, only where they begin and end.

use nanobreaker_core::{Config, Outcome, Phase, Recorded, window::Window};

use crate::explore::{Bound, model};
use crate::rig::{OPEN_MS, Rig, config};
use crate::windows::{consecutive, for_each_window};

const GENERATIONS: usize = 256;
const QUARTER: usize = GENERATIONS / 4;
/// Steps for two rounds of all generations.
const MOST_STEPS: usize = 40_000;

fn reset<W: Window<Settings = Config>>(rig: &Rig<W>, times: usize) {
    loom::stop_exploring();
    for _ in 0..times {
        rig.breaker.reset();
    }
    loom::explore();
}

/// Resets until it is this generation.
fn reset_until<W: Window<Settings = Config>>(rig: &Rig<W>, generation: usize) {
    loom::stop_exploring();
    while usize::from(rig.breaker.snapshot().generation) != generation {
        rig.breaker.reset();
    }
    loom::explore();
}

/// A sweep races a failure of the generation that begins, which must survive it.
fn a_sweep_removes_nothing_of_the_present<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(2), config());
        rig.fail();
        reset(&rig, 2 * QUARTER - 1);
        rig
    })
    .long(MOST_STEPS)
    .threads([
        |rig| {
            rig.breaker.reset();
            (0, Recorded::Ignored)
        },
        |rig| {
            let token = rig.token();
            let recorded = rig.breaker.record(token, Outcome::Failure);
            (token.generation(), recorded)
        },
    ])
    .end(|rig, [_, (generation, recorded)]| {
        rig.fail();
        let trips = usize::from(generation) == 2 * QUARTER;
        assert_eq!(rig.phase() == Phase::Open, trips);
        (trips, recorded)
    })
    .exactly([(true, Recorded::Counted), (false, Recorded::Counted), (false, Recorded::Stale)]);
}
// Not the windows of time: their many words make for many executions, and they are swept by the same loop.
for_each_window!(a_sweep_removes_nothing_of_the_present: failures consecutive; as shipped cusum history tally);

/// A sweep races a failure of the generation that ends; wherever that lands, it must be gone when its
/// number comes round again. So it must where the sweep stops for ever at any step: the next quarter's
/// sweep makes up for it.
fn a_failure_is_gone_when_its_number_comes_again<W: Window<Settings = Config> + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(2), config());
        reset(&rig, QUARTER - 1);
        rig.with_tokens(1)
    })
    .long(MOST_STEPS)
    .threads([
        |rig| {
            rig.breaker.reset();
            Recorded::Ignored
        },
        |rig| rig.record(0, Outcome::Failure),
    ])
    .end_where_the_first_stops(|rig, [reset_ended, recorded]| {
        let token = rig.tokens[0].generation();
        while rig.breaker.snapshot().generation == token {
            rig.breaker.reset();
        }
        reset_until(rig, token.into());
        assert_eq!(rig.failures_to_trip(), 2, "an early trip");
        (reset_ended.is_some(), recorded)
    })
    .exactly([false, true].into_iter().flat_map(|ended| {
        let recorded = [Recorded::Counted, Recorded::Stale];
        recorded.map(|recorded| (ended, Some(recorded)))
    }));
}
for_each_window!(a_failure_is_gone_when_its_number_comes_again: consecutive; as shipped failures cusum history);

/// Two resets meet where a sweep is due: one makes the first generation of a quarter, the other the one after
/// it, before the sweep. Two sweeps meet a word before its number comes again; the first of them has stopped for ever
/// here, so that the failure is gone only if this one is not missed.
#[test]
fn where_two_resets_meet_a_sweep_is_not_missed() {
    model(Bound::Exhaustive, || {
        let rig = Rig::new(consecutive(2), config());
        rig.fail();
        reset(&rig, QUARTER - 1);
        // The new generation is its only write.
        assert_eq!(loom::stopped_after(1, || rig.breaker.reset()), None);
        assert_eq!(usize::from(rig.breaker.snapshot().generation), QUARTER);
        reset(&rig, QUARTER - 1);
        rig
    })
    .long(MOST_STEPS)
    .threads([|rig| rig.breaker.reset(), |rig| rig.breaker.reset()])
    .end(|rig, _| {
        let generation = usize::from(rig.breaker.snapshot().generation);
        reset_until(rig, 0);
        assert_eq!(rig.failures_to_trip(), 2, "an early trip");
        generation
    })
    .exactly([2 * QUARTER + 1]);
}

/// A sweep that stalls for half of all generations does not wipe what the present one counts.
fn a_stalled_sweep_wipes_nothing<W: Window<Settings = Config> + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(Bound::Exhaustive, move || {
        let rig = Rig::new(window(2), config());
        reset(&rig, 2 * QUARTER - 1);
        rig
    })
    .long(MOST_STEPS)
    .threads([
        |rig| rig.breaker.reset(),
        |rig| {
            reset_until(rig, 0);
            rig.fail();
        },
    ])
    .end(|rig, _| {
        // The first thread's reset may also come last, before or after the other's failure.
        let generation = rig.breaker.snapshot().generation;
        rig.fail();
        assert!(generation != 0 || rig.phase() == Phase::Open, "a lost trip");
        generation
    })
    .exactly([0, 1]);
}
for_each_window!(a_stalled_sweep_wipes_nothing: failures consecutive; as shipped history);

/// The anchor is swept, too: one of an earlier use of the number, of the same phase and a whole range ago,
/// does not make an open time look over before its own anchor is there.
#[test]
fn an_anchor_is_gone_when_its_number_comes_again() {
    const RANGE_MS: u64 = 1 << 15;
    model(Bound::Exhaustive, || {
        let rig = Rig::new(consecutive(1), config()).when_it_is(RANGE_MS).opened();
        reset(&rig, GENERATIONS - 1);
        rig.when_it_is(2 * RANGE_MS)
    })
    .long(MOST_STEPS)
    .threads([
        |rig| {
            rig.breaker.trip();
            Ok(false)
        },
        |rig| {
            let allowed = rig.breaker.allow_token();
            // A probe would be one too early.
            allowed.map(|token| token.is_probe()).map_err(|no| no.retry_after_ms())
        },
    ])
    .end_where_the_first_stops(|_, [_, read]| read.expect("it goes on"))
    .exactly([Ok(false), Err(Some(OPEN_MS as u32))]);
}
