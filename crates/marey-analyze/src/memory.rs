//! Memory: what processes had at most, and which call paths allocated it.
//!
//! The one idea: a call path that many processes take is one row, for it is one place in the program. What its blocks
//! came to at the peak is the sum over processes, each at its own peak; so rows add up to the sum of the peaks.

use std::collections::BTreeMap;

use marey_model::{CallPathId, ProcessId};

use crate::caller::caller;
use crate::paths::Paths;
use crate::trace::{AllocationRow, Frame, HeapRow, Trace};

/// The memory of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessMemory {
    /// The process.
    pub process: ProcessId,
    /// The most that it had in memory at a time, of whatever kind, bytes; `None` = not known.
    pub resident: Option<u64>,
    /// Its heap.
    pub heap: HeapRow,
}

/// What one call path allocated, in all processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocationPath<'t> {
    /// The call path; `None` = not known.
    pub call_path: Option<CallPathId>,
    /// Names of its regions, root first; the last is the function that allocated.
    pub path: Vec<&'t str>,
    /// Where it was called from, as [`caller`] tells.
    pub caller: Frame,
    /// Sums over processes. The peak is that of the process in which it was highest.
    pub sum: Allocated,
    /// In how many processes.
    pub processes: usize,
}

/// Numbers of blocks and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allocated {
    /// Blocks allocated.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of these blocks have been freed.
    pub freed_blocks: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// The most bytes that there were at a time.
    pub peak: u64,
    /// Bytes that there were when the process had most.
    pub at_peak: u64,
}

impl Allocated {
    /// Blocks that were there at the end.
    pub fn blocks_at_end(&self) -> u64 {
        self.blocks.saturating_sub(self.freed_blocks)
    }

    /// Bytes that were there at the end.
    pub fn bytes_at_end(&self) -> u64 {
        self.bytes.saturating_sub(self.freed_bytes)
    }

    fn add(&mut self, row: &AllocationRow) {
        for (sum, more) in [
            (&mut self.blocks, row.blocks),
            (&mut self.bytes, row.bytes),
            (&mut self.freed_blocks, row.freed_blocks),
            (&mut self.freed_bytes, row.freed_bytes),
            (&mut self.at_peak, row.at_peak),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.peak = self.peak.max(row.peak);
    }
}

/// Processes of which the heap is recorded, in their order.
pub fn memory(trace: &dyn Trace) -> Vec<ProcessMemory> {
    let row = |heap: &HeapRow| {
        let process = trace.processes().get(heap.process.idx())?;
        Some(ProcessMemory { process: heap.process, resident: process.peak_memory, heap: *heap })
    };
    trace.heaps().iter().filter_map(row).collect()
}

/// One row for each call path that allocated: those that had most at the peak first, then those that allocated most.
pub fn allocations(trace: &dyn Trace) -> Vec<AllocationPath<'_>> {
    let paths = Paths::new(trace);
    let mut sums: BTreeMap<Option<CallPathId>, (Allocated, usize)> = BTreeMap::new();
    for row in trace.allocations() {
        let known = row.call_path.filter(|path| path.idx() < trace.call_paths().len());
        let (sum, processes) = sums.entry(known).or_default();
        sum.add(row);
        *processes += 1;
    }
    let row = |(call_path, (sum, processes)): (Option<CallPathId>, (Allocated, usize))| AllocationPath {
        call_path,
        path: call_path.map(|path| paths.names(path.idx())).unwrap_or_default(),
        caller: call_path.and_then(|path| caller(trace, path)).cloned().unwrap_or_default(),
        sum,
        processes,
    };
    let mut rows: Vec<AllocationPath<'_>> = sums.into_iter().map(row).collect();
    // Those of equal numbers stay in the order of call paths.
    rows.sort_by_key(|row| std::cmp::Reverse((row.sum.at_peak, row.sum.bytes)));
    rows
}
