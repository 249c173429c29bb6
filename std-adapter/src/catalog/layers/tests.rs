use std::time::Duration;

use proptest::prelude::*;
#[cfg(feature = "tokio")]
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
#[cfg(feature = "tokio")]
use tokio::task::JoinHandle;

use super::*;
use crate::catalog::LiveCatalog;
use crate::{Phase, SharedBreaker};

const TOML: &str = r#"
    [defaults]
    open_for = "10s"
    max_probes = 2

    [profiles.patient]
    open_for = "1m"
    window = { kind = "time", span = "30s" }

    [breakers.payments]
    profile = "patient"
    max_probes = 3
"#;

fn refused(text: &str) -> String {
    let layers = Layers::new().text(Format::Toml, text);
    layers.load().unwrap_err().to_string()
}

#[test]
fn a_breaker_has_its_own_settings_over_its_profiles_over_the_defaults() {
    let catalog = Layers::new().text(Format::Toml, TOML).load().unwrap();
    let payments = catalog.settings("payments");
    assert_eq!(payments.max_probes, Some(3));
    assert_eq!(payments.open_for, Some(Duration::from_secs(60)));
    assert_eq!(payments.window.span, Some(Duration::from_secs(30)));
    let other = catalog.settings("other");
    assert_eq!((other.max_probes, other.window.span), (Some(2), None));
    assert_eq!(catalog.profile("patient").unwrap().max_probes, Some(2));
    assert_eq!(catalog.names().collect::<Vec<_>>(), ["payments"]);
}

#[test]
fn toml_json_and_yaml_say_the_same() {
    let json = r#"{"defaults": {"open_for": "10s", "max_probes": 2},
        "profiles": {"patient": {"open_for": "1m", "window": {"kind": "time", "span": "30s"}}},
        "breakers": {"payments": {"profile": "patient", "max_probes": 3}}}"#;
    let yaml = "
defaults: {open_for: 10s, max_probes: 2}
profiles:
  patient:
    open_for: 1m
    window: {kind: time, span: 30s}
breakers:
  payments: {profile: patient, max_probes: 3}";
    let toml = Layers::new().text(Format::Toml, TOML).load().unwrap();
    for (format, text) in [(Format::Json, json), (Format::Yaml, yaml)] {
        assert_eq!(Layers::new().text(format, text).load().unwrap(), toml);
    }
}

#[test]
fn later_layers_change_single_settings() {
    let catalog = Layers::new()
        .text(Format::Toml, TOML)
        .text(Format::Yaml, "breakers: {payments: {probe_successes: 2}}")
        .variables(&[
            ("SHOP__BREAKERS__PAYMENTS__OPEN_FOR", "5m"),
            ("SHOP__DEFAULTS__LATCH", "true"),
            ("SHOP__DEFAULTS__WINDOW__WITHIN_MS", "2500"),
            ("OTHER__DEFAULTS__PROBES", "60"),
        ])
        .load()
        .unwrap();
    let payments = catalog.settings("payments");
    assert_eq!((payments.max_probes, payments.probe_successes), (Some(3), Some(2)));
    assert_eq!(payments.open_for, Some(Duration::from_secs(300)));
    let other = catalog.settings("other");
    assert_eq!(other.latch, Some(true));
    assert_eq!(other.window.within, Some(Duration::from_millis(2_500)));
}

