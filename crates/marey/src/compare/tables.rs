//! The tables of a comparison: old, new, difference, and what part of the base that is.
//!
//! The one idea: all of them are made in one way, so that whoever has read one can read all; largest difference first,
//! what did not change is left out.

use std::io::{self, Write};

use marey_analyze::{Basis, Change, Comparison, Formula};

use super::metrics::Metric;
use super::{
    Compared, called_by, change, differs, doing, region_and_noun, relative, rounded, signed_duration,
};
use crate::format;
use crate::paint::{Look, Paint, note, shorten, title};
use crate::table::{Cell, Side, Table};

/// Where and how tables are printed.
pub(super) struct Page<'p> {
    pub(super) out: &'p mut dyn Write,
    pub(super) paint: Paint,
    /// Rows of a table at most.
    pub(super) top: usize,
    pub(super) comparison: &'p Comparison<'p>,
    pub(super) base: &'p Compared,
    pub(super) other: &'p Compared,
}

/// What of a run as a whole is compared; lines of what no run has are left out.
const OF_THE_RUN: [(&str, &str); 20] = [
    ("duration", "duration"),
    ("processes", "processes"),
    ("threads", "threads"),
    ("time of all processes", "time"),
    ("processor time", "processor_time"),
    ("time in MPI", "mpi_time"),
    ("waiting", "waiting"),
    ("parallel efficiency", "parallel_efficiency"),
    ("  load balance", "load_balance"),
    ("  communication efficiency", "communication_efficiency"),
    ("    serialisation", "serialisation"),
    ("    setting up", "setting_up"),
    ("    transfer", "transfer"),
    ("visits of regions", "visits"),
    ("data that they moved", "bytes"),
    ("messages", "messages"),
    ("their bytes", "message_bytes"),
    ("peak memory of a process", "peak_memory"),
    ("peaks of all heaps", "heap_peak"),
    ("allocated", "allocated_bytes"),
];

