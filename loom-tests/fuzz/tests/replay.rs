//! Replays the corpus: what a fuzzer once found interesting, and what once failed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each input of the corpus, and where it lies.
fn corpus() -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    fs::read_dir(corpus).expect("the corpus lies beside the manifest").map(|entry| {
        let path = entry.expect("the corpus can be listed").path();
        let bytes = fs::read(&path).expect("the corpus can be read");
        (path, bytes)
    })
}

#[test]
fn the_corpus_is_played_as_the_model_allows() {
    let mut played = 0;
    for (path, bytes) in corpus() {
        println!("{}", path.display());
        nanobreaker_fuzz::run(&bytes);
        played += 1;
    }
    assert!(played > 0, "an empty corpus shows nothing");
}

/// A step that is new makes the corpus older than the fuzzer: `fuzz.sh` and `fuzz.sh merge` renew it.
#[test]
fn the_corpus_has_every_kind_of_step_that_bytes_can_make() {
    let mut last = 1_u32;
    let mut byte = || {
        last = last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (last >> 24) as u8
    };
    let mut possible = BTreeSet::new();
    for _ in 0..1_000 {
        let bytes: Vec<u8> = (0..512).map(|_| byte()).collect();
        possible.extend(nanobreaker_fuzz::kinds(&bytes));
    }
    let there: BTreeSet<_> = corpus().flat_map(|(_, bytes)| nanobreaker_fuzz::kinds(&bytes)).collect();
    let missing: Vec<_> = possible.difference(&there).collect();
    assert!(missing.is_empty(), "the corpus has none of {missing:?}");
}

#[test]
fn any_bytes_make_a_valid_script() {
    // Not random, but unlike each other.
    for length in 0..300_usize {
        let bytes: Vec<u8> = (0..length).map(|i| (i * i * 31 + length * 7) as u8).collect();
        nanobreaker_fuzz::run(&bytes);
    }
}
