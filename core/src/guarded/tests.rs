//! One test double per trait: it answers from a script and counts how often it was asked.

extern crate std;

use crate::clock::ManualClock;
use crate::config::Config;
use crate::window::Failures;
use crate::{Breaker, Phase};

type TestBreaker = Breaker<Failures<2>, ManualClock>;

/// Two failures open it, for a second.
fn breaker() -> TestBreaker {
    Breaker::new(
        Failures::new(2, 10_000).unwrap(),
        Config::builder().open_for_ms(1_000).build().unwrap(),
        ManualClock::new(0),
    )
}

fn phase(breaker: &TestBreaker) -> Phase {
    breaker.snapshot().phase
}

#[cfg(feature = "embedded-hal")]
mod i2c {
    use embedded_hal::i2c::{Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation};
    use std::vec::Vec;

    use super::super::*;
    use super::{breaker, phase};
    use crate::Phase;

    const ABSENT: ErrorKind = ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address);

    /// A bus with one answer; `recovered` counts the hook's runs.
    pub(super) struct Bus {
        pub(super) answer: Result<(), ErrorKind>,
        pub(super) asked: Vec<u8>,
        pub(super) recovered: u32,
    }

    impl Bus {
        pub(super) fn that_answers(answer: Result<(), ErrorKind>) -> Self {
            Self {
                answer,
                asked: Vec::new(),
                recovered: 0,
            }
        }
    }

    impl ErrorType for Bus {
        type Error = ErrorKind;
    }

    impl I2c for Bus {
        fn transaction(&mut self, address: u8, _: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
            self.asked.push(address);
            self.answer
        }
    }

    #[test]
    fn while_open_the_bus_is_not_touched() {
        let breaker = breaker();
        let mut bus = Guarded::new(Bus::that_answers(Err(ErrorKind::Bus)), &breaker);
        for _ in 0..5 {
            assert!(bus.write_read(0x70, &[1], &mut [0]).is_err());
        }
        assert_eq!(bus.into_inner().asked.len(), 2);
    }

    #[test]
    fn a_rejection_is_of_the_kind_other_and_keeps_its_details() {
        let breaker = breaker();
        breaker.trip();
        let mut bus = Guarded::new(Bus::that_answers(Ok(())), &breaker);
        let error = bus.read(0x70, &mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Other);
        assert_eq!(
            error.rejected().and_then(Rejected::retry_after_ms),
            Some(1_000)
        );
        assert_eq!(error.failed(), None);
    }

    #[test]
    fn an_error_of_the_bus_keeps_its_kind() {
        let breaker = breaker();
        let mut bus = Guarded::new(Bus::that_answers(Err(ABSENT)), &breaker);
        let error = bus
            .transaction(0x70, &mut [Operation::Write(&[])])
            .unwrap_err();
        assert_eq!(error.kind(), ABSENT);
        assert!(error.rejected().is_none());
        assert_eq!(error.failed(), Some(ABSENT));
    }

    #[test]
    fn a_nack_while_polling_is_no_failure() {
        let breaker = breaker();
        let bus = Bus::that_answers(Err(ABSENT));
        let mut bus = Guarded::with_policy(bus, &breaker, AddressNackIsNormal);
        for _ in 0..10 {
            assert!(bus.write(0x50, &[0]).is_err());
        }
        assert_eq!(phase(&breaker), Phase::Closed);

        bus.inner_mut().answer = Err(ErrorKind::ArbitrationLoss);
        for _ in 0..2 {
            assert!(bus.write(0x50, &[0]).is_err());
        }
        assert_eq!(phase(&breaker), Phase::Open);
    }

    #[test]
    fn other_addresses_pass_unjudged() {
        let breaker = breaker();
        let policy = OnlyAddress::new(0x70, EveryError);
        let mut bus = Guarded::with_policy(Bus::that_answers(Err(ABSENT)), &breaker, policy);
        for _ in 0..5 {
            assert!(matches!(bus.write(0x44, &[]), Err(GuardedError::Failed(_))));
        }
        assert_eq!(phase(&breaker), Phase::Closed);

        for _ in 0..2 {
            assert!(bus.write(0x70, &[]).is_err());
        }
        assert!(matches!(
            bus.write(0x70, &[]),
            Err(GuardedError::Rejected(_))
        ));
        assert!(matches!(bus.write(0x44, &[]), Err(GuardedError::Failed(_))));
    }

    #[test]
    fn the_recovery_hook_runs_before_each_probe_and_at_no_other_time() {
        let breaker = breaker();
        let policy = RecoverFirst::new(|bus: &mut Bus| bus.recovered += 1, EveryError);
        let bus = Bus::that_answers(Err(ErrorKind::Bus));
        let mut bus = Guarded::with_policy(bus, &breaker, policy);
        for _ in 0..5 {
            assert!(bus.write(0x70, &[]).is_err());
        }
        assert_eq!(bus.inner().recovered, 0);

        breaker.clock().advance(1_000);
        assert!(matches!(bus.write(0x70, &[]), Err(GuardedError::Failed(_))));
        assert_eq!(bus.inner().recovered, 1);

        breaker.clock().advance(1_000);
        bus.inner_mut().answer = Ok(());
        assert_eq!(bus.write(0x70, &[]), Ok(()));
        assert_eq!(bus.write(0x70, &[]), Ok(()));
        assert_eq!((bus.inner().recovered, phase(&breaker)), (2, Phase::Closed));
    }

    #[test]
    fn the_bus_s_rejections_are_not_the_device_s_failures() {
        let (of_the_bus, of_the_device) = (breaker(), breaker());
        of_the_bus.trip();
        let bus = Guarded::new(Bus::that_answers(Ok(())), &of_the_bus);
        let policy = UnlessRejected(EveryError);
        let mut device = Guarded::with_policy(bus, &of_the_device, policy);
        for _ in 0..5 {
            assert!(device.write(0x70, &[]).is_err());
        }
        assert_eq!(phase(&of_the_device), Phase::Closed);
    }

    #[test]
    fn ten_bit_addresses_are_guarded_too() {
        struct Wide;
        impl ErrorType for Wide {
            type Error = ErrorKind;
        }
        impl I2c<u16> for Wide {
            fn transaction(&mut self, _: u16, _: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
                Err(ErrorKind::Bus)
            }
        }
        let breaker = breaker();
        let policy = OnlyAddress::new(0x3FF, EveryError);
        let mut bus = Guarded::with_policy(Wide, &breaker, policy);
        for _ in 0..2 {
            assert!(bus.write(0x3FF, &[]).is_err());
        }
        assert_eq!(phase(&breaker), Phase::Open);
    }
}

