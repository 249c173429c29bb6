use super::*;

#[test]
fn a_configuration_is_put_into_words_with_its_traps() {
    let folder = Folder::new();
    folder.write(
        "breaker.toml",
        "open_for = '2s'\n[window]\nkind = 'time'\nspan = '10s'\nmin_calls = 50\n",
    );
    let text = folder.printed(&[
        "explain",
        "breaker.toml",
        "--calls-per-second",
        "2",
        "--timeout",
        "30s",
    ]);
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
fn what_would_tell_more_is_asked_for() {
    let folder = Folder::new();
    folder.write("breaker.toml", "");
    let text = folder.printed(&["explain", "breaker.toml"]);
    assert!(text.contains("--calls-per-second and --timeout"), "{text}");
}
