//! What being watched, being looked up and being a tower layer add to a healthy call.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use benches::poll;
use criterion::{Criterion, criterion_group, criterion_main};
use nanobreaker::observe::Monitor;
use nanobreaker::tower::BreakerLayer;
use nanobreaker::{Registry, SharedBreaker};
use tower::{Layer, Service, service_fn};

const THREADS: usize = 2;

fn breaker() -> SharedBreaker {
    SharedBreaker::builder().build().expect("the defaults are valid")
}

fn call(breaker: &SharedBreaker) {
    if let Ok(permit) = black_box(breaker).allow() {
        permit.success();
    }
}

/// The time in which each of a few threads does `work` so often.
fn on_threads(times: u64, work: impl Fn() + Sync) -> Duration {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let started = Instant::now();
                    (0..times).for_each(|_| work());
                    started.elapsed()
                })
            })
            .collect();
        let times = threads.into_iter().filter_map(|thread| thread.join().ok());
        times.max().unwrap_or_default()
    })
}

fn bench(criterion: &mut Criterion, name: &str, work: impl Fn() + Sync) {
    let mut group = criterion.benchmark_group(name);
    group.bench_function("1 thread", |bencher| bencher.iter(&work));
    group.bench_function(format!("{THREADS} threads"), |bencher| {
        bencher.iter_custom(|times| on_threads(times, &work));
    });
    group.finish();
}

fn healthy_calls(criterion: &mut Criterion) {
    let plain = breaker();
    bench(criterion, "healthy call", || call(&plain));
    let watched = Monitor::new().watch(breaker());
    bench(criterion, "healthy call, watched", || call(&watched));
    let adjusted = breaker();
    adjusted.adjust(&SharedBreaker::builder()).expect("the defaults are valid");
    bench(criterion, "healthy call, adjusted", || call(&adjusted));
}

fn lookups(criterion: &mut Criterion) {
    let registry = Registry::<String>::builder(|_| SharedBreaker::builder()).build();
    for host in 0..9_000 {
        let _ = registry.get_or_create(&format!("host-{host}.example"));
    }
    let key = "host-4711.example";
    bench(criterion, "registry: get or create", || {
        let _ = black_box(registry.get_or_create(black_box(key)));
    });
    bench(criterion, "registry: get", || {
        let _ = black_box(registry.get(black_box(key)));
    });
}

fn answer(number: u32) -> Ready<Result<u32, Infallible>> {
    ready(Ok(black_box(number)))
}

/// One call of a service that is ready and answers at once: what is left is the layer's own.
fn serve<S: Service<u32>>(service: &mut S) -> bool {
    poll::ready(service.call(black_box(1))).is_ok()
}

fn tower_layer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tower");
    let mut bare = service_fn(answer);
    group.bench_function("bare service", |bencher| bencher.iter(|| serve(&mut bare)));
    let mut guarded = BreakerLayer::new(breaker()).layer(service_fn(answer));
    group.bench_function("guarded service", |bencher| {
        bencher.iter(|| serve(&mut guarded));
    });
    group.finish();
}

criterion_group!(benches, healthy_calls, lookups, tower_layer);
criterion_main!(benches);
