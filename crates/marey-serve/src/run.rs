//! A run that is open for questions.
//!
//! The one idea: what all answers need is read once; what only some need is read when the first of them is asked for.
//!
//! What is deliberately absent: what grows with the run; that is read for each question.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use marey_analyze::{
    Anomalies, Causes, LocationKind, Method, Redistribution, Region, SituationRules, Situations, Trace,
    Unread, Until, Waits, anomalies, arrays, causes, phases, redistributions, reduced, situations,
};
use marey_archive::{Addresses, Archive, Detail, Error, Events, RunTrace, all_to_all, prepared};
use marey_model::{CallPathId, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use crate::counters::Counted;
use crate::overlaps::Overlapping;
#[cfg(feature = "http")]
use crate::pair::Beside;
use crate::program::Program;
use crate::told::Told;
use crate::wire::{
    Kind, RunHead, WireCounter, WireEventKind, WireLine, WireLocation, WireProcess, WireReduced, WireRegion,
};

/// So many answers of the robust test are kept.
const MOST_PERCENTAGES: usize = 4;

/// Single visits, as [`RunHead::left_out`] has them.
const VISITS: &str = "visits";

/// A run that is open for questions.
pub struct Opened<'a> {
    pub(crate) archive: &'a Archive,
    pub(crate) trace: RunTrace,
    pub(crate) events: Events<'a>,
    pub(crate) detail: Detail,
    pub(crate) head: RunHead,
    /// By number in the archive, the place of a level in the head.
    pub(crate) level_places: Vec<u32>,
    /// Level (its place) and depth in it, by call path.
    pub(crate) depths: Vec<(u32, u32)>,
    /// Numbers of lines by (location, level, depth).
    lines: FxHashMap<(u32, u32, u32), u32>,
    /// Visits that are recorded one by one, by location.
    pub(crate) visits: Vec<f64>,
    causes: OnceLock<Option<Causes>>,
    /// What the robust test found, by its percentage, the last first.
    anomalies: Mutex<Vec<(f64, Arc<Anomalies>)>>,
    situations: OnceLock<Result<Situations, Unread>>,
    counted: OnceLock<Counted>,
    overlapping: OnceLock<Overlapping>,
    program: OnceLock<Program>,
    addresses: OnceLock<Addresses>,
    remarked: OnceLock<Vec<u8>>,
    redistributed: OnceLock<(Vec<Redistribution>, Vec<String>)>,
    report: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    reported: OnceLock<Vec<u8>>,
    /// What is known of it and another run.
    pub(crate) told: Option<Told>,
    /// The run that it is the base of.
    #[cfg(feature = "http")]
    pub(crate) beside: Option<Beside<'a>>,
}

impl std::fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("name", &self.head.name).finish_non_exhaustive()
    }
}

/// What is read of a run to open it.
const PARTS: u32 = 4;

/// Why a run cannot be opened.
pub type OpenError = Error;

impl<'a> Opened<'a> {
    /// Opens a run under a name. `report` writes its report in JSON, when somebody asks for that.
    ///
    /// # Errors
    /// If what all answers need cannot be read.
    pub fn new(
        archive: &'a Archive,
        name: &str,
        report: impl Fn() -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        Self::with_progress(archive, name, report, &|_, _, _| ())
    }

