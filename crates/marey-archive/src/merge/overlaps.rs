//! States that need not nest, and what happened on lanes: both are begun and ended by any thread.
//!
//! The one idea: their marks are gathered per process and slab and put into the order of time.

use rustc_hash::FxHashMap;

use super::happen::Mark;

/// A row of `overlaps`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Overlap {
    pub location: u32,
    pub start: i64,
    pub duration: i64,
    pub region: u32,
}

/// The states of a process that are open.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    open: FxHashMap<u64, (u32, i64, u32)>,
    /// Ends of states that never began.
    pub orphans: u64,
    /// States that never ended.
    pub unended: u64,
}

impl Overlaps {
    /// Takes the marks of a process's threads in one slab and gives the states that ended.
    pub(crate) fn slab(&mut self, threads: &[(u32, &[Mark])]) -> Vec<Overlap> {
        let all =
            threads.iter().flat_map(|&(location, marks)| marks.iter().map(move |mark| (location, mark)));
        let mut marks: Vec<(u32, &Mark)> = all.collect();
        if marks.is_empty() {
            return Vec::new();
        }
        // A begin goes before an end of the same instant.
        marks.sort_by_key(|(location, mark)| (mark.time, mark.region.is_none(), *location));
        let mut ended = Vec::new();
        for (location, mark) in marks {
            if let Some(region) = mark.region {
                if let Some(replaced) = self.open.insert(mark.token, (location, mark.time, region)) {
                    self.unended += 1;
                    ended.push(overlap(replaced, mark.time));
                }
                continue;
            }
            match self.open.remove(&mark.token) {
                Some(begun) => ended.push(overlap(begun, mark.time)),
                None => self.orphans += 1,
            }
        }
        ended.sort_unstable();
        ended
    }

    /// Closes what is open at the end of the process.
    pub(crate) fn finish(&mut self, end: i64) -> Vec<Overlap> {
        let mut left: Vec<Overlap> = self.open.drain().map(|(_, begun)| overlap(begun, end)).collect();
        left.sort_unstable();
        self.unended += left.len() as u64;
        left
    }
}

fn overlap((location, start, region): (u32, i64, u32), end: i64) -> Overlap {
    Overlap { location, start, duration: (end - start).max(0), region }
}
