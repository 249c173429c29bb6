//! Which lines the file has to hold.

use std::collections::HashMap;
use std::mem;

use nanobreaker_core::{Phase, Snapshot};

use super::format::Line;
use crate::shared::SharedBreaker;

/// Shows breakers, or nothing where there are none any more.
pub(super) type Source = Box<dyn Fn(&mut dyn FnMut(&SharedBreaker)) -> Option<()> + Send>;

/// A state that nobody asked for in so long is forgotten: a week.
const FORGOTTEN_MS: u64 = 7 * 24 * 3_600_000;

/// An open time's end that moved by less has not moved: clocks are read one after the other.
const SAME_MS: u64 = 100;

pub(super) struct Keeper {
    sources: Vec<(Source, Vec<Line>)>,
    /// What the file says of breakers that do not exist yet, or no longer.
    others: HashMap<String, Line>,
    /// What was written last.
    written: HashMap<String, Mark>,
    is_stale: bool,
}

/// What makes a line differ from the last one of its breaker.
#[derive(Clone, Copy)]
struct Mark {
    phase: Phase,
    in_shadow: bool,
    streak: u8,
    ends_ms: Option<u64>,
}

impl Mark {
    fn of(snapshot: &Snapshot, now_ms: u64) -> Self {
        let ends = |left_ms: u32| now_ms + u64::from(left_ms);
        let is_pending = snapshot.phase == Phase::Open && !snapshot.ready_to_probe();
        Self {
            phase: snapshot.phase,
            in_shadow: snapshot.in_shadow,
            streak: snapshot.streak,
            ends_ms: snapshot.time_left_ms.filter(|_| is_pending).map(ends),
        }
    }

    fn is_same(self, other: Self) -> bool {
        let ends = match (self.ends_ms, other.ends_ms) {
            (Some(one), Some(other)) => one.abs_diff(other) < SAME_MS,
            (one, other) => one == other,
        };
        ends && (self.phase, self.in_shadow, self.streak) == (other.phase, other.in_shadow, other.streak)
    }
}

impl Keeper {
    pub(super) fn new(lines: Vec<Line>) -> Self {
        let others = lines.into_iter().map(|line| (line.name.clone(), line)).collect();
        Self { sources: Vec::new(), others, written: HashMap::new(), is_stale: false }
    }

    pub(super) fn add(&mut self, source: Source) {
        self.sources.push((source, Vec::new()));
    }

    /// What the file says of a breaker that is about to be.
    pub(super) fn line(&self, name: &str) -> Option<Line> {
        self.others.get(name).cloned()
    }

    /// What the file says meanwhile of breakers that are not here.
    pub(super) fn learn(&mut self, lines: Vec<Line>) {
        self.others.extend(lines.into_iter().map(|line| (line.name.clone(), line)));
        self.is_stale = true;
    }

    /// The next [`changed`](Self::changed) tells all, since what it told last was not written.
    pub(super) fn again(&mut self) {
        self.is_stale = true;
    }

    /// The file's lines, if they are not what they were.
    pub(super) fn changed(&mut self, now_ms: u64) -> Option<Vec<Line>> {
        let mut marks = HashMap::new();
        let others = &mut self.others;
        let mut is_changed = mem::take(&mut self.is_stale);
        self.sources.retain_mut(|(source, last)| {
            let mut lines = Vec::new();
            let shown = source(&mut |breaker| {
                let name = breaker.name();
                is_changed |= !name.is_empty() && others.remove(name).is_some();
                let (snapshot, saved) = breaker.kept();
                if !name.is_empty() && !is_plainly_closed(&snapshot) {
                    marks.insert(name.to_owned(), Mark::of(&snapshot, now_ms));
                    lines.push(Line { name: name.to_owned(), saved, at_ms: now_ms });
                }
            });
            if shown.is_none() {
                // They ended with the process, most likely: it is about to end, too.
                let ended = mem::take(last).into_iter().map(|line| (line.name.clone(), line));
                others.extend(ended);
                return false;
            }
            *last = lines;
            true
        });
        let before = others.len();
        others.retain(|_, line| now_ms.saturating_sub(line.at_ms) < FORGOTTEN_MS);
        is_changed |= others.len() != before || !is_same(&self.written, &marks);
        self.written = marks;
        is_changed.then(|| {
            let kept = self.sources.iter().flat_map(|(_, lines)| lines);
            kept.chain(self.others.values()).cloned().collect()
        })
    }
}

fn is_plainly_closed(snapshot: &Snapshot) -> bool {
    snapshot.phase == Phase::Closed && snapshot.streak == 0 && !snapshot.in_shadow
}

fn is_same(one: &HashMap<String, Mark>, other: &HashMap<String, Mark>) -> bool {
    let same = |(name, mark): (&String, &Mark)| other.get(name).is_some_and(|mark2| mark.is_same(*mark2));
    one.len() == other.len() && one.iter().all(same)
}
