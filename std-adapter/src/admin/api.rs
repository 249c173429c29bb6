//! What operators order of one breaker, in JSON.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::token::unauthorized;
use super::{Shared, refusal};
use crate::observe::MonitoredBreaker;

/// The longest reason, in characters.
const MAX_REASON: usize = 200;

/// What an operator orders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    breaker: String,
    /// Which of the breakers of that name; any of them unless given.
    id: Option<u64>,
    action: Action,
    #[serde(default)]
    reason: String,
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

impl Order {
    fn is_for(&self, breaker: &MonitoredBreaker) -> bool {
        breaker.name() == self.breaker && self.id.is_none_or(|id| breaker.id() == Some(id))
    }

    /// What is wrong with the reason.
    fn check(&self) -> Result<(), String> {
        let length = self.reason.chars().count();
        if length > MAX_REASON {
            Err(format!("reason: it has {length} characters, but may have at most {MAX_REASON}"))
        } else if self.reason.contains(char::is_control) {
            Err("reason: it holds a line break or another control character".to_owned())
        } else {
            Ok(())
        }
    }

    /// Returns whether anything changed.
    fn give(&self, breaker: &MonitoredBreaker) -> bool {
        match self.reason.trim() {
            "" => self.action.apply(breaker),
            reason => breaker.because(reason, |breaker| self.action.apply(breaker)),
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
    if let Err(message) = order.check() {
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, &message);
    }
    let Some(breaker) = shared.monitor.breakers().into_iter().find(|breaker| order.is_for(breaker)) else {
        let message = format!("there is no breaker called {:?}", order.breaker);
        return refusal(StatusCode::NOT_FOUND, &message);
    };
    let changed = order.give(&breaker);
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
        return Err(Box::new(unauthorized(headers)));
    }
    let Json(order) = order.map_err(|error| Box::new(refusal(error.status(), &error.body_text())))?;
    Ok(order)
}
