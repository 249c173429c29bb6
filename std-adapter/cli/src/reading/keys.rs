//! The names of the breakers, each kept once.

use std::collections::HashMap;

/// Numbers for names.
#[derive(Debug)]
pub(crate) struct Keys {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    most: usize,
}

impl Keys {
    /// At most `most` names.
    pub(crate) fn new(most: usize) -> Self {
        Self { names: Vec::new(), numbers: HashMap::new(), most }
    }

    /// The number of this name; `None` where it is new and there are too many.
    pub(crate) fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        if self.names.len() >= self.most {
            return None;
        }
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        Some(number)
    }

    /// The name with this number; the single breaker of a log without keys has an empty one.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// Whether no call had a key.
    pub(crate) fn all_missing(&self) -> bool {
        self.names.iter().all(String::is_empty)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}
