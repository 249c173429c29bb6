//! The program around the node: its statics, its interrupt and its entry.

/// A whole program for a clock: its type, an expression for it in a constant, and what the timer
/// interrupt does to keep it.
///
/// A macro because statics can't be generic, and firmware keeps its breakers in statics.
#[macro_export]
macro_rules! node_program {
    ($clock:ty, $now:expr, $keep_the_clock:path) => {
        use ::nanobreaker_core::{Breaker, Clock};
        use ::nanobreaker_embedded::Queue;
        use core::sync::atomic::{AtomicU32, Ordering};
        use $crate::node::{self, NodeBreaker, QUEUED_TRANSITIONS};
        use $crate::report::{Evidence, Journal};
        use $crate::{board, say};

        static SENSOR_TRANSITIONS: Queue<QUEUED_TRANSITIONS> = Queue::new();
        static RADIO_TRANSITIONS: Queue<QUEUED_TRANSITIONS> = Queue::new();

        static SENSOR: NodeBreaker<$clock> = Breaker::with_observer(
            ::nanobreaker_core::checked!(node::window()),
            ::nanobreaker_core::checked!(node::config()),
            $now,
            &SENSOR_TRANSITIONS,
        );
        static RADIO: NodeBreaker<$clock> = Breaker::with_observer(
            ::nanobreaker_core::checked!(node::window()),
            ::nanobreaker_core::checked!(node::config()),
            $now,
            &RADIO_TRANSITIONS,
        );

        /// Only the interrupt writes it.
        static MADE_IN_INTERRUPT: AtomicU32 = AtomicU32::new(0);

        fn on_tick() {
            $keep_the_clock();
            let made = u32::from(node::beacon(&RADIO));
            MADE_IN_INTERRUPT.store(MADE_IN_INTERRUPT.load(Ordering::Relaxed) + made, Ordering::Relaxed);
        }

        fn run() -> bool {
            say!("without breakers");
            board::start($keep_the_clock);
            let without = node::run_unguarded();

            say!("with breakers");
            let (mut sensor, mut radio) = (Journal::new("sensor"), Journal::new("radio"));
            board::start(on_tick);
            let (ticks, milliseconds) = (board::ticks(), $now.now_ms());
            let with = node::run_guarded(&SENSOR, &RADIO, || {
                while let Some(transition) = SENSOR_TRANSITIONS.take() {
                    sensor.enter(&transition);
                }
                while let Some(transition) = RADIO_TRANSITIONS.take() {
                    radio.enter(&transition);
                }
            });
            Evidence {
                without,
                with,
                sensor,
                radio,
                dropped: SENSOR_TRANSITIONS.take_dropped() + RADIO_TRANSITIONS.take_dropped(),
                made_in_interrupt: MADE_IN_INTERRUPT.load(Ordering::Relaxed),
                clock_ms: $now.now_ms().wrapping_sub(milliseconds),
                counter_wrapped: board::ticks() < ticks,
            }
            .print()
        }

        $crate::entry!(run);
    };
}

/// The program's entry: runs `$run` and ends with its verdict as the exit status.
#[macro_export]
macro_rules! entry {
    ($run:path) => {
        #[cfg(not(target_os = "none"))]
        fn main() {
            $crate::board::exit($run());
        }

        #[cfg(target_os = "none")]
        #[$crate::board::entry]
        fn main() -> ! {
            $crate::board::exit($run())
        }

        /// A panic is a failed run.
        #[cfg(target_os = "none")]
        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::say!("{info}");
            $crate::board::exit(false)
        }
    };
}
