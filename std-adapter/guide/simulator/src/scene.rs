//! The scene: everything that a link keeps.
//!
//! A link's fragment is a form, `v=1&rate=500&…&a=TOML&b=TOML`. What it does not name has its default; a name
//! that there is not, a name twice, and a number outside its range are refused.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use form_urlencoded::Serializer;

use crate::outage::{Drawn, Fails, OutageKind};
use crate::presets::PRESETS;
use crate::refusal::Refusal;
use crate::setup::Setup;

/// What a number of the scene may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The number's name, in a link and on the page.
    pub name: &'static str,
    /// The least that it may be.
    pub least: u32,
    /// The most that it may be.
    pub most: u32,
}

macro_rules! numbers {
    ($($name:ident = $default:literal, $least:literal..=$most:expr, $meaning:literal;)*) => {
        /// The numbers of a scene.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Numbers {
            $(#[doc = $meaning] pub $name: u32,)*
        }

        impl Numbers {
            /// What holds where a link says nothing.
            pub const DEFAULT: Self = Self { $($name: $default,)* };

            /// What each may be.
            pub const RANGES: &'static [Range] =
                &[$(Range { name: stringify!($name), least: $least, most: $most },)*];

            fn place(&mut self, name: &str) -> Option<&mut u32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }

            /// Each number with its range.
            pub fn each(&self) -> impl Iterator<Item = (&'static Range, u32)> {
                Self::RANGES.iter().zip([$(self.$name),*])
            }
        }
    };
}

numbers! {
    seed = 1, 0..=u32::MAX, "Another seed makes other calls of the same kind.";
    length_s = 120, 5..=900, "How long calls are made, in seconds.";
    rate = 500, 1..=100_000, "Calls a second, on average; they come at random (Poisson).";
    latency_ms = 15, 1..=10_000, "How long an answer takes on average, in milliseconds: half of it always, the rest at random.";
    timeout_ms = 1_000, 1..=120_000, "A call that takes longer has failed, after so many milliseconds.";
    background_ppm = 1_000, 0..=1_000_000, "Calls that fail while the dependency is well, in parts per million.";
    burst_every_s = 0, 0..=3_600, "Seconds between two bursts of failures on average; 0 is never.";
    burst_size = 20, 1..=10_000, "Calls that fail one after another in a burst.";
    outage_from_s = 20, 0..=900, "When the outage begins, in seconds.";
    outage_for_s = 60, 1..=900, "How long it lasts, in seconds.";
    share_percent = 50, 1..=100, "Of a half dead dependency: calls that fail, in per cent.";
    period_ms = 10_000, 20..=600_000, "Of a flapping dependency: milliseconds from one failing stretch to the next.";
}

/// The most calls that may be under way at once without a breaker: each takes memory while it is.
const MOST_UNDER_WAY: u64 = 2_000_000;

impl Numbers {
    /// Sets one of them; `false` where there is none of that name.
    pub(crate) fn set(&mut self, name: &str, value: u32) -> Result<bool, Refusal> {
        let mut changed = *self;
        let Some(place) = changed.place(name) else {
            return Ok(false);
        };
        *place = value;
        changed.check()?;
        *self = changed;
        Ok(true)
    }

    fn check(&self) -> Result<(), Refusal> {
        for (range, value) in self.each() {
            if !(range.least..=range.most).contains(&value) {
                let Range { name, least, most } = range;
                return Err(Refusal::new(*name, format!("{value}, but must be from {least} to {most}")));
            }
        }
        let most_ms = MOST_UNDER_WAY * 1_000 / u64::from(self.rate);
        if u64::from(self.timeout_ms) > most_ms {
            let rate = self.rate;
            let timeout_ms = self.timeout_ms;
            let why = format!("{timeout_ms}, but at {rate} calls a second must be at most {most_ms}");
            return Err(Refusal::new("timeout_ms", why));
        }
        Ok(())
    }

    pub(crate) const fn length_us(&self) -> u64 {
        self.length_s as u64 * 1_000_000
    }
}

