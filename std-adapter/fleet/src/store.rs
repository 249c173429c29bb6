//! The rules of the store for one group, as pure code: votes, quorum, findings, and who probes.
//!
//! [`InMemory`](crate::InMemory) runs them, and the script for Redis says the same in Lua. A finding lives
//! through three times:
//!
//! | time | length | who may do what |
//! | ---- | ------ | --------------- |
//! | in force | until the probe, and a probe's time | the holder extends or ends it; others only vote |
//! | due | until ten probes' time after the first | whoever finds out first becomes the holder, or ends it |
//! | gone | | a new quorum |
//!
//! Where nobody is to probe it is due without a probe's time.
//! A holder whose probe failed hands over to the next voter. So does one that found out first while a
//! finding was due: it is not heard there twice in a row. Hence no single bad instance holds the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use nanobreaker::fleet::message::{Finding, Group, News, Order, Report, Said, Word};

/// An instance that was not heard of for so long is not counted as living. Heartbeats come every 5 s.
const LIVES_MS: u64 = 15_000;

/// A group's memory.
#[derive(Debug, Default)]
pub(crate) struct Store {
    epoch: u64,
    live: BTreeMap<Arc<str>, u64>,
    breakers: BTreeMap<Arc<str>, Votes>,
    /// Orders, and when they end. One that was withdrawn is told as none for as long as it would have lasted, since
    /// somebody may not have heard that.
    orders: BTreeMap<Arc<str>, (Option<Order>, u64)>,
}

#[derive(Debug, Default)]
struct Votes {
    /// Instance and when its vote ends.
    by: BTreeMap<Arc<str>, u64>,
    /// The finding, and when its probe is due.
    finding: Option<(Finding, u64)>,
    /// Who reported that last.
    last: Arc<str>,
}

fn left_ms(until_ms: u64, now_ms: u64) -> u32 {
    u32::try_from(until_ms.saturating_sub(now_ms)).unwrap_or(u32::MAX)
}

/// Whether others still wait for the holder's probe.
fn is_in_force((finding, until_ms): &(Finding, u64), now_ms: u64) -> bool {
    now_ms < until_ms + u64::from(finding.awaits_ms())
}

/// How many votes a finding takes among `live` instances.
fn needed(group: &Group, live: u32) -> u32 {
    let share = (u64::from(live) * u64::from(group.quorum_percent)).div_ceil(100);
    group.quorum.max(u32::try_from(share).unwrap_or(u32::MAX))
}

impl Store {
    /// Takes a report in. Returns what all are to hear, if anything.
    pub(crate) fn report(&mut self, now_ms: u64, group: &Group, report: &Report) -> Option<Said> {
        let live = self.heard_of(now_ms, group);
        let (breaker, holder) = (&report.breaker, Arc::clone(&group.instance));
        let word = match report.news {
            News::Alive => None,
            News::Order(ref order) => Some(self.order(now_ms, breaker, order.clone())),
            News::Well { epoch } => self.well(now_ms, &holder, breaker, epoch),
            News::Open { left_ms, probe_ms, is_new } => {
                let found = Finding { epoch: 0, left_ms, probe_ms, holder, live };
                self.open(now_ms, breaker, found, is_new, needed(group, live))
            }
        };
        word.map(|word| Said { breaker: Arc::clone(breaker), word })
    }

    /// The finding that is in force for this breaker.
    pub(crate) fn finding(&self, now_ms: u64, breaker: &Arc<str>) -> Option<Said> {
        let kept = self.breakers.get(breaker)?.finding.as_ref()?;
        let (finding, until_ms) = kept;
        let (left_ms, live) = (left_ms(*until_ms, now_ms), self.live.len() as u32);
        let word = || Word::Open(Finding { left_ms, live, ..finding.clone() });
        is_in_force(kept, now_ms).then(|| Said { breaker: Arc::clone(breaker), word: word() })
    }

    /// All findings and orders that are in force.
    pub(crate) fn all(&self, now_ms: u64) -> Vec<Said> {
        let findings = self.breakers.keys().filter_map(|breaker| self.finding(now_ms, breaker));
        let orders = self.orders.iter().filter(|(_, (_, until_ms))| now_ms < *until_ms);
        let orders = orders.map(|(breaker, (order, until_ms))| {
            let order = order.clone().map(|order| Order { left_ms: left_ms(*until_ms, now_ms), ..order });
            Said { breaker: Arc::clone(breaker), word: Word::Order(order) }
        });
        findings.chain(orders).collect()
    }

