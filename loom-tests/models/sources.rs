//! What the models rely on: that the core's sources have one door to atomics, and never wait.

use std::fs;
use std::path::{Path, PathBuf};

/// Every file of the core, with its code: no comments, no tests.
fn code() -> Vec<(PathBuf, String)> {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("core/src"))
        .find(|folder| folder.exists())
        .expect("the core's sources");
    let mut folders = vec![core];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let lines = code.lines().map(|line| line.split("//").next().unwrap());
                files.push((path, lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    files
}

#[test]
fn only_sync_knows_loom_and_names_atomics() {
    let files = code();
    assert!(files.len() > 20, "the sources were found");
    for (path, code) in files.iter().filter(|(path, _)| !path.ends_with("sync.rs")) {
        let code = code.replace("const_unless_loom", "");
        for word in ["loom", "sync::atomic", "portable_atomic"] {
            assert!(!code.contains(word), "{} names {word}", path.display());
        }
    }
}

/// Promise 8. The models also bound the steps of an execution, which no waiting loop keeps to.
#[test]
fn nobody_waits() {
    for (path, code) in code() {
        for word in ["spin_loop", "yield_now", "sleep", "park", "Mutex", "RwLock"] {
            assert!(!code.contains(word), "{} names {word}", path.display());
        }
    }
}
