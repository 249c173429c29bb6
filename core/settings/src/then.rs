//! What follows once a check has found a dependency well.

use alloc::format;
use alloc::string::String;

use crate::nearest::nearest;

/// What follows once a check succeeded often enough; in lower case in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Then {
    /// The next call is the probe.
    #[default]
    Probe,
    /// The breaker closes without a call.
    Close,
}

impl Then {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Probe, Self::Close];

    /// Its name, as written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Close => "close",
        }
    }

    /// That of this name, or an error that gives the nearest one.
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        let then = Self::ALL.into_iter().find(|then| then.name() == name);
        then.ok_or_else(|| match nearest(name, Self::ALL.map(Self::name)) {
            Some(near) => format!("{name:?} can't follow a check: did you mean {near:?}?"),
            None => format!("{name:?} can't follow a check: it is \"probe\" or \"close\""),
        })
    }
}
