//! Processes that are killed and frozen. They are this test's own binary, which plays one ignored test.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use nanobreaker::{Phase, Registry, SharedBreaker, StateFile, WallClock};

const FILE: &str = "NANOBREAKER_TEST_FILE";

/// Starts a process that plays an ignored test, with this file.
pub(crate) fn play(test: &str, file: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", test])
        .env(FILE, file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lines that a child prints, with when they came.
fn lines_of(child: &mut Child) -> mpsc::Receiver<(Instant, String)> {
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || {
        output.lines().map_while(Result::ok).try_for_each(|line| sender.send((Instant::now(), line)))
    });
    lines
}

fn numbered() -> Registry<String> {
    Registry::builder(|name: &String| SharedBreaker::builder().name(name.as_str())).build()
}

#[test]
#[ignore = "played by another test as a process of its own"]
fn isolates_one_breaker_after_another() {
    let file = StateFile::open(env::var(FILE).expect("the file")).unwrap();
    let breakers = numbered();
    assert!(breakers.keep_in(&file));
    for number in 0.. {
        if !breakers.get_or_create(&format!("breaker {number}")).unwrap().isolate() {
            continue;
        }
        println!("isolated {number}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// So many rounds have one file at most: a registry keeps 10,000 breakers, and these isolate 7,200 at most.
const ROUNDS_OF_A_FILE: u64 = 40;

/// How often the process is killed: 200 times in the long form.
fn rounds() -> u64 {
    env::var("NANOBREAKER_KILLS").map_or(5, |rounds| rounds.parse().expect("a number"))
}

#[test]
fn killed_at_any_moment_a_process_leaves_a_whole_file_that_is_a_second_old_at_most() {
    let folder = tempfile::tempdir().unwrap();
    // Three at least, side by side, since most of a round is waiting.
    let files = rounds().div_ceil(ROUNDS_OF_A_FILE).max(3);
    let rounds_of = |file: u64| (file..rounds()).step_by(files as usize);
    let checked: u64 = thread::scope(|scope| {
        let path = |file| folder.path().join(format!("{file}.state"));
        let all: Vec<_> =
            (0..files).map(|file| scope.spawn(move || kill(&path(file), rounds_of(file)))).collect();
        all.into_iter().map(|file| file.join().unwrap()).sum()
    });
    assert!(checked > 0, "some were old enough");
}

/// Kills a process with this file in each of the rounds. How often a breaker was looked for in the file, and found.
fn kill(path: &Path, rounds: impl Iterator<Item = u64>) -> u64 {
    // A second, and what writing takes on a machine that does much else.
    let oldest = Duration::from_millis(2_500);
    let (mut known, mut checked) = (0, 0);
    for round in rounds {
        let mut child = play("restarts::isolates_one_breaker_after_another", path.to_str().unwrap());
        let lines = lines_of(&mut child);
        // Moments that spread evenly over three seconds.
        thread::sleep(Duration::from_millis(300 + (round * 1_854) % 3_000));
        child.kill().unwrap();
        let killed = Instant::now();
        child.wait().unwrap();
        for (came, line) in lines {
            if let Some((_, number)) = line.split_once("isolated ")
                && killed.duration_since(came) > oldest
            {
                known = known.max(number.parse::<u64>().unwrap() + 1);
            }
        }
        let file = StateFile::open(path).unwrap();
        assert_eq!(file.notices(), Vec::<String>::new(), "round {round}");
        let breakers = numbered();
        breakers.keep_in(&file);
        for number in 0..known {
            let breaker = breakers.get_or_create(&format!("breaker {number}")).unwrap();
            assert_eq!(breaker.phase(), Phase::Isolated, "round {round}: breaker {number} of {known}");
        }
        checked += known;
    }
    checked
}

#[test]
#[ignore = "played by another test as a process of its own"]
fn opens_and_asks_again_when_told() {
    let builder = SharedBreaker::builder().open_for(Duration::from_millis(1_500)).clock(WallClock);
    let breaker = builder.build().unwrap();
    breaker.trip();
    println!("rejects {}", breaker.allow().is_err());
    io::stdin().read_line(&mut String::new()).unwrap();
    println!("probes {}", breaker.allow().is_ok_and(|permit| permit.is_probe()));
}

#[cfg(unix)]
#[test]
fn time_that_a_process_was_frozen_counts() {
    let mut child = play("restarts::opens_and_asks_again_when_told", "");
    let mut input = child.stdin.take().unwrap();
    let lines = lines_of(&mut child);
    let says = |what: &str| {
        let came = || lines.recv_timeout(Duration::from_secs(30)).expect("it says more").1;
        while !came().ends_with(what) {}
    };
    says("rejects true");
    let signal = |name: &str| {
        let process = child.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    };
    signal("-STOP");
    thread::sleep(Duration::from_millis(1_600));
    signal("-CONT");
    input.write_all(b"\n").unwrap();
    says("probes true");
    child.wait().unwrap();
}
