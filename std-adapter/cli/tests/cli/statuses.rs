use super::*;

/// A hundred calls a second for a minute, all answered 429.
fn too_many(folder: &Folder) {
    let line = |call: u32| {
        let (second, ms) = (call / 100, call % 100 * 10);
        format!("{{\"ts\":\"2026-03-01T12:00:{second:02}.{ms:03}Z\",\"status\":429,\"duration_ms\":5}}\n")
    };
    folder.write("calls.jsonl", &(0..6_000).map(line).collect::<String>());
}

#[test]
fn what_counts_is_declared_in_the_configuration() {
    let folder = Folder::new();
    too_many(&folder);
    folder.write("usual.toml", "open_for = '1s'");
    folder.write("declared.toml", "failure_status = ['5xx', 429]");
    folder.write("ignored.toml", "ignore_status = [429]");
    let totals =
        |config: &str| folder.json(&["replay", "--json", "-c", config, "calls.jsonl"])["totals"].clone();
    assert_eq!(totals("usual.toml")["trips"], 0);
    let declared = totals("declared.toml");
    assert!(declared["trips"].as_u64() > Some(0), "{declared}");
    assert_eq!(declared["failed"], 6_000);
    assert_eq!(totals("ignored.toml")["uncounted"], 6_000);
}

#[test]
fn a_log_is_read_by_one_declaration() {
    let folder = Folder::new();
    too_many(&folder);
    folder.write("one.toml", "failure_status = ['5xx', 429]");
    folder.write("two.toml", "[defaults]\nfailure_status = ['5xx']");
    let error = folder.refused(1, &["replay", "-c", "one.toml", "-c", "two.toml", "calls.jsonl"]);
    assert!(error.contains("failure_status and ignore_status differ"), "{error}");
}
