//! What a fleet does on a server that works.

use std::time::Duration;

use nanobreaker_fleet::Redis;
use nanobreaker_fleet::nanobreaker::Phase;
use tokio::time::sleep;

use crate::rig::{Instance, OPEN_FOR, PROBE, Server, all, outage, recovery, say, together, until};

#[tokio::test]
#[ignore = "needs redis-server"]
async fn what_two_found_out_all_heed_soon_and_one_success_lets_all_look() {
    let server = Server::start();
    let instances = together(&server.url(), 10).await;
    let took = outage(&instances).await;
    say(&format!("two findings to ten open breakers: {took:?}"));
    assert!(took < Duration::from_millis(500), "{took:?}");
    let took = recovery(&instances).await;
    // The holder's open time and probe, the spread, and a second.
    assert!(took < OPEN_FOR + PROBE + Duration::from_secs(2), "{took:?}");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_holder_that_dies_in_its_probe_holds_nobody() {
    let server = Server::start();
    let mut instances = together(&server.url(), 5).await;
    outage(&instances).await;
    let holder = || instances.iter().position(Instance::is_holder);
    until("somebody holds the finding", || holder().is_some()).await;
    let holder = instances.remove(holder().unwrap());
    until("it probes", || {
        holder.breaker.allow().is_ok_and(|permit| {
            std::mem::forget(permit);
            true
        })
    })
    .await;
    drop(holder);
    let took = recovery(&instances).await;
    assert!(took < PROBE + Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn two_groups_and_two_servers_know_nothing_of_each_other() {
    let (server, elsewhere) = (Server::start(), Server::start());
    let instances = together(&server.url(), 3).await;
    let others =
        [Instance::on(Redis::connect(&server.url()).unwrap(), "another"), Instance::at(&elsewhere.url())];
    all(&others, Instance::is_together).await;
    outage(&instances).await;
    sleep(Duration::from_millis(300)).await;
    assert!(others.iter().all(|other| other.phase() == Phase::Closed));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn an_order_reaches_all_and_those_who_come_later_and_ends() {
    let server = Server::start();
    let instances = together(&server.url(), 3).await;
    let duration = Duration::from_secs(3);
    instances[0].fleet.isolate("payments", duration, "on call: maintenance").unwrap();
    all(&instances, |instance| instance.phase() == Phase::Isolated).await;
    let late = together(&server.url(), 1).await;
    all(&late, |instance| instance.phase() == Phase::Isolated).await;
    let took = all(&instances, |instance| instance.phase() == Phase::Closed).await;
    assert!(took < duration + Duration::from_secs(1), "{took:?}");
    all(&late, |instance| instance.phase() == Phase::Closed).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn messages_of_newer_versions_and_of_nobody_are_passed_over() {
    let server = Server::start();
    let instances = together(&server.url(), 2).await;
    let item = r#"{"sing": "payments"}, {"open": 5}, null"#;
    for message in ["", "[", "{}", &format!(r#"{{"run": "1", "mood": 1, "said": [{item}]}}"#)] {
        server.ask(&["PUBLISH", "nb1:{test}", message]);
    }
    sleep(Duration::from_millis(100)).await;
    assert!(instances.iter().all(|instance| instance.phase() == Phase::Closed && instance.is_together()));
    outage(&instances).await;
}
