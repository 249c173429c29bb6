use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::Duration;

use nanobreaker_core::{ManualClock, Phase};

use super::*;
use crate::CallExt;

fn registry(max: usize) -> (Registry<u32>, &'static ManualClock) {
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    let registry = Registry::builder(|_| SharedBreaker::builder().consecutive(1))
        .max_breakers(max)
        .idle_after(Duration::from_secs(60))
        .clock(clock)
        .build();
    (registry, clock)
}

#[test]
fn a_key_keeps_its_breaker() {
    let (registry, _) = registry(10);
    registry.get_or_create(&1).unwrap().trip();
    assert_eq!(registry.get_or_create(&1).unwrap().snapshot().phase, Phase::Open);
    assert_eq!(registry.get_or_create(&2).unwrap().snapshot().phase, Phase::Closed);
}

#[test]
fn threads_that_ask_at_once_get_the_same_breaker() {
    for _ in 0..50 {
        let trips = Arc::new(AtomicUsize::new(0));
        let told = Arc::clone(&trips);
        let registry: Registry<u32> = Registry::builder(move |_| {
            let told = Arc::clone(&told);
            SharedBreaker::builder().consecutive(1).on_transition(move |_| {
                told.fetch_add(1, Ordering::Relaxed);
            })
        })
        .build();
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    let _ = registry.get_or_create(&1).unwrap().call(|| Err::<(), _>(()));
                });
            }
        });
        assert_eq!(registry.len(), 1);
        assert_eq!(trips.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn settings_outside_their_limits_are_told_on_first_use() {
    let registry: Registry<u32> = Registry::builder(|key| SharedBreaker::builder().max_probes(*key)).build();
    assert_eq!(registry.get_or_create(&0).unwrap_err().field(), "max_probes");
    assert!(registry.get_or_create(&1).is_ok());
    assert_eq!(registry.len(), 1);
}

#[test]
fn the_bound_holds_and_those_asked_for_lately_stay() {
    let (registry, _) = registry(80);
    for key in 0..10_000 {
        registry.get_or_create(&key).unwrap();
        registry.get_or_create(&0).unwrap();
        assert!(registry.len() <= 80);
    }
    assert!(registry.get(&0).is_some());
    assert!(registry.get(&9_999).is_some());
    assert!(registry.len() >= 70);
}

#[test]
fn those_in_use_stay_where_all_the_room_is_theirs() {
    let (registry, _) = registry(1_000);
    // A hundredth is new each second, and the others are all asked for.
    for second in 0..60 {
        for host in 10 * second..1_000 + 10 * second {
            if second > 0 && host < 990 + 10 * second {
                assert!(registry.get(&host).is_some(), "{host} went in second {second}");
            }
            registry.get_or_create(&host).unwrap();
        }
        assert_eq!(registry.len(), 1_000);
    }
}

#[test]
fn open_breakers_outlast_closed_ones() {
    let (registry, _) = registry(80);
    for key in 0..40 {
        registry.get_or_create(&key).unwrap().trip();
    }
    for key in 100..10_000 {
        registry.get_or_create(&key).unwrap();
    }
    for key in 0..40 {
        assert!(registry.get(&key).is_some(), "{key}");
    }
}

#[test]
fn what_an_operator_holds_and_what_is_in_use_is_never_removed() {
    let (registry, clock) = registry(8);
    registry.get_or_create(&0).unwrap().isolate();
    registry.get_or_create(&1).unwrap().disable();
    registry.get_or_create(&2).unwrap().shadow(true);
    let kept = registry.owned(&3).unwrap();
    kept.trip();
    for key in 100..1_000 {
        registry.get_or_create(&key).unwrap();
    }
    clock.advance(1_000_000);
    registry.sweep();
    clock.advance(1_000_000);
    registry.sweep();
    assert_eq!(registry.len(), 4);
    assert_eq!(registry.get_or_create(&3).unwrap().snapshot().phase, Phase::Open);
}

#[test]
fn a_group_that_lets_calls_pass_keeps_none_of_its_members_from_making_room() {
    let group = crate::Group::new().panic_above_percent(50);
    let registry =
        Registry::builder(move |_: &u32| SharedBreaker::builder().group(&group)).max_breakers(2).build();
    for key in [1, 2] {
        registry.get_or_create(&key).unwrap().trip();
    }
    assert!(registry.get_or_create(&1).unwrap().allow().is_ok(), "the group lets it pass");
    registry.get_or_create(&3).unwrap();
    assert!(registry.get(&3).is_some());
}

#[test]
fn where_nothing_can_go_a_new_key_gets_a_breaker_that_is_not_kept() {
    let (registry, _) = registry(2);
    registry.get_or_create(&0).unwrap().isolate();
    registry.get_or_create(&1).unwrap().isolate();
    assert!(registry.get_or_create(&2).unwrap().allow().is_ok());
    assert_eq!(registry.len(), 2);
    assert!(registry.get(&2).is_none());
}

#[test]
fn a_full_registry_looks_for_room_again_only_after_a_while() {
    let (registry, clock) = registry(2);
    registry.get_or_create(&0).unwrap().isolate();
    registry.get_or_create(&1).unwrap().isolate();
    registry.get_or_create(&2).unwrap();
    registry.get(&0).unwrap().reset();
    registry.get_or_create(&3).unwrap();
    assert!(registry.get(&3).is_none());
    clock.advance(100);
    registry.get_or_create(&4).unwrap();
    assert!(registry.get(&4).is_some());
    assert!(registry.get(&0).is_none());
}

#[test]
fn the_idle_are_removed_and_those_asked_for_stay() {
    let (registry, clock) = registry(1_000);
    for key in 0..100 {
        registry.get_or_create(&key).unwrap();
    }
    for _ in 0..20 {
        clock.advance(10_000);
        registry.get_or_create(&7).unwrap();
        registry.sweep();
    }
    assert_eq!(registry.len(), 1);
    assert!(registry.get(&7).is_some());
}

#[test]
fn a_breaker_asked_for_just_before_a_late_sweep_stays() {
    let (registry, clock) = registry(1_000);
    registry.get_or_create(&1).unwrap();
    clock.advance(10_000_000);
    registry.get_or_create(&1).unwrap();
    assert_eq!(registry.sweep(), 0);
}

#[test]
fn new_settings_reach_every_breaker_without_a_loss() {
    let probes = Arc::new(AtomicUsize::new(1));
    let setting = Arc::clone(&probes);
    let registry: Registry<String> = Registry::builder(move |key: &String| {
        let probes = setting.load(Ordering::Relaxed) as u32;
        let probes = if key == "odd" { 64 * (probes - 1) + 1 } else { probes };
        SharedBreaker::builder().max_probes(probes)
    })
    .build();
    registry.get_or_create("even").unwrap().trip();
    registry.get_or_create("odd").unwrap();
    probes.store(2, Ordering::Relaxed);
    let refused = registry.adjust_all().unwrap_err();
    assert_eq!(refused.len(), 1);
    assert_eq!((refused[0].0.as_str(), refused[0].1.field()), ("odd", "max_probes"));
    let even = registry.get_or_create("even").unwrap();
    assert_eq!(even.config().max_probes(), 2);
    assert_eq!(even.snapshot().phase, Phase::Open);
    assert_eq!(registry.get_or_create("odd").unwrap().config().max_probes(), 1);
}

#[test]
fn operators_see_every_breaker() {
    let (registry, _) = registry(10);
    for key in 0..5 {
        registry.get_or_create(&key).unwrap();
    }
    assert!(registry.remove(&2));
    let mut keys = Vec::new();
    registry.for_each(|key, breaker| {
        assert_eq!(breaker.snapshot().phase, Phase::Closed);
        keys.push(*key);
    });
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 3, 4]);
}

