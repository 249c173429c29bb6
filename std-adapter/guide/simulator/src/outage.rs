//! How bad it is, at any moment of the scene.

use alloc::format;
use alloc::string::String;

use crate::refusal::Refusal;
use crate::scene::Scene;

/// What kind of outage there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    /// The dependency stays well.
    None,
    /// Every call is answered with an error.
    Dead,
    /// No call is answered: each fails when its caller's time is up.
    Hanging,
    /// A share of the calls fails.
    Half,
    /// All calls fail, then none, by turns.
    Flapping,
    /// All calls fail, then fewer and fewer; those that succeed take up to ten times as long.
    Recovering,
    /// As it was drawn.
    Drawn,
}

impl OutageKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Dead, Self::Hanging, Self::Half, Self::Flapping, Self::Recovering, Self::Drawn];

    /// The kind's name in a link.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dead => "dead",
            Self::Hanging => "hanging",
            Self::Half => "half",
            Self::Flapping => "flapping",
            Self::Recovering => "recovering",
            Self::Drawn => "drawn",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Refusal::unknown("outage", name, &Self::ALL.map(Self::name)))
    }
}

/// How a call ends that fails in an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// With an error, as fast as an answer comes on a good day.
    Error,
    /// Never: its caller gives up after the timeout.
    Hang,
}

impl Fails {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Error, Self::Hang];

    /// The name in a link.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Hang => "hang",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|fails| fails.name() == name);
        found.ok_or_else(|| Refusal::unknown("fails", name, &Self::ALL.map(Self::name)))
    }
}

/// Equal parts of the scene, in each of which a drawn outage stays the same.
pub const DRAWN_PARTS: usize = 120;

/// One step of a drawn outage, in thousandths: there are 20, and no failures.
const STEP: u32 = 50;
const STEPS: u32 = 1_000 / STEP;

/// A drawn outage: the share of calls that fails in each part of the scene, in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn([u32; DRAWN_PARTS]);

impl Default for Drawn {
    fn default() -> Self {
        Self([0; DRAWN_PARTS])
    }
}

impl Drawn {
    /// A letter for each part: `a` is no failures, `u` nothing else.
    pub(crate) fn from_text(text: &str) -> Result<Self, Refusal> {
        let mut drawn = Self::default();
        let wrong = || format!("must be {DRAWN_PARTS} letters from a to u");
        if text.len() != DRAWN_PARTS {
            return Err(Refusal::new("drawn", wrong()));
        }
        for (place, letter) in drawn.0.iter_mut().zip(text.bytes()) {
            match u32::from(letter).checked_sub(u32::from(b'a')) {
                Some(steps @ 0..=STEPS) => *place = steps * STEP,
                _ => return Err(Refusal::new("drawn", wrong())),
            }
        }
        Ok(drawn)
    }

    pub(crate) fn text(&self) -> String {
        let letters = self.0.iter().map(|permille| (b'a' + (permille / STEP) as u8) as char);
        letters.collect()
    }

    /// What the scene's outage is, part by part, for drawing on.
    fn of(scene: &Scene) -> Self {
        let outage = Outage::of(scene);
        let mut drawn = Self::default();
        for (part, place) in drawn.0.iter_mut().enumerate() {
            let middle_us = (2 * part as u64 + 1) * scene.numbers.length_us() / (2 * DRAWN_PARTS as u64);
            *place = rounded(outage.severity(middle_us));
        }
        drawn
    }
}

const fn rounded(permille: u32) -> u32 {
    (permille + STEP / 2) / STEP * STEP
}

