//! Median and spread of a subject's slices.

/// What is reported of many slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The middle slice.
    pub median: f64,
    /// Half the distance between the quartiles, as a share of the median.
    pub spread: f64,
}

/// Summarises the slices; None of none.
pub fn summarise(slices: &[f64]) -> Option<Summary> {
    let mut sorted = slices.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = quantile(&sorted, 0.5)?;
    let spread = (quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?) / 2.0 / median;
    Some(Summary { median, spread })
}

/// The value below which the given share of the sorted values lies, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let weight = position - below as f64;
    Some(sorted[below] * (1.0 - weight) + sorted[above] * weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(summarise(&[]), None);
    }

    #[test]
    fn one_slice_is_its_own_median_without_spread() {
        assert_eq!(summarise(&[3.0]), Some(Summary { median: 3.0, spread: 0.0 }));
    }

    #[test]
    fn the_order_of_slices_does_not_matter() {
        assert_eq!(summarise(&[5.0, 1.0, 3.0, 2.0, 4.0]), summarise(&[1.0, 2.0, 3.0, 4.0, 5.0]));
    }

    #[test]
    fn an_even_number_of_slices_has_its_median_between_the_two_in_the_middle() {
        assert_eq!(summarise(&[1.0, 2.0, 4.0, 10.0]).unwrap().median, 3.0);
    }

    #[test]
    fn one_slice_that_was_preempted_moves_neither_median_nor_spread() {
        let quiet = summarise(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(quiet, Summary { median: 3.0, spread: 1.0 / 3.0 });
        assert_eq!(summarise(&[1.0, 2.0, 3.0, 4.0, 5000.0]).unwrap(), quiet);
    }
}