#[cfg(feature = "embedded-hal")]
mod spi_and_pins {
    use embedded_hal::digital::{self, InputPin, OutputPin, StatefulOutputPin};
    use embedded_hal::spi::{self, Operation, SpiDevice};

    use super::super::*;
    use super::breaker;

    /// Fails always, as a device and as a pin.
    struct Broken {
        asked: u32,
    }

    impl Broken {
        fn fail<E>(&mut self, error: E) -> Result<bool, E> {
            self.asked += 1;
            Err(error)
        }
    }

    impl spi::ErrorType for Broken {
        type Error = spi::ErrorKind;
    }

    impl SpiDevice for Broken {
        fn transaction(&mut self, _: &mut [Operation<'_, u8>]) -> Result<(), spi::ErrorKind> {
            self.fail(spi::ErrorKind::Overrun).map(drop)
        }
    }

    #[derive(Debug)]
    struct Expander(#[expect(dead_code, reason = "shown by Debug")] u8);

    impl digital::Error for Expander {
        fn kind(&self) -> digital::ErrorKind {
            digital::ErrorKind::Other
        }
    }

    struct Pin(Broken);

    impl digital::ErrorType for Pin {
        type Error = Expander;
    }

    impl OutputPin for Pin {
        fn set_low(&mut self) -> Result<(), Expander> {
            self.0.fail(Expander(1)).map(drop)
        }
        fn set_high(&mut self) -> Result<(), Expander> {
            self.0.fail(Expander(2)).map(drop)
        }
    }

    impl StatefulOutputPin for Pin {
        fn is_set_high(&mut self) -> Result<bool, Expander> {
            self.0.fail(Expander(3))
        }
        fn is_set_low(&mut self) -> Result<bool, Expander> {
            self.0.fail(Expander(4))
        }
    }

    impl InputPin for Pin {
        fn is_high(&mut self) -> Result<bool, Expander> {
            self.0.fail(Expander(5))
        }
        fn is_low(&mut self) -> Result<bool, Expander> {
            self.0.fail(Expander(6))
        }
    }

    #[test]
    fn each_call_to_an_spi_device_is_guarded() {
        type Call = fn(&mut Guarded<Broken, &super::TestBreaker>) -> bool;
        let calls: [Call; 5] = [
            |device| device.read(&mut [0]).is_err(),
            |device| device.write(&[0]).is_err(),
            |device| device.transfer(&mut [0], &[0]).is_err(),
            |device| device.transfer_in_place(&mut [0]).is_err(),
            |device| device.transaction(&mut []).is_err(),
        ];
        for call in calls {
            let breaker = breaker();
            let mut device = Guarded::new(Broken { asked: 0 }, &breaker);
            assert!((0..5).all(|_| call(&mut device)));
            assert_eq!(device.inner().asked, 2);
        }
    }

    #[test]
    fn each_call_to_a_pin_is_guarded() {
        type Call = fn(&mut Guarded<Pin, &super::TestBreaker>) -> bool;
        let calls: [Call; 7] = [
            |pin| pin.set_low().is_err(),
            |pin| pin.set_high().is_err(),
            |pin| pin.is_set_high().is_err(),
            |pin| pin.is_set_low().is_err(),
            |pin| pin.toggle().is_err(),
            |pin| pin.is_high().is_err(),
            |pin| pin.is_low().is_err(),
        ];
        for call in calls {
            let breaker = breaker();
            let mut pin = Guarded::new(Pin(Broken { asked: 0 }), &breaker);
            assert!((0..5).all(|_| call(&mut pin)));
            assert_eq!(pin.inner().0.asked, 2);
        }
    }

    #[test]
    fn rejections_of_devices_and_pins_are_of_the_kind_other() {
        let breaker = breaker();
        breaker.trip();
        let mut device = Guarded::new(Broken { asked: 0 }, &breaker);
        let error = device.read(&mut [0]).unwrap_err();
        assert_eq!(spi::Error::kind(&error), spi::ErrorKind::Other);
        let mut pin = Guarded::new(Pin(Broken { asked: 0 }), &breaker);
        let error = pin.set_high().unwrap_err();
        assert_eq!(digital::Error::kind(&error), digital::ErrorKind::Other);
    }
}

#[cfg(feature = "embedded-io")]
mod io {
    use embedded_io::{BufRead, Error, ErrorKind, ErrorType, Read, Write};
    use std::string::ToString;

