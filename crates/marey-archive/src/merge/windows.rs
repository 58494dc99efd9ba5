//! Windows of one-sided communication: which process's memory a call reached into, and where.
//!
//! The one idea: all who share a communicator make its windows in the same order, so a part of one process and those of the
//! others are found by communicator and number. What they are called they are called together: after the name that a
//! program has given one of them, else after the memory that one of them has given, for another may have given none.
//!
//! Deliberately absent: guesses. An access that leads to no part that is known names the caller's own, and no place in it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::definitions::ProcessDefs;
use super::identity::Communicators;
use crate::schema::NONE;

/// A window of the run: its communicator, and how many were made there before.
type Key = (u32, u64);

/// What a process has given to a window.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// The datum's row.
    row: u32,
    address: u64,
    bytes: u64,
    /// Bytes of a displacement.
    unit: u64,
    from: i64,
    /// `i64::MAX` = it was not given back.
    until: i64,
}

/// A part: what a process gave when the window was made, and what it attached later.
#[derive(Debug, Default)]
struct Part {
    whole: Option<Piece>,
    attached: Vec<Piece>,
}

/// All windows.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    keys: FxHashMap<Key, u32>,
    /// Of each process the window of each number.
    seen: Vec<BTreeMap<u32, Seen>>,
    /// Of each process the window that a datum belongs to, and whether it is what was given when that was made.
    of_data: Vec<FxHashMap<u32, (u32, bool)>>,
    /// Process and datum after which each window is called.
    called_after: Vec<(usize, u32)>,
    parts: FxHashMap<(u32, u32), Part>,
    /// Ranks of processes in their worlds.
    ranks: Vec<i64>,
}

/// A window as one process sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// Which it is.
    pub window: u32,
    /// Its communicator in the run.
    pub communicator: u32,
    /// How many were made there before.
    pub number: u64,
    /// The process's own part, as a datum; [`NONE`] if it is none.
    data: u32,
}

/// How much a datum says of what its window is called.
fn telling(process: &ProcessDefs, data: u32) -> u8 {
    let Some(def) = process.data.get(&data) else { return 0 };
    match (def.name.is_empty(), def.within.is_some() || def.place.is_some()) {
        (false, _) => 3,
        (true, true) => 2,
        (true, false) => 1,
    }
}

impl Windows {
    /// Those of all processes, in their order.
    pub(crate) fn new(processes: &[ProcessDefs], communicators: &Communicators) -> Self {
        let mut windows = Self::default();
        for (idx, process) in processes.iter().enumerate() {
            windows.ranks.push(process.mpi.as_ref().map_or(-1, |mpi| mpi.rank.into()));
            let mut made: Vec<(u64, u32, u32)> =
                process.windows.iter().map(|(&id, &(comm, number))| (number, comm, id)).collect();
            made.sort_unstable();
            let mut numbers: FxHashMap<u32, u64> = FxHashMap::default();
            let mut seen = BTreeMap::new();
            for (_, comm, id) in made {
                let next = numbers.entry(comm).or_default();
                let number = std::mem::replace(next, *next + 1);
                let communicator = communicators.seen[idx].get(&comm).map_or(NONE, |seen| seen.id);
                // What has no communicator is nobody else's.
                let key = if communicator == NONE {
                    (NONE, (idx as u64) << 32 | u64::from(id))
                } else {
                    (communicator, number)
                };
                let fresh = windows.keys.len() as u32;
                let window = *windows.keys.entry(key).or_insert(fresh);
                if window == fresh {
                    windows.called_after.push((idx, NONE));
                }
                seen.insert(id, Seen { window, communicator, number, data: NONE });
            }
            let mut of_data = FxHashMap::default();
            for &(id, data) in &process.window_data {
                let Some(seen) = seen.get_mut(&id) else { continue };
                // What follows has been attached.
                let is_whole = seen.data == NONE;
                of_data.insert(data, (seen.window, is_whole));
                if !is_whole {
                    continue;
                }
                seen.data = data;
                let after = &mut windows.called_after[seen.window as usize];
                if after.1 == NONE || telling(&processes[after.0], after.1) < telling(process, data) {
                    *after = (idx, data);
                }
            }
            windows.seen.push(seen);
            windows.of_data.push(of_data);
        }
        windows
    }

    /// The windows of a process by its own numbers.
    pub(crate) fn of_process(&self, idx: usize) -> &BTreeMap<u32, Seen> {
        &self.seen[idx]
    }

    /// Process and datum after which a datum of a window is called: for what is attached that is itself.
    pub(crate) fn called_after(&self, idx: usize, data: u32) -> (usize, u32) {
        match self.of_data[idx].get(&data) {
            Some(&(window, true)) => self.called_after[window as usize],
            _ => (idx, data),
        }
    }

