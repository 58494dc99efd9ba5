//! The table of what a thread remembers by address.
//!
//! The one idea: most threads name a few buffers, and some take turns with hundreds, where each that has lost its line to
//! another has to be found anew, which takes microseconds. So the table begins small and doubles when it has displaced
//! several times as many lines as it has.
//!
//! Deliberately absent: what makes a line true ([`super::cache`]); a table that shrinks.

use marey_measure::sys;

/// Lines at first: 3 KiB.
const FIRST: u32 = 7;
/// Most lines: 96 KiB.
const MOST: u32 = 12;
/// Lines displaced for each that there is before the table doubles: a program that goes once through an array has no use for
/// more.
const DISPLACED: usize = 4;

/// What lies at an address.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) buffer: usize,
    /// Where the call goes on, if the buffer may lie in a frame: of what is there, that is a part of the condition, so calls
    /// from two places need two lines.
    pub(super) from: usize,
    pub(super) data: u32,
    pub(super) holds: u32,
}

impl Line {
    const NONE: Self = Self { buffer: 0, from: 0, data: 0, holds: 0 };
}

/// Lines, each with one place where it may be.
pub(super) struct Lines {
    lines: Vec<Line>,
    /// Bits of the hash that are no part of the place.
    shift: u32,
    n_displaced: usize,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self::of(FIRST)
    }

    fn of(bits: u32) -> Self {
        Self { lines: vec![Line::NONE; 1 << bits], shift: u64::BITS - bits, n_displaced: 0 }
    }

    /// The line where an address is to be found, or another's.
    #[inline(always)]
    pub(super) fn at(&mut self, buffer: usize, from: usize) -> Option<&mut Line> {
        // Buffers lie some bytes apart at least.
        let hash = (buffer as u64 >> 2 ^ from as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.lines.get_mut((hash >> self.shift) as usize)
    }

    /// Puts a line into its place.
    pub(super) fn put(&mut self, line: Line) {
        let Some(place) = self.at(line.buffer, line.from) else { return };
        let is_displaced = place.buffer != 0 && (place.buffer, place.from) != (line.buffer, line.from);
        *place = line;
        self.n_displaced += usize::from(is_displaced);
        if DISPLACED * self.lines.len() <= self.n_displaced && self.shift > u64::BITS - MOST {
            // A handler of signals may look into the table.
            sys::undisturbed(|| self.grow());
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = Self::of(u64::BITS - self.shift + 1);
        for line in core::mem::replace(self, larger).lines {
            // A place of the smaller table is two of the larger, so none is displaced.
            if let (true, Some(place)) = (line.buffer != 0, self.at(line.buffer, line.from)) {
                *place = line;
            }
        }
    }

    /// Forgets all, and keeps the room.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line::NONE);
        self.n_displaced = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(buffer: usize) -> Line {
        Line { buffer, from: 0, data: buffer as u32, holds: 0 }
    }

    /// How many of so many buffers that take turns are found in the last of so many rounds.
    fn found(lines: &mut Lines, n_buffers: usize, rounds: usize) -> usize {
        let mut n_found = 0;
        for _ in 0..rounds {
            n_found = 0;
            for buffer in (1..=n_buffers).map(|number| number * 8) {
                let known = lines.at(buffer, 0).filter(|line| line.buffer == buffer);
                n_found += known.is_some_and(|line| line.data == buffer as u32) as usize;
                lines.put(line(buffer));
            }
        }
        n_found
    }

    #[test]
    fn a_table_grows_until_all_that_take_turns_have_room() {
        let mut lines = Lines::new();
        assert_eq!((found(&mut lines, 30, 50), lines.lines.len()), (30, 1 << FIRST));
        // At first each takes another's line; in the end hardly any does.
        assert_eq!(found(&mut lines, 1000, 2), 0);
        let n_found = found(&mut lines, 1000, 50);
        assert!((900..=1000).contains(&n_found), "{n_found} of 1000 in {} lines", lines.lines.len());
        found(&mut lines, 1 << 16, 4);
        assert_eq!(lines.lines.len(), 1 << MOST);
        lines.clear();
        assert_eq!((found(&mut lines, 1000, 1), lines.lines.len()), (0, 1 << MOST));
    }

    #[test]
    fn what_is_in_a_table_that_grows_stays() {
        let mut lines = Lines::new();
        lines.put(line(80));
        let place = |lines: &mut Lines, buffer: usize| core::ptr::from_mut(lines.at(buffer, 0).unwrap());
        // Displaces another line of its own again and again.
        let taken = place(&mut lines, 80);
        let others: Vec<usize> =
            (11..).map(|number| number * 8).filter(|it| place(&mut lines, *it) != taken).take(1000).collect();
        for buffer in others.into_iter().cycle() {
            if lines.lines.len() != 1 << FIRST {
                break;
            }
            lines.put(line(buffer));
        }
        assert_eq!(lines.at(80, 0).unwrap().buffer, 80);
    }
}
