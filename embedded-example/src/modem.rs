//! A radio modem on a UART at 115,200 baud: it takes the bytes and then answers, or not.

use embedded_io::{ErrorKind, ErrorType, Write};

use crate::{board, faults};

const BYTE_US: u32 = 87;
const ANSWER_US: u32 = 1_000;

/// The modem.
#[derive(Debug, Default)]
pub struct EmulatedModem {
    /// Microseconds for which the line was in use: what the node pays in energy.
    pub busy_us: u32,
    /// Packets that the peer has acknowledged.
    pub delivered: u32,
}

impl EmulatedModem {
    fn use_line_for(&mut self, us: u32) {
        board::wait_us(us);
        self.busy_us += us;
    }
}

impl ErrorType for EmulatedModem {
    type Error = ErrorKind;
}

impl Write for EmulatedModem {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.use_line_for(BYTE_US * bytes.len() as u32);
        Ok(bytes.len())
    }

    /// Waits for the peer's answer: this is what fails when nobody is there.
    fn flush(&mut self) -> Result<(), ErrorKind> {
        if faults::radio_is_down() {
            self.use_line_for(faults::TIMEOUT_US);
            return Err(ErrorKind::TimedOut);
        }
        self.use_line_for(ANSWER_US);
        self.delivered += 1;
        Ok(())
    }
}
