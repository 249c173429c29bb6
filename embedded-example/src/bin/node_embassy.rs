//! The node as Embassy tasks: an async driver on a guarded async bus, Embassy's time as the clock.
//!
//! A bus that hangs here never answers. Two bounds show the difference that their place makes: the
//! one inside the guard turns the hang into an error, which the breaker counts; the one around the
//! guard drops the call, which the breaker does not count, but whose place it gets back.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    println!("firmware only: see boards.sh");
}

#[cfg(target_os = "none")]
mod firmware {
    use core::cell::RefCell;
    use core::future::pending;
    use core::panic::PanicInfo;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use core::task::Waker;

    use critical_section::Mutex;
    use embassy_executor::Spawner;
    use embassy_time::{Delay, Duration, Instant, Ticker, Timer, with_timeout};
    use embassy_time_queue_utils::Queue as WakeQueue;
    use embedded_example::report::Journal;
    use embedded_example::sensor::{BusError, checksum};
    use embedded_example::{board, faults, say};
    use embedded_hal_async::i2c::{ErrorType, I2c, NoAcknowledgeSource, Operation};
    use nanobreaker_core::window::Failures;
    use nanobreaker_core::{Breaker, Config, Phase, checked};
    use nanobreaker_embedded::Queue;
    use nanobreaker_embedded::clock::ClockFn;
    use nanobreaker_embedded::guarded::{Bounded, BoundedError, Guarded};
    use sht4x::{Precision, Sht4xAsync};

    static TRANSITIONS: Queue<16> = Queue::new();

    static SENSOR: Breaker<Failures<3>, ClockFn, &Queue<16>> = Breaker::with_observer(
        checked!(Failures::within_ms(10_000)),
        checked!(Config::builder().open_for_ms(1_000).max_open_ms(4_000).build()),
        ClockFn::new(|| Instant::now().as_millis()),
        &TRANSITIONS,
    );

    /// Embassy's time: the board's milliseconds, and wakers that its timer interrupt calls.
    struct BoardTime {
        wakes: Mutex<RefCell<WakeQueue>>,
    }

    embassy_time_driver::time_driver_impl!(static TIME: BoardTime = BoardTime {
        wakes: Mutex::new(RefCell::new(WakeQueue::new())),
    });

    impl embassy_time_driver::Driver for BoardTime {
        fn now(&self) -> u64 {
            u64::from(faults::elapsed_ms())
        }

        fn schedule_wake(&self, at: u64, waker: &Waker) {
            // The timer ticks each millisecond anyway: it will find whatever is due.
            critical_section::with(|cs| self.wakes.borrow_ref_mut(cs).schedule_wake(at, waker));
        }
    }

    fn on_tick() {
        critical_section::with(|cs| {
            let now = embassy_time_driver::Driver::now(&TIME);
            TIME.wakes.borrow_ref_mut(cs).next_expiration(now);
        });
    }

    /// An async bus with an SHT40 on it. When it is stuck it never answers.
    #[derive(Default)]
    struct EmulatedBus {
        stuck: bool,
    }

    impl EmulatedBus {
        const SENSOR: u8 = 0x44;

        /// Takes the sensor's supply away and gives it back: it lets go of the data line, unless
        /// the fault is still there.
        async fn power_cycle(&mut self) -> Result<(), BusError> {
            Timer::after_millis(20).await;
            self.stuck = faults::SENSOR_STUCK_MS.contains(&faults::elapsed_ms());
            Ok(())
        }
    }

    impl ErrorType for EmulatedBus {
        type Error = BusError;
    }

    impl I2c for EmulatedBus {
        async fn transaction(
            &mut self,
            address: u8,
            operations: &mut [Operation<'_>],
        ) -> Result<(), BusError> {
            self.stuck |= faults::SENSOR_STUCK_MS.contains(&faults::elapsed_ms());
            if self.stuck {
                pending::<()>().await;
            }
            Timer::after_millis(1).await;
            let absent = faults::SENSOR_ABSENT_MS.contains(&faults::elapsed_ms());
            if absent || address != Self::SENSOR {
                return Err(BusError::NoAcknowledge(NoAcknowledgeSource::Address));
            }
            for operation in operations {
                if let Operation::Read(bytes) = operation {
                    // The data sheet's formulas give 25 °C and 50 % for these.
                    for (chunk, word) in bytes.chunks_exact_mut(3).zip([[0x66, 0x66], [0x72, 0xB0]]) {
                        chunk[..2].copy_from_slice(&word);
                        chunk[2] = checksum(&word);
                    }
                }
            }
            Ok(())
        }
    }

