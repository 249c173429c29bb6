//! With words of 32 bits.

extern crate nanobreaker_narrow_optimized as nanobreaker_core;

mod nothing_wedges;
