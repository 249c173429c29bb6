use super::*;

const GOOD: &str = "{\"ts\":1,\"status\":200,\"duration_ms\":5}\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("breaker.toml", BREAKER);
    folder
}

#[test]
fn malformed_lines_are_counted_shown_with_their_numbers_and_skipped() {
    let folder = folder();
    let mut log = GOOD.as_bytes().to_vec();
    log.extend_from_slice(b"not json\n\n{\"ts\":2,\"status\":\"x\",\"duration_ms\":5}\n\xff\xfe\n");
    log.extend_from_slice(GOOD.as_bytes());
    folder.write("calls.jsonl", log);
    let run = ["replay", "-c", "breaker.toml", "calls.jsonl", "--max-malformed", "60%"];
    let report = folder.json(&[&run[..], &["--json"]].concat());
    assert_eq!(report["totals"]["calls"], 2);
    let skipped = &report["skipped"];
    assert_eq!(skipped["malformed"], 3);
    let lines: Vec<_> = skipped["malformed_lines"].as_array().unwrap().iter().collect();
    assert!(lines[0].as_str().unwrap().starts_with("calls.jsonl:2: column 2: "));
    assert_eq!(lines[1], "calls.jsonl:4: field `status`: \"x\" is not a status from 0 to 999");
    assert_eq!(lines[2], "calls.jsonl:5: column 1: not UTF-8");
    let table = folder.printed(&run);
    assert!(table.contains("3 malformed lines skipped:"), "{table}");
}

#[test]
fn more_than_one_malformed_line_in_a_hundred_is_an_error_wherever_they_stand() {
    let folder = folder();
    for (bad, good, is_refused) in [(1, 99, false), (2, 99, true), (1, 9, true)] {
        for first in [true, false] {
            let (bad_lines, good_lines) = ("{}\n".repeat(bad), GOOD.repeat(good));
            let log = if first { bad_lines + &good_lines } else { good_lines + &bad_lines };
            folder.write("calls.jsonl", log);
            let run = ["replay", "-c", "breaker.toml", "--json", "calls.jsonl"];
            if is_refused {
                let error = folder.refused(1, &run);
                let lines = format!("{bad} of {} lines are malformed, more than 1 %", bad + good);
                assert!(error.contains(&lines), "{error}");
                assert!(error.contains("field `ts`: missing"), "{error}");
            } else {
                assert_eq!(folder.json(&run)["totals"]["calls"], good);
            }
        }
    }
}

#[test]
fn too_many_malformed_lines_are_an_error_with_the_last_of_them() {
    let folder = folder();
    folder.write("calls.jsonl", format!("{GOOD}{}", "{}\n".repeat(5)));
    let run = ["replay", "-c", "breaker.toml", "calls.jsonl", "--max-malformed"];
    folder.printed(&[&run[..], &["5"]].concat());
    let error = folder.refused(1, &[&run[..], &["4"]].concat());
    assert!(
        error.starts_with("error: calls.jsonl:6: field `ts`: missing\nmore than 4 malformed lines"),
        "{error}"
    );
}

#[test]
fn a_configuration_that_is_wrong_is_refused_by_key_and_place() {
    let folder = folder();
    folder.write("calls.jsonl", GOOD);
    let cases = [
        ("max_probes = 100", "wrong.toml: max_probes is 100, but must be from 1 to 63"),
        ("open_fro = '1s'", "open_fro is no setting: did you mean open_for?"),
        ("\n\nopen_for = 10", "line 3, column 12"),
        ("open_for = '", "line 1, column"),
        ("[breakers.a]\nmax_probes = 100", "breakers.a.max_probes is 100, but must be from 1 to 63"),
        ("[breakers.a]\nprofile = 'x'", "breakers.a.profile is \"x\""),
    ];
    for (toml, expected) in cases {
        folder.write("wrong.toml", toml);
        for command in [
            &["explain", "wrong.toml"][..],
            &["replay", "-c", "wrong.toml", "calls.jsonl"],
            &["tune", "-c", "wrong.toml", "calls.jsonl"],
        ] {
            let error = folder.refused(1, command);
            assert!(error.contains(expected), "{toml}: {error}");
        }
    }
}

