//! Sums: what is kept of a thread's events where there is no room for the events themselves.
//!
//! The one idea: a thread that has come to its limit goes on in one window, and whenever that is full its
//! records are added up here and the window begins anew. So there is one way to record, sums are those that
//! a reader would have made of the records, and what was not added up yet still stands in the window.
//!
//! A stream of sums has *cells*, one for each call path, and one for each channel that messages went
//! through, and for each communicator in which something was received. How long the visits of a call path were,
//! and how much data its operations moved, is told by further cells, each of eight [`bin`]s. Adding up goes in
//! *rounds*, one for each time that the window was full. A cell holds its sums twice, each with the round that
//! was added last: while one round is being added up, the other sums stay as they were. The head of the first
//! window says how many rounds there were ([`super::at::SUMMED`]), and so which of the two count; the head of a
//! window of events says how many there were before it, and so whether the last one is in the sums already. A
//! process that is killed in the middle of it loses nothing and has nothing twice.
//!
//! Deliberately absent: when something happened, which [`super::courses`] tell. The first window's head says since
//! when there are sums.

use super::window::{HEAD_LEN, SLACK};

/// Bytes of a cell.
pub const CELL_LEN: usize = 16 + 2 * SUMS_LEN;
const SUMS_LEN: usize = 8 * SUM_WORDS;
/// Words of each of a cell's two sums; the first is the number of rounds, with the last that was added.
pub const SUM_WORDS: usize = 9;
/// Bins of a histogram.
pub const BINS: usize = 64;
/// How many of them a cell has.
pub const CELL_BINS: usize = SUM_WORDS - 1;
/// Bytes of the first window of a stream of cells: most threads need no more.
pub const FIRST_WINDOW: usize = 8 << 10;
/// Bytes of each window behind it.
pub const LATER_WINDOW: usize = 64 << 10;
/// Stands for the call path above the outermost, and for the site of all call paths, and the communicator of all
/// channels, that found no cell.
pub const NOBODY: u32 = u32::MAX;

/// What a cell is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum CellKind {
    /// A call path: its site, and the number of the cell of the path above it.
    Path {
        /** the site; [`NOBODY`] for all paths that found no cell of their own */
        site: u32,
        /** the cell of the call path above; [`NOBODY`] if it is outermost */
        parent: u32,
    },
    /// Messages sent to a rank of a communicator; where they arrive they are those of the sender.
    Sent {
        /** its number in the process; [`NOBODY`] for all channels that found no cell of their own */
        communicator: u32,
        /** the rank */
        peer: u32,
    },
    /// How many visits of a call path fell into each of eight bins of durations, in ticks.
    Durations {
        /** the cell of the call path */
        cell: u32,
        /** which eight: the first is bin `8 * part` */
        part: u32,
    },
    /// How many of the operations of a call path moved how much data: eight bins, in bytes.
    Sizes {
        /** the cell of the call path; [`NOBODY`] for operations that found none, all in the first bin */
        cell: u32,
        /** which eight: the first is bin `8 * part` */
        part: u32,
    },
    /// Messages received from anybody in a communicator: that there are some tells why the other halves of
    /// messages that were kept are alone.
    Received {
        /** its number in the process */
        communicator: u32,
    },
    /// Visits of a call path that were only counted because recording them cost too much. One word behind the two
    /// that say so, and it belongs to no round: each visit is there as soon as the word is stored.
    Tally {
        /** the cell of the call path */
        cell: u32,
    },
}

/// The number of the first cell in the window of this number in its stream, however many windows before it are
/// still there; `None` of a window that no stream has.
pub fn first_cell(sequence: u64) -> Option<u32> {
    let cells = |len: usize| ((len - HEAD_LEN - SLACK) / CELL_LEN) as u64;
    let Some(later) = sequence.checked_sub(1) else { return Some(0) };
    u32::try_from(later.checked_mul(cells(LATER_WINDOW))?.checked_add(cells(FIRST_WINDOW))?).ok()
}

/// The bin of a value: those of the values from 2ⁿ to 2ⁿ⁺¹ − 1 share one, and 0 has its own. The largest values,
/// from 2⁵² on, share the last.
#[inline(always)]
pub const fn bin(value: u64) -> usize {
    bin_of(value, value as f64)
}

/// The bin of a value that has been made a float as well, the exponent of which is known sooner than where the first
/// bit of the integer is.
#[inline(always)]
pub const fn bin_of(value: u64, float: f64) -> usize {
    if value.wrapping_sub(1) >= least(LAST_BIN) - 1 {
        core::hint::cold_path();
        return if value == 0 { 0 } else { LAST_BIN };
    }
    let exponent = float.to_bits() >> (f64::MANTISSA_DIGITS - 1);
    exponent.wrapping_sub(EXPONENT_OF_1 - BIN_OF_1 as u64) as usize
}

