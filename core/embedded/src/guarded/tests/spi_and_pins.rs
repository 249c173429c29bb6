use embedded_hal::digital::{self, InputPin, OutputPin, StatefulOutputPin};
use embedded_hal::spi::{self, Operation, SpiDevice};

use super::breaker;
use crate::guarded::*;

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
