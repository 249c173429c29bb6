//! The settings of many breakers: defaults, named profiles, and what each breaker has of its own.

mod layers;
mod live;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::settings::{NamedSettings, Settings, SettingsError};

pub use layers::{CatalogError, Format, Layers};
pub use live::LiveCatalog;

/// The settings of many breakers, checked.
///
/// ```toml
/// [defaults]                  # for every breaker
/// open_for = "10s"
///
/// [profiles.patient]          # over the defaults, for whoever names it
/// max_open = "5m"
/// window = { kind = "time", span = "30s", failure_rate_percent = 40 }
///
/// [breakers.payments]         # over both, for the breaker of this name
/// profile = "patient"
/// probes = 3
/// ```
///
/// Read one through [`Layers`]. Each table takes the settings of [`Settings`]; a breaker that isn't
/// named has the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Catalog {
    defaults: Settings,
    profiles: BTreeMap<String, Settings>,
    breakers: BTreeMap<String, Settings>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Catalog")]
struct Written {
    #[serde(default)]
    defaults: Settings,
    #[serde(default)]
    profiles: BTreeMap<String, Settings>,
    #[serde(default)]
    breakers: BTreeMap<String, NamedSettings>,
}

impl TryFrom<Written> for Catalog {
    type Error = RefusedCatalog;

    fn try_from(written: Written) -> Result<Self, RefusedCatalog> {
        let defaults = written.defaults;
        checked(defaults, "defaults")?;
        let mut catalog = Self {
            defaults,
            ..Self::default()
        };
        for (name, settings) in written.profiles {
            let settings = checked(settings.or(defaults), &format!("profiles.{name}"))?;
            catalog.profiles.insert(name, settings);
        }
        for (name, own) in written.breakers {
            let table = format!("breakers.{name}");
            let base = match own.profile {
                Some(profile) => {
                    catalog
                        .profile(&profile)
                        .ok_or_else(|| RefusedCatalog::UnknownProfile {
                            table: table.clone(),
                            profile,
                            known: catalog.profiles.keys().cloned().collect(),
                        })?
                }
                None => defaults,
            };
            let settings = checked(own.settings.or(base), &table)?;
            catalog.breakers.insert(name, settings);
        }
        Ok(catalog)
    }
}

fn checked(settings: Settings, table: &str) -> Result<Settings, RefusedCatalog> {
    match settings.check() {
        Ok(()) => Ok(settings),
        Err(error) => Err(RefusedCatalog::Setting(error.under(table))),
    }
}

/// What is wrong with a catalogue that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RefusedCatalog {
    Setting(SettingsError),
    UnknownProfile {
        table: String,
        profile: String,
        known: Vec<String>,
    },
}

impl fmt::Display for RefusedCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::UnknownProfile {
                table,
                profile,
                known,
            } => {
                write!(f, "{table}.profile is {profile:?}, but ")?;
                if known.is_empty() {
                    f.write_str("there are no profiles")
                } else {
                    write!(f, "must be one of: {}", known.join(", "))
                }
            }
        }
    }
}

impl Catalog {
    /// The settings of the breaker called `name`: its own, over those of its profile, over the
    /// defaults.
    pub fn settings(&self, name: &str) -> Settings {
        self.breakers.get(name).copied().unwrap_or(self.defaults)
    }

    /// The settings of a profile, over the defaults; `None` if there is none of this name.
    pub fn profile(&self, name: &str) -> Option<Settings> {
        self.profiles.get(name).copied()
    }

    /// The names of the breakers that have settings of their own, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.breakers.keys().map(String::as_str)
    }
}
