use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use sample::{FORMATS, Traffic, log};

/// How each format names its keys.
fn key_field(format: &str) -> &'static str {
    match format {
        "nginx" | "apache" => "path",
        "envoy" => "authority",
        "alb" => "domain",
        _ => "key",
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_hand_made_outage_is_told_call_by_call() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    // A call each second that takes 0.1 s; those of seconds 10 to 29 fail. The third failure ends at
    // 12.1: open till 17.1. Probes at 18 (fails at 18.1), 24 (fails at 24.1), 30 (succeeds at 30.1).
    let lines: String = (0..60)
        .map(|second| {
            let status = if (10..30).contains(&second) { 503 } else { 200 };
            format!("{{\"ts\":{second},\"status\":{status},\"duration_ms\":100}}\n")
        })
        .collect();
    folder.write("calls.jsonl", lines);
    let report = folder.json(&["replay", "--config", "breaker.toml", "--json", "calls.jsonl"]);
    let totals = &report["totals"];
    assert_eq!(totals["calls"], 60);
    assert_eq!(totals["failed"], 20);
    assert_eq!(totals["saved"], 15);
    assert_eq!(totals["lost"], 0);
    assert_eq!(totals["worker_seconds_saved"], 1.5);
    assert_eq!(totals["longest_detection_delay_s"], 2.1);
    let trip = &report["trips"][0];
    assert_eq!(trip["at"], "1970-01-01T00:00:12.100Z");
    assert_eq!(trip["recovered_at"], "1970-01-01T00:00:30.100Z");
    assert_eq!(trip["reopenings"], 2);
    assert_eq!(report["trips"].as_array().unwrap().len(), 1);
}

#[test]
fn the_same_calls_come_to_the_same_in_every_format() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    let traffic = Traffic::two_outages();
    let mut totals = Vec::new();
    for format in FORMATS {
        folder.write(format, log(format, &traffic));
        let key = key_field(format);
        let arguments = ["replay", "-c", "breaker.toml", "--json", "--key-field", key, format];
        let report = folder.json(&arguments);
        assert_eq!(report["breakers"], 2, "{format}");
        assert_eq!(report["totals"]["calls"], 3_000, "{format}");
        totals.push((format, report["totals"].clone()));
    }
    let to_the_millisecond = ["json", "csv", "envoy", "alb"];
    let (_, json) = &totals[0];
    assert!(json["trips"].as_u64().unwrap() >= 2, "{json}");
    for (format, other) in &totals {
        if to_the_millisecond.contains(format) {
            assert_eq!(other, json, "{format}");
        } else {
            // Whole seconds put the calls of a second in another order.
            assert_eq!(other["failed"], json["failed"], "{format}");
            let saved = |of: &serde_json::Value| of["saved"].as_f64().unwrap();
            assert!((saved(other) / saved(json) - 1.0).abs() < 0.25, "{format}: {other}");
        }
    }
}

#[test]
fn the_logs_in_the_repository_are_those_that_the_generator_makes() {
    for format in FORMATS {
        let path = format!("{}/tests/data/{format}.log", env!("CARGO_MANIFEST_DIR"));
        let mut traffic = Traffic::two_outages();
        (traffic.calls_per_second, traffic.seconds) = (2, 60);
        traffic.outages = vec![(20, 40, 100)];
        let made = log(format, &traffic);
        // Run with UPDATE_SAMPLES=1 after a change of the generator.
        if std::env::var_os("UPDATE_SAMPLES").is_some() {
            fs::write(&path, &made).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), made, "{path}");
    }
}

