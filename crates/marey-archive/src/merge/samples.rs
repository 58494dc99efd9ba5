//! Samples: what a tree of contexts says becomes stacks, call paths and sums.
//!
//! The one idea: addresses become stacks before anything is decoded, because names are looked up beside the merge;
//! the regions above them become call paths while their location is decoded, like those of its intervals.
//!
//! How samples lie in a spool is told in [`marey_model::spool::samples`].

use marey_model::is_recorder;
use marey_model::spool::HEAD_LEN;
use marey_model::spool::samples::{FIRST_COUNTER, INSTANT_LEN, NO_NODE, Node, NodeKind, instants, nodes};
use rustc_hash::FxHashMap;

use super::build::Builder;
use super::counted::Counted;
use super::definitions::ProcessDefs;
use super::globals::{Context, Globals};
use super::happen::Happened;
use super::index::{Index, SamplesIndex, Window};
use super::mappings::Mappings;
use super::rows::columns;
use super::stream::{Decoding, LocationSlab};
use crate::schema::{NONE, SAMPLED, SAMPLES, TableSpec};
use crate::{Column, Columns, Error};

/// What a thread's samples say before its events are decoded.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// For each node the stack that a sample which ended there had.
    stacks: Vec<u32>,
    /// For each node whether the stack goes up to the thread's beginning.
    complete: Vec<bool>,
    /// Some are missing, or make no sense.
    pub is_damaged: bool,
}

/// A sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub time: i64,
    /// The location's own number of the call path; `NONE` outside of all regions.
    pub path: u32,
    pub stack: u32,
    pub periods: u32,
}

/// Samples of a location in the same place, added up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub path: u32,
    pub stack: u32,
    pub samples: u64,
    pub periods: u64,
    pub time: i64,
    pub is_complete: bool,
}

/// Reads the trees of all threads, in the order of [`Index::samples`], and gives numbers to their stacks.
pub(crate) fn read(
    index: &Index,
    processes: &[ProcessDefs],
    globals: &mut Globals,
) -> Result<Vec<Tree>, Error> {
    let mut trees = Vec::with_capacity(index.samples.len());
    let mut budget = MOST_FRAMES;
    // They are in the order of their ranks.
    let by_key: FxHashMap<u64, &ProcessDefs> =
        processes.iter().map(|process| (process.key, process)).collect();
    for samples in &index.samples {
        let process = by_key.get(&samples.process).copied();
        trees.push(tree(index, samples, process, globals, &mut budget)?);
    }
    Ok(trees)
}

/// Frames of all stacks together: what lies deeper is kept in part then. A spool of a few MiB may claim to have
/// thousands of millions.
const MOST_FRAMES: usize = 1 << 24;
/// Innermost frames that are kept of a stack then.
const FRAMES_KEPT: usize = 32;

fn tree(
    index: &Index,
    samples: &SamplesIndex,
    process: Option<&ProcessDefs>,
    globals: &mut Globals,
    budget: &mut usize,
) -> Result<Tree, Error> {
    let mut bytes = Vec::with_capacity(samples.tree.len());
    for window in &samples.tree {
        bytes.push(whole(index, window)?);
    }
    let (nodes, is_whole) = nodes(&bytes);
    let mut stacks = vec![NONE; nodes.len()];
    let mut complete = vec![true; nodes.len()];
    let mappings = process.map(|process| Mappings::new(&process.mappings)).unwrap_or_default();
    let mut places = Places { process, mappings, known: FxHashMap::default() };
    for (number, node) in nodes.iter().enumerate() {
        let above = usize::try_from(node.parent).ok().filter(|_| node.parent != NO_NODE);
        complete[number] = node.kind != NodeKind::Cut && above.is_none_or(|above| complete[above]);
        if !node.kind.is_context() {
            stacks[number] = above.map_or(NONE, |above| stacks[above]);
        } else if node.periods != 0 && matches!(node.kind, NodeKind::Place | NodeKind::Call) {
            let mut frames = places.frames(&nodes, number, globals);
            if frames.len() > FRAMES_KEPT.max(*budget) {
                frames.truncate(FRAMES_KEPT);
                complete[number] = false;
            }
            *budget = budget.saturating_sub(frames.len());
            stacks[number] = globals.stack(frames);
        }
    }
    Ok(Tree { nodes, stacks, complete, is_damaged: !is_whole || samples.lost != 0 })
}

