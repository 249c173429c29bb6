//! nanobreaker itself.

use crate::comparison::List;

/// Adds every row of ours.
pub fn add_to(_list: &mut List) {}
