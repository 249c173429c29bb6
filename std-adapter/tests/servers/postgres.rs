//! A server of PostgreSQL.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use nanobreaker::{CallError, CallExt, Outcome, Phase, SharedBreaker, classify};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection, Error, Executor};
use tempfile::TempDir;

use crate::rig::{Process, breaker, closes, free_port, is_root, opens, unprivileged, until};

/// Where initdb and postgres are.
fn programs() -> PathBuf {
    let folder = std::env::var_os("POSTGRES_PROGRAMS");
    folder.expect("std-adapter/tests/servers/check says where PostgreSQL is").into()
}

struct Server {
    port: u16,
    process: Process,
    folder: TempDir,
}

fn start(port: u16, folder: &TempDir) -> Process {
    let mut command = unprivileged(&programs().join("postgres"));
    command.arg("-D").arg(folder.path().join("data")).args(["-p", &port.to_string(), "-h", "127.0.0.1"]);
    command.args(["-k", "", "-c", "max_connections=8", "-c", "superuser_reserved_connections=1"]);
    Process::start(&mut command)
}

impl Server {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        if is_root() {
            let given = Command::new("chown").arg("postgres").arg(folder.path()).status().unwrap();
            assert!(given.success());
        }
        let mut command = unprivileged(&programs().join("initdb"));
        command.arg("-D").arg(folder.path().join("data"));
        command.args(["-U", "test", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C"]);
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        let port = free_port();
        let server = Self { port, process: start(port, &folder), folder };
        server.answers().await;
        server
    }

    async fn answers(&self) {
        until("PostgreSQL answers", async || self.connection().await.is_ok()).await;
    }

    /// At once: nothing that is under way is finished.
    fn kill(&mut self) {
        self.process.signal("-QUIT");
        self.process.wait();
    }

    async fn start_again(&mut self) {
        self.process = start(self.port, &self.folder);
        self.answers().await;
    }

    fn options(&self) -> PgConnectOptions {
        let options = PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(self.port);
        options.username("test").database("postgres")
    }

    async fn connection(&self) -> Result<PgConnection, Error> {
        PgConnection::connect_with(&self.options()).await
    }

    fn pool(&self) -> PgPool {
        let options = PgPoolOptions::new().max_connections(2).acquire_timeout(Duration::from_millis(500));
        options.connect_lazy_with(self.options())
    }

    /// How an answer of the server is judged.
    async fn judged(&self, statements: &'static str) -> (Option<String>, Outcome) {
        let result = self.connection().await.unwrap().execute(statements).await;
        let error = result.as_ref().err().and_then(Error::as_database_error);
        (error.and_then(|error| error.code()).map(Into::into), classify::sqlx(&result))
    }
}

async fn asks(breaker: &SharedBreaker, pool: &PgPool) -> Result<i32, CallError<Error>> {
    let calls = breaker.calls().classify(classify::sqlx);
    calls.call_async(sqlx::query_scalar("SELECT 1").fetch_one(pool)).await
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_server_that_is_killed_opens_the_breaker_and_closes_it_when_it_is_back() {
    let mut server = Server::start().await;
    let (breaker, pool) = (breaker(), server.pool());
    let ask = || asks(&breaker, &pool);
    ask().await.unwrap();
    for _ in 0..2 {
        server.kill();
        opens(&breaker, ask).await;
        server.start_again().await;
        closes(&breaker, ask).await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_connection_that_the_server_ends_is_no_outage() {
    let server = Server::start().await;
    let (breaker, pool) = (breaker(), server.pool());
    let ask = || asks(&breaker, &pool);
    ask().await.unwrap();
    let mut held = pool.acquire().await.unwrap();
    let ends_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
                    AND backend_type = 'client backend'";
    server.connection().await.unwrap().execute(ends_all).await.unwrap();
    let broken = held.execute("SELECT 1").await;
    assert_eq!(classify::sqlx(&broken), Outcome::Failure, "{broken:?}");
    drop(held);
    ask().await.unwrap();
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn answers_are_successes_and_the_breaker_stays_closed() {
    let server = Server::start().await;
    for (statements, code) in [
        ("SELEC 1", "42601"),
        ("SELECT * FROM nothing", "42P01"),
        ("SELECT 1 / 0", "22012"),
        ("CREATE TEMP TABLE t (i INT UNIQUE); INSERT INTO t VALUES (1), (1)", "23505"),
    ] {
        assert_eq!(server.judged(statements).await, (Some(code.to_owned()), Outcome::Success));
    }
    let (breaker, pool) = (breaker(), server.pool());
    let calls = breaker.calls().classify(classify::sqlx);
    for _ in 0..5 {
        let none = sqlx::query_scalar::<_, i32>("SELECT 1 WHERE false").fetch_one(&pool);
        assert!(matches!(calls.call_async(none).await, Err(CallError::Failed(Error::RowNotFound))));
    }
    let wrong_type = sqlx::query_scalar::<_, String>("SELECT 1").fetch_one(&pool).await;
    assert_eq!(classify::sqlx(&wrong_type), Outcome::Ignored);
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_server_that_can_not_serve_is_a_failure() {
    let server = Server::start().await;
    for (statements, code) in [
        ("SET statement_timeout = 50; SELECT pg_sleep(5)", "57014"),
        ("BEGIN READ ONLY; CREATE TABLE t (i INT)", "25006"),
    ] {
        assert_eq!(server.judged(statements).await, (Some(code.to_owned()), Outcome::Failure));
    }
    let mut all = Vec::new();
    let refused = loop {
        match server.connection().await {
            Ok(connection) => all.push(connection),
            Err(error) => break error,
        }
        assert!(all.len() <= 8);
    };
    let code = refused.as_database_error().and_then(|error| error.code()).map(String::from);
    assert_eq!(code.as_deref(), Some("53300"), "too many connections");
    assert_eq!(classify::sqlx::<()>(&Err(refused)), Outcome::Failure);

    // It waits until those that are there have left, and takes no others.
    server.process.signal("-TERM");
    until("it is shutting down", async || {
        let refused = server.connection().await;
        let error = refused.as_ref().err().and_then(Error::as_database_error);
        let says_so = error.and_then(|error| error.code()).is_some_and(|code| code == "57P03");
        if says_so {
            assert_eq!(classify::sqlx(&refused), Outcome::Failure);
        }
        says_so
    })
    .await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_pool_that_has_no_connection_left_is_a_failure_and_what_is_ours_is_ignored() {
    let server = Server::start().await;
    let pool = server.pool();
    let held = (pool.acquire().await.unwrap(), pool.acquire().await.unwrap());
    let refused = pool.acquire().await;
    assert!(matches!(refused, Err(Error::PoolTimedOut)));
    assert_eq!(classify::sqlx(&refused), Outcome::Failure);
    drop(held);
    pool.close().await;
    assert_eq!(classify::sqlx(&pool.acquire().await), Outcome::Ignored);
    let nowhere = PgConnection::connect_with(&server.options().database("nowhere")).await;
    assert_eq!(classify::sqlx(&nowhere), Outcome::Ignored, "{nowhere:?}");
}
