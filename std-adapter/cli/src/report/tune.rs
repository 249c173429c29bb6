//! The best trade-offs, with the configurations to paste, and whether they are worth it.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use nanobreaker::PartialSettings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::elsewhere::Library;
use crate::explaining::window_in_brief;
use crate::failure::Failure;
use crate::reading::Notes;
use crate::replaying::Tally;
use crate::report::humane::{count, counted, duration, share, time};
use crate::report::replay::{ASSUMPTION, SCHEMA, shown_key, tally_json};
use crate::report::{read, skipped};
use crate::tuning::{Parts, Verdict};

/// One of the best.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) settings: PartialSettings,
    pub(crate) parts: Parts,
    pub(crate) is_recommended: bool,
}

/// The best for one breaker.
#[derive(Debug)]
pub(crate) struct OfKey {
    pub(crate) key: String,
    pub(crate) verdict: Verdict,
    /// What saves most over all calls, where anything does.
    pub(crate) best: Option<(PartialSettings, Tally)>,
}

/// What the search came to.
#[derive(Debug)]
pub(crate) struct Tuned<'a> {
    pub(crate) tried: usize,
    pub(crate) span_us: (i64, i64),
    /// What the calls before it chose is judged by those from it on, and the other way round.
    pub(crate) split_us: Option<i64>,
    pub(crate) verdict: Verdict,
    /// From the one that loses least to the one that saves most.
    pub(crate) choices: Vec<Choice>,
    pub(crate) of_default: Option<Tally>,
    pub(crate) of_keys: Vec<OfKey>,
    pub(crate) calls_per_second: f64,
    pub(crate) outages: usize,
    /// The share of calls that fail outside of them.
    pub(crate) normal: f64,
    pub(crate) library: Option<Library>,
    pub(crate) notes: &'a Notes,
}

impl OfKey {
    /// Its settings, where a breaker is worth it.
    fn worth_it(&self) -> Option<&PartialSettings> {
        let best = self.best.as_ref().filter(|_| self.verdict.is_worth_it);
        best.map(|(settings, _)| settings)
    }
}

impl Tuned<'_> {
    fn recommended(&self) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.is_recommended)
    }

    /// Whether any breaker is worth it.
    fn is_worth_it(&self) -> bool {
        self.verdict.is_worth_it || self.of_keys.iter().any(|of_key| of_key.worth_it().is_some())
    }

    fn verdict(&self) -> &'static str {
        if self.is_worth_it() { "worth_it" } else { "not_worth_it" }
    }

    /// Why, in words.
    fn reason(&self) -> String {
        let judged = &self.verdict.judged;
        if judged.bad() == 0 {
            return "no call failed, so none of them would have saved a call".to_owned();
        }
        if self.choices.iter().all(|choice| choice.parts.totals.saved == 0) {
            return "none of them would have saved a call".to_owned();
        }
        format!(
            "what is chosen saves {} of {} bad calls and loses {} of {} good ones",
            count(judged.saved),
            count(judged.bad()),
            count(judged.lost),
            count(judged.good())
        )
    }

    fn judged_on(&self) -> String {
        match self.split_us {
            Some(split_us) => {
                format!("chosen by the calls before {}, judged by those from then on", time(split_us))
            }
            None => "chosen and judged by the same calls: the log has no two outages to part it between"
                .to_owned(),
        }
    }
}

/// For people: comments, and what is recommended as a configuration. All of it can be pasted.
pub(crate) fn text(tuned: &Tuned<'_>) -> Result<String, Failure> {
    let mark = tuned.library.map_or("#", Library::comment);
    let mut comments = read::lines(tuned.notes);
    comments.extend(skipped::lines(tuned.notes));
    comments.push(String::new());
    let calls = tuned.choices.first().map_or(0, |choice| choice.parts.totals.calls);
    comments.push(format!(
        "{} against {} from {} to {}, with {}; outside of outages {:.2} % fail",
        counted(tuned.tried as u64, "configuration"),
        counted(calls, "call"),
        time(tuned.span_us.0),
        time(tuned.span_us.1),
        counted(tuned.outages as u64, "outage"),
        tuned.normal * 100.0,
    ));
    comments.push(tuned.judged_on());
    comments.push(format!("Assumed: {ASSUMPTION}"));
    comments.push(if tuned.is_worth_it() {
        format!("A breaker is worth it: {}", tuned.reason())
    } else {
        format!("NO BREAKER IS WORTH IT: {}", tuned.reason())
    });
    comments.push(String::new());
    comments.extend(table(tuned)?);
    let mut text = String::new();
    for line in comments {
        let _ = writeln!(text, "{}", format!("{mark} {line}").trim_end());
    }
    for (number, choice) in (1..).zip(&tuned.choices) {
        text.push('\n');
        let tally = &choice.parts.totals;
        let _ = writeln!(
            text,
            "{mark} {number}: saves {} of {} bad calls, loses {} of {} good ones{}",
            count(tally.saved),
            count(tally.bad()),
            count(tally.lost),
            count(tally.good()),
            match (choice.parts.loses_more(), choice.is_recommended) {
                (true, _) => "; LOSES MORE THAN IT SAVES",
                (false, true) if tuned.is_worth_it() => "; recommended",
                _ => "",
            }
        );
        let is_active = choice.is_recommended && tuned.of_keys.is_empty();
        text.push_str(&pasted(tuned, &choice.settings, is_active, mark)?);
    }
    if !tuned.of_keys.is_empty() {
        text.push_str(&catalogue_text(tuned, mark)?);
    }
    Ok(text)
}

