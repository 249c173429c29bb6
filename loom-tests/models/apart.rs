//! Each test in a process of its own.
//!
//! loom maps a stack for every thread of every execution, and unmaps it again. Two threads of one process
//! wait for each other at that, and take together as long as one after the other. Two processes do not.

use std::cell::Cell;
use std::process::Command;

thread_local! {
    /// The test of this thread has passed in a process of its own.
    static PASSED: Cell<bool> = const { Cell::new(false) };
}

/// Set in a process that is there for one test. Set it for a debugger, and all stays in one process.
const APART: &str = "NANOBREAKER_APART";

/// Whether this test passed in a process of its own, so that its models need not run here. The first call starts
/// that process, and panics where the test fails there. It is `false` in that process.
pub(crate) fn passed() -> bool {
    if std::env::var_os(APART).is_some() {
        return false;
    }
    if !PASSED.get() {
        // The test harness names a test's thread after the test.
        run(std::thread::current().name().expect("a test's thread"));
        PASSED.set(true);
    }
    true
}

fn run(test: &str) {
    let program = std::env::current_exe().expect("the path of this program");
    let output = Command::new(program)
        .args([test, "--exact", "--include-ignored", "--nocapture"])
        .env(APART, "1")
        .output()
        .expect("a process for the test");
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{test} failed in a process of its own: {}", output.status);
    assert!(said.contains("1 passed"), "{test} did not run in a process of its own");
}
