//! Proves that the healthy path writes nothing: no store to the breaker, no `lock` prefix, no fence.
//!
//! `cargo run --release -p benches --bin machine_code`
//!
//! This binary runs itself under valgrind's lackey, which lists every instruction and every access to memory
//! of the calls made between two markers. The stores are held against the breaker's addresses, and the
//! instructions that were executed are looked up in objdump's disassembly. So what is judged is the path that
//! is really taken, whatever cold code the compiler put into the same function. The time window, which
//! counts each success, is the counter-example: it must be caught. A shared breaker stands there twice, without
//! a fleet and in one: that must cost no instruction and no load more.
//!
//! Then all doors of `doors` are gone through by two threads: see [`benches::shared_lines`].

use std::collections::{BTreeSet, HashMap};
use std::hint::black_box;
use std::ops::Range;
use std::process::{Command, ExitCode};

use benches::in_fleet::{healthy_in_fleet, healthy_shared, pair};
use benches::shared_lines;
use benches::valgrind::{self, Event, LACKEY, event};
use healthy_path::{CALLS, CONSECUTIVE, CUSUM, FAILURES, TIME};
use healthy_path::{healthy_calls, healthy_consecutive, healthy_cusum, healthy_failures, healthy_time};

/// The subjects, and whether they must be found to write nothing.
const SUBJECTS: [(&str, bool); 7] = [
    ("healthy_failures", true),
    ("healthy_consecutive", true),
    ("healthy_cusum", true),
    ("healthy_calls", true),
    ("healthy_time", false),
    ("healthy_shared", true),
    ("healthy_in_fleet", true),
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("traced") => traced(),
        Some(shared_lines::ARGUMENT) => shared_lines::traced(),
        _ => return report([check(), shared_lines::check()]),
    }
    ExitCode::SUCCESS
}

fn report<const CHECKS: usize>(results: [Result<String, String>; CHECKS]) -> ExitCode {
    let mut exit = ExitCode::SUCCESS;
    for result in results {
        match result {
            Ok(report) => print!("{report}"),
            Err(message) => {
                eprintln!("{message}");
                exit = ExitCode::FAILURE;
            }
        }
    }
    exit
}

/// What runs under lackey: says where things are, then makes the calls.
fn traced() {
    // A window full of successes, as after the first calls of any healthy breaker's life.
    for _ in 0..100 {
        healthy_calls(&CALLS);
        healthy_time(&TIME);
    }
    let [shared, in_fleet]: &'static [_; 2] = Box::leak(Box::new(pair()));
    println!("marker {:x}", marker as *const () as usize);
    tell("healthy_failures", healthy_failures as *const (), &FAILURES);
    tell("healthy_consecutive", healthy_consecutive as *const (), &CONSECUTIVE);
    tell("healthy_cusum", healthy_cusum as *const (), &CUSUM);
    tell("healthy_calls", healthy_calls as *const (), &CALLS);
    tell("healthy_time", healthy_time as *const (), &TIME);
    tell("healthy_shared", healthy_shared as *const (), &**shared);
    tell("healthy_in_fleet", healthy_in_fleet as *const (), &**in_fleet);
    marker();
    assert!(black_box(healthy_failures(black_box(&FAILURES))));
    assert!(black_box(healthy_consecutive(black_box(&CONSECUTIVE))));
    assert!(black_box(healthy_cusum(black_box(&CUSUM))));
    assert!(black_box(healthy_calls(black_box(&CALLS))));
    assert!(black_box(healthy_time(black_box(&TIME))));
    assert!(black_box(healthy_shared(black_box(shared))));
    assert!(black_box(healthy_in_fleet(black_box(in_fleet))));
    marker();
}

/// Says where a function and its breaker are.
fn tell<B>(name: &str, function: *const (), breaker: &'static B) {
    let start = &raw const *breaker as usize;
    println!("{name} {:x} {start:x} {:x}", function as usize, size_of::<B>());
}

/// The trace is looked at from the first call of this to the second.
#[unsafe(no_mangle)]
#[inline(never)]
fn marker() {
    black_box(());
}

/// What one subject did.
#[derive(Default)]
struct Path {
    executed: BTreeSet<u64>,
    instructions: usize,
    loads_of_breaker: usize,
    stores_to_breaker: usize,
}

struct Subject {
    name: &'static str,
    must_not_write: bool,
    function: u64,
    breaker: Range<u64>,
    path: Path,
}

