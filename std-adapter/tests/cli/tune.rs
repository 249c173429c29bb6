use super::*;
use sample::{Traffic, log};

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
    assert!(
        numbers.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1),
        "{numbers:?}"
    );
    // The log has two outages of a minute each: a good configuration saves most of their calls.
    let failed = report["best"][0]["totals"]["failed"].as_u64().unwrap();
    assert!(
        numbers.last().unwrap().0 * 10 > failed * 7,
        "{numbers:?} of {failed}"
    );
}

#[test]
fn what_is_printed_can_be_pasted() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    folder.write(
        "base.toml",
        "probes = 2\nsuccesses = 2\njitter_permille = 100\nmax_open = '1m'\n",
    );
    let text = folder.printed(&["tune", "--best", "1", "-c", "base.toml", "calls.jsonl"]);
    assert!(text.contains("successes = 2"), "{text}");
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
    assert!(
        text.contains("none of them would have saved a call"),
        "{text}"
    );
}

#[test]
fn open_times_that_a_cap_rules_out_are_an_error() {
    let folder = Folder::new();
    folder.write("calls.jsonl", log("json", &Traffic::two_outages()));
    folder.write("base.toml", "max_open = '10s'");
    let error = folder.refused(
        1,
        &["tune", "-c", "base.toml", "--open-for", "1m", "calls.jsonl"],
    );
    assert!(error.contains("leave nothing to try"), "{error}");
}
