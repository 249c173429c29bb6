//! Replays faults that circuit breakers have shipped, as sequences of steps with the right value.
//!
//! The cases stand in `known_faults/cases.jsonl`, one JSON object a line. Another file can be named
//! by the environment variable `NANOBREAKER_CASES`. Times are milliseconds on a manual clock that
//! starts at 0.

use std::collections::HashMap;
use std::io::{self, Write};
use std::{env, fs};

use nanobreaker_core::window::AnyWindow;
use nanobreaker_core::{Breaker, Config, ConfigError, ManualClock, Outcome, Rejected, Token};
use serde::Deserialize;

/// Room for any window that a case may ask for.
const WORDS: usize = 1_024;

type CaseBreaker<'a> = Breaker<AnyWindow<WORDS>, &'a ManualClock>;

#[derive(Deserialize)]
struct Case {
    id: String,
    config: Settings,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Window {
    Consecutive {
        threshold: u32,
    },
    Failures {
        threshold: u32,
        within_ms: u64,
    },
    Calls {
        size: u32,
        failure_rate_percent: u32,
        min_calls: u32,
    },
    Time {
        span_ms: u64,
        buckets: u32,
        failure_rate_percent: u32,
        min_calls: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    window: Window,
    open_for_ms: Option<u64>,
    max_open_ms: Option<u64>,
    probes: Option<u32>,
    successes: Option<u32>,
    failures: Option<u32>,
    probe_lease_ms: Option<u64>,
    ramp_ms: Option<u64>,
    jitter_permille: Option<u32>,
    latch: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    /// Sets the clock.
    At(u64),
    /// Must be granted; the permit is kept under this name.
    Allow(String),
    /// Must be rejected.
    Reject(bool),
    /// Must be rejected so many times.
    RejectCalls(u32),
    Ok(String),
    Fail(String),
    Ignore(String),
    /// Dropped without an outcome.
    Drop(String),
    /// Forgotten for ever.
    Leak(String),
    /// So many calls, each granted and recorded.
    OkCalls(u32),
    FailCalls(u32),
    TripForMs(u64),
    Reset(bool),
    Isolate(bool),
    Disable(bool),
    Observe(bool),
    Phase(String),
    /// Building the breaker must fail and name this field.
    ConfigError(String),
}

impl Settings {
    fn window(&self) -> Result<AnyWindow<WORDS>, ConfigError> {
        match self.window {
            Window::Consecutive { threshold } => AnyWindow::consecutive(threshold),
            Window::Failures {
                threshold,
                within_ms,
            } => AnyWindow::failures(threshold, within_ms),
            Window::Calls {
                size,
                failure_rate_percent,
                min_calls,
            } => AnyWindow::calls(size, failure_rate_percent, min_calls),
            Window::Time {
                span_ms,
                buckets,
                failure_rate_percent,
                min_calls,
            } => AnyWindow::time(span_ms, buckets, failure_rate_percent, min_calls),
        }
    }

    fn config(&self) -> Result<Config, ConfigError> {
        let mut config = Config::builder();
        macro_rules! set {
            ($($setting:ident)*) => {
                $(if let Some(value) = self.$setting { config = config.$setting(value); })*
            };
        }
        set!(open_for_ms max_open_ms probes successes failures probe_lease_ms ramp_ms);
        set!(jitter_permille latch);
        config.build()
    }

    fn breaker<'a>(&self, clock: &'a ManualClock) -> Result<CaseBreaker<'a>, ConfigError> {
        Ok(Breaker::new(self.window()?, self.config()?, clock))
    }
}

/// A case under way.
struct Play<'a> {
    breaker: CaseBreaker<'a>,
    permits: HashMap<String, Token>,
}

