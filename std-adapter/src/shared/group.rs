//! A floor for a group of breakers: where most of them are open, rejecting helps nobody.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use nanobreaker_core::Phase;

use super::{BreakerRef, SharedBreaker};

/// Breakers that stand for each other: the endpoints of one service, the shards of one store.
///
/// While more than the given share of its members is open, all that no operator isolated let calls pass and go
/// on judging, as [in shadow](crate::Breaker::shadow). When so many are open, the fault is more likely a common
/// one, the network or the caller itself; and few endpoints left would be drowned by the calls of all others.
/// As soon as fewer are open, each decides for itself again. (Envoy has this as its panic threshold.)
///
/// A group of one member panics whenever that opens, so groups are for two and more. A member leaves when it is
/// dropped. A clone is the same group, and so is what its members keep: it need not be kept beside them.
///
/// ```
/// use nanobreaker::{Group, SharedBreaker};
///
/// let group = Group::new().panic_above_percent(50);
/// let shards = [1, 2, 3, 4].map(|_| SharedBreaker::builder().group(&group).build().unwrap());
/// shards[0].trip();
/// shards[1].trip();
/// assert!(shards[0].allow().is_err(), "half are open, and no more");
/// shards[2].trip();
/// assert!(group.is_in_panic());
/// assert!(shards[0].allow().is_ok());
/// shards[2].reset();
/// assert!(shards[0].allow().is_err());
/// ```
#[derive(Clone)]
pub struct Group(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
}

struct State {
    panic_above_percent: u32,
    is_in_panic: bool,
    members: Vec<Member>,
}

struct Member {
    breaker: BreakerRef,
    /// Whether it is in shadow because of this group.
    let_pass: bool,
}

/// A breaker's place in its group, given up as the breaker ends.
struct Membership {
    group: Group,
    breaker: BreakerRef,
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.group.0.with(|state| state.leave(self.breaker));
    }
}

impl Group {
    /// A group without members that never panics.
    #[must_use]
    pub fn new() -> Self {
        let state = State { panic_above_percent: 100, is_in_panic: false, members: Vec::new() };
        Self(Arc::new(Inner { state: Mutex::new(state) }))
    }

    /// Lets calls pass while more than so many percent of the members are open; with 100 or more, never.
    #[must_use]
    pub fn panic_above_percent(self, percent: u32) -> Self {
        self.0.with(|state| state.panic_above_percent = percent);
        self
    }

    /// Makes the breaker a member. One that is a member already stays one.
    pub fn join(&self, breaker: &SharedBreaker) {
        let reference = breaker.reference();
        let is_new = self.0.with(|state| {
            let is_new = state.members.iter().all(|member| !member.breaker.is_same(reference));
            if is_new {
                state.members.push(Member { breaker: reference, let_pass: false });
            }
            is_new
        });
        if is_new {
            let membership = Membership { group: self.clone(), breaker: reference };
            breaker.observer().add(Arc::new(move |_| membership.group.0.with(State::decide)));
            self.0.with(State::decide);
        }
    }

