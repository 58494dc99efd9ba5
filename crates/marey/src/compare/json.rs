//! A comparison for other programs. Names, units and meaning of every field are an interface.
//!
//! The one idea: sums of both runs over all ranks and threads, whatever the text shows; whoever wants means has the number
//! of processes.

use marey_analyze::{
    Basis, Cause, Change, Comparison, Direction, Place, PlaceKind, RenamedHow, Subject, Sums,
};
use serde::Serialize;

use super::metrics::{Metric, unit_name};
use super::sentences::sentences;
use super::{Compared, location, rounded};
use crate::format::plain;

/// What the command prints.
#[derive(Serialize)]
pub(super) struct Diff<'d> {
    pub(super) base: Run<'d>,
    pub(super) comparisons: Vec<super::loops::WithLoops<'d>>,
}

/// A run that is compared.
#[derive(Serialize)]
pub(super) struct Run<'d> {
    run: &'d str,
    duration_ns: i64,
    processes: usize,
    ranks: usize,
    threads: usize,
    /// Why its events tell nothing; null if they do.
    unexplained: Option<&'d str>,
}

impl<'d> Run<'d> {
    pub(super) fn new(run: &'d Compared) -> Self {
        let digest = &run.digest;
        Self {
            run: &run.name,
            duration_ns: digest.duration.0,
            processes: digest.processes.len(),
            ranks: digest.processes.iter().filter(|process| process.rank.is_some()).count(),
            threads: digest.locations.iter().filter(|at| at.lane.is_empty()).count(),
            unexplained: run.unexplained.as_deref(),
        }
    }
}

/// Two runs.
#[derive(Serialize)]
pub(super) struct Json<'d> {
    run: Run<'d>,
    basis: &'static str,
    verdict: Verdict<'d>,
    renamed: Vec<JsonRenamed<'d>>,
    metrics: Vec<JsonMetric<'d>>,
    critical_path: Vec<Row<'d>>,
    regions: Vec<Region<'d>>,
    call_paths: Vec<Path<'d>>,
    waits: Vec<Wait<'d>>,
    delays: Vec<Row<'d>>,
    findings: Vec<Row<'d>>,
    functions: Vec<Function<'d>>,
    memory: Vec<Memory<'d>>,
}

/// What made the difference.
#[derive(Serialize)]
pub(super) struct Verdict<'d> {
    direction: &'static str,
    difference_ns: i64,
    /// As a part of the base; null if that has no length.
    change: Option<f64>,
    /// What the times of causes are.
    of: &'static str,
    sentences: Vec<String>,
    causes: Vec<JsonCause<'d>>,
    elsewhere: Vec<JsonCause<'d>>,
}

/// A place that made a difference.
#[derive(Serialize)]
struct JsonCause<'d> {
    #[serde(flatten)]
    place: JsonPlace<'d>,
    /// What it is called in the base.
    old_region: &'d str,
    old_function: &'d str,
    old_ns: i64,
    new_ns: i64,
    locations: Vec<String>,
    ranks: Vec<u32>,
    old_visits: Option<f64>,
    new_visits: Option<f64>,
    old_mean_ns: Option<f64>,
    new_mean_ns: Option<f64>,
    share: Option<f64>,
    share_region: Option<&'d str>,
    share_function: Option<&'d str>,
    computed_in: Option<&'d str>,
    old_processor_ns: Option<f64>,
    new_processor_ns: Option<f64>,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct JsonPlace<'d> {
    pub(super) activity: &'static str,
    pub(super) level: &'d str,
    pub(super) region: &'d str,
    pub(super) function: &'d str,
    pub(super) file: &'d str,
    pub(super) line: u32,
}

#[derive(Serialize)]
struct JsonRenamed<'d> {
    old_function: &'d str,
    old_file: &'d str,
    function: &'d str,
    file: &'d str,
    how: &'static str,
}

#[derive(Serialize)]
struct JsonMetric<'d> {
    name: &'d str,
    expression: &'d str,
    unit: String,
    old: Option<f64>,
    new: Option<f64>,
}

#[derive(Serialize)]
struct Row<'d> {
    #[serde(flatten)]
    place: JsonPlace<'d>,
    old_ns: i64,
    new_ns: i64,
}

#[derive(Serialize)]
struct Wait<'d> {
    pattern: &'static str,
    #[serde(flatten)]
    row: Row<'d>,
}

