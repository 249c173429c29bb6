//! What does a healthy call cost, made in each way, against what the machine itself costs?

use benches::ours::{ByCall, ByCallAsync, ByGuard, ByRecord, ByToken, Ring, Shared};
use benches::subject::Op;
use benches::yardsticks::{FetchAdd, LockMutex, Nothing, OneLoad, TwoLoads};
use criterion::{Criterion, criterion_group, criterion_main};

mod measure;
use measure::alone;

fn healthy(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("healthy");
    alone::<ByRecord<Ring>>(group, "allow and record", Op::Healthy);
    alone::<ByGuard<Ring>>(group, "guard", Op::Healthy);
    alone::<ByToken<Ring>>(group, "token", Op::Healthy);
    alone::<ByCall<Ring>>(group, "call", Op::Healthy);
    alone::<ByCallAsync<Ring>>(group, "call_async", Op::Healthy);
    alone::<Shared>(group, "shared breaker", Op::Healthy);
}

fn yardsticks(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("yardstick");
    alone::<Nothing>(group, "nothing", Op::Healthy);
    alone::<OneLoad>(group, "one load", Op::Healthy);
    alone::<TwoLoads>(group, "two loads", Op::Healthy);
    alone::<FetchAdd>(group, "fetch_add", Op::Healthy);
    alone::<LockMutex>(group, "parking_lot mutex", Op::Healthy);
}

criterion_group!(benches, healthy, yardsticks);
criterion_main!(benches);
