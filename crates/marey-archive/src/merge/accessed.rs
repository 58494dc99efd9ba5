//! How often calls acted on each array, from where and where to: sums over the whole run.
//!
//! The one idea: single accesses are many, but a program has few places that make them; so their sums are kept while
//! slabs go by, exact as long as there are not millions of places.
//!
//! Deliberately absent: which elements were meant, which stands with single accesses.

use rustc_hash::FxHashMap;

use super::build::{Long, Row};
use super::happen::Accessed;
use super::rows::{columns, leave_in};
use crate::schema::{ACCESSED, NONE};
use crate::{Column, Columns, Error};

/// What is added up: location, call path, kind, array and where it lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Place {
    location: u32,
    path: u32,
    kind: &'static str,
    array: u32,
    target: i64,
    peer: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    accesses: u64,
    bytes: i64,
    time: i64,
}

/// Sums of accesses.
#[derive(Debug, Default)]
pub(crate) struct AccessSums {
    sums: FxHashMap<Place, Sum>,
}

/// Accesses of calls that are not over when a slab ends: they stand in the slab in which these end.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<Accessed>);

impl Held {
    /// Gives the accesses of a location in a slab the ends of their calls, which are visits among `rows` or began in an earlier
    /// slab; those whose calls go on are held back. Time: linear, but for finding visits.
    pub(crate) fn settle(
        &mut self,
        accesses: &mut Vec<Accessed>,
        (rows, long): (&[Row], &[Long]),
        is_open: impl Fn(&Accessed) -> bool,
    ) {
        let ended = |access: &Accessed| {
            let first = long.partition_point(|it| it.start < access.time);
            let mut at_once = long[first..].iter().take_while(|it| it.start == access.time);
            at_once.find(|it| it.path == access.path).map_or(-1, |it| it.start + it.duration)
        };
        let held = std::mem::take(&mut self.0);
        // They began before all others.
        for mut access in held.into_iter().chain(std::mem::take(accesses)) {
            access.leave = match leave_in(rows, access.time, access.path) {
                -1 => ended(&access),
                leave => leave,
            };
            if access.leave < 0 && is_open(&access) { self.0.push(access) } else { accesses.push(access) }
        }
    }
}

/// Places beyond this many are not told apart by where the array lies.
const MOST: usize = 1 << 20;

impl AccessSums {
    /// Adds those of a location in a slab, whose call paths are numbered by `paths`, with the ends that [`Held`] has given them.
    pub(crate) fn add(&mut self, location: u32, accesses: &[Accessed], paths: &[u32]) {
        for access in accesses {
            let path = paths.get(access.path as usize).copied().unwrap_or(NONE);
            let Accessed { kind, array, target, peer, .. } = *access;
            let mut place = Place { location, path, kind, array, target, peer };
            if self.sums.len() >= MOST && !self.sums.contains_key(&place) {
                (place.target, place.peer) = (-1, NONE);
            }
            let sum = self.sums.entry(place).or_default();
            sum.accesses = sum.accesses.saturating_add(1);
            sum.bytes = sum.bytes.saturating_add(access.bytes);
            if access.leave >= 0 {
                sum.time = sum.time.saturating_add(access.leave - access.time);
            }
        }
    }

    /// As rows of a table.
    pub(super) fn table(&self) -> Result<Columns, Error> {
        let mut rows: Vec<(Place, Sum)> = self.sums.iter().map(|(place, sum)| (*place, *sum)).collect();
        rows.sort_unstable_by_key(|(place, _)| *place);
        let columns = columns![rows;
            U32 |row| row.0.location,
            U32 |row| row.0.path,
            Text |row| row.0.kind.to_owned(),
            U32 |row| row.0.array,
            I64 |row| row.0.target,
            U32 |row| row.0.peer,
            I64 |row| i64::try_from(row.1.accesses).unwrap_or(i64::MAX),
            I64 |row| row.1.bytes,
            I64 |row| row.1.time,
        ];
        Columns::from_columns(&ACCESSED, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::build::Operation;

    fn access(time: i64, path: u32) -> Accessed {
        let (kind, array, target, peer) = ("read", 0, -1, NONE);
        Accessed { time, path, kind, array, target, peer, bytes: 0, offset: 0, shape: NONE, leave: -1 }
    }

    fn long(start: i64, path: u32, duration: i64) -> Long {
        let operation = Operation { bytes: 0, participants: 0, visits: 1, gaps: 0 };
        Long { start, duration, path, depth: 0, operation, first_slab: 0, last_slab: 1 }
    }

    #[test]
    fn an_access_stands_where_its_call_ends() {
        let told = |accesses: &[Accessed]| -> Vec<(i64, u32, i64)> {
            accesses.iter().map(|it| (it.time, it.path, it.leave)).collect()
        };
        let mut held = Held::default();
        // The call of the first goes on; of the second nobody knows an end, nor is it open.
        let mut accesses = vec![access(10, 1), access(20, 2)];
        held.settle(&mut accesses, (&[], &[]), |it| it.path == 1);
        assert_eq!(told(&accesses), [(20, 2, -1)]);
        // It ends in the next slab, where another one of its instant and one that began in the first slab are told of.
        let mut accesses = vec![access(10, 3), access(40, 1)];
        held.settle(&mut accesses, (&[], &[long(10, 1, 25), long(10, 3, 30)]), |it| it.time == 40);
        assert_eq!(told(&accesses), [(10, 1, 35), (10, 3, 40)]);
        // What is left when the run is over has no end.
        let mut accesses = Vec::new();
        held.settle(&mut accesses, (&[], &[]), |_| false);
        assert_eq!(told(&accesses), [(40, 1, -1)]);
    }
}
