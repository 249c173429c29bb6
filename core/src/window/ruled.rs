//! Windows of the usual kind: a rule, beside the words in which it keeps what it knows.

use core::iter;

use crate::state::State;
use crate::sync::Word;
use crate::window::call::Call;
use crate::window::judge::{Judge, Plain, Verdict};
use crate::window::tagged::sweep;
use crate::window::{Evidence, Measured};
use crate::{Clock, Outcome};

/// Judges calls that are good or bad, by what it keeps in a room.
pub(crate) trait Rule {
    /// Takes in one call.
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict;

    /// What it has counted. Writes nothing.
    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured;
}

/// The words of one rule, and `rows` in which threads count good calls apart from each other.
pub(crate) struct Room<'a, R> {
    pub(super) first: &'a Word,
    pub(super) rest: &'a [Word],
    pub(super) rows: R,
}

/// Rows of words beside a room; `()` has none.
pub(crate) trait Rows {
    /// The row of the present thread, if it has one.
    #[inline]
    fn own(&self) -> Option<&[Word]> {
        None
    }

    /// All rows.
    #[inline]
    fn all(&self) -> impl Iterator<Item = &[Word]> + Clone {
        iter::empty()
    }
}

impl Rows for () {}

impl<'a, R: Rows> Room<'a, R> {
    /// `None` where there is no word.
    #[inline]
    pub(super) fn of(words: &'a [Word], rows: R) -> Option<Self> {
        words.split_first().map(|(first, rest)| Self { first, rest, rows })
    }

    pub(super) fn sweep<C>(&self, call: &Call<'_, C>) {
        let words = iter::once(self.first).chain(self.rest).chain(self.rows.all().flatten());
        words.for_each(|word| sweep(word, call));
    }
}

/// What has room for one rule.
pub(crate) trait Memory {
    /// `None` where there is no word, which no window's constructor allows.
    fn room(&self) -> Option<Room<'_, impl Rows>>;
}

/// That of most windows.
impl<const N: usize> Memory for [Word; N] {
    #[inline]
    fn room(&self) -> Option<Room<'_, impl Rows>> {
        Room::of(self, ())
    }
}

/// A rule with its memory. [`Failures`](super::Failures), [`Consecutive`](super::Consecutive),
/// [`Calls`](super::Calls), [`Time`](super::Time), [`StripedTime`](super::StripedTime), [`Cusum`](super::Cusum)
/// and [`AnyWindow`](super::AnyWindow) are such windows, and have the constructors.
#[derive(Debug)]
pub struct Ruled<R, M> {
    pub(super) rule: R,
    pub(super) memory: M,
}

impl<R: Rule, M: Memory> Plain for Ruled<R, M> {}

/// An outcome is bad to a rule unless it is a success.
impl<R: Rule, M: Memory> Judge for Ruled<R, M> {
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        let Some(room) = self.memory.room() else { return Verdict::Holds };
        self.rule.count(room, outcome != Outcome::Success, call)
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State> {
        let failed = self.memory.room().map(|room| self.rule.measure(room, call));
        Ok(Evidence { failed, slow: None })
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.memory.room().inspect(|room| room.sweep(call));
    }
}