    use super::super::*;
    use super::{breaker, phase};
    use crate::{Outcome, Phase};

    /// Takes bytes, but nobody answers.
    struct Line {
        asked: u32,
    }

    impl Line {
        fn fail<R>(&mut self) -> Result<R, ErrorKind> {
            self.asked += 1;
            Err(ErrorKind::TimedOut)
        }
    }

    impl ErrorType for Line {
        type Error = ErrorKind;
    }

    impl Read for Line {
        fn read(&mut self, _: &mut [u8]) -> Result<usize, ErrorKind> {
            self.fail()
        }
    }

    impl BufRead for Line {
        fn fill_buf(&mut self) -> Result<&[u8], ErrorKind> {
            self.fail()
        }
        fn consume(&mut self, _: usize) {}
    }

    impl Write for Line {
        fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> Result<(), ErrorKind> {
            self.fail()
        }
    }

    #[test]
    fn writes_that_only_fill_a_buffer_do_not_hide_failing_flushes() {
        let breaker = breaker();
        let mut line = Guarded::new(Line { asked: 0 }, &breaker);
        for _ in 0..5 {
            let _ = line.write_all(b"ping").and_then(|()| line.flush());
        }
        assert_eq!((line.inner().asked, phase(&breaker)), (2, Phase::Open));
    }

