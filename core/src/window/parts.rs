//! A rule as plain numbers, so that it can stand in atomic settings and be replaced.

use crate::sync::{Setting, const_unless_loom};
use crate::window::call::Layout;

/// The kinds of rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Failures = 0,
    Consecutive = 1,
    Calls = 2,
    Time = 3,
    /// Nothing is judged.
    Missing = 4,
    /// The words are being rewritten for another rule.
    Changing = 5,
}

/// The numbers of any rule; each kind reads its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Slots, threshold, size or buckets.
    pub(super) count: u16,
    pub(super) percent: u8,
    pub(super) ms: u32,
    pub(super) min_calls: u32,
}

impl Parts {
    pub(super) const NONE: Self = Self {
        count: 0,
        percent: 0,
        ms: 0,
        min_calls: 0,
    };
}

/// Bits of the head: the kind, the number of the layout, above it the percentage, above it the count.
const LAYOUT: u32 = 3;
const PERCENT: u32 = 8;
const COUNT: u32 = 16;

/// A rule that can be replaced while others read it.
///
/// Three settings: a reader in the middle of a replacement may see some old and others new. Each is
/// one that was configured, so that what it judges by is a valid rule, if one that nobody wrote.
#[derive(Debug)]
pub(super) struct RuleCell {
    head: Setting,
    ms: Setting,
    min_calls: Setting,
}

/// How words are laid out: known from when a rule was read, so that its reader can ask whether that
/// still stands. Kind and number tell; the number comes round again after 32 other layouts.
#[derive(Clone, Copy)]
pub(crate) struct Changeable<'a> {
    head: &'a Setting,
    seen: u8,
}

impl Layout for Changeable<'_> {
    const CHANGES: bool = true;

    fn stands(self) -> bool {
        self.head.load() as u8 == self.seen
    }
}

/// What one load of a rule tells: its kind, and the numbers that fit beside it.
#[derive(Clone, Copy)]
pub(super) struct Head(u32);

impl Head {
    const fn new(kind: Kind, parts: Parts) -> Self {
        Self(kind as u32 | (parts.percent as u32) << PERCENT | (parts.count as u32) << COUNT)
    }

    #[inline]
    pub(super) const fn kind(self) -> Kind {
        match self.0 & ((1 << LAYOUT) - 1) {
            0 => Kind::Failures,
            1 => Kind::Consecutive,
            2 => Kind::Calls,
            3 => Kind::Time,
            4 => Kind::Missing,
            _ => Kind::Changing,
        }
    }

    /// The numbers that the head holds itself; the others are 0.
    #[inline]
    pub(super) const fn parts(self) -> Parts {
        Parts {
            count: (self.0 >> COUNT) as u16,
            percent: (self.0 >> PERCENT) as u8,
            ..Parts::NONE
        }
    }
}

impl RuleCell {
    const_unless_loom! {
        pub(super) const fn new(kind: Kind, parts: Parts) -> Self {
            Self {
                head: Setting::new(Head::new(kind, parts).0),
                ms: Setting::new(parts.ms),
                min_calls: Setting::new(parts.min_calls),
            }
        }
    }

    /// One load.
    #[inline]
    pub(super) fn head(&self) -> Head {
        Head(self.head.load())
    }

    /// The layout that `head` was read with.
    #[inline]
    pub(super) fn layout(&self, head: Head) -> Changeable<'_> {
        Changeable {
            head: &self.head,
            seen: head.0 as u8,
        }
    }

    /// All numbers: two loads more.
    #[inline]
    pub(super) fn parts(&self, head: Head) -> Parts {
        Parts {
            ms: self.ms.load(),
            min_calls: self.min_calls.load(),
            ..head.parts()
        }
    }

    pub(super) fn store(&self, kind: Kind, parts: Parts) {
        self.ms.store(parts.ms);
        self.min_calls.store(parts.min_calls);
        // Last: who sees the new kind sees its numbers.
        self.head
            .store(Head::new(kind, parts).0 | self.layout_number());
    }

    /// Until the next `store` nothing is judged, and from here on the layout is another one.
    pub(super) fn suspend(&self) {
        let next = self.layout_number() + (1 << LAYOUT);
        let changing = Head::new(Kind::Changing, Parts::NONE).0;
        self.head.store(changing | u32::from(next as u8));
    }

    /// In its place within the head.
    fn layout_number(&self) -> u32 {
        u32::from(self.head.load() as u8) >> LAYOUT << LAYOUT
    }
}