#[test]
fn configure_and_listeners_may_ask_for_new_keys_while_all_are_adjusted() {
    let inner: Arc<std::sync::OnceLock<Registry<u32>>> = Arc::default();
    let asked = Arc::clone(&inner);
    let registry: Registry<u32> = Registry::builder(move |key| {
        if let Some(registry) = asked.get()
            && *key < 1_000
        {
            registry.get_or_create(&(key + 1_000)).unwrap();
        }
        let asked = Arc::clone(&asked);
        let key = *key;
        SharedBreaker::builder().on_transition(move |_| {
            if let Some(registry) = asked.get() {
                registry.get_or_create(&(key + 2_000)).unwrap();
            }
        })
    })
    .build();
    registry.get_or_create(&1).unwrap();
    inner.set(registry.clone()).unwrap();
    registry.adjust_all().unwrap();
    registry.get_or_create(&1).unwrap().trip();
    registry.get_or_create(&2).unwrap();
    for key in [1_001, 1_002, 2_001] {
        assert!(registry.get(&key).is_some(), "{key}");
    }
}

/// Asks for a new key as it is dropped.
struct AsksWhenDropped(u32, Arc<OnceLock<Registry<u32>>>);

impl Drop for AsksWhenDropped {
    fn drop(&mut self) {
        if let Some(registry) = self.1.get() {
            registry.get_or_create(&(1_000_000 + self.0)).unwrap();
        }
    }
}

