//! What both kinds of servers have in common: a process of the test's own, and a breaker before it.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nanobreaker::{CallError, Phase, SharedBreaker};
use tokio::time::{Instant, sleep};

/// How long a breaker here stays open.
pub(crate) const OPEN_FOR: Duration = Duration::from_millis(200);

/// How long a server may take to start.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// A breaker that opens on the third failure in a row.
pub(crate) fn breaker() -> SharedBreaker {
    let builder = SharedBreaker::builder().consecutive(3).open_for(OPEN_FOR).max_open(OPEN_FOR);
    builder.probe_successes(1).build().unwrap()
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server's process, which ends with the test.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = quiet.get_program().to_owned();
        let child = quiet.spawn().unwrap_or_else(|error| panic!("{name:?} does not start: {error}"));
        Self(child)
    }

    pub(crate) fn signal(&self, name: &str) {
        let process = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    }

    pub(crate) fn wait(&mut self) {
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command of an account that may run the server: PostgreSQL refuses to run as root.
pub(crate) fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

pub(crate) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}

/// Waits until something is so.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < STARTS_WITHIN, "not within {STARTS_WITHIN:?}: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Makes calls until the breaker opens, which must take three failures.
pub(crate) async fn opens<T, E, F>(breaker: &SharedBreaker, mut call: impl FnMut() -> F)
where
    F: Future<Output = Result<T, CallError<E>>>,
{
    let mut made = 0;
    while breaker.phase() != Phase::Open {
        made += 1;
        assert!(made <= 3, "it is {:?} after {} calls", breaker.phase(), made - 1);
        assert!(call().await.is_err());
    }
    assert!(matches!(call().await, Err(CallError::Rejected(_))));
}

/// Makes calls until the breaker has closed again.
pub(crate) async fn closes<T, E, F>(breaker: &SharedBreaker, mut call: impl FnMut() -> F)
where
    F: Future<Output = Result<T, CallError<E>>>,
{
    let began = Instant::now();
    while breaker.phase() != Phase::Closed {
        assert!(began.elapsed() < STARTS_WITHIN, "it is {:?} still", breaker.phase());
        let _ = call().await;
        sleep(Duration::from_millis(20)).await;
    }
    assert!(call().await.is_ok());
}
