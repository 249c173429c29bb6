//! Measures one peer on request: the same subject, slices and allocator as the comparison, line by line.
//!
//! | request | answer |
//! | --- | --- |
//! | `who` | the crate's name |
//! | `new OP` | allocations per call and bytes, or `none` where the peer can't do that |
//! | `slice OP THREADS CALLS` | nanoseconds per call, as each thread saw it |

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

#[path = "../../src/counting.rs"]
#[allow(
    dead_code,
    reason = "shared with the comparison, which uses more of it"
)]
mod counting;
mod ninelives;
#[path = "../../src/poll.rs"]
mod poll;
#[path = "../../src/slices.rs"]
#[allow(
    dead_code,
    reason = "shared with the comparison, which uses more of it"
)]
mod slices;
#[path = "../../src/subject.rs"]
#[allow(
    dead_code,
    reason = "shared with the comparison, which uses more of it"
)]
mod subject;

use counting::{Counting, cost_of};
use slices::Crew;
use subject::{Op, Peer, Subject};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most threads that can be asked for.
const THREADS: usize = 8;

fn main() -> io::Result<()> {
    let crew = Crew::new(THREADS);
    let mut subjects: HashMap<String, Arc<dyn Subject>> = HashMap::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["who"] => ninelives::Ninelives::WHO.to_owned(),
            ["new", name] => {
                let op = Op::ALL.into_iter().find(|op| op.name() == name);
                match op.and_then(cost_of::<ninelives::Ninelives>) {
                    Some((case, cost)) => {
                        subjects.insert(name.to_owned(), Arc::new(case));
                        format!("{} {}", cost.allocations, cost.bytes)
                    }
                    None => "none".to_owned(),
                }
            }
            ["slice", name, threads, calls] => {
                let asked = threads.parse().ok().zip(calls.parse().ok());
                let slice = subjects
                    .get(name)
                    .zip(asked)
                    .map(|(subject, (threads, calls))| {
                        crew.slice(subject, threads, calls).to_string()
                    });
                slice.unwrap_or_else(|| "none".to_owned())
            }
            _ => "none".to_owned(),
        };
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}