fn check() -> Result<String, String> {
    let mut events = Vec::new();
    let printed = valgrind::run(&LACKEY, &["traced"], |line| events.extend(event(line)))?;
    let (marker, mut subjects) = subjects(&printed)?;
    let between = events
        .split(|event| *event == Event::Executed(marker))
        .nth(1)
        .ok_or("the markers are not in the trace")?;
    follow(between, &mut subjects);

    let code = disassembly()?;
    let slide = marker.wrapping_sub(code.marker);
    let mut report = String::new();
    let mut failed = false;
    for subject in &subjects {
        let Path { executed, instructions, loads_of_breaker, stores_to_breaker } = &subject.path;
        let texts = executed.iter().filter_map(|address| code.texts.get(&address.wrapping_sub(slide)));
        let synchronising: Vec<_> = texts.filter(|text| synchronises(text)).collect();
        let writes = *stores_to_breaker > 0 || !synchronising.is_empty();
        let right = *loads_of_breaker >= 2 && writes != subject.must_not_write;
        failed |= !right;
        report += &format!(
            "{} {}: {instructions} instructions, {loads_of_breaker} loads of the breaker, {stores_to_breaker} stores to it, synchronising: {synchronising:?}{}\n",
            if right { "ok    " } else { "FAILED" },
            subject.name,
            if subject.must_not_write { "" } else { " (the counter-example, which must be caught)" },
        );
    }
    let work = |name: &str| {
        let subject = subjects.iter().find(|subject| subject.name == name);
        subject.map(|subject| (subject.path.instructions, subject.path.loads_of_breaker))
    };
    // The last subject is followed by fewer instructions of its caller than the one before it.
    let (shared, in_fleet) = (work("healthy_shared"), work("healthy_in_fleet"));
    let costs =
        in_fleet.map(|it| it.0) > shared.map(|it| it.0) || in_fleet.map(|it| it.1) != shared.map(|it| it.1);
    if costs {
        failed = true;
        report +=
            "FAILED healthy_in_fleet takes more than healthy_shared: a fleet must cost a call nothing\n";
    }
    if failed { Err(report) } else { Ok(report) }
}

/// Reads what the traced run said about itself.
fn subjects(printed: &str) -> Result<(u64, Vec<Subject>), String> {
    let numbers: HashMap<&str, Vec<u64>> = printed
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let name = words.next()?;
            Some((name, words.filter_map(|word| u64::from_str_radix(word, 16).ok()).collect()))
        })
        .collect();
    let marker = *numbers.get("marker").and_then(|numbers| numbers.first()).ok_or("no marker was printed")?;
    let subjects = SUBJECTS.map(|(name, must_not_write)| match numbers.get(name).map(Vec::as_slice) {
        Some(&[function, breaker, size]) => {
            let breaker = breaker..breaker + size;
            Ok(Subject { name, must_not_write, function, breaker, path: Path::default() })
        }
        _ => Err(format!("{name} was not printed")),
    });
    Ok((marker, subjects.into_iter().collect::<Result<_, _>>()?))
}

/// Gives each event to the subject whose function was entered last.
fn follow(events: &[Event], subjects: &mut [Subject]) {
    let mut current = None;
    for event in events {
        if let Event::Executed(address) = event {
            current = subjects.iter().position(|subject| subject.function == *address).or(current);
        }
        let Some(subject) = current.map(|current| &mut subjects[current]) else {
            continue;
        };
        let path = &mut subject.path;
        match event {
            Event::Executed(address) => {
                path.executed.insert(*address);
                path.instructions += 1;
            }
            Event::Loaded(address) => path.loads_of_breaker += usize::from(subject.breaker.contains(address)),
            Event::Stored(address) => {
                path.stores_to_breaker += usize::from(subject.breaker.contains(address))
            }
        }
    }
}

/// The binary's instructions by the address at which it was linked.
struct Code {
    texts: HashMap<u64, String>,
    marker: u64,
}

fn disassembly() -> Result<Code, String> {
    let binary = std::env::current_exe().map_err(|error| format!("this binary: {error}"))?;
    let output = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn"])
        .arg(binary)
        .output()
        .map_err(|error| format!("objdump: {error} (apt-get install binutils)"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let marker = text.lines().find_map(|line| line.strip_suffix(" <marker>:"));
    let marker = marker.and_then(|address| u64::from_str_radix(address, 16).ok());
    Ok(Code {
        texts: text.lines().filter_map(instruction).collect(),
        marker: marker.ok_or("objdump shows no marker")?,
    })
}

fn instruction(line: &str) -> Option<(u64, String)> {
    let (address, text) = line.split_once(":\t")?;
    Some((u64::from_str_radix(address.trim(), 16).ok()?, text.trim().to_owned()))
}

/// Whether the instruction orders memory or locks the line: a lock prefix, an exchange with memory (which
/// locks without saying so), a fence.
fn synchronises(text: &str) -> bool {
    let exchange = text.starts_with("xchg") && text.contains('(');
    text.starts_with("lock") || exchange || text.contains("fence")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_exchanges_with_memory_and_fences_synchronise_and_moves_do_not() {
        assert!(synchronises("lock cmpxchg %r14,0x8(%rdi)"));
        assert!(synchronises("xchg   %rax,(%rdi)"));
        assert!(synchronises("mfence"));
        assert!(!synchronises("xchg   %ax,%ax"));
        assert!(!synchronises("mov    %rax,(%rdi)"));
    }

    #[test]
    fn objdump_s_lines_are_read() {
        let read = instruction("   1a2b0:\tlock cmpxchg %r14,0x8(%rdi)");
        assert_eq!(read, Some((0x1a2b0, "lock cmpxchg %r14,0x8(%rdi)".into())));
        assert_eq!(instruction("0000000000001040 <marker>:"), None);
    }
}
