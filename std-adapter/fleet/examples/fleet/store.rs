//! Where the processes meet: a redis-server of the example's own, or memory; and what can happen to it.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

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
    port: u16,
    relay: Relay,
    process: Mutex<Child>,
}

/// What can happen to a store.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Fault {
    /// It dies, and comes back empty.
    Killed,
    /// It hangs, though it still takes connections (SIGSTOP).
    Stopped,
    /// Nothing that is sent arrives, and no connection ends.
    Swallowed,
    /// Each way takes 250 to 450 ms.
    Slow,
}

impl Store {
    /// Starts redis-server or valkey-server, whichever is installed.
    pub(crate) async fn start() -> Result<Self, Failure> {
        for program in ["redis-server", "valkey-server"] {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let Ok(mut process) = spawn(program, port) else { continue };
            listens(program, port, &mut process).await?;
            let relay = Relay::to(port).await;
            let server = Server { program, port, relay, process: Mutex::new(process) };
            return Ok(Self::Redis(Box::new(server)));
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
            Self::Redis(server) => format!("50 processes meet in {} at port {}", server.program, server.port),
            Self::Memory => {
                "redis-server is not installed: 50 instances are tasks of this process, and meet in memory"
                    .to_owned()
            }
        }
    }
}

impl Server {
    pub(crate) async fn suffer(&self, fault: Fault) -> Result<(), Failure> {
        match fault {
            Fault::Killed => self.process.lock().await.kill().await?,
            Fault::Stopped => self.signal("-STOP").await?,
            Fault::Swallowed => self.relay.swallow(true),
            Fault::Slow => self.relay.delay(Duration::from_millis(250), Duration::from_millis(200)),
        }
        Ok(())
    }

    /// Ends what [`suffer`](Self::suffer) began.
    pub(crate) async fn recover(&self, fault: Fault) -> Result<(), Failure> {
        match fault {
            Fault::Killed => {
                let mut process = self.process.lock().await;
                *process = spawn(self.program, self.port)?;
                listens(self.program, self.port, &mut process).await?;
            }
            Fault::Stopped => self.signal("-CONT").await?,
            Fault::Swallowed => self.relay.swallow(false),
            Fault::Slow => self.relay.delay(Duration::ZERO, Duration::ZERO),
        }
        Ok(())
    }

    async fn signal(&self, name: &str) -> Result<(), Failure> {
        let id = self.process.lock().await.id().ok_or("the store has ended")?;
        let status = Command::new("kill").args([name, &id.to_string()]).status().await?;
        if status.success() { Ok(()) } else { Err(format!("kill {name}: {status}").into()) }
    }
}

fn spawn(program: &str, port: u16) -> std::io::Result<Child> {
    Command::new(program)
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
        .arg(port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

async fn listens(program: &str, port: u16, process: &mut Child) -> Result<(), Failure> {
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        if let Some(status) = process.try_wait()? {
            return Err(format!("{program} ended before it listened: {status}").into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