    /// The same, and tells what is read now, how many parts were, and of how many.
    ///
    /// # Errors
    /// As [`Opened::new`].
    pub fn with_progress(
        archive: &'a Archive,
        name: &str,
        report: impl Fn() -> Vec<u8> + Send + Sync + 'static,
        progress: &dyn Fn(&str, u32, u32),
    ) -> Result<Self, OpenError> {
        progress("definitions and sums", 0, PARTS);
        let trace = RunTrace::load(archive)?;
        progress("lists of visits and messages", 1, PARTS);
        let events = Events::open(archive, &trace)?;
        progress("level of detail", 2, PARTS);
        let detail = Detail::load(archive)?;
        progress("rows", 3, PARTS);
        let (levels, level_places) = levels(archive, &trace)?;
        let depths = depths(&trace, &levels);
        let lines = lines(&trace, &depths);
        let numbers =
            (0..).zip(&lines).map(|(number, line)| ((line.location, line.level, line.depth), number));
        let numbers = numbers.collect();
        let visits = visits(&trace);
        let mut head = head(archive, &trace, name, levels, lines);
        head.event_kinds = event_kinds(archive)?;
        Ok(Self {
            archive,
            trace,
            events,
            detail,
            head,
            level_places,
            depths,
            lines: numbers,
            visits,
            causes: OnceLock::new(),
            anomalies: Mutex::new(Vec::new()),
            situations: OnceLock::new(),
            counted: OnceLock::new(),
            overlapping: OnceLock::new(),
            program: OnceLock::new(),
            addresses: OnceLock::new(),
            remarked: OnceLock::new(),
            redistributed: OnceLock::new(),
            report: Box::new(report),
            reported: OnceLock::new(),
            told: None,
            #[cfg(feature = "http")]
            beside: None,
        })
    }

    /// Says that clocks of the run can be moved, or why they cannot.
    #[cfg(feature = "http")]
    pub(crate) fn allow_shift(&mut self, why_not: Option<String>) {
        self.head.why_no_shift = why_not;
    }

    /// Closes files that were kept open for the next question: nobody asks any more.
    #[cfg(feature = "http")]
    pub(crate) fn retire(&self) {
        self.archive.close_files();
    }

    /// The number of a line; `None` = there is none.
    pub(crate) fn line(&self, location: u32, level: u32, depth: u32) -> Option<u32> {
        self.lines.get(&(location, level, depth)).copied()
    }

    /// The line that a visit is on.
    pub(crate) fn line_of(&self, location: LocationId, call_path: CallPathId) -> Option<u32> {
        let (level, depth) = *self.depths.get(call_path.idx())?;
        self.line(location.0, level, depth)
    }

    /// Why the run took so long: what was found out when it was merged, if it was, by this version's definitions; else it
    /// is found out now, in some seconds for ten million visits. Of a run of which later events were only added up that is
    /// told of its beginning, which has all of them. `None` = not all of it can be read.
    pub(crate) fn causes(&self) -> Option<&Causes> {
        let is_whole = self.head.left_out.is_empty();
        let find = || match self.added_up_since() {
            Some(since) => {
                is_whole.then(|| causes(&Until::new(&self.trace, since), &self.events).ok()).flatten()
            }
            None => prepared(self.archive, &self.trace)
                .or_else(|| is_whole.then(|| causes(&self.trace, &self.events).ok()).flatten()),
        };
        self.causes.get_or_init(find).as_ref()
    }

    /// Since when some locations have sums only; `None` = all have their events to the end.
    pub(crate) fn added_up_since(&self) -> Option<Nanos> {
        self.archive.meta().summed_since_ns().map(Nanos)
    }

    /// What the robust test finds anomalous in the whole run: two passes over it, kept for as many percentages as the page
    /// offers. Who asks meanwhile waits.
    pub(crate) fn anomalies(&self, percent: f64) -> Result<Arc<Anomalies>, Unread> {
        let mut kept = self.anomalies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept.iter().find(|(known, _)| known.total_cmp(&percent).is_eq()) {
            return Ok(Arc::clone(found));
        }
        let phases = phases(&self.trace, &self.events)?;
        let main = phases.main.and_then(|main| phases.loops.get(main));
        let none = Waits::default();
        let waits = self.causes().map_or(&none, |causes| &causes.waits);
        let found = Arc::new(anomalies(&self.trace, &self.events, waits, main, (Method::Robust, percent))?);
        kept.insert(0, (percent, Arc::clone(&found)));
        kept.truncate(MOST_PERCENTAGES);
        Ok(found)
    }

    /// What the usual rules find in the part of the run that was explained, which takes passes over it; found when it is
    /// asked for, and kept. `None` = the run was not explained.
    pub(crate) fn situations(&self) -> Option<&Result<Situations, Unread>> {
        let causes = self.causes()?;
        let find = || {
            let rules = SituationRules::default();
            // Behind that there are sums only, and who has none is not at rest.
            let until = Until::new(&self.trace, causes.span.to);
            situations(&until, &self.events, causes, &rules)
        };
        Some(self.situations.get_or_init(find))
    }

