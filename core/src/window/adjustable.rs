//! A window, and a breaker's settings, that can be replaced while calls go on.
//!
//! There are two cells, each with room for all settings. One bit of the state word says which is in
//! force. Whoever adjusts writes the other cell in full; then one exchange of the state word flips the
//! bit and steps the generation. So there is no moment at which half of an adjustment is in force. The
//! window is empty afterwards, since its words carry another tag.
//!
//! A reader takes the numbers from the cell in force and then looks at the state word again. In the same
//! generation they are whole, since a cell is written only while the other one is in force. Otherwise the
//! generation is over, and so is whatever was to be decided in it.
//!
//! # Orderings
//!
//! | operation | ordering | because |
//! | --------- | -------- | ------- |
//! | the flip | release | who sees the bit sees the cell; all other changes of the state word are exchanges and continue its release sequence |
//! | before a cell is read | acquire fence | pairs with the flip, however the state word was loaded: plainly or by a refused exchange |
//! | after a cell was read | acquire fence | pairs with the fence below: who read a newer number sees at the second look that the generation is over |
//! | before a cell is written | release fence | pairs with the fence above |
//! | a cell's numbers, the second look | relaxed | ordered by the above |

use crate::settings::attempt;
use crate::state::State;
use crate::sync::{Ordering, Word, const_unless_loom, fence};
use crate::window::Evidence;
use crate::window::any::{AnyRule, CUSUM, FAILURES};
use crate::window::call::Call;
use crate::window::cell::{Cell, Checked, MEASURES};
use crate::window::judge::{Inside, Judge, Verdict};
use crate::window::lanes::{Lanes, Part};
use crate::window::ruled::{Room, Rule};
use crate::window::slow::judge_both;
use crate::window::tagged::peek;
use crate::{Clock, Config, ConfigError, Outcome, Settings};

/// Makes a breaker whose settings can be replaced while calls go on: see
/// [`Breaker::adjust`](crate::Breaker::adjust).
///
/// `WORDS` words hold the window, as in [`AnyWindow`](super::AnyWindow), and `SLOW` words the one for
/// slow calls; 0 where there is never to be one. The configuration lies here too, so the breaker is
/// given `()` in its place. `L` is where a [`Time`](super::Time) window counts good calls of many cores:
/// see [`Lanes`].
///
/// A success costs what the chosen window costs and a load more. Whatever reads the settings (a failure,
/// a rejection, a probe, a transition) takes up to twelve loads more.
///
/// ```
/// use nanobreaker_core::window::Adjustable;
/// use nanobreaker_core::{Breaker, ManualClock, Settings};
///
/// let window = Adjustable::<8>::new(&Settings::DEFAULT)?;
/// let breaker = Breaker::new(window, (), ManualClock::new(0));
/// # assert!(breaker.allow().is_ok());
/// # Ok::<(), nanobreaker_core::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Adjustable<const WORDS: usize, const SLOW: usize = 0, L = ()> {
    cells: [Cell; 2],
    /// Who adjusts has it.
    pub(crate) turn: Word,
    failed: [Word; WORDS],
    slow: [Word; SLOW],
    /// Where time windows count the good calls of many cores.
    pub(crate) lanes: L,
}

/// A rule, beside where it keeps what it knows.
type InRoom<'a, L> = (AnyRule, Room<'a, Part<'a, L>>);

impl<const WORDS: usize, const SLOW: usize> Adjustable<WORDS, SLOW> {
    const_unless_loom! {
        /// A window with these settings at first.
        ///
        /// # Errors
        ///
        /// A [`ConfigError`] for the first setting outside its limits.
        pub const fn new(settings: &Settings) -> Result<Self, ConfigError> {
            const { assert!(WORDS > 0, "a window takes at least one word") };
            let checked = attempt!(Checked::new(settings, WORDS, SLOW));
            Ok(Self {
                cells: [Cell::new(&checked), Cell::new(&checked)],
                turn: Word::new(0),
                failed: Word::zeroes(),
                slow: Word::zeroes(),
                lanes: (),
            })
        }
    }

    /// The same, whose time windows count good calls in `lanes`.
    pub fn with_lanes<L: Lanes>(self, lanes: L) -> Adjustable<WORDS, SLOW, L> {
        let Self { cells, turn, failed, slow, lanes: () } = self;
        Adjustable { cells, turn, failed, slow, lanes }
    }
}

impl<const WORDS: usize, const SLOW: usize, L: Lanes> Adjustable<WORDS, SLOW, L> {
    /// `settings` if each is within its limits.
    pub(crate) fn check(settings: &Settings) -> Result<Checked, ConfigError> {
        Checked::new(settings, WORDS, SLOW)
    }

