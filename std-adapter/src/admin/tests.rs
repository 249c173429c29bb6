use std::time::Duration;

use nanobreaker_core::Phase;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::SharedBreaker;

const TOKEN: &str = "0123456789abcdef-secret";

struct Site {
    monitor: Monitor,
    address: std::net::SocketAddr,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Site {
    /// A real server on loopback, with the router mounted under a path.
    async fn open(admin: impl FnOnce(Admin) -> Admin) -> Self {
        let monitor = Monitor::new();
        let router = admin(Admin::new(&monitor)).build().unwrap();
        let app = Router::new().nest_service("/ops/breakers", router);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { monitor, address }
    }

    fn breaker(&self, name: &str) -> SharedBreaker {
        let builder = SharedBreaker::builder().name(name).open_for(Duration::from_secs(10));
        self.monitor.watch(builder.build().unwrap())
    }

    async fn send(&self, request: &str, headers: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "{request} HTTP/1.0\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET /ops/breakers{path}"), "", b"").await
    }

    async fn change(&self, authorization: &str, body: &[u8]) -> Answer {
        let headers = format!("content-type: application/json\r\n{authorization}");
        self.send("POST /ops/breakers/api/change", &headers, body).await
    }

    async fn order(&self, breaker: &str, action: &str) -> Answer {
        let bearer = format!("authorization: Bearer {TOKEN}\r\n");
        let order = json!({ "breaker": breaker, "action": action });
        self.change(&bearer, order.to_string().as_bytes()).await
    }
}

fn writable(admin: Admin) -> Admin {
    admin.allow_changes().token(TOKEN)
}

#[test]
fn no_router_lets_anybody_change_anything_without_a_token() {
    let admin = || Admin::new(&Monitor::new()).allow_changes();
    let refused = |admin: Admin| admin.build::<()>().unwrap_err();
    assert_eq!(refused(admin()), AdminError::NoToken);
    let short = AdminError::ShortToken { length: 0, minimum: 16 };
    assert_eq!(refused(admin().token("")), short);
    let unsendable = "sixteen bytes and\nmore";
    assert_eq!(refused(admin().token(unsendable)), AdminError::UnsendableToken);
    assert!(admin().token(TOKEN).build::<()>().is_ok());
}

#[test]
fn the_token_is_not_shown_in_debug_output() {
    let admin = Admin::new(&Monitor::new()).token(TOKEN);
    assert!(!format!("{admin:?}").contains("secret"));
}

#[tokio::test]
async fn every_breaker_is_listed_with_what_it_did() {
    let site = Site::open(|admin| admin).await;
    let payments = site.breaker("payments");
    let _search = site.breaker("search");
    payments.allow().unwrap().success();
    payments.trip();
    assert!(payments.allow().is_err());

    let answer = site.get("/api/breakers").await;
    let list = answer.json();
    assert_eq!(list["allows_changes"], false);
    let [first, second] = list["breakers"].as_array().unwrap().as_slice() else {
        panic!("{list}");
    };
    assert_eq!((&first["name"], &first["phase"]), (&json!("payments"), &json!("open")));
    assert_eq!(first["counts"]["calls"]["success"], 1);
    assert_eq!(first["counts"]["rejections"]["open"], 1);
    assert_eq!(first["settings"]["opening"]["open_for_ms"], 10_000);
    let (since, now) = (&first["watched_since_ms"], &list["now_ms"]);
    assert!(since.as_u64().unwrap() <= now.as_u64().unwrap());
    assert_eq!(first["recent"][0]["to"], "open");
    assert_eq!(first["recent"][0]["cause"], "trip_requested");
    assert!(first["recent"][0]["time_ms"].as_u64().unwrap() <= list["now_ms"].as_u64().unwrap());
    assert_eq!((&second["name"], &second["phase"]), (&json!("search"), &json!("closed")));
}

