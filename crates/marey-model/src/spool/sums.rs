//! Sums: what is kept of a thread's events where there is no room for the events themselves.
//!
//! The one idea: a thread that has come to its limit goes on in one window, and whenever that is full its
//! records are added up here and the window begins anew. So there is one way to record, sums are those that
//! a reader would have made of the records, and what was not added up yet still stands in the window.
//!
//! A stream of sums has *cells*, one for each call path, and one for each channel that messages went
//! through. Adding up goes in *rounds*, one for each time that the window was full. A cell holds its sums
//! twice, each with the round that was added last: while one round is being added up, the other sums stay as
//! they were. The head of the first window says how many rounds there were ([`super::at::SUMMED`]), and so
//! which of the two count; the head of a window of events says how many there were before it, and so whether
//! the last one is in the sums already. A process that is killed in the middle of it loses nothing and has
//! nothing twice.
//!
//! Deliberately absent: when something happened. The first window's head says since when there are sums.

use super::window::HEAD_LEN;

/// Bytes of a cell.
pub const CELL_LEN: usize = 16 + 2 * SUMS_LEN;
const SUMS_LEN: usize = 8 * SUM_WORDS;
/// Words of each of a cell's two sums; the first is the number of rounds, with the last that was added.
pub const SUM_WORDS: usize = 9;
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
}

impl CellKind {
    /// The two words that a cell begins with.
    pub const fn words(self) -> [u64; 2] {
        let (code, a, b) = match self {
            Self::Path { site, parent } => (1, site, parent),
            Self::Sent { communicator, peer } => (2, communicator, peer),
        };
        [code, a as u64 | (b as u64) << 32]
    }

    const fn from_words([code, rest]: [u64; 2]) -> Option<Self> {
        let (a, b) = ((rest & 0xffff_ffff) as u32, (rest >> 32) as u32);
        Some(match code {
            1 => Self::Path { site: a, parent: b },
            2 => Self::Sent { communicator: a, peer: b },
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
    /// Time in the call path itself, of visits that have not ended too.
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

/// The cells of a window of sums, `bytes` from its beginning to the end of what is committed; those sums
/// that come from at most `summed` rounds. A cell whose sums make no sense is left out of `found` as `None`.
pub fn cells(bytes: &[u8], summed: u64) -> impl Iterator<Item = Option<(CellKind, Sums)>> + '_ {
    let cells = bytes.get(HEAD_LEN..).unwrap_or_default().chunks_exact(CELL_LEN);
    cells.map(move |cell| {
        let word = |at: usize| {
            let eight = cell.get(8 * at..).and_then(|rest| rest.first_chunk::<8>());
            eight.map_or(0, |eight| u64::from_le_bytes(*eight))
        };
        let kind = CellKind::from_words([word(0), word(1)])?;
        let sums = [2, 2 + SUM_WORDS].into_iter().filter(|&at| word(at) <= summed).max_by_key(|&at| word(at));
        let found = sums.filter(|&at| word(at) != 0).map(|at| Sums {
            number: word(at + 1),
            untimed: word(at + 2),
            inclusive: word(at + 3),
            exclusive: word(at + 4),
            shortest: word(at + 5),
            longest: word(at + 6),
            squares: f64::from_bits(word(at + 7)),
            bytes: word(at + 8),
        });
        Some((kind, found.unwrap_or(Sums { shortest: u64::MAX, ..Sums::default() })))
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
        let numbers =
            |summed: u64| -> Vec<u64> { cells(&bytes, summed).map(|cell| cell.unwrap().1.number).collect() };
        assert_eq!(numbers(5), [50, 51]);
        assert_eq!(numbers(4), [40, 0]);
        assert_eq!(numbers(3), [0, 0]);
    }

    #[test]
    fn kinds_come_back_and_noise_does_not() {
        let kinds =
            [CellKind::Path { site: 1, parent: 2 }, CellKind::Sent { communicator: u32::MAX, peer: 4 }];
        for kind in kinds {
            assert_eq!(CellKind::from_words(kind.words()), Some(kind));
        }
        assert_eq!(cells(&[0x55; HEAD_LEN + CELL_LEN], 1).collect::<Vec<_>>(), [None]);
    }
}
