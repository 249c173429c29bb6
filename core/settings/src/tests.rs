use std::time::Duration;

use proptest::prelude::*;

use nanobreaker_core::Rate;

use super::*;

fn parse(text: &str) -> PartialSettings {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    match toml::from_str::<PartialSettings>(text) {
        Ok(settings) => settings.complete().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_empty_file_is_the_default_breaker() {
    let settings = parse("");
    let opening = with_dependent_defaults(DEFAULT.opening);
    assert_eq!(settings.complete(), Ok(Settings { opening, ..DEFAULT }));
    assert_eq!(settings.window.with_defaults().unwrap().kind, Some(WindowKind::Cusum));
}

#[test]
fn defaults_hold_per_key_whatever_window_is_named() {
    for window in ["", "window.kind = 'calls'", "window.threshold = 3"] {
        let opening = |text: &str| parse(&format!("{text}\n{window}")).complete().unwrap().opening;
        assert_eq!(opening(""), with_dependent_defaults(DEFAULT.opening));
        assert_eq!(opening("open_for = '2s'").max_open_ms, Some(5_000));
        assert_eq!(opening("open_for = '10s'").max_open_ms, Some(10_000));
        assert_eq!(opening("max_open = '1m'").relapse_within_ms, Some(60_000));
        assert_eq!(opening("open_for = '10s'").probe_lease_ms, Some(30_000));
    }
}

#[test]
fn a_threshold_without_a_kind_counts_failures() {
    let window = |text: &str| parse(text).complete().unwrap().window;
    assert_eq!(window("window.threshold = 3"), window("window = { kind = 'failures', threshold = 3 }"));
    assert_eq!(window("window.within = '1s'"), window("window = { kind = 'failures', within = '1s' }"));
    let base = parse("window.threshold = 3");
    assert_eq!(parse("window.kind = 'failures'").or(base).window.threshold, Some(3));
    assert_eq!(parse("window.kind = 'cusum'").or(base).window.threshold, None);
}

#[test]
fn both_forms_of_a_duration_say_the_same() {
    assert_eq!(parse("open_for = '1m 30s'"), parse("open_for_ms = 90000"));
    assert_eq!(parse("[window]\nwithin = '250ms'"), parse("window.within_ms = 250"));
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
    assert!(error.contains("open_for is set twice, as open_for and as open_for_ms"), "{error}");
}

#[test]
fn what_is_there_twice_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"latch": true, "latch": true}"#, "latch"),
        (r#"{"window": {"size": 5}, "window": {"kind": "calls"}}"#, "window"),
    ] {
        let error = serde_json::from_str::<PartialSettings>(json).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{key} is set twice: keep one")), "{json}: {error}");
    }
    for (json, key) in [
        (r#"{"defaults": {}, "defaults": {"latch": true}}"#, "defaults"),
        (r#"{"breakers": {"search": {"latch": true}, "a": {}, "search": {}}}"#, "search"),
        (r#"{"profiles": {"slow": {}, "slow": {}}}"#, "slow"),
        (r#"{"profiles": {"a": {}}, "breakers": {"b": {"profile": "a", "profile": "a"}}}"#, "profile"),
        (r#"{"breakers": {"b": {"check": {"tcp": "a:1"}, "check": {"tcp": "b:1"}}}}"#, "check"),
        (r#"{"defaults": {"slow_window": {}, "slow_window": {}}}"#, "slow_window"),
    ] {
        let error = serde_json::from_str::<Catalog>(json).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{key} is set twice: keep one")), "{json}: {error}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    let error = refused("open_fro = '1s'");
    let expected = "open_fro is no setting: did you mean open_for?";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_value_out_of_range_is_refused_by_the_key_as_written() {
    let cases = [
        ("max_probes = 64", "max_probes is 64, but must be from 1 to 63"),
        ("max_open = '1ms'", "max_open is 1ms, but must be from 500ms to 18h 38m 28s 864ms"),
        ("hung_after = '0s'", "hung_after is 0s, but must be from 1ms to 18h 38m 28s 864ms"),
        ("window.threshold = 130", "window.threshold is 130, but must be from 1 to 129"),
        ("window.within = '0s'", "window.within is 0s, but must be from 1ms to 18h 38m 28s 864ms"),
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
         failure_rate, slow_rate, p50, p90, p95, p99, p999, min_calls"
    );
    assert_eq!(
        refused("[window]\nsize = 3"),
        "window.size is no setting of kind = \"cusum\", which has normal, broken, calls_per_false_trip, \
         sustained_for"
    );
}

#[test]
fn a_rate_of_slow_calls_needs_to_know_what_is_slow_and_what_it_is_over() {
    assert_eq!(
        refused("[window]\nkind = 'calls'\nslow_rate_percent = 50"),
        "slow_after is missing: window.slow_rate needs it"
    );
    assert_eq!(
        refused("slow_after = '1s'\nwindow.slow_rate_percent = 50"),
        "window.size or window.span is missing: slow_rate needs it"
    );
    let beside = "slow_after = '1s'\n[window]\nthreshold = 3\nsize = 50\nslow_rate_percent = 50";
    assert_eq!(parse(beside).complete().map(drop), Ok(()));
}

#[test]
fn the_minimum_of_calls_follows_a_small_window() {
    assert_eq!(parse("[window]\nkind = 'calls'\nsize = 4").complete().map(drop), Ok(()));
}

#[test]
fn a_window_of_another_kind_takes_nothing_over() {
    let base = parse("[window]\nkind = 'failures'\nthreshold = 3");
    let other = parse("[window]\nkind = 'time'\nspan = '20s'").or(base);
    assert_eq!(other.window.threshold, None);
    assert_eq!(other.complete().map(drop), Ok(()));
    let same = parse("[window]\nwithin = '20s'").or(base);
    assert_eq!(same.window.threshold, Some(3));
}

#[test]
fn old_keys_are_refused_with_the_new_name() {
    for (old, new) in
        [("probes", "max_probes"), ("successes", "probe_successes"), ("failures", "probe_failures")]
    {
        let error = refused(&format!("{old} = 2"));
        let expected = format!("{old} is called {new} now: rename it");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn a_key_of_the_window_outside_of_its_table_is_told_where_it_belongs() {
    let error = refused("threshold = 3");
    let expected = "threshold belongs in the table [window] only";
    assert!(error.contains(expected), "{error}");
    let error = refused("profile = 'patient'");
    let expected = "profile belongs in [breakers.NAME] of a catalogue only";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn rates_are_read_down_to_a_millionth() {
    let rate = |text: &str| parse(&format!("[window]\nkind = 'calls'\n{text}")).window.failure_rate;
    assert_eq!(rate("failure_rate = '50%'"), rate("failure_rate_percent = 50"));
    assert_eq!(rate("failure_rate = '0.1%'"), Some(Rate::ppm(1_000)));
    assert_eq!(rate("failure_rate = ' 0.0001 % '"), Some(Rate::ppm(1)));
    assert_eq!(rate("failure_rate = '12.50%'"), Some(Rate::ppm(125_000)));
}

#[test]
fn a_rate_that_is_none_is_quoted_with_the_reason() {
    for (text, why) in [
        ("'half'", "does not end with %"),
        ("'half%'", "is no number"),
        ("'-1%'", "is no number"),
        ("'1.%'", "is no number"),
        ("'0%'", "at least 0.0001%"),
        ("'0.00001%'", "nothing finer"),
        ("'100.0001%'", "more than 100%"),
        ("'99999999999%'", "more than 100%"),
        ("0.5", "add _percent"),
    ] {
        let error = refused(&format!("[window]\nkind = 'time'\nfailure_rate = {text}"));
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn the_sum_of_evidence_is_set_by_three_questions() {
    let text = "[window]\nkind = 'cusum'\nnormal = '0.2%'\nbroken = '20%'\ncalls_per_false_trip = 10000000\n\
                sustained_for = '50ms'";
    let window = parse(text).complete().unwrap().window;
    let expected = CusumSettings {
        normal_ppm: 2_000,
        broken_ppm: 200_000,
        calls_per_false_trip: 10_000_000,
        sustained_for_ms: 50,
    };
    assert_eq!(window, WindowSettings::Cusum(expected));
    let error = refused("[window]\nkind = 'cusum'\nnormal = '50%'\nbroken = '20%'");
    assert!(error.starts_with("window.broken is 20%, but must be from 50."), "{error}");
}

#[test]
fn a_kind_that_is_none_is_refused_with_the_nearest() {
    let error = refused("window.kind = 'cusums'");
    assert!(error.contains("did you mean \"cusum\"?"), "{error}");
    let error = refused("window.kind = 'ewma'");
    assert!(error.contains("failures, consecutive, calls, time, cusum"), "{error}");
}

#[test]
fn a_chip_has_fewer_words_and_is_asked_with_its_own() {
    let settings = parse("window.threshold = 9");
    assert!(settings.complete_for::<9>().is_ok());
    let error = settings.complete_for::<8>().unwrap_err().to_string();
    assert_eq!(error, "window.threshold is 9, but must be from 1 to 8");
}

#[test]
fn days_hours_and_fractions_are_durations_and_what_is_negative_is_none() {
    assert_eq!(parse("ramp = '1.5s'"), parse("ramp_ms = 1500"));
    assert_eq!(parse("ramp = '1d 2h'"), parse("ramp_ms = 93600000"));
    for text in ["-5s", "5s ago", "1 month", "9999999999999999999s", ""] {
        let error = refused(&format!("ramp = '{text}'"));
        assert!(error.contains("is no duration"), "{text}: {error}");
    }
}

#[test]
fn a_percentile_is_a_rate_of_calls_that_take_longer() {
    let settings = parse("[window]\nkind = 'time'\nspan = '30s'\np95 = '500ms'").complete().unwrap();
    assert_eq!(settings.slow_after_ms, Some(500));
    let rate = Percentile::P95.rate_of_slow_calls().min_calls(20);
    assert_eq!(settings.slow_window, Some(WindowSettings::Time { span_ms: 30_000, buckets: 10, rate }));
    let beside = parse("[window]\nthreshold = 3\nsize = 50\np99_ms = 800").complete().unwrap();
    assert!(matches!(beside.slow_window, Some(WindowSettings::Calls { size: 50, .. })));
}

#[test]
fn two_settings_that_say_what_is_slow_are_refused() {
    for (text, message) in [
        (
            "slow_after = '1s'\n[window]\nkind = 'calls'\np95 = '1s'",
            "window.p95 can't stand beside slow_after: keep one",
        ),
        (
            "[window]\nkind = 'calls'\np95 = '1s'\np99 = '2s'",
            "window.p95 can't stand beside window.p99: keep one",
        ),
        (
            "[window]\nkind = 'calls'\np50 = '1s'\nslow_rate = '5%'",
            "window.p50 can't stand beside window.slow_rate: keep one",
        ),
        ("window.p50 = '1s'", "window.size or window.span is missing: a percentile needs it"),
        (
            "slow_after = '1s'\nslow_window.threshold = 3\n[window]\nkind = 'calls'\nslow_rate = '5%'",
            "slow_window can't stand beside a rate or percentile of slow calls: keep one",
        ),
        ("slow_window.threshold = 3", "slow_after is missing: slow_window needs it"),
        (
            "slow_after = '1s'\nslow_window.threshold = 130",
            "slow_window.threshold is 130, but must be from 1 to 129",
        ),
        (
            "slow_after = '1s'\nslow_window = { kind = 'time', threshold = 3 }",
            "slow_window.threshold is no setting of kind = \"time\", which has span, buckets, failure_rate, \
             slow_rate, p50, p90, p95, p99, p999, min_calls",
        ),
    ] {
        assert_eq!(refused(text), message);
    }
}

#[test]
fn slow_calls_may_have_any_rule() {
    let slow = |text: &str| parse(&format!("slow_after = '1s'\n{text}")).complete().unwrap().slow_window;
    let expected = WindowSettings::Failures { threshold: 3, within_ms: 10_000 };
    assert_eq!(slow("slow_window = { threshold = 3, within = '10s' }"), Some(expected));
    let expected = WindowSettings::Consecutive { threshold: 2 };
    assert_eq!(slow("slow_window = { kind = 'consecutive', threshold = 2 }"), Some(expected));
    assert!(matches!(slow("slow_window.kind = 'cusum'"), Some(WindowSettings::Cusum(_))));
}

#[test]
fn windows_are_as_large_as_people_ask_for() {
    for text in ["[window]\nkind = 'time'\nspan = '60s'\nbuckets = 60", "window.threshold = 100"] {
        assert_eq!(parse(text).complete().map(drop), Ok(()), "{text}");
    }
}

fn any_duration() -> impl Strategy<Value = Option<Duration>> {
    proptest::option::of((0..100_000_000_u64).prop_map(Duration::from_millis))
}

fn any_number() -> impl Strategy<Value = Option<u32>> {
    proptest::option::of(prop_oneof![0..200_u32, any::<u32>()])
}

fn any_rate() -> impl Strategy<Value = Option<Rate>> {
    proptest::option::of(prop_oneof![
        (1..=100_u32).prop_map(Rate::percent),
        (1..10_000_u32).prop_map(Rate::ppm),
    ])
}

prop_compose! {
    fn any_window()(
        kind in proptest::option::of(0..WindowKind::ALL.len()),
        numbers in [any_number(), any_number(), any_number(), any_number()],
        durations in [any_duration(), any_duration(), any_duration()],
        rates in [any_rate(), any_rate(), any_rate(), any_rate()],
        calls_per_false_trip in any::<Option<u32>>(),
    ) -> PartialWindow {
        let [threshold, size, buckets, min_calls] = numbers;
        let [within, span, sustained_for] = durations;
        let [failure_rate, slow_rate, normal, broken] = rates;
        PartialWindow {
            kind: kind.map(|kind| WindowKind::ALL[kind]), threshold, within, size, span, buckets,
            failure_rate, slow_rate, min_calls, normal, broken,
            calls_per_false_trip: calls_per_false_trip.map(u64::from), sustained_for,
            ..PartialWindow::default()
        }
    }
}

prop_compose! {
    fn any_settings()(
        numbers in [any_number(), any_number(), any_number(), any_number()],
        durations in [
            any_duration(), any_duration(), any_duration(), any_duration(), any_duration(),
            any_duration(), any_duration(),
        ],
        latch in any::<Option<bool>>(),
        window in any_window(),
        slow_window in proptest::option::of(any_window()),
    ) -> PartialSettings {
        let [max_probes, probe_successes, probe_failures, jitter_permille] = numbers;
        let [open_for, max_open, relapse_within, probe_lease, ramp, slow_after, hung_after] = durations;
        PartialSettings {
            open_for, max_open, relapse_within, max_probes, probe_successes, probe_failures,
            probe_lease, ramp, jitter_permille, latch, slow_after, hung_after, window,
            slow_window: slow_window.unwrap_or_default(), ..PartialSettings::default()
        }
    }
}

proptest! {
    #[test]
    fn any_settings_are_accepted_or_refused_by_key(settings in any_settings()) {
        if let Err(error) = settings.complete() {
            prop_assert!(!error.key().is_empty());
            prop_assert!(error.to_string().starts_with(error.key()));
        }
    }

    #[test]
    fn what_is_written_is_read_again(settings in any_settings()) {
        let text = toml::to_string(&settings).unwrap();
        prop_assert_eq!(toml::from_str::<PartialSettings>(&text).unwrap(), settings, "{}", text);
        let text = serde_json::to_string(&settings).unwrap();
        prop_assert_eq!(serde_json::from_str::<PartialSettings>(&text).unwrap(), settings);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = toml::from_str::<PartialSettings>(&text);
        let _ = toml::from_str::<PartialSettings>(&format!("open_for = '''{text}'''"));
        let _ = toml::from_str::<PartialSettings>(&format!("window.failure_rate = '''{text}'''"));
        let _ = serde_json::from_str::<PartialSettings>(&text);
    }
}

#[test]
fn a_fleets_servers_are_a_list_or_text_with_commas() {
    let fleet = |text: &str| toml::from_str::<FleetSettings>(text).unwrap();
    let list = fleet("group = 'shop'\ncluster = ['redis://a', 'redis://b']");
    assert_eq!(list, fleet("group = 'shop'\ncluster = 'redis://a, redis://b'"));
    let written = toml::to_string(&list).unwrap();
    assert_eq!(fleet(&written), list);
    let error = toml::from_str::<FleetSettings>("cluster = 3").unwrap_err().to_string();
    assert!(error.contains("a list of texts"), "{error}");
}

#[test]
fn what_is_written_of_a_check_is_read_again() {
    let text = "grpc = 'http://a'\nservice = 's'\nevery_ms = 1500\nhealthy_after = 4\nthen = 'close'";
    let check: CheckSettings = toml::from_str(text).unwrap();
    let again: CheckSettings = toml::from_str(&toml::to_string(&check).unwrap()).unwrap();
    assert_eq!(again, check);
    assert_eq!(check.asked(), Ok(Asked::Grpc { url: "http://a", service: "s" }));
}

#[test]
fn one_breakers_settings_have_no_check_and_no_fleet() {
    for text in ["check = { tcp = 'db:1' }", "fleet = true"] {
        let error = refused(text);
        assert!(error.contains("belongs in [breakers.NAME] of a catalogue only"), "{error}");
    }
}
