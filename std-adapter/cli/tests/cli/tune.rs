use super::*;
use sample::{Traffic, log};

/// Two outages in a fifth of the calls: for tests of what is printed, whatever it comes to.
fn sparse() -> Traffic {
    Traffic { calls_per_second: 1, ..Traffic::two_outages() }
}

#[test]
fn each_configuration_that_is_printed_comes_to_what_was_promised() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    let report = folder.json(&["tune", "--json", "calls.jsonl"]);
    let best = report["best"].as_array().unwrap();
    assert!((2..=5).contains(&best.len()), "{report}");
    for choice in best {
        folder.write("best.toml", choice["toml"].as_str().unwrap());
        let replayed = folder.json(&["replay", "-c", "best.toml", "--json", "calls.jsonl"]);
        assert_eq!(replayed["totals"], choice["totals"], "{choice}");
    }
}

#[test]
fn from_one_to_the_next_more_is_saved_and_more_is_lost() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    let report = folder.json(&["tune", "--json", "--best", "8", "calls.jsonl"]);
    let numbers: Vec<_> = report["best"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| {
            let of = |name: &str| choice["totals"][name].as_u64().unwrap();
            (of("saved"), of("lost"))
        })
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{numbers:?}");
    // The log has two outages of a minute each: a good configuration saves most of their calls.
    let failed = report["best"][0]["totals"]["failed"].as_u64().unwrap();
    assert!(numbers.last().unwrap().0 * 10 > failed * 7, "{numbers:?} of {failed}");
}

#[test]
fn what_is_printed_can_be_pasted() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &sparse()));
    folder
        .write("base.toml", "max_probes = 2\nprobe_successes = 2\njitter_permille = 100\nmax_open = '1m'\n");
    let text = folder.printed(&["tune", "--best", "1", "-c", "base.toml", "calls.jsonl"]);
    assert!(text.contains("probe_successes = 2"), "{text}");
    // Everything that is no setting is a comment.
    folder.write("pasted.toml", &text);
    folder.printed(&["explain", "pasted.toml"]);
}

#[test]
fn a_log_without_failures_needs_no_breaker() {
    let folder = Folder::new();
    let mut traffic = Traffic::two_outages();
    (traffic.outages, traffic.noise_permille) = (Vec::new(), 0);
    folder.write("calls.jsonl", log("json", &traffic));
    let text = folder.printed(&["tune", "calls.jsonl"]);
    assert!(text.contains("none of them would have saved a call"), "{text}");
}

#[test]
fn open_times_that_a_cap_rules_out_are_an_error() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    folder.write("base.toml", "max_open = '10s'");
    let error = folder.refused(1, &["tune", "-c", "base.toml", "--open-for", "1m", "calls.jsonl"]);
    assert!(error.contains("leave nothing to try"), "{error}");
}

/// What is said of a log in which so many calls in a hundred fail from one second to another.
fn verdict_on(outages: Vec<sample::Outage>, noise_permille: u64) -> serde_json::Value {
    let folder = Folder::new();
    let mut traffic = Traffic::two_outages();
    (traffic.outages, traffic.noise_permille) = (outages, noise_permille);
    traffic.keys = vec!["payments"];
    folder.write("calls.jsonl", log("json", &traffic));
    folder.json(&["tune", "--json", "calls.jsonl"])
}

#[test]
fn a_breaker_is_worth_it_where_outages_are_and_not_elsewhere() {
    let outages = verdict_on(vec![(120, 180, 100), (360, 420, 100)], 5);
    assert_eq!(outages["verdict"], "worth_it", "{outages}");
    assert!(outages["split_at"].is_string());
    // Whoever pastes what is printed as it is loses nothing by it.
    let check_recommended = |report: &serde_json::Value| {
        let choices = report["choices"].as_array().unwrap();
        let recommended = choices.iter().filter(|choice| choice["recommended"] == true);
        let loses_more: Vec<_> = recommended.map(|choice| &choice["loses_more_than_it_saves"]).collect();
        assert_eq!(loses_more, [false], "{report}");
    };
    check_recommended(&outages);
    let healthy = verdict_on(Vec::new(), 5);
    assert_eq!(healthy["verdict"], "not_worth_it", "{healthy}");
    check_recommended(&healthy);
    // Whatever is done about one call in five costs four good ones.
    let brown_out = verdict_on(vec![(60, 540, 15)], 5);
    assert_eq!(brown_out["verdict"], "not_worth_it", "{brown_out}");
    check_recommended(&brown_out);
}

