//! The settings' file.

use std::fs;
use std::path::Path;

use nanobreaker::Settings;

use crate::failure::Failure;

/// Reads and checks the settings in a file.
pub(crate) fn load(path: &Path) -> Result<Settings, Failure> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| Failure::File {
        path: shown.clone(),
        error,
    })?;
    // The message shows the line, with line and column.
    let settings: Settings = toml::from_str(&text).map_err(|error| Failure::Syntax {
        path: shown.clone(),
        problem: error.to_string().trim_end().to_owned(),
    })?;
    match settings.check() {
        Ok(()) => Ok(settings),
        Err(error) => Err(Failure::Settings { path: shown, error }),
    }
}
