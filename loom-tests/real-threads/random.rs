//! Random numbers that a seed repeats, and stalls that none does.

use std::cell::Cell;

/// Marsaglia's xorshift.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    /// Another generator, for another thread.
    pub fn fork(&mut self) -> Self {
        Self::new(self.next())
    }
}

/// Lets another thread go first, one time in three.
pub fn stall() {
    thread_local!(static TURN: Cell<u32> = const { Cell::new(0) });
    let turn = TURN.get().wrapping_add(0x9E37_79B9);
    TURN.set(turn);
    if turn < u32::MAX / 3 {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

/// A number from an environment variable.
pub fn from_environment(name: &str, normal: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, but must be a number")),
        Err(_) => normal,
    }
}
