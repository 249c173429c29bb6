use super::*;

#[test]
fn a_configuration_is_put_into_words_with_its_traps() {
    let folder = Folder::new();
    folder.write(
        "breaker.toml",
        "open_for = '2s'\nprobe_lease = '2s'\n[window]\nkind = 'time'\nspan = '10s'\nmin_calls = 50\n",
    );
    let text = folder.printed(&["explain", "breaker.toml", "--calls-per-second", "2", "--timeout", "30s"]);
    for words in [
        "opens when 50 % of the calls of the last 10s failed, once there are 50",
        "rejects every call for 2s",
        "window.min_calls: only 20.0 calls come in 10s, fewer than min_calls = 50",
        "open_for: 2s is shorter than the 30s that a call may hang",
        "probe_lease: probes are given up after 2s",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json = folder.json(&["explain", "--json", "--timeout", "30s", "breaker.toml"]);
    assert_eq!(json["traps"][0]["setting"], "open_for");
}

#[test]
fn a_timeout_outside_of_the_breaker_is_warned_of_where_nothing_judges_the_call_before() {
    let folder = Folder::new();
    let warned = |settings: &str, option: &str| {
        folder.write("breaker.toml", format!("open_for = '4s'\n{settings}"));
        let text = folder.printed(&["explain", "breaker.toml", option, "3s"]);
        text.contains("a timeout of 3s outside of the breaker drops calls")
    };
    assert!(warned("", "--timeout-outside"));
    assert!(warned("hung_after = '3s'", "--timeout-outside"));
    assert!(!warned("hung_after = '2s'", "--timeout-outside"));
    assert!(!warned("slow_after = '2s'", "--timeout-outside"));
    assert!(!warned("", "--timeout"));
}

#[test]
fn what_would_tell_more_is_asked_for() {
    let folder = Folder::new();
    folder.write("breaker.toml", "open_for = '10s'");
    let text = folder.printed(&["explain", "breaker.toml"]);
    assert!(text.contains("No traps found."), "{text}");
    assert!(text.contains("--rate, --normal and --timeout"), "{text}");
}

const CATALOG: &str = "
[defaults]
open_for = '5s'

[profiles.patient]
open_for = '20s'

[breakers.payments]
profile = 'patient'
window = { kind = 'consecutive', threshold = 3 }
";

#[test]
fn the_breakers_of_a_catalogue_are_explained_one_by_one() {
    let folder = Folder::new();
    folder.write("breakers.toml", CATALOG);
    let text = folder.printed(&["explain", "breakers.toml"]);
    let (defaults, payments) = text.split_once("[breakers.payments]").unwrap();
    assert!(defaults.starts_with("[defaults]\nThe breaker opens when there is evidence"), "{text}");
    assert!(payments.contains("rejects every call for 20s"), "{text}");
    let json = folder.json(&["explain", "--json", "breakers.toml"]);
    assert!(json["breakers.payments"]["does"].is_array(), "{json}");
}

#[test]
fn each_key_of_a_log_has_the_settings_of_its_name() {
    let folder = Folder::new();
    folder.write("breakers.toml", CATALOG);
    let lines: String = (0..10)
        .flat_map(|second| ["payments", "search"].map(|key| (second, key)))
        .map(|(second, key)| {
            // Not in whole seconds, whose calls would be spread over them.
            format!("{{\"ts\":{second}.5,\"ok\":false,\"duration_ms\":10,\"key\":\"{key}\"}}\n")
        })
        .collect();
    folder.write("calls.jsonl", lines);
    let report = folder.json(&["replay", "-c", "breakers.toml", "--json", "calls.jsonl"]);
    let trips: Vec<_> = report["trips"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trip| (trip["key"].as_str().unwrap(), trip["at"].as_str().unwrap()))
        .collect();
    // Three in a row, and the seven that the default's evidence takes.
    assert_eq!(trips, [("payments", "1970-01-01T00:00:02.510Z"), ("search", "1970-01-01T00:00:06.510Z")]);
    assert_eq!(report["trips"][0]["open_for_s"], 20.0);
}

#[test]
fn the_same_configuration_may_be_toml_json_or_yaml() {
    let folder = Folder::new();
    folder.write("b.toml", "open_for = '5s'\n[window]\nkind = 'consecutive'");
    folder.write("b.json", r#"{"open_for": "5s", "window": {"kind": "consecutive"}}"#);
    folder.write("b.yaml", "open_for: 5s\nwindow:\n  kind: consecutive\n");
    // Some programs begin a file with a byte order mark.
    folder.write("marked.json", "\u{feff}{\"open_for\": \"5s\", \"window\": {\"kind\": \"consecutive\"}}");
    folder.write("marked.yaml", "\u{feff}open_for: 5s\nwindow:\n  kind: consecutive\n");
    let files = ["b.toml", "b.json", "b.yaml", "marked.json", "marked.yaml"];
    let explained = files.map(|file| folder.printed(&["explain", file]));
    assert!(explained[0].contains("5 calls in a row failed"), "{}", explained[0]);
    assert!(explained.iter().all(|text| *text == explained[0]), "{explained:?}");

    let profile = r#"{"profiles": {"p": {"max_probes": 2}}, "breakers": {"a": {"profile": "p"}}}"#;
    folder.write("many.json", profile);
    let text = folder.printed(&["explain", "many.json"]);
    assert!(text.contains("[breakers.a]"), "{text}");

    folder.write("wrong.json", "{\n  \"open_fro\": \"5s\"\n}");
    let error = folder.refused(1, &["explain", "wrong.json"]);
    assert!(error.contains("open_fro") && error.contains("line 2"), "{error}");
    folder.write("wrong.yaml", "open_for: 5 parsecs\n");
    let error = folder.refused(1, &["explain", "wrong.yaml"]);
    assert!(error.contains("open_for") && error.contains("parsecs"), "{error}");
}

#[test]
fn trips_on_noise_alone_are_told_and_warned_of() {
    let folder = Folder::new();
    folder.write("count.toml", "[window]\nkind = 'failures'\nthreshold = 5\nwithin = '10s'");
    folder.write("row.toml", "[window]\nkind = 'consecutive'\nthreshold = 7");
    let explain = |file: &str| {
        let run = ["explain", "--json", file, "--rate", "500", "--normal", "0.2%"];
        folder.json(&run)
    };
    // Forty trips in ten minutes, as a replay of such traffic tells.
    let count = explain("count.toml");
    let per_day = count["noise"]["false_trips_per_day"].as_f64().unwrap();
    assert!((5_000.0..40_000.0).contains(&per_day), "{per_day}");
    let traps = count["traps"].to_string();
    assert!(traps.contains("10 calls fail within 10s anyway"), "{traps}");
    let row = explain("row.toml");
    assert_eq!(row["noise"]["how"], "formula");
    assert!(row["noise"]["false_trips_per_day"].as_f64().unwrap() < 1e-9, "{row}");
    assert!(!row["traps"].to_string().contains("noise"), "{row}");
}

#[test]
fn completions_and_the_manual_page_name_every_command() {
    let folder = Folder::new();
    for arguments in [&["completions", "bash"][..], &["completions", "fish"], &["manual"]] {
        let text = folder.printed(arguments);
        for command in ["replay", "tune", "explain"] {
            assert!(text.contains(command), "{arguments:?}");
        }
    }
    let help = folder.printed(&["--help"]);
    assert!(help.contains("HAProxy"), "{help}");
}
