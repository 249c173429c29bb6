//! Where the time windows of an [`Adjustable`](super::Adjustable) count the good calls of many cores.
//!
//! A success that is counted in a word which all cores share waits for that word's line. With lanes each
//! core, or thread, counts in lines of its own, and whoever judges sums over all, as in
//! [`StripedTime`](super::StripedTime). Lanes take memory, and only time windows use them; so whoever
//! builds the breaker provides them, and may do so when they are first needed.

use crate::sync::{Word, const_unless_loom};
use crate::window::call::Call;
use crate::window::tagged::sweep;

/// The most buckets that are counted in lanes. A window with more counts in the breaker's own words.
const BUCKETS: usize = 32;

/// Provides lanes; `()` provides none.
///
/// Lanes that were there once must stay for as long as the breaker.
pub trait Lanes {
    /// The lane of the present thread, core or interrupt, one of [`all`](Self::all). Two threads that get
    /// the same one share its lines, which costs time but loses nothing. `None` where there are no lanes.
    fn own(&self) -> Option<&Lane>;

    /// All lanes.
    fn all(&self) -> &[Lane];
}

impl Lanes for () {
    #[inline]
    fn own(&self) -> Option<&Lane> {
        None
    }

    #[inline]
    fn all(&self) -> &[Lane] {
        &[]
    }
}

/// The good calls of one thread or core, in cache lines of its own: for the window and for the one that
/// judges slow calls.
#[derive(Debug)]
#[repr(align(128))]
pub struct Lane {
    pub(super) failed: [Word; BUCKETS],
    pub(super) slow: [Word; BUCKETS],
}

impl Lane {
    const_unless_loom! {
        /// A lane in which nothing was counted.
        pub const fn new() -> Self {
            Self { failed: Word::zeroes(), slow: Word::zeroes() }
        }
    }
}

impl Default for Lane {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a rule keeps what it knows: words of its own, and a part of each lane.
pub(crate) struct Room<'a, L> {
    pub(super) words: &'a [Word],
    pub(super) lanes: &'a L,
    pub(super) part: fn(&Lane) -> &[Word],
}

impl<'a> Room<'a, ()> {
    /// Without lanes.
    #[inline]
    pub(super) const fn of(words: &'a [Word]) -> Self {
        Self { words, lanes: &(), part: |_| &[] }
    }
}

impl<'a, L: Lanes> Room<'a, L> {
    /// The lane of the present thread; empty where there is none.
    #[inline]
    pub(super) fn own_lane(&self) -> &'a [Word] {
        self.lanes.own().map_or(&[], self.part)
    }

    /// All lanes.
    #[inline]
    pub(super) fn lanes(&self) -> impl Iterator<Item = &'a [Word]> + Clone {
        self.lanes.all().iter().map(self.part)
    }

    pub(super) fn sweep<C>(&self, call: &Call<'_, C>) {
        for words in self.lanes().chain([self.words]) {
            sweep(words, call);
        }
    }
}
