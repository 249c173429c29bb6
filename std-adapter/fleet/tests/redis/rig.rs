//! A server, and instances of a fleet on it.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nanobreaker_fleet::nanobreaker::fleet::Link;
use nanobreaker_fleet::nanobreaker::{Phase, SharedBreaker};
use nanobreaker_fleet::{Fleet, Redis};
use redis::{FromRedisValue, RedisResult, Value};
use tokio::time::sleep;

pub(crate) const OPEN_FOR: Duration = Duration::from_secs(2);
pub(crate) const PROBE: Duration = Duration::from_millis(200);

/// A redis-server of the test's own, which keeps nothing.
pub(crate) struct Server {
    pub(crate) port: u16,
    arguments: Vec<String>,
    child: Child,
    /// Where it works: a replica keeps there what it was sent.
    _folder: tempfile::TempDir,
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_str().unwrap();
        let mut arguments = vec!["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir];
        arguments.extend(more);
        let arguments: Vec<_> = arguments.into_iter().map(str::to_owned).collect();
        let port = free_port();
        let child = spawn(port, &arguments);
        let mut server = Self { port, arguments, child, _folder: folder };
        while !server.listens() {
            server.port = free_port();
            server.child = spawn(server.port, &server.arguments);
        }
        server
    }

    /// A server that was killed, again and empty.
    pub(crate) fn start_again(&mut self) {
        self.child = spawn(self.port, &self.arguments);
        assert!(self.listens(), "redis-server ended");
    }

    /// Waits until it does. It ends where somebody else has taken its port meanwhile.
    fn listens(&mut self) -> bool {
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if self.is_who_answers() {
                return true;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "redis-server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn is_who_answers(&self) -> bool {
        let about = self.try_to_ask(&["INFO", "server"]);
        about.is_ok_and(|about: String| about.contains(&format!("process_id:{}\r", self.child.id())))
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn ask(&self, command: &[&str]) -> Value {
        self.try_to_ask(command).unwrap()
    }

    fn try_to_ask<T: FromRedisValue>(&self, command: &[&str]) -> RedisResult<T> {
        let client = redis::Client::open(self.url())?;
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(5))?;
        let mut cmd = redis::cmd(command[0]);
        command[1..].iter().for_each(|argument| _ = cmd.arg(argument));
        cmd.query(&mut connection)
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    }
}

fn spawn(port: u16, arguments: &[String]) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string()]).args(arguments);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().expect("these tests need redis-server: apt-get install redis-server")
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One process's part.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) fleet: Fleet,
    pub(crate) breaker: SharedBreaker,
}

impl Instance {
    pub(crate) fn at(url: &str) -> Self {
        Self::on(Redis::connect(url).unwrap(), "test")
    }

    pub(crate) fn on(redis: Redis, group: &str) -> Self {
        let fleet = Fleet::builder(group).allow_orders().exchange(redis).start().unwrap();
        let breaker = SharedBreaker::builder()
            .name("payments")
            .consecutive(1)
            .open_for(OPEN_FOR)
            .probe_successes(1)
            .hung_after(PROBE)
            .fleet(&fleet)
            .build()
            .unwrap();
        Self { fleet, breaker }
    }

    pub(crate) fn is_together(&self) -> bool {
        self.fleet.status().link == Link::Together
    }

    /// One call, if it is admitted. Whatever the store does, nobody waits for it.
    pub(crate) fn call(&self, is_well: bool) -> bool {
        let began = Instant::now();
        let permit = self.breaker.allow();
        let is_admitted = permit.is_ok();
        if let Ok(permit) = permit {
            if is_well {
                permit.success()
            } else {
                permit.failure()
            };
        }
        let took = began.elapsed();
        assert!(took < Duration::from_millis(200), "a call waited for {took:?}");
        is_admitted
    }

    pub(crate) fn phase(&self) -> Phase {
        self.breaker.phase()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.phase() == Phase::Open
    }

    /// Whether the finding in force is its to probe.
    pub(crate) fn is_holder(&self) -> bool {
        let breakers = self.fleet.status().breakers;
        breakers.iter().any(|breaker| breaker.is_holder)
    }

    /// A call while the dependency is well, and whether it is closed then.
    pub(crate) fn closes(&self) -> bool {
        self.call(true);
        self.phase() == Phase::Closed
    }
}

/// So many instances, which hear each other.
pub(crate) async fn together(url: &str, number: usize) -> Vec<Instance> {
    let instances: Vec<_> = (0..number).map(|_| Instance::at(url)).collect();
    all(&instances, Instance::is_together).await;
    instances
}

/// Waits until it is so, at most 30 s.
pub(crate) async fn until(what: &str, is_so: impl FnMut() -> bool) -> Duration {
    wait(|| what.to_owned(), is_so).await
}

pub(crate) async fn all(instances: &[Instance], is_so: impl Fn(&Instance) -> bool) -> Duration {
    wait(|| format!("all of {instances:#?}"), || instances.iter().all(&is_so)).await
}

async fn wait(what: impl Fn() -> String, mut is_so: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "not within 30 s: {}", what());
        sleep(Duration::from_millis(5)).await;
    }
    began.elapsed()
}

/// The first two find out, and all hear of it. Returns how long that took.
pub(crate) async fn outage(instances: &[Instance]) -> Duration {
    assert!(instances[0].call(false) && instances[1].call(false));
    all(instances, Instance::is_open).await
}

/// The dependency is well, and everybody calls: all close by their own calls.
pub(crate) async fn recovery(instances: &[Instance]) -> Duration {
    let closed = |instance: &&Instance| instance.closes();
    until("all close", || instances.iter().filter(closed).count() == instances.len()).await
}

/// Writes to the test's output, whatever captures it.
pub(crate) fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}
