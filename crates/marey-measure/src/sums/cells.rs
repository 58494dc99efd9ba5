//! The cells of a thread's sums, in windows of the process's file.
//!
//! The one idea: a cell is found by what it is about, in a table of numbers that lies in memory of our own;
//! it is made when it is first looked for, and never moves. Which of its two sums is written is decided by
//! the round that is being added up, see [`marey_model::spool::sums`].
//!
//! Deliberately absent: what is added.

#![expect(clippy::cast_possible_truncation, reason = "cells are few, and windows of them small")]

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::Stream;
use marey_model::spool::sums::{
    BINS, CELL_BINS, CELL_LEN, CellKind, FIRST_WINDOW, LATER_WINDOW, NOBODY, SUM_WORDS, bin,
};

use crate::items::{Layout, Owner, Windows};
use crate::runtime::Runtime;

/// Call paths and channels of a thread that have a cell.
pub(super) const MAX_SUMS: usize = 1 << 13;
/// From so many on recursion makes no new call paths, see [`Cells::path`].
const FOLD_FROM: usize = MAX_SUMS / 2;
/// Cells of a thread, those of bins too, of which a call path mostly takes two or three.
pub(super) const MAX_CELLS: usize = 3 * MAX_SUMS;
/// The first three cells, which are there before any other: of all call paths, of all channels, and of the sizes
/// of all operations, that find none, because there are too many or the disk is full.
pub(super) const OTHER_PATHS: u32 = 0;
pub(super) const OTHER_MESSAGES: u32 = 1;
const OTHER_SIZES: u32 = 2;
const LAYOUT: Layout = Layout { first: FIRST_WINDOW, later: LATER_WINDOW, item: CELL_LEN };
/// Places where a cell's number is looked for.
const PLACES: usize = (2 * MAX_CELLS).next_power_of_two();

/// One of a cell's two sums, the words that [`marey_model::spool::sums::Sums`] is read from.
#[repr(C)]
pub(super) struct Sums {
    pub(super) rounds: u64,
    pub(super) number: u64,
    pub(super) untimed: u64,
    pub(super) inclusive: u64,
    pub(super) exclusive: u64,
    pub(super) shortest: u64,
    pub(super) longest: u64,
    pub(super) squares: f64,
    pub(super) bytes: u64,
}

/// A cell.
#[repr(C)]
struct Cell {
    kind: [u64; 2],
    sums: [Sums; 2],
}

const _: () = assert!(size_of::<Cell>() == CELL_LEN && size_of::<Sums>() == 8 * SUM_WORDS);

/// All cells of a thread. Zeros are none.
#[repr(C)]
pub(super) struct Cells {
    windows: Windows<{ LAYOUT.windows(MAX_CELLS) }>,
    /// Since when there are sums, ticks.
    ticks: u64,
    /// Code of the stream that they are of.
    stream: u8,
    len: u32,
    /// How many of them are of call paths and channels.
    sums: u32,
    /// There is no room for another one.
    is_full: bool,
    /// Numbers of cells, plus 1.
    places: [u16; PLACES],
    /// The cells of each cell's bins, as far as they have been looked for.
    parts: [[[u16; PARTS]; 2]; MAX_CELLS],
}

/// Cells that each of a call path's histograms is spread over.
const PARTS: usize = BINS / CELL_BINS;

/// What is counted in bins.
#[derive(Clone, Copy)]
pub(super) enum Histogram {
    Durations,
    Sizes,
}

const _: () = assert!(MAX_CELLS < u16::MAX as usize);

impl Cells {
    /// Makes the first window, which says since when there are sums.
    pub(super) fn begin(&mut self, runtime: &Runtime, thread: u32, ticks: u64, stream: Stream) -> bool {
        (self.stream, self.ticks) = (stream as u8, ticks);
        let paths = CellKind::Path { site: NOBODY, parent: NOBODY };
        let messages = CellKind::Sent { communicator: NOBODY, peer: NOBODY };
        self.find(runtime, thread, paths) == Some(OTHER_PATHS)
            && self.find(runtime, thread, messages) == Some(OTHER_MESSAGES)
            && self.find(runtime, thread, CellKind::Sizes { cell: NOBODY, part: 0 }) == Some(OTHER_SIZES)
    }

