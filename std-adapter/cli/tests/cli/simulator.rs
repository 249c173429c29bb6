//! A log that the guide's simulator exports, replayed: the trips are those that the simulator showed.

use nanobreaker_simulator::{EPOCH_MS, Lane, Log, PRESETS, Scene, Simulation};
use serde_json::Value;

use super::*;

/// Compares what a replay came to with what the simulator made of the same breaker.
fn compare(report: &Value, simulated: &Lane, link: &str) {
    let tally = simulated.tally();
    let totals = &report["totals"];
    for (name, count) in [
        ("calls", tally.calls),
        ("rejected", tally.saved + tally.lost),
        ("saved", tally.saved),
        ("lost", tally.lost),
        ("trips", tally.trips),
        ("reopenings", tally.reopenings),
    ] {
        assert_eq!(totals[name], count, "{name} of {link}: {totals}");
    }
    let replayed = report["trips"].as_array().unwrap();
    assert_eq!(replayed.len(), simulated.trips().len(), "{link}");
    let millis =
        |time: &Value| time.as_str().map(|text| text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let at_ms = |us: u64| (EPOCH_MS + us / 1_000) as i64;
    for (there, here) in replayed.iter().zip(simulated.trips()) {
        assert_eq!(millis(&there["at"]), Some(at_ms(here.at_us)), "{link}: {there} {here:?}");
        assert_eq!(millis(&there["recovered_at"]), here.closed_at_us.map(at_ms), "{link}: {there} {here:?}");
        assert_eq!(there["cause"], here.cause, "{link}");
        assert_eq!(there["reopenings"], here.reopenings, "{link}");
        assert_eq!(there["saved"], here.saved, "{link}");
        assert_eq!(there["lost"], here.lost, "{link}");
    }
}

fn compare_both(link: &str) {
    let scene = Scene::from_link(link).unwrap();
    let mut simulation = Simulation::of(&scene).unwrap();
    simulation.run();
    let folder = Folder::new();
    folder.write("calls.csv", Log::of(&scene).unwrap().next_lines(usize::MAX));
    for (name, setup) in ["a.toml", "b.toml"].iter().zip(&scene.setups) {
        folder.write(name, setup.text());
    }
    let report = folder.json(&["replay", "--json", "-c", "a.toml", "-c", "b.toml", "calls.csv"]);
    for (lane, simulated) in simulation.lanes().iter().enumerate() {
        compare(&report["configurations"][lane], simulated, link);
    }
}

#[test]
fn an_exported_log_replays_to_the_trips_of_every_preset() {
    for preset in PRESETS.iter().filter(|preset| preset.name != "a_hundred_thousand") {
        compare_both(&format!("preset={}", preset.name));
    }
}

#[test]
fn so_it_does_with_jitter_slow_calls_ramps_and_windows_over_time() {
    let a = "jitter_permille = 300\nopen_for = '1s'\nmax_open = '20s'\nramp = '3s'\nhung_after = '80ms'\n\
             [window]\nkind = 'time'\nspan = '3s'\nbuckets = 7\nfailure_rate = '30%'\n";
    let b = "slow_after = '40ms'\nopen_for = '700ms'\nmax_probes = 3\nprobe_successes = 2\n\
             [window]\nkind = 'calls'\nsize = 200\nslow_rate = '35%'\n";
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    for (seed, outage) in [(1, "recovering"), (2, "flapping"), (3, "half&fails=hang"), (4, "hanging")] {
        compare_both(&format!(
            "seed={seed}&outage={outage}&rate=300&timeout_ms=400&latency_ms=30&background_ppm=20000\
             &burst_every_s=7&a={}&b={}",
            encode(a),
            encode(b)
        ));
    }
}
