//! A healthy call of a shared breaker, without a fleet and with one: what a fleet must not change.

use std::future::pending;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use nanobreaker::fleet::message::{Group, Heard, Reply, Report};
use nanobreaker::fleet::{Exchange, ExchangeError, Fleet};
use nanobreaker::{Outcome, PinnedBreaker, Recorded, SharedBreaker, SharedBreakerBuilder};
use tokio::sync::mpsc;

/// A store that has nothing to say.
struct Silent;

impl Exchange for Silent {
    async fn ask(&self, _: &Arc<Group>, _: &[Report]) -> Result<Reply, ExchangeError> {
        Ok(Reply::default())
    }

    async fn hear(&self, _: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        let _ = ear.send(Heard::Linked).await;
        pending().await
    }
}

#[inline(always)]
fn healthy(breaker: &PinnedBreaker) -> bool {
    match breaker.allow() {
        Ok(permit) => permit.record(Outcome::Success) == Recorded::Counted,
        Err(_) => false,
    }
}

/// One healthy call of a breaker that is in no fleet.
#[inline(never)]
pub fn healthy_shared(breaker: &PinnedBreaker) -> bool {
    // Different constants, or the linker may make one function of both.
    black_box(1_u32);
    healthy(breaker)
}

/// One healthy call of a breaker that is in a fleet.
#[inline(never)]
pub fn healthy_in_fleet(breaker: &PinnedBreaker) -> bool {
    black_box(2_u32);
    healthy(breaker)
}

/// Two breakers that differ in nothing else: the second is in a fleet, whose task has begun.
pub fn pair() -> [PinnedBreaker; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime without threads");
    runtime.block_on(async {
        let fleet = Fleet::builder("machine code").exchange(Silent).start();
        let fleet = fleet.expect("a fleet's defaults are within their limits");
        let pair = [builder(), builder().fleet(&fleet)].map(|builder| {
            let breaker = builder.build().expect("a breaker's defaults are within their limits");
            breaker.pin()
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        pair
    })
}

fn builder() -> SharedBreakerBuilder {
    SharedBreaker::builder().name("payments")
}
