//! What all public types are: `Debug`, `Send`, `Sync` and, but for those that the documentation names, `Clone`.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use nanobreaker::observe::{CallCounts, Change, Counts, Health, HealthStatus, Monitor};
use nanobreaker::observe::{MonitoredBreaker, RejectionCounts, Series, UnknownBreaker};
use nanobreaker::tower::{
    BodyCall, BreakerFuture, BreakerLayer, BreakerService, ByClassifier, ByHead, ByHttp,
};
use nanobreaker::tower::{
    CountedLayer, CountedService, GateLayer, GateService, GuardedBody, HeadCall, HttpCall,
};
use nanobreaker::tower::{Keyed, KeyedBy, ServerErrors, UntilBodyEnds, WithRefusals};
use nanobreaker::{
    BreakerRef, ByResult, CallError, Caller, Check, CheckError, CheckSettings, CoarseClock, Counted, Group,
    Listeners, PinnedBreaker, Registry, RegistryBuilder, Rejection, SharedBreaker, SharedBreakerBuilder,
    SharedClock, SharedWindow, StateFile, StateFileError, Then, ThreadLanes, ThreadStripes, Timed,
    TimerClock, TokioClock, WallClock,
};
use nanobreaker::{admin, axum, catalog, fleet, reqwest};

/// The names of types that have these traits, which the compiler checks.
macro_rules! are {
    ([$($bound:path),*]: $($type:ty),* $(,)?) => {{
        fn name<T: $($bound +)*>() -> &'static str {
            let path = std::any::type_name::<T>().split('<').next().unwrap_or_default();
            path.rsplit("::").next().unwrap_or_default()
        }
        [$(name::<$type>()),*]
    }};
}

type Window = SharedWindow;
type Clock = SharedClock;

/// Keep in mind that the documentation of the crate names those that are not `Clone`.
fn checked() -> BTreeSet<&'static str> {
    let cloned = are!([Debug, Send, Sync, Clone]:
        SharedBreaker, SharedBreakerBuilder, PinnedBreaker, BreakerRef, Group, Registry<String>, Rejection,
        CallError<u32>, Caller<'static, Window, Clock, Listeners>, Timed<'static, Window, Clock, Listeners>, ByResult,
        CoarseClock, TimerClock, WallClock, TokioClock, ThreadStripes, Counted, Check, CheckError, CheckSettings, Then,
        StateFile, catalog::Format, catalog::Layers, catalog::LoadError, catalog::LiveCatalog,
        Monitor, MonitoredBreaker, Health, HealthStatus, Change, CallCounts, RejectionCounts, Counts,
        Series, UnknownBreaker,
        admin::Admin, admin::AdminError, axum::AnswerLayer, axum::AnswerService<u32, u32>,
        reqwest::BreakerMiddleware, BreakerLayer<SharedBreaker>, BreakerService<u32, SharedBreaker, ByClassifier>,
        ByClassifier, ByHead<ServerErrors>, ByHttp<u32>, ServerErrors, UntilBodyEnds<ServerErrors>,
        CountedLayer, CountedService<u32>, GateLayer<SharedBreaker, ByClassifier>, Keyed<String, u32>, KeyedBy<u32>,
        WithRefusals<u32, u32>, fleet::Fleet, fleet::FleetError, fleet::FleetStatus, fleet::Link,
        fleet::BreakerInFleet, fleet::message::Group,
        fleet::message::Report, fleet::message::News, fleet::message::Order, fleet::message::OrderedAction,
        fleet::message::Finding, fleet::message::Heard, fleet::message::Said, fleet::message::Word, fleet::message::Reply,
    );
    let others = are!([Debug, Send, Sync]:
        Listeners, SharedClock, ThreadLanes,
        RegistryBuilder<String>, fleet::FleetBuilder,
        StateFileError, fleet::ExchangeError,
        BreakerFuture<u32, PinnedBreaker, u32>, axum::AnswerFuture<u32, u32>, GuardedBody<u32, PinnedBreaker, u32>,
        GateService<u32, SharedBreaker, u32>, HeadCall<u32>, BodyCall<u32>, HttpCall<u32>,
    );
    cloned.into_iter().chain(others).collect()
}

/// Types that are declared as public, by name, but for those that nobody outside can name.
fn declared(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            declared(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let types = text.lines().filter_map(|line| {
                let line = line.trim_start();
                line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))
            });
            let name =
                |rest: &str| rest.split(|letter: char| !letter.is_alphanumeric()).next().map(str::to_owned);
            found.extend(types.filter_map(name));
        }
    }
}

#[test]
fn every_public_type_can_be_shown_and_sent_and_shared() {
    let mut found = BTreeSet::new();
    declared(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    // In private modules.
    for hidden in ["Held", "Identity"] {
        assert!(found.remove(hidden), "{hidden} is there no more");
    }
    let checked = checked();
    let forgotten: Vec<_> = found.iter().filter(|name| !checked.contains(name.as_str())).collect();
    assert!(forgotten.is_empty(), "not in the table above: {forgotten:?}");
}
