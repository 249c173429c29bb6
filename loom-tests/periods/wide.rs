//! With words of 64 bits.

extern crate nanobreaker_wide_optimized as nanobreaker_core;

mod nothing_wedges;
