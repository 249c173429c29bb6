//! The std adapter.
pub use nanobreaker_core::*;
