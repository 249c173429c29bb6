//! What the guide says of this repository is so: alerts, settings, metrics, and its own pages.

mod book;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use book::pages;
use nanobreaker::PartialSettings;

/// A file of this repository.
fn read(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_runbook_has_a_section_for_each_alert() {
    let runbook = read("std-adapter/guide/src/operating/runbook.md");
    let alerts = read("std-adapter/observability/alerts.yml");
    let names: Vec<&str> = alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(runbook.contains(&format!("\n## {name}\n")), "{name} has no section");
    }
}

#[test]
fn each_setting_has_a_section() {
    let page = read("std-adapter/guide/src/settings.md");
    // The error for an unknown key lists those that there are.
    let error = toml::from_str::<PartialSettings>("qqqqqq = 1").unwrap_err().to_string();
    let (_, keys) = error.rsplit_once("which are ").unwrap_or_else(|| panic!("{error}"));
    let keys: Vec<&str> = keys.trim().split(", ").filter(|key| *key != "window").collect();
    assert!(keys.len() > 8, "{keys:?}");
    for key in keys {
        assert!(page.contains(&format!("\n## {key}\n")), "{key} has no section");
    }
}

#[test]
fn metrics_that_the_guide_names_are_published() {
    let published = read("std-adapter/src/watch/series.rs");
    let mut named = BTreeSet::new();
    for (_, text) in pages() {
        let words = text.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        named.extend(words.filter(|word| word.starts_with("nanobreaker_")).map(str::to_owned));
    }
    let crates = ["nanobreaker_core", "nanobreaker_embedded", "nanobreaker_fleet", "nanobreaker_settings"];
    named.retain(|name| !crates.contains(&name.as_str()));
    assert!(named.len() > 2, "{named:?}");
    for name in named {
        assert!(published.contains(&name), "{name} is no metric");
    }
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = read("std-adapter/guide/src/SUMMARY.md");
    for (name, _) in pages().into_iter().filter(|(name, _)| name != "SUMMARY.md") {
        assert!(contents.contains(&format!("]({name})")), "{name} is not in SUMMARY.md");
    }
}

#[test]
fn every_english_page_is_in_the_list_for_language_models() {
    let list = read("std-adapter/guide/src/llms.txt");
    let is_content = |name: &str| !["SUMMARY.md", "README.md"].contains(&name) && !name.starts_with("ar/");
    for (name, _) in pages().into_iter().filter(|(name, _)| is_content(name)) {
        let page = name.replace(".md", ".html");
        assert!(list.contains(&format!("]({page})")), "{page} is not in llms.txt");
    }
}

#[test]
fn scenes_that_pages_link_to_are_there() {
    let presets = read("std-adapter/guide/simulator/src/presets.rs");
    let mut linked = 0;
    for (page, text) in pages() {
        for rest in text.split("?preset=").skip(1) {
            let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let name: String = rest.chars().take_while(|letter| is_of_name(*letter)).collect();
            linked += 1;
            assert!(presets.contains(&format!("name: \"{name}\"")), "{page}: there is no scene {name:?}");
        }
    }
    assert!(linked > 3, "{linked} links");
}
