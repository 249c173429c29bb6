//! Many parts of a computation on all cores.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of all `parts`, in order. Those that take longest should come first.
pub fn on_all_cores<P: Sync, R: Send>(parts: &[P], work: impl Fn(&P) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(parts.len()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Relaxed: only the number counts; the results are behind the mutex.
                while let Some(place) = Some(next.fetch_add(1, Ordering::Relaxed))
                    && let Some(part) = parts.get(place)
                {
                    let result = (place, work(part));
                    // A thread that panics ends the scope with its panic.
                    results.lock().unwrap_or_else(|held| held.into_inner()).push(result);
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|held| held.into_inner());
    results.sort_by_key(|&(place, _)| place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_parts() {
        let parts: Vec<u32> = (0..100).collect();
        let doubled = on_all_cores(&parts, |part| part * 2);
        assert_eq!(doubled, (0..100).map(|part| part * 2).collect::<Vec<_>>());
    }
}
