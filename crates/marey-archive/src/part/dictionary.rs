//! Durations of one row group: as packed numbers into a dictionary if that is shorter.
//!
//! The one idea: a program does the same things again and again, and clocks have a step, so that
//! a hundred thousand intervals have a few thousand durations. A number of 12 bits for each and the
//! values once take a quarter less than the bytes that vary. Whether it is so is known when the row
//! group is complete; until then numbers are kept, which take no more room than what is written.
//! A column of too many values, or of such that LZ4 makes little of, goes on as an ordinary one
//! ([`super::encoder`]). What LZ4 makes of them nobody can tell but LZ4: it is tried on some.
//!
//! Deliberately absent: other amounts. They come in patterns, in which LZ4 finds more.

#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers are below `MOST_VALUES`, and are cut into bytes on purpose"
)]

use parquet::column::page::PageWriter;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxHashMap;

use super::PAGE_ROWS;
use super::chunk::{Bounds, Chunk};

/// With more values than that a number takes 14 bits, and the dictionary more than some columns.
const MOST_VALUES: usize = 1 << 13;
/// Values below that are looked up in a table, which stays in the processor's cache: 33 µs.
const SMALL: usize = 1 << 15;

/// The column so far.
pub(super) struct Dictionary {
    values: Vec<i64>,
    /// For each value its number, in the order of appearance.
    numbers: Vec<u16>,
    /// The number of each small value and 1; 0 = it has none yet.
    small: Vec<u16>,
    large: FxHashMap<i64, u16>,
    /// Of each page.
    bounds: Vec<Bounds<i64>>,
    trial: Trial,
}

/// What some of the values take in an ordinary column.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    pub values: usize,
    pub bytes: usize,
}

impl Dictionary {
    pub(super) fn new(trial: Trial) -> Self {
        Self {
            values: Vec::new(),
            numbers: Vec::new(),
            small: vec![0; SMALL],
            large: FxHashMap::default(),
            bounds: Vec::new(),
            trial,
        }
    }

    /// Appends values. False if a dictionary is not for this column; the values have been appended all
    /// the same, as far as [`Self::values`] gives them.
    pub(super) fn push(&mut self, mut values: &[i64]) -> bool {
        while !values.is_empty() {
            let room = PAGE_ROWS - self.numbers.len() % PAGE_ROWS;
            let (page, rest) = values.split_at(values.len().min(room));
            if !self.push_to_page(page) {
                return false;
            }
            values = rest;
        }
        self.values.len().max(2).ilog2() as usize * self.trial.values < 8 * self.trial.bytes
    }

    fn push_to_page(&mut self, values: &[i64]) -> bool {
        if self.numbers.len().is_multiple_of(PAGE_ROWS) {
            self.bounds.push(Bounds::default());
        }
        self.numbers.reserve(values.len());
        let (mut least, mut greatest) = (i64::MAX, i64::MIN);
        for &value in values {
            let number = match usize::try_from(value).ok().and_then(|value| self.small.get(value)) {
                Some(&known) if known != 0 => known - 1,
                _ => match self.number(value) {
                    Some(number) => number,
                    None => return false,
                },
            };
            self.numbers.push(number);
            (least, greatest) = (least.min(value), greatest.max(value));
        }
        if let Some(bounds) = self.bounds.last_mut() {
            bounds.add(least, greatest);
        }
        true
    }

    /// The number of a large or new value; `None` if there are too many.
    #[cold]
    fn number(&mut self, value: i64) -> Option<u16> {
        if let Some(&number) = self.large.get(&value) {
            return Some(number);
        }
        if self.values.len() == MOST_VALUES {
            return None;
        }
        let number = self.values.len() as u16;
        self.values.push(value);
        match usize::try_from(value).ok().and_then(|value| self.small.get_mut(value)) {
            Some(place) => *place = number + 1,
            None => {
                self.large.insert(value, number);
            }
        }
        Some(number)
    }