    /// Unmaps the windows.
    pub(super) fn unmap(&mut self) {
        self.windows.unmap(LAYOUT);
    }

    /// Number of cells.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The exclusive time of a call path until now, that of the round that is being added up too; 0 for what is
    /// none.
    pub(super) fn exclusive(&self, number: u32) -> u64 {
        if number >= self.len {
            return 0;
        }
        // SAFETY: it is the number of a cell.
        let cell = unsafe { &*self.cell(number) };
        let [first, second] = &cell.sums;
        let latest = if first.rounds < second.rounds { second } else { first };
        if cell.kind[0] == CellKind::PATH { latest.exclusive } else { 0 }
    }

    /// Says that so many rounds have been added up.
    pub(super) fn publish(&self, rounds: u64) {
        if let Some(summed) = self.windows.summed() {
            summed.store(rounds, Ordering::Release);
        }
    }

    /// The cell of a site beneath that of a call path, and whether it is one of those above: where half of what
    /// there is room for is taken, a call path ends at the first appearance of a site in it, so that functions
    /// that call each other have no more of them. All paths that find none share one.
    pub(super) fn path(&mut self, runtime: &Runtime, thread: u32, (site, parent): (u32, u32)) -> (u32, bool) {
        let kind = CellKind::Path { site, parent };
        let place = match self.look(kind.words()) {
            Ok(number) => return (number, false),
            Err(place) => place,
        };
        if self.sums as usize >= FOLD_FROM
            && let Some(first) = self.appearance(site, parent)
        {
            return (first, true);
        }
        (self.make(runtime, thread, kind, place).unwrap_or(OTHER_PATHS), false)
    }

    /// The cell of a site among a call path's and those above it.
    fn appearance(&self, site: u32, mut cell: u32) -> Option<u32> {
        while cell < self.len && cell > OTHER_SIZES {
            // SAFETY: it is the number of a cell.
            let [_, word] = unsafe { (*self.cell(cell)).kind };
            if word as u32 == site {
                return Some(cell);
            }
            let parent = (word >> 32) as u32;
            // Those above are older.
            cell = if parent < cell { parent } else { NOBODY };
        }
        None
    }

    /// The cell with these words, or the place where it would be found.
    fn look(&self, words: [u64; 2]) -> Result<u32, usize> {
        let hash = (words[1] ^ words[0] << 60).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = (hash >> 40) as usize % PLACES;
        while let Some(number) = self.places[place].checked_sub(1) {
            // SAFETY: numbers in the table are those of cells.
            if unsafe { (*self.cell(u32::from(number))).kind } == words {
                return Ok(u32::from(number));
            }
            place = (place + 1) % PLACES;
        }
        Err(place)
    }

    /// The cell about `kind`, made if need be. `None` if there is no place for it.
    pub(super) fn find(&mut self, runtime: &Runtime, thread: u32, kind: CellKind) -> Option<u32> {
        match self.look(kind.words()) {
            Ok(number) => Some(number),
            Err(place) => self.make(runtime, thread, kind, place),
        }
    }

    /// Makes the cell about `kind`, which there is none of and which would be found at `place`.
    fn make(&mut self, runtime: &Runtime, thread: u32, kind: CellKind, place: usize) -> Option<u32> {
        let has_sums =
            !matches!(kind, CellKind::Durations { .. } | CellKind::Sizes { .. } | CellKind::Tally { .. });
        if self.is_full || (has_sums && self.sums as usize >= MAX_SUMS) {
            return None;
        }
        let number = self.len;
        let stream = Stream::from_code(self.stream).unwrap_or(Stream::Sums);
        let owner = Owner { runtime, thread, stream, ticks: self.ticks };
        if number as usize >= MAX_CELLS || !self.windows.has_room(LAYOUT, owner, number) {
            // Asked again for each path, the disk would not have more.
            self.is_full = true;
            return None;
        }
        // SAFETY: the window is there and has room for the cell, whose bytes are zeros.
        unsafe {
            let cell = self.cell(number);
            (*cell).kind = kind.words();
            for sums in (*cell).sums.iter_mut().filter(|_| has_sums) {
                sums.shortest = u64::MAX;
            }
            self.windows.commit(LAYOUT, number);
        }
        self.len += 1;
        self.sums += u32::from(has_sums);
        self.places[place] = number as u16 + 1;
        Some(number)
    }

