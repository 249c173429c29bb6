//! One run: fifty instances, and a dependency that fails for a while.

use std::process::Stdio;
use std::time::Duration;

use nanobreaker_fleet::InMemory;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::Failure;
use crate::dependency::{Arrival, Dependency};
use crate::instance::{Part, Record, live};
use crate::scenario::{ALL, Scenario, now_ms};
use crate::store::{Fault, Store};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Plan {
    EachForItself,
    Fleet,
    /// The first instance is poisoned, and the dependency is well.
    Poisoned {
        quorum: u32,
    },
    /// Something happens to the store for half of the outage's time: in the middle of it, or while all is well.
    Faulty {
        fault: Fault,
        is_down: bool,
    },
}

/// What came of a run.
pub(crate) struct Course {
    pub(crate) began_ms: u64,
    pub(crate) down_ms: std::ops::Range<u64>,
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) records: Vec<Record>,
}

pub(crate) async fn play(scenario: &Scenario, plan: Plan, store: &Store) -> Result<Course, Failure> {
    let dependency = Dependency::start().await?;
    let parts: Vec<_> = (0..ALL).map(|number| part(scenario, plan, store, &dependency, number)).collect();
    let instances = match (store, plan) {
        (Store::Memory, _) => Instances::tasks(parts, plan),
        (Store::Redis(_), _) => Instances::processes(&parts).await?,
    };
    let instances = instances.begin().await?;
    let began_ms = now_ms();
    let down_ms = match plan {
        Plan::Poisoned { .. } => {
            sleep(scenario.poisoned()).await;
            began_ms..began_ms
        }
        Plan::Faulty { fault, is_down: false } => {
            sleep(scenario.before()).await;
            suffer(scenario, store, fault).await?;
            sleep(scenario.before()).await;
            began_ms..began_ms
        }
        _ => {
            sleep(scenario.before()).await;
            let from_ms = now_ms();
            dependency.fail(true);
            if let Plan::Faulty { fault, .. } = plan {
                sleep(scenario.outage() / 6).await;
                suffer(scenario, store, fault).await?;
                sleep(scenario.outage() / 3).await;
            } else {
                sleep(scenario.outage()).await;
            }
            dependency.fail(false);
            let to_ms = now_ms();
            let is_faulty = matches!(plan, Plan::Faulty { .. });
            sleep(if is_faulty { scenario.advised_at_most() } else { scenario.after() }).await;
            from_ms..to_ms
        }
    };
    let records = instances.end().await?;
    Ok(Course { began_ms, down_ms, arrivals: dependency.arrivals(), records })
}

async fn suffer(scenario: &Scenario, store: &Store, fault: Fault) -> Result<(), Failure> {
    let server = store.server()?;
    server.suffer(fault).await?;
    sleep(scenario.outage() / 2).await;
    server.recover(fault).await
}

fn part(scenario: &Scenario, plan: Plan, store: &Store, dependency: &Dependency, number: usize) -> Part {
    let shared = store.url();
    let (store, quorum, is_poisoned) = match plan {
        Plan::EachForItself => (None, 2, false),
        Plan::Fleet | Plan::Faulty { .. } => (shared, 2, false),
        Plan::Poisoned { quorum } => (shared, quorum, number == 0),
    };
    Part {
        dependency: dependency.address,
        store,
        group: format!("example {plan:?}").replace(['{', '}'], ""),
        quorum,
        every: scenario.every(number),
        open_for: scenario.open_for(),
        max_open: scenario.max_open(),
        patience: scenario.patience(),
        is_poisoned,
    }
}

type Output = Lines<BufReader<ChildStdout>>;

enum Instances {
    Processes(Vec<(Child, ChildStdin, Output)>),
    Tasks { set: JoinSet<Result<Record, String>>, go: watch::Sender<u8> },
}

