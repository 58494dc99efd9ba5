//! Values of counters: which there are, and those of a window.
//!
//! The one idea: a value holds until the next one, however long ago it was told. So one pass, when somebody asks for the
//! first time, keeps of each slab the first and the last value of each counter and location; a window is read from the
//! slabs that it touches, and what holds at its ends is known without reading others.
//!
//! What is deliberately absent: pictures of them (`answers/counters.rs`).

use std::collections::BTreeMap;

use marey_analyze::Trace;
use marey_archive::{Columns, Error, Part, schema};

use crate::run::Opened;

/// A value, and when it was told, ns.
pub(crate) type Value = (i64, f64);

/// A counter on a location: their numbers.
pub(crate) type Of = (u32, u32);

/// What is known of a counter on a location without reading it again.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) number: u64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// The first and the last value of each slab that has some, in the order of time.
    ends: Vec<(Value, Value)>,
}

/// Values by counter and location, and what could not be read.
pub(crate) type Held = (BTreeMap<Of, Vec<Value>>, Vec<String>);

/// All counters.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) series: BTreeMap<Of, Series>,
    /// What could not be read.
    pub(crate) damage: Vec<String>,
}

impl Counted {
    /// One pass over all values.
    pub(crate) fn of(run: &Opened<'_>) -> Self {
        let mut found = Self::default();
        let mut parts: Vec<&Part> = run.archive.parts("counters").iter().collect();
        parts.sort_by_key(|part| (part.slab, part.group));
        for part in parts {
            let mut ends: BTreeMap<Of, (Value, Value)> = BTreeMap::new();
            let series = &mut found.series;
            let damage = read(run, part, &mut |of, value| {
                let (first, last) = ends.entry(of).or_insert((value, value));
                // Of values of one instant the last one holds; what has grown by then is the largest.
                let is_first = value.0 < first.0 || (value.0 == first.0 && first.1 < value.1);
                *first = if is_first { value } else { *first };
                *last = if last.0 <= value.0 { value } else { *last };
                let none =
                    Series { number: 0, least: f64::INFINITY, most: f64::NEG_INFINITY, ends: Vec::new() };
                let series = series.entry(of).or_insert(none);
                series.number += 1;
                series.least = series.least.min(value.1);
                series.most = series.most.max(value.1);
            });
            found.damage.extend(damage.map(|error| error.to_string()));
            for (of, ends) in ends {
                if let Some(series) = found.series.get_mut(&of) {
                    series.ends.push(ends);
                }
            }
        }
        found
            .series
            .values_mut()
            .for_each(|series| series.ends.sort_by_key(|(first, last)| (first.0, last.0)));
        found
    }

    /// The values of some counters on some locations that hold in a span: those told in it, the last one before and the first
    /// one behind, in the order of time. `None` = they are too many.
    pub(crate) fn in_span(
        &self,
        run: &Opened<'_>,
        (from, to): (i64, i64),
        is_meant: &dyn Fn(Of) -> bool,
    ) -> Option<Held> {
        /// More than this are not read for a picture.
        const MOST_READ: u64 = 4_000_000;
        let touches = |part: &&Part| {
            part.min_time.is_none_or(|it| it < to) && part.max_time.is_none_or(|it| from <= it)
        };
        let parts = || run.archive.parts("counters").iter().filter(touches);
        if parts().map(|part| part.rows).sum::<u64>() > MOST_READ {
            return None;
        }
        let mut found: BTreeMap<Of, Vec<Value>> = BTreeMap::new();
        for (of, series) in self.series.iter().filter(|(of, _)| is_meant(**of)) {
            let before = series.ends.iter().map(|(_, last)| *last).take_while(|last| last.0 < from).last();
            found.insert(*of, before.into_iter().collect());
        }
        let mut damage = Vec::new();
        for part in parts() {
            let failed = read(run, part, &mut |of, value| {
                // What is told in a slab before the span may be the last before it.
                if let Some(values) = found.get_mut(&of) {
                    values.push(value);
                }
            });
            damage.extend(failed.map(|error| error.to_string()));
        }
        for (of, values) in &mut found {
            let behind = self.series[of].ends.iter().map(|(first, _)| *first).find(|first| to <= first.0);
            values.extend(behind);
            values.sort_by_key(|value| value.0);
            let first = values.partition_point(|value| value.0 < from).max(1) - 1;
            // The first behind, and what was told at the same instant.
            let behind = values.iter().map(|value| value.0).find(|time| to <= *time);
            values.truncate(values.partition_point(|value| behind.is_none_or(|behind| value.0 <= behind)));
            values.drain(..first.min(values.len()));
        }
        Some((found, damage))
    }
}

/// Hands out the values of a part that can be right; what could not be read.
fn read(run: &Opened<'_>, part: &Part, each: &mut dyn FnMut(Of, Value)) -> Option<Error> {
    let spec = schema::table("counters")?;
    let (counters, locations) = (run.head.counters.len(), run.trace.locations().len());
    let mut wrong = None;
    let columns = ["location", "time", "counter", "value"];
    let mut rows = |batch: &Columns| -> Result<(), Error> {
        let (of, at) = (batch.u32("counter")?, batch.u32("location")?);
        let (times, values) = (batch.i64("time")?, batch.f64("value")?);
        for row in 0..batch.len() {
            let is_known = (of[row] as usize) < counters && (at[row] as usize) < locations;
            if is_known && 0 <= times[row] && values[row].is_finite() {
                each((of[row], at[row]), (times[row], values[row]));
            }
        }
        Ok(())
    };
    let done =
        run.archive.scan_part(spec, part, &columns, &[], |batch| wrong = wrong.take().or(rows(batch).err()));
    done.err().or(wrong)
}
