//! With words of 32 bits.

extern crate nanobreaker_narrow_units as nanobreaker_core;

mod nothing_wedges;
