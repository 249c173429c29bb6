//! What the guide says of this repository is so: alerts, settings, metrics, and its own pages.

mod book;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use book::pages;
use nanobreaker::{PartialSettings, Settings};

/// A file of this repository.
fn read(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_runbook_has_a_section_for_each_alert() {
    let runbook = read("std-adapter/guide/src/operating/runbook.md");
    let arabic = read("std-adapter/guide/src/ar/operating.md");
    let alerts = read("std-adapter/observability/alerts.yml");
    let names: Vec<&str> = alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(runbook.contains(&format!("\n## {name}\n")), "{name} has no section");
        assert!(arabic.contains(&format!("\n| `{name}` |")), "{name} has no row in Arabic");
    }
}

/// The cells of each row of a page's tables.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let tables = page.lines().filter(|line| line.starts_with("| "));
    tables.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The keys that a table of settings may have: the error for an unknown one lists them.
fn keys(unknown: &str) -> Vec<String> {
    let error = toml::from_str::<PartialSettings>(unknown).unwrap_err().to_string();
    let (_, keys) = error.rsplit_once("which are ").unwrap_or_else(|| panic!("{error}"));
    keys.trim().split(", ").map(str::to_owned).collect()
}

#[test]
fn each_setting_has_a_section_and_both_its_ends() {
    let page = read("std-adapter/guide/src/settings.md");
    let arabic = read("std-adapter/guide/src/ar/settings.md");
    let keys = keys("qqqqqq = 1");
    assert!(keys.len() > 8, "{keys:?}");
    for key in keys {
        assert!(page.contains(&format!("\n## {key}\n")), "{key} has no section");
        let link = format!("[`{key}`](#{key})");
        assert!(rows(&page).iter().any(|row| row.len() == 4 && row[0] == link), "{key} has no row");
        assert!(arabic.contains(&format!("| `{key}` |")), "{key} has no row in Arabic");
    }
}

#[test]
fn each_setting_of_a_window_has_both_its_ends() {
    let percentiles = ["p50", "p90", "p95", "p99", "p999"];
    for name in ["settings.md", "ar/window.md"] {
        let page = read(&format!("std-adapter/guide/src/{name}"));
        for key in keys("[window]\nqqqqqq = 1").iter().filter(|key| !percentiles.contains(&key.as_str())) {
            let is_there = rows(&page).iter().any(|row| row.len() == 5 && row[0] == format!("`{key}`"));
            assert!(is_there, "{name}: {key} has no row");
        }
    }
}

/// To write a default down changes nothing.
#[test]
fn defaults_are_what_the_tables_say() {
    // The page, the length of a row, and where the default stands and the kinds of window that it is of.
    let tables = [
        ("settings.md", 4, 1, None),
        ("settings.md", 5, 2, Some(1)),
        ("ar/settings.md", 5, 1, None),
        ("ar/window.md", 5, 2, Some(1)),
    ];
    for (name, length, default, kinds) in tables {
        let page = read(&format!("std-adapter/guide/src/{name}"));
        let mut seen = 0;
        for row in rows(&page).iter().filter(|row| row.len() == length) {
            let key = row[0].split('`').nth(1).unwrap_or_default();
            let Some(value) = default_of(row[default]) else { continue };
            let kinds = kinds.map_or("", |kinds| row[kinds]);
            for kind in kinds.split([',', '،']).map(|kind| kind.trim().trim_matches('`')) {
                let table = if kinds.is_empty() && key != "kind" { "" } else { "[window]\n" };
                let kind = if kind.is_empty() { String::new() } else { format!("kind = '{kind}'\n") };
                let without = format!("{table}{kind}");
                assert_eq!(
                    complete(&format!("{without}{key} = {value}\n")),
                    complete(&without),
                    "{name}: {key}"
                );
                seen += 1;
            }
        }
        assert!(seen >= 10, "{name}: {seen} defaults");
    }
}