#[tokio::test]
async fn an_operator_with_the_token_can_force_every_mode_and_reset() {
    let site = Site::open(writable).await;
    let breaker = site.breaker("a/b c");
    for (action, phase) in [
        ("isolate", Phase::Isolated),
        ("disable", Phase::Disabled),
        ("reset", Phase::Closed),
        ("trip", Phase::Open),
        ("reset", Phase::Closed),
    ] {
        let answer = site.order("a/b c", action).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.json()["phase"], phase.name());
        assert_eq!(breaker.snapshot().phase, phase);
    }
    site.order("a/b c", "shadow").await;
    assert!(breaker.snapshot().in_shadow);
    site.order("a/b c", "end_shadow").await;
    assert!(!breaker.snapshot().in_shadow);
}

#[tokio::test]
async fn nobody_else_can() {
    let site = Site::open(writable).await;
    let breaker = site.breaker("a");
    let order = br#"{"breaker": "a", "action": "isolate"}"#;
    for authorization in [
        "",
        "authorization: Bearer \r\n",
        "authorization: Bearer 0123456789abcdef-secreT\r\n",
        "authorization: Bearer 0123456789abcdef-secret2\r\n",
        "authorization: Basic 0123456789abcdef-secret\r\n",
        "authorization: 0123456789abcdef-secret\r\n",
    ] {
        let answer = site.change(authorization, order).await;
        assert_eq!(answer.status, 401, "{authorization}");
        assert!(answer.head.contains("www-authenticate: bearer"));
    }
    let read_only = Site::open(|admin| admin.token(TOKEN)).await;
    let _a = read_only.breaker("a");
    assert_eq!(read_only.order("a", "isolate").await.status, 403);
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
}

