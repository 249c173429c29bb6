//! Every configuration and every command of the guide, run as its readers run them.
//!
//! | block | what it must be |
//! | --- | --- |
//! | `toml` | a breaker's settings or a catalogue, in which `explain` finds no trap |
//! | `toml,traps` | the same, in which it finds one |
//! | `toml,refused` | one that is refused |
//! | `toml,file=NAME` | one of these, and a file of that name for the page's commands |
//! | `toml` with `[dependencies]` | part of a manifest: of this version, with features that there are |
//! | `console` | commands after `$ `, each with exactly what it prints; `…` stands for lines left out, or for the rest of one |
//! | `sh` | commands; those of this one have only options that there are |

mod book;
#[path = "../../cli/tests/cli/sample.rs"]
mod sample;

use std::fs;
use std::path::Path;
use std::process::Command;

/// A fenced block of a page.
struct Block {
    place: String,
    info: String,
    text: String,
}

impl Block {
    fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or_default()
    }

    fn is(&self, mark: &str) -> bool {
        self.info.split(',').any(|part| part == mark)
    }

    fn file(&self) -> Option<&str> {
        self.info.split(',').find_map(|part| part.strip_prefix("file="))
    }

    fn is_manifest(&self) -> bool {
        self.text.contains("[dependencies]")
    }
}

/// The blocks of all pages, page by page.
fn blocks_by_page() -> Vec<Vec<Block>> {
    book::pages().iter().map(|(name, text)| blocks(name, text)).collect()
}

