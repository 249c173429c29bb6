//! Every layout that is read by itself, by a small log of its own with an outage of long calls.
//!
//! `tests/data/layouts/expected.jsonl` says of each what a right reading is: the layout, where the duration is,
//! how many lines there are, what counts as a call, the median of the durations, when the first call began and
//! the last one ended. `must` is `read`, `ask` (several
//! readings are possible; `candidates` are the words in question, counted from the line's end) or `refuse`.

use serde_json::Value;

use super::*;

fn data(file: &str) -> String {
    format!("{}/tests/data/layouts/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn expected() -> Vec<Value> {
    let text = fs::read_to_string(data("expected.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn replay(folder: &Folder, options: &[&str]) -> Output {
    folder.write("breaker.toml", BREAKER);
    folder.run(&[&["replay", "-c", "breaker.toml", "--json"], options].concat())
}

fn seconds(time: &Value) -> f64 {
    let time: jiff::Timestamp = time.as_str().unwrap().parse().unwrap();
    time.as_microsecond() as f64 / 1e6
}

#[test]
fn every_layout_that_can_be_read_is_read_right_and_no_other_is_read_at_all() {
    let folder = Folder::new();
    for expected in expected() {
        let file = expected["file"].as_str().unwrap();
        let output = replay(&folder, &[&data(file)]);
        let error = String::from_utf8_lossy(&output.stderr);
        if expected["must"] != "read" {
            assert_eq!(output.status.code(), Some(1), "{file}");
            check_question(&expected, &error);
            continue;
        }
        assert!(output.status.success(), "{file}: {error}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let read = &report["read"];
        for key in ["format", "times_are", "duration_from", "duration_unit", "median_ms"] {
            assert_eq!(read[key], expected[key], "{file}: {key}");
        }
        assert_eq!(read["logs"][0]["lines"], expected["lines"], "{file}");
        assert_eq!(report["totals"]["calls"], expected["calls"], "{file}");
        assert_eq!(report["totals"]["failed"], expected["failed"], "{file}");
        // Whole seconds are spread.
        let step = if read["time_resolution"] == "s" { 1.0 } else { 0.001 };
        for side in ["from", "to"] {
            let off = seconds(&report[side]) - seconds(&expected[side]);
            assert!((-1e-6..step).contains(&off), "{file}: {side} {}", report[side]);
        }
    }
}

fn check_question(expected: &Value, error: &str) {
    let file = expected["file"].as_str().unwrap();
    let candidates = expected["candidates"].as_array();
    for candidate in candidates.into_iter().flatten() {
        let option = format!("(or {candidate})");
        assert!(error.contains(&option), "{file}: {option}: {error}");
    }
    if expected["must"] == "ask" {
        assert!(error.contains("--duration-word"), "{file}: {error}");
        assert!(error.contains("   1  192.0.2.7"), "{file}: {error}");
    }
}

/// Words, side, unit and median that a choice leads to.
fn chosen(file: &str, options: &[&str]) -> (String, String, f64) {
    let folder = Folder::new();
    let path = data(file);
    let output = replay(&folder, &[&[path.as_str()], options].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{file} {options:?}: {error}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |name: &str| report["read"][name].as_str().unwrap().to_owned();
    let median = report["read"]["median_ms"].as_f64().unwrap();
    (text("times_are"), text("duration_unit"), median)
}

#[test]
fn what_is_asked_can_be_answered() {
    let nginx = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $upstream_response_time $request_time"#;
    let apache = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %I %O %D"#;
    type Case<'a> = (&'a str, &'a [&'a str], (&'a str, &'a str, f64));
    let cases: [Case<'_>; 7] = [
        ("nginx-two-bare-times.log", &["--duration-word", "-1"], ("end", "s", 303.0)),
        ("nginx-two-bare-times.log", &["--duration-word", "11"], ("end", "s", 303.0)),
        ("nginx-two-bare-times.log", &["--log-format", nginx], ("end", "s", 303.0)),
        (
            "apache-combinedio-D.log",
            &["--duration-word", "-1", "--duration-unit", "us"],
            ("begin", "us", 289.407),
        ),
        ("apache-combinedio-D.log", &["--log-format", apache], ("begin", "us", 289.407)),
        ("tomcat-D.log", &["--duration-unit", "ms"], ("end", "ms", 193.0)),
        (
            "nginx-two-bare-times.log",
            &["--time-word", "4", "--status-word", "6", "--duration-word", "11"],
            ("end", "s", 303.0),
        ),
    ];
    for (file, options, (side, unit, median)) in cases {
        let expected = (side.to_owned(), unit.to_owned(), median);
        assert_eq!(chosen(file, options), expected, "{file} {options:?}");
    }
}

/// Lines of nginx's combined format with `$request_time` behind, each with that time apart.
fn nginx_lines() -> Vec<(String, String)> {
    let text = fs::read_to_string(data("nginx-request-time.log")).unwrap();
    let apart = |line: &str| line.rsplit_once(' ').map(|(line, time)| (line.to_owned(), time.to_owned()));
    text.lines().filter_map(apart).collect()
}

#[test]
fn known_variables_may_stand_in_any_order() {
    type Put = fn(&str, &str) -> String;
    let orders: [(Put, &str); 6] = [
        (|line, time| line.replacen("] ", &format!("] {time} "), 1), "word 1 after the time"),
        (|line, time| line.replacen("] ", &format!("] 7 {time} - "), 1), "word 2 after the time"),
        (
            |line, time| line.replacen("\" 200 ", &format!("\" 200 {time} "), 1),
            "word 2 after the request line",
        ),
        (|line, time| format!("{time} {line}"), "word 1 of the line"),
        (|line, time| format!("\"www.example.com\" {line} {time}"), "the last word"),
        (
            |line, time| format!("\"9.999, 71ms\" {line} \"1.000\" {time} \"0.5\""),
            "the second word after the agent",
        ),
    ];
    let folder = Folder::new();
    for (put, place) in orders {
        let lines =
            nginx_lines().into_iter().filter(|(line, _)| !place.contains('2') || line.contains("\" 200 "));
        let mut times: Vec<f64> = Vec::new();
        let mut log = String::new();
        for (line, time) in lines {
            log += &(put(&line, &time) + "\n");
            times.push(time.parse::<f64>().unwrap() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let path = folder.write("calls.log", log);
        let output = replay(&folder, &[path.to_str().unwrap()]);
        assert!(output.status.success(), "{place}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let read = &report["read"];
        assert_eq!(read["duration_from"], format!("$request_time, {place}"));
        assert_eq!(read["times_are"], "end", "{place}");
        assert_eq!(read["median_ms"], times[times.len().div_ceil(2) - 1], "{place}");
    }
}

#[test]
fn a_question_counts_words_as_its_answer_does() {
    let folder = Folder::new();
    let line = r#"www [01/Mar/2026:12:00:06 +0000] curl/8 "GET /a b" 0.100 200"#;
    let path = folder.write("own.log", format!("{line}\n").repeat(3));
    let path = path.to_str().unwrap();
    let error = String::from_utf8(replay(&folder, &["--format", "combined", path]).stderr).unwrap();
    assert!(error.contains("   4  \"GET /a b\"\n   5  0.100"), "{error}");
    let options = ["--time-word", "2", "--duration-word", "5", "--status-word", "6", path];
    let output = replay(&folder, &options);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["read"]["median_ms"], 100.0, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn fields_in_quotes_tell_names_and_units_as_well_as_others() {
    let folder = Folder::new();
    let line = |second: u32| format!("2026-03-01T12:00:{second:02}Z,200,\"Mozilla/5.0 (X11, Linux)\",71\n");
    let csv: String =
        std::iter::once("ts,status,agent,latency_us\n".to_owned()).chain((0..9).map(line)).collect();
    let csv = folder.write("calls.csv", csv);
    // Caddy can be told to write durations as text.
    let line = |second: u32| {
        let request = r#"{"method": "GET", "uri": "/"}"#;
        format!("{{\"ts\": {second}.5, \"duration\": \"71us\", \"status\": 200, \"request\": {request}}}\n")
    };
    let caddy = folder.write("caddy.jsonl", (0..9).map(line).collect::<String>());
    for (path, from, unit) in [(csv, "latency_us", "us"), (caddy, "duration", "text")] {
        let report: Value =
            serde_json::from_slice(&replay(&folder, &[path.to_str().unwrap()]).stdout).unwrap();
        assert_eq!(report["read"]["duration_from"], from, "{report}");
        assert_eq!(report["read"]["duration_unit"], unit, "{report}");
        assert_eq!(report["read"]["median_ms"], 0.071, "{report}");
    }
}

#[test]
fn data_that_breaks_off_loses_its_last_line_and_not_the_run() {
    let folder = Folder::new();
    let whole = fs::read(data("nginx-request-time.log.zst")).unwrap();
    let line = r#"10.0.0.1 - - [01/Mar/2026:12:00:06 +0000] "GET /pay HTTP/1.1" 200 310 "-" "curl" 0.099"#;
    folder.write("all.log", format!("{line}\n").repeat(50_000));
    let all = fs::read(folder.path().join("all.log")).unwrap();
    let packed = zstd::encode_all(all.as_slice(), 1).unwrap();
    folder.write("cut.zst", &packed[..packed.len() * 9 / 10]);
    folder.write("two.zst", [whole.as_slice(), &packed[..packed.len() * 9 / 10]].concat());
    for (file, least) in [("cut.zst", 1), ("two.zst", 15)] {
        let output = replay(&folder, &[file]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let calls = report["totals"]["calls"].as_u64().unwrap();
        assert!((least..50_015).contains(&calls), "{file}: {calls}");
        assert_eq!(report["skipped"]["malformed"], 0);
        assert!(report["warnings"].to_string().contains("breaks off"), "{report}");
    }
    let whole = fs::read(data("nginx-request-time.log.gz")).unwrap();
    folder.write("followed.gz", [whole.as_slice(), b"no gzip"].concat());
    let output = replay(&folder, &["followed.gz"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["read"]["logs"][0]["lines"], 15);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("breaks off") && !warnings.contains("last line"), "{warnings}");
}

#[test]
fn a_quote_that_a_client_sends_and_nobody_escapes_changes_no_status() {
    let folder = Folder::new();
    let text = fs::read_to_string(data("envoy-default.log")).unwrap();
    // As the request `GET /"503` is written.
    let hostile = text.replace("\"GET /pay HTTP/1.1\" 200", "\"GET /\"503 HTTP/1.1\" 200");
    assert_ne!(text, hostile);
    let path = folder.write("hostile.log", hostile);
    let report: Value = serde_json::from_slice(&replay(&folder, &[path.to_str().unwrap()]).stdout).unwrap();
    let plain = replay(&folder, &[&data("envoy-default.log")]);
    let plain: Value = serde_json::from_slice(&plain.stdout).unwrap();
    assert_eq!(report["totals"], plain["totals"]);
    assert_eq!(report["read"]["format"], plain["read"]["format"]);
}
