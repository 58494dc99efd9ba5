//! Displacements of windows of MPI, which accesses mean by bytes.
//!
//! The one idea: the elements of a window are its displacement units, and those of the target decide; so what an access
//! tells by bytes is told by units where it begins and ends with whole ones.
//!
//! Deliberately absent: guesses. What does not is somewhere in the window.

use marey_analyze::SectionRange;

/// A section.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) ranges: Vec<SectionRange>,
    /// Whether strides, and how many stand side by side, are bytes.
    pub(super) is_in_bytes: bool,
}

/// The displacements that an access to a window means, of which the unit has so many bytes.
pub(super) fn in_displacements(shape: Option<&Shape>, unit: u64, bytes: u64) -> Vec<SectionRange> {
    let untold = || {
        let count = bytes.checked_div(unit).unwrap_or(0).max(1);
        vec![SectionRange::Anywhere { count }]
    };
    let whole = |bytes: u64| bytes.is_multiple_of(unit.max(1)).then(|| bytes.checked_div(unit)).flatten();
    let side_by_side = |bytes: u64| Some(SectionRange::Elements { stride: 1, count: whole(bytes)? });
    let one = |(place, range): (usize, &SectionRange)| match *range {
        SectionRange::Elements { count, .. } if place == 0 => side_by_side(count),
        SectionRange::Elements { stride, count } => {
            let stride = i64::try_from(whole(u64::try_from(stride).ok()?)?).ok()?;
            Some(SectionRange::Elements { stride, count })
        }
        _ => None,
    };
    let found = match shape {
        None => side_by_side(bytes).map(|range| vec![range]),
        Some(shape) if shape.is_in_bytes => shape.ranges.iter().enumerate().map(one).collect(),
        Some(_) => None,
    };
    found.unwrap_or_else(untold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_window_are_displacements_where_they_are_whole_ones() {
        let of = |shape: Option<&Shape>, unit, bytes| in_displacements(shape, unit, bytes);
        let run = |stride: i64, count: u64| SectionRange::Elements { stride, count };
        let untold = |count: u64| vec![SectionRange::Anywhere { count }];
        let in_bytes = |ranges: &[SectionRange]| Shape { ranges: ranges.to_vec(), is_in_bytes: true };
        assert_eq!(of(None, 8, 24), [run(1, 3)]);
        assert_eq!(of(None, 1, 24), [run(1, 24)]);
        // Five times three elements of 8 bytes, ten apart.
        let vector = in_bytes(&[run(1, 24), run(80, 5)]);
        assert_eq!(of(Some(&vector), 8, 120), [run(1, 3), run(10, 5)]);
        assert_eq!(of(Some(&vector), 4, 120), [run(1, 6), run(20, 5)]);
        // Half an element, strides that are none of whole ones, what is not told, and no unit.
        assert_eq!(of(None, 8, 20), untold(2));
        assert_eq!(of(Some(&in_bytes(&[run(1, 8), run(12, 5)])), 8, 40), untold(5));
        assert_eq!(of(Some(&Shape::default()), 8, 40), untold(5));
        assert_eq!(of(None, 0, 40), untold(1));
    }
}
