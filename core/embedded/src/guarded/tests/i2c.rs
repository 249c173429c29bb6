use embedded_hal::i2c::{Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation};
use std::vec::Vec;

use super::{breaker, phase};
use crate::OneWordBreaker;
use crate::guarded::*;
use nanobreaker_core::{ManualClock, Phase};

const ABSENT: ErrorKind = ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address);

/// A bus with one answer; `recovered` counts the hook's runs.
pub(super) struct Bus {
    pub(super) answer: Result<(), ErrorKind>,
    pub(super) asked: Vec<u8>,
    pub(super) recovered: u32,
}

impl Bus {
    pub(super) fn that_answers(answer: Result<(), ErrorKind>) -> Self {
        Self { answer, asked: Vec::new(), recovered: 0 }
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
    assert_eq!(error.rejected().and_then(Rejected::retry_after_ms), Some(1_000));
    assert_eq!(error.failed(), None);
}

#[test]
fn an_error_of_the_bus_keeps_its_kind() {
    let breaker = breaker();
    let mut bus = Guarded::new(Bus::that_answers(Err(ABSENT)), &breaker);
    let error = bus.transaction(0x70, &mut [Operation::Write(&[])]).unwrap_err();
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
    assert!(matches!(bus.write(0x70, &[]), Err(GuardedError::Rejected(_))));
    assert!(matches!(bus.write(0x44, &[]), Err(GuardedError::Failed(_))));
}

#[test]
fn the_recovery_hook_runs_before_each_probe_and_at_no_other_time() {
    let breaker = breaker();
    let bus = Bus::that_answers(Err(ErrorKind::Bus));
    let mut bus = Guarded::new(bus, &breaker).recover_first(|bus: &mut Bus| {
        bus.recovered += 1;
        Ok(())
    });
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
fn a_recovery_that_fails_is_a_failed_probe_and_the_device_is_not_asked() {
    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    let bus = Bus::that_answers(Ok(()));
    let mut bus = Guarded::new(bus, &breaker).recover_first(|_: &mut Bus| Err(ErrorKind::Other));
    let answer = bus.write(0x70, &[]);
    assert_eq!(answer, Err(GuardedError::Failed(ErrorKind::Other)));
    assert_eq!((bus.inner().asked.len(), phase(&breaker)), (0, Phase::Open));
}

#[test]
fn a_recovery_that_fails_in_a_way_that_does_not_count_gives_the_place_back() {
    let breaker = breaker();
    breaker.trip();
    breaker.clock().advance(1_000);
    let bus = Bus::that_answers(Ok(()));
    let mut bus =
        Guarded::with_policy(bus, &breaker, AddressNackIsNormal).recover_first(|_: &mut Bus| Err(ABSENT));
    assert_eq!(bus.write(0x50, &[]), Err(GuardedError::Failed(ABSENT)));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.phase, snapshot.in_flight), (Phase::HalfOpen, 0));
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

#[test]
fn a_breaker_of_one_word_guards_as_well_and_its_probe_is_recovered_first() {
    let breaker: OneWordBreaker<2, 1_000, _> = OneWordBreaker::new(ManualClock::new(0));
    let mut bus =
        Guarded::new(Bus::that_answers(Err(ErrorKind::Bus)), &breaker).recover_first(|bus: &mut Bus| {
            bus.recovered += 1;
            Ok(())
        });
    for _ in 0..5 {
        assert!(bus.write(0x70, &[1]).is_err());
    }
    assert_eq!((bus.inner().asked.len(), bus.inner().recovered), (2, 0));
    breaker.clock().advance(1_063);
    bus.inner_mut().answer = Ok(());
    assert_eq!(bus.write(0x70, &[1]), Ok(()));
    assert_eq!((bus.inner().asked.len(), bus.inner().recovered), (3, 1));
    assert_eq!(breaker.phase(), Phase::Closed);
}
