//! The name that somebody may have meant.

use alloc::vec::Vec;

/// The name among `known` that is written most like `written`, if any is at all like it: at most a third
/// of its letters differ.
///
/// ```
/// use nanobreaker_settings::nearest;
///
/// assert_eq!(nearest("databse", ["search", "database"]), Some("database"));
/// assert_eq!(nearest("mail", ["search", "database"]), None);
/// ```
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (distance(written, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.chars().count().div_ceil(3))
        .map(|(_, name)| name)
}

/// How many letters have to be put in, left out, replaced or swapped with their neighbour: the distance
/// of Damerau and Levenshtein, in the form in which no piece is changed twice.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut rows: Vec<Vec<usize>> = alloc::vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = alloc::vec![i];
        for j in 1..=to.len() {
            let differs = usize::from(from[i - 1] != to[j - 1]);
            let replaced = rows[i - 1][j - 1] + differs;
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.pop().and_then(|row| row.last().copied()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_put_in_left_out_replaced_and_swapped_are_counted() {
        assert_eq!(distance("open_for", "open_for"), 0);
        assert_eq!(distance("open_fro", "open_for"), 1);
        assert_eq!(distance("opn_for", "open_for"), 1);
        assert_eq!(distance("", "ramp"), 4);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn what_is_like_nothing_has_no_nearest() {
        let known = ["open_for", "ramp", "latch"];
        assert_eq!(nearest("ramps", known), Some("ramp"));
        assert_eq!(nearest("colour", known), None);
    }
}
