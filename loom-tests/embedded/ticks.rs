//! Promise 7, for a clock made of a wrapping counter: whoever reads it, interrupted anywhere, gets a
//! time that the counter showed while being read, and none earlier than what was read before.

use std::sync::Arc;

use loom::sync::atomic::{AtomicU32, Ordering};
use nanobreaker_embedded::clock::{TickClock, TickSource};

use crate::explore::{Bound, model};

/// A counter that all cores share. Reading it is not ordered with anything else.
#[derive(Clone)]
struct Counter(Arc<AtomicU32>);

impl TickSource for Counter {
    fn ticks(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

struct Timer {
    clock: TickClock<1_000, Counter>,
    counter: Counter,
}

/// A timer about to pass from one half turn of its counter into the next.
fn timer(start: u32) -> Timer {
    let counter = Counter(Arc::new(AtomicU32::new(start)));
    let clock = TickClock::new(counter.clone());
    clock.poll();
    Timer { clock, counter }
}

impl Timer {
    fn read_twice(&self) -> [u64; 2] {
        [self.clock.ticks(), self.clock.ticks()]
    }

    /// Time goes on to `ticks`.
    fn move_to(&self, ticks: u32) -> [u64; 2] {
        self.counter.0.store(ticks, Ordering::Relaxed);
        self.read_twice()
    }
}

const HALF: u64 = 1 << 31;
const TURN: u64 = 1 << 32;

fn no_reader_goes_back(_: &Timer, read: [[u64; 2]; 2]) -> [[u64; 2]; 2] {
    for [first, second] in read {
        assert!(first <= second, "time went back: {first} {second}");
    }
    read
}

#[test]
fn readers_at_the_half_turn_agree() {
    model(Bound::Exhaustive, || timer(u32::MAX / 2))
        .threads([|timer| timer.read_twice(), |timer| timer.move_to(HALF as u32 + 5)])
        .end(no_reader_goes_back)
        .exactly([
            [[HALF - 1, HALF - 1], [HALF + 5, HALF + 5]],
            [[HALF - 1, HALF + 5], [HALF + 5, HALF + 5]],
            [[HALF + 5, HALF + 5], [HALF + 5, HALF + 5]],
        ]);
}

#[test]
fn readers_at_the_turn_agree() {
    model(Bound::Exhaustive, || timer(u32::MAX))
        .threads([|timer| timer.read_twice(), |timer| timer.move_to(7)])
        .end(no_reader_goes_back)
        .exactly([
            [[TURN - 1, TURN - 1], [TURN + 7, TURN + 7]],
            [[TURN - 1, TURN + 7], [TURN + 7, TURN + 7]],
            [[TURN + 7, TURN + 7], [TURN + 7, TURN + 7]],
        ]);
}

/// Three readers; what one of them saw before another began, the other one does not undo.
#[test]
fn a_reader_that_lags_counts_no_half_turn_twice() {
    // Bound: three threads of up to eight steps.
    model(Bound::Preemptions(3), || timer(u32::MAX))
        .threads([|timer| timer.clock.ticks(), |timer| timer.clock.ticks(), |timer| timer.move_to(7)[1]])
        .end(|timer, read| {
            assert_eq!(timer.clock.ticks(), TURN + 7);
            read
        })
        .exactly([
            [TURN - 1, TURN - 1, TURN + 7],
            [TURN - 1, TURN + 7, TURN + 7],
            [TURN + 7, TURN - 1, TURN + 7],
            [TURN + 7, TURN + 7, TURN + 7],
        ]);
}

/// Between a reader's look at the turns and its reading of the counter the counter goes on by a whole
/// turn, and so to the same half. Somebody has counted the half turn before the counter went on: a
/// release, since a device's time goes by for everyone.
#[test]
fn a_reader_that_sleeps_through_a_turn_is_not_fooled() {
    model(Bound::Exhaustive, || timer(u32::MAX / 2))
        .threads([
            |timer| timer.clock.ticks(),
            |timer| {
                for ticks in [HALF as u32 + 5, 7] {
                    timer.counter.0.store(ticks, Ordering::Release);
                    timer.clock.poll();
                }
                timer.clock.ticks()
            },
        ])
        .end(|_, read| read)
        .exactly([HALF - 1, HALF + 5, TURN + 7].map(|read| [read, TURN + 7]));
}