#[tokio::test]
async fn a_wrong_order_is_refused_with_what_is_wrong() {
    let site = Site::open(writable).await;
    let _a = site.breaker("a");
    let bearer = format!("authorization: bearer {TOKEN}\r\n");
    for (body, status, part) in [
        (r#"{"breaker": "b", "action": "reset"}"#, 404, "no breaker called \"b\""),
        (r#"{"breaker": "a", "action": "explode"}"#, 422, "unknown variant `explode`"),
        (r#"{"breaker": "a"}"#, 422, "missing field `action`"),
        (r#"{"breaker": "a", "action": "reset", "x": 1}"#, 422, "unknown field `x`"),
        (r#"{"breaker": "a" "action""#, 400, "line 1 column 17"),
        ("", 400, "EOF"),
    ] {
        let answer = site.change(&bearer, body.as_bytes()).await;
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(answer.status, status, "{error}");
        assert!(error.contains(part), "{error}");
    }
    let long = vec![b' '; MAX_BODY + 1];
    assert_eq!(site.change(&bearer, &long).await.status, 413);
}

#[tokio::test]
async fn the_page_is_there_with_and_without_a_slash_at_the_end() {
    let site = Site::open(|admin| admin).await;
    let without = site.get("").await;
    let with = site.get("/").await;
    assert_eq!((without.status, with.status), (200, 200));
    assert_eq!(site.get("/nothing").await.status, 404);
}

#[tokio::test]
async fn the_router_can_be_nested_and_merged_too() {
    use tower::ServiceExt;
    let router = || Admin::new(&Monitor::new()).build::<()>().unwrap();
    let nested: Router = Router::new().nest("/ops", router());
    let merged: Router = Router::new().merge(router());
    for (app, path) in [(nested, "/ops"), (merged, "/")] {
        let request = axum::http::Request::get(path).body(axum::body::Body::empty());
        let answer = app.oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
}

#[tokio::test]
async fn the_page_holds_nothing_that_a_breaker_says_and_allows_only_its_own_script() {
    let site = Site::open(writable).await;
    let _evil = site.breaker("<script>alert(1)</script>");
    let page = site.get("").await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("alert(1)"));
    assert!(page.head.contains("content-security-policy: default-src 'none'; script-src 'nonce-"));
    let nonce = page.head.split("script-src 'nonce-").nth(1).unwrap();
    let nonce = nonce.split('\'').next().unwrap();
    assert!(page.body.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(!page.body.contains("NONCE"));
    let again = site.get("").await;
    assert_eq!(again.status, 200);
    assert!(!again.head.contains(nonce));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_request_breaks_the_server(
        body in prop::collection::vec(any::<u8>(), 0..200),
        header in "[ -~]{0,40}",
    ) {
        runtime().block_on(async {
            let site = Site::open(writable).await;
            let breaker = site.breaker("a");
            let answer = site.change(&format!("authorization: {header}\r\n"), &body).await;
            assert_eq!(answer.status, 401);
            let bearer = format!("authorization: Bearer {TOKEN}\r\n");
            let answer = site.change(&bearer, &body).await;
            assert!((400..500).contains(&answer.status), "{}", answer.status);
            assert_eq!(breaker.snapshot().phase, Phase::Closed);
            tokio::time::timeout(Duration::from_secs(5), site.get("/api/breakers")).await.unwrap();
        });
    }

    #[test]
    fn an_order_of_wrong_values_is_refused_by_the_fields_name(
        breaker in any_value(),
        action in any_value(),
        extra in prop::option::of("[a-z]{1,8}"),
    ) {
        let mut order = json!({ "breaker": breaker, "action": action });
        if let Some(name) = &extra {
            order[name] = json!(1);
        }
        let answer = runtime().block_on(async {
            let site = Site::open(writable).await;
            let _a = site.breaker("a");
            let bearer = format!("authorization: Bearer {TOKEN}\r\n");
            site.change(&bearer, order.to_string().as_bytes()).await
        });
        let json = answer.json();
        let error = json["error"].as_str().unwrap_or_default();
        match answer.status {
            200 => prop_assert!(order["breaker"] == "a" && extra.is_none()),
            404 => prop_assert!(error.contains("no breaker called"), "{}", error),
            status => {
                // An enum that is no text is a fault of syntax for serde_json.
                prop_assert!([400, 422].contains(&status), "{}", status);
                let names_a_field = ["breaker", "action"].iter().any(|field| error.contains(field))
                    || extra.is_some_and(|extra| error.contains(&extra));
                prop_assert!(names_a_field, "{}", error);
            }
        }
    }
}

/// Values that may be right, and many that can't be.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("a")),
        Just(json!("reset")),
        ".{0,12}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(true)),
        Just(json!([])),
        Just(json!({ "isolate": null })),
    ]
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[cfg(feature = "fleet")]
#[tokio::test]
async fn a_fleet_is_shown_and_takes_orders_where_that_is_allowed() {
    use crate::fleet::{Fleet, InMemory};

    let start = |allows_orders: bool| {
        let builder = Fleet::builder("checkout").quorum(1).exchange(InMemory::new());
        let builder = if allows_orders { builder.allow_orders() } else { builder };
        builder.start().unwrap()
    };
    for allows_orders in [false, true] {
        let fleet = start(allows_orders);
        let site = Site::open(|admin| writable(admin).fleet(&fleet)).await;
        let builder = SharedBreaker::builder().name("payments").fleet(&fleet);
        let payments = site.monitor.watch(builder.build().unwrap());
        tokio::time::sleep(Duration::from_millis(100)).await;
        let view = site.get("/api/breakers").await.json()["fleet"].clone();
        assert_eq!((&view["group"], &view["is_together"]), (&json!("checkout"), &json!(true)));
        assert_eq!(view["allows_orders"], allows_orders);
        assert_eq!(view["breakers"][0]["finding"], Value::Null);

        let order = json!({ "breaker": "payments", "action": "isolate", "seconds": 60, "reason": "on call" });
        let post = async |authorization: &str| {
            let headers = format!("content-type: application/json\r\n{authorization}");
            site.send("POST /ops/breakers/api/order", &headers, order.to_string().as_bytes()).await
        };
        assert_eq!(post("").await.status, 401);
        let answer = post(&format!("authorization: Bearer {TOKEN}\r\n")).await;
        if !allows_orders {
            assert_eq!(answer.status, 422);
            assert!(answer.body.contains("allow_orders()"), "{}", answer.body);
            continue;
        }
        assert_eq!(answer.status, 200, "{}", answer.body);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(payments.phase(), Phase::Isolated);
        let view = site.get("/api/breakers").await.json()["fleet"].clone();
        assert_eq!(view["breakers"][0]["order"]["reason"], "on call");
    }
}