    /// Whether so many members are open that all let calls pass.
    pub fn is_in_panic(&self) -> bool {
        self.0.with(|state| state.is_in_panic)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.with(|state| state.members.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Inner {
    fn with<T>(&self, code: impl FnOnce(&mut State) -> T) -> T {
        // What runs in here can't panic half-way: it looks at breakers, and flips their shadow switch.
        code(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// Counts those that are open, and lets all pass or none.
    fn decide(&mut self) {
        let is_open = |member: &&Member| {
            matches!(member.breaker.phase(), Phase::Open | Phase::HalfOpen | Phase::Isolated)
        };
        let open = self.members.iter().filter(is_open).count();
        // In 64 bits: no number of breakers that fits in memory makes it overflow.
        self.is_in_panic =
            open as u64 * 100 > self.members.len() as u64 * u64::from(self.panic_above_percent);
        for member in &mut self.members {
            member.let_pass(self.is_in_panic);
        }
    }

    fn leave(&mut self, breaker: BreakerRef) {
        self.members.retain(|member| !member.breaker.is_same(breaker));
        self.decide();
    }
}

impl Member {
    fn let_pass(&mut self, panics: bool) {
        let lets_pass = panics && self.breaker.phase() != Phase::Isolated;
        if lets_pass == self.let_pass {
            return;
        }
        // One that somebody else put in shadow stays there.
        if lets_pass && self.breaker.snapshot().in_shadow {
            return;
        }
        self.breaker.shadow(lets_pass);
        self.breaker.set_lets_pass(lets_pass);
        self.let_pass = lets_pass;
    }
}

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut group = f.debug_struct("Group");
        self.0.with(|state| {
            group.field("members", &state.members.len());
            group.field("panic_above_percent", &state.panic_above_percent);
            group.field("is_in_panic", &state.is_in_panic);
        });
        group.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    fn members(group: &Group, many: usize, clock: &Arc<ManualClock>) -> Vec<SharedBreaker> {
        let build = |_| {
            let builder = SharedBreaker::builder().consecutive(1).probe_successes(1);
            builder.clock(Arc::clone(clock)).group(group).build()
        };
        (0..many).map(build).collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn members_that_let_calls_pass_go_on_judging_and_reject_again_when_fewer_are_open() {
        let clock = Arc::new(ManualClock::new(0));
        let group = Group::new().panic_above_percent(50);
        let breakers = members(&group, 3, &clock);
        for breaker in &breakers[..2] {
            breaker.allow().unwrap().failure();
        }
        assert!(group.is_in_panic());
        assert!(breakers.iter().all(|breaker| breaker.allow().is_ok()));
        // The probe of one succeeds: it closes, and one of three is open.
        clock.advance(10_000);
        breakers[0].allow().unwrap().success();
        assert_eq!(breakers[0].phase(), Phase::Closed);
        assert!(!group.is_in_panic());
        breakers[1].allow().unwrap().failure();
        assert!(breakers[1].allow().is_err());
    }

    #[test]
    fn an_isolated_member_rejects_in_any_case_and_one_in_shadow_stays_there() {
        let clock = Arc::new(ManualClock::new(0));
        let group = Group::new().panic_above_percent(40);
        let breakers = members(&group, 3, &clock);
        breakers[2].shadow(true);
        breakers[0].isolate();
        breakers[1].trip();
        assert!(group.is_in_panic());
        assert!(breakers[0].allow().is_err());
        assert!(breakers[1].allow().is_ok());
        breakers[0].reset();
        breakers[1].reset();
        assert!(!group.is_in_panic());
        assert!(breakers[2].snapshot().in_shadow);
    }

    #[test]
    fn members_that_are_dropped_leave() {
        let clock = Arc::new(ManualClock::new(0));
        let group = Group::new().panic_above_percent(50);
        let mut breakers = members(&group, 4, &clock);
        breakers[0].trip();
        breakers[1].trip();
        assert!(!group.is_in_panic());
        breakers.truncate(3);
        breakers[2].trip();
        assert!(group.is_in_panic());
        assert_eq!(group.len(), 3);
        drop(breakers);
        assert!(group.is_empty());
    }

    #[test]
    fn those_that_stay_reject_again_when_open_ones_leave() {
        let group = Group::new().panic_above_percent(50);
        let mut breakers = members(&group, 4, &Arc::new(ManualClock::new(0)));
        breakers[1..].iter().for_each(|breaker| _ = breaker.trip());
        assert!(group.is_in_panic());
        breakers.truncate(2);
        assert!(!group.is_in_panic(), "one of two is open");
        assert!(breakers[1].allow().is_err());
    }

    #[test]
    fn a_group_stays_for_as_long_as_it_has_members() {
        let breakers = members(&Group::new().panic_above_percent(50), 2, &Arc::new(ManualClock::new(0)));
        breakers.iter().for_each(|breaker| _ = breaker.trip());
        assert!(breakers.iter().all(|breaker| breaker.allow().is_ok()));
        breakers[0].reset();
        assert!(breakers[1].allow().is_err());
    }

    #[test]
    fn a_breaker_joins_once() {
        let group = Group::new();
        let breaker = SharedBreaker::builder().build().unwrap();
        group.join(&breaker);
        group.join(&breaker);
        assert_eq!(group.len(), 1);
    }
}
