//! What does a call cost when several threads share one breaker?

use benches::ours::{ByRecord, InARow, MovingRing, OfCalls, OfStripedTime, OfTime, Ring};
use benches::slices::{Crew, cores};
use benches::subject::Op;
use benches::yardsticks::{FetchAdd, TwoLoads};
use criterion::{Criterion, criterion_group, criterion_main};

mod measure;
use measure::shared;

fn contention(criterion: &mut Criterion) {
    // Two threads, and as many as there are cores where there are more.
    let most = cores().max(2);
    let crew = &Crew::new(most);
    let group = &mut criterion.benchmark_group("shared");
    for threads in if most > 2 { vec![2, most] } else { vec![2] } {
        shared::<ByRecord<Ring>>(group, "healthy, failures", Op::Healthy, crew, threads);
        shared::<ByRecord<InARow>>(group, "healthy, consecutive", Op::Healthy, crew, threads);
        shared::<ByRecord<OfCalls>>(group, "healthy, calls", Op::Healthy, crew, threads);
        shared::<ByRecord<OfTime>>(group, "healthy, time", Op::Healthy, crew, threads);
        shared::<ByRecord<OfStripedTime>>(group, "healthy, striped time", Op::Healthy, crew, threads);
        shared::<ByRecord<MovingRing>>(group, "failure, failures", Op::Failure, crew, threads);
        shared::<ByRecord<Ring>>(group, "rejection", Op::Reject, crew, threads);
        shared::<TwoLoads>(group, "yardstick: two loads", Op::Healthy, crew, threads);
        shared::<FetchAdd>(group, "yardstick: fetch_add", Op::Healthy, crew, threads);
    }
}

criterion_group!(benches, contention);
criterion_main!(benches);
