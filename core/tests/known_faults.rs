//! Replays faults that circuit breakers have shipped, as sequences of steps with the right value.
//!
//! The cases stand in `known_faults/cases.jsonl`, one JSON object a line. Another file can be named
//! by the environment variable `NANOBREAKER_CASES`. Times are milliseconds on a manual clock that
//! starts at 0. Each case is played twice: with settings that stay, and with settings that
//! [`Breaker::adjust`] put in the place of others.

use std::collections::HashMap;
use std::io::{self, Write};
use std::{env, fs};

use nanobreaker_core::window::{Adjustable, AnyWindow, Window};
use nanobreaker_core::{
    AdjustError, Breaker, Config, ConfigError, CusumSettings, ManualClock, Outcome, Rate, Rejected, Settings,
    Token, WindowSettings,
};
use serde::Deserialize;

/// Room for any window that a case may ask for.
const WORDS: usize = 1_024;

#[derive(Deserialize)]
struct Case {
    id: String,
    /// In which width of words the case holds; in both if it does not say.
    only: Option<Width>,
    config: Configured,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Width {
    Wide,
    Narrow,
}

/// How wide words are here; the limits tell.
const WIDTH: Width = match Config::MAX_PROBES {
    63 => Width::Wide,
    _ => Width::Narrow,
};

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Judging {
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
    Cusum {
        normal_ppm: u32,
        broken_ppm: u32,
        calls_per_false_trip: u64,
        #[serde(default)]
        sustained_for_ms: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configured {
    window: Judging,
    open_for_ms: Option<u64>,
    max_open_ms: Option<u64>,
    relapse_within_ms: Option<u64>,
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
    AdviseMs(u64),
    Recover(bool),
    Reset(bool),
    Isolate(bool),
    Disable(bool),
    /// The shadow switch.
    Observe(bool),
    Phase(String),
    /// Building the breaker must fail and name this field.
    ConfigError(String),
}

impl Judging {
    fn settings(&self) -> WindowSettings {
        match *self {
            Self::Consecutive { threshold } => WindowSettings::Consecutive { threshold },
            Self::Failures { threshold, within_ms } => WindowSettings::Failures { threshold, within_ms },
            Self::Calls { size, failure_rate_percent, min_calls } => {
                WindowSettings::Calls { size, rate: Rate::percent(failure_rate_percent).min_calls(min_calls) }
            }
            Self::Time { span_ms, buckets, failure_rate_percent, min_calls } => WindowSettings::Time {
                span_ms,
                buckets,
                rate: Rate::percent(failure_rate_percent).min_calls(min_calls),
            },
            Self::Cusum { normal_ppm, broken_ppm, calls_per_false_trip, sustained_for_ms } => {
                WindowSettings::Cusum(CusumSettings {
                    normal_ppm,
                    broken_ppm,
                    calls_per_false_trip,
                    sustained_for_ms,
                })
            }
        }
    }
}

impl Configured {
    fn settings(&self) -> Settings {
        let mut opening = Config::builder();
        macro_rules! set {
            ($($setting:ident $name:ident)*) => {
                $(if let Some(value) = self.$setting { opening = opening.$name(value); })*
            };
        }
        set!(open_for_ms open_for_ms max_open_ms max_open_ms ramp_ms ramp_ms latch latch);
        set!(relapse_within_ms relapse_within_ms probe_lease_ms probe_lease_ms);
        set!(probes max_probes successes probe_successes failures probe_failures);
        set!(jitter_permille jitter_permille);
        Settings { window: self.window.settings(), opening, ..Settings::DEFAULT }
    }
}

/// A setting's name in this crate, by its name in the cases.
fn field(name: &str) -> &str {
    match name {
        "probes" => "max_probes",
        "successes" => "probe_successes",
        "failures" => "probe_failures",
        same => same,
    }
}

/// A case under way.
struct Play<'a, W: Window> {
    breaker: Breaker<W, &'a ManualClock>,
    permits: HashMap<String, Token>,
}

impl<W: Window> Play<'_, W> {
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
            Step::AdviseMs(ms) => drop(self.breaker.advise_ms(*ms)),
            Step::Recover(true) => drop(self.breaker.recover()),
            Step::Reset(true) => self.breaker.reset(),
            Step::Isolate(true) => drop(self.breaker.isolate()),
            Step::Disable(true) => drop(self.breaker.disable()),
            Step::Reset(false) | Step::Isolate(false) | Step::Disable(false) | Step::Recover(false) => {}
            Step::Observe(on) => self.breaker.shadow(*on),
            Step::Phase(expected) => {
                let phase = self.breaker.phase().to_string();
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
            let token = self.granted().map_err(|why| format!("call {n} was {why}"))?;
            self.breaker.record(token, outcome);
        }
        Ok(())
    }
}

