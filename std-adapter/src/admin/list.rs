//! What the page shows: a part of all breakers, and of each only what its reader does not know yet.
//!
//! Each row comes with its version. A reader that sends the versions it has gets, of a row that is as it was,
//! its number alone; of one that made calls, its counts; of one that changed its phase, the new transitions.
//! So the server keeps nothing about its readers.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use nanobreaker_core::{Evidence, Measured, Settings, Snapshot, Transition};
use serde::{Deserialize, Serialize};

use super::token::unauthorized;
use super::{Shared, refusal};
use crate::observe::{Change, Counts, MonitoredBreaker, rejects};
use crate::watch::Watch;

/// Breakers on a page.
const PAGE: usize = 50;

/// Versions that the reader has, with commas between them.
const KNOWN: HeaderName = HeaderName::from_static("nanobreaker-known");

/// Which breakers are asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// Those whose names have this in them, in any case.
    #[serde(default)]
    filter: String,
    /// The first is 1.
    #[serde(default)]
    page: usize,
}

#[derive(Serialize)]
struct Overview {
    /// Milliseconds since the epoch.
    now_ms: u64,
    allows_changes: bool,
    #[cfg(feature = "fleet")]
    fleet: Option<super::fleet::View>,
    /// All breakers that are watched, and how many of them reject calls.
    watched: usize,
    rejecting: usize,
    /// Those that the filter lets through.
    found: usize,
    page: usize,
    pages: usize,
    /// Those of this page.
    breakers: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: u64,
    version: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    about: Option<About>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    now: Option<Now>,
    /// Transitions that the reader does not know, of the last 64; all of these where the rest is new, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recent: Vec<Dated>,
}

/// What changes rarely.
#[derive(Serialize)]
struct About {
    name: String,
    /// Milliseconds since the epoch; what is counted and recent is so from then on.
    watched_since_ms: u64,
    /// Every setting, by its name in the API.
    settings: Settings,
}

/// What changes with calls.
#[derive(Serialize)]
struct Now {
    #[serde(flatten)]
    snapshot: Snapshot,
    counts: Counts,
    evidence: Near,
    #[cfg(feature = "fleet")]
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<super::fleet::Row>,
}

/// What the window has counted, of failed calls and of slow ones.
#[derive(Serialize)]
struct Near {
    failed: Option<Share>,
    slow: Option<Share>,
}

#[derive(Serialize)]
struct Share {
    #[serde(flatten)]
    measured: Measured,
    /// Of what trips, in parts per million.
    share_ppm: u32,
}

impl From<Evidence> for Near {
    fn from(Evidence { failed, slow, .. }: Evidence) -> Self {
        let share = |measured: Measured| Share { measured, share_ppm: measured.share_ppm() };
        Self { failed: failed.map(share), slow: slow.map(share) }
    }
}

#[derive(Serialize)]
struct Dated {
    /// Milliseconds since the epoch.
    time_ms: u64,
    #[serde(flatten)]
    transition: Transition,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Arc<str>>,
}

impl From<&Change> for Dated {
    fn from(change: &Change) -> Self {
        let Change { at, transition, reason, .. } = change;
        Self { time_ms: since_epoch_ms(*at), transition: *transition, reason: reason.clone() }
    }
}

/// What a reader has of a breaker: how many transitions, and which of the other parts.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Version {
    transitions: u64,
    about: u64,
    now: u64,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:x}.{:x}", self.transitions, self.about, self.now)
    }
}

impl FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.');
        let mut part = |radix| u64::from_str_radix(parts.next().unwrap_or_default(), radix).map_err(drop);
        let version = Self { transitions: part(10)?, about: part(16)?, now: part(16)? };
        parts.next().is_none().then_some(version).ok_or(())
    }
}

/// What the reader has, by the breakers' numbers.
struct Known(HashMap<u64, Version>);

impl Known {
    /// An error holds the version that is none.
    fn of(headers: &HeaderMap) -> Result<Self, String> {
        let mut known = HashMap::new();
        for sent in headers.get_all(KNOWN) {
            let sent = String::from_utf8_lossy(sent.as_bytes());
            for written in sent.split(',').map(str::trim).filter(|written| !written.is_empty()) {
                let (id, version) = numbered(written).ok_or_else(|| written.to_owned())?;
                known.insert(id, version);
            }
        }
        Ok(Self(known))
    }
}

