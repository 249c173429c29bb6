use proptest::prelude::*;

use super::*;

fn explained(toml: &str, calls_per_second: Option<f64>, timeout_s: Option<u64>) -> Explained {
    let settings: PartialSettings = toml::from_str(toml).unwrap();
    let surroundings = Surroundings {
        calls_per_second,
        timeout: timeout_s.map(Duration::from_secs),
        ..Surroundings::default()
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
            "The breaker opens when there is evidence that 50 % of calls failed instead of 2 % (wrong once \
             in 500000000 calls) and has mounted for 20ms.",
            "It then rejects every call for 500ms; each trip without a healthy time between doubles that, \
             up to 5s.",
            "After that 1 call at a time may try: 3 successes close the breaker, 1 failure opens it again.",
            "Where none of those calls comes back for 30s, it opens again too.",
            "Once it closes, all calls pass at once.",
        ]
    );
    assert!(explained.traps.is_empty(), "{:?}", explained.traps);
}

#[test]
fn minimum_calls_above_the_traffic_are_a_trap() {
    let toml = "[window]\nkind = 'time'\nspan = '10s'\nmin_calls = 50";
    assert_eq!(settings_warned_of(toml, Some(4.0), None), ["window.min_calls"]);
    assert!(settings_warned_of(toml, Some(6.0), None).is_empty());
}

#[test]
fn a_threshold_above_the_traffic_is_a_trap() {
    assert_eq!(settings_warned_of("window.threshold = 5", Some(0.3), None), ["window.threshold"]);
}

#[test]
fn a_count_is_a_trap_where_traffic_is_heavy() {
    assert_eq!(settings_warned_of("ramp = '5s'\nwindow.threshold = 5", Some(1_000.0), None), ["window.kind"]);
}

#[test]
fn an_open_time_below_the_timeout_is_a_trap() {
    assert_eq!(settings_warned_of("open_for = '5s'\nprobe_lease = '1m'", None, Some(30)), ["open_for"]);
}

#[test]
fn a_lease_below_the_timeout_is_a_trap() {
    assert_eq!(settings_warned_of("open_for = '1m'\nprobe_lease = '5s'", None, Some(30)), ["probe_lease"]);
}

#[test]
fn what_never_happens_is_a_trap() {
    assert_eq!(settings_warned_of("slow_after = '8s'\nhung_after = '5s'", None, None), ["slow_after"]);
}

/// The setting that is warned of, settings that fall into the trap and some that nearly do, calls per
/// second, and the timeout in seconds.
type Case<'a> = (&'a str, &'a str, &'a str, Option<f64>, Option<u64>);

