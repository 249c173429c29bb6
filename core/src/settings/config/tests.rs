use super::*;

type Set = fn(ConfigBuilder, u64) -> ConfigBuilder;

/// Every setting with its limits.
fn settings() -> Vec<(&'static str, Set, u64, u64)> {
    let longest = u64::from(MAX_SPAN_MS);
    vec![
        ("open_for_ms", |b, v| b.open_for_ms(v), 1, longest),
        ("max_open_ms", |b, v| b.max_open_ms(v), 10_000, longest),
        ("probe_lease_ms", |b, v| b.probe_lease_ms(v), 1, longest),
        ("relapse_within_ms", |b, v| b.relapse_within_ms(v), 1, longest),
        ("ramp_ms", |b, v| b.ramp_ms(v), 0, longest),
        ("max_probes", |b, v| b.max_probes(v as u32), 1, u64::from(MAX_PROBES)),
        ("probe_successes", |b, v| b.probe_successes(v as u32), 1, u64::from(MAX_SUCCESSES)),
        ("probe_failures", |b, v| b.probe_failures(v as u32), 1, u64::from(MAX_FAILURES)),
        ("jitter_permille", |b, v| b.jitter_permille(v as u32), 0, 1_000),
    ]
}

#[test]
fn every_setting_is_accepted_at_both_edges_and_refused_by_name_outside() {
    for (name, set, minimum, maximum) in settings() {
        for value in [minimum, maximum] {
            assert!(set(Config::builder(), value).build().is_ok(), "{name} {value}");
        }
        let mut outside = vec![maximum + 1, u64::from(u32::MAX)];
        if minimum > 0 {
            outside.extend([0, minimum - 1]);
        }
        if name.ends_with("_ms") {
            outside.extend([u64::from(u32::MAX) + 1, u64::MAX]);
        }
        for value in outside {
            let error = set(Config::builder(), value).build().unwrap_err();
            assert_eq!(
                (error.field(), error.value(), error.minimum(), error.maximum()),
                (name, value, minimum, maximum)
            );
        }
    }
}

#[test]
fn the_cap_follows_the_open_time_unless_set() {
    let config = Config::builder().open_for_ms(500).build().unwrap();
    assert_eq!(config.max_open_ms(), 500);
    assert_eq!(config.probe_lease_ms(), 500);
    assert_eq!(config.relapse_within_ms(), 500);
}

#[test]
fn backoff_doubles_and_saturates_at_its_cap() {
    let config = Config::builder().open_for_ms(1_000).max_open_ms(4_500).build().unwrap();
    let spans: Vec<u32> = (0..=15).map(|streak| config.open_span(streak).ms()).collect();
    assert_eq!(spans[..5], [1_000, 2_000, 4_000, 4_500, 4_500]);
    assert_eq!(spans[15], 4_500);
}

#[test]
fn backoff_never_overflows() {
    for open_for in [1, 3, 1_000, u64::from(MAX_SPAN_MS)] {
        let config =
            Config::builder().open_for_ms(open_for).max_open_ms(u64::from(MAX_SPAN_MS)).build().unwrap();
        for streak in 0..=15 {
            let expected = (open_for << streak).min(u64::from(MAX_SPAN_MS));
            assert_eq!(u64::from(config.open_span(streak).ms()), expected);
            assert_eq!(config.open_span(streak), Span::new(expected as u32, SPAN_DIGITS));
        }
    }
}

#[test]
fn every_setting_comes_back_from_its_numbers_at_both_edges() {
    let longest = u64::from(Config::MAX_DURATION_MS);
    let smallest = Config::builder().open_for_ms(1);
    let largest = Config::builder()
        .open_for_ms(longest)
        .max_open_ms(longest)
        .relapse_within_ms(longest)
        .probe_lease_ms(longest)
        .ramp_ms(longest)
        .jitter_permille(1_000)
        .max_probes(Config::MAX_PROBES)
        .probe_successes(Config::MAX_SUCCESSES)
        .probe_failures(Config::MAX_FAILURES)
        .latch(true);
    for config in [smallest, largest, Config::builder()] {
        let config = config.build().unwrap();
        assert_eq!(Config::from_numbers(config.numbers()), config);
    }
}