    /// Adds the datum that stands in a row.
    pub(crate) fn add(&mut self, idx: usize, process: &ProcessDefs, data: u32, row: u32, clock: &Clock) {
        let (Some(&(window, is_whole)), Some(def)) = (self.of_data[idx].get(&data), process.data.get(&data))
        else {
            return;
        };
        let piece = Piece {
            row,
            address: def.address,
            bytes: def.bytes,
            unit: def.element,
            from: clock.ns(def.ticks),
            until: if def.until == 0 { i64::MAX } else { clock.ns(def.until) },
        };
        let part = self.parts.entry((window, idx as u32)).or_default();
        if is_whole {
            part.whole = Some(piece);
        } else {
            part.attached.push(piece);
        }
    }

    /// Rows of data are other ones now.
    #[expect(clippy::iter_over_hash_type, reason = "each part by itself")]
    pub(crate) fn renumber(&mut self, now: &[u32]) {
        for part in self.parts.values_mut() {
            let pieces = part.whole.iter_mut().chain(&mut part.attached);
            pieces.for_each(|piece| piece.row = now.get(piece.row as usize).copied().unwrap_or(NONE));
        }
    }

    /// What a call of a process reaches at an instant with another one, by its displacement there: row of the datum, and the
    /// distance from its beginning in bytes; −1 if that is not known. `None` if windows' memory is no datum.
    pub(crate) fn reached(
        &self,
        window: u32,
        (own, peer): (u32, u32),
        displacement: i64,
        now: i64,
    ) -> Option<(u32, i64)> {
        let own = self.parts.get(&(window, own)).and_then(|part| part.whole)?;
        let part = self.parts.get(&(window, peer));
        let Some((part, whole)) = part.and_then(|part| Some((part, part.whole?))) else {
            return Some((own.row, -1));
        };
        if part.attached.is_empty() {
            let offset = displacement.checked_mul(i64::try_from(whole.unit).unwrap_or(i64::MAX));
            return Some((whole.row, offset.filter(|offset| *offset >= 0).unwrap_or(-1)));
        }
        // The displacement is the address. Of what lay there one after the other, it is what was there at the time; clocks
        // of two processes may differ a little, so else what is nearest to it.
        let address = displacement.cast_unsigned();
        let holds = |piece: &&Piece| address.checked_sub(piece.address).is_some_and(|at| at < piece.bytes);
        let away =
            |piece: &&Piece| piece.from.saturating_sub(now).max(now.saturating_sub(piece.until)).max(0);
        let found = part.attached.iter().filter(holds).min_by_key(away);
        Some(found.map_or((whole.row, -1), |piece| (piece.row, (address - piece.address).cast_signed())))
    }

    /// The rank of a process in its world; −1 if it is not known.
    pub(crate) fn rank(&self, process: u32) -> i64 {
        self.ranks.get(process as usize).copied().unwrap_or(-1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(row: u32, address: u64, from: i64, until: i64) -> Piece {
        Piece { row, address, bytes: 100, unit: 8, from, until }
    }

    #[test]
    fn what_is_reached_lies_with_the_target_and_at_its_displacement() {
        let mut windows = Windows::default();
        let part = |whole: Piece, attached: Vec<Piece>| Part { whole: Some(whole), attached };
        windows.parts.insert((0, 0), part(piece(10, 0, 0, i64::MAX), Vec::new()));
        windows.parts.insert((0, 1), part(Piece { unit: 4, ..piece(11, 0, 0, i64::MAX) }, Vec::new()));
        let attached = vec![piece(21, 5000, 10, 20), piece(22, 5000, 30, 40), piece(23, 6000, 0, i64::MAX)];
        windows.parts.insert((1, 0), part(piece(19, 0, 0, i64::MAX), Vec::new()));
        windows.parts.insert((1, 1), part(piece(20, 0, 0, i64::MAX), attached));
        let reached = |window, peer, displacement, now| windows.reached(window, (0, peer), displacement, now);
        // By the unit of the target, not of the caller.
        assert_eq!(reached(0, 1, 3, 0), Some((11, 12)));
        assert_eq!(reached(0, 0, 3, 0), Some((10, 24)));
        // Who was not measured, and what is no window of data.
        assert_eq!(reached(0, 7, 3, 0), Some((10, -1)));
        assert_eq!(reached(2, 1, 3, 0), None);
        // What lay at one address one after the other.
        assert_eq!(reached(1, 1, 5016, 15), Some((21, 16)));
        assert_eq!(reached(1, 1, 5016, 35), Some((22, 16)));
        assert_eq!(reached(1, 1, 5016, 45), Some((22, 16)));
        assert_eq!(reached(1, 1, 6099, 15), Some((23, 99)));
        assert_eq!(reached(1, 1, 6100, 15), Some((20, -1)));
        assert_eq!(reached(1, 1, -1, 15), Some((20, -1)));
    }
}
