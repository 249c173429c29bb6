//! Reports that wait to be sent: the newest one of each breaker.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::message::{News, Report};

/// The most reports that go in one call.
const BATCH: usize = 64;

/// Reports, and when they were true. The newest is at the back.
#[derive(Default)]
pub(super) struct Outbox(VecDeque<(Report, Instant)>);

impl Outbox {
    /// Puts a report in place of an older one of the same breaker.
    pub(super) fn put(&mut self, report: Report) {
        self.0.retain(|(older, _)| !is_of_same(older, &report));
        self.0.push_back((report, Instant::now()));
    }

    /// Takes out what is to be sent, as it is now, the newest first. What is no longer true is dropped.
    pub(super) fn take(&mut self) -> Vec<Report> {
        let now = Instant::now();
        self.0.retain_mut(|(report, at)| ages(report, now - std::mem::replace(at, now)));
        let rest = self.0.len().saturating_sub(BATCH);
        self.0.drain(rest..).rev().map(|(report, _)| report).collect()
    }

    /// Puts back what was taken then and could not be sent, where nothing newer waits.
    pub(super) fn put_back(&mut self, reports: Vec<Report>, taken_at: Instant) {
        for report in reports {
            if !self.0.iter().any(|(newer, _)| is_of_same(newer, &report)) {
                self.0.push_front((report, taken_at));
            }
        }
    }
}

/// Makes of a report what it is this much later. Returns whether it is still true.
fn ages(report: &mut Report, time: Duration) -> bool {
    let left_ms = match &mut report.news {
        News::Open { left_ms, .. } => left_ms,
        News::Order(Some(order)) => &mut order.left_ms,
        News::Well { .. } | News::Alive | News::Order(None) => return true,
    };
    *left_ms = left_ms.saturating_sub(u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
    *left_ms > 0
}

fn is_of_same(one: &Report, other: &Report) -> bool {
    let is_order = |report: &Report| matches!(report.news, News::Order(_));
    one.breaker == other.breaker && is_order(one) == is_order(other)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn open(breaker: &str, left_ms: u32) -> Report {
        Report { breaker: breaker.into(), news: News::Open { left_ms, probe_ms: 1, is_new: true } }
    }

    #[tokio::test(start_paused = true)]
    async fn the_newest_of_each_breaker_goes_first_and_at_most_64_at_once() {
        let mut outbox = Outbox::default();
        for number in 0..100 {
            outbox.put(open(&number.to_string(), 1_000));
        }
        outbox.put(open("7", 900));
        let first = outbox.take();
        assert_eq!(first.len(), 64);
        assert_eq!((&*first[0].breaker, &*first[1].breaker), ("7", "99"));
        assert_eq!(outbox.take().len(), 36);
        assert_eq!(outbox.take(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_back_does_not_replace_what_is_newer() {
        let mut outbox = Outbox::default();
        outbox.put(open("a", 1_000));
        let (sent, at) = (outbox.take(), Instant::now());
        outbox.put(open("a", 5_000));
        outbox.put_back(sent, at);
        assert_eq!(outbox.take(), [open("a", 5_000)]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_longer_true_is_not_sent() {
        let mut outbox = Outbox::default();
        outbox.put(open("a", 1_000));
        outbox.put(Report { breaker: "b".into(), news: News::Well { epoch: 1 } });
        advance(Duration::from_secs(1)).await;
        assert_eq!(outbox.take().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waited_has_less_left() {
        let mut outbox = Outbox::default();
        outbox.put(open("a", 1_000));
        advance(Duration::from_millis(400)).await;
        let (sent, at) = (outbox.take(), Instant::now());
        assert_eq!(sent, [open("a", 600)]);
        advance(Duration::from_millis(100)).await;
        outbox.put_back(sent, at);
        assert_eq!(outbox.take(), [open("a", 500)]);
    }
}
