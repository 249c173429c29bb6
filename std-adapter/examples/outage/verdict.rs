//! Did the breaker protect the other endpoints? Decides the exit status.

use std::fmt;
use std::time::Duration;

use crate::load::Sample;
use crate::run::Run;
use crate::scenario::{Kind, Scenario, seconds};
use crate::statistics::{Group, is_payment};

/// Answered well, at least.
const OK_PERCENT: f64 = 99.0;
/// On average, at most: ten times what they take when nothing is wrong, a hundredth of what they take when the
/// pool is full. Room for a busy machine, none for a breaker that does not work.
const MEAN_MS: f64 = 50.0;

pub(crate) struct Verdict {
    kind: Kind,
    /// Since the start of the outage.
    from: Duration,
    others: Group,
    pub(crate) protected: bool,
}

/// From when on, since the start of the outage, a run's breaker can be held to its promise.
///
/// The article's breaker learns of the outage from the first timeouts and not before; then the queue needs a moment
/// to drain. With `hung_after` the others should not notice anything at all.
/// The run without a breaker is shown over the same time as the article's, for comparison.
pub(crate) fn promised_from(kind: Kind, scenario: &Scenario) -> Duration {
    match kind {
        Kind::None | Kind::Article => scenario.http_timeout + scenario.outage / 10,
        Kind::HungAfter => Duration::ZERO,
    }
}

/// None for the run without a breaker, which promises nothing.
pub(crate) fn judge(run: &Run, scenario: &Scenario) -> Option<Verdict> {
    if run.kind == Kind::None {
        return None;
    }
    let from = promised_from(run.kind, scenario);
    let others = others_while_promised(run, scenario);
    Some(Verdict { kind: run.kind, from, others, protected: is_protected(&others) })
}

/// The other endpoints during that part of the outage for which a breaker promises something.
pub(crate) fn others_while_promised(run: &Run, scenario: &Scenario) -> Group {
    Group::of(while_promised(run, scenario).filter(|sample| !is_payment(sample)))
}

/// The payments during the same time.
pub(crate) fn payments_while_promised(run: &Run, scenario: &Scenario) -> Group {
    Group::of(while_promised(run, scenario).filter(|sample| is_payment(sample)))
}

pub(crate) fn while_promised<'a>(
    run: &'a Run,
    scenario: &Scenario,
) -> impl Iterator<Item = &'a Sample> + use<'a> {
    let promised = run.outage_from + promised_from(run.kind, scenario)..run.outage_to;
    run.samples.iter().filter(move |sample| promised.contains(&sample.due))
}

fn is_protected(others: &Group) -> bool {
    others.requests > 0
        && others.ok as f64 >= others.requests as f64 * OK_PERCENT / 100.0
        && others.mean_ms <= MEAN_MS
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.protected { "protected" } else { "FAILED TO PROTECT" };
        let when = match self.from {
            Duration::ZERO => "Over the whole outage".into(),
            from => format!("From {} into the outage on", seconds(from)),
        };
        write!(
            f,
            "{}: {verdict} the other endpoints. {when}: {} of {} answered, mean {:.1} ms (asked for: {OK_PERCENT} %, {MEAN_MS} ms)",
            self.kind.title(),
            self.others.ok,
            self.others.requests,
            self.others.mean_ms,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(requests: usize, ok: usize, mean_ms: f64) -> Group {
        Group { requests, ok, mean_ms, ..Group::default() }
    }

    #[test]
    fn fast_answers_are_protection() {
        assert!(is_protected(&others(1_000, 1_000, 6.0)));
        assert!(is_protected(&others(1_000, 990, 49.0)));
    }

    #[test]
    fn slow_failed_or_missing_answers_are_not() {
        assert!(!is_protected(&others(1_000, 1_000, 51.0)));
        assert!(!is_protected(&others(1_000, 989, 6.0)));
        assert!(!is_protected(&others(0, 0, 0.0)));
    }
}
