//! An I²C bus at 100 kHz with an SHTC3 on it, emulated down to the checksum.

use embedded_hal::i2c::{self, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation};

use crate::{board, faults};

/// The sensor's address.
pub const ADDRESS: u8 = 0x70;

/// A byte with its acknowledge at 100 kHz.
const BYTE_US: u32 = 90;
/// What a low-power measurement takes: the data sheet's 0.8 ms at most.
const MEASURING_US: u32 = 700;
const MEASURE_LOW_POWER: [u8; 2] = [0x60, 0x9C];
/// 23.73 °C and 62.97 % of humidity: the data sheet's own example (SHTC3, section 5.11).
const READING: [[u8; 2]; 2] = [[0x64, 0x8B], [0xA1, 0x33]];

/// What can go wrong on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusError {
    /// Somebody held the data line down until the controller's timeout.
    Timeout,
    /// Nobody acknowledged.
    NoAcknowledge(NoAcknowledgeSource),
}

impl i2c::Error for BusError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout => ErrorKind::Other,
            Self::NoAcknowledge(source) => ErrorKind::NoAcknowledge(*source),
        }
    }
}

/// The bus, the controller and the sensor.
///
/// The controller bounds each transaction: no breaker can end a blocking call that hangs.
#[derive(Debug, Default)]
pub struct EmulatedBus {
    /// Microseconds for which the bus was driven: what the node pays in energy.
    pub busy_us: u32,
    stuck: bool,
    ready_at_us: Option<u32>,
}

impl EmulatedBus {
    /// Frees a device that holds the data line: nine clocks let it finish any byte, the stop
    /// condition ends the transfer (UM10204, section 3.1.16).
    pub fn nine_clocks_and_stop(&mut self) {
        self.drive_for(BYTE_US + 10);
        if !faults::SENSOR_STUCK_MS.contains(&faults::elapsed_ms()) {
            self.stuck = false;
        }
    }

    fn drive_for(&mut self, us: u32) {
        board::wait_us(us);
        self.busy_us += us;
    }

    fn address(&mut self, address: u8) -> Result<(), BusError> {
        self.stuck |= faults::SENSOR_STUCK_MS.contains(&faults::elapsed_ms());
        if self.stuck {
            self.drive_for(faults::TIMEOUT_US);
            return Err(BusError::Timeout);
        }
        self.drive_for(BYTE_US);
        let absent = faults::SENSOR_ABSENT_MS.contains(&faults::elapsed_ms());
        if absent || address != ADDRESS || self.is_measuring() {
            return Err(BusError::NoAcknowledge(NoAcknowledgeSource::Address));
        }
        Ok(())
    }

    fn is_measuring(&self) -> bool {
        self.ready_at_us.is_some_and(|at| at.wrapping_sub(board::uptime_us()) as i32 > 0)
    }

    fn command(&mut self, bytes: &[u8]) -> Result<(), BusError> {
        self.drive_for(BYTE_US * bytes.len() as u32);
        if bytes != MEASURE_LOW_POWER {
            return Err(BusError::NoAcknowledge(NoAcknowledgeSource::Data));
        }
        self.ready_at_us = Some(board::uptime_us().wrapping_add(MEASURING_US));
        Ok(())
    }

    fn answer(&mut self, bytes: &mut [u8]) {
        self.drive_for(BYTE_US * bytes.len() as u32);
        self.ready_at_us = None;
        for (word, chunk) in READING.iter().zip(bytes.chunks_mut(3)) {
            let [high, low] = *word;
            for (to, from) in chunk.iter_mut().zip([high, low, checksum(word)]) {
                *to = from;
            }
        }
    }
}

impl ErrorType for EmulatedBus {
    type Error = BusError;
}

impl I2c for EmulatedBus {
    fn transaction(&mut self, address: u8, operations: &mut [Operation<'_>]) -> Result<(), BusError> {
        for operation in operations {
            self.address(address)?;
            match operation {
                Operation::Write(bytes) => self.command(bytes)?,
                Operation::Read(bytes) => self.answer(bytes),
            }
        }
        Ok(())
    }
}

/// Sensirion's CRC-8: polynomial 0x31, starting at 0xFF (SHTC3 data sheet, section 5.10).
pub fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFF, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { crc << 1 ^ 0x31 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_data_sheets() {
        assert_eq!(checksum(&[0xBE, 0xEF]), 0x92);
    }
}