impl Play<'_> {
    /// Takes one step; an error says what differs.
    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::At(ms) => self.breaker.clock().set(*ms),
            Step::Allow(name) => {
                let token = self.granted()?;
                self.permits.insert(name.clone(), token);
            }
            Step::Reject(must) => self.rejected(u32::from(*must))?,
            Step::RejectCalls(times) => self.rejected(*times)?,
            Step::Ok(name) => self.spend(name, Outcome::Success)?,
            Step::Fail(name) => self.spend(name, Outcome::Failure)?,
            Step::Ignore(name) => self.spend(name, Outcome::Ignored)?,
            Step::Drop(name) => self.spend(name, Outcome::Cancelled)?,
            Step::Leak(name) => drop(self.take(name)?),
            Step::OkCalls(times) => self.calls(*times, Outcome::Success)?,
            Step::FailCalls(times) => self.calls(*times, Outcome::Failure)?,
            Step::TripForMs(ms) => drop(self.breaker.trip_for_ms(*ms)),
            Step::Reset(true) => self.breaker.reset(),
            Step::Isolate(true) => drop(self.breaker.isolate()),
            Step::Disable(true) => drop(self.breaker.disable()),
            Step::Reset(false) | Step::Isolate(false) | Step::Disable(false) => {}
            Step::Observe(on) => self.breaker.observe(*on),
            Step::Phase(expected) => {
                let phase = self.breaker.snapshot().phase.to_string();
                if phase != *expected {
                    return Err(format!("the phase is {phase}"));
                }
            }
            Step::ConfigError(_) => return Err("the configuration was accepted".into()),
        }
        Ok(())
    }

    fn granted(&self) -> Result<Token, String> {
        let rejected = |rejected: Rejected| rejected.to_string();
        self.breaker.allow_token().map_err(rejected)
    }

    fn rejected(&self, times: u32) -> Result<(), String> {
        for n in 1..=times {
            if self.breaker.allow_token().is_ok() {
                return Err(format!("call {n} was granted"));
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Result<Token, String> {
        let unknown = || format!("the case has no permit {name}");
        self.permits.remove(name).ok_or_else(unknown)
    }

    fn spend(&mut self, name: &str, outcome: Outcome) -> Result<(), String> {
        let token = self.take(name)?;
        self.breaker.record(token, outcome);
        Ok(())
    }

    fn calls(&self, times: u32, outcome: Outcome) -> Result<(), String> {
        for n in 1..=times {
            let token = self
                .granted()
                .map_err(|why| format!("call {n} was {why}"))?;
            self.breaker.record(token, outcome);
        }
        Ok(())
    }
}

/// Plays a case; an error names the first step that differs.
fn play(case: &Case) -> Result<(), String> {
    let clock = ManualClock::new(0);
    let breaker = match (case.config.breaker(&clock), case.steps.first()) {
        (Ok(breaker), _) => breaker,
        (Err(error), Some(Step::ConfigError(field))) if error.field() == field => return Ok(()),
        (Err(error), _) => return Err(format!("configuration: {error}")),
    };
    let mut play = Play {
        breaker,
        permits: HashMap::new(),
    };
    for (n, step) in case.steps.iter().enumerate() {
        let differs = |why| format!("step {} {step:?}: {why}", n + 1);
        play.step(step).map_err(differs)?;
    }
    Ok(())
}

/// Plays every case of a file; returns how many, and what differs.
fn play_all(text: &str) -> (usize, Vec<String>) {
    let lines = text.lines().enumerate();
    let cases: Vec<_> = lines.filter(|(_, line)| !line.trim().is_empty()).collect();
    let faults = cases
        .iter()
        .filter_map(|(n, line)| match serde_json::from_str::<Case>(line) {
            Ok(case) => play(&case).err().map(|why| format!("{}: {why}", case.id)),
            Err(error) => Some(format!("line {}: {error}", n + 1)),
        });
    (cases.len(), faults.collect())
}

const OWN_CASES: &str = include_str!("known_faults/cases.jsonl");

#[test]
fn known_faults_are_not_repeated() {
    let text = match env::var("NANOBREAKER_CASES") {
        Ok(path) => fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}")),
        Err(_) => OWN_CASES.to_owned(),
    };
    let (played, faults) = play_all(&text);
    // Not `println!`, which a passing test does not show.
    let _ = writeln!(
        io::stderr(),
        "played {played} cases, {} differ",
        faults.len()
    );
    assert!(played > 0, "the file holds no case");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn known_faults_runner_finds_what_differs() {
    let case = |steps: &str| {
        format!(
            r#"{{"id": "x", "config": {{"window": {{"kind": "consecutive", "threshold": 1}}}}, "steps": [{steps}]}}"#
        )
    };
    let differing = [
        (
            r#"{"reject": true}"#,
            "x: step 1 Reject(true): call 1 was granted",
        ),
        (
            r#"{"fail_calls": 1}, {"allow": "p"}"#,
            "x: step 2 Allow(\"p\"): rejected",
        ),
        (
            r#"{"phase": "open"}"#,
            "x: step 1 Phase(\"open\"): the phase is closed",
        ),
        (
            r#"{"ok": "p"}"#,
            "x: step 1 Ok(\"p\"): the case has no permit p",
        ),
        (
            r#"{"config_error": "threshold"}"#,
            "x: step 1 ConfigError(\"threshold\"): the configuration was accepted",
        ),
        (r#"{"jump": 1}"#, "line 1: unknown variant `jump`"),
    ];
    for (steps, expected) in differing {
        let (_, faults) = play_all(&case(steps));
        assert!(faults[0].starts_with(expected), "{faults:?}");
    }
    assert_eq!(play_all("\n \n").0, 0);
}
