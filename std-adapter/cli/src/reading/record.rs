//! What a line tells: its fields, understood but not yet judged.

use std::borrow::Cow;

use crate::reading::rules::Ending;

/// Whether a log's times say when calls began or when they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TimeIs {
    /// When the call began
    #[value(alias = "begin")]
    Start,
    /// When the call ended
    End,
}

impl TimeIs {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "begin",
            Self::End => "end",
        }
    }
}

/// One call of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record<'a> {
    pub(crate) time_us: i64,
    pub(crate) duration_us: i64,
    pub(crate) ending: Ending,
    pub(crate) key: Option<Cow<'a, str>>,
}
