//! From samples to figures.
//!
//! Latencies are those of all requests of a group, failed and rejected ones too: who waited three seconds for an
//! error has waited three seconds. Percentiles are exact (nearest rank), nothing is estimated.

use std::time::Duration;

use serde::Serialize;

use crate::load::{Answer, Endpoint, Sample};
use crate::run::Run;
use crate::scenario::Phase;

/// The figures of a group of requests, as the JSON file holds them. Where there was nothing to measure, 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Group {
    pub(crate) requests: usize,
    pub(crate) ok: usize,
    pub(crate) rejected: usize,
    pub(crate) failed: usize,
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
    pub(crate) rejected_p99_ms: f64,
}

impl Group {
    pub(crate) fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let samples: Vec<_> = samples.into_iter().collect();
        let latencies = |wanted: &dyn Fn(Answer) -> bool| {
            let wanted = samples.iter().filter(|sample| wanted(sample.answer));
            let mut sorted: Vec<_> = wanted.map(|sample| milliseconds(sample.latency)).collect();
            sorted.sort_by(f64::total_cmp);
            sorted
        };
        let all = latencies(&|_| true);
        let rejected = latencies(&|answer| answer == Answer::Rejected);
        let failed = latencies(&|answer| answer == Answer::Failed).len();
        Group {
            requests: all.len(),
            ok: all.len() - rejected.len() - failed,
            rejected: rejected.len(),
            failed,
            // From 0.0: an empty sum is -0.0.
            mean_ms: all.iter().fold(0.0, |sum, ms| sum + ms) / all.len().max(1) as f64,
            p50_ms: percentile(&all, 50),
            p99_ms: percentile(&all, 99),
            max_ms: all.last().copied().unwrap_or(0.0),
            rejected_p99_ms: percentile(&rejected, 99),
        }
    }
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The smallest value that `percent` of all values do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

impl Run {
    pub(crate) fn payments(&self, phase: Phase) -> Group {
        self.group(|sample| is_payment(sample) && self.phase_of(sample.due) == phase)
    }

    pub(crate) fn others(&self, phase: Phase) -> Group {
        self.group(|sample| !is_payment(sample) && self.phase_of(sample.due) == phase)
    }

    pub(crate) fn group(&self, wanted: impl Fn(&Sample) -> bool) -> Group {
        Group::of(self.samples.iter().filter(|sample| wanted(sample)))
    }

    /// Of what the breaker alone took for its rejections; None without any.
    pub(crate) fn breaker_p99_ms(&self) -> Option<f64> {
        let mut sorted: Vec<_> = self.rejections.iter().copied().map(milliseconds).collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| percentile(&sorted, 99))
    }

    /// From the provider's recovery until payments flow again: until the answer to the first payment after which
    /// fifty in a row, sent since the recovery, were answered well. None if that never came about.
    pub(crate) fn payments_recovered_after(&self) -> Option<Duration> {
        recovered_after(&self.samples, self.outage_to)
    }
}

/// How many of the rejected among these were answered within a millisecond, in percent.
pub(crate) fn rejected_within_a_millisecond<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> f64 {
    let rejected = samples.into_iter().filter(|sample| sample.answer == Answer::Rejected);
    let (mut all, mut fast) = (0u32, 0u32);
    for sample in rejected {
        all += 1;
        fast += u32::from(sample.latency <= Duration::from_millis(1));
    }
    100.0 * f64::from(fast) / f64::from(all.max(1))
}

pub(crate) fn is_payment(sample: &Sample) -> bool {
    sample.endpoint == Endpoint::Payments
}

fn recovered_after(samples: &[Sample], recovery: Duration) -> Option<Duration> {
    const IN_A_ROW: usize = 50;
    let since = |sample: &&Sample| is_payment(sample) && sample.due >= recovery;
    let mut payments: Vec<_> = samples.iter().filter(since).collect();
    payments.sort_by_key(|sample| sample.due);
    let flow = payments.windows(IN_A_ROW).find(|row| row.iter().all(|sample| sample.answer == Answer::Ok))?;
    let answered = |sample: &&Sample| sample.due + sample.latency;
    Some(flow.iter().map(answered).min()?.saturating_sub(recovery))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment(due_ms: u64, latency_ms: u64, answer: Answer) -> Sample {
        Sample {
            endpoint: Endpoint::Payments,
            due: Duration::from_millis(due_ms),
            latency: Duration::from_millis(latency_ms),
            answer,
        }
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let sorted: Vec<_> = (1..=200).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 50), 100.0);
        assert_eq!(percentile(&sorted, 99), 198.0);
        assert_eq!(percentile(&sorted[..1], 99), 1.0);
        assert_eq!(percentile(&[], 99), 0.0);
    }

    #[test]
    fn a_group_counts_every_request_once_and_failures_in_its_latency() {
        let samples =
            [payment(0, 10, Answer::Ok), payment(2, 2, Answer::Rejected), payment(4, 3_000, Answer::Failed)];
        let group = Group::of(&samples);
        assert_eq!((group.requests, group.ok, group.rejected, group.failed), (3, 1, 1, 1));
        assert_eq!((group.p50_ms, group.max_ms, group.rejected_p99_ms), (10.0, 3_000.0, 2.0));
        assert_eq!(group.mean_ms, 1_004.0);
    }

    #[test]
    fn an_empty_group_is_all_zero() {
        assert_eq!(Group::of(&[]), Group::default());
    }

    #[test]
    fn payments_flow_again_with_the_first_answer_of_an_unbroken_row() {
        let recovery = Duration::from_millis(1_000);
        let mut samples: Vec<_> = (0..200).map(|n| payment(900 + 2 * n, 10, Answer::Ok)).collect();
        // Answered well, but the next one is rejected: not flowing yet.
        samples[60].answer = Answer::Rejected;
        let answered = Some(Duration::from_millis(900 + 2 * 61 + 10 - 1_000));
        assert_eq!(recovered_after(&samples, recovery), answered);
        assert_eq!(recovered_after(&samples[..100], recovery), None);
    }
}
