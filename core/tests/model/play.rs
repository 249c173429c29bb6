//! Plays a script on a real breaker and on the model side by side.
//!
//! After each step the breaker's answer, its snapshot and what its observer was told must be among
//! what the model allows. The courses that agree are gone on with; none left is a fault.

use std::cell::{Cell, RefCell};

use nanobreaker_core::window::{
    Adjustable, AnyWindow, Calls, Consecutive, Failures, Replaceable, StripedTime, Stripes, Time,
    Window, WithSlow,
};
use nanobreaker_core::{Breaker, ManualClock, Observer, Outcome, Token, Transition};

use super::settings::{GENERATIONS, Settings, WIDE, WindowKind};
use super::time::Moment;
use super::{Answer, Course, Model, Name, Operation};

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
    Lease,
    TwiceLease,
    Ramp,
    HalfRamp,
    Window,
    Bucket,
    Weeks(u8),
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
    Calls(u8, Outcome),
    Trip,
    TripFor(Amount),
    Isolate,
    Disable,
    Reset,
    /// Resets all but this many of a whole round of generations.
    ResetsNearlyAll(u8),
    Observe(bool),
    /// Its state is saved and restored at once.
    Restart,
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
}

/// Plays `script`; an error tells the first step that differs from what the model allows.
pub fn play(script: &Script) -> Result<(), String> {
    let settings = &script.settings;
    if script.through == Through::Adjustable {
        return match settings.slow {
            Some(slow) => {
                let windows = WithSlow::new(any(settings.window), any(slow));
                adjust::<_>(script, windows, |settings| {
                    let slow = settings.slow.expect("it stays");
                    WithSlow::new(any(settings.window), any(slow))
                })
            }
            None => adjust(
                script,
                any(settings.window),
                |settings| any(settings.window),
            ),
        };
    }
    if let Some(slow) = settings.slow {
        return play_on(script, WithSlow::new(any(settings.window), any(slow)));
    }
    if script.through == Through::Any {
        return play_on(script, any(settings.window));
    }
    match settings.window {
        WindowKind::Failures {
            threshold,
            within_ms,
        } => play_on(
            script,
            valid(Failures::<8>::new(threshold, within_ms.into())),
        ),
        WindowKind::Consecutive { threshold } => {
            play_on(script, valid(Consecutive::new(threshold)))
        }
        WindowKind::Calls {
            size,
            percent,
            min_calls,
        } => play_on(script, valid(Calls::<8>::new(size, percent, min_calls))),
        WindowKind::Time {
            span_ms,
            buckets,
            percent,
            min_calls,
        } if script.through == Through::Striped => play_on(
            script,
            valid(StripedTime::<InTurn, 3, 8>::new(
                span_ms.into(),
                buckets,
                percent,
                min_calls,
                InTurn,
            )),
        ),
        WindowKind::Time {
            span_ms,
            buckets,
            percent,
            min_calls,
        } => play_on(
            script,
            valid(Time::<8>::new(span_ms.into(), buckets, percent, min_calls)),
        ),
    }
}

fn valid<T>(window: Result<T, nanobreaker_core::ConfigError>) -> T {
    window.expect("the generator keeps to the limits")
}

/// The window that chooses at run time.
pub fn any(kind: WindowKind) -> AnyWindow<17> {
    valid(match kind {
        WindowKind::Failures {
            threshold,
            within_ms,
        } => AnyWindow::failures(threshold, within_ms.into()),
        WindowKind::Consecutive { threshold } => AnyWindow::consecutive(threshold),
        WindowKind::Calls {
            size,
            percent,
            min_calls,
        } => AnyWindow::calls(size, percent, min_calls),
        WindowKind::Time {
            span_ms,
            buckets,
            percent,
            min_calls,
        } => AnyWindow::time(span_ms.into(), buckets, percent, min_calls),
    })
}

/// Keeps what it is told until asked.
#[derive(Default)]
struct Notes(RefCell<Vec<Transition>>);

impl Observer for Notes {
    fn transition(&self, transition: &Transition) {
        self.0.borrow_mut().push(*transition);
    }
}

fn play_on<W: Window>(script: &Script, window: W) -> Result<(), String> {
    play_with(script, window, None)
}

