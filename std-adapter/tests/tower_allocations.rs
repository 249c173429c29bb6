//! The layer adds no allocation to a call of a healthy service.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll, Waker};

use http_body_util::Empty;
use nanobreaker::axum::guard;
use nanobreaker::tower::BreakerLayer;
use nanobreaker::{Breaker, CoarseClock, Config, SharedBreaker, checked, window::Failures};
use tower::{Layer, Service, service_fn};
use tower_http::classify::ServerErrorsAsFailures;

/// The system's allocator, with a count of each thread's own allocations.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all work is the system allocator's; the count is a thread-local without destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static STATIC: Breaker<Failures<5>, CoarseClock> =
    Breaker::new(checked!(Failures::within_ms(10_000)), Config::DEFAULT, CoarseClock);

type Request = http::Request<()>;
type Response = http::Response<Empty<&'static [u8]>>;

/// A good answer to gRPC, too.
fn healthy(_: Request) -> Ready<Result<Response, Infallible>> {
    let mut response = Response::default();
    let ok = http::HeaderValue::from_static("0");
    response.headers_mut().insert("grpc-status", ok);
    ready(Ok(response))
}

/// The allocations of 1,000 calls of a healthy service behind `layer`.
fn allocations<L, S>(layer: L) -> usize
where
    L: Layer<tower::util::ServiceFn<fn(Request) -> Ready<Result<Response, Infallible>>>, Service = S>,
    S: Service<Request>,
{
    let mut service = layer.layer(service_fn(healthy));
    let mut context = Context::from_waker(Waker::noop());
    let before = COUNT.get();
    for _ in 0..1_000 {
        assert!(service.poll_ready(&mut context).is_ready());
        let call = std::pin::pin!(service.call(Request::default()));
        assert!(matches!(call.poll(&mut context), Poll::Ready(Ok(_))));
    }
    COUNT.get() - before
}

#[test]
fn a_healthy_call_allocates_nothing_more_than_without_the_layer() {
    let shared = SharedBreaker::builder().build().unwrap();
    let http = ServerErrorsAsFailures::make_classifier;
    // The service itself: its header.
    let bare = allocations(());
    assert_eq!(allocations(BreakerLayer::new(&STATIC)), bare);
    assert_eq!(allocations(BreakerLayer::new(shared.clone())), bare);
    assert_eq!(allocations(BreakerLayer::http(shared.clone())), bare);
    assert_eq!(allocations(BreakerLayer::grpc(shared.clone())), bare);
    let by_http = BreakerLayer::new(shared.clone()).classify_http(http());
    assert_eq!(allocations(by_http.until_body_ends()), bare);
}

#[test]
fn axums_guard_allocates_nothing_for_a_body_that_is_axums_own() {
    let shared = SharedBreaker::builder().build().unwrap();
    let to_axum = tower::layer::layer_fn(|service| {
        tower::util::MapResponse::new(service, |_: Response| {
            axum::response::Response::new(axum::body::Body::empty())
        })
    });
    let without = allocations(to_axum);
    assert_eq!(allocations((guard(shared), to_axum)), without);
}

#[test]
fn the_count_sees_an_allocation() {
    let before = COUNT.get();
    drop(Box::new(1));
    assert_eq!(COUNT.get() - before, 1);
}
