//! Replays the corpus: what a fuzzer once found interesting, and what once failed.

use std::path::Path;

#[test]
fn the_corpus_is_played_as_the_model_allows() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut played = 0;
    for entry in std::fs::read_dir(&corpus).expect("the corpus lies beside the manifest") {
        let path = entry.expect("the corpus can be listed").path();
        let bytes = std::fs::read(&path).expect("the corpus can be read");
        println!("{}", path.display());
        nanobreaker_fuzz::run(&bytes);
        played += 1;
    }
    assert!(played > 0, "an empty corpus shows nothing");
}

#[test]
fn any_bytes_make_a_valid_script() {
    // Not random, but unlike each other.
    for length in 0..300_usize {
        let bytes: Vec<u8> = (0..length).map(|i| (i * i * 31 + length * 7) as u8).collect();
        nanobreaker_fuzz::run(&bytes);
    }
}