/// Each trap with what falls into it, and what nearly does.
#[test]
fn every_trap_is_warned_of_and_its_neighbour_is_not() {
    let calls = |size: u32, percent: u32, min_calls: u32| {
        format!(
            "window = {{ kind = 'calls', size = {size}, failure_rate_percent = {percent}, \
             min_calls = {min_calls} }}"
        )
    };
    let failures = |threshold: u32| format!("window = {{ threshold = {threshold}, within = '5s' }}");
    let consecutive =
        |threshold: u32| format!("window = {{ kind = 'consecutive', threshold = {threshold} }}");
    let buckets = |number: u32| format!("window = {{ kind = 'time', buckets = {number} }}");
    let min_calls = |number: u32| format!("window = {{ kind = 'time', min_calls = {number} }}");
    let cases: [Case; 19] = [
        ("window.threshold", &failures(50), &failures(49), None, None),
        ("window.min_calls", &min_calls(100), &min_calls(99), None, None),
        ("window.failure_rate_percent", &calls(100, 100, 20), &calls(100, 90, 20), None, None),
        ("window.failure_rate_percent", &calls(100, 91, 20), &calls(100, 90, 20), None, None),
        ("window.failure_rate_percent", &calls(100, 5, 50), &calls(100, 6, 50), None, None),
        ("window.kind", &consecutive(5), &consecutive(4), None, None),
        ("window.buckets", &buckets(1), &buckets(2), None, None),
        ("window.kind", &calls(400, 50, 20), &calls(100, 50, 20), Some(1.0), None),
        ("hung_after", "hung_after = '5s'", "hung_after = '4s'", None, Some(5)),
        ("slow_after", "slow_after = '19ms'", "slow_after = '20ms'", None, None),
        ("slow_after", "slow_after = '5s'", "slow_after = '4s'", None, Some(5)),
        (
            "probe_lease",
            "probe_lease = '1s'\nslow_after = '2s'",
            "probe_lease = '1s'\nslow_after = '1s'",
            None,
            None,
        ),
        ("open_for", "open_for = '301s'", "open_for = '300s'", None, None),
        ("max_open", "open_for = '1s'\nmax_open = '1s'", "open_for = '1s'", None, None),
        (
            "max_open",
            "max_open = '901s'\njitter_permille = 1",
            "max_open = '900s'\njitter_permille = 1",
            None,
            None,
        ),
        ("jitter_permille", "max_open = '1m'", "max_open = '10s'", None, None),
        (
            "ramp",
            "window = { threshold = 30 }",
            "window = { threshold = 30 }\nramp = '1s'",
            Some(100.0),
            None,
        ),
        ("probe_successes", "probe_successes = 7", "probe_successes = 7\nmax_probes = 7", None, Some(5)),
        (
            "probe_successes",
            "probe_successes = 30\nwindow = { threshold = 2 }",
            "window = { threshold = 2 }",
            Some(0.4),
            None,
        ),
    ];
    for (setting, trap, neighbour, rate, timeout_s) in cases {
        assert_eq!(settings_warned_of(trap, rate, timeout_s), [setting], "{trap}");
        let none = settings_warned_of(neighbour, rate, timeout_s);
        assert!(none.is_empty(), "{neighbour}: {none:?}");
    }
}

#[test]
fn a_hair_trigger_is_a_trap() {
    for toml in ["window.threshold = 1", "[window]\nkind = 'consecutive'\nthreshold = 1"] {
        assert_eq!(settings_warned_of(toml, None, None), ["window.threshold"]);
    }
    let rate = "[window]\nkind = 'calls'\nmin_calls = 2";
    assert_eq!(settings_warned_of(rate, None, None), ["window.min_calls"]);
}

#[test]
fn a_latch_has_no_open_time_to_warn_of() {
    let explained = explained("latch = true\nopen_for = '1s'", None, Some(30));
    assert!(explained.traps.is_empty(), "{:?}", explained.traps);
    assert!(explained.sentences.last().unwrap().contains("until an operator resets"));
}

fn any_window() -> impl Strategy<Value = nanobreaker::PartialWindow> {
    use nanobreaker::WindowKind::{Calls, Consecutive, Cusum, Failures, Time};
    let number = || prop::option::of(prop_oneof![0..70u32, any::<u32>()]);
    let span = || prop::option::of(prop_oneof![0..20_000u64, any::<u64>()]);
    let kind = prop::option::of(prop::sample::select(vec![Failures, Consecutive, Calls, Time, Cusum]));
    let rates = (number(), number());
    (kind, number(), number(), number(), span(), span(), rates).prop_map(
        |(kind, threshold, size, min_calls, within, span, (percent, slow))| nanobreaker::PartialWindow {
            kind,
            threshold,
            within: within.map(Duration::from_millis),
            size,
            span: span.map(Duration::from_millis),
            failure_rate: percent.map(nanobreaker::Rate::percent),
            slow_rate: slow.map(nanobreaker::Rate::percent),
            min_calls,
            ..Default::default()
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
        drops in any::<bool>(),
    ) {
        let (long, short) = (durations.0.map(Duration::from_millis), durations.1.map(Duration::from_millis));
        let settings = PartialSettings {
            window,
            open_for: short,
            max_open: long,
            slow_after: short,
            hung_after: long,
            ..PartialSettings::default()
        };
        let surroundings = Surroundings {
            calls_per_second: rate,
            normal: None,
            timeout: timeout.map(Duration::from_millis),
            drops_calls: drops,
        };
        let explained = explain(&settings, &surroundings);
        prop_assert_eq!(explained.err(), settings.complete().err());
    }
}
