//! The settings of many breakers: defaults, named profiles, and what each breaker has of its own.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, Error};

use crate::check::CheckSettings;
use crate::error::SettingsError;
use crate::fleet::FleetSettings;
use crate::table::PartialSettings;
use crate::written::{Entry, TABLES, Written};

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
/// max_probes = 3
/// check = { http = "http://payments.internal/health", every = "1s" }
///
/// [breakers.search]
/// fleet = false               # finds out for itself
///
/// [fleet]                     # with whom all the others share what they find out
/// group = "checkout"
/// url = "rediss://cache.internal"
/// ```
///
/// The tables of breakers, the profiles and the defaults take the keys of [`PartialSettings`], a table `check`
/// with those of [`CheckSettings`], and `fleet`, which keeps a breaker out of the fleet where it is `false`. A
/// breaker that isn't named has the defaults. `[fleet]` takes the keys of [`FleetSettings`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    defaults: Entry,
    profiles: BTreeMap<String, Entry>,
    breakers: BTreeMap<String, Entry>,
    fleet: Option<FleetSettings>,
}

/// What is wrong with a catalogue that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// A setting can't be.
    Setting(SettingsError),
    /// A breaker or a profile has no name.
    Unnamed {
        /// The table that it is in.
        table: &'static str,
    },
    /// Two names in one table differ in nothing but upper and lower case. The environment knows lower case only,
    /// so one of them is hardly meant.
    SameName {
        /// The table that both are in.
        table: &'static str,
        /// Both names.
        names: [String; 2],
    },
    /// A breaker names a profile that there is not.
    UnknownProfile {
        /// The breaker's table.
        table: String,
        /// The profile that it names.
        profile: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A breaker is to be in a fleet, and there is none.
    NoFleet {
        /// The breaker's table.
        table: String,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::Unnamed { table } => write!(f, "{table} has an entry whose name is empty"),
            Self::SameName { table, names: [one, other] } => {
                write!(f, "{table}.{one} and {table}.{other} differ in nothing but upper and lower case")
            }
            Self::UnknownProfile { table, profile, known } => {
                write!(f, "{table}.profile is {profile:?}, but ")?;
                if known.is_empty() {
                    f.write_str("there are no profiles")
                } else {
                    write!(f, "must be one of: {}", known.join(", "))
                }
            }
            Self::NoFleet { table } => write!(f, "{table}.fleet is true, but there is no table [fleet]"),
        }
    }
}

impl core::error::Error for CatalogError {}

impl Catalog {
    /// The tables that a catalogue may have.
    pub const TABLES: [&str; 4] = TABLES;

    /// The settings of the breaker called `name`: its own, over those of its profile, over the
    /// defaults.
    pub fn settings(&self, name: &str) -> PartialSettings {
        self.entry(name).settings
    }

    /// The check of the breaker called `name`, likewise; `None` where nobody says whom to ask.
    pub fn check(&self, name: &str) -> Option<&CheckSettings> {
        Some(&self.entry(name).check).filter(|check| check.names_asked())
    }

    /// Whether the breaker called `name` is in the fleet, as all are where there is one, unless they say
    /// otherwise.
    pub fn is_in_fleet(&self, name: &str) -> bool {
        self.fleet.is_some() && self.entry(name).in_fleet != Some(false)
    }

    /// The fleet, if there is one.
    pub fn fleet(&self) -> Option<&FleetSettings> {
        self.fleet.as_ref()
    }

    /// The settings of a profile, over the defaults; `None` if there is none of this name.
    pub fn profile(&self, name: &str) -> Option<PartialSettings> {
        self.profiles.get(name).map(|entry| entry.settings)
    }

    /// The names of the breakers that have settings of their own, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.breakers.keys().map(String::as_str)
    }

    /// Each check that says whom to ask, with the table where that is written.
    pub fn checks(&self) -> impl Iterator<Item = (String, &CheckSettings)> {
        let profiles = self.profiles.iter().map(|(name, entry)| (format!("profiles.{name}"), entry));
        let breakers = self.breakers.iter().map(|(name, entry)| (format!("breakers.{name}"), entry));
        let all = [(String::from("defaults"), &self.defaults)].into_iter().chain(profiles).chain(breakers);
        all.map(|(table, entry)| (table, &entry.check)).filter(|(_, check)| check.names_asked())
    }

    fn entry(&self, name: &str) -> &Entry {
        self.breakers.get(name).unwrap_or(&self.defaults)
    }

    fn checked(written: Written) -> Result<Self, CatalogError> {
        let fleet = written.fleet.map(FleetSettings::checked).transpose().map_err(CatalogError::Setting)?;
        let mut catalog = Self { fleet, ..Self::default() };
        catalog.defaults = catalog.lay(written.defaults, &Entry::default(), "defaults")?;
        check_names("profiles", written.profiles.keys())?;
        check_names("breakers", written.breakers.keys())?;
        for (name, own) in written.profiles {
            let entry = catalog.lay(own, &catalog.defaults, &format!("profiles.{name}"))?;
            catalog.profiles.insert(name, entry);
        }
        for (name, mut own) in written.breakers {
            let table = format!("breakers.{name}");
            let base = catalog.base(own.profile.take(), &table)?;
            let entry = catalog.lay(own, base, &table)?;
            catalog.breakers.insert(name, entry);
        }
        Ok(catalog)
    }

    /// What a breaker's own settings lie over.
    fn base(&self, profile: Option<String>, table: &str) -> Result<&Entry, CatalogError> {
        let Some(profile) = profile else {
            return Ok(&self.defaults);
        };
        self.profiles.get(&profile).ok_or_else(|| CatalogError::UnknownProfile {
            table: table.into(),
            profile,
            known: self.profiles.keys().cloned().collect(),
        })
    }

    /// What a table says over what it lies on, checked.
    fn lay(&self, own: Entry, base: &Entry, table: &str) -> Result<Entry, CatalogError> {
        if own.in_fleet == Some(true) && self.fleet.is_none() {
            return Err(CatalogError::NoFleet { table: table.into() });
        }
        // Others may say how often only.
        let must_ask = table.starts_with("breakers.") && !own.check.is_empty();
        let entry = own.over(base);
        let checked = entry.checked(must_ask);
        checked.map_err(|error| CatalogError::Setting(error.under(table)))
    }
}

impl<'de> Deserialize<'de> for Catalog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::checked(Written::deserialize(deserializer)?).map_err(Error::custom)
    }
}

fn check_names<'a>(table: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), CatalogError> {
    let mut seen = BTreeMap::new();
    for name in names {
        if name.trim().is_empty() {
            return Err(CatalogError::Unnamed { table });
        }
        if let Some(other) = seen.insert(name.to_lowercase(), name) {
            return Err(CatalogError::SameName { table, names: [other.clone(), name.clone()] });
        }
    }
    Ok(())
}
