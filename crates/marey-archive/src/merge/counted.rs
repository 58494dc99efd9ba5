//! What was counted beside the time: sums by call path, stack and location.
//!
//! The one idea: counts lie in the tree of samples, beneath the places that they belong to, so whoever walks that
//! finds them there ([`super::samples`]); here they get the run's names and become tables.

use marey_model::spool::samples::{Node, NodeKind};
use rustc_hash::FxHashMap;

use super::globals::Context;
use super::rows::columns;
use super::stream::Decoding;
use crate::schema::{COUNTED, COUNTER_COVERAGE, NONE};
use crate::{Column, Columns, Error};

/// What was counted at a location.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    counts: Vec<Count>,
    coverage: Vec<Coverage>,
    /// What each counter has counted up to now.
    values: FxHashMap<u32, u64>,
}

/// What a counter counted in one context.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// The location's own number of the call path; `NONE` outside of all regions.
    path: u32,
    stack: u32,
    counter: u32,
    value: u64,
    readings: u64,
}

/// How long a counter has counted, of how long it should have; ns.
#[derive(Clone, Copy, Debug)]
struct Coverage {
    counter: u32,
    running: u64,
    enabled: u64,
}

impl Counted {
    /// Adds a node that is no place. One of a counter that nobody has defined is left out.
    pub(crate) fn add(&mut self, context: &Context, node: &Node, path: u32, stack: u32) {
        let number = u32::try_from(node.value).unwrap_or(NONE);
        let Some(&counter) = context.counted.get(&number) else { return };
        let (value, readings) = (node.periods, node.samples);
        if node.kind == NodeKind::Covered {
            self.coverage.push(Coverage { counter, running: value, enabled: readings });
        } else {
            self.counts.push(Count { path, stack, counter, value, readings });
        }
    }
}

impl Counted {
    /// The value of a counter at a time, after it has counted more: time, counter and value.
    pub(crate) fn value(
        &mut self,
        context: &Context,
        number: u32,
        more: u32,
        time: i64,
    ) -> Option<(i64, u32, f64)> {
        let &counter = context.counted.get(&number)?;
        let value = self.values.entry(counter).or_default();
        *value = value.saturating_add(more.into());
        #[expect(clippy::cast_precision_loss, reason = "53 bits of events are months")]
        Some((time, counter, *value as f64))
    }
}

fn at_most(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The table of counts.
pub(crate) fn sums(decoding: &Decoding) -> Result<Columns, Error> {
    let rows = decoding.locations.iter().filter_map(|it| Some((it, it.sampled.as_ref()?)));
    let rows = rows.flat_map(|(location, sampled)| {
        sampled.counted.counts.iter().map(move |count| {
            let path = location.builder.globals.get(count.path as usize).copied().unwrap_or(NONE);
            (path, location.id, *count)
        })
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(path, location, count)| (*path, *location, count.stack, count.counter));
    // Contexts that differ only in what was loaded then.
    rows.dedup_by(|row, kept| {
        let key = |row: &(u32, u32, Count)| (row.0, row.1, row.2.stack, row.2.counter);
        let is_same = key(row) == key(kept);
        if is_same {
            kept.2.value = kept.2.value.saturating_add(row.2.value);
            kept.2.readings = kept.2.readings.saturating_add(row.2.readings);
        }
        is_same
    });
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        U32 |row| row.2.stack,
        U32 |row| row.2.counter,
        I64 |row| at_most(row.2.value),
        I64 |row| at_most(row.2.readings),
    ];
    Columns::from_columns(&COUNTED, columns)
}

/// The table of the time that counters had.
pub(crate) fn coverage(decoding: &Decoding) -> Result<Columns, Error> {
    let rows = decoding.locations.iter().filter_map(|it| Some((it.id, it.sampled.as_ref()?)));
    let rows = rows.flat_map(|(location, sampled)| {
        sampled.counted.coverage.iter().map(move |coverage| (location, *coverage))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(location, coverage)| (*location, coverage.counter));
    rows.dedup_by(|row, kept| {
        let is_same = (row.0, row.1.counter) == (kept.0, kept.1.counter);
        if is_same {
            kept.1.running = kept.1.running.saturating_add(row.1.running);
            kept.1.enabled = kept.1.enabled.saturating_add(row.1.enabled);
        }
        is_same
    });
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1.counter,
        I64 |row| at_most(row.1.enabled),
        I64 |row| at_most(row.1.running),
    ];
    Columns::from_columns(&COUNTER_COVERAGE, columns)
}
