//! One breaker's settings: as they are written, and as the breaker takes them.

use alloc::format;
use alloc::string::{String, ToString};

use nanobreaker_core::Settings;
use nanobreaker_settings::PartialSettings;

/// The longest text, in bytes: a link keeps both breakers', and browsers keep no link of megabytes.
const LONGEST_TEXT: usize = 16_384;

/// The settings of one breaker, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    text: String,
    partial: PartialSettings,
    complete: Settings,
}

/// Nothing is set: every default holds.
impl Default for Setup {
    fn default() -> Self {
        let partial = PartialSettings::default();
        let complete = partial.complete().unwrap_or(nanobreaker_settings::DEFAULT);
        Self { text: String::new(), partial, complete }
    }
}

impl Setup {
    /// Reads TOML, and keeps it as it is written.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in the words of its parser or of the settings.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let length = text.len();
        if length > LONGEST_TEXT {
            return Err(format!("the text has {length} bytes, but must have at most {LONGEST_TEXT}"));
        }
        let partial = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_string())?;
        Self::checked(text.to_string(), partial)
    }

    /// Writes the settings as TOML, anew.
    pub(crate) fn of(partial: PartialSettings) -> Result<Self, String> {
        let text = toml::to_string(&partial).map_err(|error| error.to_string())?;
        Self::checked(text, partial)
    }

    fn checked(text: String, partial: PartialSettings) -> Result<Self, String> {
        let complete = partial.complete().map_err(|error| error.to_string())?;
        Ok(Self { text, partial, complete })
    }

    /// The TOML.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it sets.
    pub const fn partial(&self) -> &PartialSettings {
        &self.partial
    }

    /// All settings, with every default.
    pub const fn complete(&self) -> &Settings {
        &self.complete
    }
}
