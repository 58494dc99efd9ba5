//! What differs between two runs.
//!
//! The one idea: the numbers are those of `marey diff`, from the same comparison of the same sums; here they are joined with
//! what the page calls the same things in each of the runs, and each with the reason that is known.

mod ids;
mod why;

use std::collections::BTreeMap;

use marey_analyze::{Change, Comparison, Digest, Formula, RegionName, RegionSums, Sums, compare};

use self::ids::Ids;
use self::why::{Parts, Reasons, of_parts};
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{CompareHead, Difference, Differences, WireActivity, WireNumber, WirePlace, WireRenamed};

/// More rows of a table than this nobody reads.
const MOST: usize = 2000;

/// What of runs as wholes is compared.
const OF_THE_RUN: [&str; 20] = [
    "duration",
    "parallel_efficiency",
    "load_balance",
    "communication_efficiency",
    "serialisation",
    "setting_up",
    "transfer",
    "processes",
    "threads",
    "time",
    "processor_time",
    "mpi_time",
    "waiting",
    "visits",
    "bytes",
    "messages",
    "message_bytes",
    "peak_memory",
    "heap_peak",
    "allocated_bytes",
];

pub(super) fn answer(run: &Opened<'_>) -> Result<Vec<u8>, String> {
    let beside = run.other()?;
    let compared = beside.compared()?;
    let comparison = compare(&compared.base, &compared.other);
    let ids = Ids::new(run, &beside.run, &comparison);
    let reasons = Reasons::new(&comparison, &ids);
    let tables = Tables { comparison: &comparison, ids: &ids, reasons: &reasons };
    let head = CompareHead {
        sentences: compared.sentences.clone(),
        remarks: compared.remarks.clone(),
        divisors: comparison.divisors(),
        renamed: renamed(&comparison),
        numbers: numbers(&comparison),
        path: comparison.verdict.is_of_path.then(|| tables.path()),
        regions: tables.regions(),
        call_paths: tables.call_paths(),
        waits: comparison.verdict.is_of_path.then(|| tables.waits()),
    };
    let mut columns = Columns::default();
    columns.u32("same_region", ids.same_regions());
    columns.u32("same_location", ids.same_locations());
    Ok(columns.frame("compare", &head))
}

fn renamed(comparison: &Comparison<'_>) -> Vec<WireRenamed> {
    let pair = |pair: &marey_analyze::Renamed| WireRenamed {
        old: pair.old.name.clone(),
        old_file: pair.old.file.clone(),
        new: pair.new.name.clone(),
        new_file: pair.new.file.clone(),
    };
    comparison.renamed.iter().map(pair).collect()
}

fn numbers(comparison: &Comparison<'_>) -> Vec<WireNumber> {
    let number = |name: &&str| {
        let formula = Formula::parse(name).ok()?;
        let value = |run: &Digest| formula.value(run).ok();
        let (old, new) = (value(comparison.base), value(comparison.other));
        let is_there = old.or(new).is_some();
        is_there.then(|| WireNumber { name: (*name).to_owned(), old, new })
    };
    OF_THE_RUN.iter().filter_map(number).collect()
}

/// What rows are made of.
struct Tables<'c> {
    comparison: &'c Comparison<'c>,
    ids: &'c Ids<'c>,
    reasons: &'c Reasons<'c>,
}