/// Sums of both runs; 0 where one has not the thing.
#[derive(Serialize)]
struct Numbers {
    old_calls: u64,
    new_calls: u64,
    old_inclusive_ns: i64,
    new_inclusive_ns: i64,
    old_exclusive_ns: i64,
    new_exclusive_ns: i64,
    old_bytes: u64,
    new_bytes: u64,
}

impl Numbers {
    fn new(old: Option<Sums>, new: Option<Sums>) -> Self {
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        Self {
            old_calls: old.visits,
            new_calls: new.visits,
            old_inclusive_ns: old.inclusive.0,
            new_inclusive_ns: new.inclusive.0,
            old_exclusive_ns: old.exclusive.0,
            new_exclusive_ns: new.exclusive.0,
            old_bytes: old.bytes,
            new_bytes: new.bytes,
        }
    }
}

#[derive(Serialize)]
struct Region<'d> {
    level: &'d str,
    verb: &'d str,
    noun: &'d str,
    #[serde(flatten)]
    numbers: Numbers,
}

#[derive(Serialize)]
struct Path<'d> {
    path: Vec<&'d str>,
    function: &'d str,
    file: &'d str,
    line: u32,
    #[serde(flatten)]
    numbers: Numbers,
}

#[derive(Serialize)]
struct Function<'d> {
    function: &'d str,
    file: &'d str,
    line: u32,
    old_ns: i64,
    new_ns: i64,
}

#[derive(Serialize)]
struct Memory<'d> {
    #[serde(flatten)]
    place: JsonPlace<'d>,
    old_bytes: u64,
    new_bytes: u64,
}

pub(super) fn json_place(place: &Place, line: u32) -> JsonPlace<'_> {
    JsonPlace {
        activity: match place.kind {
            PlaceKind::Call => "region",
            PlaceKind::Outside => "outside",
            PlaceKind::NotStarted => "not started",
        },
        level: &place.region.level,
        region: place.region.name(),
        function: &place.caller.name,
        file: if place.caller.name.is_empty() { &place.region.file } else { &place.caller.file },
        line,
    }
}

fn place<'d>(comparison: &'d Comparison<'_>, place: usize) -> JsonPlace<'d> {
    let (name, line) = comparison.name(place);
    json_place(name, line)
}

pub(super) const BEFORE: JsonPlace<'static> =
    JsonPlace { activity: "before", level: "", region: "", function: "", file: "", line: 0 };
const UNKNOWN: JsonPlace<'static> =
    JsonPlace { activity: "unknown", level: "", region: "", function: "", file: "", line: 0 };

/// What made the difference.
pub(super) fn verdict<'d>(base: &Compared, other: &Compared, comparison: &'d Comparison<'_>) -> Verdict<'d> {
    let verdict = &comparison.verdict;
    let (old, new) = (comparison.base.duration.0, comparison.other.duration.0);
    let causes = |list: &'d [Cause]| list.iter().map(|it| cause(comparison, it)).collect();
    Verdict {
        direction: match verdict.direction {
            Direction::AsLong => "as long",
            Direction::Longer => "longer",
            Direction::Shorter => "shorter",
        },
        difference_ns: new - old,
        change: (old > 0).then(|| (new - old) as f64 / old as f64),
        of: if verdict.is_of_path { "critical path" } else { "exclusive time of a process" },
        sentences: sentences(base, other, comparison).iter().map(|text| plain(text)).collect(),
        causes: causes(&verdict.causes),
        elsewhere: causes(&verdict.elsewhere),
    }
}

fn cause<'d>(comparison: &'d Comparison<'_>, cause: &'d Cause) -> JsonCause<'d> {
    let number = match cause.subject {
        Subject::Place(place) => Some(place),
        Subject::Before => None,
    };
    let old = number.and_then(|place| comparison.old_name(place));
    let is_there = number.is_some_and(|place| comparison.places[place].other.is_some());
    let run = if is_there { comparison.other } else { comparison.base };
    let places = || cause.locations.iter().filter_map(|at| run.locations.get(*at as usize));
    let share = cause.share.and_then(|(_, place)| place).map(|place| comparison.name(place).0);
    JsonCause {
        place: number.map_or(BEFORE, |number| place(comparison, number)),
        old_region: old.map_or("", |old| old.region.name()),
        old_function: old.map_or("", |old| &old.caller.name),
        old_ns: rounded(cause.old).0,
        new_ns: rounded(cause.new).0,
        locations: places().map(location).collect(),
        ranks: places().filter_map(|at| at.rank).collect(),
        old_visits: cause.visits.map(|visits| visits.0),
        new_visits: cause.visits.map(|visits| visits.1),
        old_mean_ns: cause.mean.0,
        new_mean_ns: cause.mean.1,
        share: cause.share.map(|(share, _)| share),
        share_region: share.map(|place| place.region.name()),
        share_function: share.map(|place| place.caller.name.as_str()),
        computed_in: cause
            .function
            .and_then(|at| comparison.functions.get(at))
            .map(|row| row.function.name.as_str()),
        old_processor_ns: cause.processor.map(|times| times.0),
        new_processor_ns: cause.processor.map(|times| times.1),
    }
}

