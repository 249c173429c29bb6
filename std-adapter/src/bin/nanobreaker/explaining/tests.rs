use proptest::prelude::*;

use super::*;

fn explained(toml: &str, calls_per_second: Option<f64>, timeout_s: Option<u64>) -> Explained {
    let settings: Settings = toml::from_str(toml).unwrap();
    let surroundings = Surroundings {
        calls_per_second,
        timeout: timeout_s.map(Duration::from_secs),
    };
    explain(&settings, &surroundings).unwrap()
}

fn settings_warned_of(toml: &str, rate: Option<f64>, timeout_s: Option<u64>) -> Vec<&'static str> {
    let traps = explained(toml, rate, timeout_s).traps;
    traps.iter().map(|trap| trap.setting).collect()
}

#[test]
fn the_defaults_are_explained_and_have_no_traps() {
    let explained = explained("", Some(10.0), Some(5));
    assert_eq!(
        explained.sentences,
        [
            "The breaker opens when 5 calls failed within 10s.",
            "It then rejects every call for 10s.",
            "After that 1 call at a time may try: 1 success closes the breaker, 1 failure opens it \
             again.",
            "Where none of those calls comes back for 10s, it opens again too.",
            "Once it closes, all calls pass at once.",
        ]
    );
    assert!(explained.traps.is_empty(), "{:?}", explained.traps);
}

#[test]
fn minimum_calls_above_the_traffic_are_a_trap() {
    let toml = "[window]\nkind = 'time'\nspan = '10s'\nmin_calls = 50";
    assert_eq!(
        settings_warned_of(toml, Some(4.0), None),
        ["window.min_calls"]
    );
    assert!(settings_warned_of(toml, Some(6.0), None).is_empty());
}

#[test]
fn a_threshold_above_the_traffic_is_a_trap() {
    assert_eq!(
        settings_warned_of("", Some(0.3), None),
        ["window.threshold"]
    );
}

#[test]
fn a_count_is_a_trap_where_traffic_is_heavy() {
    assert_eq!(
        settings_warned_of("ramp = '5s'", Some(1_000.0), None),
        ["window.kind"]
    );
}

#[test]
fn an_open_time_below_the_timeout_is_a_trap() {
    assert_eq!(
        settings_warned_of("open_for = '5s'\nprobe_lease = '1m'", None, Some(30)),
        ["open_for"]
    );
}

#[test]
fn a_lease_below_the_timeout_is_a_trap() {
    assert_eq!(
        settings_warned_of("open_for = '1m'\nprobe_lease = '5s'", None, Some(30)),
        ["probe_lease"]
    );
}

#[test]
fn what_never_happens_is_a_trap() {
    assert_eq!(
        settings_warned_of("slow_after = '8s'\nhung_after = '5s'", None, None),
        ["slow_after"]
    );
}

#[test]
fn a_hair_trigger_is_a_trap() {
    for toml in [
        "window.threshold = 1",
        "[window]\nkind = 'consecutive'\nthreshold = 1",
    ] {
        assert_eq!(settings_warned_of(toml, None, None), ["window.threshold"]);
    }
    let rate = "[window]\nkind = 'calls'\nmin_calls = 2";
    assert_eq!(settings_warned_of(rate, None, None), ["window.min_calls"]);
}

#[test]
fn a_latch_has_no_open_time_to_warn_of() {
    let explained = explained("latch = true\nopen_for = '1s'", None, Some(30));
    assert!(explained.traps.is_empty(), "{:?}", explained.traps);
    assert!(
        explained
            .sentences
            .last()
            .unwrap()
            .contains("until an operator resets")
    );
}

fn any_window() -> impl Strategy<Value = nanobreaker::WindowSettings> {
    use nanobreaker::WindowKind::{Calls, Consecutive, Failures, Time};
    let number = || prop::option::of(prop_oneof![0..70u32, any::<u32>()]);
    let span = || prop::option::of(prop_oneof![0..20_000u64, any::<u64>()]);
    let kind = prop::option::of(prop::sample::select(vec![
        Failures,
        Consecutive,
        Calls,
        Time,
    ]));
    let rates = (number(), number());
    (kind, number(), number(), number(), span(), span(), rates).prop_map(
        |(kind, threshold, size, min_calls, within, span, (percent, slow))| {
            nanobreaker::WindowSettings {
                kind,
                threshold,
                within: within.map(Duration::from_millis),
                size,
                span: span.map(Duration::from_millis),
                failure_rate_percent: percent,
                slow_rate_percent: slow,
                min_calls,
                ..Default::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn no_configuration_panics(
        window in any_window(),
        durations in (prop::option::of(any::<u64>()), prop::option::of(0..100_000u64)),
        rate in prop::option::of(1e-6..1e9f64),
        timeout in prop::option::of(any::<u64>()),
    ) {
        let (long, short) = (durations.0.map(Duration::from_millis), durations.1.map(Duration::from_millis));
        let settings = Settings {
            window,
            open_for: short,
            max_open: long,
            slow_after: short,
            hung_after: long,
            ..Settings::default()
        };
        let surroundings = Surroundings {
            calls_per_second: rate,
            timeout: timeout.map(Duration::from_millis),
        };
        let explained = explain(&settings, &surroundings);
        prop_assert_eq!(explained.err(), settings.check().err());
    }
}