fn complete(text: &str) -> Settings {
    let settings: PartialSettings = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    settings.complete().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A cell's value as a file has it: what is no number and no switch is text.
fn default_of(cell: &str) -> Option<String> {
    let value = cell.strip_prefix('`')?.strip_suffix('`')?;
    let is_text = toml::from_str::<toml::Table>(&format!("key = {value}")).is_err();
    Some(if is_text { format!("{value:?}") } else { value.to_owned() })
}

/// What the Arabic page tells of the demonstration stands in its picture, which is drawn from what was measured.
#[test]
fn the_measured_outage_is_told_as_it_was_drawn() {
    let page = read("std-adapter/guide/src/ar/idea.md");
    let picture = read("std-adapter/docs/outage.svg");
    let texts: String =
        picture.split("<text").map(|text| text.split("</text>").next().unwrap_or_default()).collect();
    let measured: Vec<_> =
        rows(&page).into_iter().filter(|row| row.len() == 4 && row[2].ends_with("s")).collect();
    assert_eq!(measured.len(), 4, "{measured:?}");
    let mut seen = 0;
    for cell in measured.iter().flatten() {
        let numbers = cell.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        for number in numbers.filter(|number| !number.is_empty()) {
            seen += 1;
            assert!(texts.contains(number), "{number} of {cell} is not in the picture");
        }
    }
    assert!(seen > 10, "{seen} numbers");
}

/// Calls under way at once in the scene of the article, as its figures have them.
#[test]
fn the_scene_of_the_article_is_told_as_it_plays() {
    let page = read("std-adapter/guide/src/ar/idea.md").replace(',', "");
    let figures = read("std-adapter/guide/simulator/tests/figures.json");
    let (_, article) = figures.split_once("\"article\": [").unwrap();
    let (article, _) = article.split_once(']').unwrap();
    let most = article.lines().filter_map(|line| line.trim().strip_prefix("\"most_under_way\": "));
    let most: Vec<&str> = most.map(|number| number.trim_end_matches(',')).collect();
    assert_eq!(most.len(), 2, "{most:?}");
    for most in most {
        assert!(page.contains(&format!(" {most}")), "{most} calls under way");
    }
}

/// How the state word is laid out, as the file says that knows it.
#[test]
fn the_state_word_is_laid_out_as_the_page_says() {
    let layout = read("core/src/state/mod.rs").replace("//! ", "");
    let (_, fields) = layout.split_once("| field ").unwrap();
    let fields = rows(fields).into_iter().take_while(|row| row.len() == 4).filter_map(|row| {
        let bits: u32 = row[1].parse().ok()?;
        Some((row[0].to_owned(), bits))
    });
    let fields: Vec<_> = fields.collect();
    assert_eq!(fields.iter().map(|(_, bits)| bits).sum::<u32>(), 64, "{fields:?}");
    let shown: Vec<String> = fields.iter().map(|(name, bits)| format!("{name} {bits}")).collect();
    let page = read("std-adapter/guide/src/how-it-works.md");
    assert!(page.contains(&format!("\n{}     = 64 bits\n", shown.join(" | "))), "{shown:?}");
}

#[test]
fn each_promise_links_to_what_checks_it() {
    let page = read("std-adapter/guide/src/how-it-works.md");
    let promises: Vec<_> = rows(&page).into_iter().filter(|row| !row[0].starts_with("---")).skip(1).collect();
    assert!(promises.len() > 8);
    for promise in promises {
        assert!(promise[1].contains("](https://github.com/nanobreaker/"), "{promise:?}");
    }
}

/// Costs of a healthy call are those that the benchmarks' page measured.
#[test]
fn costs_are_those_of_the_benchmarks() {
    let benches = read("benches/README.md").replace("**", "");
    let measured = rows(&benches);
    let is_measured = |name: &str, cost: &str| measured.iter().any(|row| row[0] == name && row[1] == cost);
    let page = read("std-adapter/guide/src/comparison.md");
    let (_, costs) = page.split_once("## What a healthy call costs").unwrap();
    let mut seen = 0;
    for row in rows(costs).into_iter().filter(|row| row.len() == 3 && row[1].parse::<f64>().is_ok()) {
        seen += 1;
        assert!(is_measured(row[0], &format!("{} ({})", row[1], row[2])), "{row:?}");
    }
    assert!(seen > 5, "{seen} rows");
}

#[test]
fn each_migration_has_all_its_parts() {
    let migrations: Vec<_> = pages().into_iter().filter(|(name, _)| name.starts_with("migrating/")).collect();
    assert_eq!(migrations.len(), 9);
    for (name, page) in migrations {
        for part in ["\n## What behaves differently\n", "\n## What has no equal\n", "\n```rust\n"] {
            assert!(page.contains(part), "{name} has no {part:?}");
        }
        let table = rows(&page).into_iter().find(|row| row.last() == Some(&"here"));
        let head = table.unwrap_or_else(|| panic!("{name} has no settings side by side"));
        assert!(head[0].contains("](https://"), "{name}: its settings have no source");
        assert_eq!(head[1], "default there", "{name}");
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

/// On a real clock, time goes on between two lines of a snippet.
#[test]
fn a_time_left_is_compared_only_where_time_stands_still() {
    let mut seen = 0;
    for (page, text) in pages() {
        for rest in text.split("```rust").skip(1) {
            let snippet = rest.split("```").next().unwrap_or_default();
            let times = ["retry_after", "time_left_ms"];
            let is_time = |line: &str| times.iter().any(|time| line.contains(time));
            if snippet.lines().any(|line| line.contains("assert_eq!") && is_time(line)) {
                seen += 1;
                let stands = snippet.contains("ManualClock") || snippet.contains("start_paused");
                assert!(stands, "{page} compares a time left of a real clock:{snippet}");
            }
        }
    }
    assert!(seen > 3, "{seen} snippets");
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
fn the_list_for_language_models_names_each_feature_and_none_is_a_default() {
    let list = read("std-adapter/guide/src/llms.txt");
    let manifest: toml::Table = toml::from_str(&read("std-adapter/Cargo.toml")).unwrap();
    let features = manifest["features"].as_table().unwrap();
    assert_eq!(features["default"].as_array().unwrap().len(), 0);
    for feature in features.keys().filter(|feature| *feature != "default") {
        assert!(list.contains(&format!("`{feature}`")), "{feature} is not in llms.txt");
    }
}

#[test]
fn the_list_for_language_models_names_each_package() {
    let list = read("std-adapter/guide/src/llms.txt");
    let workspace: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let members = workspace["workspace"]["members"].as_array().unwrap().iter().filter_map(|one| one.as_str());
    let mut seen = 0;
    for member in members.filter(|member| !member.contains('*')) {
        let manifest: toml::Table = toml::from_str(&read(&format!("{member}/Cargo.toml"))).unwrap();
        let package = &manifest["package"];
        if package.get("publish").is_none() {
            seen += 1;
            let name = package["name"].as_str().unwrap();
            assert!(list.contains(&format!("`{name}`")), "{name} is not in llms.txt");
        }
    }
    assert!(seen > 5, "{seen} packages");
}

#[test]
fn examples_that_pages_name_are_there() {
    let folders = ["std-adapter/examples", "std-adapter/cli/examples"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut named = 0;
    for (page, text) in pages() {
        for rest in text.split("--example ").skip(1) {
            let name =
                rest.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_').next().unwrap();
            let places =
                folders.iter().flat_map(|folder| [format!("{folder}/{name}"), format!("{folder}/{name}.rs")]);
            assert!(
                places.map(|place| root.join(place)).any(|place| place.exists()),
                "{page}: no example {name:?}"
            );
            named += 1;
        }
    }
    assert!(named > 5, "{named} examples");
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