fn all_blocks() -> impl Iterator<Item = Block> {
    blocks_by_page().into_iter().flatten()
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let inner = lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```");
            let text = inner.map(|line| format!("{line}\n")).collect();
            let place = format!("{page}:{number}");
            assert!(!info.is_empty(), "{place}: a block without its language is taken for Rust");
            blocks.push(Block { place, info: info.to_owned(), text });
        }
    }
    blocks
}

/// What the command prints, errors included, and whether it succeeded.
fn nanobreaker(folder: &Path, arguments: &[&str]) -> (String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nanobreaker"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (String::from_utf8(printed).unwrap(), output.status.success())
}

#[test]
fn every_configuration_is_read_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for block in all_blocks() {
        if block.language() != "toml" || block.is_manifest() {
            continue;
        }
        seen += 1;
        fs::write(folder.path().join("breaker.toml"), &block.text).unwrap();
        let (printed, succeeded) = nanobreaker(folder.path(), &["explain", "breaker.toml"]);
        // A catalogue has an explanation for each of its tables.
        let tables = printed.matches("The breaker opens when").count();
        let has_traps = printed.matches("No traps found.").count() < tables;
        let is_as_shown = if block.is("refused") {
            !succeeded
        } else {
            succeeded && tables > 0 && has_traps == block.is("traps")
        };
        if !is_as_shown {
            wrong.push(format!("{} ({}):\n{printed}", block.place, block.info));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 10, "{seen} configurations");
}

#[test]
fn every_manifest_names_a_version_and_features_that_there_are() {
    let features_of = |manifest: &str| -> toml::Table {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(manifest);
        let manifest: toml::Table = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        manifest["features"].as_table().unwrap().clone()
    };
    let known = [
        ("nanobreaker", features_of("std-adapter/Cargo.toml")),
        ("nanobreaker-core", features_of("core/Cargo.toml")),
        ("nanobreaker-embedded", features_of("core/embedded/Cargo.toml")),
    ];
    let mut seen = 0;
    for block in all_blocks() {
        if block.language() != "toml" || !block.is_manifest() {
            continue;
        }
        let manifest: toml::Table = toml::from_str(&block.text).expect(&block.place);
        for (name, dependency) in manifest["dependencies"].as_table().unwrap() {
            let Some((_, features)) = known.iter().find(|(known, _)| known == name) else { continue };
            seen += 1;
            let version = dependency.get("version").unwrap_or(dependency).as_str().unwrap();
            let ours = env!("CARGO_PKG_VERSION");
            assert!(ours.starts_with(&format!("{version}.")), "{}: {name} has version {ours}", block.place);
            for feature in dependency.get("features").and_then(|list| list.as_array()).into_iter().flatten() {
                let feature = feature.as_str().unwrap();
                assert!(features.contains_key(feature), "{}: {name} has no feature {feature}", block.place);
            }
        }
    }
    assert!(seen > 3, "{seen} dependencies");
}

#[test]
fn commands_that_are_only_told_have_options_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for block in all_blocks().filter(|block| block.language() == "sh") {
        for line in block.text.lines().filter_map(|line| line.strip_prefix("nanobreaker ")) {
            seen += 1;
            let (command, _comment) = line.split_once(" #").unwrap_or((line, ""));
            let mut words = command.split_whitespace();
            let subcommand = words.next().unwrap_or_default();
            let (help, succeeded) = nanobreaker(folder.path(), &[subcommand, "--help"]);
            assert!(succeeded, "{}: {help}", block.place);
            let has = |option: &str| help.split([' ', ',', '\n']).any(|word| word == option);
            for option in words.filter(|word| word.starts_with('-')) {
                assert!(has(option), "{}: {subcommand} has no {option}", block.place);
            }
        }
    }
    assert!(seen > 5, "{seen} commands");
}

#[test]
fn every_command_prints_what_the_guide_shows() {
    let mut seen = 0;
    for blocks in blocks_by_page() {
        let folder = tempfile::tempdir().unwrap();
        for block in blocks {
            if let Some(name) = block.file() {
                fs::write(folder.path().join(name), &block.text).unwrap();
            }
            if block.language() == "console" {
                seen += 1;
                replay_transcript(folder.path(), &block);
            }
        }
    }
    assert!(seen > 3, "{seen} transcripts");
}

/// Runs a block's commands one after the other and compares what they print.
fn replay_transcript(folder: &Path, block: &Block) {
    let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command, Vec::new())),
            (None, Some((_, printed))) => printed.push(line),
            (None, None) => panic!("{}: a transcript begins with a command", block.place),
        }
    }
    for (command, shown) in steps {
        let printed = run(folder, command, &block.place);
        let lines: Vec<&str> = printed.lines().collect();
        assert!(matches(&lines, &shown), "{}: $ {command}\n--- printed\n{printed}---", block.place);
    }
}

fn run(folder: &Path, command: &str, place: &str) -> String {
    let (command, into) = match command.split_once(" > ") {
        Some((command, file)) => (command, Some(file)),
        None => (command, None),
    };
    let words: Vec<&str> = command.split_whitespace().collect();
    let printed = match words.as_slice() {
        ["nanobreaker", arguments @ ..] => nanobreaker(folder, arguments).0,
        ["cargo", "run", "-p", "nanobreaker-cli", "--example", "sample_log", "--", format]
            if sample::FORMATS.contains(format) =>
        {
            sample::log(format, &sample::Traffic::two_outages())
        }
        _ => panic!("{place}: no command of the guide's: {command}"),
    };
    match into {
        Some(file) => {
            fs::write(folder.join(file), printed).unwrap();
            String::new()
        }
        None => printed,
    }
}

/// Whether `printed` is what is `shown`, where `…` stands for any number of lines, or for the rest of one.
fn matches(printed: &[&str], shown: &[&str]) -> bool {
    let is_line = |line: &str, shown: &str| match shown.strip_suffix(" …") {
        Some(begin) => line.starts_with(begin),
        None => line == shown,
    };
    match shown {
        [] => printed.is_empty(),
        ["…", rest @ ..] => (0..=printed.len()).any(|skipped| matches(&printed[skipped..], rest)),
        [line, rest @ ..] => {
            printed.first().is_some_and(|printed| is_line(printed, line)) && matches(&printed[1..], rest)
        }
    }
}