impl Instances {
    async fn processes(parts: &[Part]) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let mut children = Vec::new();
        for part in parts {
            let mut child = Command::new(&program)
                .arg("--part")
                .arg(serde_json::to_string(part)?)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            let (input, output) = (child.stdin.take(), child.stdout.take());
            let (Some(input), Some(output)) = (input, output) else {
                return Err("a process without pipes".into());
            };
            children.push((child, input, BufReader::new(output).lines()));
        }
        Ok(Self::Processes(children))
    }

    fn tasks(parts: Vec<Part>, plan: Plan) -> Self {
        let (go, _) = watch::channel(0);
        let (memory, mut set) = (InMemory::new(), JoinSet::new());
        for part in parts {
            let (memory, mut told) = (memory.clone(), go.subscribe());
            set.spawn(async move {
                let fleet = match plan {
                    Plan::EachForItself => None,
                    _ => Some(part.fleet().exchange(memory).start()),
                };
                let fleet = fleet.transpose().map_err(|error| error.to_string())?;
                let mut end = told.clone();
                let _ = told.wait_for(|stage| *stage >= 1).await;
                let end = async move { drop(end.wait_for(|stage| *stage >= 2).await) };
                live(part, fleet, end).await.map_err(|error| error.to_string())
            });
        }
        Self::Tasks { set, go }
    }

    async fn begin(mut self) -> Result<Self, Failure> {
        match &mut self {
            Self::Processes(children) => {
                for (_, _, output) in children.iter_mut() {
                    output.next_line().await?.ok_or("an instance ended before it was ready")?;
                }
                for (_, input, _) in children {
                    input.write_all(b"go\n").await?;
                }
            }
            Self::Tasks { go, .. } => {
                sleep(Duration::from_millis(100)).await;
                go.send_replace(1);
            }
        }
        Ok(self)
    }

    async fn end(self) -> Result<Vec<Record>, Failure> {
        let mut records = Vec::new();
        match self {
            Self::Processes(mut children) => {
                for (_, input, _) in &mut children {
                    input.write_all(b"end\n").await?;
                }
                for (mut child, _, mut output) in children {
                    let line = output.next_line().await?.ok_or("an instance ended without its record")?;
                    records.push(serde_json::from_str(&line)?);
                    child.wait().await?;
                }
            }
            Self::Tasks { mut set, go } => {
                go.send_replace(2);
                while let Some(record) = set.join_next().await {
                    records.push(record??);
                }
            }
        }
        Ok(records)
    }
}

impl Course {
    pub(crate) fn reached(&self) -> usize {
        self.arrivals.iter().filter(|arrival| arrival.was_down).count()
    }

    pub(crate) fn probes(&self) -> usize {
        self.arrivals.iter().filter(|arrival| arrival.was_down && arrival.is_probe).count()
    }

    /// Calls that were rejected while the dependency was well.
    pub(crate) fn lost(&self) -> usize {
        let rejected = self.records.iter().flat_map(|record| &record.rejected_ms);
        rejected.filter(|at_ms| !self.down_ms.contains(at_ms)).count()
    }

    /// Milliseconds from the quorum, which is the second one's finding, to each one's advice, in order.
    pub(crate) fn advised_ms(&self) -> Vec<u64> {
        let first = |cause: &'static str| {
            let transitions = self.records.iter().filter_map(move |record| {
                record.transitions.iter().find(|(_, to, why)| to == "open" && why == cause)
            });
            let mut times: Vec<_> = transitions.map(|(at_ms, ..)| *at_ms).collect();
            times.sort_unstable();
            times
        };
        let Some(quorum_ms) = first("threshold_reached").get(1).copied() else {
            return Vec::new();
        };
        first("advised").into_iter().map(|at_ms| at_ms.saturating_sub(quorum_ms)).collect()
    }

    /// For each instance whose calls were rejected after the outage: why its breaker was open then, and for how
    /// long after the outage that was so, in milliseconds.
    pub(crate) fn waits(&self) -> Vec<(&str, u64)> {
        let waits = self.records.iter().filter_map(|record| {
            let last_ms =
                record.rejected_ms.iter().copied().filter(|at_ms| *at_ms >= self.down_ms.end).max()?;
            let opened = record.transitions.iter().filter(|(at_ms, to, _)| to == "open" && *at_ms <= last_ms);
            let (.., why) = opened.max_by_key(|(at_ms, ..)| at_ms)?;
            Some((why.as_str(), last_ms - self.down_ms.end))
        });
        waits.collect()
    }

    /// Instances that ever opened.
    pub(crate) fn opened(&self) -> usize {
        self.records.iter().filter(|record| !record.transitions.is_empty()).count()
    }

    /// How long asking the breaker took, in nanoseconds: 99.9 % took no longer.
    pub(crate) fn asked_p999_ns(&self) -> u64 {
        let mut all: Vec<_> = self.records.iter().flat_map(|record| &record.asked_ns).copied().collect();
        all.sort_unstable();
        all.get(all.len() * 999 / 1_000).copied().unwrap_or_default()
    }

    /// Instances that opened on what others said.
    pub(crate) fn opened_others(&self) -> usize {
        let is_advised = |record: &&Record| record.transitions.iter().any(|(_, _, why)| why == "advised");
        self.records.iter().filter(is_advised).count()
    }
}