#[test]
fn a_key_that_is_there_twice_is_refused_in_every_format() {
    for (format, text, key) in [
        (Format::Json, r#"{"defaults": {"open_for": "1s", "open_for": "2s"}}"#, "open_for is set twice"),
        (Format::Json, r#"{"breakers": {"a": {"latch": true}, "b": {}, "a": {}}}"#, "a is set twice"),
        (Format::Json, r#"{"breakers": {}, "defaults": {}, "breakers": {}}"#, "breakers is set twice"),
        (Format::Json, r#"{"defaults": {"failure_status": [{"x": 1, "x": 2}]}}"#, "x is set twice"),
        (Format::Yaml, "defaults:\n  open_for: 1s\n  open_for: 2s", "\"open_for\""),
        (Format::Yaml, "breakers:\n  a: {latch: true}\n  a: {}", "\"a\""),
        (Format::Yaml, "breakers: {a: {latch: true}, a: {}}", "\"a\""),
        (Format::Toml, "[breakers.a]\nlatch = true\n[breakers.a]", "duplicate key"),
        (Format::Toml, "[defaults]\nlatch = true\nlatch = true", "duplicate key"),
    ] {
        let told = Layers::new().text(format, text).load().unwrap_err().to_string();
        assert!(told.contains(key), "{text}: {told}");
    }
}

#[test]
fn names_with_dots_and_capitals_are_kept_in_files() {
    let text = "[breakers.\"DB.internal\"]\nmax_probes = 4";
    let catalog = Layers::new().text(Format::Toml, text).load().unwrap();
    assert_eq!(catalog.settings("DB.internal").max_probes, Some(4));
}

#[test]
fn a_setting_that_can_not_be_is_told_with_its_whole_key() {
    assert_eq!(
        refused("[breakers.payments]\nmax_probes = 64"),
        "breakers.payments.max_probes is 64, but must be from 1 to 63"
    );
    assert_eq!(
        refused("[profiles.slow]\nmax_open = '1ms'"),
        "profiles.slow.max_open is 1ms, but must be from 500ms to 18h 38m 28s 864ms"
    );
    assert_eq!(
        refused("[breakers.payments]\nprofile = 'fast'\n[profiles.slow]\n[profiles.slower]"),
        "breakers.payments.profile is \"fast\", but must be one of: slow, slower"
    );
    assert_eq!(
        refused("[breakers.payments]\nprofile = 'fast'"),
        "breakers.payments.profile is \"fast\", but there are no profiles"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_its_key() {
    for (text, parts) in [
        ("[breakers.payments]\nmax_probes = 'many'", ["breakers.payments", "many"]),
        ("[breakers.payments]\nopen_for = 10", ["breakers.payments", "10"]),
        ("[breakers.payments]\nopen_for = 'soon'", ["breakers.payments", "soon"]),
        ("[defaults]\nopen_fro = '1s'", ["defaults", "open_fro"]),
        ("[default]\nopen_for = '1s'", ["default", "did you mean defaults?"]),
        ("[profiles.a]\nprofile = 'b'", ["profiles.a", "profile"]),
    ] {
        let message = refused(text);
        for part in parts {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

#[test]
fn what_a_check_or_a_fleet_cannot_be_is_told_with_its_whole_key() {
    let check = |text: &str| refused(&format!("[breakers.payments]\ncheck = {{ {text} }}"));
    for (text, told) in [
        ("every = '1s'", "breakers.payments.check.http, grpc or tcp is missing: a check needs it"),
        ("http = 'http://db', tcp = 'db:1'", "breakers.payments.check.http can't stand beside tcp: keep one"),
        ("tcp = 'db:1', service = 'x'", "breakers.payments.check.grpc is missing: service needs it"),
        (
            "tcp = 'db:1', every = '0s'",
            "breakers.payments.check.every is 0s, but must be from 1ms to 18h 38m 28s 864ms",
        ),
        (
            "tcp = 'db:1', healthy_after = 0",
            "breakers.payments.check.healthy_after is 0, but must be from 1 to 1000",
        ),
        (
            "tcp = 'db'",
            "breakers.payments.check: a TCP check asks \"db\", but must ask host:port, such as db.internal:5432",
        ),
        (
            "http = 'ftp://db'",
            "breakers.payments.check: a check asks \"ftp://db\": must begin with http:// or https://",
        ),
        ("tpc = 'db:1'", "tpc is no setting: did you mean tcp? for key `breakers.payments.check`"),
    ] {
        assert_eq!(check(text), told, "{text}");
    }
    for (text, part) in [
        ("tcp = 'db:1', then = 'clos'", "did you mean \"close\"?"),
        ("tcp = 'db:1', every = 5", "a duration with its unit"),
        ("tcp = 'db:1', every = 'soon'", "\"soon\" is no duration"),
        ("tcp = 'db:1', every = '1s', every_ms = 5", "set twice"),
    ] {
        let message = check(text);
        assert!(message.contains("breakers.payments.check") && message.contains(part), "{text}: {message}");
    }
    assert_eq!(
        refused("[breakers.payments]\nfleet = true"),
        "breakers.payments.fleet is true, but there is no table [fleet]"
    );
    assert_eq!(refused("[fleet]\nquorum = 2"), "fleet.group is missing: a fleet needs it");
    assert_eq!(
        refused("[fleet]\ngroup = 'a'\nqorum = 2"),
        "qorum is no setting: did you mean quorum? for key `fleet`"
    );
    assert!(refused("[defaults]\nevery = '1s'").contains("every is no setting"));
    assert!(refused("[fleets]\ngroup = 'a'").contains("did you mean fleet?"));
}

#[test]
fn checks_lie_over_one_another_and_who_asks_another_takes_over_the_times_only() {
    let text = r#"
        [defaults]
        check = { every = "5s", healthy_after = 3 }
        [profiles.by_grpc]
        check = { grpc = "http://one", service = "shop", timeout = "1s" }
        [breakers.one]
        profile = "by_grpc"
        check = { service = "stock" }
        [breakers.two]
        profile = "by_grpc"
        check = { tcp = "db:1" }
        [breakers.three]
    "#;
    let variables = [("SHOP__BREAKERS__TWO__CHECK__TIMEOUT", "4s")];
    let catalog = Layers::new().text(Format::Toml, text).variables(&variables).load().unwrap();
    let one = catalog.check("one").unwrap();
    assert_eq!((one.grpc.as_deref(), one.service.as_deref()), (Some("http://one"), Some("stock")));
    assert_eq!((one.every, one.healthy_after), (Some(Duration::from_secs(5)), Some(3)));
    let two = catalog.check("two").unwrap();
    assert_eq!((two.tcp.as_deref(), &two.grpc, &two.service), (Some("db:1"), &None, &None));
    assert_eq!((two.every, two.timeout), (Some(Duration::from_secs(5)), Some(Duration::from_secs(4))));
    assert_eq!(catalog.check("three"), None);
    assert_eq!(catalog.check("nobody"), None);
}

/// A breaker of such a file, which checks whoever listens at `address`.
fn checked(address: std::net::SocketAddr) -> SharedBreaker {
    let text = format!("[breakers.db]\ncheck = {{ tcp = '{address}', every = '10ms', then = 'close' }}");
    let catalog = LiveCatalog::load(Layers::new().text(Format::Toml, &text)).unwrap();
    catalog.builder("db").build().unwrap()
}

#[test]
fn the_check_of_a_file_closes_its_breaker_without_a_call() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let breaker = checked(listener.local_addr().unwrap());
    breaker.trip();
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while breaker.phase() != Phase::Closed {
        assert!(std::time::Instant::now() < deadline, "it is {:?}", breaker.snapshot());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
async fn all_breakers_of_a_file_are_in_its_fleet_but_those_that_say_no() {
    use crate::fleet::{Fleet, tests::Echo};
    let text = "[fleet]\ngroup = 'shop'\nquorum = 3\n[breakers.alone]\nfleet = false\n[breakers.a]";
    let layers = || Layers::new().text(Format::Toml, text);
    let nobody = LiveCatalog::load(layers()).unwrap_err().to_string();
    assert!(nobody.starts_with("fleet is set, but nobody starts it"), "{nobody}");

    let start = |settings: &nanobreaker_settings::FleetSettings| {
        assert_eq!(settings.quorum, Some(3));
        Fleet::builder(settings.group().unwrap()).exchange(Echo::new()).start()
    };
    let catalog = LiveCatalog::load_in_fleet(layers(), start).unwrap();
    let breakers = ["a", "alone", "other"].map(|name| catalog.builder(name).build().unwrap());
    tokio::task::yield_now().await;
    let status = catalog.fleet().unwrap().status();
    let names: Vec<&str> = status.breakers.iter().map(|breaker| &*breaker.name).collect();
    assert_eq!(names, ["a", "other"]);
    drop(breakers);

    let failing = |_: &nanobreaker_settings::FleetSettings| Err::<Fleet, _>("no way");
    assert_eq!(LiveCatalog::load_in_fleet(layers(), failing).unwrap_err().to_string(), "fleet: no way");
}

#[test]
fn another_fleet_takes_a_restart() {
    let path = std::env::temp_dir().join(format!("fleet-{}.toml", std::process::id()));
    std::fs::write(&path, "[defaults]\nmax_probes = 2").unwrap();
    let catalog = LiveCatalog::load(Layers::new().file(&path)).unwrap();
    std::fs::write(&path, "[defaults]\nmax_probes = 3\n[fleet]\ngroup = 'shop'").unwrap();
    assert_eq!(catalog.reload().unwrap_err().to_string(), "fleet was changed: that takes a restart");
    assert_eq!(catalog.settings("x").max_probes, Some(2));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn wrong_syntax_is_told_with_its_line() {
    let message = refused("[defaults]\nmax_probes = = 3");
    assert!(message.contains("line 2"), "{message}");
    let missing = Layers::new().file("/nonexistent/breakers.toml").load();
    assert!(missing.unwrap_err().to_string().contains("/nonexistent/breakers.toml"));
}

#[test]
fn a_catalogue_that_is_wrong_changes_nothing_and_a_right_one_loses_nothing() {
    let path = std::env::temp_dir().join(format!("catalog-{}.toml", std::process::id()));
    std::fs::write(&path, TOML).unwrap();
    let catalog = LiveCatalog::load(Layers::new().file(&path)).unwrap();
    let breaker: SharedBreaker = catalog.builder("payments").build().unwrap();
    breaker.trip();
    assert!(!catalog.reload().unwrap());

    std::fs::write(&path, "[defaults]\nmax_probes = 0").unwrap();
    let error = catalog.reload().unwrap_err().to_string();
    assert_eq!(error, "defaults.max_probes is 0, but must be from 1 to 63");
    assert_eq!(catalog.settings("payments").max_probes, Some(3));

    std::fs::write(&path, "[defaults]\nmax_probes = 5").unwrap();
    assert!(catalog.reload().unwrap());
    breaker.adjust(&catalog.builder("payments")).unwrap();
    assert_eq!(breaker.config().max_probes(), 5);
    assert_eq!(breaker.snapshot().phase, Phase::Open);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn names_are_there_and_are_told_apart_by_more_than_their_case() {
    assert_eq!(refused("[breakers.'']\nmax_probes = 2"), "breakers has an entry whose name is empty");
    assert_eq!(refused("[profiles.' ']\nmax_probes = 2"), "profiles has an entry whose name is empty");
    let layers = Layers::new().text(Format::Toml, "[breakers.Payments]\nmax_probes = 2");
    let error = layers.variables(&[("SHOP__BREAKERS__PAYMENTS__OPEN_FOR", "5m")]).load().unwrap_err();
    let told = "breakers.Payments and breakers.payments differ in nothing but upper and lower case";
    assert_eq!(error.to_string(), told);
}

#[test]
fn what_is_no_file_of_settings_is_refused_by_its_bounds() {
    let refused = |format, text: &str| Layers::new().text(format, text).load().unwrap_err().to_string();
    let bomb = "defaults: &a {max_probes: 1}\nprofiles: {x: *a}\n";
    assert!(refused(Format::Yaml, bomb).contains("line 1: an anchor or an alias"));
    let deep = format!("{{\"defaults\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    assert!(refused(Format::Json, &deep).contains("deeper than 16 levels"));
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.yaml");
    std::fs::write(&large, "#".repeat(2 << 20)).unwrap();
    let error = Layers::new().file(&large).load().unwrap_err().to_string();
    assert!(error.starts_with(&*large.to_string_lossy()) && error.contains("larger than"), "{error}");
    let unknown = folder.path().join("breakers.conf");
    std::fs::write(&unknown, TOML).unwrap();
    let error = Layers::new().file(&unknown).load().unwrap_err().to_string();
    assert!(error.contains("names no format"), "{error}");
}

type GoWrong = fn(&std::path::Path);

/// What can be wrong with a file, and a part of what is told of it.
const WRONG: [(&str, GoWrong); 5] = [
    ("it is empty", |path| std::fs::write(path, " \n").unwrap()),
    ("line 1", |path| std::fs::write(path, "[breakers.pay").unwrap()),
    ("max_probes is 0", |path| std::fs::write(path, "[defaults]\nmax_probes = 0").unwrap()),
    ("No such file", |path| std::fs::rename(path, path.with_extension("gone")).unwrap()),
    ("Is a directory", |path| {
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(path).unwrap();
    }),
];

#[test]
fn a_file_that_went_wrong_leaves_the_last_good_settings_in_force() {
    for is_optional in [false, true] {
        for (told, go_wrong) in WRONG {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("breakers.toml");
            std::fs::write(&path, TOML).unwrap();
            let layers = Layers::new();
            let layers = if is_optional { layers.optional_file(&path) } else { layers.file(&path) };
            let catalog = LiveCatalog::load(layers).unwrap();
            go_wrong(&path);
            for _ in 0..2 {
                let error = catalog.reload().unwrap_err().to_string();
                assert!(error.contains(told), "{error}");
                assert_eq!(catalog.settings("payments").max_probes, Some(3));
            }
        }
    }
    // One that was never there is not missed, and is read when it comes.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("breakers.toml");
    let catalog = LiveCatalog::load(Layers::new().optional_file(&path)).unwrap();
    assert!(!catalog.reload().unwrap());
    std::fs::write(&path, TOML).unwrap();
    assert!(catalog.reload().unwrap());
    assert!(!catalog.reload().unwrap(), "nothing has changed since");
}

/// A catalogue of the file, which is read again so often; what is told of that; and the task that reads.
#[cfg(feature = "tokio")]
fn followed(
    path: &Path,
    every: Duration,
) -> (LiveCatalog, UnboundedReceiver<Result<(), LoadError>>, JoinHandle<()>) {
    let catalog = LiveCatalog::load(Layers::new().file(path)).unwrap();
    let (tell, told) = unbounded_channel();
    let follower = catalog.clone();
    let task = tokio::spawn(async move { follower.follow(every, |change| drop(tell.send(change))).await });
    (catalog, told, task)
}

#[cfg(feature = "tokio")]
#[tokio::test(start_paused = true)]
async fn each_fault_of_a_file_is_one_event_and_no_change_is_none() {
    for (part, go_wrong) in WRONG {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("breakers.toml");
        std::fs::write(&path, TOML).unwrap();
        let every = Duration::from_secs(1);
        let (catalog, mut told, task) = followed(&path, every);
        let rests = async || tokio::time::sleep(5 * every).await;
        rests().await;
        assert!(told.try_recv().is_err(), "nothing has changed");
        go_wrong(&path);
        rests().await;
        let error = told.try_recv().unwrap().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        rests().await;
        assert!(told.try_recv().is_err(), "told again");
        assert_eq!(catalog.settings("payments").max_probes, Some(3));
        task.abort();
    }
}

#[cfg(feature = "tokio")]
#[tokio::test(start_paused = true)]
async fn what_one_reading_alone_found_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("breakers.toml");
    std::fs::write(&path, TOML).unwrap();
    let second = Duration::from_secs(1);
    let (catalog, mut told, task) = followed(&path, second);
    tokio::time::sleep(second / 2).await;
    // Half of a file, which by chance is right; it is whole before the next reading.
    std::fs::write(&path, "[breakers.payments]\nmax_probes = 9").unwrap();
    tokio::time::sleep(second).await;
    std::fs::write(&path, "[breakers.payments]\nmax_probes = 9\nopen_for = '7s'").unwrap();
    told.recv().await.unwrap().unwrap();
    assert_eq!(catalog.settings("payments").open_for, Some(Duration::from_secs(7)));
    tokio::time::sleep(5 * second).await;
    assert!(told.try_recv().is_err(), "one event");
    task.abort();
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_changed_file_is_noticed_and_a_standing_error_told_once() {
    let path = std::env::temp_dir().join(format!("follow-{}.toml", std::process::id()));
    std::fs::write(&path, TOML).unwrap();
    let (catalog, mut told, task) = followed(&path, Duration::from_millis(1));
    std::fs::write(&path, "[defaults]\nmax_probes = 0").unwrap();
    // A half-written file may be told first.
    while !told.recv().await.unwrap().is_err_and(|e| e.to_string().contains("max_probes is 0")) {}
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(told.try_recv().is_err(), "told again");
    std::fs::write(&path, "[defaults]\nmax_probes = 5").unwrap();
    while told.recv().await.unwrap().is_err() || catalog.settings("x").max_probes != Some(5) {}
    task.abort();
    std::fs::remove_file(path).unwrap();
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic(text in "\\PC*", key in "[a-z_.]{0,20}") {
        for format in [Format::Toml, Format::Json, Format::Yaml] {
            let _ = Layers::new().text(format, &text).load();
        }
        let _ = Layers::new().text(Format::Toml, &format!("[breakers.x]\n{key} = '''{text}'''")).load();
        let _ = Layers::new().variables(&[(&format!("SHOP__{key}__{key}"), &text)]).load();
    }

    #[test]
    fn a_wrong_value_is_refused_by_its_key_in_every_format(
        key in prop::sample::select(KEYS.to_vec()),
        value in wrong_value(),
        format in prop::sample::select(vec![Format::Toml, Format::Json, Format::Yaml]),
    ) {
        // JSON's way to write these values is TOML's and YAML's, too.
        let text = match format {
            Format::Toml => format!("[breakers.x]\n{key} = {value}"),
            Format::Json => format!(r#"{{"breakers": {{"x": {{"{key}": {value}}}}}}}"#),
            Format::Yaml => format!("breakers:\n  x:\n    {key}: {value}"),
        };
        let error = Layers::new().text(format, &text).load().unwrap_err().to_string();
        prop_assert!(error.contains(key), "{}: {}", text, error);
    }

    #[test]
    fn a_wrong_variable_is_refused_by_its_key(
        key in prop::sample::select(KEYS.to_vec()),
        value in "[a-z -]{1,12}",
    ) {
        let name = format!("SHOP__BREAKERS__X__{}", key.to_uppercase());
        let error = Layers::new().variables(&[(&name, &value)]).load();
        prop_assume!(error.is_err()); // "1 s" and "true" may be right
        let error = error.unwrap_err().to_string();
        prop_assert!(error.contains(key), "{}={}: {}", name, value, error);
    }
}

const KEYS: [&str; 9] = [
    "open_for",
    "max_open",
    "max_probes",
    "probe_successes",
    "probe_failures",
    "probe_lease",
    "ramp",
    "jitter_permille",
    "slow_after",
];

/// Right for no setting.
fn wrong_value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["\"many\"", "-1", "1.5", "[1]", "[]", "99999999999", "\"9 years\"", "true"])
}

#[test]
fn wrong_syntax_is_refused_with_line_and_column() {
    for (format, text, line) in [
        (Format::Toml, "[defaults]\nmax_probes = = 1", "line 2, column 14"),
        (Format::Json, "{\n  \"defaults\": {,}\n}", "line 2 column 16"),
        (Format::Yaml, "defaults:\n  max_probes: [1", "line 3 column 1"),
    ] {
        let error = Layers::new().text(format, text).load().unwrap_err().to_string();
        assert!(error.contains(line), "{format:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn an_optional_file_that_can_not_be_looked_at_is_an_error_and_one_that_is_not_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("breakers.toml");
    assert!(Layers::new().optional_file(&path).load().is_ok());
    // A link to itself.
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let error = Layers::new().optional_file(&path).load().unwrap_err().to_string();
    assert!(error.contains("breakers.toml"), "{error}");
}
