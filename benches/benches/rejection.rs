//! What does a rejection cost, with each clock and with none?

use benches::ours::{ByRecord, InstantRing, Ring, TimerRing};
use benches::subject::Op;
use benches::yardsticks::{CoarseNow, InstantNow, OneLoad};
use criterion::{Criterion, criterion_group, criterion_main};

mod measure;
use measure::alone;

fn rejection(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("rejection");
    alone::<ByRecord<Ring>>(group, "open, coarse clock", Op::Reject);
    alone::<ByRecord<InstantRing>>(group, "open, standard clock", Op::Reject);
    alone::<ByRecord<TimerRing>>(group, "open, timer's clock", Op::Reject);
    alone::<ByRecord<Ring>>(group, "isolated, no clock", Op::RejectForced);
    alone::<CoarseNow>(group, "yardstick: coarse clock", Op::Healthy);
    alone::<InstantNow>(group, "yardstick: standard clock", Op::Healthy);
    alone::<OneLoad>(group, "yardstick: one load", Op::Healthy);
}

criterion_group!(benches, rejection);
criterion_main!(benches);
