//! What do a failure that does not trip, and a whole trip with its recovery, cost?

use std::hint::black_box;

use benches::ours::{ByRecord, MovingRing, SuccessInAThousand};
use benches::subject::Op;
use benches::yardsticks::{FetchAdd, Steps};
use criterion::{Criterion, criterion_group, criterion_main};
use nanobreaker::window::{Consecutive, Failures, Window};
use nanobreaker::{Breaker, Config, ManualClock};

mod measure;
use measure::alone;

fn failure(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("failure");
    alone::<ByRecord<MovingRing>>(group, "failures, with a clock that moves", Op::Failure);
    alone::<SuccessInAThousand>(group, "consecutive", Op::Failure);
    alone::<Steps>(group, "yardstick: the clock that moves", Op::Healthy);
    alone::<FetchAdd>(group, "yardstick: fetch_add", Op::Healthy);
}

/// Trips, is rejected once, waits, lets a probe pass, closes.
fn round_trip<W: Window<Settings = Config>>(breaker: &Breaker<W, ManualClock>) {
    breaker.allow().expect("closed").failure();
    black_box(breaker.allow().is_err());
    breaker.clock().advance(1_000);
    breaker.allow().expect("due for a probe").success();
}

fn half_open(criterion: &mut Criterion) {
    let config = Config::builder().open_for_ms(1_000).build().expect("allowed");
    let group = &mut criterion.benchmark_group("half-open round trip");
    let ring = Failures::<1>::within_ms(10_000).expect("allowed");
    let ring = Breaker::new(ring, config, ManualClock::new(0));
    group.bench_function("failures", |bencher| bencher.iter(|| round_trip(&ring)));
    let in_a_row = Consecutive::new(1).expect("allowed");
    let in_a_row = Breaker::new(in_a_row, config, ManualClock::new(0));
    group.bench_function("consecutive", |bencher| bencher.iter(|| round_trip(&in_a_row)));
}

criterion_group!(benches, failure, half_open);
criterion_main!(benches);
