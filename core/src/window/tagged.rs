//! The one loop in which words of a window change, and how they are swept.
//!
//! # The rule of all windows
//!
//! Every word carries the generation that wrote it as a tag, so nothing has to be cleared when a
//! generation ends. Tags are compared for equality only. A word with another tag counts as empty, and
//! it may be replaced only after the state word was seen to be still in the writer's generation
//! *after* that word was loaded. Otherwise a stalled thread of the last generation would write over
//! the present one.
//!
//! # Orderings
//!
//! | access | ordering | because |
//! | ------ | -------- | ------- |
//! | the word's load, a refused exchange | acquire | pairs with the exchange of a later generation: the look at the state that follows is then at least as new |
//! | the exchange | release | publishes that its thread saw the state in this generation |
//! | the look at the state | relaxed | ordered behind the acquire above |

use crate::state::{GENERATION_BITS, content, tag, tagged};
use crate::sync::{Ordering, Raw, Word};
use crate::window::call::Call;

/// Changes `word` for `call`: `decide` gets its content, 0 where another generation wrote it, and
/// answers with the content to store and with what to return. The same content is not stored again.
///
/// `None` where the call's generation is over: then nothing was changed.
#[inline]
pub(super) fn update<C, A>(
    word: &Word,
    call: &Call<'_, C>,
    mut decide: impl FnMut(Raw) -> (Raw, A),
) -> Option<A> {
    let generation = call.generation();
    let mut seen = word.first_load(Ordering::Acquire);
    loop {
        let there = own_content(seen, call);
        if tag(seen) != generation && !call.is_current() {
            return None;
        }
        let (new, answer) = decide(there);
        if new == there {
            return Some(answer);
        }
        let new = tagged(generation, new);
        match word.exchange(seen, new, Ordering::Release, Ordering::Acquire) {
            Ok(()) => return Some(answer),
            Err(now) => seen = now,
        }
    }
}

/// What `call`'s generation has put into a word that holds `value`: 0 where another one did.
#[inline]
pub(super) fn own_content<C>(value: Raw, call: &Call<'_, C>) -> Raw {
    if tag(value) == call.generation() { content(value) } else { 0 }
}

/// What `call`'s generation has put into the first of `words`, for who writes nothing on the strength of it.
#[inline]
pub(super) fn peek<C>(words: &[Word], call: &Call<'_, C>) -> Raw {
    // Relaxed: a word says all of itself.
    words.first().map_or(0, |word| own_content(word.load(Ordering::Relaxed), call))
}

/// A quarter of all generations.
const QUARTER: u16 = 1 << (GENERATION_BITS - 2);

/// How many generations `newer` lies after `older`.
const fn distance(newer: u16, older: u16) -> u16 {
    newer.wrapping_sub(older) & (4 * QUARTER - 1)
}

/// Whether a sweep is due as `generation` begins.
pub(crate) const fn sweep_is_due(generation: u16) -> bool {
    generation % QUARTER == 0
}

/// Empties the words of generations long gone, before their tag's number comes round again.
///
/// A sweep is due at each quarter of all numbers. It empties the words that are older than a quarter
/// and younger than three: so each word is met by two sweeps before its number is used again, and one
/// that stalls or dies is made up for by the next. A sweeper stops where a quarter has passed since it
/// began: words that look old to it may then be new.
pub(crate) fn sweep<C>(words: &[Word], call: &Call<'_, C>) {
    let generation = call.generation();
    for word in words {
        let mut seen = word.first_load(Ordering::Acquire);
        while (QUARTER..3 * QUARTER).contains(&distance(generation, tag(seen)))
            && distance(call.present_generation(), generation) < QUARTER
        {
            let empty = tagged(generation, 0);
            match word.exchange(seen, empty, Ordering::Release, Ordering::Acquire) {
                Ok(()) => break,
                Err(now) => seen = now,
            }
        }
    }
}
