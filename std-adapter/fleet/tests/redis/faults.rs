//! A store that dies, hangs, forgets, refuses or is slow: while the dependency is well, and while it fails.

use std::time::Duration;

use nanobreaker_fleet::nanobreaker::Phase;
use redis::Value;
use tokio::time::sleep;

use crate::relay::Relay;
use crate::rig::{Instance, OPEN_FOR, Server, all, outage, recovery, say, together, until};

/// Without its store each breaker is what it is without a fleet.
async fn each_for_itself(instances: &[Instance]) {
    for instance in instances {
        instance.breaker.reset();
        assert!(instance.call(true));
    }
    assert!(instances[0].call(false));
    assert_eq!(instances[0].phase(), Phase::Open);
    sleep(OPEN_FOR).await;
    until("its own probe closes it", || instances[0].call(true)).await;
    assert_eq!(instances[0].phase(), Phase::Closed);
    assert!(instances.iter().all(|instance| instance.phase() == Phase::Closed));
}

async fn alone(instances: &[Instance]) {
    let took = all(instances, |instance| {
        instance.call(true);
        !instance.is_together()
    })
    .await;
    // Asked every five seconds, with two to answer.
    assert!(took < Duration::from_secs(9), "{took:?}");
    say(&format!("alone after {took:?}"));
}

/// As soon as the store is back, all is as before.
async fn together_again(instances: &[Instance]) {
    all(instances, Instance::is_together).await;
    instances.iter().for_each(|instance| instance.breaker.reset());
    // The breaker before the store lets reports pass again, and all have asked for what is in force.
    sleep(Duration::from_millis(2_500)).await;
    outage(instances).await;
    recovery(instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_is_killed_and_comes_back() {
    let mut server = Server::start();
    let instances = together(&server.url(), 4).await;
    outage(&instances).await;
    server.kill();
    alone(&instances).await;
    each_for_itself(&instances).await;
    server.start_again();
    together_again(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_hangs_and_goes_on() {
    let server = Server::start();
    let instances = together(&server.url(), 4).await;
    server.signal("-STOP");
    assert!(instances[0].call(false) && instances[1].call(false), "nobody waits for a report");
    alone(&instances).await;
    each_for_itself(&instances).await;
    server.signal("-CONT");
    together_again(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_network_that_swallows_everything() {
    let server = Server::start();
    let relay = Relay::to(server.port).await;
    let instances = together(&relay.url(), 4).await;
    relay.swallow(true);
    alone(&instances).await;
    each_for_itself(&instances).await;
    relay.swallow(false);
    together_again(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_is_slow() {
    let server = Server::start();
    let relay = Relay::to(server.port).await;
    let instances = together(&relay.url(), 4).await;
    relay.delay(Duration::from_millis(100), Duration::from_millis(200));
    let took = outage(&instances).await;
    say(&format!("with 100 to 300 ms each way all were advised after {took:?}"));
    recovery(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_forgets_everything_or_its_scripts_or_its_listeners() {
    let server = Server::start();
    let instances = together(&server.url(), 4).await;
    for command in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"], &["CLIENT", "KILL", "TYPE", "pubsub"]] {
        // Once while the dependency is well, and once while a finding is in force.
        server.ask(command);
        together_again(&instances).await;
        outage(&instances).await;
        server.ask(command);
        recovery(&instances).await;
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_memory_that_was_lost_comes_back_under_another_name() {
    let server = Server::start();
    let name = || server.ask(&["HGET", "nb1:{test}:run", "id"]);
    // One instance alone, so that the same one names both.
    let instances = together(&server.url(), 1).await;
    until("the memory has a name", || name() != Value::Nil).await;
    let before = name();
    server.ask(&["FLUSHALL"]);
    assert!(instances[0].call(false));
    until("the memory has a name again", || name() != Value::Nil).await;
    assert_ne!(name(), before);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_has_no_memory_left() {
    let server = Server::start_with(&["--maxmemory-policy", "noeviction"]);
    let instances = together(&server.url(), 3).await;
    server.ask(&["CONFIG", "SET", "maxmemory", "1"]);
    each_for_itself(&instances).await;
    server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    // The breaker before the store opens for ten seconds at the most.
    sleep(Duration::from_secs(4)).await;
    together_again(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_replica_that_takes_over_without_the_last_second() {
    let mut server = Server::start();
    let replica = Server::start();
    let relay = Relay::to(server.port).await;
    let instances = together(&relay.url(), 4).await;
    outage(&instances).await;
    // It never saw what was written: the worst that a failover can lose.
    server.kill();
    relay.turn_to(replica.port);
    recovery(&instances).await;
    together_again(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_replica_that_takes_over_without_the_newest_findings() {
    let mut server = Server::start();
    let replica = Server::start();
    let relay = Relay::to(server.port).await;
    let instances = together(&relay.url(), 3).await;
    replica.ask(&["REPLICAOF", "127.0.0.1", &server.port.to_string()]);
    let memory = |server: &Server| server.ask(&["HGETALL", "nb1:{test}:run"]);
    let is_copied = || memory(&replica) == memory(&server);
    until("the replica follows", is_copied).await;
    outage(&instances).await;
    recovery(&instances).await;
    until(&format!("the replica knows {:?}", memory(&server)), is_copied).await;
    // From here on it misses everything: each of these findings has a number that it does not know.
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    for _ in 0..3 {
        outage(&instances).await;
        recovery(&instances).await;
    }
    server.kill();
    relay.turn_to(replica.port);
    until("they hear of it", || !instances.iter().any(Instance::is_together)).await;
    together_again(&instances).await;
}