    /// Its counters, found in a pass over their values when somebody asks.
    pub(crate) fn counted(&self) -> &Counted {
        self.counted.get_or_init(|| Counted::of(self))
    }

    /// Its states that need not nest, found when somebody asks.
    pub(crate) fn overlapping(&self) -> &Overlapping {
        self.overlapping.get_or_init(|| Overlapping::of(self))
    }

    /// What its program consists of, read when somebody asks.
    pub(crate) fn program(&self) -> &Program {
        self.program.get_or_init(|| Program::of(self))
    }

    /// Its samples by the address that they were taken at, added up when somebody asks for machine code.
    pub(crate) fn addresses(&self) -> Result<&Addresses, Error> {
        // What cannot be read may be there again when somebody asks again.
        if let Some(known) = self.addresses.get() {
            return Ok(known);
        }
        let found = Addresses::of(self.archive, &self.trace)?;
        Ok(self.addresses.get_or_init(|| found))
    }

    /// What moves its data from each rank to each other, and what could not be read of that; added up when somebody asks.
    pub(crate) fn redistributed(&self) -> (&[Redistribution], &[String]) {
        let (found, damage) = self.redistributed.get_or_init(|| {
            let (operations, damage) = match all_to_all(self.archive, &self.trace) {
                Ok((operations, damage)) => (operations, damage.iter().map(ToString::to_string).collect()),
                Err(error) => (Vec::new(), vec![error.to_string()]),
            };
            (redistributions(&self.trace, &arrays(&self.trace), &operations), damage)
        });
        (found, damage)
    }

    /// What compilers said of its program, as an answer, made when somebody asks.
    pub(crate) fn remarked(&self, make: impl FnOnce(&Self) -> Vec<u8>) -> &[u8] {
        self.remarked.get_or_init(|| make(self))
    }

    /// Whether single visits were left out where the run was exported; buckets are all there is then.
    pub(crate) fn has_no_visits(&self) -> bool {
        self.head.left_out.iter().any(|it| it == VISITS)
    }

    /// Its report.
    pub(crate) fn report(&self) -> &[u8] {
        self.reported.get_or_init(|| (self.report)())
    }
}

/// Names of the levels, what is built on others behind those, and for each number in the archive the place there.
fn levels(archive: &Archive, trace: &RunTrace) -> Result<(Vec<String>, Vec<u32>), Error> {
    let table = archive.table("levels")?;
    let (names, tiers) = (table.text("name")?, table.text("tier")?);
    let tier =
        |name: &str| ["source", "model", "runtime", "node"].iter().position(|it| *it == name).unwrap_or(4);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|place| (tier(&tiers[*place]), *place));
    let mut sorted: Vec<String> = order.iter().map(|place| names[*place].clone()).collect();
    let mut places = vec![0; names.len()];
    (0..).zip(&order).for_each(|(new, old)| places[*old] = new);
    // A damaged archive may lack some.
    for region in trace.regions() {
        if !sorted.contains(&region.level) {
            sorted.push(region.level.clone());
        }
    }
    Ok((sorted, places))
}

/// Level and depth in it, by call path.
fn depths(trace: &RunTrace, levels: &[String]) -> Vec<(u32, u32)> {
    let place = |name: &str| (0..).zip(levels).find(|(_, it)| *it == name).map_or(0, |(place, _)| place);
    let of_region: Vec<u32> = trace.regions().iter().map(|region| place(&region.level)).collect();
    let paths = trace.call_paths();
    // How many of each level are around and in it; a parent stands before its children.
    let mut around: Vec<Vec<u32>> = Vec::with_capacity(paths.len());
    let mut depths = Vec::with_capacity(paths.len());
    for path in paths {
        let level = of_region.get(path.region.idx()).copied().unwrap_or(0);
        let parent = path.parent.and_then(|parent| around.get(parent.idx()));
        let mut numbers = parent.cloned().unwrap_or_else(|| vec![0; levels.len().max(1)]);
        depths.push((level, numbers[level as usize]));
        numbers[level as usize] += 1;
        around.push(numbers);
    }
    depths
}