fn numbered(written: &str) -> Option<(u64, Version)> {
    let (id, version) = written.split_once('.')?;
    Some((id.parse().ok()?, version.parse().ok()?))
}

impl Row {
    fn of(breaker: &MonitoredBreaker, watch: &Watch, known: &Known, now: Now) -> Self {
        let about = About {
            name: breaker.name().to_owned(),
            watched_since_ms: since_epoch_ms(watch.since()),
            settings: resolved(breaker.settings()),
        };
        let id = watch.id();
        let had = known.0.get(&id).copied().unwrap_or_default();
        let about_digest = digest(&about);
        let is_known = about_digest == had.about;
        // Else it may be the number of another breaker, of a process that was here before.
        let (transitions, recent) = watch.recent_after(if is_known { had.transitions } else { 0 });
        let version = Version { transitions, about: about_digest, now: digest(&now) };
        Self {
            id,
            version: format!("{id}.{version}"),
            about: (!is_known).then_some(about),
            now: (version.now != had.now).then_some(now),
            recent: recent.iter().map(Dated::from).collect(),
        }
    }
}

/// A number that tells one state of a part from the next; never 0, which stands for none.
fn digest(part: &impl Serialize) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&serde_json::to_vec(part).unwrap_or_default());
    hasher.finish().max(1)
}

/// With the numbers that follow from others where nothing was set.
fn resolved(mut settings: Settings) -> Settings {
    let opening = &mut settings.opening;
    let open_for_ms = Some(opening.open_for_ms);
    opening.max_open_ms = opening.max_open_ms.or(open_for_ms);
    opening.relapse_within_ms = opening.relapse_within_ms.or(open_for_ms);
    opening.probe_lease_ms = opening.probe_lease_ms.or(open_for_ms);
    settings
}

pub(super) fn since_epoch_ms(time: SystemTime) -> u64 {
    let passed = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(passed.as_millis()).unwrap_or(u64::MAX)
}

impl Overview {
    fn of(shared: &Shared, part: &Part, known: &Known) -> Self {
        let wanted = part.filter.to_lowercase();
        let all = shared.monitor.breakers();
        let (mut found, mut rejecting) = (Vec::new(), 0);
        for breaker in &all {
            let snapshot = breaker.snapshot();
            let rejects = rejects(&snapshot);
            rejecting += usize::from(rejects);
            if breaker.name().to_lowercase().contains(&wanted) {
                found.push((rejects, breaker, snapshot));
            }
        }
        // Stable: by name among those that reject calls, and among the others.
        found.sort_by_key(|(rejects, ..)| !rejects);
        let pages = found.len().div_ceil(PAGE).max(1);
        let page = part.page.clamp(1, pages);
        #[cfg(feature = "fleet")]
        let (fleet, mut in_fleet) = super::fleet::seen(shared).unzip();
        let row = |(_, breaker, snapshot): &(bool, &MonitoredBreaker, Snapshot)| {
            let now = Now {
                snapshot: *snapshot,
                counts: breaker.counts(),
                evidence: breaker.evidence().into(),
                #[cfg(feature = "fleet")]
                fleet: in_fleet.as_mut().and_then(|rows| rows.remove(breaker.name())),
            };
            Some(Row::of(breaker, &*breaker.watch()?, known, now))
        };
        Self {
            now_ms: since_epoch_ms(SystemTime::now()),
            allows_changes: shared.token.is_some(),
            #[cfg(feature = "fleet")]
            fleet,
            watched: all.len(),
            rejecting,
            found: found.len(),
            page,
            pages,
            breakers: found.iter().skip((page - 1) * PAGE).take(PAGE).filter_map(row).collect(),
        }
    }
}

/// The breakers of one page, those that reject calls first.
pub(super) async fn breakers(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    part: Result<Query<Part>, QueryRejection>,
) -> Response {
    if !shared.lets_read(&headers) {
        return unauthorized(&headers);
    }
    let part = match part {
        Ok(Query(part)) => part,
        Err(error) => return refusal(error.status(), &error.body_text()),
    };
    match Known::of(&headers) {
        Ok(known) => Json(Overview::of(&shared, &part, &known)).into_response(),
        Err(wrong) => {
            let message = format!("{KNOWN}: {wrong:?} is none of the versions that were sent");
            refusal(StatusCode::BAD_REQUEST, &message)
        }
    }
}