/// The trade-offs, a line each.
fn table(tuned: &Tuned<'_>) -> Result<Vec<String>, Failure> {
    let mut lines =
        vec!["      saved            lost   time saved   trips   detected   opens for   when".to_owned()];
    let row = |name: &str, tally: &Tally, settings: &PartialSettings| -> Result<String, Failure> {
        Ok(format!(
            "{name:>2} {:>8} {:>15}   {:>10}   {:>5}   {:>8}   {:>9}   {}{}",
            share(tally.saved, tally.bad()),
            format!("{} ({})", count(tally.lost), share(tally.lost, tally.good())),
            duration(tally.saved_us),
            count(tally.trips),
            duration(tally.longest_detection_delay_us),
            open_for(settings),
            window_in_brief(settings)?,
            if tally.lost > tally.saved { " !" } else { "" },
        ))
    };
    for (number, choice) in (1..).zip(&tuned.choices) {
        lines.push(row(&number.to_string(), &choice.parts.totals, &choice.settings)?);
    }
    if let Some(tally) = &tuned.of_default {
        let row = row("-", tally, &PartialSettings::default())?;
        lines.push(format!("{row} (the default)"));
    }
    if tuned.choices.iter().any(|choice| choice.parts.loses_more()) {
        lines.push("! loses more good calls than it saves bad ones".to_owned());
    }
    Ok(lines)
}

/// A configuration, as comments unless it is the one to be taken.
fn pasted(
    tuned: &Tuned<'_>,
    settings: &PartialSettings,
    is_active: bool,
    mark: &str,
) -> Result<String, Failure> {
    let (body, notes) = match tuned.library {
        None => (toml(settings)?, Vec::new()),
        Some(library) => {
            let closest = library.closest(settings, tuned.calls_per_second)?;
            (closest.settings, closest.not_expressed)
        }
    };
    let mut text = String::new();
    for note in notes {
        let _ = writeln!(text, "{mark} not expressed: {note}");
    }
    for line in body.lines() {
        let _ = if is_active || line.is_empty() {
            writeln!(text, "{line}")
        } else {
            writeln!(text, "{mark} {line}")
        };
    }
    Ok(text)
}

/// Of each breaker: what it comes to, and its settings where they are worth it.
fn catalogue_text(tuned: &Tuned<'_>, mark: &str) -> Result<String, Failure> {
    let mut text = format!("\n{mark} By breaker; those that are not named have the defaults:\n");
    let named = named(tuned);
    for of_key in &tuned.of_keys {
        let judged = &of_key.verdict.judged;
        let is_left_out = of_key.worth_it().is_some() && !named.contains_key(of_key.key.as_str());
        let _ = writeln!(
            text,
            "{mark} {}: {}saves {} of {}, loses {}{}",
            shown_key(&of_key.key),
            if of_key.worth_it().is_some() { "" } else { "not worth it: " },
            count(judged.saved),
            count(judged.bad()),
            count(judged.lost),
            if is_left_out { "; a catalogue can't name it apart" } else { "" },
        );
    }
    let Some(library) = tuned.library else {
        let _ = write!(text, "\n{}", catalogue(tuned)?);
        return Ok(text);
    };
    for of_key in &tuned.of_keys {
        if let Some(settings) = of_key.worth_it() {
            let closest = library.closest(settings, tuned.calls_per_second)?;
            let _ = write!(text, "\n{mark} {}\n{}", shown_key(&of_key.key), closest.settings);
        }
    }
    Ok(text)
}