    /// All values so far.
    pub(super) fn values(&self) -> impl Iterator<Item = i64> {
        self.numbers.iter().map(|&number| self.values[usize::from(number)])
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether the column is shorter this way than as an ordinary one.
    pub(super) fn pays(&self) -> bool {
        let packed: usize = self.numbers.chunks(PAGE_ROWS).map(|page| page.len() * width(page)).sum();
        let bytes = packed / 8 + self.values.len() * size_of::<i64>();
        bytes * self.trial.values < self.numbers.len() * self.trial.bytes
    }

    /// Writes the column.
    pub(super) fn close(
        self,
        column: &ColumnDescPtr,
        pages: &mut impl PageWriter,
    ) -> Result<ColumnCloseResult, ParquetError> {
        let mut chunk = Chunk::new(column);
        chunk.dictionary(&self.values, pages)?;
        for (numbers, bounds) in self.numbers.chunks(PAGE_ROWS).zip(&self.bounds) {
            chunk.page(packed(numbers), numbers.len(), *bounds, pages)?;
        }
        chunk.close(self.numbers.len())
    }
}

/// Bits of the greatest of some numbers; 1 if there are only zeros, since not every reader knows what no
/// bits at all mean.
fn width(numbers: &[u16]) -> usize {
    let greatest = numbers.iter().fold(0, |greatest, &number| number.max(greatest));
    greatest.max(1).ilog2() as usize + 1
}

/// A page of numbers: their width, the number of groups of eight, and the groups.
fn packed(numbers: &[u16]) -> Vec<u8> {
    let width = width(numbers);
    let groups = numbers.len().div_ceil(8);
    let mut bytes = Vec::with_capacity(8 + groups * width);
    bytes.push(width as u8);
    let mut head = (groups << 1) | 1;
    while head >= 0x80 {
        bytes.push(head as u8 | 0x80);
        head >>= 7;
    }
    bytes.push(head as u8);
    let four =
        |four: &[u16]| four.iter().rev().fold(0_u64, |packed, &number| packed << width | u64::from(number));
    let mut put = |group: &[u16; 8]| {
        let packed = u128::from(four(&group[..4])) | u128::from(four(&group[4..])) << (4 * width);
        bytes.extend_from_slice(&packed.to_le_bytes()[..width]);
    };
    let (whole, rest) = numbers.as_chunks::<8>();
    whole.iter().for_each(&mut put);
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        put(&last);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_from_the_lowest_bit_on() {
        // Width 3, one group: 0 1 2 3 4 5 6 7 as Parquet's own example has them.
        assert_eq!(packed(&[0, 1, 2, 3, 4, 5, 6, 7]), [3, 3, 0x88, 0xc6, 0xfa]);
        // A group that is not full, of the widest numbers.
        let numbers = [8191, 0, 8191];
        let mut expected = vec![13, 3];
        expected.extend_from_slice(&(8191_u128 | 8191 << 26).to_le_bytes()[..13]);
        assert_eq!(packed(&numbers), expected);
    }

    /// Two bytes for a value.
    const TWO: Trial = Trial { values: 1, bytes: 2 };

    #[test]
    fn values_come_back_from_small_and_large_and_negative_ones() {
        let values: Vec<i64> = (0..40_000).map(|idx| [-1, 300, 40_000, i64::MAX, 301][idx % 5]).collect();
        let mut dictionary = Dictionary::new(TWO);
        assert!(dictionary.push(&values[..20_001]) && dictionary.push(&values[20_001..]));
        assert!(dictionary.values().eq(values.iter().copied()) && dictionary.pays());
        let pages = values.len().div_ceil(PAGE_ROWS);
        assert!(dictionary.bounds == vec![Bounds(Some((-1, i64::MAX))); pages]);
    }

    #[test]
    fn a_column_is_given_up_for_which_a_dictionary_is_longer() {
        let values: Vec<i64> = (0..100_000).collect();
        let mut many = Dictionary::new(TWO);
        assert!(!many.push(&values));
        // What it holds are the first values, so that the others can follow.
        assert!(many.len() == MOST_VALUES && many.values().eq(values[..MOST_VALUES].iter().copied()));
        let mut each_but_once = Dictionary::new(TWO);
        assert!(each_but_once.push(&values[..5000]) && !each_but_once.pays());
        let mut patterns = Dictionary::new(Trial { values: 100, bytes: 60 });
        assert!(!patterns.push(&values[..50]));
    }
}
