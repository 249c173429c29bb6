//! Each operation is abandoned at each place where the user's own code runs in it: the clock, the
//! observer, the stripes. Whoever comes after it finds every promise kept.
//!
//! Between these places an operation is one exchange, or steps that the core's own tests and the models
//! abandon one by one.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nanobreaker_core::window::{
    Adjustable, Calls, Consecutive, Cusum, Failures, StripedTime, Stripes, Time, Window, WithSlow,
};
use nanobreaker_core::{
    Breaker, Clock, Config, ConfigBuilder, CusumSettings, ManualClock, Observer, Outcome, Permit, Phase,
    Rate, Recorded, Rejected, Settings, Token, Transition, WindowSettings,
};

/// Failures in a row that trip each of the windows.
const THRESHOLD: u32 = 3;
const PROBES: u8 = 2;
const OPEN_MS: u64 = 100;

/// Panics when it has burnt down, once.
#[derive(Debug, Default)]
struct Fuse(Cell<Option<u32>>);

impl Fuse {
    fn light(&self, length: u32) {
        self.0.set(Some(length));
    }

    /// Puts it out; returns whether it was still burning.
    fn put_out(&self) -> bool {
        self.0.take().is_some()
    }

    fn burn(&self) {
        match self.0.get() {
            None => {}
            Some(0) => {
                self.0.set(None);
                panic!("the user's code broke");
            }
            Some(left) => self.0.set(Some(left - 1)),
        }
    }
}

struct Fragile<'a, T> {
    fuse: &'a Fuse,
    inner: T,
}

impl<T> Fragile<'_, T> {
    fn burn(&self) -> &T {
        self.fuse.burn();
        &self.inner
    }
}

impl<C: Clock> Clock for Fragile<'_, C> {
    fn now_ms(&self) -> u64 {
        self.burn().now_ms()
    }
}

impl Observer for Fragile<'_, ()> {
    fn transition(&self, _: &Transition) {
        self.burn();
    }

    fn rejected(&self, _: &Rejected) {
        self.burn();
    }

    fn recorded(&self, _: Token, _: Outcome, _: Recorded) {
        self.burn();
    }
}

#[derive(Clone, Copy)]
struct FragileStripes<'a>(&'a Fuse);

impl Stripes for FragileStripes<'_> {
    fn stripe(&self) -> usize {
        self.0.burn();
        1
    }
}

type Breaking<'a, W> = Breaker<W, Fragile<'a, &'a ManualClock>, Fragile<'a, ()>>;

fn opening() -> ConfigBuilder {
    Config::builder()
        .open_for_ms(OPEN_MS)
        .max_open_ms(8 * OPEN_MS)
        .max_probes(PROBES.into())
        .probe_lease_ms(8)
        .ramp_ms(50)
}

/// A breaker of one kind of window, and what can be done to it.
struct Tested<'a, W: Window> {
    breaker: Breaking<'a, W>,
    fuse: &'a Fuse,
    clock: &'a ManualClock,
}

impl<W: Window> Tested<'_, W> {
    fn call(&self, outcome: Outcome) {
        if let Ok(permit) = self.breaker.allow() {
            permit.record(outcome);
        }
    }

    /// Waits until the first probe may go.
    fn wait(&self) {
        let left = self.breaker.snapshot().time_left_ms.unwrap_or(0);
        self.clock.advance(left.into());
    }

    fn trip_and_wait(&self) {
        self.breaker.trip();
        self.wait();
    }

    /// Does `what` until it is abandoned at the given place. Returns whether it came so far.
    fn abandons(&self, place: u32, what: impl FnOnce(&Self)) -> bool {
        self.fuse.light(place);
        let ended = catch_unwind(AssertUnwindSafe(|| what(self)));
        let is_whole = self.fuse.put_out();
        assert_ne!(ended.is_err(), is_whole, "only the fuse breaks anything");
        !is_whole
    }
}

type Step<W> = (&'static str, fn(&Tested<'_, W>));

/// Ways to a state.
fn states<W: Window>() -> Vec<Step<W>> {
    vec![
        ("closed, one failure before it trips", |tested| {
            for _ in 1..THRESHOLD {
                tested.call(Outcome::Failure);
            }
        }),
        ("closed, a generation before words are swept", |tested| {
            let quarter = if Config::MAX_PROBES == 63 { 1_024 } else { 64 };
            for _ in 1..quarter {
                tested.call(Outcome::Failure);
                tested.breaker.reset();
            }
            tested.call(Outcome::Success);
        }),
        ("open", |tested| {
            tested.breaker.trip();
        }),
        ("open, and its time is over", |tested| tested.trip_and_wait()),
        ("open, and the clock was set back", |tested| {
            tested.breaker.trip();
            tested.clock.set(tested.clock.now_ms() - 20);
        }),
        ("half-open with a probe out", |tested| {
            tested.trip_and_wait();
            let _leaked = tested.breaker.allow().map(Permit::into_token);
        }),
        ("half-open, and the lease is over", |tested| {
            tested.trip_and_wait();
            let _leaked = tested.breaker.allow().map(Permit::into_token);
            tested.clock.advance(10);
        }),
        ("half-open, and one more given up is too much", |tested| {
            tested.trip_and_wait();
            for _ in 1..if Config::MAX_PROBES == 63 { 8 } else { 4 } {
                drop(tested.breaker.allow());
            }
        }),
        ("recovering", |tested| {
            tested.trip_and_wait();
            tested.call(Outcome::Success);
            tested.clock.advance(40);
        }),
        ("recovering, and the ramp is over", |tested| {
            tested.trip_and_wait();
            tested.call(Outcome::Success);
            tested.clock.advance(60);
        }),
        ("disabled", |tested| {
            tested.breaker.disable();
        }),
    ]
}

