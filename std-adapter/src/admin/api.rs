//! What operators ask and order, in JSON.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use nanobreaker_core::{Settings, Snapshot, Transition};
use serde::{Deserialize, Serialize};

use crate::admin::Shared;
use crate::observe::{Change, Counts, MonitoredBreaker};

/// Everything that the page shows.
#[derive(Serialize)]
struct Overview {
    /// Milliseconds since the epoch.
    now_ms: u64,
    allows_changes: bool,
    #[cfg(feature = "fleet")]
    fleet: Option<super::fleet::View>,
    breakers: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    #[serde(flatten)]
    snapshot: Snapshot,
    /// Milliseconds since the epoch; what is counted and recent is so from then on.
    watched_since_ms: u64,
    counts: Counts,
    /// Every setting, by its name in the API.
    settings: Settings,
    recent: Vec<Dated>,
}

#[derive(Serialize)]
struct Dated {
    /// Milliseconds since the epoch.
    time_ms: u64,
    #[serde(flatten)]
    transition: Transition,
}

impl From<MonitoredBreaker> for Row {
    fn from(breaker: MonitoredBreaker) -> Self {
        Self {
            name: breaker.name().to_owned(),
            snapshot: breaker.snapshot(),
            watched_since_ms: since_epoch_ms(breaker.watched_since()),
            counts: breaker.counts(),
            settings: resolved(breaker.settings()),
            recent: breaker.recent().iter().map(Dated::from).collect(),
        }
    }
}

impl From<&Change> for Dated {
    fn from(change: &Change) -> Self {
        Self { time_ms: since_epoch_ms(change.at), transition: change.transition }
    }
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

pub(super) async fn breakers(State(shared): State<Arc<Shared>>) -> Response {
    let breakers = shared.monitor.breakers().into_iter().map(Row::from);
    let overview = Overview {
        now_ms: since_epoch_ms(SystemTime::now()),
        allows_changes: shared.token.is_some(),
        #[cfg(feature = "fleet")]
        fleet: shared.fleet.as_ref().map(|fleet| super::fleet::View::of(fleet, shared.token.is_some())),
        breakers: breakers.collect(),
    };
    ([(CACHE_CONTROL, "no-store")], Json(overview)).into_response()
}

/// What an operator orders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    breaker: String,
    action: Action,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Isolate,
    Disable,
    Reset,
    Trip,
    Shadow,
    EndShadow,
}

impl Action {
    /// Returns whether anything changed, where that is known.
    fn apply(self, breaker: &MonitoredBreaker) -> bool {
        match self {
            Self::Isolate => breaker.isolate(),
            Self::Disable => breaker.disable(),
            Self::Trip => breaker.trip(),
            Self::Reset => {
                breaker.reset();
                true
            }
            Self::Shadow => {
                breaker.shadow(true);
                true
            }
            Self::EndShadow => {
                breaker.shadow(false);
                true
            }
        }
    }
}

/// Changes one breaker.
pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    order: Result<Json<Order>, JsonRejection>,
) -> Response {
    let order = match accepted(&shared, &headers, order) {
        Ok(order) => order,
        Err(refused) => return *refused,
    };
    let Some(breaker) = shared.monitor.find(&order.breaker) else {
        let message = format!("there is no breaker called {:?}", order.breaker);
        return refusal(StatusCode::NOT_FOUND, &message);
    };
    let changed = order.action.apply(&breaker);
    let phase = breaker.snapshot().phase;
    Json(serde_json::json!({ "changed": changed, "phase": phase })).into_response()
}

/// The order of who may give one, or the answer that refuses it. The token is looked at before anything else
/// of the request.
pub(super) fn accepted<T>(
    shared: &Shared,
    headers: &HeaderMap,
    order: Result<Json<T>, JsonRejection>,
) -> Result<T, Box<Response>> {
    let Some(token) = &shared.token else {
        return Err(Box::new(refusal(StatusCode::FORBIDDEN, "changes are not allowed here")));
    };
    if !token.is_borne_by(headers) {
        let refusal = refusal(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
        return Err(Box::new(([(WWW_AUTHENTICATE, "Bearer")], refusal).into_response()));
    }
    let Json(order) = order.map_err(|error| Box::new(refusal(error.status(), &error.body_text())))?;
    Ok(order)
}

pub(super) fn refusal(status: StatusCode, message: &str) -> Response {
    (status, Json(serde_json::json!({ "error": message }))).into_response()
}
