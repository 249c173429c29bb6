//! A peer in a process of its own, for one that can't share a lock file with the rest.
//!
//! The package `apart` has the same subject, slices and allocator; its slices are asked for one at a time, so
//! that they take their turns among all the others. See its manifest for why it is apart.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::{env, fmt};

use crate::counting::Cost;
use crate::subject::Op;

/// The other process. It ends when its standard input does.
pub struct Worker {
    process: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    _child: Child,
}

impl Worker {
    /// Builds the package and starts it.
    ///
    /// # Errors
    ///
    /// What went wrong: no cargo, no registry.
    pub fn start() -> Result<Self, String> {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/apart/Cargo.toml");
        let target = target_dir()?;
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--locked", "--release", "--manifest-path", manifest, "--target-dir"])
            .arg(&target)
            .status()
            .map_err(said)?;
        if !built.success() {
            return Err(format!("{manifest} does not build"));
        }
        let mut child = Command::new(target.join("release/apart"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(said)?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        Ok(Self { process: Mutex::new((stdin, BufReader::new(stdout))), _child: child })
    }

    /// The crate's name.
    pub fn who(&self) -> String {
        self.ask("who")
    }

    /// Builds a breaker for the operation; None where the peer can't do it.
    pub fn build(&self, op: Op) -> Option<Cost> {
        let answer = self.ask(&format!("new {}", op.name()));
        let (allocations, bytes) = answer.split_once(' ')?;
        Some(Cost { allocations: allocations.parse().ok()?, bytes: bytes.parse().ok()? })
    }

    /// Runs one slice: nanoseconds per call, as each thread saw it.
    ///
    /// # Panics
    ///
    /// When the other process does not understand: the two are then of different versions.
    pub fn slice(&self, op: Op, threads: usize, calls: u64) -> f64 {
        let answer = self.ask(&format!("slice {} {threads} {calls}", op.name()));
        answer.parse().unwrap_or_else(|_| panic!("the process apart answered {answer:?}"))
    }

    fn ask(&self, request: &str) -> String {
        let mut process = self.process.lock().expect("no one panics with this lock");
        let (stdin, stdout) = &mut *process;
        let mut answer = String::new();
        let answered = writeln!(stdin, "{request}").and_then(|()| stdout.read_line(&mut answer));
        assert!(answered.is_ok_and(|read| read > 0), "the process apart ended at: {request}");
        answer.trim_end().to_owned()
    }
}

/// Beside the directory that this binary was built into.
fn target_dir() -> Result<PathBuf, String> {
    let binary = env::current_exe().map_err(said)?;
    let target = binary.ancestors().nth(2).ok_or("this binary is in no target directory")?;
    Ok(target.join("apart"))
}

fn said(error: impl fmt::Display) -> String {
    error.to_string()
}
