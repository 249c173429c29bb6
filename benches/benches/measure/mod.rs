//! Puts a peer's operation under criterion: the loop is the one of the comparison.

use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::slices::Crew;
use benches::subject::{Case, Op, Peer, Subject};
use criterion::BenchmarkGroup;
use criterion::measurement::WallTime;

/// One thread, one breaker.
#[allow(dead_code, reason = "each group takes what it needs")]
pub(crate) fn alone<P: Peer>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, op: Op) {
    let Some(case) = Case::<P>::new(op) else {
        return;
    };
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|calls| {
            let start = Instant::now();
            case.run(calls);
            start.elapsed()
        });
    });
}

/// Some threads on one breaker: the time of a call as one of them sees it.
#[allow(dead_code, reason = "each group takes what it needs")]
pub(crate) fn shared<P: Peer>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    op: Op,
    crew: &Crew,
    threads: usize,
) {
    let Some(case) = Case::<P>::new(op) else {
        return;
    };
    let subject: Arc<dyn Subject> = Arc::new(case);
    group.bench_function(format!("{name}/{threads} threads"), |bencher| {
        bencher.iter_custom(|calls| {
            let nanoseconds = crew.slice(&subject, threads, calls) * calls as f64;
            Duration::from_nanos(nanoseconds as u64)
        });
    });
}
