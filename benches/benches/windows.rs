//! What does each window add to a healthy call?

use benches::ours::{ByRecord, InARow, OfCalls, OfCoarseTime, OfStripedTime, OfTime, Ring};
use benches::subject::Op;
use criterion::{Criterion, criterion_group, criterion_main};

mod measure;
use measure::alone;

fn windows(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("window");
    alone::<ByRecord<Ring>>(group, "failures", Op::Healthy);
    alone::<ByRecord<InARow>>(group, "consecutive", Op::Healthy);
    alone::<ByRecord<OfCalls>>(group, "calls", Op::Healthy);
    alone::<ByRecord<OfTime>>(group, "time", Op::Healthy);
    alone::<ByRecord<OfCoarseTime>>(group, "time, coarse clock", Op::Healthy);
    alone::<ByRecord<OfStripedTime>>(group, "striped time", Op::Healthy);
}

criterion_group!(benches, windows);
criterion_main!(benches);