const LEAKED: &str = "a call that is leaked";
const FAILS: &str = "a call that fails";

/// Operations that are abandoned.
fn operations<W: Window>() -> Vec<Step<W>> {
    vec![
        (LEAKED, |tested| {
            let _leaked = tested.breaker.allow().map(Permit::into_token);
        }),
        ("a call that is given up", |tested| drop(tested.breaker.allow())),
        (FAILS, |tested| tested.call(Outcome::Failure)),
        ("a call that succeeds", |tested| tested.call(Outcome::Success)),
        ("a slow call", |tested| tested.call(Outcome::SlowFailure)),
        ("a call that is ignored", |tested| tested.call(Outcome::Ignored)),
        ("trip", |tested| {
            tested.breaker.trip();
        }),
        ("trip_for_ms", |tested| {
            tested.breaker.trip_for_ms(150);
        }),
        ("advise_ms", |tested| {
            tested.breaker.advise_ms(150);
        }),
        ("recover", |tested| {
            tested.breaker.recover();
        }),
        ("disable", |tested| {
            tested.breaker.disable();
        }),
        ("reset", |tested| tested.breaker.reset()),
        ("snapshot", |tested| {
            let _ = tested.breaker.snapshot();
        }),
        ("restore", |tested| {
            let saved = tested.breaker.save();
            tested.breaker.restore(saved, 5).expect("saved just now");
        }),
    ]
}

/// All that must hold for everyone else.
fn keeps_its_promises<W: Window>(tested: &Tested<'_, W>, story: &str) {
    let Tested { breaker, clock, .. } = tested;
    let before = breaker.snapshot();
    assert_eq!(before.phase, breaker.phase(), "{story}");
    assert!(before.in_flight <= PROBES, "{story}: {before:?}");
    // Nobody is shut out for longer than a lease, an open time and a ramp.
    let passes = (0..4).any(|_| {
        let granted = breaker.allow().map(Permit::into_token);
        if let Err(rejected) = granted {
            clock.advance(rejected.retry_after_ms().expect("no latch").into());
        }
        granted.is_ok()
    });
    assert!(passes, "{story}: wedged as {:?}", breaker.snapshot());
    // As many failures as ever trip.
    breaker.reset();
    for failures in 1..=THRESHOLD {
        assert_eq!(breaker.phase(), Phase::Closed, "{story}: {failures} failures");
        tested.call(Outcome::Failure);
    }
    assert_eq!(breaker.phase(), Phase::Open, "{story}");
    // As many probes as ever pass.
    tested.wait();
    let probes = (0..10).filter(|_| breaker.allow().map(Permit::into_token).is_ok());
    assert_eq!(probes.count(), usize::from(PROBES), "{story}");
}

/// Abandons each operation in each state at each place.
fn abandon_all<W: Window>(new: impl Fn(&Fuse) -> (W, W::Settings), more: &[Step<W>]) {
    let mut abandoned = 0;
    let mut operations = operations::<W>();
    operations.extend(more);
    for (state, go) in states() {
        for (name, operation) in &operations {
            for place in 0.. {
                let (fuse, clock) = (Fuse::default(), ManualClock::new(1_000));
                let (window, config) = new(&fuse);
                let fragile_clock = Fragile { fuse: &fuse, inner: &clock };
                let observer = Fragile { fuse: &fuse, inner: () };
                let tested = Tested {
                    breaker: Breaker::with_observer(window, config, fragile_clock, observer),
                    fuse: &fuse,
                    clock: &clock,
                };
                go(&tested);
                let before = tested.breaker.snapshot();
                if !tested.abandons(place, operation) {
                    break;
                }
                abandoned += 1;
                let story = format!("{name}, abandoned at place {place}, {state}");
                let after = tested.breaker.snapshot();
                if *name == LEAKED {
                    // It was abandoned before anybody had the permit, so it keeps no place.
                    let is_same_round = after.generation == before.generation;
                    let out = if is_same_round { before.in_flight } else { 0 };
                    assert!(after.in_flight <= out, "{story}: {after:?}");
                }
                let is_counting = state.starts_with("closed, one") && after == before;
                if is_counting && *name == FAILS {
                    tested.call(Outcome::Failure);
                    assert_eq!(tested.breaker.phase(), Phase::Open, "{story}: a lost trip");
                }
                keeps_its_promises(&tested, &story);
            }
        }
    }
    assert!(abandoned > 100, "only {abandoned} places");
}