fn adjust<W: Replaceable>(
    script: &Script,
    window: W,
    new: fn(&Settings) -> W,
) -> Result<(), String> {
    let adjust = move |breaker: &Played<'_, Adjustable<W>>, settings: &Settings| {
        breaker.adjust(&new(settings), settings.config())
    };
    play_with(script, Adjustable::new(window), Some(&adjust))
}

type Played<'a, W> = Breaker<W, &'a ManualClock, &'a Notes>;
type Adjust<'a, W> = &'a dyn for<'b> Fn(&Played<'b, W>, &Settings) -> bool;

fn play_with<W: Window>(
    script: &Script,
    window: W,
    adjust: Option<Adjust<'_, W>>,
) -> Result<(), String> {
    let clock = ManualClock::new(script.clock);
    let notes = Notes::default();
    let breaker = Breaker::with_observer(window, script.settings.config(), &clock, &notes);
    let mut player = Player {
        settings: script.settings,
        adjust,
        was_set_back: false,
        breaker: &breaker,
        clock: &clock,
        notes: &notes,
        now: script.clock.into(),
        courses: vec![Model::new(script.settings)],
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
    player
        .is_not_wedged()
        .map_err(|fault| format!("after all steps: {fault}"))
}

struct Player<'a, W> {
    settings: Settings,
    adjust: Option<Adjust<'a, W>>,
    was_set_back: bool,
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
                    if let Ok(call) = self.begin()? {
                        self.end(call, outcome)?;
                        self.courses
                            .iter_mut()
                            .for_each(|course| course.forget(call.0));
                    }
                }
            }
            Step::Trip => {
                let answer = Answer::Changed(self.breaker.trip());
                self.agree(Operation::Trip, answer)?;
            }
            Step::TripFor(amount) => {
                let ms = self.ms(amount) as u64;
                let answer = Answer::Changed(self.breaker.trip_for_ms(ms));
                self.agree(Operation::TripFor(ms), answer)?;
            }
            Step::Isolate => {
                let answer = Answer::Changed(self.breaker.isolate());
                self.agree(Operation::Isolate, answer)?;
            }
            Step::Disable => {
                let answer = Answer::Changed(self.breaker.disable());
                self.agree(Operation::Disable, answer)?;
            }
            Step::Reset => self.reset()?,
            Step::ResetsNearlyAll(but) => {
                for _ in 0..GENERATIONS - u64::from(but % 4) {
                    self.reset()?;
                }
            }
            Step::Observe(on) => {
                self.breaker.observe(on);
                self.agree(Operation::Observe(on), Answer::Done)?;
            }
            // Where words are narrow, what was left of an open time is not known to the millisecond.
            Step::Restart if !WIDE => {}
            Step::Restart => {
                let restored = self.breaker.restore(self.breaker.save());
                restored.map_err(|error| error.to_string())?;
                self.agree(Operation::Restart, Answer::Done)?;
            }
            Step::Adjust(settings) => {
                // What a window has kept of calls from before the clock was set back is not known.
                if let (Some(adjust), false) = (self.adjust, self.was_set_back) {
                    self.settings = settings.after(&self.settings);
                    let answer = Answer::Changed(adjust(self.breaker, &self.settings));
                    self.agree(Operation::Adjust(self.settings), answer)?;
                }
            }
            Step::Seed(seed) => self.breaker.seed(seed),
            Step::Wait(amount) => self.set_clock(self.now + self.ms(amount))?,
            Step::SetBack(amount) => {
                self.was_set_back = true;
                self.set_clock(self.now - self.ms(amount))?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<Result<(Name, Token), nanobreaker_core::Rejected>, String> {
        let name = self.named;
        self.named += 1;
        // A permit every other time, a plain token else: they are the same to the breaker.
        let granted = if name & 1 == 0 {
            self.breaker.allow().map(Token::from)
        } else {
            self.breaker.allow_token()
        };
        let answer = match &granted {
            Ok(token) => Answer::Granted {
                generation: token.generation(),
                probe: token.is_probe(),
            },
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

    fn reset(&mut self) -> Result<(), String> {
        self.breaker.reset();
        self.agree(Operation::Reset, Answer::Done)
    }

    /// Keeps the courses that agree with what the breaker answered, told and shows.
    fn agree(&mut self, operation: Operation, answer: Answer) -> Result<(), String> {
        let told = std::mem::take(&mut *self.notes.0.borrow_mut());
        let snapshot = self.breaker.snapshot();
        let allowed: Vec<Course> = self
            .courses
            .iter()
            .flat_map(|model| model.after(operation, self.now))
            .collect();
        let mut agreeing: Vec<Model> = Vec::new();
        for course in &allowed {
            let agrees = course.answer.permits(&answer)
                && course.told.len() == told.len()
                && course.told.iter().zip(&told).all(|(c, t)| c.permits(t))
                && told.iter().all(|told| told.at_ms == self.shown())
                && course.model.permits(&snapshot, self.now);
            let model = course.model.clone().settled(&snapshot, self.now);
            if agrees && !agreeing.contains(&model) {
                agreeing.push(model);
            }
        }
        if agreeing.is_empty() {
            let allowed: Vec<String> = allowed.iter().map(Course::to_string).collect();
            return Err(format!(
                "at {}, {operation:?} was answered {answer:?}, told {told:?}, shows \
                 {snapshot:?}; allowed is\n{}",
                self.now,
                allowed.join("\n")
            ));
        }
        self.courses = agreeing;
        Ok(())
    }

    /// What the clock shows at the present moment.
    fn shown(&self) -> u64 {
        self.now as u64
    }

    fn set_clock(&mut self, to: Moment) -> Result<(), String> {
        self.now = to;
        self.clock.set(self.shown());
        let snapshot = self.breaker.snapshot();
        if self
            .courses
            .iter()
            .any(|course| course.permits(&snapshot, to))
        {
            return Ok(());
        }
        let allowed: Vec<String> = self.courses.iter().map(Model::to_string).collect();
        Err(format!(
            "at {to} it shows {snapshot:?}, not as\n{}",
            allowed.join("\n")
        ))
    }

    fn ms(&self, amount: Amount) -> Moment {
        let settings = &self.settings;
        let ms: i128 = match amount.of {
            Length::Nothing => 0,
            Length::OpenFor => settings.open_for_ms.into(),
            Length::TwiceOpenFor => 2 * i128::from(settings.open_for_ms),
            Length::MaxOpen => settings.max_open_ms.into(),
            Length::Lease => settings.lease_ms.into(),
            Length::TwiceLease => 2 * i128::from(settings.lease_ms),
            Length::Ramp => settings.ramp_ms.into(),
            Length::HalfRamp => (settings.ramp_ms / 2).into(),
            Length::Window => window_ms(settings.window).into(),
            Length::Bucket => match settings.window {
                WindowKind::Time {
                    span_ms, buckets, ..
                } => span_ms.div_ceil(buckets).into(),
                _ => 1,
            },
            Length::Weeks(weeks) => 604_800_000 * i128::from(weeks),
            Length::Exactly(ms) => ms.into(),
        };
        (ms + i128::from(amount.give_or_take)).max(0)
    }

    /// Whatever was leaked, with time moving and calls arriving one passes again.
    fn is_not_wedged(&mut self) -> Result<(), String> {
        use nanobreaker_core::Phase;
        if self.breaker.snapshot().phase == Phase::Isolated {
            return Ok(());
        }
        // A lease, an open time and a ramp at most stand between; and once more each where words
        // are too narrow to tell a moment long gone from one to come.
        for _ in 0..if WIDE { 4 } else { 8 } {
            match self.begin()? {
                Ok(_) => return Ok(()),
                Err(rejected) => {
                    // A lost round has tripped, and the latch holds that.
                    if self.settings.latch && rejected.phase == Phase::Isolated {
                        return Ok(());
                    }
                    let Some(ms) = rejected.retry_after_ms() else {
                        return Err(format!("wedged: {rejected:?}"));
                    };
                    self.set_clock(self.now + i128::from(ms))?;
                }
            }
        }
        Err(format!("wedged: {:?}", self.breaker.snapshot()))
    }
}

fn window_ms(kind: WindowKind) -> u32 {
    match kind {
        WindowKind::Failures { within_ms, .. } => within_ms,
        WindowKind::Time { span_ms, .. } => span_ms,
        WindowKind::Consecutive { .. } | WindowKind::Calls { .. } => 0,
    }
}

fn take<T>(from: &mut Vec<T>, which: u8) -> Option<T> {
    (!from.is_empty()).then(|| from.remove(usize::from(which) % from.len()))
}