/// The steps of a case; an error names the first one that differs. `breaker` is what its settings made.
fn steps<W: Window>(
    case: &Case,
    breaker: Result<Breaker<W, &ManualClock>, ConfigError>,
) -> Result<(), String> {
    let breaker = match (breaker, case.steps.first()) {
        (Ok(breaker), _) => breaker,
        (Err(error), Some(Step::ConfigError(name))) if error.field() == field(name) => {
            return Ok(());
        }
        (Err(error), _) => return Err(format!("configuration: {error}")),
    };
    let mut play = Play { breaker, permits: HashMap::new() };
    for (n, step) in case.steps.iter().enumerate() {
        let differs = |why| format!("step {} {step:?}: {why}", n + 1);
        play.step(step).map_err(differs)?;
    }
    Ok(())
}

/// Plays a case with settings that stay as they are.
fn play(case: &Case) -> Result<(), String> {
    let settings = case.config.settings();
    let clock = ManualClock::new(0);
    let window = AnyWindow::<WORDS>::new(settings.window);
    let config = settings.opening.build();
    let breaker = window.and_then(|window| Ok(Breaker::new(window, config?, &clock)));
    steps(case, breaker)
}

/// Plays a case with settings that replaced others.
fn play_adjusted(case: &Case) -> Result<(), String> {
    let clock = ManualClock::new(0);
    let others = Settings {
        window: WindowSettings::Time { span_ms: 77, buckets: 7, rate: Rate::permille(7) },
        opening: Config::builder().open_for_ms(77).ramp_ms(7).latch(true),
        ..Settings::DEFAULT
    };
    let window = Adjustable::<WORDS>::new(&others).expect("valid settings");
    let breaker = Breaker::new(window, (), &clock);
    let adjusted = match breaker.adjust(&case.config.settings()) {
        Ok(()) => Ok(breaker),
        Err(AdjustError::Settings(error)) => Err(error),
        Err(AdjustError::Busy) => return Err("somebody else adjusts".into()),
    };
    steps(case, adjusted).map_err(|why| format!("adjusted: {why}"))
}

/// What came of a file of cases.
#[derive(Default)]
struct Tally {
    played: usize,
    /// Cases for words of the other width.
    left_out: usize,
    faults: Vec<String>,
}

/// Plays every case of a file.
fn play_all(text: &str) -> Tally {
    let mut tally = Tally::default();
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Case>(line) {
            Ok(case) if case.only.is_some_and(|only| only != WIDTH) => tally.left_out += 1,
            Ok(case) => {
                tally.played += 1;
                let faults = [play(&case), play_adjusted(&case)].into_iter();
                let named = |why: String| format!("{}: {why}", case.id);
                tally.faults.extend(faults.filter_map(Result::err).map(named));
            }
            Err(error) => tally.faults.push(format!("line {}: {error}", n + 1)),
        }
    }
    tally
}

const OWN_CASES: &str = include_str!("known_faults/cases.jsonl");

#[test]
fn known_faults_are_not_repeated() {
    let text = match env::var("NANOBREAKER_CASES") {
        Ok(path) => fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}")),
        Err(_) => OWN_CASES.to_owned(),
    };
    let Tally { played, left_out, faults } = play_all(&text);
    // Not `println!`, which a passing test does not show.
    let _ = writeln!(
        io::stderr(),
        "{WIDTH:?} words: played {played} cases, left out {left_out}, {} differ",
        faults.len()
    );
    assert!(played + left_out > 0, "the file holds no case");
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
        (r#"{"reject": true}"#, "x: step 1 Reject(true): call 1 was granted"),
        (r#"{"fail_calls": 1}, {"allow": "p"}"#, "x: step 2 Allow(\"p\"): rejected"),
        (r#"{"phase": "open"}"#, "x: step 1 Phase(\"open\"): the phase is closed"),
        (r#"{"ok": "p"}"#, "x: step 1 Ok(\"p\"): the case has no permit p"),
        (
            r#"{"config_error": "threshold"}"#,
            "x: step 1 ConfigError(\"threshold\"): the configuration was accepted",
        ),
        (r#"{"jump": 1}"#, "line 1: unknown variant `jump`"),
    ];
    for (steps, expected) in differing {
        let faults = play_all(&case(steps)).faults;
        assert!(faults[0].starts_with(expected), "{faults:?}");
    }
    let adjusted = &play_all(&case(r#"{"reject": true}"#)).faults[1];
    assert!(adjusted.starts_with("x: adjusted: step 1"), "{adjusted}");
    let other_width = match WIDTH {
        Width::Wide => "narrow",
        Width::Narrow => "wide",
    };
    let left_out = play_all(&case("").replace("\"x\"", &format!("\"x\", \"only\": \"{other_width}\"")));
    assert_eq!((left_out.played, left_out.left_out), (0, 1));
    assert_eq!(play_all("\n \n").played, 0);
}
