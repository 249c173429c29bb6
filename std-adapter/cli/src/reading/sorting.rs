//! Sorts by time what spans little of it.

/// Sorts by a time in microseconds; what has the same one stays in its order. Calls that come one after the
/// other span little time, so two rounds of counting do (a radix sort), where a comparing sort takes a dozen.
pub(crate) fn sort_by_time<T: Copy>(items: &mut [T], time_us: impl Fn(&T) -> i64) {
    let times = items.iter().map(&time_us);
    let (Some(first_us), Some(last_us)) = (times.clone().min(), times.max()) else {
        return;
    };
    if items.is_sorted_by_key(&time_us) {
        return;
    }
    let span = first_us.abs_diff(last_us);
    if items.len() < 256 || span >= 1 << (2 * DIGIT_BITS) {
        items.sort_by_key(time_us);
        return;
    }
    let mut sorted = items.to_vec();
    let offset = |item: &T| time_us(item).abs_diff(first_us);
    scatter(items, &mut sorted, |item| offset(item) as usize & DIGIT);
    scatter(&sorted, items, |item| (offset(item) >> DIGIT_BITS) as usize & DIGIT);
}

/// Twice as many bits hold sixteen seconds in microseconds.
const DIGIT_BITS: u32 = 12;
const DIGIT: usize = (1 << DIGIT_BITS) - 1;

/// Puts items in the order of a digit, and of one digit in the order in which they were.
fn scatter<T: Copy>(from: &[T], to: &mut [T], digit: impl Fn(&T) -> usize) {
    let mut places = vec![0_u32; DIGIT + 1];
    for item in from {
        places[digit(item)] += 1;
    }
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for item in from {
        let place = &mut places[digit(item)];
        to[*place as usize] = *item;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_has_one_time_stays_in_its_order(
            origin_us in prop::sample::select(vec![0, -5_000_000, 1_772_366_406_000_000i64]),
            span in prop::sample::select(vec![10i64, 1_000, 16_000_000, 20_000_000]),
            times in proptest::collection::vec(0..1_000_000i64, 0..600),
        ) {
            let item = |(number, time): (u32, &i64)| (origin_us + time * span / 1_000_000, number);
            let mut items: Vec<(i64, u32)> = (0..).zip(&times).map(item).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_time(&mut items, |item| item.0);
            prop_assert_eq!(items, expected);
        }
    }
}
