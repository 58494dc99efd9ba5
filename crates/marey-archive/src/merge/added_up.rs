//! What a recorder has added up in the process, for want of room for events or because rules said so.
//!
//! The one idea: between a window that was kept and the next that is there, a thread's visits are known by
//! their sums alone. They go to the same call paths that its intervals have,
//! as if the intervals had been seen. When it was is told in `passed`. Visits that were only to be counted or
//! timed happened inside regions that may have intervals: these keep the time of their intervals, but their call
//! paths' exclusive times lose it.
//!
//! How sums lie in a spool is told in [`marey_model::spool::sums`].

use marey_model::spool::sums::{Cell, NOBODY, Sums, cells};

use super::build::Builder;
use super::clock::Clock;
use super::globals::{Context, Globals};
use super::index::{Index, SumsIndex};
use super::passed::{self, Found};
use crate::Error;
use crate::schema::NONE;

/// What became of a thread's sums.
#[derive(Debug, Default)]
pub(crate) struct AddedUp {
    /// Since when there are sums, ns; `None` if everything was kept.
    pub since: Option<i64>,
    /// Visits in them.
    pub visits: u64,
    /// How many of them are of call paths that found no place of their own.
    pub others: u64,
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
    let mut nodes: Vec<u32> = Vec::new();
    let (courses, mut passed) = (Found::read(index, sums)?, Vec::new());
    for window in &sums.windows {
        let mut bytes = vec![0; window.end as usize];
        let read = index.read(window.file, window.offset, &mut bytes)?;
        for cell in cells(&bytes[..read], sums.summed) {
            let mut node = NONE;
            match cell {
                // Nothing found no place.
                Some(Cell::Path { site: NOBODY, sums, .. }) if sums.number == 0 => {}
                Some(Cell::Path { site, parent, sums }) => {
                    let above = nodes.get(parent as usize).copied().filter(|&above| above != NONE);
                    let found = || match site {
                        NOBODY => globals.other_paths(context),
                        site => context.site(globals, site),
                    };
                    node = builder.path_below(above, site, found);
                    if site == NOBODY {
                        done.others = done.others.saturating_add(sums.number);
                    }
                    let visits = if matches!(of, Of::Beside) { &mut done.beside } else { &mut done.visits };
                    *visits = visits.saturating_add(sums.number);
                    if !matches!(of, Of::Beside) {
                        done.untimed = done.untimed.saturating_add(sums.untimed);
                    }
                    add_to(builder, node, &context.clock, &sums);
                    if let Of::Times(_) = of {
                        let cell = (nodes.len() as u32, node);
                        passed.push(courses.passed(&context.clock, cell, sums.exclusive));
                    }
                }
                Some(Cell::Sent { communicator: NOBODY, sums, .. }) => {
                    done.other_messages = done.other_messages.saturating_add(sums.number);
                }
                Some(Cell::Sent { communicator, peer, sums }) => {
                    done.sent.push(((communicator, peer), (sums.number, sums.bytes)));
                }
                Some(Cell::Durations { cell, first, visits }) => match known(&nodes, cell) {
                    Some(node) => builder.durations.add_each(node, first, visits),
                    None => done.damaged += 1,
                },
                Some(Cell::Sizes { cell: NOBODY, operations, .. }) => {
                    done.other_sizes = done.other_sizes.saturating_add(operations[0]);
                }
                Some(Cell::Sizes { cell, first, operations }) => match known(&nodes, cell) {
                    Some(node) => builder.sizes.add_each(node, first, operations),
                    None => done.damaged += 1,
                },
                None => done.damaged += 1,
            }
            nodes.push(node);
        }
    }
    if let Of::Times(when) = of {
        done.since = when.first().map(|when| when.0);
        passed::spread(builder, &passed, when);
    }
    Ok(())
}

/// The call path that a cell stands for.
fn known(nodes: &[u32], cell: u32) -> Option<u32> {
    nodes.get(cell as usize).copied().filter(|&node| node != NONE)
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