/// What the addresses of a process are: module and address in it, as far as they have been looked for.
struct Places<'a> {
    process: Option<&'a ProcessDefs>,
    mappings: Mappings<'a>,
    /// By address and the time since which it is meant; `None` for what is left out.
    known: FxHashMap<(u64, u64), Option<(u32, u64)>>,
}

impl Places<'_> {
    /// The frames of a node, innermost first.
    fn frames(&mut self, nodes: &[Node], number: usize, globals: &mut Globals) -> Vec<(u32, u64)> {
        // Which module an address belongs to may have changed; each root holds until one was closed.
        let since = above(nodes, number).last().map_or(0, |root| root.samples);
        let mut frames = Vec::new();
        for node in above(nodes, number) {
            match node.kind {
                NodeKind::Call => {
                    let known = self.known.get(&(node.value, since)).copied();
                    let place = known.unwrap_or_else(|| self.called(node.value, since, globals));
                    frames.extend(place);
                }
                // Where a function was interrupted, the instruction counts and not the one before: what follows it
                // is where a call would return to.
                NodeKind::Place => {
                    let (module, address) = self.place(node.value, since, globals);
                    frames.push((module, address.saturating_add(1)));
                }
                _ => {}
            }
        }
        frames
    }

    /// The place of a return address. None in the recorder: it stands between the program and what it calls, which
    /// is nobody's matter.
    fn called(&mut self, address: u64, since: u64, globals: &mut Globals) -> Option<(u32, u64)> {
        let place = self.place(address, since, globals);
        let module = globals.modules.rows.get(place.0 as usize);
        let place = Some(place).filter(|_| !module.is_some_and(|(_, path)| is_recorder(path)));
        self.known.insert((address, since), place);
        place
    }

    fn place(&self, address: u64, since: u64, globals: &mut Globals) -> (u32, u64) {
        let Some(process) = self.process else { return (NONE, address) };
        match self.mappings.at(address, since).and_then(|it| Some((it, process.modules.get(&it.module)?))) {
            Some((mapping, module)) => {
                (globals.modules.id(module.clone()), address.wrapping_sub(mapping.bias))
            }
            None => (NONE, address),
        }
    }
}

/// A node and those above it.
fn above(nodes: &[Node], number: usize) -> impl Iterator<Item = &Node> {
    std::iter::successors(nodes.get(number), |node| nodes.get(node.parent as usize))
}

/// Whether a node hangs beneath what there was no room for.
fn is_lost(nodes: &[Node], number: usize) -> bool {
    above(nodes, number).last().is_some_and(|root| root.kind == NodeKind::Lost)
}

