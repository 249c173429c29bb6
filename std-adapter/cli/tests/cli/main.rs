//! The built `nanobreaker` command, run as people run it.

mod explain;
mod layouts;
mod replay;
mod sample;
mod simulator;
mod statuses;
mod tune;
mod wrong_input;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of one test's own.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Runs the command in this folder.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_nanobreaker"))
            .current_dir(self.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Runs it and gives back what it printed.
    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {error}");
        assert_eq!(error, "", "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.printed(arguments)).unwrap()
    }

    /// Runs it, which is to fail with this exit code, and gives back what it complained of.
    fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

const BREAKER: &str = "open_for = '5s'\nprobe_successes = 1\n[window]\nkind = 'consecutive'\nthreshold = 3\n";