impl Tables<'_> {
    /// Places on the critical path, and the time before it, so that nothing is left over.
    fn path(&self) -> Differences {
        let whole = float(self.comparison.base.duration.0);
        let row = |change: &Change| {
            let why = self.reasons.on_path(change.place, change.difference());
            let calls = self.calls_in(change.place);
            Difference { calls, why, ..bare(self.ids.place(change.place), (change.old, change.new), whole) }
        };
        let mut rows: Vec<Difference> = self.comparison.path.iter().map(row).collect();
        let before = |run: &Digest| run.explained.as_ref().map_or(0.0, |it| float(it.before.0));
        let times = (before(self.comparison.base), before(self.comparison.other));
        if times != (0.0, 0.0) {
            rows.push(bare(nowhere(WireActivity::Before), times, whole));
        }
        largest_first(rows)
    }

    fn regions(&self) -> Differences {
        let whole = self.time_of_processes();
        let (old, new) = self.comparison.divisors();
        let mut places: BTreeMap<&RegionName, Vec<usize>> = BTreeMap::new();
        for place in 0..self.comparison.places.len() {
            places.entry(self.ids.region_of(place)).or_default().push(place);
        }
        let row = |pair: &marey_analyze::RegionPair<'_>| {
            let sums = |row: Option<&RegionSums>| row.map_or_else(Sums::default, |row| row.sums);
            let (base, other) = (sums(pair.base), sums(pair.other));
            let name = match (pair.base, pair.other) {
                (Some(base), _) => base.region.clone(),
                (None, Some(other)) => self.comparison.old_regions([&other.region]).pop()?,
                (None, None) => return None,
            };
            let difference = float(other.exclusive.0) / new - float(base.exclusive.0) / old;
            let places = places.get(&name).map_or(&[][..], Vec::as_slice);
            let why = self.reasons.of_places(places, difference);
            Some(Difference { why, ..self.sums(self.ids.region(&name), (base, other), whole) })
        };
        largest_first(self.comparison.regions.iter().filter_map(row).collect())
    }

    fn call_paths(&self) -> Differences {
        let whole = self.time_of_processes();
        let (old, new) = self.comparison.divisors();
        let mut paths_of: BTreeMap<usize, u32> = BTreeMap::new();
        for place in self.comparison.paths.iter().filter_map(|pair| pair.places.last()) {
            *paths_of.entry(*place).or_default() += 1;
        }
        let row = |pair: &marey_analyze::PathPair| {
            let (last, around) = pair.places.split_last()?;
            let sums = (pair.base.unwrap_or_default(), pair.other.unwrap_or_default());
            let row = self.sums(self.ids.place(*last), sums, whole);
            let difference = row.new - row.old;
            // Where a place is in one path only, what is known of the place is known of the path.
            let why = if paths_of.get(last) == Some(&1) {
                self.reasons.of_places(&[*last], difference)
            } else {
                of_parts(&[parts(&sums.0, old), parts(&sums.1, new)], difference)
            };
            let around = around.iter().map(|place| self.ids.place(*place).name).collect();
            Some(Difference { around, why, ..row })
        };
        largest_first(self.comparison.paths.iter().filter_map(row).collect())
    }

    fn waits(&self) -> Differences {
        let old = self.comparison.divisors().0;
        let whole = self.comparison.base.explained.as_ref().map_or(0.0, |it| float(it.time.0) / old);
        let row = |(pattern, change): &(marey_analyze::Pattern, Change)| Difference {
            pattern: pattern.name().to_owned(),
            calls: self.calls_in(change.place),
            why: self.reasons.of_waits(change),
            ..bare(self.ids.place(change.place), (change.old, change.new), whole)
        };
        largest_first(self.comparison.waits.iter().map(row).collect())
    }

    /// Own times, visits and bytes, as the basis says.
    fn sums(&self, place: WirePlace, (base, other): (Sums, Sums), whole: f64) -> Difference {
        let (old, new) = self.comparison.divisors();
        let both = |of: fn(&Sums) -> f64| (of(&base) / old, of(&other) / new);
        Difference {
            calls: Some(both(|sums| count(sums.visits))),
            bytes: Some(both(|sums| count(sums.bytes))),
            ..bare(place, both(|sums| float(sums.exclusive.0)), whole)
        }
    }

    fn calls_in(&self, place: usize) -> Option<(f64, f64)> {
        let pair = self.comparison.places.get(place)?;
        let (old, new) = self.comparison.divisors();
        let visits = |run: &Digest, place: Option<u32>| {
            let row = place.and_then(|place| run.places.get(place as usize));
            row.map_or(0.0, |row| count(row.sums.visits))
        };
        let calls =
            (visits(self.comparison.base, pair.base) / old, visits(self.comparison.other, pair.other) / new);
        (calls != (0.0, 0.0)).then_some(calls)
    }

    /// Of the base, as the basis says.
    fn time_of_processes(&self) -> f64 {
        let times = self.comparison.base.processes.iter().map(|process| float(process.time.0));
        times.sum::<f64>() / self.comparison.divisors().0
    }
}

/// A row of times only.
fn bare(place: WirePlace, (old, new): (f64, f64), whole: f64) -> Difference {
    Difference {
        place,
        around: Vec::new(),
        pattern: String::new(),
        old,
        new,
        share: (whole > 0.0).then(|| (new - old) / whole),
        calls: None,
        bytes: None,
        why: None,
    }
}

fn nowhere(activity: WireActivity) -> WirePlace {
    let none = String::new;
    WirePlace {
        activity,
        name: none(),
        level: none(),
        function: none(),
        file: none(),
        line: 0,
        base: None,
        other: None,
    }
}

fn parts(sums: &Sums, divisor: f64) -> Parts {
    Parts {
        visits: count(sums.visits) / divisor,
        timed: count(sums.visits.saturating_sub(sums.untimed)) / divisor,
        own: float(sums.exclusive.0) / divisor,
        waiting: 0.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a double has 53 bits, and counts of runs fewer")]
fn count(number: u64) -> f64 {
    number as f64
}

/// Those that differ most; of equals, those with more of it.
fn largest_first(mut rows: Vec<Difference>) -> Differences {
    let size = |row: &Difference| ((row.new - row.old).abs(), row.old.max(row.new));
    rows.sort_by(|a, b| {
        let (a, b) = (size(a), size(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    let number = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    rows.truncate(MOST);
    Differences { number, rows }
}
