//! Ranges of locations that a request names.
//!
//! The one idea: they are brought into order once, so that no location is read twice, however often a request names it, and
//! whether one is meant is found by halving: rows that are sorted by something are hundreds of ranges.

/// Ascending and apart from each other, of those that there are: no more than there are locations.
pub(crate) fn in_order(ranges: &mut Vec<(u32, u32)>, known: u32) {
    ranges.iter_mut().for_each(|(_, behind)| *behind = (*behind).min(known));
    ranges.retain(|(first, behind)| first < behind);
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let is_one = next.0 <= before.1;
        before.1 = if is_one { before.1.max(next.1) } else { before.1 };
        is_one
    });
}

/// Whether a location lies in one of them; they are in order.
pub(crate) fn hold(ranges: &[(u32, u32)], location: u32) -> bool {
    let behind = ranges.partition_point(|range| range.0 <= location);
    behind.checked_sub(1).and_then(|place| ranges.get(place)).is_some_and(|range| location < range.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_are_one_and_none_is_beyond_what_there_is() {
        let ordered = |mut ranges: Vec<(u32, u32)>| {
            in_order(&mut ranges, 10);
            ranges
        };
        assert_eq!(ordered(vec![(5, 7), (0, 2), (1, 4), (7, 8)]), [(0, 4), (5, 8)]);
        assert_eq!(ordered(vec![(0, u32::MAX); 1000]), [(0, 10)]);
        assert_eq!(ordered(vec![(3, 3), (4, 2), (12, 20)]), []);
        let ranges = ordered(vec![(1, 3), (5, 6)]);
        let held: Vec<u32> = (0..10).filter(|it| hold(&ranges, *it)).collect();
        assert_eq!(held, [1, 2, 5]);
    }
}
