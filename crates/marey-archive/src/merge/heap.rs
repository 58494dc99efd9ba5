//! Heaps: what a tree of call paths says becomes rows by call path and process.
//!
//! The one idea: a process's paths are those of one of its locations, the first, and are numbered with that location's
//! own; so an allocation inside `MPI_Init` lies beneath the same call path as everything else there.
//!
//! How a heap lies in a spool is told in [`marey_model::spool::heap`].

use marey_model::spool::heap::{FIRST_PATH, Node, Whole, read};
use rustc_hash::FxHashMap;

use super::build::Builder;
use super::definitions::ProcessDefs;
use super::globals::{Context, Globals};
use super::index::Index;
use super::rows::columns;
use super::samples::whole;
use super::stream::Decoding;
use crate::schema::{ALLOCATIONS, HEAP, NONE};
use crate::{Column, Columns, Error};

/// The heap of a process.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The process, in the order of their ids.
    pub process: u32,
    pub whole: Whole,
    nodes: Vec<Node>,
    /// Some are missing, or make no sense.
    pub is_damaged: bool,
}

/// Reads the heaps of all processes, in the order of these.
pub(crate) fn read_all(index: &Index, processes: &[ProcessDefs]) -> Result<Vec<Tree>, Error> {
    let mut trees = Vec::new();
    for (idx, process) in (0_u32..).zip(processes) {
        let Ok(place) = index.heaps.binary_search_by_key(&process.key, |heap| heap.process) else { continue };
        let heap = &index.heaps[place];
        let mut bytes = Vec::with_capacity(heap.tree.len());
        for window in &heap.tree {
            bytes.push(whole(index, window)?);
        }
        let (whole, nodes, is_whole) = read(&bytes);
        let is_damaged = !is_whole || heap.lost != 0;
        // Killed before anything was written.
        let Some(whole) = whole else { continue };
        trees.push(Tree { process: idx, whole, nodes, is_damaged });
    }
    Ok(trees)
}

/// What one call path has allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The location's own number of the call path; `NONE` if it is not known.
    pub path: u32,
    node: Node,
    at_peak: u64,
}

/// The rows of a process, of which `builder` is that of the first location.
pub(crate) fn rows(tree: &Tree, globals: &Globals, context: &Context, builder: &mut Builder) -> Vec<Row> {
    let mut paths: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    let mut rows = Vec::new();
    for (number, node) in (0_u32..).zip(&tree.nodes) {
        let path = if number < FIRST_PATH {
            NONE
        } else {
            // Nodes stand behind the one that they hang beneath.
            let above = paths.get(node.parent as usize).copied().filter(|&path| path != NONE);
            builder.path_below(above, node.site, || context.site(globals, node.site))
        };
        paths.push(path);
        if node.blocks != 0 {
            rows.push(Row { path, node: *node, at_peak: node.at_peak(&tree.whole) });
        }
    }
    rows
}

/// The table of call paths.
pub(crate) fn allocations(decoding: &Decoding) -> Result<Columns, Error> {
    let mut sums: FxHashMap<(u32, u32), Row> = FxHashMap::default();
    for location in &decoding.locations {
        for row in &location.allocations {
            let path = location.builder.globals.get(row.path as usize).copied().unwrap_or(NONE);
            // Sites that differ in nothing but their number.
            sums.entry((path, location.process)).and_modify(|sum| sum.add(row)).or_insert(*row);
        }
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|(key, _)| *key);
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let columns = columns![rows;
        U32 |row| row.0.0,
        U32 |row| row.0.1,
        I64 |row| number(row.1.node.blocks),
        I64 |row| number(row.1.node.bytes),
        I64 |row| number(row.1.node.freed_blocks),
        I64 |row| number(row.1.node.freed_bytes),
        I64 |row| number(row.1.node.high),
        I64 |row| number(row.1.at_peak),
    ];
    Columns::from_columns(&ALLOCATIONS, columns)
}

impl Row {
    /// Blocks allocated.
    pub(crate) fn blocks(&self) -> u64 {
        self.node.blocks
    }

    /// Bytes allocated.
    pub(crate) fn bytes(&self) -> u64 {
        self.node.bytes
    }

    fn add(&mut self, other: &Self) {
        let (sum, more) = (&mut self.node, &other.node);
        for (sum, more) in [
            (&mut sum.blocks, more.blocks),
            (&mut sum.bytes, more.bytes),
            (&mut sum.freed_blocks, more.freed_blocks),
            (&mut sum.freed_bytes, more.freed_bytes),
            (&mut self.at_peak, other.at_peak),
        ] {
            *sum = sum.saturating_add(more);
        }
        // When each had most is not known together; what there was at the process's peak was there at a time.
        sum.high = sum.high.max(more.high).max(self.at_peak);
    }
}

/// The table of processes.
pub(crate) fn heaps(trees: &[Tree], contexts: &[Context]) -> Result<Columns, Error> {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let columns = columns![trees;
        U32 |tree| tree.process,
        I64 |tree| number(tree.whole.least),
        I64 |tree| number(tree.whole.peak),
        I64 |tree| when(tree, contexts),
        I64 |tree| number(tree.whole.live),
        I64 |tree| number(tree.whole.lost_blocks),
        I64 |tree| number(tree.whole.lost_bytes),
    ];
    Columns::from_columns(&HEAP, columns)
}

/// Until when there was most; −1 = at the end.
fn when(tree: &Tree, contexts: &[Context]) -> i64 {
    let is_at_peak = tree.whole.turn & 1 == 1;
    match tree.whole.peak_ticks {
        ticks if ticks == 0 || is_at_peak => -1,
        ticks => contexts[tree.process as usize].clock.ns(ticks).max(0),
    }
}
