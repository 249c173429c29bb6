use core::future::{pending, ready};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use embedded_hal_async::{i2c, spi};

use super::{breaker, phase};
use crate::guarded::*;
use nanobreaker_core::{Outcome, Phase};

/// Fails, or never answers.
struct Device {
    hangs: bool,
}

impl Device {
    async fn answer<R, E>(&mut self, error: E) -> Result<R, E> {
        if self.hangs { pending().await } else { ready(Err(error)).await }
    }
}

impl i2c::ErrorType for Device {
    type Error = i2c::ErrorKind;
}

impl i2c::I2c for Device {
    async fn transaction(&mut self, _: u8, _: &mut [i2c::Operation<'_>]) -> Result<(), i2c::ErrorKind> {
        self.answer(i2c::ErrorKind::Bus).await
    }
}

struct SpiSide(Device);

impl spi::ErrorType for SpiSide {
    type Error = spi::ErrorKind;
}

impl spi::SpiDevice for SpiSide {
    async fn transaction(&mut self, _: &mut [spi::Operation<'_, u8>]) -> Result<(), spi::ErrorKind> {
        self.0.answer(spi::ErrorKind::Overrun).await
    }
}

struct Line(Device);

impl embedded_io_async::ErrorType for Line {
    type Error = embedded_io_async::ErrorKind;
}

impl embedded_io_async::Read for Line {
    async fn read(&mut self, _: &mut [u8]) -> Result<usize, Self::Error> {
        self.0.answer(embedded_io_async::ErrorKind::TimedOut).await
    }
}

impl embedded_io_async::Write for Line {
    async fn write(&mut self, _: &[u8]) -> Result<usize, Self::Error> {
        self.0.answer(embedded_io_async::ErrorKind::TimedOut).await
    }
    async fn flush(&mut self) -> Result<(), Self::Error> {
        self.0.answer(embedded_io_async::ErrorKind::TimedOut).await
    }
}

/// Whatever is waited for is over at once.
struct Elapsed;

impl embedded_hal_async::delay::DelayNs for Elapsed {
    async fn delay_ns(&mut self, _: u32) {}
}

/// One poll: what it gave, if anything; the future is dropped after it.
fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[test]
fn async_calls_are_guarded() {
    use embedded_hal_async::i2c::I2c;
    use embedded_hal_async::spi::SpiDevice;
    use embedded_io_async::{Read, Write};

    let broken = || Device { hangs: false };
    let breakers = [breaker(), breaker(), breaker()];
    let mut bus = Guarded::new(broken(), &breakers[0]);
    let mut device = Guarded::new(SpiSide(broken()), &breakers[1]);
    let mut line = Guarded::new(Line(broken()), &breakers[2]);
    for _ in 0..2 {
        assert!(matches!(poll_once(bus.read(0x70, &mut [0])), Some(Err(GuardedError::Failed(_)))));
        assert!(matches!(poll_once(device.write(&[0])), Some(Err(GuardedError::Failed(_)))));
        assert!(matches!(poll_once(line.read(&mut [0])), Some(Err(GuardedError::Failed(_)))));
    }
    assert!(matches!(poll_once(bus.write(0x70, &[])), Some(Err(GuardedError::Rejected(_)))));
    assert!(matches!(poll_once(device.read(&mut [0])), Some(Err(GuardedError::Rejected(_)))));
    assert!(matches!(poll_once(line.flush()), Some(Err(GuardedError::Rejected(_)))));
}

/// 50 calls that hang, each given up by its caller, as `with_timeout` around the guard does.
fn fifty_hangs_given_up<P, R>(bus: &mut Guarded<Device, &super::TestBreaker, P, R>)
where
    for<'a> Guarded<Device, &'a super::TestBreaker, P, R>: i2c::I2c,
{
    for _ in 0..50 {
        // Pending: it hangs and is dropped. Ready: it was rejected.
        let answer = poll_once(i2c::I2c::read(bus, 0x70, &mut [0]));
        assert!(answer.is_none_or(|answer| answer.is_err()));
    }
}

#[test]
fn a_dropped_call_is_no_failure() {
    let breaker = breaker();
    fifty_hangs_given_up(&mut Guarded::new(Device { hangs: true }, &breaker));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[test]
fn a_dropped_call_is_a_failure_where_asked_for() {
    let breaker = breaker();
    let policy = DropIsFailure(EveryError);
    fifty_hangs_given_up(&mut Guarded::with_policy(Device { hangs: true }, &breaker, policy));
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_call_that_answers_is_judged_by_its_answer_even_where_a_drop_is_a_failure() {
    use embedded_hal_async::i2c::I2c;

    let breaker = breaker();
    let ignored = |_: &i2c::ErrorKind| Outcome::Ignored;
    let policy = DropIsFailure(ignored);
    let mut bus = Guarded::with_policy(Device { hangs: false }, &breaker, policy);
    for _ in 0..5 {
        assert!(poll_once(bus.read(0x70, &mut [0])).is_some());
    }
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[test]
fn a_bound_inside_the_guard_makes_a_hang_a_failure() {
    use embedded_hal_async::i2c::{Error, I2c};
    use embedded_hal_async::spi::SpiDevice;
    use embedded_io_async::{Error as _, Read};

    let hanging = || Device { hangs: true };
    let breakers = [breaker(), breaker(), breaker()];
    let bounded = Bounded::within_ms(25, hanging(), Elapsed);
    let mut bus = Guarded::new(bounded, &breakers[0]);
    let bounded = Bounded::within_ms(25, SpiSide(hanging()), Elapsed);
    let mut device = Guarded::new(bounded, &breakers[1]);
    let bounded = Bounded::within_ms(25, Line(hanging()), Elapsed);
    let mut line = Guarded::new(bounded, &breakers[2]);
    for _ in 0..2 {
        let error = poll_once(bus.write(0x70, &[])).unwrap().unwrap_err();
        assert_eq!(error.kind(), i2c::ErrorKind::Other);
        assert_eq!(error.failed(), Some(BoundedError::TimedOut));
        let error = poll_once(device.write(&[0])).unwrap().unwrap_err();
        assert_eq!(error.failed(), Some(BoundedError::TimedOut));
        let error = poll_once(line.read(&mut [0])).unwrap().unwrap_err();
        assert_eq!(error.kind(), embedded_io_async::ErrorKind::TimedOut);
    }
    assert!(breakers.iter().all(|it| phase(it) == Phase::Open));
}

#[test]
fn a_bound_leaves_an_answer_in_time_as_it_is() {
    use embedded_hal_async::i2c::I2c;

    // The bound is over at once; an answer that is there already counts all the same.
    let mut bus = Bounded::within_us(0, Device { hangs: false }, Elapsed);
    let answer = poll_once(bus.read(0x70, &mut [0]));
    assert_eq!(answer, Some(Err(BoundedError::Failed(i2c::ErrorKind::Bus))));
}

#[test]
fn an_async_recovery_may_wait_and_use_the_device() {
    use embedded_hal_async::i2c::I2c;

    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    let mut supply_was_off = false;
    let mut bus =
        Guarded::new(Device { hangs: true }, &breaker).recover_first_async(async |device: &mut Device| {
            supply_was_off = true;
            embassy_futures::yield_now().await; // the supply settles
            device.hangs = false;
            Ok(())
        });
    let answer = embassy_futures::block_on(bus.read(0x70, &mut [0]));
    assert_eq!(answer, Err(GuardedError::Failed(i2c::ErrorKind::Bus)));
    assert!(supply_was_off);
}

#[test]
fn an_async_recovery_that_fails_is_a_failed_probe_and_the_device_is_not_asked() {
    use embedded_hal_async::i2c::I2c;

    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    // The device would hang if it were asked.
    let mut bus = Guarded::new(Device { hangs: true }, &breaker)
        .recover_first_async(async |_: &mut Device| Err(i2c::ErrorKind::Other));
    let answer = poll_once(bus.read(0x70, &mut [0]));
    assert_eq!(answer, Some(Err(GuardedError::Failed(i2c::ErrorKind::Other))));
    assert_eq!(phase(&breaker), Phase::Open);
}

#[test]
fn a_hook_that_does_not_wait_serves_async_calls_too() {
    use embedded_hal_async::i2c::I2c;

    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    let mut bus = Guarded::new(Device { hangs: true }, &breaker).recover_first(|device: &mut Device| {
        device.hangs = false;
        Ok(())
    });
    assert!(poll_once(bus.read(0x70, &mut [0])).is_some());
}

#[test]
fn a_probe_dropped_while_its_recovery_waits_gives_its_place_back() {
    use embedded_hal_async::i2c::I2c;

    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    let mut bus = Guarded::new(Device { hangs: false }, &breaker)
        .recover_first_async(async |_: &mut Device| pending().await);
    assert!(poll_once(bus.read(0x70, &mut [0])).is_none());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.phase, snapshot.in_flight), (Phase::HalfOpen, 0));
}

#[test]
fn a_dropped_probe_gives_its_place_back() {
    use embedded_hal_async::i2c::I2c;

    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    let mut bus = Guarded::new(Device { hangs: true }, &breaker);
    assert!(poll_once(bus.read(0x70, &mut [0])).is_none());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.phase, snapshot.in_flight), (Phase::HalfOpen, 0));
    assert!(breaker.allow().is_ok_and(|permit| permit.is_probe()));
}
