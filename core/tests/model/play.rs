//! Plays a script on a real breaker and on the model side by side.
//!
//! After each step the breaker's answer, its snapshot and what its observer was told must be among
//! what the model allows. The courses that agree are gone on with; none left is a fault.

use std::cell::{Cell, RefCell};

use nanobreaker_core::window::{
    Adjustable, AnyWindow, Calls, Consecutive, Custom, Cusum, Failures, StripedTime, Stripes, Time, Window,
    WithSlow,
};
use nanobreaker_core::{
    AdjustError, Breaker, Config, Evidence, ManualClock, Observer, Outcome, Permit, Phase, Rejected,
    Settings, Snapshot, Token, Transition, WindowSettings,
};

use super::policy::Third;
use super::settings::{CLOCK, GENERATIONS, Numbers, WIDE, window_ms};
use super::time::Moment;
use super::{Answer, Course, Model, Name, Operation};

/// Room for the largest window of calls in either width.
pub const WORDS: usize = 65;

/// Courses beyond which a script is given up: nothing can be told any more.
const MOST_COURSES: usize = 64;

/// A length of time in a script: one of the settings, give or take a little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Amount {
    pub of: Length,
    pub give_or_take: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    Nothing,
    OpenFor,
    TwiceOpenFor,
    MaxOpen,
    Advised,
    Relapse,
    Lease,
    TwiceLease,
    Ramp,
    HalfRamp,
    Window,
    Bucket,
    Weeks(u8),
    /// So often a power of two: a multiple of what a field of that many bits can tell apart.
    Rounds(u8, u8),
    Exactly(u32),
}

/// A step of a script. Calls in progress are numbered from the oldest, modulo their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A call begins.
    Begin,
    /// One in progress ends.
    End(u8, Outcome),
    /// One in progress is never heard of again.
    Leak(u8),
    /// One that ended ends a second time.
    EndAgain(u8, Outcome),
    /// So many calls, each ended before the next begins.
    Calls(u16, Outcome),
    /// A call begins again and again, with so much time before each. It ends at once with the outcome,
    /// or is never heard of again.
    Poll(u8, Amount, Option<Outcome>),
    Trip,
    TripFor(Amount),
    Advise(Amount),
    Recover,
    Isolate,
    Disable,
    Reset,
    /// Resets all but this many of a whole round of generations.
    ResetsNearlyAll(u8),
    Shadow(bool),
    /// Its state is saved, and restored as if it had slept so long.
    Restart(Amount),
    /// Other settings take the place of these, where the window is adjustable.
    Adjust(Settings),
    Seed(u32),
    Wait(Amount),
    SetBack(Amount),
}

/// Which of the types that hold a kind of window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Through {
    /// The one that holds no other.
    ItsOwn,
    /// The one that chooses at run time.
    Any,
    /// The one with stripes, where there is one.
    Striped,
    /// The one that can be replaced.
    Adjustable,
    /// A rule of one's own, whatever the settings say of the first window.
    Custom,
}

/// Gives each call another stripe than the one before.
#[derive(Clone, Copy, Debug)]
struct InTurn;

impl Stripes for InTurn {
    fn stripe(&self) -> usize {
        thread_local!(static TURN: Cell<usize> = const { Cell::new(0) });
        TURN.replace(TURN.get().wrapping_add(1))
    }
}

/// A breaker, where its clock starts, and what is done to it.
#[derive(Clone, Debug)]
pub struct Script {
    pub settings: Settings,
    pub through: Through,
    pub clock: u64,
    pub steps: Vec<Step>,
    /// How often somebody asks at the end, when it must not be wedged.
    pub period: Amount,
}

