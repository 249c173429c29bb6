//! The fuzzer; see `fuzz.sh`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nanobreaker_fuzz::run(bytes));
