//! Reports that wait to be sent: the newest one of each breaker.

use std::collections::VecDeque;

use super::message::{News, Report};

/// The most reports that go in one call.
const BATCH: usize = 64;

/// The newest report is at the back.
#[derive(Default)]
pub(super) struct Outbox(VecDeque<(Report, u64)>);

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a report in place of an older one of the same breaker.
    pub(super) fn put(&mut self, report: Report, now_ms: u64) {
        self.0.retain(|(older, _)| !is_of_same(older, &report));
        self.0.push_back((report, now_ms));
    }

    /// Takes out what is to be sent, the newest first. What is no longer true is dropped.
    pub(super) fn take(&mut self, now_ms: u64) -> Vec<(Report, u64)> {
        self.0.retain(|(report, at_ms)| is_true_after(report, now_ms - at_ms));
        let rest = self.0.len().saturating_sub(BATCH);
        self.0.split_off(rest).into_iter().rev().collect()
    }

    /// Puts back what could not be sent, where nothing newer waits.
    pub(super) fn put_back(&mut self, reports: Vec<(Report, u64)>) {
        for (report, at_ms) in reports {
            if !self.0.iter().any(|(newer, _)| is_of_same(newer, &report)) {
                self.0.push_front((report, at_ms));
            }
        }
    }
}

/// The report as it is after `waited_ms` milliseconds.
pub(super) fn aged(report: &Report, waited_ms: u64) -> Report {
    let mut report = report.clone();
    if let Some(left_ms) = left_of(&mut report.news) {
        *left_ms = left_ms.saturating_sub(u32::try_from(waited_ms).unwrap_or(u32::MAX));
    }
    report
}

fn is_true_after(report: &Report, waited_ms: u64) -> bool {
    let mut news = report.news.clone();
    left_of(&mut news).is_none_or(|left_ms| u64::from(*left_ms) > waited_ms)
}

/// What is left of the time for which the news is true.
fn left_of(news: &mut News) -> Option<&mut u32> {
    match news {
        News::Open { left_ms, .. } | News::Still { left_ms, .. } => Some(left_ms),
        News::Order(Some(order)) => Some(&mut order.left_ms),
        News::Well { .. } | News::Alive | News::Order(None) => None,
    }
}

fn is_of_same(one: &Report, other: &Report) -> bool {
    let is_order = |report: &Report| matches!(report.news, News::Order(_));
    one.breaker == other.breaker && is_order(one) == is_order(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(breaker: &str, left_ms: u32) -> Report {
        Report { breaker: breaker.into(), news: News::Open { left_ms, probe_ms: 1 } }
    }

    #[test]
    fn the_newest_of_each_breaker_goes_first_and_at_most_64_at_once() {
        let mut outbox = Outbox::default();
        for number in 0..100 {
            outbox.put(open(&number.to_string(), 1_000), number);
        }
        outbox.put(open("7", 900), 100);
        let first = outbox.take(100);
        assert_eq!(first.len(), 64);
        assert_eq!((&*first[0].0.breaker, &*first[1].0.breaker), ("7", "99"));
        assert_eq!(outbox.take(100).len(), 36);
        assert!(outbox.is_empty());
    }

    #[test]
    fn what_came_back_does_not_replace_what_is_newer() {
        let mut outbox = Outbox::default();
        outbox.put(open("a", 1_000), 0);
        let sent = outbox.take(0);
        outbox.put(open("a", 5_000), 10);
        outbox.put_back(sent);
        assert_eq!(outbox.take(10), [(open("a", 5_000), 10)]);
    }

    #[test]
    fn what_is_no_longer_true_is_not_sent() {
        let mut outbox = Outbox::default();
        outbox.put(open("a", 1_000), 0);
        outbox.put(Report { breaker: "b".into(), news: News::Well { epoch: 1 } }, 0);
        assert_eq!(outbox.take(1_000).len(), 1);
        assert_eq!(aged(&open("a", 1_000), 400), open("a", 600));
    }
}