/// All lines on which something was ever recorded.
fn lines(trace: &RunTrace, depths: &[(u32, u32)]) -> Vec<WireLine> {
    let mut times: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
    for row in trace.profile().iter().chain(trace.lanes()).filter(|row| row.visits > row.untimed) {
        if let Some(&(level, depth)) = depths.get(row.call_path.idx()) {
            *times.entry((row.location.0, level, depth)).or_default() += row.inclusive.0;
        }
    }
    let line = |((location, level, depth), time_ns)| WireLine { location, level, depth, time_ns };
    times.into_iter().map(line).collect()
}

/// Visits by location, for an estimate of what there is to read.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn visits(trace: &RunTrace) -> Vec<f64> {
    let mut visits = vec![0.0; trace.locations().len()];
    for row in trace.profile().iter().chain(trace.lanes()) {
        if let Some(sum) = visits.get_mut(row.location.idx()) {
            *sum += (row.visits - row.untimed.min(row.visits)) as f64;
        }
    }
    for row in trace.reduced() {
        if let Some(sum) = visits.get_mut(row.location.idx()) {
            *sum = (*sum - row.visits as f64).max(0.0);
        }
    }
    visits
}

fn head(
    archive: &Archive,
    trace: &RunTrace,
    name: &str,
    levels: Vec<String>,
    lines: Vec<WireLine>,
) -> RunHead {
    let facts = &archive.meta().run;
    let count =
        |name: &str| archive.meta().counts.get(name).copied().unwrap_or_else(|| archive.meta().rows(name));
    let mut visits = vec![(0, 0); trace.regions().len()];
    for row in trace.profile() {
        let path = trace.call_paths().get(row.call_path.idx());
        if let Some(sums) = path.and_then(|path| visits.get_mut(path.region.idx())) {
            sums.0 += row.visits;
            sums.1 += row.exclusive.0;
        }
    }
    let level = |name: &str| (0..).zip(&levels).find(|(_, it)| *it == name).map_or(0, |(place, _)| place);
    let names = region_names(trace.regions(), &visits);
    let regions = trace.regions().iter().zip(visits).zip(names);
    let regions = regions.map(|((region, (visits, exclusive_ns)), name)| WireRegion {
        name,
        verb: region.verb.clone(),
        noun: region.noun.clone(),
        level: level(&region.level),
        kind: kind(region.role),
        file: region.file.clone(),
        line: region.line,
        visits,
        exclusive_ns,
    });
    let offsets = &archive.corrections().offsets;
    let processes = (0..).zip(trace.processes()).map(|(number, process)| WireProcess {
        host: process.host.clone(),
        rank: process.rank,
        world: process.world,
        pid: process.pid,
        outcome: process.outcome.clone(),
        offset_ns: offsets.get(&number).copied().unwrap_or(0),
    });
    let locations = trace.locations().iter().map(|location| WireLocation {
        name: location_name(trace, location),
        process: location.process.0,
        start_ns: location.start.0,
        end_ns: location.end.0,
    });
    let counters = trace.counters().iter().map(|counter| WireCounter {
        name: counter.name.clone(),
        unit: counter.unit.clone(),
        // Those of the program are what it says; the others count.
        is_rate: counter.source != "program",
    });
    RunHead {
        name: name.to_owned(),
        other: None,
        why_no_shift: Some("this page holds its run, which stays as it is".to_owned()),
        backwards: archive.corrections().violations,
        title: facts.title.clone(),
        command: facts.command.clone(),
        start_realtime_ns: facts.start_realtime_ns,
        duration_ns: facts.duration_ns,
        hosts: facts.hosts.clone(),
        mpi_library: facts.mpi_library.clone(),
        intervals: count("intervals"),
        messages: count("messages"),
        clock_ns: clock(trace),
        problems: trace.problems().iter().map(|problem| problem.count).sum(),
        added_up_since_ns: archive.meta().summed_since_ns(),
        imported_from: facts.imported_from.clone(),
        without_times: facts.without_times,
        reduced: reduced(trace).into_iter().map(WireReduced::of).collect(),
        left_out: left_out(archive),
        regions: regions.collect(),
        processes: processes.collect(),
        counters: counters.collect(),
        event_kinds: Vec::new(),
        locations: locations.collect(),
        levels,
        lines,
    }
}

