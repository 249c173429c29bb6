//! Scripts made of bytes: whatever the bytes are, they make a valid breaker and things to do to it.

#![allow(
    missing_docs,
    unreachable_pub,
    reason = "shares the model with the core's tests"
)]

#[path = "../../../core/tests/model/mod.rs"]
mod model;

use model::play::{Amount, Length, Script, Step, Through, play};
use model::settings::{Settings, WindowKind};
use nanobreaker_core::Outcome;

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
    let mut steps = Vec::new();
    // Longer scripts find no more, only later.
    while !bytes.0.is_empty() && steps.len() < 200 {
        steps.push(bytes.step());
    }
    Script {
        settings,
        through,
        clock,
        steps,
    }
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
    fn length(&mut self) -> u32 {
        match self.below(8) {
            0..=3 => self.up_to(255),
            4..=5 => self.integer() % 100_000 + 1,
            6 => 1 << self.below(27),
            _ => self.integer() % (1 << 26) + 1,
        }
    }

    fn percent(&mut self) -> u32 {
        self.up_to(100)
    }

    fn window(&mut self) -> WindowKind {
        match self.below(4) {
            0 => WindowKind::Failures {
                threshold: self.up_to(8),
                within_ms: self.length(),
            },
            1 => WindowKind::Consecutive {
                threshold: self.up_to(255),
            },
            2 => {
                let size = self.up_to(80);
                WindowKind::Calls {
                    size,
                    percent: self.percent(),
                    min_calls: u32::from(self.byte()) % size + 1,
                }
            }
            _ => {
                let buckets = self.up_to(8);
                WindowKind::Time {
                    span_ms: self.length().max(buckets),
                    buckets,
                    percent: self.percent(),
                    min_calls: self.up_to(16),
                }
            }
        }
    }

    fn settings(&mut self) -> Settings {
        let window = self.window();
        let slow = (self.below(4) == 0).then(|| self.window());
        let open_for_ms = self.length();
        let ramps = self.below(2) == 0;
        // Off, most, and any between.
        let jitter_permille = match self.below(4) {
            0 | 1 => 0,
            2 => 1_000,
            _ => 4 * self.up_to(250),
        };
        Settings {
            window,
            slow,
            open_for_ms,
            max_open_ms: self.length().max(open_for_ms),
            probes: self.up_to(7),
            successes: self.up_to(8),
            failures: self.up_to(4),
            lease_ms: self.length(),
            ramp_ms: if ramps { self.length() } else { 0 },
            latch: self.below(16) == 0,
            jitter_permille,
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
            5 => Outcome::Slow,
            6 => Outcome::Ignored,
            _ => Outcome::Cancelled,
        }
    }

    fn amount(&mut self) -> Amount {
        let of = match self.below(12) {
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
            _ => Length::Exactly(self.integer()),
        };
        Amount {
            of,
            give_or_take: self.byte() as i8,
        }
    }

    fn step(&mut self) -> Step {
        match self.below(32) {
            0..=5 => Step::Begin,
            6..=11 => Step::End(self.byte(), self.outcome()),
            12 => Step::Leak(self.byte()),
            13 => Step::EndAgain(self.byte(), self.outcome()),
            14..=18 => Step::Calls(self.up_to(4) as u8, self.outcome()),
            19 => Step::Calls(self.up_to(100) as u8, self.outcome()),
            20 => Step::Trip,
            21 => Step::TripFor(self.amount()),
            22 if self.below(2) == 0 => Step::Isolate,
            22 => Step::Disable,
            23 => Step::Reset,
            // Slow, so rare.
            24 if self.byte() == 255 => Step::ResetsNearlyAll(self.byte()),
            24 if self.below(2) == 0 => Step::Restart,
            24 => Step::Seed(self.integer()),
            25 => Step::Observe(self.below(2) == 0),
            26 => Step::Adjust(self.settings()),
            27..=30 => Step::Wait(self.amount()),
            _ => Step::SetBack(self.amount()),
        }
    }
}
