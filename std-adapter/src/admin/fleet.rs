//! The fleet on the operators' page: how it stands, and its orders.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::api::accepted;
use super::list::since_epoch_ms;
use super::{Shared, refusal};
use crate::fleet::{BreakerInFleet, Link};

/// What the page shows of the fleet.
#[derive(Serialize)]
pub(super) struct View {
    group: Arc<str>,
    instance: Arc<str>,
    is_together: bool,
    /// Milliseconds since the epoch.
    alone_since_ms: Option<u64>,
    heard_ago_ms: Option<u64>,
    allows_orders: bool,
    /// How many breakers have such.
    findings: usize,
    votes: usize,
    orders: usize,
}

/// What the page shows of one breaker.
#[derive(Serialize)]
pub(super) struct Row {
    votes_for_ms: Option<u64>,
    finding: Option<Finding>,
    order: Option<Order>,
}

#[derive(Serialize)]
struct Finding {
    epoch: u64,
    left_ms: u32,
    is_holder: bool,
}

#[derive(Serialize)]
struct Order {
    action: &'static str,
    reason: Arc<str>,
    left_ms: u32,
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The fleet, if there is one, and what it knows of breakers by their names.
pub(super) fn seen(shared: &Shared) -> Option<(View, HashMap<Arc<str>, Row>)> {
    let fleet = shared.fleet.as_ref()?;
    let status = fleet.status();
    let alone_since = match status.link {
        Link::Together => None,
        Link::Alone { since } => Some(since),
    };
    let count = |is: fn(&BreakerInFleet) -> bool| status.breakers.iter().filter(|it| is(it)).count();
    let view = View {
        is_together: alone_since.is_none(),
        alone_since_ms: alone_since.map(since_epoch_ms),
        heard_ago_ms: status.heard_ago.map(ms),
        allows_orders: shared.token.is_some() && fleet.may_order(),
        findings: count(|breaker| breaker.finding.is_some()),
        votes: count(|breaker| breaker.votes_for.is_some()),
        orders: count(|breaker| breaker.order.is_some()),
        group: status.group,
        instance: status.instance,
    };
    let rows = status.breakers.into_iter().map(|breaker| (Arc::clone(&breaker.name), Row::from(breaker)));
    Some((view, rows.collect()))
}

impl From<BreakerInFleet> for Row {
    fn from(breaker: BreakerInFleet) -> Self {
        let finding = breaker.finding.map(|finding| Finding {
            epoch: finding.epoch,
            left_ms: finding.left_ms,
            is_holder: breaker.is_holder,
        });
        let order = breaker.order.map(|order| Order {
            action: order.action.name(),
            reason: order.reason,
            left_ms: order.left_ms,
        });
        Self { votes_for_ms: breaker.votes_for.map(ms), finding, order }
    }
}

/// What an operator orders for all of the fleet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FleetOrder {
    breaker: String,
    action: Action,
    /// An hour unless given.
    seconds: Option<u64>,
    #[serde(default)]
    reason: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Isolate,
    Disable,
    Shadow,
    Withdraw,
}

/// Gives or withdraws an order.
pub(super) async fn order(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    order: Result<Json<FleetOrder>, JsonRejection>,
) -> Response {
    let order = match accepted(&shared, &headers, order) {
        Ok(order) => order,
        Err(refused) => return *refused,
    };
    let Some(fleet) = &shared.fleet else {
        return refusal(StatusCode::NOT_FOUND, "there is no fleet here");
    };
    let duration = Duration::from_secs(order.seconds.unwrap_or(3_600));
    let given = match order.action {
        Action::Isolate => fleet.isolate(&order.breaker, duration, &order.reason),
        Action::Disable => fleet.disable(&order.breaker, duration, &order.reason),
        Action::Shadow => fleet.shadow(&order.breaker, duration, &order.reason),
        Action::Withdraw => fleet.withdraw(&order.breaker),
    };
    match given {
        Ok(()) => Json(serde_json::json!({ "ordered": true })).into_response(),
        Err(error) => refusal(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    }
}
