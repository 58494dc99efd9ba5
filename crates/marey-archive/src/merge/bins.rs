//! How the visits of a location's call paths are spread over powers of two.
//!
//! The one idea: a call path's values mostly lie in few neighbouring bins, so each eight of them get their place
//! when the first of them is needed. Counting once more is one addition in memory that is near.
//!
//! Deliberately absent: what is counted, and the bounds of bins, which are [`marey_model::spool::sums`]'.

use marey_model::spool::sums::{BINS, CELL_BINS};

/// Counts by call path and bin.
#[derive(Debug)]
pub(crate) struct Bins {
    /// For each call path and eight bins, the place of their counts; 0 if there are none.
    places: Vec<[u32; BINS / CELL_BINS]>,
    /// The first is nobody's.
    counts: Vec<[u64; CELL_BINS]>,
}

impl Default for Bins {
    fn default() -> Self {
        Self { places: Vec::new(), counts: vec![[0; CELL_BINS]] }
    }
}

impl Bins {
    /// Counts once more.
    #[inline(always)]
    pub(crate) fn add(&mut self, path: u32, bin: usize) {
        let place = self.places.get(path as usize).map_or(0, |places| places[bin / CELL_BINS]);
        let place = if place == 0 { self.place(path, bin) } else { place };
        self.counts[place as usize][bin % CELL_BINS] += 1;
    }

    /// Counts many.
    pub(crate) fn add_all(&mut self, path: u32, bin: usize, number: u64) {
        if number > 0 {
            let place = self.place(path, bin);
            let count = &mut self.counts[place as usize][bin % CELL_BINS];
            *count = count.saturating_add(number);
        }
    }

    /// Counts those of eight bins.
    pub(crate) fn add_each(&mut self, path: u32, first: usize, numbers: [u64; CELL_BINS]) {
        for (bin, number) in (first..).zip(numbers) {
            self.add_all(path, bin, number);
        }
    }

    #[cold]
    #[inline(never)]
    fn place(&mut self, path: u32, bin: usize) -> u32 {
        if path as usize >= self.places.len() {
            self.places.resize(path as usize + 1, [0; BINS / CELL_BINS]);
        }
        let place = &mut self.places[path as usize][bin / CELL_BINS];
        if *place == 0 {
            *place = self.counts.len() as u32;
            self.counts.push([0; CELL_BINS]);
        }
        *place
    }

    /// Adds the counts of a call path to those of `sum`.
    pub(crate) fn add_to(&self, path: u32, sum: &mut [u64; BINS]) {
        let Some(places) = self.places.get(path as usize) else { return };
        for (&place, sum) in places.iter().zip(sum.as_chunks_mut::<CELL_BINS>().0) {
            for (sum, &count) in sum.iter_mut().zip(&self.counts[place as usize]) {
                *sum = sum.saturating_add(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back() {
        let mut bins = Bins::default();
        bins.add(7, 63);
        bins.add(7, 63);
        bins.add_all(7, 0, 5);
        bins.add_all(3, 0, 1);
        let of = |path| {
            let mut sum = [0; BINS];
            bins.add_to(path, &mut sum);
            (sum[0], sum[63], sum.iter().sum::<u64>())
        };
        assert_eq!([of(7), of(3), of(5), of(100)], [(5, 2, 7), (1, 0, 1), (0, 0, 0), (0, 0, 0)]);
    }
}