#[test]
fn whatever_is_printed_replays_as_it_stands() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &sparse()));
    for options in [&[][..], &["--best", "1"], &["--per-key"], &["--open-for", "1s,5s"]] {
        let run = [&["tune", "calls.jsonl"][..], options].concat();
        folder.write("tuned.toml", folder.printed(&run));
        let replayed = folder.json(&["replay", "-c", "tuned.toml", "--json", "calls.jsonl"]);
        assert!(replayed["totals"]["saved"].as_u64().unwrap() > 0, "{options:?}");
    }
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    let report = folder.json(&["tune", "--json", "--per-key", "calls.jsonl"]);
    let by_breaker = report["by_breaker"].as_array().unwrap();
    let verdicts: Vec<_> = by_breaker.iter().map(|one| (&one["key"], &one["verdict"])).collect();
    assert_eq!(verdicts.len(), 2);
    for (key, verdict) in verdicts {
        let expected = if key == "payments" { "worth_it" } else { "not_worth_it" };
        assert_eq!(verdict, expected, "{report}");
    }
}

#[test]
fn breakers_that_a_catalogue_can_not_name_apart_do_not_spoil_it() {
    let folder = Folder::new();
    let outage = |key: &str| -> String {
        let line = |second: u32| {
            let status = if (20..40).contains(&second) { 503 } else { 200 };
            format!("{{\"ts\":{second},\"status\":{status},\"duration_ms\":5,\"key\":\"{key}\"}}\n")
        };
        (0..60).flat_map(|second| [line(second), line(second)]).collect()
    };
    folder.write("calls.jsonl", ["", "/Pay", "/pay", "a\\\"]\\n"].map(outage).concat());
    let run = ["tune", "--per-key", "--sort", "1000", "calls.jsonl"];
    let text = folder.printed(&run);
    assert_eq!(text.matches("a catalogue can't name it apart").count(), 2, "{text}");
    folder.write("tuned.toml", text);
    let replayed = folder.json(&["replay", "-c", "tuned.toml", "--json", "calls.jsonl"]);
    assert_eq!(replayed["breakers"], 4, "{replayed}");
}

#[test]
fn the_closest_settings_of_other_libraries_are_printed() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &sparse()));
    for (library, words) in [
        ("resilience4j", "waitDurationInOpenState"),
        ("polly", "CircuitBreakerStrategyOptions"),
        ("opossum", "resetTimeout"),
        ("envoy", "outlier_detection"),
        ("hystrix", "sleepWindowInMilliseconds"),
    ] {
        let text = folder.printed(&["tune", "--open-for", "5s", "--as", library, "calls.jsonl"]);
        assert!(text.contains(words), "{library}: {text}");
        let run = ["tune", "--json", "--open-for", "5s", "--as", library, "calls.jsonl"];
        let report = folder.json(&run);
        assert_eq!(report["choices"][0]["as"]["library"], library);
    }
}

#[test]
fn what_can_be_read_only_once_is_kept_to_be_read_twice_and_called_by_its_name() {
    let folder = Folder::new();
    let path = folder.write("calls.jsonl", log("json", &sparse()));
    let verdict = &folder.json(&["tune", "--json", "calls.jsonl"])["verdict"];
    for json in [true, false] {
        let output = Command::new(env!("CARGO_BIN_EXE_nanobreaker"))
            .args(["tune", "-"])
            .args(json.then_some("--json"))
            .stdin(std::process::Stdio::from(fs::File::open(&path).unwrap()))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(if json { r#""path": "-""# } else { "# -: JSON lines" }), "{text}");
        assert!(!text.contains("tmp"), "{text}");
        assert!(
            text.contains(&if json {
                format!("\"verdict\": {verdict}")
            } else {
                "saves 28 of 48 bad calls".into()
            }),
            "{text}"
        );
    }
    let pipe = ["-c", "\"$0\" tune --json <(cat calls.jsonl)", env!("CARGO_BIN_EXE_nanobreaker")];
    let output = Command::new("bash").current_dir(folder.path()).args(pipe).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(&report["verdict"], verdict, "{}", String::from_utf8_lossy(&output.stderr));
}
