//! What do the other breakers cost? `compare` says it better, in one interleaved run; this is for criterion's plots.

use benches::peers::breaker::Breaker;
use benches::peers::circuitbreaker_rs::CircuitbreakerRs;
use benches::peers::failsafe::Failsafe;
use benches::peers::ferryman_core::FerrymanCore;
use benches::peers::governor::Governor;
use benches::peers::nobreak::Nobreak;
use benches::peers::recloser::Recloser;
use benches::peers::reliakit_circuit::ReliakitCircuit;
use benches::peers::seatbelt::Seatbelt;
use benches::peers::throttle_net::ThrottleNet;
use benches::peers::tower_resilience::TowerResilience;
use benches::subject::{Op, Peer};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

mod measure;
use measure::alone;

fn each<P: Peer>(group: &mut BenchmarkGroup<'_, WallTime>) {
    for op in [Op::Healthy, Op::Failure, Op::Reject] {
        alone::<P>(group, &format!("{}/{}", op.name(), P::WHO), op);
    }
}

fn peers(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("peer");
    each::<Breaker>(group);
    each::<CircuitbreakerRs>(group);
    each::<Failsafe>(group);
    each::<FerrymanCore>(group);
    each::<Nobreak>(group);
    each::<Recloser>(group);
    each::<ReliakitCircuit>(group);
    each::<Seatbelt>(group);
    each::<ThrottleNet>(group);
    each::<TowerResilience>(group);
    alone::<Governor>(group, "healthy/governor", Op::Healthy);
}

criterion_group!(benches, peers);
criterion_main!(benches);
