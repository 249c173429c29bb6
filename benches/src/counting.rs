//! An allocator that counts while it is asked to, and otherwise costs one load.

use std::alloc::{GlobalAlloc, Layout, System};
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

use crate::subject::{Case, Op, Peer, Subject};

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, counted. A binary makes it its own with `#[global_allocator]`.
pub struct Counting;

// SAFETY: every call goes to `System` unchanged; the counters touch no memory that is handed out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promises about `pointer` and `layout` are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(1, new_size as i64 - layout.size() as i64);
        // SAFETY: the caller's promises about `pointer`, `layout` and `new_size` are passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[inline(always)]
fn note(allocations: u64, bytes: i64) {
    if COUNTING.load(Relaxed) {
        ALLOCATIONS.fetch_add(allocations, Relaxed);
        LIVE_BYTES.fetch_add(bytes, Relaxed);
    }
}

/// What some piece of work did to the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heap {
    /// How often it allocated (or reallocated).
    pub allocations: u64,
    /// How many bytes it kept.
    pub kept_bytes: i64,
}

/// Runs the work and counts. One such count at a time, in a binary whose allocator is [`Counting`].
pub fn heap_of<T>(work: impl FnOnce() -> T) -> (T, Heap) {
    let (allocations, bytes) = (ALLOCATIONS.load(Relaxed), LIVE_BYTES.load(Relaxed));
    COUNTING.store(true, Relaxed);
    let result = work();
    COUNTING.store(false, Relaxed);
    let heap = Heap {
        allocations: ALLOCATIONS.load(Relaxed) - allocations,
        kept_bytes: LIVE_BYTES.load(Relaxed) - bytes,
    };
    (result, heap)
}

/// What one case costs beside its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Allocations per call.
    pub allocations: f64,
    /// Bytes of one breaker with what it keeps on the heap.
    pub bytes: usize,
}

/// Builds a case and counts what it costs; None where the peer can't do the operation.
pub fn cost_of<P: Peer>(op: Op) -> Option<(Case<P>, Cost)> {
    const CALLS: u64 = 1_000;
    // What the crate keeps once for the whole process is not the breaker's: a first one sets it up.
    Case::<P>::new(op)?.run(CALLS);
    let (case, built) = heap_of(|| {
        let case = Case::<P>::new(op)?;
        // What a breaker sets aside only as it works belongs to it too.
        assert_eq!(case.run(CALLS), Some(op.expected()), "{} {}", P::WHO, op.name());
        Some(case)
    });
    let case = case?;
    let (_, ran) = heap_of(|| case.run(CALLS));
    // A caller may allocate once to set itself up; that is not per call.
    let (_, caller) = heap_of(|| case.run(0));
    let cost = Cost {
        allocations: (ran.allocations - caller.allocations) as f64 / CALLS as f64,
        bytes: size_of::<P>() + built.kept_bytes.max(0) as usize,
    };
    Some((case, cost))
}
