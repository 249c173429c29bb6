//! What goes to the script and what comes from it, as JSON. Old and new versions ignore each other's unknown
//! fields, and messages of unknown kinds.

use std::sync::Arc;

use nanobreaker::fleet::message::{Finding, Group, News, Order, OrderedAction, Reply, Report, Said, Word};
use serde::{Deserialize, Serialize};

/// Numbers of 64 bits are text: JSON's numbers in Lua have 53.
fn text(number: u64) -> String {
    format!("{number:016x}")
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[derive(Serialize)]
struct Ask<'a> {
    run: String,
    instance: &'a str,
    quorum: u32,
    percent: u32,
    sync: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    reports: Vec<Asked<'a>>,
}

#[derive(Default, Serialize)]
struct Asked<'a> {
    breaker: &'a str,
    news: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

impl<'a> From<&'a Report> for Asked<'a> {
    fn from(report: &'a Report) -> Self {
        let asked = Self { breaker: &report.breaker, ..Self::default() };
        match &report.news {
            News::Open { left_ms, probe_ms, is_new } => {
                let news = if *is_new { "open" } else { "still" };
                Self { news, left: Some(*left_ms), probe: Some(*probe_ms), ..asked }
            }
            News::Well { epoch } => Self { news: "well", epoch: Some(*epoch), ..asked },
            News::Alive => Self { news: "alive", ..asked },
            News::Order(None) => Self { news: "withdraw", ..asked },
            News::Order(Some(order)) => Self {
                news: "order",
                left: Some(order.left_ms),
                action: Some(order.action.name()),
                reason: Some(&order.reason),
                id: Some(text(order.id)),
                ..asked
            },
        }
    }
}

/// What the script is asked. `run` names the store's memory if it has no name yet, and `at` is the store's time as
/// far as is known: who reads this much later leaves the reports aside.
pub(crate) fn ask(run: u64, group: &Group, reports: &[Report], at: Option<u64>) -> String {
    let ask = Ask {
        run: text(run),
        instance: &group.instance,
        quorum: group.quorum,
        percent: group.quorum_percent,
        sync: reports.is_empty(),
        at,
        reports: reports.iter().map(Asked::from).collect(),
    };
    serde_json::to_string(&ask).expect("plain text and numbers")
}

#[derive(Deserialize)]
struct Told {
    run: String,
    #[serde(default)]
    now: Option<u64>,
    #[serde(default)]
    said: Vec<serde_json::Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    open: Option<Arc<str>>,
    look: Option<Arc<str>>,
    order: Option<Arc<str>>,
    epoch: u64,
    left: f64,
    probe: f64,
    holder: String,
    live: u32,
    action: Option<String>,
    reason: String,
    id: String,
}

/// The store's time when it wrote this reply.
pub(crate) fn written_ms(json: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Told>(json).ok()?.now
}

/// A reply or a message; `None` where it is neither.
pub(crate) fn told(json: &[u8]) -> Option<Reply> {
    let told: Told = serde_json::from_slice(json).ok()?;
    let items = told.said.into_iter().filter_map(|item| serde_json::from_value::<Item>(item).ok());
    Some(Reply { run: number(&told.run)?, said: items.filter_map(said).collect() })
}

fn said(item: Item) -> Option<Said> {
    // Lua's numbers are floats: what is negative or too large becomes the nearest that is not.
    let (left_ms, probe_ms) = (item.left as u32, item.probe as u32);
    if let Some(breaker) = item.open {
        let (epoch, holder, live) = (item.epoch, item.holder.into(), item.live);
        let word = Word::Open(Finding { epoch, left_ms, probe_ms, holder, live });
        return Some(Said { breaker, word });
    }
    if let Some(breaker) = item.look {
        return Some(Said { breaker, word: Word::Look { epoch: item.epoch } });
    }
    let breaker = item.order?;
    let Some(action) = item.action else {
        return Some(Said { breaker, word: Word::Order(None) });
    };
    let action = OrderedAction::from_name(&action)?;
    let order = Order { action, left_ms, reason: item.reason.into(), id: number(&item.id)? };
    Some(Said { breaker, word: Word::Order(Some(order)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_of_a_newer_version_is_understood_as_far_as_it_is_known() {
        let json = br#"{"run": "0f", "colour": 7, "said": [
            {"open": "payments", "epoch": 3, "left": 9999, "probe": 2000, "holder": "a", "live": 0, "mood": []},
            {"sing": "payments"},
            {"open": 17},
            {"look": "payments", "epoch": 3}]}"#;
        let reply = told(json).unwrap();
        assert_eq!(reply.run, 15);
        let finding = Finding { epoch: 3, left_ms: 9_999, probe_ms: 2_000, holder: "a".into(), live: 0 };
        let said = |word| Said { breaker: "payments".into(), word };
        assert_eq!(reply.said, [said(Word::Open(finding)), said(Word::Look { epoch: 3 })]);
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        for json in ["", "[]", "{}", r#"{"run": 1}"#, r#"{"run": "x", "said": []}"#, "\u{0}"] {
            assert_eq!(told(json.as_bytes()), None, "{json}");
        }
        let hostile = r#"{"run": "1", "said": [{"open": "p", "left": -1e300, "probe": 1e300, "epoch": 1}]}"#;
        let reply = told(hostile.as_bytes()).unwrap();
        let nearest =
            Word::Open(Finding { epoch: 1, left_ms: 0, probe_ms: u32::MAX, holder: "".into(), live: 0 });
        assert_eq!(reply.said, [Said { breaker: "p".into(), word: nearest }]);
    }

    #[test]
    fn an_order_of_an_unknown_kind_is_passed_over() {
        let json = r#"{"run": "1", "said": [{"order": "p", "action": "dance", "left": 1, "id": "1"}]}"#;
        assert_eq!(told(json.as_bytes()).unwrap().said, []);
    }
}
