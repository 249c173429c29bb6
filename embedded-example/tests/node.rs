//! The node's programs hold on the host, and are the same in each run.

use std::process::Command;

/// What a program prints; it must end well.
fn run(program: &str) -> String {
    let output = Command::new(program).output().expect("the program starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    printed
}

#[test]
fn the_node_holds_with_the_extended_counter_as_its_clock() {
    run(env!("CARGO_BIN_EXE_node"));
}

#[test]
fn the_node_holds_with_an_embedded_time_clock() {
    run(env!("CARGO_BIN_EXE_node_embedded_time"));
}

#[test]
fn a_node_that_sleeps_keeps_its_breaker_in_backup_ram_and_in_flash() {
    run(env!("CARGO_BIN_EXE_sleeper"));
}

#[test]
fn two_runs_are_the_same_to_the_millisecond() {
    let program = env!("CARGO_BIN_EXE_node");
    assert_eq!(run(program), run(program));
}