#[test]
fn what_a_removed_breakers_listener_holds_may_ask_for_a_new_key_as_it_is_dropped() {
    let (ends, ended) = channel();
    thread::spawn(move || {
        let there = Arc::new(OnceLock::new());
        let again = Arc::clone(&there);
        let registry = Registry::builder(move |key: &u32| {
            let asks = (*key < 1_000_000).then(|| AsksWhenDropped(*key, Arc::clone(&again)));
            SharedBreaker::builder().on_transition(move |_| _ = &asks)
        });
        let registry = there.get_or_init(|| registry.max_breakers(10).build());
        for key in 0..1_000 {
            registry.get_or_create(&key).unwrap();
        }
        registry.sweep();
        ends.send(registry.len()).unwrap();
    });
    // A thread that waits for its own lock would never send.
    assert_eq!(ended.recv_timeout(Duration::from_secs(30)), Ok(10));
}

#[test]
fn a_reference_whose_breaker_was_removed_is_not_another_ones() {
    let (registry, _) = registry(10);
    let reference = registry.get_or_create(&1).unwrap();
    reference.trip();
    registry.remove(&1);
    // The map drops it a little later; a look-up never finds it again.
    assert_eq!(registry.get_or_create(&1).unwrap().phase(), Phase::Closed);
}

#[test]
fn a_thread_finds_what_it_remembers_and_what_others_made() {
    let (registry, _) = registry(10_000);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..3 {
                    for key in 0..5_000 {
                        let breaker = registry.get_or_create(&key).unwrap();
                        assert!(breaker.is_alive(), "{round} {key}");
                    }
                }
            });
        }
    });
    assert_eq!(registry.len(), 5_000);
    let other: Registry<u32> = Registry::builder(|_| SharedBreaker::builder()).build();
    other.get_or_create(&7).unwrap().trip();
    assert_eq!(registry.get_or_create(&7).unwrap().phase(), Phase::Closed);
}

#[test]
fn whoever_waits_with_a_reference_or_a_look_at_all_keeps_no_memory_back() {
    let alive = Arc::new(());
    let token = Arc::clone(&alive);
    let registry: Registry<u32> = Registry::builder(move |_| {
        let token = Arc::clone(&token);
        SharedBreaker::builder().consecutive(5).on_transition(move |_| drop(Arc::clone(&token)))
    })
    .max_breakers(100)
    .build();
    for key in 0..100 {
        registry.get_or_create(&key).unwrap();
    }
    let (begun, ends) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        // In a call, and in a closure that looks at all.
        scope.spawn(|| {
            let breaker = registry.get_or_create(&99).unwrap();
            breaker.call(|| {
                begun.wait();
                ends.wait();
                Ok::<_, ()>(())
            })
        });
        scope.spawn(|| {
            let mut has_waited = false;
            registry.for_each(|_, _| {
                if !std::mem::replace(&mut has_waited, true) {
                    begun.wait();
                    ends.wait();
                }
            });
        });
        begun.wait();
        for key in 1_000..100_000 {
            registry.get_or_create(&key).unwrap();
        }
        // Those of the registry, those that are being looked at, and what the map has not dropped yet.
        let most = Arc::strong_count(&alive);
        assert!(most < 1_000, "{most} breakers at once");
        ends.wait();
    });
}

/// The short form of what `cargo run --profile user -p benches --bin hosts` measures for a minute.
#[test]
fn hosts_that_come_and_go_leave_no_more_breakers_than_are_in_use() {
    let alive = Arc::new(());
    let token = Arc::clone(&alive);
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    let registry: Registry<u32> = Registry::builder(move |_| {
        let token = Arc::clone(&token);
        SharedBreaker::builder().consecutive(5).on_transition(move |_| drop(Arc::clone(&token)))
    })
    .idle_after(Duration::from_secs(10))
    .clock(clock)
    .build();
    let mut most = 0;
    for second in 0..60 {
        // A hundredth of a thousand is new each second.
        for host in 10 * second..1_000 + 10 * second {
            registry.get_or_create(&host).unwrap();
        }
        clock.advance(1_000);
        most = most.max(registry.len());
    }
    // In use, idle for up to half as long again as they may be, and what the map has not dropped yet.
    assert!(most <= 1_000 + 10 * 15, "{most}");
    assert!(Arc::strong_count(&alive) < 1_000 + 10 * 15 + 300, "{}", Arc::strong_count(&alive));
}
