//! What the records of a window add to call paths, before it is added to their cells.
//!
//! The one idea: each call path has a place of its own in memory, a cache line and its bins, close to those of
//! the others, and is found there by one look at where it was found last. Its cell changes when a bucket of time
//! or the round is over, and only if it has changed here.
//!
//! Deliberately absent: channels, and what happens rarely, which go to their cells at once.

#![expect(clippy::cast_possible_truncation, reason = "places are few")]

use marey_model::spool::op;
use marey_model::spool::sums::{BINS, CELL_BINS, NOBODY, bin, bin_of};

use super::cells::{Cells, Histogram, MAX_CELLS, MAX_SUMS};
use crate::runtime::Runtime;

/// The place of what happens when no region is open.
pub(super) const NOWHERE: u32 = 0;
/// There are no more call paths than that.
const PLACES: usize = 1 + MAX_SUMS;

/// What a round adds to a call path, as [`super::cells::Sums`] has it.
#[repr(C, align(64))]
pub(super) struct Part {
    pub(super) exclusive: u64,
    inclusive: u64,
    /// The shortest visit; [`u64::MAX`] if there was none. This and the next stay from round to round.
    shortest: u64,
    /// How much longer the longest was.
    span: u64,
    squares: f64,
    number: u16,
    /// Which path it is: the place of the one above, and the site.
    above: u16,
    code: u32,
    /// Visits by their durations, of which those come first that are usual: from [`FIRST_BIN`] on.
    bins: [u16; BINS],
}

/// Eight bins from here on share a cache line with the sums.
const FIRST_BIN: usize = CELL_BINS;

/// Where the bin lies in [`Part::bins`].
#[inline(always)]
const fn rotated(bin: usize) -> usize {
    bin.wrapping_sub(FIRST_BIN) % BINS
}

impl Part {
    const NOTHING: Self = Self {
        exclusive: 0,
        inclusive: 0,
        number: 0,
        above: 0,
        code: 0,
        shortest: u64::MAX,
        span: 0,
        squares: 0.0,
        bins: [0; BINS],
    };

    /// Adds a visit with nothing inside, which took less than 128.
    #[inline(always)]
    pub(super) fn visit_near(&mut self, took: u32) {
        let bin = usize::from(NEAR_BINS[took as usize % NEAR_BINS.len()]);
        self.add(u64::from(took), u64::from(took), u64::from(took), (f64::from(took), bin));
    }

    #[inline(always)]
    fn note_extremes(&mut self, took: u64) {
        if took.wrapping_sub(self.shortest) > self.span {
            core::hint::cold_path();
            self.widen(took);
        }
    }

    #[inline(never)]
    fn widen(&mut self, took: u64) {
        let longest = if self.shortest == u64::MAX { took } else { took.max(self.longest()) };
        self.shortest = self.shortest.min(took);
        self.span = longest - self.shortest;
    }

    const fn longest(&self) -> u64 {
        self.shortest.wrapping_add(self.span)
    }

    /// Adds a visit that took so much, of which it had so much itself that its path has not been given yet. Of paths
    /// that share a place the outermost has the time of those inside, and theirs is 0.
    #[inline(always)]
    pub(super) fn visit(&mut self, took: u64, own: u64, inclusive: u64) {
        // Signed, which takes one instruction; no visit takes 2⁶³ ticks.
        let time = took.cast_signed() as f64;
        self.add(took, own, inclusive, (time, rotated(bin_of(took, time))));
    }

    /// The same with the time as a float, and where its bin lies.
    #[inline(always)]
    fn add(&mut self, took: u64, own: u64, inclusive: u64, (time, bin): (f64, usize)) {
        self.exclusive = self.exclusive.wrapping_add(own);
        self.inclusive = self.inclusive.wrapping_add(inclusive);
        self.number = self.number.wrapping_add(1);
        self.note_extremes(took);
        self.squares += time * time;
        let visits = &mut self.bins[bin % BINS];
        *visits = visits.wrapping_add(1);
    }
}

/// The place in [`Part::bins`] of times below 128.
const NEAR_BINS: [u8; 128] = {
    let mut bins = [0; 128];
    let mut took = 0;
    while took < bins.len() {
        bins[took] = rotated(bin(took as u64)) as u8;
        took += 1;
    }
    bins
};

/// The parts of a thread, and where they are found. Zeros are none.
#[repr(C)]
pub(super) struct Parts {
    /// How many call paths have a place.
    len: u16,
    /// The cell of each of them.
    cells: [u16; PLACES],
    /// The place of each cell, 0 if it has none yet.
    places: [u16; MAX_CELLS],
    /// The places of the two paths that were looked for last with such a trail.
    lately: [[u16; 2]; LATELY],
    /// The [`key`]s of paths and their places, with [`AGAIN`] if they are open further out, where the trail says or
    /// beside that: for those too that [`Parts::is`] says no to.
    known: [u64; KNOWN],
    parts: [Part; PLACES],
}

const LATELY: usize = 1 << 12;
const KNOWN: usize = 1 << 12;
/// With a place that is noted: the path is one of those above, see [`Cells::path`].
const AGAIN: u16 = 1 << 15;

const _: () = assert!(PLACES < AGAIN as usize);

/// The regions that are open, in a number: so where a path is noted is known before its place is.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Trail(u64);

impl Trail {
    pub(super) const NONE: Self = Self(0);

