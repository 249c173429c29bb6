//! The payment provider: a separate server in a separate process, which can be told to hang.
//!
//! It is this same program in another role. It writes its address to its standard output, then obeys the lines on
//! its standard input: `hang` makes it swallow every request from now on (accepted, read, never answered, not even
//! later), `answer` heals it for new requests. It ends when its standard input does, so it cannot outlive its parent.

use std::error::Error;
use std::future;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use axum::serve::ListenerExt;

/// The child's side.
pub(crate) fn serve(takes_ms: u64) -> Result<(), Box<dyn Error>> {
    let takes = Duration::from_millis(takes_ms);
    let hangs = Arc::new(AtomicBool::new(false));
    let charge = {
        let hangs = Arc::clone(&hangs);
        move || {
            let hangs = Arc::clone(&hangs);
            async move {
                // Relaxed: the flag guards nothing else, and the parent waits for the acknowledgement.
                if hangs.load(Ordering::Relaxed) {
                    future::pending::<()>().await;
                }
                tokio::time::sleep(takes).await;
                StatusCode::OK
            }
        }
    };

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    say(&listener.local_addr()?.to_string())?;
    let router = Router::new().route("/charge", post(charge));
    // Answers go out at once, not when the kernel sees fit.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    runtime.spawn(async move { axum::serve(listener, router).await });

    for line in io::stdin().lines() {
        hangs.store(line? == "hang", Ordering::Relaxed);
        say("done")?;
    }
    runtime.shutdown_background();
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}

/// The parent's side: the child process and how to talk to it.
pub(crate) struct Provider {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

impl Provider {
    pub(crate) fn start(takes: Duration) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["provider", "--takes-ms", &takes.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let commands = child.stdin.take().ok_or("the provider has no input")?;
        let answers = child.stdout.take().ok_or("the provider has no output")?;
        let mut answers = BufReader::new(answers);
        let mut address = String::new();
        answers.read_line(&mut address)?;
        let address = address.trim().parse()?;
        Ok(Provider { child, commands, answers, address })
    }

    /// From its return on, no request is answered.
    pub(crate) fn hang(&mut self) -> io::Result<()> {
        self.tell("hang")
    }

    /// From its return on, new requests are answered; those swallowed stay swallowed.
    pub(crate) fn answer(&mut self) -> io::Result<()> {
        self.tell("answer")
    }

    fn tell(&mut self, command: &str) -> io::Result<()> {
        writeln!(self.commands, "{command}")?;
        self.commands.flush()?;
        match self.answers.read_line(&mut String::new())? {
            0 => Err(io::Error::other("the provider process has gone")),
            _ => Ok(()),
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // A child that has already ended cannot be killed, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