    /// Counts the living, where that is asked for.
    fn heard_of(&mut self, now_ms: u64, group: &Group) -> u32 {
        if group.quorum_percent > 0 {
            self.live.insert(Arc::clone(&group.instance), now_ms);
        }
        self.live.retain(|_, heard_ms| now_ms.saturating_sub(*heard_ms) < LIVES_MS);
        self.live.len() as u32
    }

    fn order(&mut self, now_ms: u64, breaker: &Arc<str>, order: Option<Order>) -> Word {
        self.orders.retain(|_, (_, until_ms)| now_ms < *until_ms);
        let before_ms = self.orders.get(breaker).map_or(now_ms, |(_, until_ms)| *until_ms);
        let until_ms = order.as_ref().map_or(before_ms, |order| now_ms + u64::from(order.left_ms));
        self.orders.insert(Arc::clone(breaker), (order.clone(), until_ms));
        Word::Order(order)
    }

    fn well(&mut self, now_ms: u64, me: &Arc<str>, breaker: &Arc<str>, epoch: u64) -> Option<Word> {
        let kept = self.breakers.get(breaker)?.finding.as_ref()?;
        let found = &kept.0;
        let is_holders = found.holder == *me && found.epoch == epoch;
        if !is_holders && is_in_force(kept, now_ms) {
            return None;
        }
        let epoch = found.epoch;
        self.breakers.remove(breaker);
        Some(Word::Look { epoch })
    }

    /// Takes a vote in: what this instance found, with itself as the holder.
    fn open(
        &mut self,
        now_ms: u64,
        breaker: &Arc<str>,
        mut found: Finding,
        is_new: bool,
        needed: u32,
    ) -> Option<Word> {
        let me = Arc::clone(&found.holder);
        let votes = self.breakers.entry(Arc::clone(breaker)).or_default();
        let until_ms = now_ms + u64::from(found.left_ms);
        votes.by.insert(Arc::clone(&me), until_ms + u64::from(found.probe_ms));
        votes.by.retain(|_, ends_ms| now_ms < *ends_ms);
        votes.finding.take_if(|(kept, until_ms)| now_ms >= *until_ms + 10 * u64::from(kept.probe_ms));
        match &votes.finding {
            Some((kept, _)) if kept.holder == me && is_new => found.holder = votes.next_after(&me),
            Some((kept, _)) if kept.holder == me => return None,
            Some(kept) if is_in_force(kept, now_ms) || votes.last == me => return None,
            None if (votes.by.len() as u32) < needed => return None,
            _ => {}
        }
        // By the clock, so that a store that lost its newest findings does not begin below them.
        self.epoch = now_ms.max(self.epoch + 1);
        found.epoch = self.epoch;
        votes.last = me;
        votes.finding = Some((found.clone(), until_ms));
        Some(Word::Open(found))
    }
}