    /// Turns of the other task, which a blocking driver would hold up.
    static HEARTBEATS: AtomicU32 = AtomicU32::new(0);

    #[embassy_executor::task]
    async fn heart() {
        let mut every = Ticker::every(Duration::from_millis(10));
        loop {
            every.next().await;
            HEARTBEATS.store(HEARTBEATS.load(Relaxed) + 1, Relaxed);
        }
    }

    #[derive(Default)]
    struct Counts {
        turns: u32,
        readings: u32,
        readings_at_the_end: u32,
        /// Turns in which the bus hung until its bound.
        hangs: u32,
        given_up: u32,
        places_lost: u32,
    }

    #[embassy_executor::main]
    async fn main(spawner: Spawner) {
        board::start(on_tick);
        match heart() {
            Ok(token) => spawner.spawn(token),
            Err(_) => board::exit(false),
        }
        let bus = Bounded::within_us(faults::TIMEOUT_US, EmulatedBus::default(), Delay);
        let guarded =
            Guarded::new(bus, &SENSOR).recover_first_async(async |bus: &mut Bounded<EmulatedBus, Delay>| {
                let repaired = bus.inner_mut().power_cycle().await;
                repaired.map_err(BoundedError::Failed)
            });
        let mut sensor = Sht4xAsync::new(guarded);
        let mut journal = Journal::new("sensor");
        let mut counts = Counts::default();
        let mut every = Ticker::every(Duration::from_millis(100));

        while faults::elapsed_ms() < faults::RUN_MS {
            let begun = Instant::now();
            // Around 30 s the caller is less patient than the bus: it drops its calls.
            let patience = match faults::elapsed_ms() {
                28_000..32_000 => Duration::from_millis(5),
                _ => Duration::from_millis(90),
            };
            let mut delay = Delay;
            let reading = with_timeout(patience, sensor.measure(Precision::Low, &mut delay)).await;
            counts.turns += 1;
            counts.hangs += u32::from(begun.elapsed().as_millis() >= 25);
            match reading {
                Ok(Ok(measured)) if measured.temperature_milli_celsius() / 100 == 249 => {
                    counts.readings += 1;
                    counts.readings_at_the_end += u32::from(faults::elapsed_ms() >= 52_000);
                }
                Ok(_) => {}
                Err(_given_up) => {
                    counts.given_up += 1;
                    counts.places_lost += u32::from(SENSOR.snapshot().in_flight);
                }
            }
            while let Some(transition) = TRANSITIONS.take() {
                journal.enter(&transition);
            }
            every.next().await;
        }
        board::exit(holds(&counts, &journal));
    }

    fn holds(counts: &Counts, journal: &Journal) -> bool {
        say!(
            "{} turns, {} readings, {} hangs, {} given up, {} heartbeats",
            counts.turns,
            counts.readings,
            counts.hangs,
            counts.given_up,
            HEARTBEATS.load(Relaxed),
        );
        [
            ("a hanging bus was waited for a few times, not 150", counts.hangs <= 12),
            ("given-up calls gave their place back", counts.given_up > 0 && counts.places_lost == 0),
            ("after the faults, every turn reads the sensor again", counts.readings_at_the_end >= 78),
            ("no other task was held up", HEARTBEATS.load(Relaxed) + 10 >= faults::RUN_MS / 10),
            (
                "no transition is missing, and the breaker is closed",
                journal.is_a_chain() && SENSOR.snapshot().phase == Phase::Closed,
            ),
        ]
        .iter()
        .fold(true, |all, (claim, holds)| {
            say!("{} {claim}", if *holds { "holds: " } else { "BROKEN:" });
            all && *holds
        })
    }

    #[panic_handler]
    fn panic(info: &PanicInfo<'_>) -> ! {
        say!("{info}");
        board::exit(false)
    }
}
