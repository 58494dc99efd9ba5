//! What was counted beside the time, by region and by function, and what it says of the machine.
//!
//! The one idea: counters are read when a region is entered or left, so what a region counted is exact; where samples
//! were taken in it, what was counted up to each of them tells how that divides among its functions. What came between
//! the last sample and the end of a region is divided likewise: an estimate, as good as the samples are many.
//!
//! A metric is a quotient of two counters, or of one and the time; it exists where both were counted. Sources: J. L.
//! Hennessy, D. A. Patterson, *Computer Architecture*, for instructions per cycle and misses per instruction; traffic
//! between cache and memory is a line of 64 bytes for each miss of the last level, without what is fetched ahead.
//!
//! Deliberately absent: counters of the program's own, which take values and are no sums.

use std::collections::BTreeMap;

use marey_model::counters::PROGRAM;
use marey_model::{CallPathId, Nanos, RegionId};

use crate::samples::{FunctionKey, function_of};
use crate::trace::{CountedRow, Counter, Region, Trace};

/// What was counted in a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Counted<'t> {
    /// The counters, in the order in which they were asked for.
    pub counters: Vec<&'t Counter>,
    /// Everything together, a number for each counter.
    pub whole: Vec<u64>,
    /// By region, the first counter's largest first.
    pub regions: Vec<CountedRegion<'t>>,
    /// By function, or by call that has a region of its own; in the same order.
    pub functions: Vec<CountedFunction<'t>>,
}

/// What was counted in the visits of a region.
#[derive(Clone, PartialEq, Debug)]
pub struct CountedRegion<'t> {
    /// The region; `None` = outside of all regions.
    pub region: Option<&'t Region>,
    /// How long threads were in it itself.
    pub time: Nanos,
    /// In itself.
    pub exclusive: Vec<u64>,
    /// In itself and in regions inside; each visit once, however often it is among those around.
    pub inclusive: Vec<u64>,
}

/// An estimate of what was counted in a function itself, or what was in calls that have a region of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct CountedFunction<'t> {
    /// Its name; `None` = outside of all regions, and not known where.
    pub name: Option<&'t str>,
    /// Source file; empty = unknown.
    pub file: &'t str,
    /// Level of the region; `None` = a function.
    pub level: Option<&'t str>,
    /// A number for each counter.
    pub values: Vec<f64>,
}

/// What a quotient of counters is called, how it is written, and how it comes about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: MetricKind,
    over: &'static [&'static str],
    under: Option<&'static str>,
    factor: u32,
}

/// What the values of a metric are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// A number.
    Number,
    /// A share of one.
    Share,
    /// Bytes a second of a thread.
    Rate,
}

const fn share(name: &'static str, over: &'static [&'static str], under: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Share, over, under: Some(under), factor: 1 }
}

/// Bytes of a line of cache.
const LINE: u32 = 64;

/// All metrics, the most telling first.
const METRICS: [Metric; 10] = [
    Metric {
        name: "IPC",
        kind: MetricKind::Number,
        over: &["instructions"],
        under: Some("cycles"),
        factor: 1,
    },
    Metric { name: "GHz", kind: MetricKind::Number, over: &["cycles"], under: Some("task-clock"), factor: 1 },
    Metric {
        name: "memory traffic",
        kind: MetricKind::Rate,
        over: &["cache-misses"],
        under: None,
        factor: LINE,
    },
    Metric {
        name: "memory reads",
        kind: MetricKind::Rate,
        over: &["LLC-load-misses"],
        under: None,
        factor: LINE,
    },
    share("stalled", &["stalled-cycles-backend"], "cycles"),
    share("starved", &["stalled-cycles-frontend"], "cycles"),
    share("cache misses", &["cache-misses"], "cache-references"),
    share("LLC misses", &["LLC-load-misses"], "LLC-loads"),
    share("L1 misses", &["L1-dcache-load-misses"], "L1-dcache-loads"),
    share("branch misses", &["branch-misses"], "branches"),
];

impl Metric {
    /// Its value for what the counters of `counted` say, in so much time of threads. `None` where that is not known.
    pub fn value(&self, counted: &Counted<'_>, values: &[f64], time: Option<Nanos>) -> Option<f64> {
        let of = |name: &str| {
            let place = counted.counters.iter().position(|counter| counter.name == name)?;
            values.get(place).copied()
        };
        let over: f64 = self.over.iter().map(|name| of(name)).sum::<Option<f64>>()?;
        #[expect(clippy::cast_precision_loss, reason = "53 bits of nanoseconds are a hundred days")]
        let under = match self.under {
            Some(name) => of(name)?,
            None => time?.0 as f64 / 1e9,
        };
        (under > 0.0).then(|| over * f64::from(self.factor) / under)
    }
}

impl Counted<'_> {
    /// The metrics that the counters give.
    pub fn metrics(&self) -> impl Iterator<Item = &'static Metric> {
        let has = |name: &str| self.counters.iter().any(|counter| counter.name == name);
        METRICS.iter().filter(move |metric| metric.over.iter().chain(&metric.under).all(|name| has(name)))
    }
}

