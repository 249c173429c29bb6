//! A holder with a process of its own: killed in its probe, and stopped for long. The processes are this test's own
//! binary, which plays one ignored test.

use std::env;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, stdin};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use crate::rig::{Instance, OPEN_FOR, PROBE, Server, say};

const URL: &str = "NANOBREAKER_TEST_URL";

/// What stands before each answer: the test's harness writes to the same place.
const ANSWER: &str = "answer ";

struct Process {
    child: Child,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(url: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "processes::does_what_it_is_told"])
            .env(URL, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, answers: BufReader::new(output).lines() }
    }

    async fn ask(&mut self, what: &str) -> String {
        self.input.write_all(format!("{what}\n").as_bytes()).await.unwrap();
        loop {
            let line = timeout(Duration::from_secs(10), self.answers.next_line()).await;
            let line = line.expect("it answers").unwrap().expect("it lives");
            if let Some((_, answer)) = line.split_once(ANSWER) {
                return answer.to_owned();
            }
        }
    }

    async fn is(&mut self, what: &str) -> bool {
        self.ask(what).await == "true"
    }

    async fn signal(&self, name: &str) {
        let process = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args([name, &process]).status().await.unwrap().success());
    }
}

/// Waits until all say so, at most 30 s. Returns how long that took.
async fn all(processes: &mut [Process], what: &str) -> Duration {
    let began = Instant::now();
    for process in processes {
        while !process.is(what).await {
            assert!(began.elapsed() < Duration::from_secs(30), "not within 30 s: {what}");
            sleep(Duration::from_millis(5)).await;
        }
    }
    began.elapsed()
}

/// Processes of a fleet whose finding is in force. The first of them holds it.
async fn in_an_outage(server: &Server) -> Vec<Process> {
    let mut processes: Vec<_> = (0..4).map(|_| Process::start(&server.url())).collect();
    all(&mut processes, "together").await;
    for process in &mut processes[..2] {
        assert!(process.is("fail").await);
    }
    all(&mut processes, "open").await;
    for number in 0..2 {
        if processes[number].is("holder").await {
            processes.swap(0, number);
            return processes;
        }
    }
    panic!("one of the two that found out holds it");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_holder_killed_in_its_probe_delays_the_others_by_a_probe_and_the_spread() {
    let server = Server::start();
    let mut processes = in_an_outage(&server).await;
    all(&mut processes[..1], "hang").await;
    processes[0].signal("-KILL").await;
    let took = all(&mut processes[1..], "closes").await;
    say(&format!("a holder killed in its probe: all closed after {took:?}"));
    assert!(took < PROBE + Duration::from_secs(3), "{took:?}");
}

/// How long the holder is stopped: 60 s in the long form.
fn stopped() -> Duration {
    Duration::from_secs(env::var("NANOBREAKER_STOPPED").map_or(10, |text| text.parse().expect("seconds")))
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_holder_that_is_stopped_holds_nobody_and_disturbs_nobody_when_it_wakes() {
    let server = Server::start();
    let mut processes = in_an_outage(&server).await;
    processes[0].signal("-STOP").await;
    let began = Instant::now();
    let took = all(&mut processes[1..], "closes").await;
    assert!(took < OPEN_FOR + PROBE + Duration::from_secs(3), "{took:?}");
    while began.elapsed() < stopped() {
        for process in &mut processes[1..] {
            assert!(process.is("well").await, "a call was rejected");
        }
        sleep(Duration::from_millis(50)).await;
    }
    processes[0].signal("-CONT").await;
    let woken = Instant::now();
    while woken.elapsed() < OPEN_FOR + Duration::from_secs(3) {
        for process in &mut processes[1..] {
            assert!(process.is("well").await, "a call was rejected after the holder woke");
        }
        sleep(Duration::from_millis(20)).await;
    }
    let took = all(&mut processes[..1], "closes").await;
    assert!(took < Duration::from_secs(2), "the one that woke closes by its own call, after {took:?}");
}

/// What a [`Process`] does; by itself there is nobody who tells it anything.
#[tokio::test]
#[ignore = "played by other tests as a process of its own"]
async fn does_what_it_is_told() {
    let Ok(url) = env::var(URL) else { return };
    let instance = Instance::at(&url);
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let answer = match line.as_str() {
            "together" => instance.is_together(),
            "open" => instance.is_open(),
            "holder" => instance.is_holder(),
            "well" => instance.call(true),
            "fail" => instance.call(false),
            "closes" => instance.closes(),
            "hang" => instance.breaker.allow().map(std::mem::forget).is_ok(),
            told => panic!("it was told {told:?}"),
        };
        println!("{ANSWER}{answer}");
    }
}
