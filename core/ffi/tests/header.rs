//! The header is made from the source, and what is checked in is what is made now.
//!
//! `NANOBREAKER_HEADER=write cargo test -p nanobreaker-ffi --test header` writes it.

use std::path::Path;
use std::{env, fs};

/// What is declared, in this order.
const SOURCES: [&str; 7] = ["numbers", "settings", "memory", "init", "calls", "operator", "saving"];

#[test]
fn the_header_is_what_cbindgen_makes_of_the_source() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(package.join("src").join(source).with_extension("rs"));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();

    let header = package.join("include/nanobreaker.h");
    if env::var_os("NANOBREAKER_HEADER").is_some_and(|how| how == "write") {
        fs::write(&header, &made).unwrap();
    }
    let there = fs::read_to_string(&header).unwrap();
    let line = there.lines().zip(made.lines()).position(|(a, b)| a != b);
    assert!(
        there == made,
        "{} is not what the source makes (first in line {:?}): \
         NANOBREAKER_HEADER=write cargo test -p nanobreaker-ffi --test header",
        header.display(),
        line.map(|line| line + 1),
    );
}

#[test]
fn every_function_and_number_of_the_source_is_in_the_header() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(package.join("include/nanobreaker.h")).unwrap();
    let mut found = 0;
    for file in fs::read_dir(package.join("src")).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        for line in source.lines() {
            let name = line
                .strip_prefix("pub unsafe extern \"C\" fn ")
                .or(line.strip_prefix("pub const "))
                .map(|rest| rest.split(['(', ':']).next().unwrap());
            if let Some(name) = name {
                assert!(header.contains(name), "{name} is not in the header");
                found += 1;
            }
        }
    }
    assert!(found > 70, "only {found} were looked for");
}
