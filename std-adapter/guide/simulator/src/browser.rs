//! What the page calls: text in, text out, through the module's memory. Built for WebAssembly only.
//!
//! The page makes one [`Booth`], writes an order into what [`simulator_room`] gives, calls [`simulator_ask`], and
//! reads as many bytes as that says from where [`simulator_answer`] points.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::panic::PanicInfo;

use crate::desk::Desk;

#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// The page sees an exception, and says so.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// A desk, with the texts on their way to it and from it.
pub struct Booth {
    desk: Desk,
    order: Vec<u8>,
    answer: String,
}

/// Makes a simulator, which lives as long as its page. Null where its breakers can't be made.
#[unsafe(no_mangle)]
pub extern "C" fn simulator_new() -> *mut Booth {
    match Desk::new() {
        Ok(desk) => Box::into_raw(Box::new(Booth { desk, order: Vec::new(), answer: String::new() })),
        Err(_) => core::ptr::null_mut(),
    }
}

/// Where an order of so many bytes is to be written.
///
/// # Safety
///
/// `booth` is from [`simulator_new`], and no other call with it is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simulator_room(booth: *mut Booth, length: usize) -> *mut u8 {
    // SAFETY: as the caller promises, it points to a booth that nobody else uses now.
    let booth = unsafe { &mut *booth };
    booth.order.clear();
    booth.order.resize(length, 0);
    booth.order.as_mut_ptr()
}

/// Follows the order; the answer's length in bytes.
///
/// # Safety
///
/// As [`simulator_room`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simulator_ask(booth: *mut Booth) -> usize {
    // SAFETY: as the caller promises, it points to a booth that nobody else uses now.
    let booth = unsafe { &mut *booth };
    let order = core::str::from_utf8(&booth.order).unwrap_or_default();
    booth.answer = booth.desk.ask(order);
    booth.answer.len()
}

/// Where the last answer lies, until the next order.
///
/// # Safety
///
/// As [`simulator_room`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simulator_answer(booth: *const Booth) -> *const u8 {
    // SAFETY: as the caller promises, it points to a booth that nobody else uses now.
    let booth = unsafe { &*booth };
    booth.answer.as_ptr()
}
