//! Tells the firmware which board it is for, and the linker where that board's memory is.

use std::path::Path;
use std::{env, fs};

/// One board for each target: the clock its timer counts, its memory map, and what its runtime wants
/// of the linker.
const BOARDS: [(&str, u32, &str, &[&str]); 5] = [
    ("thumbv6m-none-eabi", 16_000_000, "microbit.x", CORTEX_M),
    ("thumbv7m-none-eabi", 12_500_000, "lm3s6965evb.x", CORTEX_M),
    ("thumbv7em-none-eabihf", 25_000_000, "mps2-an386.x", CORTEX_M),
    ("thumbv8m.main-none-eabihf", 20_000_000, "mps2-an505.x", CORTEX_M),
    ("riscv32imac-unknown-none-elf", 10_000_000, "virt.x", RISC_V),
];
const CORTEX_M: &[&str] = &["--nmagic", "-Tlink.x"];
const RISC_V: &[&str] = &["--nmagic", "-Tmemory.x", "-Tlink.x"];

/// What the firmware of `size.rs` contains besides an empty loop.
const SIZED: [&str; 10] = [
    "nothing",
    "failures",
    "failures-preset",
    "failures-ticks",
    "one-word",
    "consecutive",
    "cusum",
    "calls",
    "many-calls",
    "time",
];

/// How the firmware of `planted.rs` fails.
const PLANTED: [&str; 3] = ["failure", "hang", "panic"];

fn main() {
    choose("sized", "SIZED", &SIZED);
    choose("planted", "PLANTED", &PLANTED);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=memory");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let Some((_, clock_hz, memory, arguments)) = BOARDS.iter().find(|it| it.0 == target) else {
        println!("cargo::rustc-env=BOARD_CLOCK_HZ=1000000");
        return;
    };
    println!("cargo::rustc-env=BOARD_CLOCK_HZ={clock_hz}");
    let memory = Path::new("memory").join(memory);
    fs::copy(memory, Path::new(&out).join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rustc-link-search={out}");
    for argument in *arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// Sets `cfg(name = "…")` to what the environment's `variable` says, by default the first value.
fn choose(name: &str, variable: &str, values: &[&str]) {
    println!("cargo::rerun-if-env-changed={variable}");
    let value = env::var(variable).unwrap_or_else(|_| values[0].to_owned());
    assert!(values.contains(&value.as_str()), "{variable} is {value}, not one of {values:?}");
    println!("cargo::rustc-check-cfg=cfg({name}, values(\"{}\"))", values.join("\", \""));
    println!("cargo::rustc-cfg={name}=\"{value}\"");
}