    #[test]
    fn reads_are_guarded_with_and_without_a_buffer() {
        for buffered in [false, true] {
            let breaker = breaker();
            let mut line = Guarded::new(Line { asked: 0 }, &breaker);
            for _ in 0..5 {
                let refused = if buffered {
                    line.fill_buf().is_err()
                } else {
                    line.read(&mut [0]).is_err()
                };
                assert!(refused);
            }
            assert_eq!(line.inner().asked, 2);
        }
    }

    #[test]
    fn a_rejection_is_of_the_kind_other_and_says_when_to_ask_again() {
        let breaker = breaker();
        breaker.trip();
        let mut line = Guarded::new(Line { asked: 0 }, &breaker);
        let error = line.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Other);
        assert!(error.to_string().contains("1000 ms"), "{error}");
    }

    #[test]
    fn a_closure_judges_errors() {
        let breaker = breaker();
        let silence_is_normal = |error: &ErrorKind| match error {
            ErrorKind::TimedOut => Outcome::Ignored,
            _ => Outcome::Failure,
        };
        let mut line = Guarded::with_policy(Line { asked: 0 }, &breaker, silence_is_normal);
        for _ in 0..5 {
            assert!(line.read(&mut [0]).is_err());
        }
        assert_eq!((line.inner().asked, phase(&breaker)), (5, Phase::Closed));
    }
}

#[cfg(all(feature = "embedded-hal-async", feature = "embedded-io-async"))]
mod asynchronous {
    use core::future::{pending, ready};
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    use embedded_hal_async::{i2c, spi};

    use super::super::*;
    use super::{breaker, phase};
    use crate::Phase;

    /// Fails, or never answers.
    struct Device {
        hangs: bool,
    }

    impl Device {
        async fn answer<R, E>(&mut self, error: E) -> Result<R, E> {
            if self.hangs {
                pending().await
            } else {
                ready(Err(error)).await
            }
        }
    }

    impl i2c::ErrorType for Device {
        type Error = i2c::ErrorKind;
    }

    impl i2c::I2c for Device {
        async fn transaction(
            &mut self,
            _: u8,
            _: &mut [i2c::Operation<'_>],
        ) -> Result<(), i2c::ErrorKind> {
            self.answer(i2c::ErrorKind::Bus).await
        }
    }

    struct SpiSide(Device);

    impl spi::ErrorType for SpiSide {
        type Error = spi::ErrorKind;
    }

    impl spi::SpiDevice for SpiSide {
        async fn transaction(
            &mut self,
            _: &mut [spi::Operation<'_, u8>],
        ) -> Result<(), spi::ErrorKind> {
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
            assert!(matches!(
                poll_once(bus.read(0x70, &mut [0])),
                Some(Err(GuardedError::Failed(_)))
            ));
            assert!(matches!(
                poll_once(device.write(&[0])),
                Some(Err(GuardedError::Failed(_)))
            ));
            assert!(matches!(
                poll_once(line.read(&mut [0])),
                Some(Err(GuardedError::Failed(_)))
            ));
        }
        assert!(matches!(
            poll_once(bus.write(0x70, &[])),
            Some(Err(GuardedError::Rejected(_)))
        ));
        assert!(matches!(
            poll_once(device.read(&mut [0])),
            Some(Err(GuardedError::Rejected(_)))
        ));
        assert!(matches!(
            poll_once(line.flush()),
            Some(Err(GuardedError::Rejected(_)))
        ));
    }

    #[test]
    fn a_dropped_call_is_no_failure() {
        use embedded_hal_async::i2c::I2c;

        let breaker = breaker();
        let mut bus = Guarded::new(Device { hangs: true }, &breaker);
        for _ in 0..5 {
            assert!(poll_once(bus.read(0x70, &mut [0])).is_none());
        }
        assert_eq!(phase(&breaker), Phase::Closed);
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
}