#[test]
fn compressed_logs_standard_input_and_several_files_are_read_alike() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    let text = log("json", &Traffic::two_outages());
    let (first, second) = text.split_at(text.find("\n{\"ts\":17672259").unwrap() + 1);
    folder.write("all.jsonl", &text);
    // Two compressed parts in one file, as concatenated rotated logs are.
    folder.write("all.gz", [gzip(first), gzip(second)].concat());
    folder.write("old.gz", gzip(first));
    folder.write("new.jsonl", second);
    let run = ["replay", "-c", "breaker.toml", "--json"];
    let totals = |logs: &[&str]| folder.json(&[&run[..], logs].concat())["totals"].clone();
    let expected = totals(&["all.jsonl"]);
    assert_eq!(totals(&["all.gz"]), expected);
    // In the order in which a shell lists them, not that of time.
    assert_eq!(totals(&["new.jsonl", "old.gz"]), expected);

    let output = Command::new(env!("CARGO_BIN_EXE_nanobreaker"))
        .current_dir(folder.path())
        .args(run)
        .arg("-")
        .stdin(Stdio::from(File::open(folder.path().join("all.gz")).unwrap()))
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["totals"], expected);
}

#[test]
fn lines_out_of_order_are_sorted_in_and_those_too_far_out_are_counted() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    let text = log("csv", &Traffic::two_outages());
    let mut lines: Vec<&str> = text.lines().collect();
    // By their begins, with which they start.
    lines[1..].sort_unstable();
    folder.write("in_order.csv", lines.join("\n"));
    // Reversed in stretches of 100.
    lines[1..].chunks_mut(100).for_each(<[_]>::reverse);
    folder.write("shuffled.csv", lines.join("\n"));
    let run =
        |sort: &str, log: &str| folder.json(&["replay", "-c", "breaker.toml", "--json", "--sort", sort, log]);
    let expected = run("1", "in_order.csv");
    assert_eq!(expected["skipped"]["out_of_order"], 0);
    let sorted = run("100", "shuffled.csv");
    assert_eq!(sorted["totals"], expected["totals"]);
    let unsorted = run("10", "shuffled.csv");
    let left_out = unsorted["skipped"]["out_of_order"].as_u64().unwrap();
    assert!(left_out > 0);
    assert_eq!(unsorted["totals"]["calls"], 3_000 - left_out);
}

#[test]
fn fields_may_have_other_names_and_units() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    folder.write("calls.csv", "when,fine,took_us,shop\n1767225600000,no,1500,a\n1767225601000,yes,1500,b\n");
    let report = folder.json(&[
        "replay",
        "-c",
        "breaker.toml",
        "--json",
        "--ts-field",
        "when",
        "--ok-field",
        "fine",
        "--duration-field",
        "took_us",
        "--key-field",
        "shop",
        "calls.csv",
    ]);
    assert_eq!(report["breakers"], 2);
    assert_eq!(report["totals"]["failed"], 1);
    assert_eq!(report["from"], "2026-01-01T00:00:00.000Z");
    assert_eq!(report["to"], "2026-01-01T00:00:01.001Z");
    let one = folder.json(&[
        "replay",
        "-c",
        "breaker.toml",
        "--json",
        "--ts-field",
        "when",
        "--ok-field",
        "fine",
        "--duration-field",
        "took_us",
        "--one-breaker",
        "--time-is",
        "end",
        "calls.csv",
    ]);
    assert_eq!(one["breakers"], 1);
    assert_eq!(one["to"], "2026-01-01T00:00:01.000Z");
}

#[test]
fn the_table_says_what_was_saved_and_lists_the_trips() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    folder.write("calls.log", log("json", &Traffic::two_outages()));
    let table = folder.printed(&["replay", "-c", "breaker.toml", "calls.log"]);
    for words in [
        "against 3,000 calls from 2026-01-01T00:00:",
        "doomed calls saved",
        "worker-seconds",
        "good calls lost",
        "longest detection",
        "payments",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    // The breaker of the dependency without an outage did not trip.
    assert!(!table.contains("search"), "{table}");
}