impl Votes {
    /// Another one who voted, the one whose vote lasts longest; nobody where there is none.
    fn next_after(&self, instance: &Arc<str>) -> Arc<str> {
        let others = self.by.iter().filter(|(by, _)| *by != instance);
        others.max_by_key(|(_, ends_ms)| **ends_ms).map(|(by, _)| Arc::clone(by)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use nanobreaker::fleet::message::OrderedAction;

    use super::*;

    fn group(instance: &str) -> Group {
        Group { name: "test".into(), instance: instance.into(), quorum: 2, quorum_percent: 0 }
    }

    fn open(left_ms: u32) -> Report {
        Report { breaker: "payments".into(), news: News::Open { left_ms, probe_ms: 2_000, is_new: true } }
    }

    fn well(epoch: u64) -> Report {
        Report { breaker: "payments".into(), news: News::Well { epoch } }
    }

    fn holder(said: Option<Said>) -> Option<Arc<str>> {
        match said?.word {
            Word::Open(finding) => Some(finding.holder),
            _ => None,
        }
    }

    fn agreed() -> Store {
        let mut store = Store::default();
        assert_eq!(store.report(0, &group("a"), &open(10_000)), None, "one is no quorum");
        assert_eq!(holder(store.report(10, &group("b"), &open(10_000))).as_deref(), Some("b"));
        store
    }

    #[test]
    fn the_same_instance_twice_is_no_quorum() {
        let mut store = Store::default();
        for at in 0..10 {
            assert_eq!(store.report(at, &group("a"), &open(10_000)), None);
        }
    }

    #[test]
    fn a_vote_ends_with_its_open_time_and_a_probe() {
        let mut store = Store::default();
        store.report(0, &group("a"), &open(10_000));
        assert_eq!(store.report(12_000, &group("b"), &open(10_000)), None);
    }

    #[test]
    fn a_share_of_the_living_is_needed_where_it_is_more() {
        let mut store = Store::default();
        let member = |number: u32| Group { quorum_percent: 5, ..group(&number.to_string()) };
        let alive = Report { breaker: "".into(), news: News::Alive };
        for number in 0..100 {
            store.report(0, &member(number), &alive);
        }
        let told = |number: u32, store: &mut Store| store.report(1_000, &member(number), &open(10_000));
        assert!((0..4).all(|number| told(number, &mut store).is_none()));
        assert!(told(4, &mut store).is_some());
    }

    #[test]
    fn a_holder_whose_probe_failed_hands_over_to_another_voter() {
        let mut store = agreed();
        assert_eq!(holder(store.report(10_500, &group("b"), &open(20_000))).as_deref(), Some("a"));
    }

    #[test]
    fn a_repeated_vote_of_the_holder_is_no_failed_probe() {
        let mut store = agreed();
        let news = News::Open { left_ms: 5_000, probe_ms: 2_000, is_new: false };
        let still = Report { breaker: "payments".into(), news };
        assert_eq!(store.report(5_000, &group("b"), &still), None);
    }

    #[test]
    fn only_the_holder_ends_a_finding_in_force() {
        let mut store = agreed();
        assert_eq!(store.report(10_500, &group("a"), &well(10)), None);
        let over = Said { breaker: "payments".into(), word: Word::Look { epoch: 10 } };
        assert_eq!(store.report(10_500, &group("b"), &well(10)), Some(over));
        assert_eq!(store.finding(10_500, &"payments".into()), None);
    }

    #[test]
    fn a_store_that_lost_its_newest_findings_numbers_the_next_above_them() {
        let found = |store: &mut Store, at| match store.report(at, &group("c"), &open(10_000)) {
            Some(Said { word: Word::Open(finding), .. }) => finding.epoch,
            said => panic!("{said:?}"),
        };
        let lost = found(&mut agreed(), 12_010);
        assert!(found(&mut agreed(), 12_020) > lost);
    }

    #[test]
    fn where_the_holder_is_silent_the_first_that_finds_out_takes_its_place() {
        let mut store = agreed();
        assert_eq!(store.report(12_000, &group("c"), &open(10_000)), None, "b may still be probing");
        assert_eq!(holder(store.report(12_010, &group("c"), &open(10_000))).as_deref(), Some("c"));
    }

    #[test]
    fn where_nobody_is_to_probe_others_wait_for_no_probe() {
        let mut store = Store::default();
        store.report(0, &group("a"), &open(1_000));
        store.report(10, &group("b"), &open(10_000));
        assert_eq!(holder(store.report(10_000, &group("b"), &open(5_000))).as_deref(), Some(""));
        assert_eq!(store.report(14_999, &group("c"), &open(10_000)), None);
        assert_eq!(holder(store.report(15_000, &group("c"), &open(10_000))).as_deref(), Some("c"));
    }

    #[test]
    fn one_bad_instance_cannot_keep_a_finding_alive_by_itself() {
        let mut store = agreed();
        store.report(10_010, &group("b"), &open(1_000));
        store.report(11_020, &group("a"), &open(1_000));
        // From here on only b speaks, and the dependency is well.
        let mut extended = 0;
        for at in (11_100..100_000).step_by(500) {
            extended += u32::from(store.report(at, &group("b"), &open(100)).is_some());
        }
        assert!(extended <= 2, "{extended} times");
    }

    #[test]
    fn an_order_ends_and_can_be_withdrawn() {
        let mut store = Store::default();
        let order =
            Order { action: OrderedAction::Isolate, left_ms: 1_000, reason: "maintenance".into(), id: 1 };
        let given = Report { breaker: "payments".into(), news: News::Order(Some(order)) };
        store.report(0, &group("a"), &given);
        assert_eq!(store.all(999).len(), 1);
        assert_eq!(store.all(1_000).len(), 0);
        store.report(2_000, &group("a"), &given);
        store.report(2_001, &group("a"), &Report { breaker: "payments".into(), news: News::Order(None) });
        let none = Said { breaker: "payments".into(), word: Word::Order(None) };
        assert_eq!(store.all(2_999), [none], "whoever did not hear that it was withdrawn");
        assert_eq!(store.all(3_000).len(), 0);
    }
}