/// A window from its beginning to the end of what is committed.
pub(crate) fn whole(index: &Index, window: &Window) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; window.end as usize];
    let read = index.read(window.file, window.offset, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Bytes of instants that are read at a time.
const PIECE: usize = 4096 * INSTANT_LEN;

/// The instants of a window from one on, as many as are read at a time. Empty behind the last.
fn some_instants(index: &Index, window: &Window, from: usize) -> Result<Vec<u8>, Error> {
    let start = HEAD_LEN + from * INSTANT_LEN;
    let len = (window.end as usize).saturating_sub(start).min(PIECE);
    let mut bytes = vec![0; len / INSTANT_LEN * INSTANT_LEN];
    let read = index.read(window.file, window.offset + start as u64, &mut bytes)?;
    bytes.truncate(read / INSTANT_LEN * INSTANT_LEN);
    Ok(bytes)
}

/// Between two samples of one window there is never so much: a day. What seems to be later is damaged.
const MOST_TICKS: u64 = 1 << 48;

/// When the last sample of a thread was taken; `None` without samples.
pub(crate) fn last_ticks(index: &Index, samples: &SamplesIndex) -> Result<Option<u64>, Error> {
    for window in samples.instants.iter().rev() {
        let bytes = whole(index, window)?;
        let is_sound = |ticks: &u64| (window.ticks..window.ticks.saturating_add(MOST_TICKS)).contains(ticks);
        let all = instants(bytes.get(HEAD_LEN..).unwrap_or_default()).map(|instant| instant.ticks);
        if let Some(last) = all.filter(is_sound).max() {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

/// What turns the samples of a location into rows.
#[derive(Debug)]
pub(crate) struct Sampled {
    /// Which of [`Index::samples`].
    which: usize,
    /// The next instant: window, and number in it.
    next: (usize, usize),
    /// When that is, ticks; 0 where it has not been looked at.
    next_ticks: u64,
    /// The location's call path of each node, as far as it has been looked for.
    paths: Vec<Option<u32>>,
    /// Filled at the end.
    pub sums: Vec<Sum>,
    /// Periods for which there was no room.
    pub lost: u64,
    /// Readings of counters that are counted outside of all regions, for there was no room where they belong.
    pub lost_counts: u64,
    /// What was counted beside the time.
    pub counted: Counted,
}

/// What samples are decoded with.
#[derive(Clone, Copy)]
pub(crate) struct With<'a> {
    pub index: &'a Index,
    pub trees: &'a [Tree],
    pub globals: &'a Globals,
    pub context: &'a Context,
}

impl Sampled {
    pub(crate) fn new(which: usize) -> Self {
        Self {
            which,
            next: (0, 0),
            next_ticks: 0,
            paths: Vec::new(),
            sums: Vec::new(),
            lost: 0,
            lost_counts: 0,
            counted: Counted::default(),
        }
    }

    /// Whether records are missing or make no sense.
    pub(crate) fn is_damaged(&self, trees: &[Tree]) -> bool {
        trees[self.which].is_damaged
    }

    /// Decodes all instants before `limit` ticks.
    pub(crate) fn run(
        &mut self,
        with: With<'_>,
        limit: u64,
        builder: &mut Builder,
        out: &mut Happened,
    ) -> Result<(), Error> {
        let samples = &with.index.samples[self.which];
        // Most slabs of a long run have none: their windows need not be read for that.
        if limit <= self.next_ticks {
            return Ok(());
        }
        while let Some(window) = samples.instants.get(self.next.0) {
            let bytes = some_instants(with.index, window, self.next.1)?;
            let is_last = bytes.is_empty();
            for instant in instants(&bytes) {
                if instant.ticks >= limit {
                    self.next_ticks = instant.ticks;
                    return Ok(());
                }
                self.next.1 += 1;
                let time = with.context.clock.ns(instant.ticks);
                if let Some(number) = instant.node.checked_sub(FIRST_COUNTER) {
                    out.counters.extend(self.counted.value(with.context, number, instant.weight, time));
                    continue;
                }
                let tree = &with.trees[self.which];
                // One that was noted before its node made it to the file.
                let Some(&stack) = tree.stacks.get(instant.node as usize) else { continue };
                let path = self.path(with, instant.node as usize, builder);
                out.samples.push(Row { time, path, stack, periods: instant.weight });
            }
            if is_last {
                self.next = (self.next.0 + 1, 0);
            }
        }
        Ok(())
    }

    /// Adds up what the tree says, when the location is over.
    pub(crate) fn finish(&mut self, with: With<'_>, builder: &mut Builder) {
        let tree = &with.trees[self.which];
        let is_used = |(_, node): &(usize, &Node)| node.periods != 0 || node.kind == NodeKind::Covered;
        for (number, node) in tree.nodes.iter().enumerate().filter(is_used) {
            if node.kind == NodeKind::Lost {
                self.lost = self.lost.saturating_add(node.periods);
                continue;
            }
            let period = above(&tree.nodes, number).last().map_or(0, |root| root.value);
            let time = node.periods.saturating_mul(period);
            let path = self.path(with, number, builder);
            if !node.kind.is_context() {
                if node.kind == NodeKind::Count && is_lost(&tree.nodes, number) {
                    self.lost_counts = self.lost_counts.saturating_add(node.samples);
                }
                self.counted.add(with.context, node, path, tree.stacks[number]);
                continue;
            }
            self.sums.push(Sum {
                path,
                stack: tree.stacks[number],
                samples: node.samples,
                periods: node.periods,
                time: i64::try_from(time).unwrap_or(i64::MAX),
                is_complete: tree.complete[number],
            });
        }
    }

    /// The call path of a node: the innermost open region's, or that of the nearest node above that is one.
    fn path(&mut self, with: With<'_>, number: usize, builder: &mut Builder) -> u32 {
        let tree = &with.trees[self.which];
        self.paths.resize(tree.nodes.len(), None);
        let mut way = Vec::new();
        let mut at = Some(number);
        let mut path = NONE;
        while let Some(number) = at {
            if let Some(known) = self.paths[number] {
                path = known;
                break;
            }
            way.push(number);
            at = Some(tree.nodes[number].parent as usize).filter(|&parent| parent < number);
        }
        for number in way.into_iter().rev() {
            let node = &tree.nodes[number];
            if node.kind == NodeKind::Site {
                let site = u32::try_from(node.value).unwrap_or(NONE);
                let above = (path != NONE).then_some(path);
                path = builder.path_below(above, site, || with.context.site(with.globals, site));
            }
            self.paths[number] = Some(path);
        }
        path
    }
}

/// The samples of a slab.
pub(crate) fn rows(locations: &[LocationSlab]) -> (&'static TableSpec, Vec<Column>) {
    let rows: Vec<_> =
        locations.iter().flat_map(|l| l.happened.samples.iter().map(move |row| (l, row))).collect();
    let columns = columns![rows;
        U32 |row| row.0.location,
        I64 |row| row.1.time,
        U32 |row| row.0.paths.get(row.1.path as usize).copied().unwrap_or(NONE),
        U32 |row| row.1.stack,
        I64 |row| row.1.periods.into(),
    ];
    (&SAMPLES, columns)
}

/// The table of sums.
pub(crate) fn sums(decoding: &Decoding) -> Result<Columns, Error> {
    let rows = decoding.locations.iter().filter_map(|it| Some((it, it.sampled.as_ref()?)));
    let rows = rows.flat_map(|(location, sampled)| {
        sampled.sums.iter().map(move |sum| {
            let path = location.builder.globals.get(sum.path as usize).copied().unwrap_or(NONE);
            (path, location.id, *sum)
        })
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(path, location, sum)| (*path, *location, sum.stack, sum.is_complete));
    // Contexts that differ only in what was loaded then.
    rows.dedup_by(|row, kept| {
        let is_same = (row.0, row.1, row.2.stack, row.2.is_complete)
            == (kept.0, kept.1, kept.2.stack, kept.2.is_complete);
        if is_same {
            kept.2.samples = kept.2.samples.saturating_add(row.2.samples);
            kept.2.periods = kept.2.periods.saturating_add(row.2.periods);
            kept.2.time = kept.2.time.saturating_add(row.2.time);
        }
        is_same
    });
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        U32 |row| row.2.stack,
        I64 |row| i64::try_from(row.2.samples).unwrap_or(i64::MAX),
        I64 |row| i64::try_from(row.2.periods).unwrap_or(i64::MAX),
        I64 |row| row.2.time,
        U32 |row| row.2.is_complete.into(),
    ];
    Columns::from_columns(&SAMPLED, columns)
}