impl<'d> Json<'d> {
    pub(super) fn new(
        base: &Compared,
        other: &'d Compared,
        comparison: &'d Comparison<'_>,
        metrics: &'d [Metric],
    ) -> Self {
        let (old, new) = comparison.divisors();
        // Rows of the critical path and of findings are those of the run, others were divided.
        let rows = |rows: &'d [Change], (old, new): (f64, f64)| -> Vec<Row<'d>> {
            rows.iter().map(|row| change(comparison, row, (old, new))).collect()
        };
        let renamed = |pair: &'d marey_analyze::Renamed| JsonRenamed {
            old_function: &pair.old.name,
            old_file: &pair.old.file,
            function: &pair.new.name,
            file: &pair.new.file,
            how: match pair.how {
                RenamedHow::Moved => "moved",
                RenamedHow::Neighbours => "neighbours",
                RenamedHow::Samples => "samples",
            },
        };
        let metric = |metric: &'d Metric| JsonMetric {
            name: &metric.name,
            expression: &metric.text,
            unit: unit_name(metric.formula.unit()),
            old: metric.formula.value(comparison.base).ok(),
            new: metric.formula.value(comparison.other).ok(),
        };
        let region = |pair: &'d marey_analyze::RegionPair<'_>| {
            let name = &pair.other.or(pair.base)?.region;
            let sums = |row: Option<&marey_analyze::RegionSums>| row.map(|row| row.sums);
            Some(Region {
                level: &name.level,
                verb: &name.verb,
                noun: &name.noun,
                numbers: Numbers::new(sums(pair.base), sums(pair.other)),
            })
        };
        let path = |pair: &'d marey_analyze::PathPair| {
            let last = pair.places.last().map_or(UNKNOWN, |last| place(comparison, *last));
            Path {
                path: pair.places.iter().map(|place| comparison.name(*place).0.region.name()).collect(),
                function: last.function,
                file: last.file,
                line: last.line,
                numbers: Numbers::new(pair.base, pair.other),
            }
        };
        let function = |row: &'d marey_analyze::FunctionChange| Function {
            function: &row.function.name,
            file: &row.function.file,
            line: row.line,
            old_ns: rounded(row.old * old).0,
            new_ns: rounded(row.new * new).0,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "amounts are counted in 64 bits"
        )]
        let memory = |row: &(Option<usize>, f64, f64)| Memory {
            place: row.0.map_or(UNKNOWN, |number| place(comparison, number)),
            old_bytes: (row.1 * old).round() as u64,
            new_bytes: (row.2 * new).round() as u64,
        };
        Self {
            run: Run::new(other),
            basis: match comparison.basis {
                Basis::Sums => "sums",
                Basis::Means => "means",
            },
            verdict: verdict(base, other, comparison),
            renamed: comparison.renamed.iter().map(renamed).collect(),
            metrics: metrics.iter().map(metric).collect(),
            critical_path: rows(&comparison.path, (1.0, 1.0)),
            regions: comparison.regions.iter().filter_map(region).collect(),
            call_paths: comparison.paths.iter().map(path).collect(),
            waits: comparison
                .waits
                .iter()
                .map(|(pattern, row)| Wait {
                    pattern: pattern.name(),
                    row: change(comparison, row, (old, new)),
                })
                .collect(),
            delays: rows(&comparison.costs, (old, new)),
            findings: rows(&comparison.findings, (1.0, 1.0)),
            functions: comparison.functions.iter().map(function).collect(),
            memory: comparison.at_peak.iter().map(memory).collect(),
        }
    }
}

fn change<'d>(comparison: &'d Comparison<'_>, row: &Change, (old, new): (f64, f64)) -> Row<'d> {
    Row {
        place: place(comparison, row.place),
        old_ns: rounded(row.old * old).0,
        new_ns: rounded(row.new * new).0,
    }
}
