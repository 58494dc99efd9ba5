//! What each place would give, were it faster.
//!
//! The one idea: places with most of the critical path are tried, each twice as fast and at no cost, all of them in one
//! replay, side by side; the one that would make the run shortest comes first.

use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId, Nanos, RECORDER_FILE, Role};

use super::{Change, Graph, Limits, Network, Replay, Scaling, Variant, Variants};
use crate::activities::Activity;
use crate::caller::caller_on;
use crate::causes::Causes;
use crate::efficiency::is_useful;
use crate::findings::{Function, Place as Spot};
use crate::happenings::{Happenings, Unread};
use crate::paths::float;
use crate::samples::{is_of_recorder, library_call, name_of};
use crate::trace::{Frame, SampledRow, Trace};

/// What places would give.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Each {
    /// The run as it was, replayed, ns.
    pub as_it_was: f64,
    /// The most worthwhile first.
    pub rows: Vec<Candidate>,
    /// The run time if useful time were evened out between synchronisations, ns.
    pub balanced: f64,
    /// The run time with the ideal network, ns.
    pub ideal: f64,
}

/// A place that was tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Which.
    pub what: What,
    /// How long it is on the critical path, ns.
    pub on_path: f64,
    /// The run time if it were twice as fast, ns.
    pub twice: f64,
    /// The run time if it took no time, ns.
    pub at_once: f64,
}

/// What may be tried.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// Calls of one region from one function: the call path with most of the time, and all of them.
    Calls(CallPathId, Vec<CallPathId>),
    /// Computation of a function itself outside of all calls, by samples.
    Function(Function),
    /// All computation outside of calls, where there are no samples.
    Computation,
}

impl Candidate {
    /// It, `speed` times as fast.
    pub fn change(&self, run: &impl Trace, speed: f64) -> Change {
        Change { scalings: vec![self.what.scaling(run, speed)], ..Change::default() }
    }
}

impl What {
    fn scaling(&self, run: &impl Trace, speed: f64) -> Scaling {
        let mut paths = vec![false; run.call_paths().len()];
        match self {
            Self::Calls(_, all) => {
                all.iter()
                    .filter(|path| path.idx() < run.call_paths().len())
                    .for_each(|path| paths[path.idx()] = true);
                Scaling::own(run, paths, |_| false, speed)
            }
            Self::Function(function) => {
                let is_it = |row: &SampledRow| {
                    row.call_path.is_none() && function_of(run, row) == Some((&function.name, &function.file))
                };
                Scaling::own(run, paths, is_it, speed)
            }
            Self::Computation => Scaling::outside(run, speed),
        }
    }
}

/// The function of the program that computed when samples were taken.
fn function_of<'t>(run: &'t dyn Trace, row: &SampledRow) -> Option<Named<'t>> {
    if row.call_path.is_some_and(|path| library_call(run, path).is_some()) {
        return None;
    }
    let frames = row.stack.map_or_else(Vec::new, |stack| run.stack(stack));
    caller_on(&frames).map(|place| named(frames[place]))
}

/// Name and file of a function; what has no name goes by its module.
fn named(frame: &Frame) -> Named<'_> {
    (name_of(&frame.function), &frame.file)
}

/// Tries at most `most` places. Passes as for one change, and one more for balance.
///
/// # Errors
/// What of the run could not be read.
pub fn what_if_each(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
    most: usize,
    limits: &Limits,
) -> Result<Each, Unread> {
    let graph = Graph::new(run, events, &causes.waits)?;
    let waits = &causes.waits;
    let mut rows = candidates(run, causes);
    rows.truncate(most);
    let mut changes = vec![
        Change::default(),
        Change { is_balanced: true, ..Change::default() },
        Change { network: Some(Network::default()), ..Change::default() },
    ];
    for row in &rows {
        changes.extend([row.change(run, 2.0), row.change(run, f64::INFINITY)]);
    }
    let mut variants = Vec::new();
    for change in &changes {
        variants.push(Variant::new(run, events, &graph, waits, causes, change)?);
    }
    let variants = Variants::new(run, variants);
    let mut replay = Replay::new(run, events, &graph, &variants, limits)?;
    replay.all(waits)?;
    let times: Vec<f64> = replay.finish().replayed.iter().map(|replayed| replayed.run_time).collect();
    let (of_run, of_rows) = times.split_at(3);
    for (row, times) in rows.iter_mut().zip(of_rows.chunks(2)) {
        (row.twice, row.at_once) = (times[0], times[1]);
    }
    // Of equals that with more of the path stays first.
    rows.sort_by(|a, b| a.twice.total_cmp(&b.twice).then(a.at_once.total_cmp(&b.at_once)));
    Ok(Each { as_it_was: of_run[0], rows, balanced: of_run[1], ideal: of_run[2] })
}