    #[inline(always)]
    pub(super) const fn enter(self, code: u32) -> Self {
        // Of numbers of sites, which are small and close together, this makes what lies far apart.
        Self((self.0.rotate_left(26) ^ code as u64).wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    /// A number below `number`, which is a power of two.
    #[inline(always)]
    const fn idx(self, number: usize) -> usize {
        (self.0 >> (u64::BITS - number.ilog2())) as usize
    }
}

/// What stands for a site: the first byte of a record that enters it, if it is one of the first.
#[inline(always)]
pub(super) const fn code_of(site: u32) -> u32 {
    site + op::SHORT_ENTER as u32
}

/// A site's code and the place above: a number that leaves room for a place, and is never 0.
#[inline(always)]
const fn key(code: u32, above: u32) -> u64 {
    (code as u64) << 32 | (above as u64) << 16
}

impl Parts {
    /// The place of a site, see [`code_of`], beneath another place, and what is there, if it was entered lately.
    #[inline(always)]
    pub(super) fn entered_lately(&mut self, trail: Trail, code: u32, above: u32) -> Option<(u32, &mut Part)> {
        let [first, second] = self.lately[trail.idx(LATELY)];
        if self.is(first, code, above) {
            return Some((first.into(), self.part(first.into())));
        }
        self.is(second, code, above).then(|| (second.into(), self.part(second.into())))
    }

    /// Whether this is the place of that path and of no other, or of the first of those that share it. What is found
    /// so is no region that is open again, and not the path around it.
    #[inline(always)]
    fn is(&self, place: u16, code: u32, above: u32) -> bool {
        let part = &self.parts[usize::from(place)];
        part.code == code && part.above == above as u16
    }

    fn note(&mut self, trail: Trail, place: u16) {
        let [first, second] = &mut self.lately[trail.idx(LATELY)];
        if *first != place {
            (*first, *second) = (place, *first);
        }
    }

    /// The place of any path, noted for the next time, and whether it is one of those above.
    #[inline(never)]
    pub(super) fn find(
        &mut self,
        of: (&Runtime, u32, &mut Cells),
        trail: Trail,
        (site, above): (u32, u32),
    ) -> (u32, bool) {
        let ((runtime, thread, cells), code) = (of, code_of(site));
        let first = trail.idx(KNOWN);
        for idx in [first, first ^ 1] {
            let found = self.known[idx].wrapping_sub(key(code, above));
            if found <= u64::from(u16::MAX) {
                let (place, is_again) = (found as u16 & !AGAIN, found as u16 & AGAIN != 0);
                if self.is(place, code, above) {
                    self.note(trail, place);
                }
                return (place.into(), is_again);
            }
        }
        let (cell, is_again) = cells.path(runtime, thread, (site, self.cell(above)));
        let place = self.place(cell, (code, above));
        self.known[first ^ 1] = self.known[first];
        self.known[first] = key(code, above) | u64::from(if is_again { place | AGAIN } else { place });
        if self.is(place, code, above) {
            self.note(trail, place);
        }
        (place.into(), is_again)
    }

    /// The cell of a place.
    pub(super) fn cell(&self, place: u32) -> u32 {
        if place == NOWHERE { NOBODY } else { self.cells[place as usize].into() }
    }

    #[inline(always)]
    pub(super) fn part(&mut self, place: u32) -> &mut Part {
        &mut self.parts[place as usize]
    }

    /// The place of a cell: that of this path, or the first of those that share it.
    fn place(&mut self, cell: u32, (code, above): (u32, u32)) -> u16 {
        let place = &mut self.places[cell as usize];
        if *place == 0 {
            self.len += 1;
            *place = self.len;
            self.cells[usize::from(self.len)] = cell as u16;
            self.parts[usize::from(self.len)] = Part { code, above: above as u16, ..Part::NOTHING };
        }
        *place
    }

    /// Adds the parts to the cells, after which there have been `rounds`. They go on from nothing.
    pub(super) fn settle(&mut self, (runtime, thread, cells): (&Runtime, u32, &mut Cells), rounds: u64) {
        // No path has the time when no region is open.
        self.part(NOWHERE).exclusive = 0;
        let parts = self.parts.iter_mut().zip(&self.cells).take(1 + usize::from(self.len)).skip(1);
        for (part, &cell) in parts.filter(|(part, _)| part.number != 0 || part.exclusive != 0) {
            // SAFETY: it is the number of a cell, which never moves.
            let sums = unsafe { &mut *cells.sums(cell.into(), rounds) };
            sums.exclusive = sums.exclusive.wrapping_add(part.exclusive);
            sums.inclusive = sums.inclusive.wrapping_add(part.inclusive);
            sums.number += u64::from(part.number);
            if part.shortest != u64::MAX {
                sums.longest = sums.longest.max(part.longest());
                sums.shortest = sums.shortest.min(part.shortest);
            }
            sums.squares += part.squares;
            for (eight, bins) in part.bins.as_chunks::<CELL_BINS>().0.iter().enumerate() {
                if *bins != [0; CELL_BINS] {
                    let eight = (eight + FIRST_BIN / CELL_BINS) % (BINS / CELL_BINS);
                    let of = (u32::from(cell), Histogram::Durations, eight);
                    // SAFETY: as above, and there are so many eights.
                    unsafe { cells.add_bins((runtime, thread, rounds), of, bins.map(u64::from)) };
                }
            }
            let Part { shortest, span, above, code, .. } = *part;
            *part = Part { shortest, span, above, code, ..Part::NOTHING };
        }
    }
}
