//! What a file says about breakers: the settings of one, or a catalogue of many.

use std::fs;
use std::path::Path;

use nanobreaker::Settings;
use nanobreaker::catalog::Catalog;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// The tables of a catalogue, none of which is a setting of one breaker.
const CATALOG_TABLES: [&str; 3] = ["defaults", "profiles", "breakers"];

/// The settings of every breaker, checked.
#[derive(Clone, Debug)]
pub(crate) enum Configuration {
    /// The same for all keys.
    One(Settings),
    /// A key has the settings of the breaker of that name, or the defaults.
    Many(Catalog),
}

impl Configuration {
    /// Reads and checks a file.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Failure::File {
            path: shown.clone(),
            error,
        })?;
        let table: toml::Table = parsed(&text, &shown)?;
        if CATALOG_TABLES.iter().any(|name| table.contains_key(*name)) {
            return parsed(&text, &shown).map(Self::Many);
        }
        let settings: Settings = parsed(&text, &shown)?;
        match settings.check() {
            Ok(()) => Ok(Self::One(settings)),
            Err(error) => Err(Failure::Settings { path: shown, error }),
        }
    }

    /// The settings of the breaker for this key.
    pub(crate) fn settings(&self, key: &str) -> Settings {
        match self {
            Self::One(settings) => *settings,
            Self::Many(catalog) => catalog.settings(key),
        }
    }
}

/// Errors show the line, with line and column.
fn parsed<T: DeserializeOwned>(text: &str, path: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| Failure::Syntax {
        path: path.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })
}
