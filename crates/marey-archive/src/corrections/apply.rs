//! Adding corrections to rows as they are read.
//!
//! The one idea: which column is a time of which process is a matter of the table alone, so it stands in
//! one list. What a reader did not ask for and is needed to know the process is read beside it.

use std::ops::Range;

use super::{Corrections, Fit, MAX_OFFSET_NS};
use crate::columns::{Column, Columns};
use crate::schema::TableSpec;
use crate::{Archive, Error, Meta};

/// What says whose time a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// A column with a location.
    Location(&'static str),
    /// A column with a process.
    Process(&'static str),
}

/// Times of one process in a row.
struct Times {
    whose: Whose,
    /// Columns with instants.
    instants: &'static [&'static str],
    /// Begin and duration.
    span: Option<(&'static str, &'static str)>,
}

const SPAN: Option<(&str, &str)> = Some(("start", "duration"));

const fn at(whose: Whose, instants: &'static [&'static str]) -> Times {
    Times { whose, instants, span: None }
}

/// Tables with times, and whose these are.
static TIMES: [(&str, &[Times]); 21] = {
    use Whose::{Location, Process};
    [
        ("intervals", &[Times { whose: Location("location"), instants: &["start"], span: SPAN }]),
        (
            "overlaps",
            &[Times { whose: Location("location"), instants: &["start", "latest_end"], span: SPAN }],
        ),
        ("waits", &[Times { whose: Location("location"), instants: &["start"], span: SPAN }]),
        ("critical_path", &[Times { whose: Location("location"), instants: &["start"], span: SPAN }]),
        ("snapshots", &[Times { whose: Location("location"), instants: &["start"], span: SPAN }]),
        (
            "edges",
            &[at(Location("from_location"), &["from_time"]), at(Location("to_location"), &["to_time"])],
        ),
        (
            "messages",
            &[
                at(Location("send_location"), &["send_time", "send_end", "send_start"]),
                at(Location("recv_location"), &["recv_post", "recv_start", "recv_time"]),
            ],
        ),
        ("collectives", &[at(Location("location"), &["enter", "leave", "start"])]),
        ("arrays", &[at(Process("process"), &["from", "until"])]),
        ("accesses", &[at(Location("location"), &["time", "leave"])]),
        ("rma", &[at(Location("location"), &["time", "leave"])]),
        ("io", &[at(Location("location"), &["time"])]),
        ("samples", &[at(Location("location"), &["time"])]),
        ("counters", &[at(Location("location"), &["time"])]),
        ("events", &[at(Location("location"), &["time"])]),
        ("open_at_end", &[at(Location("location"), &["start"])]),
        ("reduced", &[at(Location("location"), &["since"])]),
        ("locations", &[at(Process("process"), &["start", "end", "detail_end"])]),
        ("processes", &[at(Process("id"), &["start", "end"])]),
        ("heap", &[at(Process("process"), &["peak_time"])]),
        ("clock_knots", &[at(Process("process"), &["time"])]),
    ]
};

fn times_of(table: &str) -> &'static [Times] {
    TIMES.iter().find(|(name, _)| *name == table).map_or(&[], |(_, times)| times)
}

/// One process's correction, ready to be added.
#[derive(Clone, Debug, Default)]
struct Own {
    /// (time as merged, time as it is read), both growing; lines in between.
    points: Vec<(i64, i64)>,
    /// (time as merged, bound on its error)
    bars: Vec<(i64, i64)>,
    /// What is added beyond that.
    offset: i64,
}

/// All corrections, ready to be added.
#[derive(Debug)]
pub(crate) struct Applied {
    by_process: Vec<Own>,
    /// Process of each location.
    process_of: Vec<u32>,
    /// The least and the most that is added to any time.
    range: (i64, i64),
    /// By how much all of the run was moved to later, so that nothing is before its start.
    later: i64,
}

impl Own {
    fn new(offset: i64, fit: Option<&Fit>) -> Self {
        let mut own = Self { offset, ..Self::default() };
        for knot in fit.into_iter().flat_map(|fit| &fit.knots) {
            // So that no difference of two of them is too large.
            let from = knot.time.clamp(-MAX_OFFSET_NS, MAX_OFFSET_NS);
            let to = from.saturating_add(knot.add.clamp(-MAX_OFFSET_NS, MAX_OFFSET_NS));
            // Whatever stands in the file, later readings keep later times.
            let (before, after) = own.points.last().copied().unwrap_or((i64::MIN, i64::MIN));
            if from > before {
                own.points.push((from, to.max(after)));
                own.bars.push((from, knot.uncertainty));
            }
        }
        own
    }

    /// What is added at the knots.
    fn added(&self) -> impl Iterator<Item = i64> {
        let offset = self.offset;
        let knots = self.points.iter().map(move |(from, to)| to.saturating_sub(*from).saturating_add(offset));
        knots.chain(self.points.is_empty().then_some(offset))
    }

