//! What a file says about breakers: the settings of one, or a catalogue of many. Its extension tells
//! the format: JSON, YAML, or else TOML.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Config, File, FileFormat};

use nanobreaker::catalog::{Catalog, Format, bounds};
use nanobreaker::{PartialSettings, Statuses};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::failure::Failure;

/// The settings of every breaker, checked.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each -c")]
pub(crate) enum Configuration {
    /// The same for all keys.
    One(PartialSettings),
    /// A key has the settings of the breaker of that name, or the defaults.
    Many(Catalog),
}

impl Default for Configuration {
    /// What a shared breaker does where nothing is set.
    fn default() -> Self {
        Self::One(PartialSettings::default())
    }
}

impl Configuration {
    /// Reads and checks a file.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let text = bounds::text(path).map_err(|error| Failure::File { path: shown.clone(), error })?;
        let read =
            |problem: String| Failure::Syntax { path: shown.clone(), problem: problem.trim_end().to_owned() };
        let format = Format::of_path(path).unwrap_or(Format::Toml);
        bounds::check(&text, format).map_err(read)?;
        let tables: BTreeMap<String, IgnoredAny> = parse(format, &text).map_err(read)?;
        if tables.is_empty() {
            // Whoever names a file that says nothing has named another than was meant.
            let problem = "it says nothing; where the defaults are meant, replay has --default";
            return Err(read(problem.to_owned()));
        }
        // None of them is a setting of one breaker.
        if Catalog::TABLES.iter().any(|name| tables.contains_key(*name)) {
            return parse(format, &text).map(Self::Many).map_err(read);
        }
        let settings: PartialSettings = parse(format, &text).map_err(read)?;
        match settings.complete() {
            Ok(_) => Ok(Self::One(settings)),
            Err(error) => Err(Failure::Settings { path: shown, error }),
        }
    }

    /// The settings of the breaker for this key.
    pub(crate) fn settings(&self, key: &str) -> PartialSettings {
        match self {
            Self::One(settings) => *settings,
            Self::Many(catalog) => catalog.settings(key),
        }
    }
}

/// What all breakers' settings say of statuses: a log is read once for all of them.
///
/// # Errors
///
/// Two that say different things.
pub(crate) fn common_statuses<'a>(
    configurations: impl IntoIterator<Item = &'a Configuration>,
) -> Result<Statuses, Failure> {
    let mut all = configurations.into_iter().flat_map(|configuration| match configuration {
        Configuration::One(settings) => vec![settings.statuses()],
        Configuration::Many(catalog) => {
            let names = catalog.names().chain([""]);
            names.map(|name| catalog.settings(name).statuses()).collect()
        }
    });
    let first = all.next().unwrap_or_default();
    if all.any(|other| other != first) {
        let problem = "failure_status and ignore_status differ between breakers, and a log is read once for \
                       all: put them into [defaults], or play the configurations one by one";
        return Err(Failure::Arguments(problem.to_owned()));
    }
    Ok(first)
}

/// Errors show line and column, or the key.
fn parse<T: DeserializeOwned>(format: Format, text: &str) -> Result<T, String> {
    match format {
        Format::Toml => toml::from_str(text).map_err(|error| error.to_string()),
        Format::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
        Format::Yaml => Config::builder()
            .add_source(File::from_str(text, FileFormat::Yaml))
            .build()
            .and_then(Config::try_deserialize)
            .map_err(|error| error.to_string()),
    }
}
