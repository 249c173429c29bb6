//! What instances and the store tell each other. All times are durations: no two clocks are compared.

use std::sync::Arc;

use nanobreaker_core::Phase;

/// The longest name of a group, of a breaker or of a person, and the longest reason, in bytes.
pub const LONGEST_NAME: usize = 128;

/// Who shares findings, and how many must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// One service in one region; nothing crosses groups.
    pub name: Arc<str>,
    /// This process: drawn at random, so no two are alike.
    pub instance: Arc<str>,
    /// How many instances must have found out for themselves before all are advised.
    pub quorum: u32,
    /// That many per cent of the living instances as well, rounded up; 0 is none.
    pub quorum_percent: u32,
}

/// What an instance has to say about one breaker of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The breaker's name; empty for [`News::Alive`].
    pub breaker: Arc<str>,
    /// What it is.
    pub news: News,
}

/// What a [`Report`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// This instance found out by its own calls that the dependency is broken: a vote.
    Open {
        /// How long until it would probe.
        left_ms: u32,
        /// How long a probe may take.
        probe_ms: u32,
        /// Whether it found that out just now. If not it is the same vote once more, in case it was lost, which never
        /// counts as a probe that failed.
        is_new: bool,
    },
    /// Its own probes succeeded, while the finding of this epoch was in force.
    Well {
        /// The finding's epoch.
        epoch: u64,
    },
    /// Only that the instance lives: what a quorum in per cent counts.
    Alive,
    /// An operator's order; `None` withdraws it.
    Order(Option<Order>),
}

/// What a fleet's operator wants of a breaker in every process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What it is to do.
    pub action: OrderedAction,
    /// For how long.
    pub left_ms: u32,
    /// Who ordered it, and why.
    pub reason: Arc<str>,
    /// Tells this order from others, so that a process that was told otherwise stays with that.
    pub id: u64,
}

/// What can be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderedAction {
    /// Reject all calls.
    Isolate,
    /// Let all calls pass.
    Disable,
    /// Judge, but reject nobody.
    Shadow,
}

impl OrderedAction {
    pub(crate) const ALL: [Self; 3] = [Self::Isolate, Self::Disable, Self::Shadow];

    /// Its name in messages and on pages.
    pub const fn name(self) -> &'static str {
        ["isolate", "disable", "shadow"][self as usize]
    }

    /// The phase in which it holds a breaker.
    pub(crate) const fn phase(self) -> Option<Phase> {
        match self {
            Self::Isolate => Some(Phase::Isolated),
            Self::Disable => Some(Phase::Disabled),
            Self::Shadow => None,
        }
    }

    /// The action of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// Enough instances found the dependency broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Numbers the findings of one memory of the store, see [`Reply`].
    pub epoch: u64,
    /// How long until the next probe.
    pub left_ms: u32,
    /// How long its probe may take.
    pub probe_ms: u32,
    /// Who is to probe; empty where nobody is.
    pub holder: Arc<str>,
    /// How many instances live; 0 where nothing counts them.
    pub live: u32,
}

impl Finding {
    /// How long others wait for the holder's probe: not at all where nobody is to probe.
    pub fn awaits_ms(&self) -> u32 {
        if self.holder.is_empty() { 0 } else { self.probe_ms }
    }
}

/// What the store tells an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// From here on nothing is missed: time to ask for what is in force.
    Linked,
    /// The link answers still, and everything older has arrived.
    Alive,
    /// Something may be missed from here on.
    Lost,
    /// A message of the store.
    Said(Reply),
}

/// What the store has to say of one breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The breaker's name.
    pub breaker: Arc<str>,
    /// What it is.
    pub word: Word,
}

/// What a [`Said`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A finding is in force.
    Open(Finding),
    /// The finding of that epoch is over: look again.
    Look {
        /// The finding's epoch.
        epoch: u64,
    },
    /// An order is in force, or none any more.
    Order(Option<Order>),
}

/// What the store tells, by itself or as an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Names the store's memory, at random: where that changed, epochs begin anew.
    pub run: u64,
    /// What is so now.
    pub said: Vec<Said>,
}