/// Plays `script`; an error tells the first step that differs from what the model allows.
pub fn play(script: &Script) -> Result<(), String> {
    let Settings { window, slow_window, .. } = script.settings;
    match script.through {
        Through::Adjustable => {
            let window = valid(Adjustable::<WORDS, WORDS>::new(&script.settings));
            play_with(script, window, (), Some(&adjust), Model::new(script.settings))
        }
        Through::Custom => {
            let custom = Custom(Third::default());
            match slow_window {
                Some(slow) => play_policy(script, WithSlow::new(custom, any(slow))),
                None => play_policy(script, custom),
            }
        }
        Through::ItsOwn if slow_window.is_none() => play_on_its_own(script),
        Through::Striped if slow_window.is_none() => match window {
            WindowSettings::Time { span_ms, buckets, rate } => {
                let window = StripedTime::<InTurn, 3, 8>::new(span_ms, buckets, rate, InTurn);
                play_on(script, valid(window))
            }
            _ => play_on(script, any(window)),
        },
        _ => match slow_window {
            Some(slow) => play_on(script, WithSlow::new(any(window), any(slow))),
            None => play_on(script, any(window)),
        },
    }
}

fn play_on_its_own(script: &Script) -> Result<(), String> {
    macro_rules! failures {
        ($threshold:expr, $within_ms:expr, $($k:literal)*) => {
            match $threshold {
                $($k => play_on(script, valid(Failures::<$k>::within_ms($within_ms))),)*
                _ => play_on(script, any(script.settings.window)),
            }
        };
    }
    match script.settings.window {
        WindowSettings::Failures { threshold, within_ms } => {
            failures!(threshold, within_ms, 1 2 3 4 5 6 7 8)
        }
        WindowSettings::Consecutive { threshold } => play_on(script, valid(Consecutive::new(threshold))),
        WindowSettings::Calls { size, rate } => play_on(script, valid(Calls::<WORDS>::new(size, rate))),
        WindowSettings::Time { span_ms, buckets, rate } => {
            play_on(script, valid(Time::<8>::new(span_ms, buckets, rate)))
        }
        WindowSettings::Cusum(settings) => play_on(script, valid(Cusum::new(settings))),
    }
}

fn valid<T>(window: Result<T, nanobreaker_core::ConfigError>) -> T {
    window.expect("the generator keeps to the limits")
}

/// The window that chooses at run time.
pub fn any(window: WindowSettings) -> AnyWindow<WORDS> {
    valid(AnyWindow::new(window))
}

/// Keeps what it is told until asked.
#[derive(Default)]
struct Notes(RefCell<Vec<Transition>>);

impl Observer for Notes {
    fn transition(&self, transition: &Transition) {
        self.0.borrow_mut().push(*transition);
    }
}

type Played<'a, W> = Breaker<W, &'a ManualClock, &'a Notes>;
type Adjust<'a, W> = &'a dyn for<'b> Fn(&Played<'b, W>, &Settings) -> Result<(), AdjustError>;

fn adjust(breaker: &Played<'_, Adjustable<WORDS, WORDS>>, settings: &Settings) -> Result<(), AdjustError> {
    breaker.adjust(settings)
}

fn play_on<W: Window<Settings = Config>>(script: &Script, window: W) -> Result<(), String> {
    let config = valid(script.settings.opening.build());
    play_with(script, window, config, None, Model::new(script.settings))
}

/// Plays it on a breaker whose first window is the policy.
fn play_policy<W: Window<Settings = Config>>(script: &Script, window: W) -> Result<(), String> {
    let config = valid(script.settings.opening.build());
    play_with(script, window, config, None, Model::of_policy(script.settings))
}

/// Plays it on a breaker whose window has all settings in its type.
pub fn play_preset<W: Window<Settings = ()>>(script: &Script, window: W) -> Result<(), String> {
    play_with(script, window, (), None, Model::new(script.settings))
}

