//! What a recorder has added up in the process, for want of room for events or because rules said so.
//!
//! The one idea: between a window that was kept and the next that is there, a thread's visits are known by
//! their sums alone. They go to the same call paths that its intervals have,
//! as if the intervals had been seen. When it was is told in `passed`. Visits that were only to be counted or
//! timed happened inside regions that may have intervals: these keep the time of their intervals, but their call
//! paths' exclusive times lose it.
//!
//! How sums lie in a spool is told in [`marey_model::spool::sums`].

use marey_model::spool::sums::{Cell, NOBODY, Sums};
use rustc_hash::FxHashMap;

use super::build::Builder;
use super::cells;
use super::clock::Clock;
use super::globals::{Context, Globals};
use super::index::{Index, SumsIndex};
use super::passed::{self, Found};
use crate::Error;

/// What became of a thread's sums.
#[derive(Debug, Default)]
pub(crate) struct AddedUp {
    /// Since when there are sums, ns; `None` if everything was kept.
    pub since: Option<i64>,
    /// Visits in them.
    pub visits: u64,
    /// How many of them are of call paths that found no place of their own.
    pub others: u64,
    /// How many of them are of call paths of which only the innermost part is known.
    pub strays: u64,
    /// Windows of them that are missing.
    pub lost: u64,
    /// How many of them were counted only.
    pub untimed: u64,
    /// Cells that make no sense.
    pub damaged: u64,
    /// Messages sent, by communicator and rank: number and bytes.
    pub sent: Vec<((u32, u32), (u64, u64))>,
    /// Messages of channels that found no place of their own.
    pub other_messages: u64,
    /// Operations whose sizes found no place.
    pub other_sizes: u64,
    /// Visits that were only to be counted or timed.
    pub beside: u64,
    /// Visits that were only counted because recording them was too dear.
    pub reduced: u64,
}

/// What a thread's sums are of.
#[derive(Clone, Copy)]
pub(crate) enum Of<'a> {
    /// Of these times, each from and to, ns.
    Times(&'a [(i64, i64)]),
    /// Of visits that were only to be counted or timed: what they took is missing in the exclusive times of the
    /// paths above, which may have been recorded.
    Beside,
}

/// Adds a thread's sums to its call paths, and to `done`.
pub(crate) fn add(
    (index, sums): (&Index, &SumsIndex),
    (globals, context): (&Globals, &Context),
    builder: &mut Builder,
    of: Of<'_>,
    done: &mut AddedUp,
) -> Result<(), Error> {
    let nodes = FxHashMap::default();
    let mut adding = Adding { globals, context, builder, done, nodes, is_beside: matches!(of, Of::Beside) };
    let (courses, mut passed) = (Found::read(index, sums)?, Vec::new());
    cells::each(index, sums, |number, cell| match cell {
        Some(Cell::Path { site, parent, sums }) => {
            if let Some(node) = adding.path(number, (site, parent), &sums)
                && let Of::Times(_) = of
            {
                passed.push(courses.passed(&context.clock, (number, node), sums.exclusive));
            }
        }
        Some(cell) => adding.other(&cell),
        None => adding.done.damaged += 1,
    })?;
    done.lost = done.lost.saturating_add(sums.lost).saturating_add(sums.lost_courses);
    if let Of::Times(when) = of {
        done.since = when.first().map(|when| when.0);
        if !context.without_times {
            passed::spread(builder, &passed, when);
        }
    }
    Ok(())
}

/// What a thread's cells are added to.
struct Adding<'a> {
    globals: &'a Globals,
    context: &'a Context,
    builder: &'a mut Builder,
    done: &'a mut AddedUp,
    /// The call paths that cells stand for.
    nodes: FxHashMap<u32, u32>,
    is_beside: bool,
}

impl Adding<'_> {
    /// Adds the sums of a call path, which the cell of this number has. Its node; `None` if it stands for those that
    /// found no cell and there are none.
    fn path(&mut self, number: u32, (site, parent): (u32, u32), sums: &Sums) -> Option<u32> {
        // Nothing found no place.
        if site == NOBODY && sums.number == 0 {
            return None;
        }
        let (globals, context) = (self.globals, self.context);
        let is_stray = parent != NOBODY && !self.nodes.contains_key(&parent);
        let above = match self.nodes.get(&parent) {
            None if !is_stray => None,
            // The cell of the path above is missing, or of something else: it is in a path that nobody knows.
            None => Some(self.builder.path_below(None, NOBODY, || globals.other_paths(context))),
            known => known.copied(),
        };
        let node = self.builder.path_below(above, site, || match site {
            NOBODY => globals.other_paths(context),
            site => context.site(globals, site),
        });
        self.nodes.insert(number, node);
        let done = &mut *self.done;
        if site == NOBODY {
            done.others = done.others.saturating_add(sums.number);
        } else if is_stray {
            done.strays = done.strays.saturating_add(sums.number);
        }
        if self.is_beside {
            done.beside = done.beside.saturating_add(sums.number);
        } else {
            done.visits = done.visits.saturating_add(sums.number);
            done.untimed = done.untimed.saturating_add(sums.untimed);
        }
        add_to(self.builder, node, &self.context.clock, sums);
        Some(node)
    }

    /// Adds what a cell says that is of no call path's visits as a whole.
    fn other(&mut self, cell: &Cell) {
        let done = &mut *self.done;
        let known = |cell: u32| self.nodes.get(&cell).copied();
        match *cell {
            Cell::Path { .. } | Cell::Received { .. } => {}
            Cell::Sent { communicator: NOBODY, sums, .. } => {
                done.other_messages = done.other_messages.saturating_add(sums.number);
            }
            Cell::Sent { communicator, peer, sums } => {
                done.sent.push(((communicator, peer), (sums.number, sums.bytes)));
            }
            Cell::Durations { cell, first, visits } => match known(cell) {
                Some(node) => self.builder.durations.add_each(node, first, visits),
                None => done.damaged += 1,
            },
            Cell::Tally { cell, visits } => match known(cell) {
                Some(node) => {
                    done.reduced = done.reduced.saturating_add(visits);
                    self.builder.reduced.counted(node, visits);
                }
                None => done.damaged += 1,
            },
            Cell::Sizes { cell: NOBODY, operations, .. } => {
                done.other_sizes = done.other_sizes.saturating_add(operations[0]);
            }
            Cell::Sizes { cell, first, operations } => match known(cell) {
                Some(node) => self.builder.sizes.add_each(node, first, operations),
                None => done.damaged += 1,
            },
        }
    }
}

/// Adds sums to those of a call path. Exclusive times may be less than nothing, see [`Of::Beside`].
fn add_to(builder: &mut Builder, node: u32, clock: &Clock, sums: &Sums) {
    let node = &mut builder.nodes[node as usize];
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    node.visits = node.visits.saturating_add(count(sums.number));
    node.untimed = node.untimed.saturating_add(count(sums.untimed));
    node.inclusive = node.inclusive.saturating_add(clock.span(sums.inclusive));
    node.bytes = node.bytes.saturating_add(count(sums.bytes));
    if sums.shortest != u64::MAX {
        node.min = node.min.min(clock.span(sums.shortest));
        node.max = node.max.max(clock.span(sums.longest));
    }
    if sums.squares.is_finite() {
        node.sum_squares += sums.squares.max(0.0) * clock.span_ns(1.0) * clock.span_ns(1.0);
    }
    let exclusive = sums.exclusive.cast_signed();
    let span = clock.span(exclusive.unsigned_abs()).saturating_mul(exclusive.signum());
    node.exclusive = node.exclusive.saturating_add(span);
}