    /// Writes `checked` into the cell that is not in force in `state`, unless the other one holds the same.
    /// Returns whether it did. For who has the turn.
    pub(crate) fn prepare(&self, state: State, checked: &Checked) -> bool {
        let (in_force, other) = self.cells(state);
        let is_new = !in_force.holds(checked);
        if is_new {
            fence(Ordering::Release);
            other.store(checked);
        }
        is_new
    }

    /// Whether there are limits for those who measure calls, in the generation of `seen`. Needs no second look:
    /// it is one number, and where the settings have changed since the call's outcome is stale.
    #[inline]
    pub(crate) fn measures(&self, seen: State) -> bool {
        self.kinds(seen) & MEASURES != 0
    }

    /// The cell that is in force in `state`, and the other one.
    #[inline]
    fn cells(&self, state: State) -> (&Cell, &Cell) {
        let [first, second] = &self.cells;
        if state.cell() == 0 { (first, second) } else { (second, first) }
    }

    /// What `read` finds in the cell that is in force in `seen`, which was loaded from `word`. Where the
    /// settings have changed since: what the word holds now.
    #[inline]
    pub(crate) fn read<T>(
        &self,
        word: &Word,
        seen: State,
        read: impl FnOnce(&Cell) -> T,
    ) -> Result<T, State> {
        fence(Ordering::Acquire);
        let answer = read(self.cells(seen).0);
        fence(Ordering::Acquire);
        let now = State(word.load(Ordering::Relaxed));
        if now.generation() == seen.generation() { Ok(answer) } else { Err(now) }
    }

    /// Where the window keeps what it knows, and where the one for slow calls does.
    fn rooms(&self) -> [Option<Room<'_, Part<'_, L>>>; 2] {
        let lanes = &self.lanes;
        let failed = Room::of(&self.failed, Part { lanes, part: |lane| &lane.failed });
        [failed, Room::of(&self.slow, Part { lanes, part: |lane| &lane.slow })]
    }

    /// The rule of the window, and that of the one for slow calls, as [`read`](Self::read) finds them.
    #[inline]
    fn rules<C>(&self, call: &Call<'_, C>) -> Result<[Option<InRoom<'_, L>>; 2], State> {
        let [failed, slow] = self.read(call.word, call.seen, Cell::rules)?;
        let [of_failed, of_slow] = self.rooms();
        Ok([failed.zip(of_failed), slow.zip(of_slow)])
    }
}

impl<const WORDS: usize, const SLOW: usize, L: Lanes> Inside for Adjustable<WORDS, SLOW, L> {
    type Config = ();
    type Found<'a>
        = Config
    where
        Self: 'a;

    #[inline]
    fn config(&self, (): &(), word: &Word, seen: State) -> Result<Config, State> {
        self.read(word, seen, Cell::config)
    }

    const RESTS: bool = true;

    #[inline]
    fn kinds(&self, seen: State) -> u32 {
        // As before any reading of a cell. Without it a thread that sees the flip could find the kind of
        // window that the cell held before, and a success would be lost.
        fence(Ordering::Acquire);
        self.cells(seen).0.kinds()
    }

    #[inline]
    fn is_calm(kinds: u32) -> bool {
        matches!(kinds, FAILURES | CUSUM)
    }

    /// It is where nothing judges slow calls, and the window is a failure ring or a sum that is 0. Needs no
    /// whole settings: were the cell another one's meanwhile, the call would be stale, and that changes
    /// nothing either.
    #[inline]
    fn is_at_rest(&self, kinds: u32, seen: State) -> bool {
        match kinds & !MEASURES {
            FAILURES => true,
            CUSUM => self.failed.first().is_none_or(|word| peek(word, seen.generation()) == 0),
            _ => false,
        }
    }
}

impl<const WORDS: usize, const SLOW: usize, L: Lanes> Judge for Adjustable<WORDS, SLOW, L> {
    #[inline(never)]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        let Ok([failed, slow]) = self.rules(call) else { return Verdict::Stale };
        let count = |rule: Option<InRoom<'_, L>>, bad| {
            rule.map_or(Verdict::Holds, |(rule, room)| rule.count(room, bad, call))
        };
        judge_both(outcome, slow.is_some(), |bad| count(failed, bad), |bad| count(slow, bad))
    }

    fn evidence<C: Clock>(&self, call: &Call<'_, C>) -> Result<Evidence, State> {
        let rules = self.rules(call)?;
        let [failed, slow] = rules.map(|rule| rule.map(|(rule, room)| rule.measure(room, call)));
        Ok(Evidence { failed, slow })
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.rooms().iter().flatten().for_each(|room| room.sweep(call));
    }
}