    #[expect(clippy::cast_possible_truncation, reason = "a share of a difference of times")]
    fn at(&self, time: i64) -> i64 {
        let behind = self.points.partition_point(|point| point.0 <= time);
        let before = behind.checked_sub(1).and_then(|place| self.points.get(place));
        let moved = match (before, self.points.get(behind)) {
            (Some(from), Some(to)) => {
                let share = i128::from(time - from.0) * i128::from(to.1 - from.1);
                from.1.saturating_add((share / i128::from((to.0 - from.0).max(1))) as i64)
            }
            (Some(end), None) | (None, Some(end)) => time.saturating_add(end.1 - end.0),
            (None, None) => time,
        };
        moved.saturating_add(self.offset)
    }

    /// The larger of the bars around a time; `None` if it is as the merge found it.
    fn bar(&self, time: i64) -> Option<i64> {
        let behind = self.bars.partition_point(|bar| bar.0 <= time);
        let around = [behind.checked_sub(1), Some(behind)];
        let bars: Vec<i64> =
            around.iter().flatten().filter_map(|&place| self.bars.get(place)).map(|bar| bar.1).collect();
        if bars.contains(&-1) { Some(-1) } else { bars.into_iter().max() }
    }

    fn worst(&self) -> Option<i64> {
        let bars = || self.bars.iter().map(|bar| bar.1);
        if bars().any(|bar| bar < 0) { Some(-1) } else { bars().max() }
    }
}

impl Applied {
    /// Makes corrections ready for an archive that is open without them.
    pub(crate) fn new(corrections: &Corrections, archive: &Archive) -> Result<Self, Error> {
        let process_of = archive.table("locations")?.u32("process")?.to_vec();
        let count = archive.table("processes")?.len();
        let mut by_process: Vec<Own> = (0_u32..)
            .take(count)
            .map(|process| {
                let offset = corrections.offsets.get(&process).copied().unwrap_or(0);
                let fit = corrections.fits.iter().find(|fit| fit.processes.contains(&process));
                Own::new(offset.clamp(-MAX_OFFSET_NS, MAX_OFFSET_NS), fit)
            })
            .collect();
        let least = by_process.iter().flat_map(Own::added).min().unwrap_or(0);
        let later = least.min(0).saturating_neg();
        by_process.iter_mut().for_each(|own| own.offset = own.offset.saturating_add(later));
        let all = || by_process.iter().flat_map(Own::added);
        let range = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        Ok(Self { by_process, process_of, range, later })
    }

    /// Changes what `meta.json` says of times.
    pub(crate) fn meta(&self, meta: &mut Meta, archive: &Archive) -> Result<(), Error> {
        let processes = archive.table("processes")?;
        let ends = processes.i64("end")?.iter().zip(&self.by_process);
        let end = ends.map(|(&end, own)| own.at(end)).max();
        meta.run.duration_ns = end.unwrap_or(meta.run.duration_ns);
        if let Some(since) = meta.counts.get_mut("summed_since_ns") {
            // The first location that only added up need not be the first any more.
            let locations = archive.table("locations")?;
            let ends = locations.i64("detail_end")?.iter().zip(locations.u32("process")?);
            let corrected = |(&end, &process): (&i64, &u32)| {
                Some(self.own(Whose::Process("process"), process)?.at(end)).filter(|_| end >= 0)
            };
            if let Some(first) = ends.filter_map(corrected).min() {
                *since = first.max(0).cast_unsigned();
            }
        }
        meta.run.start_realtime_ns = meta.run.start_realtime_ns.saturating_sub(self.later);
        for part in meta.tables.values_mut().flatten() {
            part.min_time = part.min_time.map(|time| time.saturating_add(self.range.0));
            part.max_time = part.max_time.map(|time| time.saturating_add(self.range.1));
        }
        Ok(())
    }

    /// Columns without which a table's times could not be corrected.
    pub(crate) fn needed(&self, spec: &TableSpec, wanted: &[usize]) -> Vec<usize> {
        let asks = |name: &str| wanted.iter().any(|&place| spec.columns[place].name == name);
        let mut needed = Vec::new();
        for times in times_of(spec.name) {
            let (Whose::Location(key) | Whose::Process(key)) = times.whose;
            let spans = times.span.filter(|span| asks(span.1)).map(|span| span.0);
            if spans.is_some() || times.instants.iter().any(|name| asks(name)) {
                needed.extend(spans);
                needed.push(key);
            }
        }
        if matches!(spec.name, "clocks" | "clock_knots") && (asks("uncertainty_ns") || asks("offset_ns")) {
            needed.extend(["process"]);
            needed.extend((spec.name == "clock_knots").then_some("time"));
        }
        needed.iter().filter_map(|name| spec.column(name)).filter(|place| !wanted.contains(place)).collect()
    }