fn play_with<W: Window>(
    script: &Script,
    window: W,
    config: W::Settings,
    adjust: Option<Adjust<'_, W>>,
    model: Model,
) -> Result<(), String> {
    let clock = ManualClock::new(script.clock);
    let notes = Notes::default();
    let breaker = Breaker::with_observer(window, config, &clock, &notes);
    let mut player = Player {
        settings: script.settings.into(),
        adjust,
        breaker: &breaker,
        clock: &clock,
        notes: &notes,
        now: script.clock.into(),
        courses: vec![model],
        named: 0,
        in_progress: Vec::new(),
        ended: Vec::new(),
    };
    for (i, step) in script.steps.iter().enumerate() {
        let played = player.step(*step);
        played.map_err(|fault| format!("step {i}, {step:?}: {fault}"))?;
        if player.courses.len() > MOST_COURSES {
            return Ok(());
        }
    }
    player.is_not_wedged(script.period).map_err(|fault| format!("after all steps: {fault}"))
}

struct Player<'a, W: Window> {
    settings: Numbers,
    adjust: Option<Adjust<'a, W>>,
    breaker: &'a Played<'a, W>,
    clock: &'a ManualClock,
    notes: &'a Notes,
    now: Moment,
    courses: Vec<Model>,
    named: Name,
    in_progress: Vec<(Name, Token)>,
    ended: Vec<(Name, Token)>,
}

