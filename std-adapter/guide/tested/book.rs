//! The guide's pages, for tests of two packages.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the pages: both packages lie beside it.
pub(crate) fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guide/src")
}

/// Each page by its path in that folder, with its text.
pub(crate) fn pages() -> Vec<(String, String)> {
    let mut folders = vec![source()];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(source()).unwrap().to_string_lossy().into_owned();
                pages.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(pages.len() > 20, "the guide's pages are where they were");
    pages
}