impl Page<'_> {
    pub(super) fn tables(&mut self, metrics: &[Metric]) -> io::Result<()> {
        self.metrics(metrics)?;
        self.runs()?;
        let comparison = self.comparison;
        let duration = comparison.base.duration.0;
        let (old, _) = comparison.divisors();
        if comparison.verdict.is_of_path {
            let remark =
                "time on the path that made the run as long as it was; share: of the base's duration";
            self.places("CRITICAL PATH", remark, &comparison.path, duration as f64)?;
        }
        self.regions()?;
        self.calls()?;
        self.paths()?;
        let all: f64 = comparison.base.explained.as_ref().map_or(0.0, |it| it.time.0 as f64 / old);
        self.waits(all)?;
        let of = self.of();
        if !comparison.costs.is_empty() {
            let remark = format!(
                "what was done that others waited for, by the waiting that it caused{of}; share: of the time of all \
                 ranks and threads of the base"
            );
            self.places("CAUSES OF WAITING", &remark, &comparison.costs, all)?;
        }
        if !comparison.findings.is_empty() {
            let remark =
                "by how much shorter the run could be, were that evened out; share: of the base's duration";
            self.places("FINDINGS", remark, &comparison.findings, duration as f64)?;
        }
        self.functions()?;
        self.memory()
    }

    /// What numbers are, for the remarks of tables.
    fn of(&self) -> &'static str {
        match self.comparison.basis {
            Basis::Sums => ", over all ranks and threads",
            Basis::Means => ", mean of a process",
        }
    }

    fn title(&mut self, name: &str, remark: &str) -> io::Result<()> {
        title(self.out, self.paint, name, remark)
    }

    fn nothing(&mut self, text: &str) -> io::Result<()> {
        note(self.out, self.paint, text)
    }

    fn more(&mut self, rows: usize) -> io::Result<()> {
        crate::table::more(self.out, self.paint, rows.saturating_sub(self.top), "row", "rows")
    }

    /// Numbers of both runs as wholes.
    fn values(&mut self, rows: impl Iterator<Item = (String, Metric)>) -> io::Result<()> {
        let mut table = Table::new(&[
            ("", Side::Left),
            ("old", Side::Right),
            ("new", Side::Right),
            ("difference", Side::Right),
            ("change", Side::Right),
        ])
        .can_spare(&["difference"]);
        let mut notes = Vec::new();
        for (name, metric) in rows {
            let values = [self.base, self.other].map(|run| metric.formula.value(&run.digest));
            let shown = values
                .clone()
                .map(|value| value.map_or_else(|_| "no value".to_owned(), |it| metric.value_text(it)));
            let [old, new] = shown;
            let (difference, part) = match &values {
                [Ok(old), Ok(new)] => (metric.difference_text(*old, *new), relative(*old, *new)),
                _ => (String::new(), String::new()),
            };
            for (run, value) in [self.base, self.other].iter().zip(values) {
                notes.extend(value.err().map(|why| format!("{} of {}: {why}", metric.name, run.name)));
            }
            table.row([name.into(), Cell::new(Look::Faint, old), new.into(), difference.into(), part.into()]);
        }
        table.print(self.out, self.paint)?;
        notes.iter().try_for_each(|text| note(self.out, self.paint, text))
    }

    fn metrics(&mut self, metrics: &[Metric]) -> io::Result<()> {
        if metrics.is_empty() {
            return Ok(());
        }
        self.title("METRICS", "as they were asked for")?;
        self.values(metrics.iter().map(|metric| (metric.name.clone(), metric.clone())))
    }

    fn runs(&mut self) -> io::Result<()> {
        self.title("RUNS", "as wholes, never divided by the number of processes")?;
        let runs = [&self.base.digest, &self.other.digest];
        let is_known =
            |formula: &Formula| runs.iter().any(|run| formula.value(run).is_ok_and(|value| value != 0.0));
        let rows: Vec<(String, Metric)> = OF_THE_RUN
            .iter()
            .filter_map(|(name, text)| {
                let metric = Metric::parse(text, super::metrics::Thresholds::None).ok()?;
                is_known(&metric.formula).then(|| ((*name).to_owned(), metric))
            })
            // Values that one run lacks are told only where they were asked for.
            .filter(|(_, metric)| runs.iter().all(|run| metric.formula.value(run).is_ok()))
            .collect();
        self.values(rows.into_iter())
    }

    /// Times of what has some names, those that changed by something worth a line.
    fn changes<T>(
        &mut self,
        (names, spare): (&[&'static str], &[&str]),
        rows: Vec<(T, f64, f64)>,
        whole: f64,
        cells: impl Fn(&Comparison<'_>, &T) -> Vec<Cell>,
    ) -> io::Result<()> {
        let rows: Vec<_> = rows.into_iter().filter(|row| differs(row.1, row.2, whole)).collect();
        if rows.is_empty() {
            return self.nothing("nothing changed by 0.05 % of that or more");
        }
        let names = names.iter().map(|name| (*name, Side::Left));
        let numbers = ["old", "new", "difference", "share"].map(|name| (name, Side::Right));
        let mut table = Table::new(&names.chain(numbers).collect::<Vec<_>>()).can_spare(spare);
        for (what, old, new) in rows.iter().take(self.top) {
            let mut cells = cells(self.comparison, what);
            cells.extend(times(*old, *new, whole));
            table.push(cells);
        }
        table.print(self.out, self.paint)?;
        self.more(rows.len())
    }

    /// Times of places.
    fn places(&mut self, name: &str, remark: &str, rows: &[Change], whole: f64) -> io::Result<()> {
        self.title(name, remark)?;
        let rows = rows.iter().map(|row| (row.place, row.old, row.new)).collect();
        let heads = (&["doing", "called by"][..], &["share", "old", "called by"][..]);
        self.changes(heads, rows, whole, |comparison, place| {
            let (place, line) = comparison.name(*place);
            vec![doing(place).into(), Cell::new(Look::Faint, called_by(place, line))]
        })
    }

    fn regions(&mut self) -> io::Result<()> {
        let remark = format!(
            "time in regions themselves, without what they called{}; share: of the time of the base's processes",
            self.of()
        );
        self.title("REGIONS", &remark)?;
        let (old, new) = self.comparison.divisors();
        let whole = time_of_processes(self.comparison) / old;
        let time = |side: Option<&marey_analyze::RegionSums>, n: f64| {
            side.map_or(0.0, |row| row.sums.exclusive.0 as f64 / n)
        };
        let pairs = self.comparison.regions.iter();
        let rows = pairs.filter_map(|pair| {
            Some((&pair.other.or(pair.base)?.region, time(pair.base, old), time(pair.other, new)))
        });
        let rows = largest_first(rows.collect());
        let heads = (&["level", "region"][..], &["share", "level", "old"][..]);
        self.changes(heads, rows, whole, |_, name| {
            vec![Cell::new(Look::Faint, crate::paint::harmless(&name.level)), region_and_noun(name).into()]
        })
    }

    /// What does not depend on the machine.
    fn calls(&mut self) -> io::Result<()> {
        let remark =
            format!("regions that were called more or less often, or moved more or less data{}", self.of());
        self.title("CALLS AND BYTES", &remark)?;
        let (old, new) = self.comparison.divisors();
        let numbers = |row: Option<&marey_analyze::RegionSums>, n: f64| {
            row.map_or((0.0, 0.0), |row| (row.sums.visits as f64 / n, row.sums.bytes as f64 / n))
        };
        let mut rows: Vec<_> = self
            .comparison
            .regions
            .iter()
            .filter_map(|pair| {
                let name = &pair.other.or(pair.base)?.region;
                Some((name, numbers(pair.base, old), numbers(pair.other, new)))
            })
            .filter(|row| row.1 != row.2)
            .collect();
        if rows.is_empty() {
            let n = self.comparison.regions.len() as u64;
            let text = format!("none of {} changed", format::counted(n, "region"));
            return self.nothing(&text);
        }
        let factor =
            |(old, new): (f64, f64)| if old == new { 0.0 } else { ((new + 1.0) / (old + 1.0)).ln().abs() };
        let size =
            |row: &(_, (f64, f64), (f64, f64))| factor((row.1.0, row.2.0)).max(factor((row.1.1, row.2.1)));
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let mut table = Table::new(&[
            ("region", Side::Left),
            ("calls, old", Side::Right),
            ("new", Side::Right),
            ("change", Side::Right),
            ("bytes, old", Side::Right),
            ("new", Side::Right),
            ("change", Side::Right),
        ])
        .can_spare(&["bytes, old"]);
        let n = |value: f64| {
            if value.fract() == 0.0 { format::count(whole(value)) } else { format!("{value:.1}") }
        };
        for (name, old, new) in rows.iter().take(self.top) {
            let bytes = |value: f64| {
                if old.1 == 0.0 && new.1 == 0.0 { String::new() } else { format::bytes(whole(value)) }
            };
            let part = if old.1 == 0.0 && new.1 == 0.0 { String::new() } else { relative(old.1, new.1) };
            table.row([
                region_and_noun(name).into(),
                Cell::new(Look::Faint, n(old.0)),
                n(new.0).into(),
                relative(old.0, new.0).into(),
                Cell::new(Look::Faint, bytes(old.1)),
                bytes(new.1).into(),
                part.into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        self.more(rows.len())
    }

    fn paths(&mut self) -> io::Result<()> {
        // Paths of one step are the places of other tables.
        if self.comparison.paths.iter().all(|pair| pair.places.len() < 2) {
            return Ok(());
        }
        let remark = format!(
            "time in call paths themselves, without what they called{}; share: of the time of the base's processes",
            self.of()
        );
        self.title("CALL PATHS", &remark)?;
        let (old, new) = self.comparison.divisors();
        let whole = time_of_processes(self.comparison) / old;
        let time =
            |side: Option<marey_analyze::Sums>, n: f64| side.map_or(0.0, |sums| sums.exclusive.0 as f64 / n);
        let pairs = self.comparison.paths.iter();
        let rows = pairs.map(|pair| (&pair.places, time(pair.base, old), time(pair.other, new)));
        let rows = largest_first(rows.collect());
        let heads = (&["path", "called by"][..], &["share", "old", "called by"][..]);
        self.changes(heads, rows, whole, |comparison, places| {
            let names: Vec<String> = places.iter().map(|place| doing(comparison.name(*place).0)).collect();
            let last = places.last().map_or_else(String::new, |place| {
                let (name, line) = comparison.name(*place);
                called_by(name, line)
            });
            vec![shorten(&names.join(" › "), 60).into(), Cell::new(Look::Faint, last)]
        })
    }

    fn waits(&mut self, all: f64) -> io::Result<()> {
        if self.comparison.waits.is_empty() {
            return Ok(());
        }
        let remark = format!(
            "by what was waited for and where{}; share: of the time of all ranks and threads of the base",
            self.of()
        );
        self.title("WAIT STATES", &remark)?;
        let rows = self.comparison.waits.iter();
        let rows = rows.map(|(pattern, row)| ((pattern, row.place), row.old, row.new));
        let rows = largest_first(rows.collect());
        let heads = (&["waits for", "in", "called by"][..], &["share", "called by", "old"][..]);
        self.changes(heads, rows, all, |comparison, (pattern, place)| {
            let (place, line) = comparison.name(*place);
            vec![pattern.name().into(), doing(place).into(), Cell::new(Look::Faint, called_by(place, line))]
        })
    }

    fn functions(&mut self) -> io::Result<()> {
        let all = time_of_processes(self.comparison) / self.comparison.divisors().0;
        let rows: Vec<_> = self.comparison.functions.iter().map(|row| (row, row.old, row.new)).collect();
        if !rows.iter().any(|row| differs(row.1, row.2, all)) {
            return Ok(());
        }
        let remark = format!(
            "processor time by samples{}; an estimate, see error in `marey hot`; share: of the time of the base's processes",
            self.of()
        );
        self.title("FUNCTIONS", &remark)?;
        let heads = (&["function"][..], &["share", "old"][..]);
        self.changes(heads, rows, all, |_, row| vec![super::function(&row.function, row.line).into()])
    }

    fn memory(&mut self) -> io::Result<()> {
        let rows: Vec<_> =
            self.comparison.at_peak.iter().filter(|row| whole(row.1) != whole(row.2)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let remark = format!("what call sites had of the heap when processes had most{}", self.of());
        self.title("MEMORY", &remark)?;
        let mut table = Table::new(&[
            ("allocated by", Side::Left),
            ("called by", Side::Left),
            ("old", Side::Right),
            ("new", Side::Right),
            ("change", Side::Right),
        ])
        .can_spare(&["old", "called by"]);
        for (place, old, new) in rows.iter().take(self.top) {
            let (what, from) = place.map_or(("(unknown)".to_owned(), String::new()), |place| {
                let (name, line) = self.comparison.name(place);
                (doing(name), called_by(name, line))
            });
            table.row([
                what.into(),
                Cell::new(Look::Faint, from),
                Cell::new(Look::Faint, format::bytes(whole(*old))),
                format::bytes(whole(*new)).into(),
                relative(*old, *new).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        self.more(rows.len())
    }
}

/// What changed most first; of equals the first.
fn largest_first<T>(mut rows: Vec<(T, f64, f64)>) -> Vec<(T, f64, f64)> {
    rows.sort_by(|a, b| (b.2 - b.1).abs().total_cmp(&(a.2 - a.1).abs()));
    rows
}

/// Old, new, difference and share of times.
fn times(old: f64, new: f64, whole: f64) -> [Cell; 4] {
    let share = if whole > 0.0 { change((new - old) / whole) } else { String::new() };
    [
        Cell::new(Look::Faint, format::duration(rounded(old))),
        format::duration(rounded(new)).into(),
        signed_duration(new - old).into(),
        share.into(),
    ]
}

fn time_of_processes(comparison: &Comparison<'_>) -> f64 {
    comparison.base.processes.iter().map(|process| process.time.0 as f64).sum()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts are counted in 64 bits")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