impl<W: Window> Player<'_, W> {
    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Begin => {
                if let Ok(begun) = self.begin()? {
                    self.in_progress.push(begun);
                }
            }
            Step::End(which, outcome) => {
                if let Some(call) = take(&mut self.in_progress, which) {
                    self.end(call, outcome)?;
                    self.ended.push(call);
                }
            }
            Step::Leak(which) => {
                take(&mut self.in_progress, which);
            }
            Step::EndAgain(which, outcome) => {
                if let Some(call) = take(&mut self.ended, which) {
                    self.ended.push(call);
                    self.end(call, outcome)?;
                }
            }
            Step::Calls(calls, outcome) => {
                for _ in 0..calls {
                    self.call(Some(outcome))?;
                }
            }
            Step::Poll(times, period, outcome) => {
                for _ in 0..times {
                    self.set_clock(self.now + self.ms(period))?;
                    self.call(outcome)?;
                }
            }
            Step::ResetsNearlyAll(but) => {
                for _ in 0..GENERATIONS - u64::from(but % 4) {
                    self.breaker.reset();
                    self.agree(Operation::Reset, Answer::Done)?;
                }
            }
            Step::Seed(seed) => self.breaker.seed(seed),
            Step::Wait(amount) => self.set_clock(self.now + self.ms(amount))?,
            Step::SetBack(amount) => self.set_clock(self.now - self.ms(amount))?,
            _ => self.ask(step)?,
        }
        Ok(())
    }

    /// What people, dependencies and other breakers ask for.
    fn ask(&mut self, step: Step) -> Result<(), String> {
        let breaker = self.breaker;
        let (operation, answer) = match step {
            Step::Trip => (Operation::Trip, Answer::Changed(breaker.trip())),
            Step::TripFor(amount) => {
                let ms = self.ms(amount) as u64;
                let changed = breaker.trip_for_ms(ms);
                (Operation::TripFor(ms), Answer::Changed(changed))
            }
            Step::Advise(amount) => {
                let ms = self.ms(amount) as u64;
                let changed = breaker.advise_ms(ms);
                (Operation::Advise(ms), Answer::Changed(changed))
            }
            Step::Recover => (Operation::Recover, Answer::Changed(breaker.recover())),
            Step::Isolate => (Operation::Isolate, Answer::Changed(breaker.isolate())),
            Step::Disable => (Operation::Disable, Answer::Changed(breaker.disable())),
            Step::Reset => {
                breaker.reset();
                (Operation::Reset, Answer::Done)
            }
            Step::Shadow(on) => {
                breaker.shadow(on);
                (Operation::Shadow(on), Answer::Done)
            }
            Step::Restart(slept) => {
                let slept_ms = self.ms(slept) as u64;
                let restored = breaker.restore(breaker.save(), slept_ms);
                restored.map_err(|error| error.to_string())?;
                (Operation::Restart(slept_ms), Answer::Done)
            }
            Step::Adjust(settings) => {
                let Some(adjust) = self.adjust else {
                    return Ok(());
                };
                adjust(breaker, &settings).map_err(|error| error.to_string())?;
                self.settings = settings.into();
                (Operation::Adjust(settings), Answer::Done)
            }
            other => unreachable!("{other:?} asks for nothing"),
        };
        self.agree(operation, answer)
    }

    fn begin(&mut self) -> Result<Result<(Name, Token), Rejected>, String> {
        let name = self.named;
        self.named += 1;
        // A permit every other time, a plain token else: they are the same to the breaker.
        let granted = if name & 1 == 0 {
            self.breaker.allow().map(Permit::into_token)
        } else {
            let token = self.breaker.allow_token();
            token.map(|token| Token::from_bits(token.to_bits()))
        };
        let answer = match &granted {
            Ok(token) => Answer::Granted { generation: token.generation(), probe: token.is_probe() },
            Err(rejected) => Answer::Rejected {
                phase: rejected.phase,
                generation: rejected.generation,
                retry_after_ms: rejected.retry_after_ms(),
            },
        };
        self.agree(Operation::Allow(name), answer)?;
        Ok(granted.map(|token| (name, token)))
    }

    fn end(&mut self, (name, token): (Name, Token), outcome: Outcome) -> Result<(), String> {
        let answer = Answer::Recorded(self.breaker.record(token, outcome));
        self.agree(Operation::Record(name, outcome), answer)
    }

    /// A whole call, or one that is never heard of again. Returns whether it passed.
    fn call(&mut self, outcome: Option<Outcome>) -> Result<bool, String> {
        let Ok(call) = self.begin()? else {
            return Ok(false);
        };
        if let Some(outcome) = outcome {
            self.end(call, outcome)?;
        }
        let courses = self.courses.iter_mut();
        courses.for_each(|course| course.forget(call.0));
        Ok(true)
    }

    /// Keeps the courses that agree with what the breaker answered, told and shows.
    fn agree(&mut self, operation: Operation, answer: Answer) -> Result<(), String> {
        let told = std::mem::take(&mut *self.notes.0.borrow_mut());
        let (snapshot, evidence) = self.shows();
        let allowed: Vec<Course> =
            self.courses.iter().flat_map(|model| model.after(operation, self.now)).collect();
        let mut agreeing: Vec<Model> = Vec::new();
        for course in &allowed {
            let agrees = course.answer.permits(&answer)
                && course.told.len() == told.len()
                && course.told.iter().zip(&told).all(|(c, t)| c.permits(t))
                && told.iter().all(|told| told.at_ms == self.shown())
                && course.model.permits(&snapshot, self.now)
                && course.model.permits_evidence(&evidence, self.now)
                && snapshot.phase == self.breaker.phase();
            let model = course.model.clone().settled(&snapshot, self.now);
            if agrees && !agreeing.contains(&model) {
                agreeing.push(model);
            }
        }
        if agreeing.is_empty() {
            let before: Vec<String> = self.courses.iter().map(Model::to_string).collect();
            let allowed: Vec<String> = allowed.iter().map(Course::to_string).collect();
            return Err(format!(
                "at {}, {operation:?} was answered {answer:?}, told {told:?}, shows \
                 {snapshot:?}, {evidence:?}; before it was\n{}\nallowed is\n{}",
                self.now,
                before.join("\n"),
                allowed.join("\n")
            ));
        }
        self.courses = agreeing;
        Ok(())
    }

    /// All that it shows of itself.
    fn shows(&self) -> (Snapshot, Evidence) {
        (self.breaker.snapshot(), self.breaker.evidence())
    }

    /// What the clock shows at the present moment.
    fn shown(&self) -> u64 {
        self.now as u64
    }

    fn set_clock(&mut self, to: Moment) -> Result<(), String> {
        self.now = to;
        self.clock.set(self.shown());
        let (snapshot, evidence) = self.shows();
        let agrees = |course: &Model| course.permits(&snapshot, to) && course.permits_evidence(&evidence, to);
        if self.courses.iter().any(agrees) {
            return Ok(());
        }
        let allowed: Vec<String> = self.courses.iter().map(Model::to_string).collect();
        Err(format!("at {to} it shows {snapshot:?}, {evidence:?}, not as\n{}", allowed.join("\n")))
    }

    fn ms(&self, amount: Amount) -> Moment {
        let settings = &self.settings;
        let ms: i128 = match amount.of {
            Length::Nothing => 0,
            Length::OpenFor => settings.open_for_ms,
            Length::TwiceOpenFor => 2 * settings.open_for_ms,
            Length::MaxOpen => settings.max_open_ms,
            Length::Advised => settings.advised_ms(),
            Length::Relapse => settings.relapse_ms,
            Length::Lease => settings.lease_ms,
            Length::TwiceLease => 2 * settings.lease_ms,
            Length::Ramp => settings.ramp_ms,
            Length::HalfRamp => settings.ramp_ms / 2,
            Length::Window => window_ms(settings.window).into(),
            Length::Bucket => match settings.window {
                WindowSettings::Time { span_ms, buckets, .. } => span_ms.div_ceil(buckets.into()).into(),
                _ => 1,
            },
            Length::Weeks(weeks) => 604_800_000 * i128::from(weeks),
            Length::Rounds(times, bits) => i128::from(times) << bits,
            Length::Exactly(ms) => ms.into(),
        };
        (ms + i128::from(amount.give_or_take)).max(0)
    }

    /// Whatever was leaked, with time moving and calls arriving one passes again. Whoever asks need not
    /// heed when to ask again; after a lease, an open time and a ramp somebody's call passes.
    fn is_not_wedged(&mut self, period: Amount) -> Result<(), String> {
        // More calls than this take too long to play.
        const MOST_CALLS: i128 = 300;
        let longest = self.settings.longest_ms() + self.settings.longest_ms() / 8 + 32;
        let stages = 3 * longest;
        let least = (stages / MOST_CALLS).max(1);
        let mut period = self.ms(period).max(least);
        // A narrow lease's time comes round after 2²⁵ units of at most an eighth of it, the clock itself later.
        let digits = 128 - self.settings.lease_ms.leading_zeros();
        let lease_comes_round = if WIDE { CLOCK } else { (1 << 25 << digits.saturating_sub(4)).min(CLOCK) };
        // How far the clock, or the lease's time, seems to go each time, forward or back.
        let seems = |period: i128| {
            let seen = |range: i128| period.rem_euclid(range).min(range - period.rem_euclid(range));
            seen(CLOCK).min(seen(lease_comes_round))
        };
        // As `Config` says, who asks at exactly these periods finds the same time left again.
        let stands_still =
            seems(period) == 0 || !WIDE && self.settings.lease_ms < 1_024 && period.trailing_zeros() >= 25;
        if stands_still {
            return Ok(());
        }
        if seems(period) < least {
            period += least;
        }
        // A clock that came round may look like one that was set back, once for each stage.
        let forward = seems(period);
        for _ in 0..stages / forward + 8 {
            self.set_clock(self.now + period)?;
            if self.call(None)? {
                return Ok(());
            }
            // An operator holds it, or the latch, after a lost round too.
            if self.breaker.phase() == Phase::Isolated {
                return Ok(());
            }
        }
        Err(format!("wedged, asked every {period} ms: {:?}", self.breaker.snapshot()))
    }
}

fn take<T>(from: &mut Vec<T>, which: u8) -> Option<T> {
    (!from.is_empty()).then(|| from.remove(usize::from(which) % from.len()))
}
