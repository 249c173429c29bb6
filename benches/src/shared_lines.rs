//! Which lines of memory a healthy call writes that a call of another thread writes, too.
//!
//! Two threads, both alive, have called through the same door many times; then each makes one call more under
//! lackey, while the other one waits. A line that both write is shared by cores. What is a thread's own, its stack, its
//! lanes, what it remembers of a registry, is written by that thread alone. An `Arc` that is cloned, and so counted, is
//! the counter-example: it must be caught.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::doors::{MakeCaller, OURS, Row, ours};
use crate::valgrind::{self, Event, LACKEY, event};

/// The argument with which this binary makes the calls instead of judging them.
pub const ARGUMENT: &str = "traced-doors";

/// The one that must be found to write what others write.
const COUNTER_EXAMPLE: &str = "clone_drop_arc";

/// Bytes that cores hand to one another at a time.
const LINE: u64 = 64;

/// Enough for a thread to have its lanes, and to remember most of a thousand keys.
const WARM_UP: usize = 3_000;

/// How long the other thread takes at the most until it waits.
const SETTLES: Duration = Duration::from_millis(100);

fn doors() -> Vec<(&'static str, MakeCaller)> {
    let of_row =
        |row: Row| Some((row.name, row.caller?)).filter(|_| row.who == OURS || row.name == COUNTER_EXAMPLE);
    ours().into_iter().filter_map(of_row).collect()
}

/// What runs under lackey: says where the marker is, then goes through each door by two threads.
pub fn traced() {
    println!("marker {:x}", line_marker as *const () as usize);
    for (_, caller) in doors() {
        by_two_threads(&caller);
    }
}

fn by_two_threads(make: &MakeCaller) {
    let (warm, first_is_done, both_are_done) = (Barrier::new(2), Barrier::new(2), Barrier::new(2));
    let warmed = || {
        let mut call = make();
        (0..WARM_UP).for_each(|_| call());
        warm.wait();
        call
    };
    let once = |call: &mut dyn FnMut()| {
        thread::sleep(SETTLES);
        line_marker();
        call();
        line_marker();
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut call = warmed();
            once(&mut *call);
            first_is_done.wait();
            both_are_done.wait();
        });
        scope.spawn(|| {
            let mut call = warmed();
            first_is_done.wait();
            once(&mut *call);
            both_are_done.wait();
        });
    });
}

/// Between two calls of this lies what is looked at.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn line_marker() {
    black_box(());
}

/// Goes through all doors under lackey, and judges what they wrote.
///
/// # Errors
///
/// A report, where a door writes a line that threads share, or where the counter-example is not caught.
pub fn check() -> Result<String, String> {
    let mut events = Vec::new();
    let printed = valgrind::run(&LACKEY, &[ARGUMENT], |line| {
        // Loads are not looked at, and are half of all.
        events.extend(event(line).filter(|event| !matches!(event, Event::Loaded(_))));
    })?;
    let marker = printed.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("marker ")?, 16).ok());
    let marker = Event::Executed(marker.ok_or("no marker was printed")?);
    let calls: Vec<_> = events.split(|event| *event == marker).skip(1).step_by(2).map(written).collect();
    let names: Vec<_> = doors().into_iter().map(|(name, _)| name).collect();
    if calls.len() != 2 * names.len() {
        return Err(format!("{} calls were traced of {} doors", calls.len(), names.len()));
    }
    judge(names.into_iter().zip(calls.chunks(2)))
}

/// The lines that a call wrote.
fn written(events: &[Event]) -> BTreeSet<u64> {
    let stored = events.iter().filter_map(|event| match event {
        Event::Stored(address) => Some(address / LINE),
        _ => None,
    });
    stored.collect()
}

fn judge<'a>(calls: impl Iterator<Item = (&'static str, &'a [BTreeSet<u64>])>) -> Result<String, String> {
    let (mut report, mut failed) = (String::new(), false);
    for (name, by_threads) in calls {
        let shared = match by_threads {
            [one, other] => one.intersection(other).count(),
            _ => 0,
        };
        let is_counter_example = name == COUNTER_EXAMPLE;
        let right = (shared > 0) == is_counter_example;
        failed |= !right;
        let word = if right { "ok    " } else { "FAILED" };
        let why = if is_counter_example { " (the counter-example, which must be caught)" } else { "" };
        let _ = writeln!(report, "{word} {name}: {shared} lines written that threads share{why}");
    }
    if failed { Err(report) } else { Ok(report) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_both_threads_write_are_found_and_only_the_counter_example_may_have_some() {
        let one = written(&[Event::Stored(64), Event::Stored(70), Event::Executed(4), Event::Stored(640)]);
        assert_eq!(one, BTreeSet::from([1, 10]));
        let other = written(&[Event::Stored(127)]);
        let both = [one.clone(), other];
        assert!(judge([("shared_call", &both[..])].into_iter()).is_err());
        assert!(judge([(COUNTER_EXAMPLE, &both[..])].into_iter()).is_ok());
        let apart = [one, BTreeSet::new()];
        assert!(judge([("shared_call", &apart[..])].into_iter()).is_ok());
        assert!(judge([(COUNTER_EXAMPLE, &apart[..])].into_iter()).is_err());
    }
}
