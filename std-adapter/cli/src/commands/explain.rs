//! `explain`: one configuration in words.

use crate::arguments::Explain;
use crate::configuration::Configuration;
use crate::explaining::{Surroundings, explain as explained};
use crate::failure::Failure;
use crate::report;

/// Explains the settings in a file.
pub(crate) fn explain(arguments: &Explain) -> Result<String, Failure> {
    let surroundings = Surroundings {
        calls_per_second: arguments.rate,
        normal: arguments.normal,
        timeout: arguments.timeout.or(arguments.timeout_outside),
        drops_calls: arguments.timeout_outside.is_some(),
    };
    let mut parts = Vec::new();
    match Configuration::load(&arguments.config)? {
        Configuration::One(settings) => {
            parts.push((String::new(), explained(&settings, &surroundings)?));
        }
        Configuration::Many(catalog) => {
            let defaults = explained(&catalog.settings(""), &surroundings)?;
            parts.push(("defaults".to_owned(), defaults));
            for name in catalog.names() {
                let of_breaker = explained(&catalog.settings(name), &surroundings)?;
                parts.push((format!("breakers.{name}"), of_breaker));
            }
        }
    }
    Ok(if arguments.json {
        report::explain_json(&parts)
    } else {
        report::explain_text(&parts, &surroundings)
    })
}