#[test]
fn files_that_are_not_there_or_hold_nothing_are_refused_by_name() {
    let folder = folder();
    folder.write("empty.log", "");
    folder.write("header.csv", "ts,status,duration_ms\n");
    folder.write("other.csv", "time,status,duration_ms\n1,200,5\n");
    folder.write("prose.txt", "once upon a time\n");
    folder.write("list.json", format!("[{}]\n", GOOD.trim_end()));
    folder.write("cut.gz", [0x1f, 0x8b, 8, 0, 0, 0]);
    let cases = [
        ("missing.log", "missing.log: No such file"),
        ("empty.log", "no calls in the logs"),
        ("header.csv", "no calls in the logs"),
        ("list.json", "no calls in the logs\n1 malformed line skipped:\n  list.json:1: column"),
        ("other.csv", "other.csv:1: field `ts`: no such column; the header has time, status"),
        ("prose.txt", "prose.txt: the first line does not tell the format"),
        ("cut.gz", "cut.gz:1: "),
        (".", "Is a directory"),
    ];
    for (log, expected) in cases {
        let error = folder.refused(1, &["replay", "-c", "breaker.toml", log]);
        assert!(error.contains(expected), "{log}: {error}");
        assert!(!folder.run(&["tune", log]).status.success());
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let folder = folder();
    folder.write("calls.jsonl", GOOD);
    let cases: [(&[&str], &str); 6] = [
        (&["--timeline", "picture.png"], "ends in .svg or .html"),
        (&["--failure-status", "5xx"], "is not a status"),
        (&["--sort", "0"], "1..=100000000"),
        (&["--format", "xml"], "possible values"),
        (&["--one-breaker", "--key-field", "x"], "cannot be used with"),
        (&["--nonsense"], "unexpected argument"),
    ];
    for (wrong, expected) in cases {
        let command = ["replay", "-c", "breaker.toml", "calls.jsonl"];
        let error = folder.refused(2, &[&command[..], wrong].concat());
        assert!(error.contains(expected), "{wrong:?}: {error}");
    }
    let never = &["--from", "2026-03-01T12:00:00Z", "--to", "2026-03-01T12:00:00Z", "calls.jsonl"][..];
    for (wrong, expected) in [
        (&["calls.jsonl", "calls.jsonl"][..], "calls.jsonl is named twice"),
        (&["-", "-"], "- is named twice"),
        (never, "--from must be before --to"),
    ] {
        for command in [&["replay", "-c", "breaker.toml"][..], &["tune"]] {
            let error = folder.refused(1, &[command, wrong].concat());
            assert!(error.contains(expected), "{wrong:?}: {error}");
        }
    }
    let duration = ["replay", "-c", "breaker.toml", "calls.jsonl", "--duration-field", "took"];
    let error = folder.refused(1, &duration);
    assert!(error.contains("add --duration-unit"), "{error}");
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let folder = folder();
    folder.write("calls.jsonl", GOOD);
    let mut child = Command::new(env!("CARGO_BIN_EXE_nanobreaker"))
        .current_dir(folder.path())
        .args(["replay", "-c", "breaker.toml", "calls.jsonl"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_key_that_no_line_has_is_refused_by_name() {
    let folder = folder();
    folder.write("calls.jsonl", GOOD);
    for command in [&["replay", "-c", "breaker.toml", "calls.jsonl"][..], &["tune", "calls.jsonl"]] {
        let error = folder.refused(1, &[command, &["--key-field", "tenant"]].concat());
        assert!(error.contains("no line has the field `tenant`"), "{error}");
    }
}

#[test]
fn a_configuration_that_says_nothing_or_hides_too_much_is_refused() {
    let folder = folder();
    folder.write("calls.jsonl", GOOD);
    let deep = format!("{{\"window\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let cases = [
        ("empty.toml", String::new(), "it says nothing"),
        ("comments.toml", "# nothing\n".to_owned(), "it says nothing"),
        ("empty.json", "{}".to_owned(), "it says nothing"),
        ("bomb.yaml", "a: &a [1, 1]\nb: [*a, *a]\n".to_owned(), "an anchor or an alias"),
        ("deep.json", deep, "deeper than"),
        ("twice.json", r#"{"latch": true, "latch": false}"#.to_owned(), "latch is set twice"),
        ("twice.json", r#"{"breakers": {"a": {}, "a": {}}}"#.to_owned(), "a is set twice"),
        ("twice.yaml", "latch: true\nlatch: false\n".to_owned(), "\"latch\""),
        ("twice.yaml", "breakers:\n  a: {}\n  a: {}\n".to_owned(), "\"a\""),
        ("twice.yaml", "breakers:\n  1: {}\n  \"1\": {}\n".to_owned(), "line 3: \"1\" is set twice"),
        ("path.yaml", "latch: true\nwindow.kind: cusum\n".to_owned(), "\"window.kind\" is no key"),
        ("twice.toml", "[breakers.a]\n[breakers.a]\n".to_owned(), "duplicate key"),
        ("large.toml", "# large\n".repeat(200_000), "larger than"),
    ];
    for (file, content, expected) in cases {
        folder.write(file, content);
        let error = folder.refused(1, &["replay", "-c", file, "calls.jsonl"]);
        assert!(error.contains(expected), "{file}: {error}");
    }
}