/// What the program marks. A run that does not say whose it is has none.
fn event_kinds(archive: &Archive) -> Result<Vec<WireEventKind>, Error> {
    let table = archive.table("event_kinds")?;
    let kinds = table.text("name")?.iter().zip(table.text("kind")?);
    let kind = |(name, kind): (&String, &String)| WireEventKind {
        name: name.clone(),
        is_attribute: kind == "attribute",
    };
    Ok(kinds.map(kind).collect())
}

/// What was left out where the run was exported.
fn left_out(archive: &Archive) -> Vec<String> {
    let names = [("intervals", VISITS), ("messages", "messages")];
    let is_left_out = |table: &str| archive.meta().left_out(table) > 0;
    names.into_iter().filter(|(table, _)| is_left_out(table)).map(|(_, name)| name.to_owned()).collect()
}

/// Names of regions: what was done, and to what only where the same was done to others, too.
fn region_names(regions: &[Region], visits: &[(u64, i64)]) -> Vec<String> {
    let mut alike: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (region, (number, _)) in regions.iter().zip(visits) {
        // What was never visited does not make a name ambiguous.
        *alike.entry((&region.level, region.name())).or_default() += u32::from(*number > 0);
    }
    let name = |region: &Region| match region.name() {
        name if alike[&(region.level.as_str(), name)] > 1
            && !region.noun.is_empty()
            && name == region.verb =>
        {
            format!("{name} {}", region.noun)
        }
        name => name.to_owned(),
    };
    let mut names: Vec<String> = regions.iter().map(name).collect();
    tell_apart(&mut names, regions, visits);
    names
}

/// Adds the place in the source to names that are those of several regions, or a number where that says nothing: addresses
/// name regions, so a name is one region's. What alone of its like was visited keeps the name as it is.
fn tell_apart(names: &mut [String], regions: &[Region], visits: &[(u64, i64)]) {
    let place = |at: usize| {
        let Region { file, line, .. } = &regions[at];
        let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
        format!("{file}:{line}")
    };
    let number = |at: usize| format!("#{at}");
    for more in [&place as &dyn Fn(usize) -> String, &number] {
        let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            alike.entry(name.clone()).or_default().push(at);
        }
        for places in alike.into_values().filter(|places| places.len() > 1) {
            let mut visited = places.iter().filter(|at| visits[**at].0 > 0);
            let only = visited.next().filter(|_| visited.next().is_none()).copied();
            for at in places.into_iter().filter(|at| Some(*at) != only) {
                names[at] = format!("{} ({})", names[at], more(at));
            }
        }
    }
}

/// What a location is called among all: its rank, and which thread of it.
fn location_name(trace: &RunTrace, location: &marey_analyze::Location) -> String {
    let process = trace.processes().get(location.process.idx());
    let whose = match process.map(|process| (process.rank, process.world)) {
        Some((Some(rank), 0)) => format!("rank {rank}"),
        Some((Some(rank), world)) => format!("world {world} rank {rank}"),
        _ => format!("process {}", location.process.0),
    };
    match (location.kind, location.thread.0) {
        (LocationKind::Lane | LocationKind::Handlers, _) => format!("{whose} {}", location.name),
        (LocationKind::Thread, 0) => whose,
        (LocationKind::Thread, thread) => format!("{whose} thread {thread}"),
    }
}

/// The largest bound of all clocks; `None` = one of them has none.
fn clock(trace: &RunTrace) -> Option<i64> {
    let knots = trace.clocks().iter().flat_map(|clock| &clock.knots);
    knots.map(|(_, bound)| bound.map(|bound| bound.0)).try_fold(0, |most, bound| Some(bound?.max(most)))
}

fn kind(role: Role) -> Kind {
    match role {
        Role::Work | Role::Start | Role::End => Kind::Work,
        Role::Transfer => Kind::Transfer,
        Role::Wait | Role::Acquire => Kind::Wait,
        Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne => Kind::Collective,
        Role::Io => Kind::Io,
        Role::Release | Role::Create | Role::Manage => Kind::Manage,
    }
}
