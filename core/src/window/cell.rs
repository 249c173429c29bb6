//! Room for all settings of a breaker, as plain atomic numbers.
//!
//! | numbers | of |
//! | ------- | -- |
//! | 1 | the kind of the window, above it that of the window for slow calls, and above that whether there are limits |
//! | 2 | the limits for those who measure calls: slow after, hung after; 0 is never |
//! | 4 + 4 | the two windows' rules |
//! | 7 | the configuration |

use crate::settings::{attempt, or};
use crate::sync::{Ordering, Raw, Word, const_unless_loom};
use crate::window::any::AnyRule;
use crate::{Config, ConfigError, Settings};

const LIMITS: usize = 1;
const FAILED: usize = LIMITS + 2;
const SLOW: usize = FAILED + AnyRule::NUMBERS;
const CONFIG: usize = SLOW + AnyRule::NUMBERS;
const NUMBERS: usize = CONFIG + Config::NUMBERS;

/// Stands above the kinds where there are limits for those who measure calls.
pub(super) const MEASURES: u32 = 1 << 16;

/// The kind of a window that is not there.
const MISSING: u32 = 0;

/// Settings that are within their limits, as a cell holds them.
pub(crate) struct Checked {
    pub(crate) config: Config,
    numbers: [u32; NUMBERS],
}

impl Checked {
    /// `settings`, if each is within its limits and the windows fit into so many words.
    pub(super) const fn new(
        settings: &Settings,
        words: usize,
        slow_words: usize,
    ) -> Result<Self, ConfigError> {
        let failed = attempt!(AnyRule::new(settings.window, words));
        let slow = match settings.slow_window {
            None => AnyRule { kind: MISSING, numbers: [0; AnyRule::NUMBERS] },
            Some(_) if slow_words == 0 => return Err(ConfigError::new("slow_window", 1, 0, 0)),
            Some(window) => attempt!(AnyRule::new(window, slow_words)),
        };
        let config = attempt!(settings.opening.build());
        let (slow_after, hung_after) = (or(settings.slow_after_ms, 0), or(settings.hung_after_ms, 0));
        let measures = if slow_after | hung_after != 0 { MEASURES } else { 0 };
        let kinds = failed.kind | slow.kind << u8::BITS | measures;
        let ([a, b, c, d], [e, f, g, h]) = (failed.numbers, slow.numbers);
        let [i, j, k, l, m, n, o] = config.numbers();
        let numbers = [kinds, slow_after, hung_after, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o];
        Ok(Self { config, numbers })
    }
}

/// Room for all settings.
#[derive(Debug)]
pub(crate) struct Cell([Word; NUMBERS]);

impl Cell {
    const_unless_loom! {
        pub(super) const fn new(checked: &Checked) -> Self {
            let mut numbers = Word::zeroes();
            let mut i = 0;
            while i < NUMBERS {
                numbers[i] = Word::new(checked.numbers[i] as Raw);
                i += 1;
            }
            Self(numbers)
        }
    }

    /// `N` numbers from `first` on.
    #[inline]
    fn load<const N: usize>(&self, first: usize) -> [u32; N] {
        // Relaxed, as in `store`: ordered by the fences of `window::adjustable`.
        core::array::from_fn(|i| self.0.get(first + i).map_or(0, |word| word.load(Ordering::Relaxed) as u32))
    }

    /// The kind of the window, above it that of the window for slow calls, and [`MEASURES`].
    #[inline]
    pub(super) fn kinds(&self) -> u32 {
        self.0[0].load(Ordering::Relaxed) as u32
    }

    /// The limits for those who measure calls, in milliseconds: slow after, hung after; 0 is never.
    #[inline]
    pub(crate) fn limits(&self) -> [u32; 2] {
        self.load(LIMITS)
    }

    /// The rule of the window, and that of the window for slow calls.
    pub(super) fn rules(&self) -> [Option<AnyRule>; 2] {
        let [failed, slow, ..] = self.kinds().to_le_bytes().map(u32::from);
        let rule = |kind, first| (kind != MISSING).then(|| AnyRule { kind, numbers: self.load(first) });
        [rule(failed, FAILED), rule(slow, SLOW)]
    }

    #[inline]
    pub(super) fn config(&self) -> Config {
        Config::from_numbers(self.load(CONFIG))
    }

    pub(super) fn holds(&self, checked: &Checked) -> bool {
        self.load(0) == checked.numbers
    }

    pub(super) fn store(&self, checked: &Checked) {
        for (number, value) in self.0.iter().zip(checked.numbers) {
            number.store(value.into(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Rate, WindowSettings};

    #[test]
    fn all_settings_come_back() {
        let rate = Rate::percent(40).min_calls(9);
        let settings = Settings {
            window: WindowSettings::Calls { size: 77, rate },
            slow_window: Some(WindowSettings::Consecutive { threshold: 3 }),
            opening: Config::builder().open_for_ms(123).ramp_ms(45).latch(true),
            slow_after_ms: Some(6),
            hung_after_ms: Some(7),
        };
        let checked = Checked::new(&settings, 10, 1).unwrap();
        let cell = Cell::new(&Checked::new(&Settings::DEFAULT, 10, 1).unwrap());
        assert!(!cell.holds(&checked));
        cell.store(&checked);
        assert!(cell.holds(&checked));
        assert_eq!(cell.config(), checked.config);
        assert_eq!(cell.limits(), [6, 7]);
        let expected = [
            AnyRule::new(settings.window, 10).ok(),
            settings.slow_window.and_then(|window| AnyRule::new(window, 1).ok()),
        ];
        assert_eq!(cell.rules(), expected);
    }
}