/// Everything that a link keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The numbers.
    pub numbers: Numbers,
    /// What kind of outage there is.
    pub outage: OutageKind,
    /// How failing calls end, where the kind does not say.
    pub fails: Fails,
    /// What was drawn.
    pub drawn: Drawn,
    /// The settings of both breakers.
    pub setups: [Setup; 2],
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            numbers: Numbers::DEFAULT,
            outage: OutageKind::Dead,
            fails: Fails::Error,
            drawn: Drawn::default(),
            setups: [Setup::default(), Setup::default()],
        }
    }
}

const VERSION: &str = "1";
const LANES: [&str; 2] = ["a", "b"];

impl Scene {
    /// The scene of a link's fragment, with or without its `#`. `preset=NAME` stands for all that the preset
    /// says, and whatever else the link names goes before it.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] for the first thing that can't be.
    pub fn from_link(link: &str) -> Result<Self, Refusal> {
        let link = link.strip_prefix('#').unwrap_or(link);
        let parts: Vec<_> = form_urlencoded::parse(link.as_bytes()).collect();
        let preset = parts.iter().find(|(name, _)| name == "preset");
        let mut scene = match preset {
            Some((_, name)) => Self::preset(name)?,
            None => Self::default(),
        };
        let mut numbers = scene.numbers;
        for (index, (name, value)) in parts.iter().enumerate() {
            if parts.iter().take(index).any(|(earlier, _)| earlier == name) {
                return Err(Refusal::new(name.as_ref(), "is there twice"));
            }
            scene.take(&mut numbers, name, value)?;
        }
        // Together: the order in which a link names numbers that limit each other says nothing.
        numbers.check()?;
        scene.numbers = numbers;
        Ok(scene)
    }

    fn take(&mut self, numbers: &mut Numbers, name: &str, value: &str) -> Result<(), Refusal> {
        match name {
            "v" if value == VERSION => {}
            "v" => return Err(Refusal::new("v", format!("{value}, but this simulator reads {VERSION}"))),
            "preset" => {}
            "outage" => self.outage = OutageKind::from_name(value)?,
            "fails" => self.fails = Fails::from_name(value)?,
            "drawn" => self.drawn = Drawn::from_text(value)?,
            "a" | "b" => {
                let [a, b] = &mut self.setups;
                let place = if name == "a" { a } else { b };
                *place = Setup::from_toml(value).map_err(|why| Refusal::new(name, why))?;
            }
            _ => {
                let Some(place) = numbers.place(name) else {
                    return Err(Refusal::new(name, "is nothing that a scene has"));
                };
                let number = value.parse();
                *place = number.map_err(|_| Refusal::new(name, format!("{value:?} is no whole number")))?;
            }
        }
        Ok(())
    }

    /// The preset of that name.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where there is none.
    pub fn preset(name: &str) -> Result<Self, Refusal> {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let found = PRESETS.iter().find(|preset| preset.name == name);
        let preset = found.ok_or_else(|| Refusal::unknown("preset", name, &names))?;
        let mut form = Serializer::new(preset.numbers.to_string());
        for (lane, toml) in LANES.iter().zip([preset.a, preset.b]) {
            form.append_pair(lane, toml);
        }
        Self::from_link(&form.finish())
    }

    /// The fragment that keeps this scene, without `#`.
    pub fn link(&self) -> String {
        let mut form = Serializer::new(String::new());
        form.append_pair("v", VERSION);
        for (range, value) in self.numbers.each() {
            form.append_pair(range.name, &value.to_string());
        }
        form.append_pair("outage", self.outage.name());
        form.append_pair("fails", self.fails.name());
        // Also where another kind was chosen afterwards: what was drawn can be chosen again.
        if self.drawn != Drawn::default() {
            form.append_pair("drawn", &self.drawn.text());
        }
        for (lane, setup) in LANES.iter().zip(&self.setups) {
            form.append_pair(lane, setup.text());
        }
        form.finish()
    }
}
