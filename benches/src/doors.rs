//! The doors that servers use, beside the core's ring and the peers' own doors.

use std::future::{Ready, ready};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Context;
use std::time::Duration;

use nanobreaker::observe::Monitor;
use nanobreaker::tower::BreakerLayer;
use nanobreaker::window::Failures;
use nanobreaker::{Breaker, CallExt, CoarseClock, Config, Rate, Registry, SharedBreaker, checked};
use tower::{Layer, Service, service_fn};

use crate::peers::failsafe::Failsafe;
use crate::peers::tower_resilience::TowerResilience;
use crate::poll;
use crate::subject::{Answer, Limits, Peer, Subject, Work};

type Ring = Breaker<Failures<5>, CoarseClock>;

const fn ring() -> Ring {
    Breaker::new(checked!(Failures::within_ms(10_000)), Config::DEFAULT, CoarseClock)
}

static RING: Ring = ring();

/// A thread's caller in lines of its own: a service writes to itself, and may lie beside another thread's.
#[repr(align(128))]
struct Apart<C>(C);

impl<C: FnMut()> Apart<C> {
    fn call(&mut self) {
        (self.0)();
    }
}

/// One door: what makes a thread's caller of it.
struct Door<M>(M);

impl<M, C> Subject for Door<M>
where
    M: Fn() -> C + Send + Sync,
    C: FnMut(),
{
    fn run(&self, calls: u64) -> Option<Answer> {
        let mut call = (self.0)();
        for _ in 0..calls {
            call();
        }
        None
    }
}

/// One door, and who has it.
pub struct Row {
    /// [`OURS`], [`YARDSTICK`] or the name of a peer.
    pub who: &'static str,
    /// The door's name.
    pub name: &'static str,
    /// Goes through it so many times.
    pub subject: Arc<dyn Subject>,
    /// Makes what goes through it once; none for peers.
    pub caller: Option<MakeCaller>,
}

/// Makes a thread's caller of a door.
pub type MakeCaller = Box<dyn Fn() -> Box<dyn FnMut()> + Send + Sync>;

/// Who has our doors.
pub const OURS: &str = "nanobreaker";
/// Who has what ours are held against.
pub const YARDSTICK: &str = "yardstick";

fn row<M, C>(who: &'static str, name: &'static str, door: M) -> Row
where
    M: Fn() -> C + Send + Sync + 'static,
    C: FnMut() + 'static,
{
    let subject = Arc::new(Door(door));
    let door = Arc::clone(&subject);
    let caller: MakeCaller = Box::new(move || {
        let mut own = Apart((door.0)());
        Box::new(move || own.call())
    });
    Row { who, name, subject, caller: Some(caller) }
}

/// The call itself. Its result is hidden from the compiler, its cost is not there.
#[inline(always)]
fn work() -> Result<u32, u32> {
    black_box(Ok(1))
}

fn shared() -> SharedBreaker {
    let ring = SharedBreaker::builder().failures(5, Duration::from_secs(10));
    ring.build().expect("within the limits")
}

fn answer(request: u32) -> Ready<Result<u32, u32>> {
    ready(black_box(Ok(request)))
}

/// Calls a service as its executor would, in place.
fn serve<S: Service<u32>>(service: &mut S) {
    let mut context = Context::from_waker(std::task::Waker::noop());
    let _ = black_box(service.poll_ready(&mut context).is_ready());
    let call = service.call(1);
    black_box(poll::ready(call).is_ok());
}

/// Ours, and the yardsticks.
pub fn ours() -> Vec<Row> {
    let mut rows = core_rows();
    rows.extend(shared_rows());
    rows.extend(tower_rows());
    rows.extend(registry_rows());
    rows
}

fn core_rows() -> Vec<Row> {
    static FIRST: AtomicU64 = AtomicU64::new(0);
    static SECOND: AtomicU64 = AtomicU64::new(0);
    vec![
        row(YARDSTICK, "two_loads", || {
            || {
                black_box(FIRST.load(Ordering::Relaxed));
                let _ = black_box(work());
                black_box(SECOND.load(Ordering::Relaxed));
            }
        }),
        row(OURS, "core_ring", || || ask(&RING)),
        row(OURS, "core_ring_private", || {
            let own = ring();
            move || ask(&own)
        }),
    ]
}

#[inline(always)]
fn ask(ring: &Ring) {
    if let Ok(permit) = ring.allow() {
        match work() {
            Ok(_) => permit.success(),
            Err(_) => permit.failure(),
        };
    }
}

