//! Which elements of a message's buffer are recorded: `8` (the first eight) or `0-3,100`.
//!
//! The one idea: the command line checks the text with the same code by which the measured process follows it.

use std::fmt;
use std::ops::RangeInclusive;

/// Elements of a buffer, counted from 0, in the order in which they were named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elements(Vec<RangeInclusive<u64>>);

impl Elements {
    /// Most elements that may be named.
    pub const MOST: u64 = 64;

    /// Reads `N` or a list of places and ranges of them, such as `0-3,100`. `None` if it is neither, or names
    /// none or more than [`Self::MOST`].
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let one = |text: &str| match text.split_once('-') {
            Some((from, to)) => Some(number(from)?..=number(to)?),
            None => number(text).map(|at| at..=at),
        };
        let ranges = match number(text) {
            Some(first) => vec![0..=first.checked_sub(1)?],
            None => text.split(',').map(one).collect::<Option<Vec<_>>>()?,
        };
        let mut sum = 0_u64;
        for range in &ranges {
            sum = sum.checked_add(range.end().checked_sub(*range.start())?.checked_add(1)?)?;
        }
        (1..=Self::MOST).contains(&sum).then_some(Self(ranges))
    }

    /// The ranges of them that lie in a buffer of so many elements.
    pub fn within(&self, len: u64) -> impl Iterator<Item = std::ops::Range<u64>> + '_ {
        let cut = move |range: &RangeInclusive<u64>| *range.start()..range.end().saturating_add(1).min(len);
        self.0.iter().map(cut).filter(|range| !range.is_empty())
    }
}

/// As [`Elements::parse`] reads it.
impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, range) in self.0.iter().enumerate() {
            let comma = if idx == 0 { "" } else { "," };
            // `8-8` and not `8`, which are the first eight.
            write!(f, "{comma}{}-{}", range.start(), range.end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_and_are_cut_to_the_buffer() {
        let places = |text: &str, len: u64| -> Vec<u64> {
            let elements = Elements::parse(text).unwrap();
            assert_eq!(Elements::parse(&elements.to_string()), Some(elements.clone()));
            elements.within(len).flatten().collect()
        };
        assert_eq!(places("3", 10), [0, 1, 2]);
        assert_eq!(places("3", 2), [0, 1]);
        assert_eq!(places("7-8,0-1, 5", 8), [7, 0, 1, 5]);
        assert_eq!(places("7,7", 8), [7, 7]);
        assert_eq!(places("64", 0), [0; 0]);
        for text in ["", "0", "65", "a", "3-1", "0-63,1", "1,", "-1", "0-18446744073709551615"] {
            assert_eq!(Elements::parse(text), None, "{text}");
        }
    }
}