const EXPONENT_OF_1: u64 = 1.0_f64.to_bits() >> (f64::MANTISSA_DIGITS - 1);
/// What is usual, 8 to 2 047 ticks, lies in one cell.
const BIN_OF_1: usize = 5;
/// Larger values are no longer themselves as floats.
const LAST_BIN: usize = BIN_OF_1 + 52;

/// The least value of a bin; that of the bin behind the last is [`u64::MAX`].
pub const fn least(bin: usize) -> u64 {
    match bin.checked_sub(BIN_OF_1) {
        None if bin == 0 => 0,
        // Bins that stay empty.
        None => 1,
        Some(53..) => u64::MAX,
        Some(log2) => 1 << log2,
    }
}

impl CellKind {
    /// The first of the two words of a call path.
    pub const PATH: u64 = 1;

    /// The two words that a cell begins with.
    pub const fn words(self) -> [u64; 2] {
        let (code, a, b) = match self {
            Self::Path { site, parent } => (Self::PATH, site, parent),
            Self::Sent { communicator, peer } => (2, communicator, peer),
            Self::Durations { cell, part } => (3, cell, part),
            Self::Sizes { cell, part } => (4, cell, part),
            Self::Received { communicator } => (5, communicator, 0),
            Self::Tally { cell } => (6, cell, 0),
        };
        [code, a as u64 | (b as u64) << 32]
    }

    const fn from_words([code, rest]: [u64; 2]) -> Option<Self> {
        let (a, b) = ((rest & 0xffff_ffff) as u32, (rest >> 32) as u32);
        Some(match code {
            1 => Self::Path { site: a, parent: b },
            2 => Self::Sent { communicator: a, peer: b },
            3 => Self::Durations { cell: a, part: b },
            4 => Self::Sizes { cell: a, part: b },
            5 => Self::Received { communicator: a },
            6 => Self::Tally { cell: a },
            _ => return None,
        })
    }
}

/// What the visits of a call path come to, times in ticks; or the messages of a channel: their number and
/// bytes, all else 0.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sums {
    /// Visits that have ended, or messages.
    pub number: u64,
    /// Visits besides that were counted only.
    pub untimed: u64,
    /// Time of the visits.
    pub inclusive: u64,
    /// Time in the call path itself, of visits that have not ended too. Beside events it is what is to be added
    /// to that of the path's intervals, and may be less than nothing, as [`i64`].
    pub exclusive: u64,
    /// The shortest visit; [`u64::MAX`] if none has ended.
    pub shortest: u64,
    /// The longest.
    pub longest: u64,
    /// Sum of the squares of their times.
    pub squares: f64,
    /// Data moved.
    pub bytes: u64,
}

/// What a cell says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell {
    /// What the visits of a call path come to.
    Path {
        /** the site; [`NOBODY`] for all paths that found no cell of their own */
        site: u32,
        /** the cell of the call path above; [`NOBODY`] if it is outermost */
        parent: u32,
        /** their sums */
        sums: Sums,
    },
    /// What the messages of a channel come to.
    Sent {
        /** its number in the process; [`NOBODY`] for all channels that found no cell of their own */
        communicator: u32,
        /** the rank */
        peer: u32,
        /** their sums */
        sums: Sums,
    },
    /// Visits of a call path, by duration.
    Durations {
        /** the cell of the call path */
        cell: u32,
        /** the first of the bins, at most [`BINS`] − [`CELL_BINS`] */
        first: usize,
        /** how many visits fell into each */
        visits: [u64; CELL_BINS],
    },
    /// Operations of a call path that moved data, by size.
    Sizes {
        /** the cell of the call path; [`NOBODY`] for operations that found none, all in the first bin */
        cell: u32,
        /** the first of the bins, at most [`BINS`] − [`CELL_BINS`] */
        first: usize,
        /** how many operations fell into each */
        operations: [u64; CELL_BINS],
    },
    /// Messages received in a communicator.
    Received {
        /** its number in the process */
        communicator: u32,
        /** their sums */
        sums: Sums,
    },
    /// Visits of a call path that were only counted because recording them cost too much.
    Tally {
        /** the cell of the call path */
        cell: u32,
        /** how many */
        visits: u64,
    },
}

fn first_bin(part: u32) -> Option<usize> {
    let first = usize::try_from(part).ok()?.checked_mul(CELL_BINS)?;
    (first < BINS).then_some(first)
}

