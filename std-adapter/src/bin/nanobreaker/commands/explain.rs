//! `explain`: one configuration in words.

use crate::arguments::Explain;
use crate::commands::settings;
use crate::explaining::{self, Surroundings};
use crate::failure::Failure;
use crate::report;

/// Explains the settings in a file.
pub(crate) fn explain(arguments: &Explain) -> Result<String, Failure> {
    let settings = settings::load(&arguments.config)?;
    let surroundings = Surroundings {
        calls_per_second: arguments.calls_per_second,
        timeout: arguments.timeout,
    };
    let explained = explaining::explain(&settings, &surroundings)?;
    Ok(if arguments.json {
        report::explain_json(&explained)
    } else {
        report::explain_text(&explained, &surroundings)
    })
}
