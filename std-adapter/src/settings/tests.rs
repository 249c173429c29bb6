use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::SharedBreaker;

fn parse(text: &str) -> Settings {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    match toml::from_str::<Settings>(text) {
        Ok(settings) => settings.check().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_empty_file_is_the_default_breaker() {
    let settings = parse("");
    let breaker = SharedBreaker::builder().settings(&settings).unwrap();
    let breaker = breaker.build().unwrap();
    assert_eq!(breaker.config(), crate::Config::DEFAULT);
}

#[test]
fn both_forms_of_a_duration_say_the_same() {
    assert_eq!(parse("open_for = '1m 30s'"), parse("open_for_ms = 90000"));
    assert_eq!(
        parse("[window]\nwithin = '250ms'"),
        parse("window.within_ms = 250")
    );
}

#[test]
fn a_bare_number_is_no_duration_since_its_unit_can_only_be_guessed() {
    let error = refused("open_for = 10");
    assert!(error.contains("line 1, column 12"), "{error}");
    assert!(error.contains("with its unit"), "{error}");
}

#[test]
fn a_duration_that_is_none_is_quoted() {
    let error = refused("ramp = 'soon'");
    assert!(error.contains("\"soon\" is no duration"), "{error}");
}

#[test]
fn both_forms_at_once_are_refused() {
    let error = refused("open_for = '1s'\nopen_for_ms = 1000");
    assert!(
        error.contains("open_for is set twice, as open_for and as open_for_ms"),
        "{error}"
    );
}

#[test]
fn an_unknown_setting_is_refused_with_those_that_exist() {
    let error = refused("open_fro = '1s'");
    assert!(error.contains("unknown field `open_fro`"), "{error}");
    assert!(error.contains("`open_for`"), "{error}");
}

#[test]
fn a_value_out_of_range_is_refused_by_the_key_as_written() {
    let cases = [
        ("probes = 64", "probes is 64, but must be from 1 to 63"),
        (
            "max_open = '1s'",
            "max_open is 1s, but must be from 10s to 18h 38m 28s 864ms",
        ),
        (
            "hung_after = '0s'",
            "hung_after is 0s, but must be from 1ms to 18h 38m 28s 864ms",
        ),
        (
            "window.threshold = 65",
            "window.threshold is 65, but must be from 1 to 64",
        ),
        (
            "window.within = '0s'",
            "window.within is 0s, but must be from 1ms to 18h 38m 28s 864ms",
        ),
        (
            "[window]\nkind = 'calls'\nsize = 10\nmin_calls = 11",
            "window.min_calls is 11, but must be from 1 to 10",
        ),
        (
            "slow_after = '1s'\n[window]\nkind = 'time'\nslow_rate_percent = 101",
            "window.slow_rate_percent is 101, but must be from 1 to 100",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refused(text), message);
    }
}

#[test]
fn a_setting_of_another_kind_of_window_is_refused() {
    assert_eq!(
        refused("[window]\nkind = 'time'\nthreshold = 3"),
        "window.threshold is no setting of kind = \"time\", which has span, buckets, \
         failure_rate_percent, slow_rate_percent, min_calls"
    );
    assert_eq!(
        refused("[window]\nsize = 3"),
        "window.size is no setting of kind = \"failures\", which has threshold, within"
    );
}

#[test]
fn a_rate_of_slow_calls_needs_to_know_what_is_slow_and_what_it_is_over() {
    assert_eq!(
        refused("[window]\nkind = 'calls'\nslow_rate_percent = 50"),
        "slow_after is missing: window.slow_rate_percent needs it"
    );
    assert_eq!(
        refused("slow_after = '1s'\nwindow.slow_rate_percent = 50"),
        "window.size or window.span is missing: slow_rate_percent needs it"
    );
    let beside = "slow_after = '1s'\n[window]\nthreshold = 3\nsize = 50\nslow_rate_percent = 50";
    assert_eq!(parse(beside).check(), Ok(()));
}

#[test]
fn the_minimum_of_calls_follows_a_small_window() {
    assert_eq!(parse("[window]\nkind = 'calls'\nsize = 4").check(), Ok(()));
}

#[test]
fn a_window_of_another_kind_takes_nothing_over() {
    let base = parse("[window]\nkind = 'failures'\nthreshold = 3");
    let other = parse("[window]\nkind = 'time'\nspan = '20s'").or(base);
    assert_eq!(other.window.threshold, None);
    assert_eq!(other.check(), Ok(()));
    let same = parse("[window]\nwithin = '20s'").or(base);
    assert_eq!(same.window.threshold, Some(3));
}

fn any_duration() -> impl Strategy<Value = Option<Duration>> {
    proptest::option::of(prop_oneof![
        (0..100_000_000_u64).prop_map(Duration::from_millis),
        any::<Duration>(),
    ])
}

fn any_number() -> impl Strategy<Value = Option<u32>> {
    proptest::option::of(prop_oneof![0..200_u32, any::<u32>()])
}

prop_compose! {
    fn any_window()(
        kind in 0..5,
        numbers in [any_number(), any_number(), any_number(), any_number(), any_number(), any_number()],
        durations in [any_duration(), any_duration()],
    ) -> WindowSettings {
        let [threshold, size, buckets, failure_rate_percent, slow_rate_percent, min_calls] = numbers;
        let [within, span] = durations;
        let kind = match kind {
            0 => None,
            1 => Some(WindowKind::Failures),
            2 => Some(WindowKind::Consecutive),
            3 => Some(WindowKind::Calls),
            _ => Some(WindowKind::Time),
        };
        WindowSettings {
            kind, threshold, within, size, span, buckets, failure_rate_percent,
            slow_rate_percent, min_calls,
        }
    }
}

prop_compose! {
    fn any_settings()(
        numbers in [any_number(), any_number(), any_number(), any_number()],
        durations in [
            any_duration(), any_duration(), any_duration(), any_duration(), any_duration(),
            any_duration(),
        ],
        latch in any::<Option<bool>>(),
        window in any_window(),
    ) -> Settings {
        let [probes, successes, failures, jitter_permille] = numbers;
        let [open_for, max_open, probe_lease, ramp, slow_after, hung_after] = durations;
        Settings {
            open_for, max_open, probes, successes, failures, probe_lease, ramp, jitter_permille,
            latch, slow_after, hung_after, window,
        }
    }
}

proptest! {
    #[test]
    fn any_settings_are_accepted_or_refused_by_key(settings in any_settings()) {
        if let Err(error) = settings.check() {
            prop_assert!(!error.key().is_empty());
            prop_assert!(error.to_string().starts_with(error.key()));
        } else {
            SharedBreaker::builder().settings(&settings)?.build()?;
        }
    }

    #[test]
    fn what_is_written_is_read_again(settings in any_settings()) {
        let text = toml::to_string(&settings).unwrap();
        prop_assert_eq!(toml::from_str::<Settings>(&text).unwrap(), settings, "{}", text);
        let text = serde_json::to_string(&settings).unwrap();
        prop_assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = toml::from_str::<Settings>(&text);
        let _ = toml::from_str::<Settings>(&format!("open_for = '''{text}'''"));
        let _ = serde_json::from_str::<Settings>(&text);
    }
}