/// The cells of a window of sums, `bytes` from its beginning to the end of what is committed; those sums
/// that come from at most `summed` rounds. A cell that makes no sense is left out as `None`.
pub fn cells(bytes: &[u8], summed: u64) -> impl Iterator<Item = Option<Cell>> + '_ {
    let cells = bytes.get(HEAD_LEN..).unwrap_or_default().chunks_exact(CELL_LEN);
    cells.map(move |cell| {
        let word = |at: usize| {
            let eight = cell.get(8 * at..).and_then(|rest| rest.first_chunk::<8>());
            eight.map_or(0, |eight| u64::from_le_bytes(*eight))
        };
        let kind = CellKind::from_words([word(0), word(1)])?;
        let sums = [2, 2 + SUM_WORDS].into_iter().filter(|&at| word(at) <= summed).max_by_key(|&at| word(at));
        let at = sums.filter(|&at| word(at) != 0);
        let bins = || core::array::from_fn(|bin| at.map_or(0, |at| word(at + 1 + bin)));
        let sums = at.map_or(Sums { shortest: u64::MAX, ..Sums::default() }, |at| Sums {
            number: word(at + 1),
            untimed: word(at + 2),
            inclusive: word(at + 3),
            exclusive: word(at + 4),
            shortest: word(at + 5),
            longest: word(at + 6),
            squares: f64::from_bits(word(at + 7)),
            bytes: word(at + 8),
        });
        match kind {
            CellKind::Path { site, parent } => Some(Cell::Path { site, parent, sums }),
            CellKind::Sent { communicator, peer } => Some(Cell::Sent { communicator, peer, sums }),
            CellKind::Received { communicator } => Some(Cell::Received { communicator, sums }),
            CellKind::Tally { cell } => Some(Cell::Tally { cell, visits: word(2) }),
            CellKind::Durations { cell, part } => {
                let first = first_bin(part)?;
                Some(Cell::Durations { cell, first, visits: bins() })
            }
            CellKind::Sizes { cell, part } => {
                let first = first_bin(part)?;
                Some(Cell::Sizes { cell, first, operations: bins() })
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cells: &[(CellKind, [[u64; SUM_WORDS]; 2])]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_LEN];
        for (kind, sums) in cells {
            let words = kind.words().into_iter().chain(sums.iter().flatten().copied());
            bytes.extend(words.flat_map(u64::to_le_bytes));
        }
        bytes
    }

    /// The number of rounds that count decides, not which sums stand first or are larger.
    #[test]
    fn sums_of_rounds_that_were_not_finished_do_not_count() {
        let kind = CellKind::Path { site: 7, parent: NOBODY };
        let sums = |rounds: u64, number: u64| [rounds, number, 0, 0, 0, 0, 0, 0, 0];
        let bytes = window(&[(kind, [sums(5, 50), sums(4, 40)]), (kind, [sums(0, 9), sums(5, 51)])]);
        let number = |cell: Option<Cell>| match cell {
            Some(Cell::Path { sums, .. }) => sums.number,
            other => panic!("{other:?}"),
        };
        let numbers = |summed: u64| -> Vec<u64> { cells(&bytes, summed).map(number).collect() };
        assert_eq!(numbers(5), [50, 51]);
        assert_eq!(numbers(4), [40, 0]);
        assert_eq!(numbers(3), [0, 0]);
    }

    #[test]
    fn kinds_come_back_and_noise_does_not() {
        let kinds = [
            CellKind::Path { site: 1, parent: 2 },
            CellKind::Sent { communicator: u32::MAX, peer: 4 },
            CellKind::Durations { cell: 1, part: 7 },
            CellKind::Sizes { cell: 2, part: 0 },
            CellKind::Received { communicator: 3 },
            CellKind::Tally { cell: 4 },
        ];
        for kind in kinds {
            assert_eq!(CellKind::from_words(kind.words()), Some(kind));
        }
        assert_eq!(cells(&[0x55; HEAD_LEN + CELL_LEN], 1).collect::<Vec<_>>(), [None]);
    }

    /// Every value lies in its bin, and only there.
    #[test]
    fn bins_follow_each_other() {
        let values = (0..64).flat_map(|n| [(1_u64 << n) - 1, 1 << n, (1 << n) + 1]).chain([u64::MAX]);
        for value in values {
            let bin = bin(value);
            assert!(bin < BINS && least(bin) <= value, "{value} in {bin}");
            assert!(value < least(bin + 1) || value == u64::MAX, "{value} in {bin}");
        }
        assert_eq!([0, 1, 2, 3, 4].map(|value| least(bin(value))), [0, 1, 2, 2, 4]);
    }

    #[test]
    fn bins_of_rounds_that_were_not_finished_do_not_count() {
        let bins = |rounds: u64, visits: u64| [rounds, visits, 0, 0, 0, 0, 0, 0, visits];
        let bytes = window(&[
            (CellKind::Durations { cell: 3, part: 1 }, [bins(5, 50), bins(4, 40)]),
            (CellKind::Durations { cell: 3, part: 8 }, [bins(5, 50), bins(4, 40)]),
        ]);
        let visits = [40, 0, 0, 0, 0, 0, 0, 40];
        let found: Vec<_> = cells(&bytes, 4).collect();
        assert_eq!(found, [Some(Cell::Durations { cell: 3, first: 8, visits }), None]);
    }
}
