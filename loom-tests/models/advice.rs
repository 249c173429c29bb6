//! Advice from others, recovery by others, and permits that are dropped, beside every move that they can
//! meet. Promises 1, 2, 5 and 6: each pair comes to what it comes to one after the other.

use nanobreaker_core::window::Consecutive;
use nanobreaker_core::{Cause, Outcome, Phase, Recorded, Snapshot};

use crate::explore::Actor;
use crate::orders::{More, one_after_the_other};
use crate::rig::{LEASE_MS, OPEN_MS, Rig, config};

type Touchy = Rig<Consecutive>;

/// Longer than the open time.
const ADVISED_MS: u64 = 3 * OPEN_MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    Changed(bool),
    Recorded(Recorded),
    /// Whether it passed as a probe, or how long to wait.
    Admitted(Result<bool, Option<u32>>),
}

type Outlook = ([Answer; 2], Snapshot, Vec<Cause>);

fn outlook(rig: &Touchy, answers: [Answer; 2]) -> Outlook {
    let (snapshot, causes) = (rig.breaker.snapshot(), rig.causes());
    rig.breaker.shadow(false);
    if matches!(snapshot.phase, Phase::Isolated | Phase::Disabled) {
        rig.breaker.reset();
    }
    rig.is_not_wedged();
    (answers, snapshot, causes)
}

fn advise(rig: &Touchy) -> Answer {
    Answer::Changed(rig.breaker.advise_ms(ADVISED_MS))
}

fn recover(rig: &Touchy) -> Answer {
    Answer::Changed(rig.breaker.recover())
}

fn give_up(rig: &Touchy) -> Answer {
    Answer::Recorded(rig.leave(rig.tokens[0], Outcome::Cancelled))
}

fn trip(rig: &Touchy) -> Answer {
    Answer::Changed(rig.breaker.trip())
}

fn fail(rig: &Touchy) -> Answer {
    Answer::Recorded(rig.record(0, Outcome::Failure))
}

fn succeed(rig: &Touchy) -> Answer {
    Answer::Recorded(rig.record(0, Outcome::Success))
}

fn call(rig: &Touchy) -> Answer {
    Answer::Admitted(match rig.breaker.allow_token() {
        Ok(token) => Ok(token.is_probe()),
        Err(rejected) => Err(rejected.retry_after_ms()),
    })
}

fn reset(rig: &Touchy) -> Answer {
    rig.breaker.reset();
    Answer::Changed(true)
}

fn isolate(rig: &Touchy) -> Answer {
    Answer::Changed(rig.breaker.isolate())
}

fn disable(rig: &Touchy) -> Answer {
    Answer::Changed(rig.breaker.disable())
}

fn shadow(rig: &Touchy) -> Answer {
    rig.breaker.shadow(true);
    Answer::Changed(true)
}

fn ask(rig: &Touchy) -> Answer {
    Answer::Changed(rig.breaker.trip_for_ms(2 * OPEN_MS))
}

fn opening() -> nanobreaker_core::ConfigBuilder {
    config().max_open_ms(2 * OPEN_MS).max_probes(2)
}

fn closed() -> Touchy {
    Rig::touchy(opening()).with_tokens(1)
}

/// Open, and half of the open time has passed.
fn open() -> Touchy {
    Rig::open(opening()).when_it_is(OPEN_MS / 2)
}

fn due() -> Touchy {
    Rig::open(opening()).when_it_is(OPEN_MS)
}

fn probing() -> Touchy {
    Rig::half_open(opening(), 2)
}

fn lost() -> Touchy {
    probing().when_it_is(OPEN_MS + LEASE_MS)
}

/// A failure that trips takes two steps, the verdict and the move. Where the other move comes in between
/// and ends the generation, the answer says that the outcome was judged.
const JUDGED: More<Outlook> = |first, _| {
    let mut between = first.clone();
    between.0[1] = Answer::Recorded(Recorded::Counted);
    between
};

macro_rules! pairs {
    ($($first:ident beside $($second:ident when $setup:ident $(or $more:ident)?),+;)+) => {
        $(mod $first {
            $(#[test]
            fn $second() {
                let actors: [super::Actor<_, _>; 2] = [super::$first, super::$second];
                super::one_after_the_other(super::$setup, actors, super::outlook, [$(super::$more)?]);
            })+
        })+
    };
}

pairs! {
    advise beside
        trip when closed,
        fail when closed or JUDGED,
        call when due,
        succeed when probing,
        recover when open,
        ask when open,
        shadow when closed,
        isolate when closed,
        disable when closed,
        reset when open;
    recover beside
        call when open,
        trip when open,
        ask when open,
        shadow when open,
        isolate when open,
        reset when open;
    give_up beside
        call when probing,
        call_again when lost,
        succeed_too when probing,
        fail_too when probing,
        trip when probing,
        ask when probing,
        shadow when probing,
        isolate when probing,
        reset when probing;
}

/// The other probe of the round.
fn succeed_too(rig: &Touchy) -> Answer {
    Answer::Recorded(rig.record(1, Outcome::Success))
}

fn fail_too(rig: &Touchy) -> Answer {
    Answer::Recorded(rig.record(1, Outcome::Failure))
}

fn call_again(rig: &Touchy) -> Answer {
    call(rig)
}
