//! What Prometheus reads of a process with 10,000 breakers.

use metrics_exporter_prometheus::PrometheusBuilder;
use nanobreaker::SharedBreaker;
use nanobreaker::observe::Monitor;

const BREAKERS: usize = 10_000;

/// The series and the bytes of a scrape, once each breaker has tripped.
fn scrape() -> (usize, usize) {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let monitor = Monitor::new();
        let names = (0..BREAKERS).map(|i| format!("host-{i}.internal.example"));
        let make = |name| SharedBreaker::builder().name(name).consecutive(1).build();
        let breakers: Vec<_> = names.map(|name| monitor.watch(make(name).unwrap())).collect();
        for breaker in &breakers {
            breaker.allow().unwrap().failure();
            assert!(breaker.allow().is_err());
        }
        monitor.publish();
    });
    let text = handle.render();
    (text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count(), text.len())
}

#[test]
fn ten_thousand_breakers_are_8_series_each_at_most_and_less_than_6_megabytes() {
    let (series, bytes) = scrape();
    println!("{series} series, {bytes} bytes");
    assert!(series <= 8 * BREAKERS);
    assert!(bytes < 6_000_000);
}

#[test]
fn hostile_names_stay_within_their_line() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let monitor = Monitor::new();
        let name = "a\"} 1\nnanobreaker_trips_total{breaker=\"b\\";
        let _breaker = monitor.watch(SharedBreaker::builder().name(name).build().unwrap());
        monitor.publish();
    });
    let text = handle.render();
    assert!(!text.contains("breaker=\"b"), "{text}");
    let lines = text.lines().filter(|line| line.starts_with("nanobreaker_"));
    assert!(lines.clone().count() >= 7 && lines.clone().all(|line| line.contains(r#"breaker="a\"} 1\n"#)));
}