/// Adds up what counters counted. Time: the number of rows times the depth of call paths.
pub fn counted(trace: &dyn Trace) -> Counted<'_> {
    let all = trace.counters();
    let places: Vec<Option<usize>> = all
        .iter()
        .scan(0, |next, counter| {
            let is_beside = counter.source != PROGRAM;
            let place = is_beside.then_some(*next);
            *next += usize::from(is_beside);
            Some(place)
        })
        .collect();
    let counters: Vec<&Counter> = all.iter().filter(|counter| counter.source != PROGRAM).collect();
    let mut sums = Sums { trace, n: counters.len(), whole: vec![0; counters.len()], paths: BTreeMap::new() };
    for row in trace.counted() {
        if let Some(&Some(place)) = places.get(row.counter.0 as usize) {
            sums.add(row, place);
        }
    }
    sums.finish(counters)
}

/// What was counted in an innermost open region.
struct InPath<'t> {
    all: Vec<u64>,
    /// What samples saw of it.
    functions: BTreeMap<FunctionKey<'t>, Vec<u64>>,
}

struct Sums<'t> {
    trace: &'t dyn Trace,
    n: usize,
    whole: Vec<u64>,
    paths: BTreeMap<Option<CallPathId>, InPath<'t>>,
}

/// A function as [`FunctionKey`] has it, if it is known.
type Named<'t> = (Option<&'t str>, &'t str, Option<&'t str>);

impl<'t> Sums<'t> {
    fn add(&mut self, row: &CountedRow, place: usize) {
        let n = self.n;
        self.whole[place] = self.whole[place].saturating_add(row.value);
        let path = self.paths.entry(row.call_path);
        let path = path.or_insert_with(|| InPath { all: vec![0; n], functions: BTreeMap::new() });
        path.all[place] = path.all[place].saturating_add(row.value);
        if row.stack.is_some() {
            let function = function_of(self.trace, row.call_path, row.stack);
            let seen = function.map(|key| path.functions.entry(key).or_insert_with(|| vec![0; n]));
            if let Some(seen) = seen {
                seen[place] = seen[place].saturating_add(row.value);
            }
        }
    }

    fn finish(self, counters: Vec<&'t Counter>) -> Counted<'t> {
        let (regions, functions) = (self.regions(), self.functions());
        Counted { counters, whole: self.whole, regions, functions }
    }

    fn regions(&self) -> Vec<CountedRegion<'t>> {
        // By their ids, for static functions of two files may have one name.
        let mut found: BTreeMap<Option<RegionId>, (Vec<u64>, Vec<u64>)> = BTreeMap::new();
        for (&path, sum) in &self.paths {
            let mut seen: Vec<Option<RegionId>> = Vec::new();
            let mut at = path;
            loop {
                let row = at.and_then(|path| self.trace.call_paths().get(path.idx()));
                let key = self.region(at);
                let region = found.entry(key).or_insert_with(|| (vec![0; self.n], vec![0; self.n]));
                if seen.is_empty() {
                    add_all(&mut region.0, &sum.all);
                }
                if !seen.contains(&key) {
                    add_all(&mut region.1, &sum.all);
                    seen.push(key);
                }
                let parent = row.and_then(|row| row.parent).filter(|parent| Some(*parent) < at);
                if parent.is_none() {
                    break;
                }
                at = parent;
            }
        }
        let mut times: BTreeMap<Option<RegionId>, Nanos> = BTreeMap::new();
        for row in self.trace.profile() {
            let time = times.entry(self.region(Some(row.call_path))).or_default();
            *time = *time + row.exclusive;
        }
        let row = |(id, (exclusive, inclusive)): (Option<RegionId>, _)| {
            let region = id.and_then(|id| self.trace.regions().get(id.idx()));
            CountedRegion { region, time: times.get(&id).copied().unwrap_or_default(), exclusive, inclusive }
        };
        let mut regions: Vec<_> = found.into_iter().map(row).collect();
        regions.sort_by(|a, b| b.exclusive.cmp(&a.exclusive));
        regions
    }

    fn region(&self, path: Option<CallPathId>) -> Option<RegionId> {
        let region = self.trace.call_paths().get(path?.idx())?.region;
        self.trace.regions().get(region.idx()).map(|_| region)
    }

    #[expect(clippy::cast_precision_loss, reason = "estimates need no more than 53 bits")]
    fn functions(&self) -> Vec<CountedFunction<'t>> {
        let mut found: BTreeMap<Named<'t>, Vec<f64>> = BTreeMap::new();
        for (&path, sum) in &self.paths {
            for counter in 0..self.n {
                let all = sum.all[counter] as f64;
                let values = sum.functions.values().map(|values| values[counter]);
                let seen = values.fold(0, u64::saturating_add);
                if all == 0.0 {
                    continue;
                }
                if seen == 0 {
                    let key = match function_of(self.trace, path, None) {
                        Some((name, file, level)) => (Some(name), file, level),
                        None => (None, "", None),
                    };
                    found.entry(key).or_insert_with(|| vec![0.0; self.n])[counter] += all;
                    continue;
                }
                for (&(name, file, level), values) in &sum.functions {
                    let part = all * values[counter] as f64 / seen as f64;
                    let key = (Some(name), file, level);
                    found.entry(key).or_insert_with(|| vec![0.0; self.n])[counter] += part;
                }
            }
        }
        let row = |((name, file, level), values)| CountedFunction { name, file, level, values };
        let mut functions: Vec<_> = found.into_iter().map(row).collect();
        let order = |a: &CountedFunction<'_>, b: &CountedFunction<'_>| {
            let mut pairs = b.values.iter().zip(&a.values).map(|(b, a)| b.total_cmp(a));
            pairs.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        functions.sort_by(order);
        functions
    }
}

fn add_all(sums: &mut [u64], values: &[u64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = sum.saturating_add(*value);
    }
}
