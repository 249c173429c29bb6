//! The one loop in which words of windows change, and how they are swept.
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
use crate::window::call::{Call, Stop};

/// Changes `word`: `decide` gets what it holds, and answers with what to store and with what to return then,
/// or with what to return where nothing is to be stored.
#[inline]
pub(super) fn change<A>(word: &Word, mut decide: impl FnMut(Raw) -> Result<(Raw, A), A>) -> A {
    let mut seen = word.first_look();
    loop {
        let (new, answer) = match decide(seen) {
            Ok(change) => change,
            Err(answer) => return answer,
        };
        match word.exchange(seen, new) {
            Ok(()) => return answer,
            Err(now) => seen = now,
        }
    }
}

/// Changes `word` for `call`: `decide` gets its content, 0 where another generation wrote it, and
/// answers with the content to store and with what to return. The same content is not stored again, and
/// nothing is where `decide` stops or the call's generation is over.
#[inline]
pub(super) fn update<C, A>(
    word: &Word,
    call: &Call<'_, C>,
    mut decide: impl FnMut(Raw) -> Result<(Raw, A), Stop>,
) -> Result<A, Stop> {
    let generation = call.generation();
    change(word, |seen| {
        let there = own_content(seen, generation);
        if tag(seen) != generation {
            call.goes_on().map_err(Err)?;
        }
        match decide(there) {
            Ok((new, answer)) if new != there => Ok((tagged(generation, new), Ok(answer))),
            unchanged => Err(unchanged.map(|(_, answer)| answer)),
        }
    })
}

/// What `generation` has put into a word that holds `value`: 0 where another one wrote it.
#[inline]
pub(super) const fn own_content(value: Raw, generation: u16) -> Raw {
    if tag(value) == generation { content(value) } else { 0 }
}

/// What `generation` has put into `word`, for who writes nothing on the strength of it.
#[inline]
pub(super) fn peek(word: &Word, generation: u16) -> Raw {
    // Relaxed: a word says all of itself.
    own_content(word.load(Ordering::Relaxed), generation)
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

/// Empties a word of a generation long gone, before its tag's number comes round again.
///
/// A sweep of all words is due at each quarter of all numbers. It empties those that are older than a quarter
/// and younger than three: so each word is met by two sweeps before its number is used again, and one
/// that stalls or dies is made up for by the next. A sweeper stops where a quarter has passed since it
/// began: words that look old to it may then be new.
pub(crate) fn sweep<C>(word: &Word, call: &Call<'_, C>) {
    let generation = call.generation();
    change(word, |seen| {
        let is_due = (QUARTER..3 * QUARTER).contains(&distance(generation, tag(seen)))
            && distance(call.present_generation(), generation) < QUARTER;
        if is_due { Ok((tagged(generation, 0), ())) } else { Err(()) }
    });
}
