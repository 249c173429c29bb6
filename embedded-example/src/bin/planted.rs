//! Firmware that fails on purpose: the scripts must notice.
//!
//! The environment's `PLANTED` says at build time how: with a bad exit status, by hanging, or with
//! a panic, which must not link.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    println!("firmware only: see boards.sh and size.sh");
}

#[cfg(all(target_os = "none", not(planted = "panic")))]
mod firmware {
    use embedded_example::say;

    fn run() -> bool {
        say!("planted to fail");
        if cfg!(planted = "hang") {
            loop {
                core::hint::black_box(());
            }
        }
        false
    }

    embedded_example::entry!(run);
}

#[cfg(all(target_os = "none", planted = "panic"))]
mod firmware {
    use core::hint::black_box;
    use core::panic::PanicInfo;

    use embedded_example::board::entry;

    #[entry]
    fn main() -> ! {
        let words = black_box([0; 4]);
        loop {
            black_box(words[black_box(5)]);
        }
    }

    unsafe extern "C" {
        /// Defined nowhere.
        safe fn this_firmware_can_panic() -> !;
    }

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        this_firmware_can_panic()
    }
}
