//! Where the processes meet: a redis-server of the example's own, or memory; and what can happen to it.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use redis::{AsyncConnectionConfig, Client, Cmd, RedisResult, Value};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::Failure;
use crate::relay::Relay;

pub(crate) enum Store {
    Redis(Box<Server>),
    Memory,
}

/// A redis-server, and the relay through which the processes reach it.
pub(crate) struct Server {
    program: &'static str,
    relay: Relay,
    running: Mutex<Running>,
}

struct Running {
    port: u16,
    process: Child,
    /// Where it works: a replica keeps there what it was sent.
    folder: TempDir,
}

/// What can happen to a store.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(crate) enum Fault {
    /// It dies, and comes back empty.
    Killed,
    /// It hangs, though it still takes connections (SIGSTOP).
    Stopped,
    /// Nothing that is sent arrives, and no connection ends.
    Swallowed,
    /// Each way takes 250 to 450 ms.
    Slow,
    /// It forgets everything.
    Flushed,
    /// It forgets its scripts.
    Unscripted,
    /// It drops those who listen.
    Unheard,
    /// It has no memory left.
    Full,
    /// It refuses to do what it is asked.
    Forbidden,
    /// It dies, and a replica without its last second takes its place.
    Replaced,
}

/// How long the operator waits for an answer, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who may do everything, also while the others may not.
const OPERATOR: &str = "operator";

impl Store {
    /// Starts redis-server or valkey-server, whichever is installed.
    pub(crate) async fn start() -> Result<Self, Failure> {
        for program in ["redis-server", "valkey-server"] {
            let Ok(mut running) = Running::start(program) else { continue };
            running.listens(program).await?;
            let relay = Relay::to(running.port).await;
            return Ok(Self::Redis(Box::new(Server { program, relay, running: Mutex::new(running) })));
        }
        Ok(Self::Memory)
    }

    /// Where processes meet, if they can.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Self::Redis(server) => Some(server.relay.url()),
            Self::Memory => None,
        }
    }

    pub(crate) fn server(&self) -> Result<&Server, Failure> {
        match self {
            Self::Redis(server) => Ok(server),
            Self::Memory => Err("nothing can happen to memory: --fault needs redis-server".into()),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Redis(_) => "redis",
            Self::Memory => "memory",
        }
    }

    pub(crate) fn says(&self) -> String {
        match self {
            Self::Redis(server) => format!("50 processes meet in {}", server.program),
            Self::Memory => {
                "redis-server is not installed: 50 instances are tasks of this process, and meet in memory"
                    .to_owned()
            }
        }
    }
}

impl Server {
    pub(crate) async fn suffer(&self, fault: Fault) -> Result<(), Failure> {
        let mut running = self.running.lock().await;
        match fault {
            Fault::Killed => running.process.kill().await?,
            Fault::Stopped => running.signal("-STOP").await?,
            Fault::Swallowed => self.relay.swallow(true),
            Fault::Slow => self.relay.delay(Duration::from_millis(250), Duration::from_millis(200)),
            Fault::Flushed => running.ask(&["FLUSHALL"]).await.map(drop)?,
            Fault::Unscripted => running.ask(&["SCRIPT", "FLUSH"]).await.map(drop)?,
            Fault::Unheard => running.ask(&["CLIENT", "KILL", "TYPE", "pubsub"]).await.map(drop)?,
            Fault::Full => running.ask(&["CONFIG", "SET", "maxmemory", "1"]).await.map(drop)?,
            Fault::Forbidden => {
                let forbids = ["ACL", "SETUSER", "default", "-eval", "-evalsha", "-subscribe"];
                running.ask(&forbids).await.map(drop)?;
            }
            Fault::Replaced => self.replace(&mut running).await?,
        }
        Ok(())
    }

    /// Ends what [`suffer`](Self::suffer) began, where it does not end by itself.
    pub(crate) async fn recover(&self, fault: Fault) -> Result<(), Failure> {
        let mut running = self.running.lock().await;
        match fault {
            Fault::Killed => {
                running.process = spawn(self.program, running.port, &running.folder)?;
                running.listens(self.program).await?;
            }
            Fault::Stopped => running.signal("-CONT").await?,
            Fault::Swallowed => self.relay.swallow(false),
            Fault::Slow => self.relay.delay(Duration::ZERO, Duration::ZERO),
            Fault::Full => running.ask(&["CONFIG", "SET", "maxmemory", "0"]).await.map(drop)?,
            Fault::Forbidden => running.ask(&["ACL", "SETUSER", "default", "+@all"]).await.map(drop)?,
            Fault::Flushed | Fault::Unscripted | Fault::Unheard | Fault::Replaced => {}
        }
        Ok(())
    }

    /// A replica that follows up to a second before its master dies.
    async fn replace(&self, running: &mut Running) -> Result<(), Failure> {
        let mut replica = Running::start(self.program)?;
        replica.listens(self.program).await?;
        replica.ask(&["REPLICAOF", "127.0.0.1", &running.port.to_string()]).await?;
        let follows = "master_link_status:up";
        while !format!("{:?}", replica.ask(&["INFO", "replication"]).await?).contains(follows) {
            sleep(Duration::from_millis(20)).await;
        }
        replica.ask(&["REPLICAOF", "NO", "ONE"]).await?;
        sleep(Duration::from_secs(1)).await;
        running.process.kill().await?;
        self.relay.turn_to(replica.port);
        *running = replica;
        Ok(())
    }
}

impl Running {
    fn start(program: &str) -> Result<Self, Failure> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = tempfile::tempdir()?;
        let process = spawn(program, port, &folder)?;
        Ok(Self { port, process, folder })
    }

    async fn listens(&mut self, program: &str) -> Result<(), Failure> {
        while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            if let Some(status) = self.process.try_wait()? {
                return Err(format!("{program} ended before it listened: {status}").into());
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn ask(&self, command: &[&str]) -> RedisResult<Value> {
        let url = format!("redis://{OPERATOR}:{OPERATOR}@127.0.0.1:{}", self.port);
        let patient = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let mut connection =
            Client::open(url)?.get_multiplexed_async_connection_with_config(&patient).await?;
        let mut asked = Cmd::new();
        command.iter().for_each(|argument| _ = asked.arg(argument));
        asked.query_async(&mut connection).await
    }

    async fn signal(&self, name: &str) -> Result<(), Failure> {
        let id = self.process.id().ok_or("the store has ended")?;
        let status = Command::new("kill").args([name, &id.to_string()]).status().await?;
        if status.success() { Ok(()) } else { Err(format!("kill {name}: {status}").into()) }
    }
}

fn spawn(program: &str, port: u16, folder: &TempDir) -> std::io::Result<Child> {
    Command::new(program)
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"])
        .args(["--user", OPERATOR, "on", &format!(">{OPERATOR}"), "~*", "&*", "+@all"])
        .args(["--port", &port.to_string(), "--dir"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}
