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

    async fn list(&self, query: &str, headers: &str) -> Value {
        self.send(&format!("GET /ops/breakers/api/breakers{query}"), headers, b"").await.json()
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
    assert_eq!(
        refused(admin().token(TOKEN).read_token("short")),
        AdminError::ShortToken { length: 5, minimum: 16 }
    );
    assert_eq!(refused(admin().token(TOKEN).read_token(TOKEN)), AdminError::SameToken);
    for host in ["https://ops.example.com", "ops.example.com:8080", "ops.example.com/x", "", "a b"] {
        let error = refused(admin().token(TOKEN).host(host));
        assert_eq!(error, AdminError::Host { host: host.to_owned() });
    }
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
    let evidence = site.list("", "").await["breakers"][0]["evidence"].clone();
    assert_eq!(evidence, json!({ "failed": { "kind": "sum", "ppm": 0, "share_ppm": 0 }, "slow": null }));
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
async fn a_token_of_its_own_header_leaves_authorization_to_a_proxy() {
    let site = Site::open(writable).await;
    let breaker = site.breaker("a");
    let order = br#"{"breaker": "a", "action": "isolate"}"#;
    let basic = "authorization: Basic b3BzOnBhc3N3b3Jk\r\n";
    for wrong in ["", "0123456789abcdef-secreT"] {
        let answer = site.change(&format!("{basic}nanobreaker-token: {wrong}\r\n"), order).await;
        // 401 would make a browser forget the proxy's password.
        assert_eq!(answer.status, 403);
        assert!(!answer.head.contains("www-authenticate"));
        assert!(answer.body.contains("token is missing or wrong"));
    }
    let answer = site.change(&format!("{basic}nanobreaker-token: {TOKEN}\r\n"), order).await;
    assert_eq!((answer.status, breaker.snapshot().phase), (200, Phase::Isolated));
}

#[tokio::test]
async fn who_may_look_may_not_change_and_who_may_change_may_look() {
    const READ: &str = "fedcba9876543210-read";
    let site = Site::open(|admin| writable(admin).read_token(READ)).await;
    let breaker = site.breaker("a");
    assert_eq!(site.get("").await.status, 200, "the page holds nothing, and asks for the token");
    let look = async |headers: &str| site.send("GET /ops/breakers/api/breakers", headers, b"").await;
    let header = |token: &str| format!("nanobreaker-token: {token}\r\n");
    assert_eq!(look("").await.status, 401);
    assert_eq!(look(&header("fedcba9876543210-reaD")).await.status, 403);
    for token in [READ, TOKEN] {
        assert_eq!(look(&header(token)).await.json()["breakers"][0]["name"], "a");
    }
    let answer = site.change(&header(READ), br#"{"breaker": "a", "action": "isolate"}"#).await;
    assert_eq!((answer.status, breaker.snapshot().phase), (403, Phase::Closed));
}

#[tokio::test]
async fn a_name_that_a_stranger_had_resolved_to_this_machine_is_not_answered() {
    let site = Site::open(|admin| writable(admin).host("Ops.Example.com")).await;
    let breaker = site.breaker("a");
    let token = format!("nanobreaker-token: {TOKEN}\r\ncontent-type: application/json\r\n");
    let ask = async |host: &str, request: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: {host}\r\n{token}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let order = br#"{"breaker": "a", "action": "isolate"}"#;
    for host in [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "a@localhost@b",
    ] {
        for path in ["", "/api/breakers", "/nothing"] {
            assert_eq!(ask(host, &format!("GET /ops/breakers{path}"), b"").await, 421, "{host} {path}");
        }
        assert_eq!(ask(host, "POST /ops/breakers/api/change", order).await, 421);
    }
    let absolute = "GET http://evil.example/ops/breakers";
    assert_eq!(ask("localhost", absolute, b"").await, 421, "the name of the request line counts as well");
    assert_eq!(breaker.snapshot().phase, Phase::Closed);
    for host in [
        "localhost",
        "LOCALHOST.:8080",
        "ops.localhost",
        "127.0.0.1:9",
        "[::1]:9",
        "10.1.2.3",
        "ops.example.com:443",
    ] {
        assert_eq!(ask(host, "GET /ops/breakers/api/breakers", b"").await, 200, "{host}");
    }
}

#[tokio::test]
async fn every_answer_says_that_it_is_what_it_says_it_is() {
    let site = Site::open(writable).await;
    let mut answers = Vec::new();
    for path in ["", "/api/breakers", "/api/breakers?page=x", "/nothing"] {
        answers.push(site.get(path).await);
    }
    answers.push(site.change("", b"").await);
    answers.push(site.order("b", "reset").await);
    for answer in answers {
        for header in [
            "x-content-type-options: nosniff",
            "content-security-policy: default-src 'none'",
            "cache-control: no-store",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
        ] {
            assert!(answer.head.contains(header), "{header}: {}", answer.head);
        }
    }
}

#[tokio::test]
async fn a_reason_is_kept_and_shown() {
    let site = Site::open(writable).await;
    let _a = site.breaker("a");
    let bearer = format!("nanobreaker-token: {TOKEN}\r\n");
    let reason = "Dana: <b>moving the \"database\"</b>";
    let order = json!({ "breaker": "a", "action": "isolate", "reason": format!("  {reason} ") });
    assert_eq!(site.change(&bearer, order.to_string().as_bytes()).await.status, 200);
    assert_eq!(site.list("", "").await["breakers"][0]["recent"][0]["reason"], reason);
    assert_eq!(site.monitor.find("a").unwrap().recent()[0].reason.as_deref(), Some(reason));
    for (reason, part) in [
        ("x".repeat(201), "reason: it has 201 characters, but may have at most 200"),
        ("a\nb".to_owned(), "reason: it holds a line break"),
    ] {
        let order = json!({ "breaker": "a", "action": "disable", "reason": reason });
        let answer = site.change(&bearer, order.to_string().as_bytes()).await;
        assert_eq!(answer.status, 422);
        assert!(answer.json()["error"].as_str().unwrap().contains(part));
    }
}

#[tokio::test]
async fn an_order_reaches_the_very_breaker_where_names_are_not_unique() {
    let site = Site::open(writable).await;
    let [first, second] = ["a", "a"].map(|name| site.breaker(name));
    let id = site.list("", "").await["breakers"][1]["id"].clone();
    let bearer = format!("nanobreaker-token: {TOKEN}\r\n");
    let order = |id: Value| json!({ "breaker": "a", "id": id, "action": "isolate" }).to_string();
    assert_eq!(site.change(&bearer, order(json!(u64::MAX)).as_bytes()).await.status, 404);
    assert_eq!(site.change(&bearer, order(id).as_bytes()).await.status, 200);
    assert_eq!((first.phase(), second.phase()), (Phase::Closed, Phase::Isolated));
}

fn names(list: &Value) -> Vec<&str> {
    let rows = list["breakers"].as_array().unwrap().iter();
    rows.map(|row| row["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn those_that_reject_come_first_in_pages_of_50_that_can_be_filtered() {
    let site = Site::open(|admin| admin).await;
    let breakers: Vec<_> = (0..120).map(|i| site.breaker(&format!("host-{i:03}"))).collect();
    breakers[117].isolate();
    breakers[60].trip();
    breakers[61].trip();
    breakers[61].shadow(true);
    let first = site.list("", "").await;
    assert_eq!(
        (&first["watched"], &first["rejecting"], &first["found"]),
        (&json!(120), &json!(2), &json!(120))
    );
    assert_eq!((&first["page"], &first["pages"]), (&json!(1), &json!(3)));
    assert_eq!(names(&first).len(), 50);
    assert_eq!(names(&first)[..3], ["host-060", "host-117", "host-000"]);
    let last = site.list("?page=3", "").await;
    assert_eq!((names(&last).len(), names(&last)[19]), (20, "host-119"));
    assert_eq!(site.list("?page=99", "").await["page"], 3);
    let some = site.list("?filter=HOST-11", "").await;
    assert_eq!((&some["found"], names(&some)[0], names(&some).len()), (&json!(10), "host-117", 10));
    let none = site.list("?filter=%3Cb%3E", "").await;
    assert_eq!((&none["found"], &none["pages"]), (&json!(0), &json!(1)));
    for query in ["?page=x", "?page=-1", "?pages=1"] {
        let answer = site.get(&format!("/api/breakers{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.json()["error"].as_str().unwrap().contains("page"));
    }
}

#[tokio::test]
async fn only_what_changed_is_sent_to_who_knows_the_rest() {
    let site = Site::open(|admin| admin).await;
    let breakers: Vec<_> = (0..50).map(|i| site.breaker(&format!("host-{i:02}"))).collect();
    breakers[7].trip();
    breakers[7].reset();
    let versions = |list: &Value| {
        let rows = list["breakers"].as_array().unwrap().iter();
        let versions: Vec<_> = rows.map(|row| row["version"].as_str().unwrap()).collect();
        format!("nanobreaker-known: {}\r\n", versions.join(","))
    };
    let whole = site.list("", "").await;
    let same = site.list("", &versions(&whole)).await;
    for row in same["breakers"].as_array().unwrap() {
        let parts: Vec<_> = row.as_object().unwrap().keys().collect();
        assert_eq!(parts, ["id", "version"]);
    }
    let (long, short) = (whole.to_string().len(), same.to_string().len());
    assert!(10 * short < long, "{short} bytes instead of {long}");

    breakers[3].allow().unwrap().success();
    breakers[7].isolate();
    let news = site.list("", &versions(&same)).await;
    let row = |id: &Value| {
        let rows = news["breakers"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == *id).unwrap().clone()
    };
    let called = row(&whole["breakers"][3]["id"]);
    assert_eq!((&called["counts"]["calls"]["success"], called.get("settings")), (&json!(1), None));
    assert_eq!(called.get("recent"), None);
    let isolated = row(&whole["breakers"][7]["id"]);
    assert_eq!(news["breakers"][0]["id"], isolated["id"]);
    let recent = isolated["recent"].as_array().unwrap();
    assert_eq!(
        (recent.len(), &recent[0]["to"], &isolated["phase"]),
        (1, &json!("isolated"), &json!("isolated"))
    );
    let changed =
        news["breakers"].as_array().unwrap().iter().filter(|row| row.as_object().unwrap().len() > 2);
    assert_eq!(changed.count(), 2);

    // Versions of a process that was here before this one.
    let ids = whole["breakers"].as_array().unwrap().iter().map(|row| format!("{}.60.1.1", row["id"]));
    let of_others = format!("nanobreaker-known: {}\r\n", ids.collect::<Vec<_>>().join(","));
    assert!(site.list("", &of_others).await["breakers"] == site.list("", "").await["breakers"]);

    let answer = site.send("GET /ops/breakers/api/breakers", "nanobreaker-known: 1.2.x.4\r\n", b"").await;
    assert_eq!(answer.status, 400);
    assert!(answer.json()["error"].as_str().unwrap().contains("1.2.x.4"));
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
    use crate::fleet::{Fleet, tests::Echo};

    let start = |allows_orders: bool| {
        let builder = Fleet::builder("checkout").quorum(1).exchange(Echo::new());
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
        assert_eq!(view["findings"], 0);

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
        let list = site.get("/api/breakers").await.json();
        assert_eq!(list["fleet"]["orders"], 1);
        assert_eq!(list["breakers"][0]["fleet"]["order"]["reason"], "on call");
    }
}
