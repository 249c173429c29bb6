//! Promises 3 to 5 where the number of a generation comes round again: what an earlier use of the
//! number left in a window must be gone by then, and nothing of the present one with it.
//!
//! With narrow words only, whose generations go round after 256: with wide ones it takes 4,096.

use nanobreaker_core::{Outcome, Phase, Recorded, window::Window};

use crate::explore::{WIDELY, model};
use crate::rig::{Rig, config};
use crate::windows::for_each_window;

const GENERATIONS: usize = 256;
const HALF: usize = GENERATIONS / 2;
/// Steps for two rounds of all generations.
const MOST_STEPS: usize = 20_000;

fn reset<W: Window>(rig: &Rig<W>, times: usize) {
    for _ in 0..times {
        rig.breaker.reset();
    }
}

/// A sweep races a failure of the generation that begins, which must survive it.
fn a_sweep_removes_nothing_of_the_present<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(WIDELY, move || {
        let rig = Rig::new(window(2), config());
        rig.fail();
        reset(&rig, HALF - 1);
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
        let trips = usize::from(generation) == HALF;
        assert_eq!(rig.phase() == Phase::Open, trips);
        (trips, recorded)
    })
    .exactly([
        (true, Recorded::Counted),
        (false, Recorded::Counted),
        (false, Recorded::Stale),
    ]);
}
#[cfg(not(loom_first_read_writes))]
for_each_window!(a_sweep_removes_nothing_of_the_present);
// Only the windows of few words: each execution makes 300 steps.
#[cfg(loom_first_read_writes)]
for_each_window!(a_sweep_removes_nothing_of_the_present: failures consecutive history);

/// A sweep races a failure of the generation that ends; wherever that lands, it must be gone when
/// its number comes round again.
fn a_failure_is_gone_when_its_number_comes_again<W: Window + Send + Sync + 'static>(
    window: fn(u32) -> W,
) {
    model(WIDELY, move || {
        let rig = Rig::new(window(2), config());
        reset(&rig, HALF - 1);
        rig.with_tokens(1)
    })
    .long(MOST_STEPS)
    .threads([
        |rig| {
            rig.breaker.reset();
            Recorded::Ignored
        },
        |rig| rig.breaker.record(rig.tokens[0], Outcome::Failure),
    ])
    .end(|rig, [_, recorded]| {
        reset(rig, GENERATIONS - 1);
        rig.fail();
        assert_eq!(rig.phase(), Phase::Closed, "an early trip");
        recorded
    })
    .exactly([Recorded::Counted, Recorded::Stale]);
}
#[cfg(not(loom_first_read_writes))]
for_each_window!(a_failure_is_gone_when_its_number_comes_again);
// Only the windows of few words: each execution makes 600 steps.
#[cfg(loom_first_read_writes)]
for_each_window!(a_failure_is_gone_when_its_number_comes_again: failures consecutive history);

/// A sweep that stalls for half of all generations does not wipe what the present one counts.
fn a_stalled_sweep_wipes_nothing<W: Window + Send + Sync + 'static>(window: fn(u32) -> W) {
    model(WIDELY, move || {
        let rig = Rig::new(window(2), config());
        reset(&rig, HALF - 1);
        rig
    })
    .long(MOST_STEPS)
    .threads([
        |rig| rig.breaker.reset(),
        |rig| {
            // Where these resets fall among the other thread's steps is not explored, only where
            // they begin and end: it would take half a million executions.
            loom::stop_exploring();
            while rig.breaker.snapshot().generation != 0 {
                rig.breaker.reset();
            }
            loom::explore();
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
for_each_window!(a_stalled_sweep_wipes_nothing: failures consecutive history);
