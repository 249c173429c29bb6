//! Scripts made of bytes: whatever the bytes are, they make a valid breaker and things to do to it.

#![allow(missing_docs, unreachable_pub, reason = "shares the model with the core's tests")]

#[path = "../../../core/tests/model/mod.rs"]
mod model;

use std::collections::BTreeSet;

use model::play::{Amount, Length, Script, Step, Through, play};
use model::settings::WIDE;
use nanobreaker_core::window::Cusum;
use nanobreaker_core::{Config, ConfigBuilder, CusumSettings, Outcome, Rate, Settings, WindowSettings};

/// Plays the script that `bytes` make.
///
/// # Panics
///
/// Where the breaker does what the model does not allow.
pub fn run(bytes: &[u8]) {
    let script = script(bytes);
    if let Err(fault) = play(&script) {
        panic!("{fault}\n{script:#?}");
    }
}

/// What the script that `bytes` make has: kinds of windows, of steps, of outcomes, of lengths of time.
pub fn kinds(bytes: &[u8]) -> BTreeSet<String> {
    let shown = format!("{:?}", script(bytes));
    let words = shown.split(|char: char| !char.is_alphanumeric());
    words.filter(|word| word.starts_with(char::is_uppercase)).map(String::from).collect()
}

fn script(bytes: &[u8]) -> Script {
    let mut bytes = Bytes(bytes);
    let settings = bytes.settings();
    let through = match bytes.below(4) {
        0 => Through::ItsOwn,
        1 => Through::Any,
        2 => Through::Striped,
        _ => Through::Adjustable,
    };
    let clock = bytes.clock();
    let period = bytes.amount();
    let mut steps = Vec::new();
    // Longer scripts find no more, only later.
    while !bytes.0.is_empty() && steps.len() < 200 {
        steps.push(bytes.step());
    }
    Script { settings, through, clock, steps, period }
}

