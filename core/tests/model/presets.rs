//! Settings that are known when the program is compiled, for `Fixed`.

use nanobreaker_core::window::{Fixed, Preset};
use nanobreaker_core::{Config, CusumSettings, Rate, Settings, WindowSettings};

use super::play::{Script, play_preset};

/// Settings, and how a script is played on a breaker that has them in its type.
pub type Fix = (Settings, fn(&Script) -> Result<(), String>);

macro_rules! presets {
    ($($name:ident: $words:literal, $window:expr, $opening:expr;)*) => {
        $(
            struct $name;
            impl Preset for $name {
                const SETTINGS: Settings =
                    Settings { window: $window, opening: $opening, ..Settings::DEFAULT };
            }
        )*
        /// All of them.
        pub const PRESETS: &[Fix] = &[$((
            $name::SETTINGS,
            |script| play_preset(script, Fixed::<$name, $words>::new()),
        )),*];
    };
}

presets! {
    Ring: 3, WindowSettings::Failures { threshold: 3, within_ms: 1_000 }, Config::builder();
    OneFailure: 1, WindowSettings::Failures { threshold: 1, within_ms: 5 }, Config::builder().open_for_ms(7);
    LargerThanAsked: 4, WindowSettings::Failures { threshold: 2, within_ms: 60_000 },
        Config::builder().open_for_ms(100).max_open_ms(1_000).jitter_permille(200);
    InARow: 1, WindowSettings::Consecutive { threshold: 3 }, Config::builder().open_for_ms(500).latch(true);
    Probes: 1, WindowSettings::Consecutive { threshold: 1 },
        Config::builder().open_for_ms(300).max_probes(3).probe_successes(4).probe_failures(2).ramp_ms(900);
    FewCalls: 1, WindowSettings::Calls { size: 8, rate: Rate::percent(50).min_calls(4) },
        Config::builder().open_for_ms(250).max_open_ms(4_000);
    Sum: 1, WindowSettings::Cusum(CusumSettings {
            normal_ppm: 20_000,
            broken_ppm: 500_000,
            calls_per_false_trip: 1_000_000,
            sustained_for_ms: 0,
        }),
        Config::builder().open_for_ms(500).max_open_ms(5_000).probe_successes(3);
}
