//! A window whose settings are known when the program is compiled.

use core::marker::PhantomData;

use crate::state::State;
use crate::sync::{Word, const_unless_loom};
use crate::window::Evidence;
use crate::window::any::AnyRule;
use crate::window::call::Call;
use crate::window::judge::{Inside, Judge, Verdict};
use crate::window::ruled::{Memory, Rule};
use crate::window::tagged::sweep;
use crate::{Clock, Config, Outcome, Settings, checked};

/// Settings that belong to a type, for [`Fixed`].
pub trait Preset {
    /// The settings. One that is outside its limits does not compile; nor does a window for slow calls.
    const SETTINGS: Settings;
}

/// A window with the settings of the type `P`: a breaker of it holds no settings at all, and the compiler
/// leaves out whatever they do not need. For firmware, where each field costs flash.
///
/// `WORDS` words hold the window, as in [`AnyWindow`](super::AnyWindow): as many as the threshold for
/// a failure ring, 1 for failures in a row, for a cumulative sum and for few calls. The breaker is given
/// `()` in the place of a configuration.
///
/// ```
/// use nanobreaker_core::window::{Fixed, Preset};
/// use nanobreaker_core::{Breaker, Config, ManualClock, Settings, WindowSettings};
///
/// struct Radio;
/// impl Preset for Radio {
///     const SETTINGS: Settings = Settings {
///         window: WindowSettings::Failures { threshold: 3, within_ms: 10_000 },
///         opening: Config::builder().open_for_ms(5_000),
///         ..Settings::DEFAULT
///     };
/// }
/// static RADIO: Breaker<Fixed<Radio, 3>, ManualClock> =
///     Breaker::new(Fixed::new(), (), ManualClock::new(0));
/// # assert!(RADIO.allow().is_ok());
/// ```
#[derive(Debug)]
pub struct Fixed<P, const WORDS: usize> {
    memory: [Word; WORDS],
    preset: PhantomData<fn() -> P>,
}

impl<P: Preset, const WORDS: usize> Fixed<P, WORDS> {
    const RULE: AnyRule = checked!(AnyRule::new(P::SETTINGS.window, WORDS));
    const CONFIG: Config = checked!(P::SETTINGS.opening.build());

    const_unless_loom! {
        /// An empty window.
        pub const fn new() -> Self {
            const {
                assert!(WORDS > 0, "a window takes at least one word");
                assert!(P::SETTINGS.slow_window.is_none(), "a preset has no window for slow calls");
                let _ = (Self::RULE, Self::CONFIG);
            }
            Self { memory: Word::zeroes(), preset: PhantomData }
        }
    }
}

impl<P: Preset, const WORDS: usize> Default for Fixed<P, WORDS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Preset, const WORDS: usize> Inside for Fixed<P, WORDS> {
    type Config = ();
    type Found<'a>
        = &'static Config
    where
        Self: 'a;

    const RAMPS: bool = Self::CONFIG.ramp_ms() > 0;

    #[inline]
    fn config(&self, (): &(), _: &Word, _: State) -> Result<&'static Config, State> {
        Ok(const { &Self::CONFIG })
    }
}

impl<P: Preset, const WORDS: usize> Judge for Fixed<P, WORDS> {
    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        let Some(room) = self.memory.room() else { return Verdict::Holds };
        Self::RULE.count(room, outcome != Outcome::Success, call)
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State> {
        let failed = self.memory.room().map(|room| Self::RULE.measure(room, call));
        Ok(Evidence { failed, slow: None })
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.memory.iter().for_each(|word| sweep(word, call));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Breaker, ManualClock, Phase, WindowSettings};

    struct Sensor;

    impl Preset for Sensor {
        const SETTINGS: Settings = Settings {
            window: WindowSettings::Failures { threshold: 2, within_ms: 1_000 },
            opening: Config::builder().open_for_ms(250).probe_successes(2),
            ..Settings::DEFAULT
        };
    }

    #[test]
    fn a_preset_is_judged_by_its_types_settings() {
        let breaker: Breaker<Fixed<Sensor, 2>, _> = Breaker::new(Fixed::new(), (), ManualClock::new(0));
        assert_eq!(breaker.config().open_for_ms(), 250);
        breaker.allow().unwrap().failure();
        breaker.clock().advance(1_001);
        breaker.allow().unwrap().failure();
        assert_eq!(breaker.phase(), Phase::Closed);
        breaker.allow().unwrap().failure();
        assert_eq!(breaker.phase(), Phase::Open);
        breaker.clock().advance(250);
        breaker.allow().unwrap().success();
        assert_eq!(breaker.phase(), Phase::HalfOpen);
        breaker.allow().unwrap().success();
        assert_eq!(breaker.phase(), Phase::Closed);
    }
}