impl Scene {
    /// Draws over the outage: from one place to another, both in thousandths of the scene's length, the share
    /// of failing calls goes evenly from the first number of thousandths to the second.
    pub(crate) fn draw(&mut self, from: [u32; 2], to: [u32; 2]) {
        if self.outage != OutageKind::Drawn {
            self.drawn = Drawn::of(self);
            self.outage = OutageKind::Drawn;
        }
        let [[x0, y0], [x1, y1]] = if from <= to { [from, to] } else { [to, from] };
        let part_at = |x: u32| (x.min(999) as usize * DRAWN_PARTS) / 1_000;
        let (first, last) = (part_at(x0), part_at(x1));
        let parts = (last - first).max(1) as i64;
        for (place, step) in self.drawn.0.iter_mut().take(last + 1).skip(first).zip(0..) {
            let (low, high) = (i64::from(y0.min(1_000)), i64::from(y1.min(1_000)));
            let permille = if last == first { high } else { low + (high - low) * step / parts };
            *place = rounded(permille as u32);
        }
    }
}

/// The outage of one scene.
#[derive(Clone, Debug)]
pub struct Outage {
    kind: OutageKind,
    hangs: bool,
    from_us: u64,
    to_us: u64,
    share: u32,
    period_us: u64,
    length_us: u64,
    drawn: Drawn,
}

impl Outage {
    /// The outage of `scene`.
    pub fn of(scene: &Scene) -> Self {
        let numbers = &scene.numbers;
        let from_us = u64::from(numbers.outage_from_s) * 1_000_000;
        let hangs = match scene.outage {
            OutageKind::Dead => false,
            OutageKind::Hanging => true,
            _ => scene.fails == Fails::Hang,
        };
        Self {
            kind: scene.outage,
            hangs,
            from_us,
            to_us: from_us + u64::from(numbers.outage_for_s) * 1_000_000,
            share: numbers.share_percent * 10,
            period_us: u64::from(numbers.period_ms) * 1_000,
            length_us: numbers.length_us(),
            drawn: scene.drawn.clone(),
        }
    }

    /// The share of the calls begun at this moment that fails because of the outage, in thousandths.
    pub fn severity(&self, at_us: u64) -> u32 {
        if self.kind == OutageKind::Drawn {
            let part = (at_us * DRAWN_PARTS as u64 / self.length_us) as usize;
            return self.drawn.0.get(part).copied().unwrap_or(0);
        }
        if !(self.from_us..self.to_us).contains(&at_us) {
            return 0;
        }
        let since_us = at_us - self.from_us;
        match self.kind {
            OutageKind::None | OutageKind::Drawn => 0,
            OutageKind::Dead | OutageKind::Hanging => 1_000,
            OutageKind::Half => self.share,
            OutageKind::Flapping if since_us % self.period_us < self.period_us / 2 => 1_000,
            OutageKind::Flapping => 0,
            OutageKind::Recovering => {
                let length_us = self.to_us - self.from_us;
                let falls_for_us = length_us - length_us / 3;
                let left_us = (self.to_us - at_us).min(falls_for_us);
                (left_us * 1_000 / falls_for_us) as u32
            }
        }
    }

    /// How much longer answers take at this moment, in thousandths.
    pub(crate) fn slowness(&self, at_us: u64) -> u32 {
        match self.kind {
            OutageKind::Recovering => 1_000 + 9 * self.severity(at_us),
            _ => 1_000,
        }
    }

    /// Whether a call that fails because of it hangs.
    pub(crate) const fn hangs(&self) -> bool {
        self.hangs
    }

    /// Its begin and its end, within the scene.
    pub fn span_us(&self) -> Option<(u64, u64)> {
        let (from_us, to_us) = match self.kind {
            OutageKind::None => return None,
            OutageKind::Drawn => {
                let is_bad = |permille: &u32| *permille > 0;
                let first = self.drawn.0.iter().position(is_bad)? as u64;
                let last = self.drawn.0.iter().rposition(is_bad)? as u64;
                let begin_us = |part: u64| (part * self.length_us).div_ceil(DRAWN_PARTS as u64);
                (begin_us(first), begin_us(last + 1))
            }
            _ => (self.from_us, self.to_us.min(self.length_us)),
        };
        (from_us < to_us).then_some((from_us, to_us))
    }
}