const RATE: Rate = Rate::percent(100).min_calls(THRESHOLD);

fn beside<W>(window: Result<W, nanobreaker_core::ConfigError>) -> (W, Config) {
    let config = opening().build().expect("a valid configuration");
    (window.expect("a valid window"), config)
}

/// Three failures in a row trip.
const CUSUM: CusumSettings = CusumSettings {
    normal_ppm: 10_000,
    broken_ppm: 600_000,
    calls_per_false_trip: 100_000,
    sustained_for_ms: 0,
};

#[test]
fn an_abandoned_operation_harms_no_failure_ring() {
    abandon_all(|_| beside(Failures::<3>::within_ms(1_000)), &[]);
}

#[test]
fn an_abandoned_operation_harms_no_window_that_reads_no_clock() {
    abandon_all(|_| beside(Consecutive::new(THRESHOLD)), &[]);
    abandon_all(|_| beside(Cusum::new(CUSUM)), &[]);
    abandon_all(|_| beside(Calls::<1>::new(10, RATE)), &[]);
    abandon_all(|_| beside(Calls::<8>::new(100, RATE)), &[]);
}

#[test]
fn an_abandoned_operation_harms_no_time_window() {
    abandon_all(|_| beside(Time::<4>::new(1_000, 4, RATE)), &[]);
}

#[test]
fn an_abandoned_operation_harms_no_pair_of_windows() {
    abandon_all(
        |_| {
            let (failed, config) = beside(Failures::<3>::within_ms(1_000));
            let (slow, _) = beside(Calls::<1>::new(10, RATE));
            (WithSlow::new(failed, slow), config)
        },
        &[],
    );
}

/// Its stripes break, too: so its type borrows the fuse, and one operation is enough.
#[test]
fn an_abandoned_count_harms_no_striped_window() {
    for place in 0.. {
        let (fuse, clock) = (Fuse::default(), ManualClock::new(1_000));
        let stripes = FragileStripes(&fuse);
        let (window, config) = beside(StripedTime::<_, 2, 4>::new(1_000, 4, RATE, stripes));
        let tested = Tested {
            breaker: Breaker::with_observer(
                window,
                config,
                Fragile { fuse: &fuse, inner: &clock },
                Fragile { fuse: &fuse, inner: () },
            ),
            fuse: &fuse,
            clock: &clock,
        };
        for _ in 1..THRESHOLD {
            tested.call(Outcome::Failure);
        }
        if !tested.abandons(place, |tested| tested.call(Outcome::Failure)) {
            assert!(place >= 4, "stripes, clock, clock of the trip, observer");
            return;
        }
        if tested.breaker.phase() == Phase::Closed {
            tested.call(Outcome::Failure);
        }
        assert_eq!(tested.breaker.phase(), Phase::Open, "at {place}: a lost trip");
        keeps_its_promises(&tested, &format!("a striped count, abandoned at {place}"));
    }
}

fn settings(open_for_ms: u64) -> Settings {
    Settings {
        window: WindowSettings::Calls { size: 10, rate: RATE },
        slow_window: Some(WindowSettings::Cusum(CUSUM)),
        opening: opening().open_for_ms(open_for_ms),
        ..Settings::DEFAULT
    }
}

#[test]
fn an_abandoned_adjustment_leaves_the_old_settings_or_the_new_and_holds_nobody_up() {
    type Live = Adjustable<1, 1>;
    let adjusting: Step<Live> = ("adjust", |tested| {
        tested.breaker.adjust(&settings(200)).expect("nobody else adjusts");
    });
    abandon_all(|_| (Live::new(&settings(OPEN_MS)).expect("valid"), ()), &[adjusting]);

    for (state, go) in states::<Live>() {
        for place in 0.. {
            let (fuse, clock) = (Fuse::default(), ManualClock::new(1_000));
            let fragile_clock = Fragile { fuse: &fuse, inner: &clock };
            let observer = Fragile { fuse: &fuse, inner: () };
            let window = Live::new(&settings(OPEN_MS)).expect("valid");
            let tested = Tested {
                breaker: Breaker::with_observer(window, (), fragile_clock, observer),
                fuse: &fuse,
                clock: &clock,
            };
            go(&tested);
            let is_abandoned = tested.abandons(place, adjusting.1);
            let old_or_new = [OPEN_MS, 200].map(|ms| opening().open_for_ms(ms).build());
            assert!(old_or_new.contains(&Ok(tested.breaker.config())), "{state}");
            let others = settings(300);
            tested.breaker.adjust(&others).expect("nobody has the turn");
            assert_eq!(Ok(tested.breaker.config()), others.opening.build());
            if !is_abandoned {
                break;
            }
        }
    }
}