fn shared_rows() -> Vec<Row> {
    let calls = |breaker: SharedBreaker| {
        move || {
            let breaker = breaker.clone();
            move || {
                black_box(breaker.call(work).is_ok());
            }
        }
    };
    let watched = Monitor::new().watch(shared());
    let rate = Rate::percent(50).min_calls(20);
    let by_time = SharedBreaker::builder().failure_rate_of_time(Duration::from_secs(10), 10, rate);
    let open = shared();
    open.isolate();
    let (owner, referred) = (shared(), shared());
    let counted = Arc::new(());
    let of_async = shared();
    vec![
        row(OURS, "shared_call", calls(shared())),
        row(OURS, "shared_call_watched", calls(watched)),
        row(OURS, "shared_call_time", calls(by_time.build().expect("within the limits"))),
        row(OURS, "reject_shared", calls(open)),
        row(OURS, "shared_call_async", move || {
            let breaker = of_async.clone();
            move || {
                black_box(poll::ready(breaker.call_async(answer(1))).is_ok());
            }
        }),
        row(OURS, "clone_drop_owner", move || {
            let owner = owner.clone();
            move || drop(black_box(owner.clone()))
        }),
        row(YARDSTICK, "clone_drop_arc", move || {
            let counted = Arc::clone(&counted);
            move || drop(black_box(Arc::clone(&counted)))
        }),
        row(OURS, "clone_drop_reference", move || {
            let reference = referred.reference();
            move || {
                black_box(black_box(reference).is_alive());
            }
        }),
    ]
}

fn tower_rows() -> Vec<Row> {
    let layer = BreakerLayer::new(shared());
    let cloned = BreakerLayer::new(shared().pin());
    vec![
        row(YARDSTICK, "tower_bare", || {
            let mut service = service_fn(answer);
            move || serve(&mut service)
        }),
        row(OURS, "tower_static", || {
            let mut service = BreakerLayer::new(&RING).layer(service_fn(answer));
            move || serve(&mut service)
        }),
        row(OURS, "tower_shared", move || {
            let mut service = layer.layer(service_fn(answer));
            move || serve(&mut service)
        }),
        row(OURS, "tower_cloned", move || {
            let service = cloned.layer(service_fn(answer));
            move || serve(&mut service.clone())
        }),
    ]
}

fn registry_rows() -> Vec<Row> {
    // Made once: a slice shall measure look-ups.
    let hosts =
        |many: usize| -> Arc<[String]> { (0..many).map(|host| format!("host-{host}.example.com")).collect() };
    let (few, many) = (hosts(16), hosts(1_000));
    let registry = || Registry::<String>::builder(|_| SharedBreaker::builder()).build();
    let (hot, random) = (registry(), registry());
    vec![
        row(OURS, "registry_hot", move || {
            let (registry, hosts) = (hot.clone(), Arc::clone(&few));
            let mut next = 0;
            move || {
                next = (next + 1) & 15;
                look_up(&registry, &hosts[next]);
            }
        }),
        row(OURS, "registry_random", move || {
            static SEED: AtomicUsize = AtomicUsize::new(1);
            let (registry, hosts) = (random.clone(), Arc::clone(&many));
            let mut state = SEED.fetch_add(1, Ordering::Relaxed) as u32 | 1;
            // A slice is shorter than a pass through all keys: without this it would measure how long memory takes
            // that other rows have put out of the caches. The pass is timed, too, which adds up to a fifth.
            hosts.iter().for_each(|host| look_up(&registry, host));
            move || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                look_up(&registry, &hosts[(state >> 8) as usize % 1_000]);
            }
        }),
    ]
}

#[inline(always)]
fn look_up(registry: &Registry<String>, host: &str) {
    if let Ok(breaker) = registry.get_or_create(host) {
        black_box(breaker.call(work).is_ok());
    }
}

/// What peers have in the place of our doors.
pub fn theirs() -> Vec<Row> {
    let recloser = Arc::new(recloser::AsyncRecloser::from(recloser::Recloser::default()));
    vec![
        of_peer::<Failsafe>("shared_call"),
        of_peer::<TowerResilience>("tower_shared"),
        row("recloser", "shared_call_async", move || {
            let recloser = Arc::clone(&recloser);
            move || {
                black_box(poll::ready(recloser.call(answer(1))).is_ok());
            }
        }),
    ]
}

fn of_peer<P: Peer>(name: &'static str) -> Row {
    struct Whole<P>(P);
    impl<P: Peer> Subject for Whole<P> {
        fn run(&self, calls: u64) -> Option<Answer> {
            let mut call = self.0.caller();
            (0..calls).map(|_| black_box(call(black_box(Work::Succeed)))).last()
        }
    }
    let subject = Arc::new(Whole(P::build(Limits::Ordinary)));
    Row { who: P::WHO, name, subject, caller: None }
}