    /// Counts visits or operations of a round in eight bins of a call path. Visits that find no cell are in its
    /// sums only.
    ///
    /// # Safety
    /// `number` is that of a cell, and `part` one of its parts.
    pub(super) unsafe fn add_bins(
        &mut self,
        (runtime, thread, rounds): (&Runtime, u32, u64),
        (number, histogram, part): (u32, Histogram, usize),
        numbers: [u64; CELL_BINS],
    ) {
        let mut cell = u32::from(self.parts[number as usize][histogram as usize][part]);
        // The first cells are of something else.
        if cell == 0 {
            let kind = match histogram {
                Histogram::Durations => CellKind::Durations { cell: number, part: part as u32 },
                Histogram::Sizes => CellKind::Sizes { cell: number, part: part as u32 },
            };
            cell = match (self.find(runtime, thread, kind), histogram) {
                (Some(found), _) => found,
                (None, Histogram::Sizes) => OTHER_SIZES,
                (None, Histogram::Durations) => return,
            };
            self.parts[number as usize][histogram as usize][part] = cell as u16;
        }
        let mut numbers = numbers;
        if cell == OTHER_SIZES {
            numbers = [numbers.iter().sum(), 0, 0, 0, 0, 0, 0, 0];
        }
        // SAFETY: it is the number of a cell, whose sums have so many words behind the first.
        unsafe {
            let words = &mut *self.sums(cell, rounds).cast::<u64>().add(1).cast::<[u64; CELL_BINS]>();
            words.iter_mut().zip(numbers).for_each(|(word, number)| *word = word.wrapping_add(number));
        }
    }

    /// Counts so many visits or operations of a value, as [`Self::add_bins`].
    ///
    /// # Safety
    /// `number` is that of a cell.
    pub(super) unsafe fn add_bin(
        &mut self,
        in_round: (&Runtime, u32, u64),
        (number, histogram, value): (u32, Histogram, u64),
        times: u64,
    ) {
        let (bin, mut bins) = (bin(value), [0; CELL_BINS]);
        bins[bin % CELL_BINS] = times;
        // SAFETY: the caller's promise, and there are so many parts.
        unsafe { self.add_bins(in_round, (number, histogram, bin / CELL_BINS), bins) };
    }

    /// The sums of a cell that a round is added to, after which there have been `rounds`.
    ///
    /// # Safety
    /// `number` is that of a cell.
    #[inline(always)]
    pub(super) unsafe fn sums(&self, number: u32, rounds: u64) -> *mut Sums {
        // SAFETY: the caller's promise.
        unsafe {
            let first = (&raw mut (*self.cell(number)).sums).cast::<Sums>();
            let second = first.add(1);
            if (*first).rounds == rounds {
                return first;
            }
            if (*second).rounds == rounds {
                return second;
            }
            // The older ones give way; until they are whole they bear an older number.
            let (old, new) =
                if (*first).rounds < (*second).rounds { (first, second) } else { (second, first) };
            for word in 1..SUM_WORDS {
                *old.cast::<u64>().add(word) = *new.cast::<u64>().add(word);
            }
            compiler_fence(Ordering::SeqCst);
            (*old).rounds = rounds;
            old
        }
    }

    /// The word behind those that say what a cell is about.
    ///
    /// # Safety
    /// `number` is that of a cell.
    pub(super) unsafe fn first_word(&self, number: u32) -> *mut u64 {
        // SAFETY: the caller's promise.
        unsafe { (&raw mut (*self.cell(number)).sums).cast() }
    }

    fn cell(&self, number: u32) -> *mut Cell {
        // SAFETY: the caller has seen that there is room for it.
        unsafe { self.windows.item(LAYOUT, number).cast() }
    }
}
