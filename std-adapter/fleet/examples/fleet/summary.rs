//! The figures of all runs, as JSON and as a table.

use std::fmt;

use serde::Serialize;

use crate::run::Course;

#[derive(Serialize)]
pub(crate) struct Summary {
    itself: Figures,
    fleet: Figures,
    poisoned: Poisoned,
    exchange: &'static str,
}

#[derive(Serialize)]
struct Figures {
    reached: usize,
    probes: usize,
    lost: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    advised_p50_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advised_p99_ms: Option<u64>,
}

#[derive(Serialize)]
pub(crate) struct Poisoned {
    pub quorum1_opened_others: usize,
    pub quorum2_opened_others: usize,
}

impl Figures {
    fn of(course: &Course) -> Self {
        let advised = course.advised_ms();
        let at = |percent: usize| advised.get((advised.len() * percent / 100).min(advised.len().max(1) - 1));
        Self {
            reached: course.reached(),
            probes: course.probes(),
            lost: course.lost(),
            advised_p50_ms: at(50).copied(),
            advised_p99_ms: at(99).copied(),
        }
    }
}

impl Summary {
    pub(crate) fn new(itself: &Course, fleet: &Course, poisoned: Poisoned, exchange: &'static str) -> Self {
        Self { itself: Figures::of(itself), fleet: Figures::of(fleet), poisoned, exchange }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (itself, fleet) = (&self.itself, &self.fleet);
        writeln!(f, "{:<52} {:>16} {:>8}", "", "each for itself", "fleet")?;
        let mut row = |what: &str, one: usize, other: usize| writeln!(f, "{what:<52} {one:>16} {other:>8}");
        row("calls that reached the dead dependency", itself.reached, fleet.reached)?;
        row("probes among them", itself.probes, fleet.probes)?;
        row("calls rejected while the dependency was well", itself.lost, fleet.lost)?;
        if let (Some(half), Some(most)) = (fleet.advised_p50_ms, fleet.advised_p99_ms) {
            writeln!(f, "second finding to advice, milliseconds: half within {half}, 99 % within {most}")?;
        }
        let poisoned = &self.poisoned;
        write!(
            f,
            "one poisoned instance, dependency well: others that opened with a quorum of 1: {}, of 2: {}",
            poisoned.quorum1_opened_others, poisoned.quorum2_opened_others
        )
    }
}