#[derive(Serialize)]
struct Catalogue<'a> {
    defaults: PartialSettings,
    breakers: BTreeMap<&'a str, &'a PartialSettings>,
}

fn catalogue(tuned: &Tuned<'_>) -> Result<String, Failure> {
    let catalogue = Catalogue {
        defaults: tuned.recommended().map_or_else(PartialSettings::default, |choice| choice.settings),
        breakers: named(tuned),
    };
    toml::to_string(&catalogue).map_err(|error| Failure::Arguments(error.to_string()))
}

/// The breakers that a catalogue can name: it has no blank names, and tells none apart by upper and lower case.
fn named<'a>(tuned: &'a Tuned<'_>) -> BTreeMap<&'a str, &'a PartialSettings> {
    let mut seen = HashSet::new();
    let mut named = BTreeMap::new();
    for of_key in &tuned.of_keys {
        let key = of_key.key.as_str();
        if let Some(settings) = of_key.worth_it().filter(|_| !key.trim().is_empty())
            && seen.insert(key.to_lowercase())
        {
            named.insert(key, settings);
        }
    }
    named
}

fn open_for(settings: &PartialSettings) -> String {
    let humane = |time| humantime::format_duration(time).to_string();
    let mut text = settings.open_for.map_or("500ms".to_owned(), humane);
    if let Some(most) = settings.max_open.filter(|most| Some(*most) != settings.open_for) {
        let _ = write!(text, " to {}", humane(most));
    }
    text
}

fn toml(settings: &PartialSettings) -> Result<String, Failure> {
    toml::to_string(settings).map_err(|error| Failure::Arguments(error.to_string()))
}

/// For machines.
pub(crate) fn json(tuned: &Tuned<'_>) -> Result<String, Failure> {
    let choices: Vec<Value> =
        tuned.choices.iter().map(|choice| choice_json(tuned, choice)).collect::<Result<_, Failure>>()?;
    let by_breaker: Vec<Value> = tuned
        .of_keys
        .iter()
        .map(|of_key| {
            let best = of_key.best.as_ref();
            Ok(json!({
                "key": of_key.key,
                "verdict": if of_key.verdict.is_worth_it { "worth_it" } else { "not_worth_it" },
                "judged": tally_json(&of_key.verdict.judged),
                "totals": best.map(|(_, tally)| tally_json(tally)),
                "toml": best.map(|(settings, _)| toml(settings)).transpose()?,
            }))
        })
        .collect::<Result<_, Failure>>()?;
    let mut report = json!({
        "schema": SCHEMA,
        "verdict": tuned.verdict(),
        "reason": tuned.reason(),
        "tried": tuned.tried,
        "from": time(tuned.span_us.0),
        "to": time(tuned.span_us.1),
        "outages": tuned.outages,
        "normal": tuned.normal,
        "split_at": tuned.split_us.map(time),
        "judged_on": tuned.judged_on(),
        "judged": tally_json(&tuned.verdict.judged),
        "default": tuned.of_default.as_ref().map(|tally| json!({ "totals": tally_json(tally) })),
        "choices": choices,
        "best": choices,
        "read": read::json(tuned.notes),
        "warnings": read::warnings(tuned.notes),
        "assumption": ASSUMPTION,
        "skipped": skipped::json(&tuned.notes.skipped),
    });
    if let Some(report) = report.as_object_mut().filter(|_| !tuned.of_keys.is_empty()) {
        report.insert("by_breaker".to_owned(), Value::Array(by_breaker));
        report.insert("catalogue".to_owned(), json!(catalogue(tuned)?));
    }
    Ok(format!("{report:#}\n"))
}

fn choice_json(tuned: &Tuned<'_>, choice: &Choice) -> Result<Value, Failure> {
    let mut value = json!({
        "totals": tally_json(&choice.parts.totals),
        "before_split": tally_json(&choice.parts.first),
        "after_split": tally_json(&choice.parts.second),
        "loses_more_than_it_saves": choice.parts.loses_more(),
        "recommended": choice.is_recommended,
        "trips_when": window_in_brief(&choice.settings)?,
        "toml": toml(&choice.settings)?,
    });
    if let (Some(library), Some(object)) = (tuned.library, value.as_object_mut()) {
        let closest = library.closest(&choice.settings, tuned.calls_per_second)?;
        object.insert(
            "as".to_owned(),
            json!({
                "library": library.name(),
                "settings": closest.settings,
                "not_expressed": closest.not_expressed,
            }),
        );
    }
    Ok(value)
}
