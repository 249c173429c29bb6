//! The final table, and whether what it shows is what breakers are for.

use nanobreaker_core::{Phase, Transition};

use crate::node::{PERIOD_US, Totals};
use crate::{faults, say};

/// Follows one breaker's transitions and prints them.
#[derive(Debug)]
pub struct Journal {
    name: &'static str,
    phase: Phase,
    transitions: u32,
    is_a_chain: bool,
}

impl Journal {
    /// A journal of a breaker that is closed.
    pub const fn new(name: &'static str) -> Self {
        Self { name, phase: Phase::Closed, transitions: 0, is_a_chain: true }
    }

    /// Whether each transition began where the one before ended, from closed on.
    pub const fn is_a_chain(&self) -> bool {
        self.is_a_chain
    }

    /// Prints a transition, and checks that it begins where the last one ended.
    pub fn enter(&mut self, transition: &Transition) {
        say!(
            "{:>8} ms  {}: {} -> {} ({}), generation {}",
            transition.at_ms,
            self.name,
            transition.from,
            transition.to,
            transition.cause,
            transition.generation,
        );
        self.is_a_chain &= transition.from == self.phase;
        self.phase = transition.to;
        self.transitions += 1;
    }
}

/// What the two runs showed.
#[derive(Debug)]
pub struct Evidence {
    /// The run without breakers.
    pub without: Totals,
    /// The run with breakers.
    pub with: Totals,
    /// The sensor's transitions.
    pub sensor: Journal,
    /// The radio's transitions.
    pub radio: Journal,
    /// Transitions that did not fit a queue.
    pub dropped: u32,
    /// Transitions that the timer interrupt made.
    pub made_in_interrupt: u32,
    /// Milliseconds that the breakers' clock counted during the run with breakers.
    pub clock_ms: u64,
    /// Whether the timer's counter wrapped meanwhile.
    pub counter_wrapped: bool,
}

impl Evidence {
    /// Prints the table and each check; returns whether all hold.
    pub fn print(&self) -> bool {
        let (without, with) = (&self.without, &self.with);
        let transitions = self.sensor.transitions + self.radio.transitions;
        say!("");
        say!("{:<28}{:>12}{:>12}", "", "without", "with");
        for (name, a, b) in [
            ("loop turns", without.turns, with.turns),
            ("deadlines missed", without.deadlines_missed, with.deadlines_missed),
            ("longest turn, us", without.longest_turn_us, with.longest_turn_us),
            ("buses driven, ms", without.bus_busy_us / 1_000, with.bus_busy_us / 1_000),
            ("readings", without.readings, with.readings),
            ("packets delivered", without.delivered, with.delivered),
            ("transitions", 0, transitions),
            ("  made by the interrupt", 0, self.made_in_interrupt),
        ] {
            say!("{name:<28}{a:>12}{b:>12}");
        }
        say!("");

        let healthy_turns = (faults::RUN_MS - faults::RADIO_DOWN_MS.end) * 1_000 / PERIOD_US;
        let run_ms = u64::from(faults::RUN_MS);
        [
            (
                "without breakers, most turns of both outages miss their deadline",
                without.deadlines_missed > 150,
            ),
            ("with breakers, a few do: those that open them, and probes", with.deadlines_missed < 25),
            ("the buses are driven for less than half the time", with.bus_busy_us < without.bus_busy_us / 2),
            (
                "after the faults, every turn reads the sensor again",
                with.readings_at_the_end + 1 >= healthy_turns,
            ),
            (
                "both breakers opened, and closed in the end",
                self.sensor.transitions >= 4
                    && self.radio.transitions >= 3
                    && self.sensor.phase == Phase::Closed
                    && self.radio.phase == Phase::Closed,
            ),
            (
                "no transition is missing",
                self.dropped == 0 && self.sensor.is_a_chain && self.radio.is_a_chain,
            ),
            ("the interrupt made transitions too", self.made_in_interrupt > 0),
            (
                "the counter wrapped, and the breakers' clock did not notice",
                self.counter_wrapped && self.clock_ms.abs_diff(run_ms) <= 100,
            ),
        ]
        .iter()
        .fold(true, |all, (claim, holds)| {
            say!("{} {claim}", if *holds { "holds: " } else { "BROKEN:" });
            all && *holds
        })
    }
}
