//! Where the time windows of an [`Adjustable`](super::Adjustable) count the good calls of many cores.
//!
//! A success that is counted in a word which all cores share waits for that word's line. With lanes each
//! core, or thread, counts in lines of its own, and whoever judges sums over all, as in
//! [`StripedTime`](super::StripedTime). Lanes take memory, and only time windows use them; so whoever
//! builds the breaker provides them, and may do so when they are first needed.

use crate::sync::{Word, const_unless_loom};
use crate::window::ruled::Rows;

/// The most buckets that are counted in lanes. A window with more counts in the breaker's own words.
const BUCKETS: usize = 32;

/// Provides lanes; `()` provides none.
///
/// Lanes that were there once must stay for as long as the breaker.
pub trait Lanes {
    /// The lane of the present thread, core or interrupt, one of [`all`](Self::all). Two threads that get
    /// the same one share its lines, which costs time but loses nothing. `None` where there are no lanes.
    #[inline]
    fn own(&self) -> Option<&Lane> {
        None
    }

    /// All lanes.
    #[inline]
    fn all(&self) -> &[Lane] {
        &[]
    }
}

impl Lanes for () {}

/// The good calls of one thread or core, in cache lines of its own: for the window and for the one that
/// judges slow calls.
#[derive(Debug, Default)]
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

/// A part of each lane.
pub(crate) struct Part<'a, L> {
    pub(super) lanes: &'a L,
    pub(super) part: fn(&Lane) -> &[Word],
}

impl<L: Lanes> Rows for Part<'_, L> {
    #[inline]
    fn own(&self) -> Option<&[Word]> {
        self.lanes.own().map(self.part)
    }

    #[inline]
    fn all(&self) -> impl Iterator<Item = &[Word]> + Clone {
        self.lanes.all().iter().map(self.part)
    }
}
