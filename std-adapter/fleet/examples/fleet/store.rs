//! Where the processes meet: a redis-server of the example's own, or memory.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::Failure;

pub(crate) enum Store {
    Redis { program: &'static str, url: String, _server: Box<Child> },
    Memory,
}

impl Store {
    /// Starts redis-server or valkey-server, whichever is installed.
    pub(crate) async fn start() -> Result<Self, Failure> {
        for program in ["redis-server", "valkey-server"] {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let server = Command::new(program)
                .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
                .arg(port.to_string())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn();
            let Ok(mut server) = server else { continue };
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                if let Some(status) = server.try_wait()? {
                    return Err(format!("{program} ended before it listened: {status}").into());
                }
                sleep(Duration::from_millis(20)).await;
            }
            return Ok(Self::Redis {
                program,
                url: format!("redis://127.0.0.1:{port}"),
                _server: Box::new(server),
            });
        }
        Ok(Self::Memory)
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Redis { .. } => "redis",
            Self::Memory => "memory",
        }
    }

    pub(crate) fn says(&self) -> String {
        match self {
            Self::Redis { program, url, .. } => format!("50 processes meet in {program} at {url}"),
            Self::Memory => {
                "redis-server is not installed: 50 instances are tasks of this process, and meet in memory"
                    .to_owned()
            }
        }
    }
}