/// Places by their time on the critical path, most first.
fn candidates(run: &impl Trace, causes: &Causes) -> Vec<Candidate> {
    let candidate = |what: What, on_path: f64| Candidate { what, on_path, twice: 0.0, at_once: 0.0 };
    let mut calls: BTreeMap<Spot<'_>, (f64, Vec<(Nanos, CallPathId)>)> = BTreeMap::new();
    let mut outside: BTreeMap<LocationId, f64> = BTreeMap::new();
    for row in &causes.times {
        match row.activity {
            Activity::Path(path) if !is_set_up(run, path) => {
                let (on_path, paths) = calls.entry(Spot::of(run, row.activity)).or_default();
                *on_path += float(row.on_path);
                paths.push((row.on_path, path));
            }
            Activity::Outside => *outside.entry(row.location).or_default() += float(row.on_path),
            Activity::Path(_) | Activity::NotStarted => {}
        }
    }
    let mut rows: Vec<Candidate> = Vec::new();
    for (on_path, mut paths) in calls.into_values() {
        // Whichever has most of the path stands for all.
        let most =
            paths.iter().max_by_key(|(time, path)| (*time, std::cmp::Reverse(*path))).map(|most| most.1);
        paths.sort_unstable_by_key(|path| path.1);
        paths.dedup_by_key(|path| path.1);
        if let Some(most) = most {
            rows.push(candidate(What::Calls(most, paths.into_iter().map(|path| path.1).collect()), on_path));
        }
    }
    rows.extend(functions(run, &outside).into_iter().map(|(what, on_path)| candidate(what, on_path)));
    rows.retain(|row| row.on_path > 0.0);
    rows.sort_by(|a, b| b.on_path.total_cmp(&a.on_path));
    rows
}

/// Whether a call sets a parallel library up or takes it down, which no user makes faster.
fn is_set_up(run: &impl Trace, path: CallPathId) -> bool {
    let region = run.call_paths().get(path.idx()).and_then(|path| run.regions().get(path.region.idx()));
    let is_manage = region.is_some_and(|region| region.role == Role::Manage);
    is_manage && !is_useful(run, Activity::Path(path))
}

/// Name and file of a function.
type Named<'t> = (&'t str, &'t str);

/// Processor time by line, ns.
type Lines = BTreeMap<u32, f64>;

/// Processor time of a location, ns, and that by function.
#[derive(Default)]
struct Sampled<'t> {
    all: f64,
    functions: BTreeMap<Named<'t>, Lines>,
}

/// Computation on the critical path by the function that was sampled.
fn functions(run: &impl Trace, outside: &BTreeMap<LocationId, f64>) -> Vec<(What, f64)> {
    let mut sampled: BTreeMap<LocationId, Sampled<'_>> = BTreeMap::new();
    for row in run.samples().iter().filter(|row| row.call_path.is_none()) {
        let own = sampled.entry(row.location).or_default();
        own.all += float(row.time);
        let frames = row.stack.map_or_else(Vec::new, |stack| run.stack(stack));
        let Some(frame) = caller_on(&frames).map(|place| frames[place]) else { continue };
        // Nobody can make the recorder faster but us.
        if is_of_recorder(&frames) || name_of(&frame.function) == RECORDER_FILE {
            continue;
        }
        let lines = own.functions.entry(named(frame)).or_default();
        *lines.entry(frame.line).or_default() += float(row.time);
    }
    if sampled.is_empty() {
        return vec![(What::Computation, outside.values().sum())];
    }
    let mut sums: BTreeMap<Named<'_>, (f64, Lines)> = BTreeMap::new();
    for (location, own) in &sampled {
        let on_path = outside.get(location).copied().unwrap_or_default();
        for (function, lines) in &own.functions {
            let (sum, all_lines) = sums.entry(*function).or_default();
            for (line, time) in lines {
                *sum += on_path * time / own.all.max(1.0);
                *all_lines.entry(*line).or_default() += time;
            }
        }
    }
    let function = |((name, file), (on_path, lines)): (Named<'_>, (f64, Lines))| {
        let line = lines.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(line, _)| *line);
        let function = Function { name: name.to_owned(), file: file.to_owned(), line, within: String::new() };
        (What::Function(function), on_path)
    };
    sums.into_iter().map(function).collect()
}