    /// A range that holds, of the times as they were merged, all that are in `range` when corrected.
    pub(crate) fn widened(&self, spec: &TableSpec, place: usize, range: &Range<i64>) -> Range<i64> {
        let name = spec.columns[place].name;
        let is_instant = times_of(spec.name).iter().any(|times| times.instants.contains(&name));
        let is_duration =
            times_of(spec.name).iter().any(|times| times.span.is_some_and(|span| span.1 == name));
        let reach = self.range.1.saturating_sub(self.range.0);
        match (is_instant, is_duration) {
            // Times that there are not keep their −1.
            (true, _) => {
                let start = if range.start < 0 {
                    range.start
                } else {
                    range.start.saturating_sub(self.range.1).max(0)
                };
                let end =
                    if range.end <= 0 { range.end } else { range.end.saturating_sub(self.range.0).max(0) };
                start..end.max(start)
            }
            (_, true) => range.start.saturating_sub(reach)..range.end.saturating_add(reach),
            _ => range.clone(),
        }
    }

    /// What is added to what a location did at about `time`, a time as it is read, ns.
    pub(crate) fn added_about(&self, location: u32, time: i64) -> i64 {
        let Some(own) = self.own(Whose::Location("location"), location) else { return 0 };
        // Corrections change slowly, so that what is added a little beside is as good, and what that leads to is better.
        let first = own.at(time).saturating_sub(time);
        let merged = time.saturating_sub(first);
        own.at(merged).saturating_sub(merged)
    }

    fn own(&self, whose: Whose, key: u32) -> Option<&Own> {
        let process = match whose {
            Whose::Process(_) => key,
            Whose::Location(_) => *self.process_of.get(key as usize)?,
        };
        self.by_process.get(process as usize)
    }

    /// Adds what is to be added to rows of a table.
    pub(crate) fn to(&self, rows: &mut Columns) {
        let spec = rows.spec();
        self.clocks(rows);
        for times in times_of(spec.name) {
            let (Whose::Location(key) | Whose::Process(key)) = times.whose;
            let Ok(keys) = rows.u32(key).map(<[u32]>::to_vec) else { continue };
            if let Some((begin, duration)) = times.span
                && let Ok(starts) = rows.i64(begin).map(<[i64]>::to_vec)
            {
                self.each(rows, duration, times.whose, &keys, |own, row, value| {
                    let start = starts[row];
                    if value <= 0 {
                        value
                    } else {
                        own.at(start.saturating_add(value)).saturating_sub(own.at(start))
                    }
                });
            }
            for name in times.instants {
                self.each(
                    rows,
                    name,
                    times.whose,
                    &keys,
                    |own, _, time| if time < 0 { time } else { own.at(time) },
                );
            }
        }
    }

    /// What is said of the clocks themselves.
    fn clocks(&self, rows: &mut Columns) {
        let spec = rows.spec();
        let Ok(keys) = rows.u32("process").map(<[u32]>::to_vec) else { return };
        let whose = Whose::Process("process");
        if spec.name == "clocks" {
            self.each(rows, "offset_ns", whose, &keys, |own, _, value| {
                value.saturating_add(own.at(0)).saturating_sub(self.later)
            });
            self.each(rows, "uncertainty_ns", whose, &keys, |own, _, value| own.worst().unwrap_or(value));
        } else if spec.name == "clock_knots"
            && let Ok(merged) = rows.i64("time").map(<[i64]>::to_vec)
        {
            self.each(rows, "uncertainty_ns", whose, &keys, |own, row, value| {
                own.bar(merged[row]).unwrap_or(value)
            });
        }
    }

    /// Changes the values of a column, if it is there.
    fn each(
        &self,
        rows: &mut Columns,
        name: &str,
        whose: Whose,
        keys: &[u32],
        change: impl Fn(&Own, usize, i64) -> i64,
    ) {
        let Some(Column::I64(values)) = rows.named_mut(name) else { return };
        for (row, (value, &key)) in values.iter_mut().zip(keys).enumerate() {
            if let Some(own) = self.own(whose, key) {
                *value = change(own, row, *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TABLES;

    #[test]
    fn every_time_of_every_table_is_somebodys() {
        for table in TABLES {
            // Buckets are moved as they are looked for (`detail.rs`).
            for time in table.times.iter().filter(|time| time.bucket_log2.is_none()) {
                let of = times_of(table.name).iter().find(|times| times.instants.contains(&time.begin));
                let of = of.unwrap_or_else(|| panic!("{}.{} is nobody's", table.name, time.begin));
                assert_eq!(of.span.map(|span| span.1), time.duration, "{}", table.name);
            }
        }
        // Of tables of sums, only how they are packed tells what is an instant.
        for table in TABLES {
            for column in table.columns.iter().filter(|column| column.grows && column.unit == "ns") {
                let is_known = times_of(table.name).iter().any(|it| it.instants.contains(&column.name));
                assert!(is_known, "{}.{} is nobody's", table.name, column.name);
            }
        }
        for (name, times) in &TIMES {
            let table = crate::schema::table(name).expect("tables have names");
            for times in *times {
                let (Whose::Location(key) | Whose::Process(key)) = times.whose;
                assert!(table.column(key).is_some(), "{name}.{key}");
                assert!(times.instants.iter().all(|instant| table.column(instant).is_some()), "{name}");
            }
        }
    }
}
