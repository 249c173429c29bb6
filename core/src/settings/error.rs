//! A setting outside its limits, told at run time or by the compiler.

use core::fmt;

/// A setting outside its limits: says which, what it was, and what is allowed.
///
/// ```
/// use nanobreaker_core::window::Failures;
///
/// let error = Failures::<5>::within_ms(0).unwrap_err();
/// assert_eq!(error.to_string(), "within_ms is 0, but must be from 1 to 67108864");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ConfigError {
    field: &'static str,
    value: u64,
    minimum: u64,
    maximum: u64,
}

/// The value of a `Result`, or a return with its error: what `?` is outside of constants.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
pub(crate) use attempt;

/// `value` if it lies within its limits.
pub(crate) const fn within(
    field: &'static str,
    value: u64,
    minimum: u64,
    maximum: u64,
) -> Result<u32, ConfigError> {
    if value < minimum || value > maximum {
        Err(ConfigError::new(field, value, minimum, maximum))
    } else {
        Ok(value as u32)
    }
}

impl ConfigError {
    /// An error for a setting of an adapter's own.
    pub const fn new(field: &'static str, value: u64, minimum: u64, maximum: u64) -> Self {
        Self { field, value, minimum, maximum }
    }

    /// The setting's name.
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// The value that was asked for.
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// The smallest value that is allowed.
    pub const fn minimum(&self) -> u64 {
        self.minimum
    }

    /// The largest value that is allowed.
    pub const fn maximum(&self) -> u64 {
        self.maximum
    }

    /// Ends the compilation with this error's message; for [`checked!`](crate::checked).
    #[doc(hidden)]
    pub const fn fail_to_compile(&self) -> ! {
        let message = Message::new()
            .text(self.field)
            .text(" is ")
            .number(self.value)
            .text(", but must be from ")
            .number(self.minimum)
            .text(" to ")
            .number(self.maximum);
        match core::str::from_utf8(message.written()) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a setting is outside its limits"),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but must be from {} to {}", self.field, self.value, self.minimum, self.maximum)
    }
}

impl core::error::Error for ConfigError {}

/// Settings that were not put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AdjustError {
    /// A setting is outside its limits.
    Settings(ConfigError),
    /// Somebody else adjusts this breaker at this moment.
    Busy,
}

impl From<ConfigError> for AdjustError {
    fn from(error: ConfigError) -> Self {
        Self::Settings(error)
    }
}

impl fmt::Display for AdjustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Busy => f.write_str("another thread is adjusting this breaker; try again"),
        }
    }
}

impl core::error::Error for AdjustError {}

/// A message put together by the compiler, where `fmt` can't run.
struct Message {
    bytes: [u8; 128],
    length: usize,
}

impl Message {
    const fn new() -> Self {
        Self { bytes: [0; 128], length: 0 }
    }

    const fn byte(mut self, byte: u8) -> Self {
        if self.length < self.bytes.len() {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        self
    }

    const fn text(mut self, text: &str) -> Self {
        let mut i = 0;
        while i < text.len() {
            self = self.byte(text.as_bytes()[i]);
            i += 1;
        }
        self
    }

    const fn number(mut self, number: u64) -> Self {
        if number >= 10 {
            self = self.number(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8)
    }

    const fn written(&self) -> &[u8] {
        self.bytes.split_at(self.length).0
    }
}

/// Unwraps a checked setting while compiling, so that a bad value in a `static` does not compile.
///
/// The expression must be constant. There is no way to reach a panic at run time: the check is
/// evaluated by the compiler, always.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, checked, window::Failures};
///
/// static RADIO: Breaker<Failures<3>, ManualClock> = Breaker::new(
///     checked!(Failures::within_ms(10_000)),
///     checked!(Config::builder().open_for_ms(5_000).build()),
///     ManualClock::new(0),
/// );
/// # assert!(RADIO.allow().is_ok());
/// ```
///
/// ```compile_fail,E0080
/// use nanobreaker_core::{Config, checked};
///
/// // error[E0080]: evaluation panicked: max_probes is 0, but must be from 1 to 63
/// static CONFIG: Config = checked!(Config::builder().max_probes(0).build());
/// ```
#[macro_export]
macro_rules! checked {
    ($setting:expr) => {
        const {
            match $setting {
                Ok(value) => value,
                Err(error) => $crate::ConfigError::fail_to_compile(&error),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_message_reads_like_the_run_time_one() {
        let error = within("open_for_ms", u64::MAX, 1, 67_108_864).unwrap_err();
        let caught = std::panic::catch_unwind(|| error.fail_to_compile()).unwrap_err();
        let message = caught.downcast::<String>().map(|s| *s).unwrap();
        assert_eq!(message, error.to_string());
    }
}
