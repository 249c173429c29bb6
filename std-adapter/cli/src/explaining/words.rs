//! Sentences that say what a configuration does.

use std::time::Duration;

use nanobreaker::{PartialSettings, SettingsError};

use crate::explaining::full::{Full, Judges, Over};

/// What trips, in a few words.
pub(crate) fn window_in_brief(settings: &PartialSettings) -> Result<String, SettingsError> {
    Ok(judges(&Full::of(settings)?.failed, "failed"))
}

pub(super) fn time(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

fn judges(judges: &Judges, what: &str) -> String {
    match *judges {
        Judges::Failures { threshold, within } => {
            format!("{threshold} calls {what} within {}", time(within))
        }
        Judges::Consecutive { threshold } => format!("{threshold} calls in a row {what}"),
        Judges::Cusum { normal, broken, calls_per_false_trip, sustained_for } => {
            let sustained = match sustained_for {
                Duration::ZERO => String::new(),
                sustained => format!(" and has mounted for {}", time(sustained)),
            };
            format!(
                "there is evidence that {broken} % of calls {what} instead of {normal} % (wrong once in \
                 {calls_per_false_trip} calls){sustained}"
            )
        }
        Judges::Rate { percent, over, min_calls } => {
            let over = match over {
                Over::Calls(size) => format!("last {size} calls"),
                Over::Time { span, .. } => format!("calls of the last {}", time(span)),
            };
            format!("{percent} % of the {over} {what}, once there are {min_calls}")
        }
    }
}

/// What happens, in the order in which it does.
pub(super) fn sentences(full: &Full) -> Vec<String> {
    let mut sentences = vec![trips(full)];
    sentences.extend(slow_calls(full));
    if let Some(limit) = full.hung_after {
        sentences.push(format!(
            "An asynchronous call that still runs after {} counts as a failure at that moment.",
            time(limit)
        ));
    }
    if full.config.latch() {
        sentences.push("A trip latches: every call is rejected until an operator resets the breaker.".into());
        return sentences;
    }
    sentences.push(opens(full));
    sentences.push(probes(full));
    sentences.push(lease(full));
    sentences.push(closes(full));
    sentences
}

fn trips(full: &Full) -> String {
    let failed = judges(&full.failed, "failed");
    match &full.slow {
        Some(slow) => {
            format!("The breaker opens when {failed}, or when {}.", judges(slow, "were slow"))
        }
        None => format!("The breaker opens when {failed}."),
    }
}

fn slow_calls(full: &Full) -> Option<String> {
    let limit = time(full.slow_after?);
    Some(match full.slow {
        Some(_) => format!("A success that took longer than {limit} is slow, but no failure."),
        None => format!("A success that took longer than {limit} counts as a failure."),
    })
}

fn opens(full: &Full) -> String {
    let open_for = time(full.open_for());
    let mut text = format!("It then rejects every call for {open_for}");
    if full.max_open() > full.open_for() {
        let most = time(full.max_open());
        text += &format!("; each trip without a healthy time between doubles that, up to {most}");
    }
    if full.jitter_permille > 0 {
        let percent = f64::from(full.jitter_permille) / 10.0;
        text += &format!("; up to {percent} % of that is cut off at random");
    }
    text + "."
}

fn probes(full: &Full) -> String {
    let config = &full.config;
    format!(
        "After that {} at a time may try: {} the breaker, {} it again.",
        counted(config.max_probes(), "call", "calls"),
        counted(config.probe_successes(), "success closes", "successes close"),
        counted(config.probe_failures(), "failure opens", "failures open"),
    )
}

fn lease(full: &Full) -> String {
    format!("Where none of those calls comes back for {}, it opens again too.", time(full.probe_lease()))
}

fn closes(full: &Full) -> String {
    match full.ramp() {
        Duration::ZERO => "Once it closes, all calls pass at once.".into(),
        ramp => format!(
            "Then the share of calls that pass grows from none to all over {}, judged as ever.",
            time(ramp)
        ),
    }
}

fn counted(number: u8, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
