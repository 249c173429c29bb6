//! The guide's pages, a module each: `cargo test --doc -p nanobreaker-guide` runs every Rust snippet.
//!
//! Settings and commands of the guide are run by the test `guide` of the package `nanobreaker-cli`.

#[cfg(doctest)]
include!(concat!(env!("OUT_DIR"), "/pages.rs"));
