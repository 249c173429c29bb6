//! A redis-server.

use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use nanobreaker::{CallError, CallExt, Outcome, Phase, SharedBreaker, classify};
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::{Client, Cmd, FromRedisValue, RedisError, RedisResult, cmd};

use crate::rig::{Process, breaker, closes, free_port, opens, until};

struct Server {
    port: u16,
    process: Process,
}

fn start(port: u16) -> Process {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    Process::start(&mut command)
}

impl Server {
    async fn start() -> Self {
        let port = free_port();
        let server = Self { port, process: start(port) };
        server.listens().await;
        server
    }

    async fn listens(&self) {
        until("redis-server listens", async || TcpStream::connect(("127.0.0.1", self.port)).is_ok()).await;
    }

    fn kill(&mut self) {
        self.process.signal("-KILL");
        self.process.wait();
    }

    async fn start_again(&mut self) {
        self.process = start(self.port);
        self.listens().await;
    }

    fn client(&self) -> Client {
        Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap()
    }

    async fn connection(&self) -> MultiplexedConnection {
        self.client().get_multiplexed_async_connection().await.unwrap()
    }

    /// A connection that is made anew by itself.
    async fn manager(&self) -> ConnectionManager {
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(Duration::from_millis(500)))
            .set_response_timeout(Some(Duration::from_millis(500)));
        self.client().get_connection_manager_with_config(config).await.unwrap()
    }

    /// Makes the server do something, which it must.
    async fn does(&self, command: &str) {
        let () = said(command).query_async(&mut self.connection().await).await.unwrap();
    }

    /// How an answer of the server is judged.
    async fn judged(&self, command: &str) -> Outcome {
        judge(&query::<redis::Value>(self.manager().await, command).await)
    }
}

/// As the crate judges.
fn judge<T>(result: &RedisResult<T>) -> Outcome {
    classify::redis(result)
}

/// A command, as one types it.
fn said(command: &str) -> Cmd {
    let mut words = command.split(' ');
    let mut said = cmd(words.next().unwrap());
    words.for_each(|word| _ = said.arg(word));
    said
}

async fn query<T: FromRedisValue>(mut connection: ConnectionManager, command: &str) -> RedisResult<T> {
    said(command).query_async(&mut connection).await
}

async fn pings(breaker: &SharedBreaker, manager: &ConnectionManager) -> Result<(), CallError<RedisError>> {
    let calls = breaker.calls().classify(classify::redis);
    calls.call_async(query(manager.clone(), "PING")).await
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_is_killed_opens_the_breaker_and_closes_it_when_it_is_back() {
    let mut server = Server::start().await;
    let (breaker, manager) = (breaker(), server.manager().await);
    let ping = || pings(&breaker, &manager);
    ping().await.unwrap();
    for _ in 0..2 {
        server.kill();
        opens(&breaker, ping).await;
        server.start_again().await;
        closes(&breaker, ping).await;
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_hangs_opens_the_breaker_and_closes_it_when_it_goes_on() {
    let server = Server::start().await;
    let (breaker, manager) = (breaker(), server.manager().await);
    let ping = || pings(&breaker, &manager);
    ping().await.unwrap();
    server.process.signal("-STOP");
    opens(&breaker, ping).await;
    server.process.signal("-CONT");
    closes(&breaker, ping).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_connection_that_the_server_ends_is_one_failure() {
    let server = Server::start().await;
    let (breaker, manager) = (breaker(), server.manager().await);
    server.does("CLIENT KILL TYPE normal SKIPME yes").await;
    assert!(pings(&breaker, &manager).await.is_err());
    closes(&breaker, || pings(&breaker, &manager)).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn answers_are_successes_and_the_breaker_stays_closed() {
    let server = Server::start().await;
    server.does("SET text 1x").await;
    for command in ["LPUSH text 1", "INCR text", "NO SUCH COMMAND", "GET", "EVALSHA 0 0"] {
        assert_eq!(server.judged(command).await, Outcome::Success, "{command}");
    }
    let (breaker, manager) = (breaker(), server.manager().await);
    let calls = breaker.calls().classify(classify::redis);
    for _ in 0..5 {
        assert!(calls.call_async(query::<()>(manager.clone(), "INCR text")).await.is_err());
    }
    assert_eq!(breaker.phase(), Phase::Closed);
    assert_eq!(
        judge(&query::<u32>(manager, "GET text").await),
        Outcome::Ignored,
        "not of the type asked for"
    );
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_can_not_serve_is_a_failure() {
    let server = Server::start().await;
    server.does("CONFIG SET maxmemory 1").await;
    assert_eq!(server.judged("SET key value").await, Outcome::Failure, "OOM");
    let mut pipe = redis::pipe();
    pipe.get("key").ignore().set("key", 1).ignore();
    let mut manager = server.manager().await;
    assert_eq!(judge(&pipe.query_async::<()>(&mut manager).await), Outcome::Failure, "OOM, in a pipeline");
    let of_transaction = pipe.atomic().query_async::<()>(&mut manager).await;
    assert_eq!(judge(&of_transaction), Outcome::Failure, "OOM, in a transaction");
    server.does("CONFIG SET maxmemory 0").await;

    server.does("CONFIG SET min-replicas-to-write 1").await;
    assert_eq!(server.judged("SET key value").await, Outcome::Failure, "NOREPLICAS");
    server.does("CONFIG SET min-replicas-to-write 0").await;

    server.does(&format!("REPLICAOF 127.0.0.1 {}", free_port())).await;
    assert_eq!(server.judged("SET key value").await, Outcome::Failure, "READONLY");
    server.does("CONFIG SET replica-serve-stale-data no").await;
    assert_eq!(server.judged("GET key").await, Outcome::Failure, "MASTERDOWN");
    server.does("REPLICAOF NO ONE").await;
    assert_eq!(server.judged("GET key").await, Outcome::Success);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_is_busy_with_a_script_is_a_failure() {
    let server = Server::start().await;
    server.does("CONFIG SET busy-reply-threshold 50").await;
    let (manager, mut other) = (server.manager().await, server.connection().await);
    let runs = tokio::spawn(async move {
        let script = "while true do end";
        cmd("EVAL").arg(script).arg(0).query_async::<()>(&mut other).await
    });
    until("BUSY", async || {
        let result = query::<()>(manager.clone(), "GET key").await;
        result.is_err_and(|error| {
            let is_busy = error.code() == Some("BUSY");
            if is_busy {
                assert_eq!(judge::<()>(&Err(error)), Outcome::Failure);
            }
            is_busy
        })
    })
    .await;
    query::<()>(manager, "SCRIPT KILL").await.unwrap();
    assert!(runs.await.unwrap().is_err());
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_takes_no_more_clients_is_a_failure_and_a_wrong_password_is_ours() {
    let server = Server::start().await;
    let mut first = server.connection().await;
    let mut sets = async |key, value| {
        let () = cmd("CONFIG").arg("SET").arg(key).arg(value).query_async(&mut first).await.unwrap();
    };
    sets("maxclients", "1").await;
    let refused = server.client().get_multiplexed_async_connection().await;
    assert_eq!(judge(&refused), Outcome::Failure);
    sets("maxclients", "100").await;
    sets("requirepass", "secret").await;
    let url = format!("redis://:wrong@127.0.0.1:{}", server.port);
    let refused = Client::open(url).unwrap().get_multiplexed_async_connection().await;
    assert_eq!(judge(&refused), Outcome::Ignored);
}