#[test]
fn the_timeline_is_well_formed_and_escapes_the_keys() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    let lines: String = (0..40)
        .map(|n| format!("{{\"ts\":{n},\"ok\":false,\"duration_s\":0.5,\"key\":\"<script>&\\u001b[31m\"}}\n"))
        .collect();
    folder.write("calls.jsonl", lines);
    for file in ["timeline.svg", "timeline.html"] {
        folder.printed(&["replay", "-c", "breaker.toml", "--timeline", file, "calls.jsonl"]);
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains("&lt;script&gt;&amp;"), "{file}");
        assert!(!text.contains("<script>") && !text.contains('\u{1b}'), "{file}");
        let open = text.matches("<svg").count();
        assert_eq!((open, text.matches("</svg>").count()), (1, 1), "{file}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    let lines = "\u{feff}{\"ts\":1,\"ok\":true,\"duration_ms\":5}\r\n";
    folder.write("calls.jsonl", lines);
    folder.write("calls.csv", "\u{feff}ts,ok,duration_ms\r\n1,true,5\r\n");
    let report = folder.json(&["replay", "-c", "breaker.toml", "--json", "calls.jsonl", "calls.csv"]);
    assert_eq!(report["totals"]["succeeded"], 2);
    assert_eq!(report["skipped"]["malformed"], 0);
}

#[test]
fn several_configurations_and_the_default_are_played_side_by_side() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    let run = ["replay", "--default", "-c", "breaker.toml", "calls.jsonl"];
    let report = folder.json(&[&run[..], &["--json"]].concat());
    let each = report["configurations"].as_array().unwrap();
    let alone = folder.json(&["replay", "-c", "breaker.toml", "--json", "calls.jsonl"]);
    assert_eq!(each[0]["config"], "the default");
    assert_eq!(each[0]["totals"], report["totals"]);
    assert_eq!(each[1]["totals"], alone["totals"]);
    assert_eq!(alone["schema"], 1);
    assert!(alone["assumption"].is_string());
    let table = folder.printed(&run);
    assert!(table.contains("the default  breaker.toml"), "{table}");
    assert!(table.contains("Assumed: "), "{table}");
}

#[test]
fn breakers_are_told_apart() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    let report = folder.json(&["replay", "-c", "breaker.toml", "--json", "calls.jsonl"]);
    let trips: Vec<_> = report["by_breaker"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["key"].as_str().unwrap(), one["totals"]["trips"].as_u64().unwrap()))
        .collect();
    assert_eq!(trips[1], ("search", 0));
    assert!(trips[0].0 == "payments" && trips[0].1 >= 2, "{trips:?}");
    let table = folder.printed(&["replay", "-c", "breaker.toml", "calls.jsonl"]);
    assert!(table.contains("1 breaker did not trip"), "{table}");
}

#[test]
fn only_calls_of_a_time_are_played_where_one_is_named() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    let (from, to) = ("2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z");
    let run = ["replay", "-c", "breaker.toml", "--json", "calls.jsonl", "--from", from, "--to", to];
    let report = folder.json(&run);
    assert_eq!(report["totals"]["calls"], 300);
    assert_eq!(report["skipped"]["outside_from_to"], 2_700);
    assert!(report["from"].as_str().unwrap().starts_with("2026-01-01T00:01:"));
}

#[test]
fn calls_of_one_whole_second_are_spread_over_it() {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    // The same calls with their milliseconds, and with whole seconds.
    let mut traffic = Traffic::two_outages();
    (traffic.calls_per_second, traffic.noise_permille) = (50, 60);
    traffic.keys = vec!["payments"];
    folder.write("exact.jsonl", log("json", &traffic));
    folder.write("whole.log", log("nginx", &traffic));
    let run = |file: &str| folder.json(&["replay", "-c", "breaker.toml", "--json", file]);
    let (exact, whole) = (run("exact.jsonl"), run("whole.log"));
    let trips = |report: &serde_json::Value| report["totals"]["trips"].as_f64().unwrap();
    let (exact, of_whole) = (trips(&exact), trips(&whole));
    assert!((of_whole / exact - 1.0).abs() < 0.25, "{of_whole} of {exact}");
    assert!(whole["warnings"].to_string().contains("whole seconds"));
}
