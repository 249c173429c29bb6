//! What a registry keeps of a million keys, in a process that does nothing else: its memory is that of the registries.

use std::sync::Arc;
use std::thread;

use nanobreaker::{Registry, SharedBreaker};

use crate::restarts::play;

/// Resident memory in KB.
#[cfg(target_os = "linux")]
fn resident_kb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|kb| kb.parse().ok()).unwrap()
}

/// Asks a registry for half a million keys, once each.
fn ask_for_half_a_million() {
    let alive = Arc::new(());
    let token = Arc::clone(&alive);
    let registry: Registry<u32> = Registry::builder(move |_| {
        let token = Arc::clone(&token);
        SharedBreaker::builder().consecutive(5).on_transition(move |_| drop(Arc::clone(&token)))
    })
    .max_breakers(1_000)
    .build();
    let mut most = 0;
    #[cfg(target_os = "linux")]
    let mut warm_kb = 0;
    for key in 0..500_000 {
        let breaker = registry.get_or_create(&key).unwrap();
        drop(breaker.allow());
        if key % 1_000 == 0 {
            most = most.max(Arc::strong_count(&alive));
        }
        #[cfg(target_os = "linux")]
        if key == 100_000 {
            warm_kb = resident_kb();
        }
    }
    assert!(registry.len() <= 1_000);
    assert!(most < 3_000, "{most} breakers at once");
    #[cfg(target_os = "linux")]
    {
        let (before, after) = (warm_kb, resident_kb());
        println!("{before} KB, then {after} KB");
        assert!(after < before + 5_000, "{before} KB, then {after} KB");
    }
}

#[test]
#[ignore = "played by another test as a process of its own"]
fn asks_for_a_million_keys() {
    // Two registries at once, since one makes its breakers one after the other.
    thread::scope(|scope| {
        scope.spawn(ask_for_half_a_million);
        ask_for_half_a_million();
    });
}

#[test]
fn a_million_keys_leave_memory_flat() {
    let output = play("bounded::asks_for_a_million_keys", "").wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