/// What is left of the input; zeros when nothing is.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    fn up_to(&mut self, most: u8) -> u32 {
        u32::from(self.below(most)) + 1
    }

    fn integer(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// A length of time from 1 to the longest: mostly short, or a power of two, or any.
    fn length(&mut self) -> u64 {
        let ms = match self.below(8) {
            0..=3 => self.up_to(255),
            4..=5 => self.integer() % 100_000 + 1,
            6 => 1 << self.below(27),
            _ => self.integer() % (1 << 26) + 1,
        };
        ms.into()
    }

    fn perhaps_length(&mut self) -> Option<u64> {
        (self.below(2) == 0).then(|| self.length())
    }

    fn rate(&mut self, most_calls: u32) -> Rate {
        let rate = match self.below(4) {
            0..=1 => Rate::percent(self.up_to(100)),
            2 => Rate::permille(self.integer() % 1_000 + 1),
            _ => Rate::ppm(self.integer() % 1_000_000 + 1),
        };
        rate.min_calls(self.integer() % most_calls + 1)
    }

    fn cusum(&mut self) -> CusumSettings {
        let normal_ppm = self.integer() % 500_000 + 1;
        let mut settings = CusumSettings {
            normal_ppm,
            broken_ppm: normal_ppm + self.integer() % (999_999 - normal_ppm) + 1,
            calls_per_false_trip: 2 + (u64::from(self.integer()) << self.below(16)),
            sustained_for_ms: if WIDE && self.below(2) == 0 { self.integer() % (1 << 24) } else { 0 },
        };
        // Rates that are too near to each other are refused with the nearest that is not.
        if let Err(error) = Cusum::new(settings) {
            settings.broken_ppm = error.minimum() as u32;
        }
        settings
    }

    fn window(&mut self) -> WindowSettings {
        match self.below(5) {
            0 => WindowSettings::Failures { threshold: self.up_to(8), within_ms: self.length() },
            1 => WindowSettings::Consecutive { threshold: self.up_to(255) },
            2 => {
                let size = match self.below(4) {
                    0 => self.integer() % 1_024 + 1,
                    _ => self.up_to(80),
                };
                let rate = self.rate(size);
                WindowSettings::Calls { size, rate }
            }
            3 => {
                let buckets = self.up_to(8);
                WindowSettings::Time {
                    span_ms: self.length().max(buckets.into()),
                    buckets,
                    rate: self.rate(16),
                }
            }
            _ => WindowSettings::Cusum(self.cusum()),
        }
    }

    fn opening(&mut self) -> ConfigBuilder {
        let open_for_ms = self.length();
        let ramps = self.below(2) == 0;
        // Off, most, and any between.
        let jitter_permille = match self.below(4) {
            0 | 1 => 0,
            2 => 1_000,
            _ => 4 * self.up_to(250),
        };
        let mut opening = Config::builder()
            .open_for_ms(open_for_ms)
            .max_open_ms(self.length().max(open_for_ms))
            .ramp_ms(if ramps { self.length() } else { 0 })
            .max_probes(self.up_to(7))
            .probe_successes(self.up_to(8))
            .probe_failures(self.up_to(4))
            .latch(self.below(16) == 0)
            .jitter_permille(jitter_permille);
        opening.relapse_within_ms = self.perhaps_length();
        opening.probe_lease_ms = self.perhaps_length();
        opening
    }

    fn settings(&mut self) -> Settings {
        Settings {
            window: self.window(),
            slow_window: (self.below(4) == 0).then(|| self.window()),
            opening: self.opening(),
            ..Settings::DEFAULT
        }
    }

    /// Near one of the powers of two at which something wraps.
    fn clock(&mut self) -> u64 {
        let wrap = 1_u64 << self.below(64);
        wrap.wrapping_sub(self.integer().into())
    }

    fn outcome(&mut self) -> Outcome {
        match self.below(8) {
            0..=2 => Outcome::Failure,
            3..=4 => Outcome::Success,
            5 if self.below(2) == 0 => Outcome::SlowFailure,
            5 => Outcome::Slow,
            6 => Outcome::Ignored,
            _ => Outcome::Cancelled,
        }
    }

    fn amount(&mut self) -> Amount {
        let of = match self.below(16) {
            0 => Length::Nothing,
            1 => Length::OpenFor,
            2 => Length::TwiceOpenFor,
            3 => Length::MaxOpen,
            4 => Length::Lease,
            5 => Length::TwiceLease,
            6 => Length::Ramp,
            7 => Length::HalfRamp,
            8 => Length::Window,
            9 => Length::Bucket,
            10 => Length::Weeks(self.below(60)),
            11 => Length::Advised,
            12 => Length::Relapse,
            13..=14 => Length::Rounds(self.below(4), self.below(40)),
            _ => Length::Exactly(self.integer()),
        };
        Amount { of, give_or_take: self.byte() as i8 }
    }

    fn step(&mut self) -> Step {
        match self.below(40) {
            0..=5 => Step::Begin,
            6..=11 => Step::End(self.byte(), self.outcome()),
            12 => Step::Leak(self.byte()),
            13 => Step::EndAgain(self.byte(), self.outcome()),
            14..=18 => Step::Calls(self.up_to(4) as u16, self.outcome()),
            19 => Step::Calls(self.up_to(100) as u16, self.outcome()),
            20..=22 => {
                let outcome = (self.below(2) == 0).then(|| self.outcome());
                Step::Poll(self.up_to(8) as u8, self.amount(), outcome)
            }
            23 => Step::Trip,
            24 => Step::TripFor(self.amount()),
            25 => Step::Advise(self.amount()),
            26 => Step::Recover,
            27 if self.below(2) == 0 => Step::Isolate,
            27 => Step::Disable,
            28 => Step::Reset,
            // Slow, so rare.
            29 if self.byte() == 255 => Step::ResetsNearlyAll(self.byte()),
            29 if self.below(2) == 0 => Step::Restart(self.amount()),
            29 => Step::Seed(self.integer()),
            30 => Step::Shadow(self.below(2) == 0),
            31..=32 => Step::Adjust(self.settings()),
            33..=37 => Step::Wait(self.amount()),
            _ => Step::SetBack(self.amount()),
        }
    }
}
