//! What becomes of lines: costs of functions, and calls between them.
//!
//! The one idea: costs are added up by function and by pair of functions while lines are read, so what is in memory grows with
//! those, not with lines.

use std::collections::BTreeMap;
use std::path::Path;

use marey_model::spool::{FieldType, put, put_bytes};
use rustc_hash::FxHashMap;

use super::line::{Content, Names, ns_in, numbers, parse};
use crate::draft::Owner;
use crate::problems::kind::MISSING;
use crate::profile::{Profile, Time};
use crate::{Error, mpi};

/// Events of a profile; a line has no more costs.
const MOST_EVENTS: usize = 100;

/// Object, file and name.
type Function = (String, String, String);

/// What is added up of a function.
#[derive(Clone, Debug, Default)]
struct Sum {
    own: Vec<u64>,
    /// Of what it calls, but for itself.
    of_calls: Vec<u64>,
    visits: u64,
}

/// What is added up of calls.
#[derive(Clone, Debug, Default)]
struct Calls {
    number: u64,
    costs: Vec<u64>,
}

/// Where lines are.
#[derive(Debug, Default)]
struct Place {
    object: String,
    /// Of the function, and of inlined code in it.
    file: String,
    inlined: String,
    function: Option<u32>,
    /// Where the function is that is called next.
    callee: [Option<String>; 3],
    /// Calls that the next line has the costs of.
    calls: Option<u64>,
}

/// A profile on its way.
pub(super) struct Convert {
    pub profile: Profile,
    counts: BTreeMap<&'static str, u64>,
    objects: Names,
    files: Names,
    functions: Names,
    known: FxHashMap<Function, u32>,
    /// In the order in which they were met.
    all: Vec<Function>,
    place: Place,
    positions: usize,
    events: Vec<String>,
    /// Events of this part, by their numbers among all.
    columns: Vec<usize>,
    long_names: BTreeMap<String, String>,
    /// Sum of this part's own costs, column by column.
    part: Vec<u64>,
    thread: String,
    threads: BTreeMap<String, u32>,
    process: u32,
    sums: BTreeMap<(u32, u32), Sum>,
    /// By thread, caller and callee.
    calls: BTreeMap<(u32, u32, u32), Calls>,
    headers: Vec<(String, String)>,
}

/// Other headers that are kept.
const MOST_HEADERS: usize = 1000;

fn add(sums: &mut Vec<u64>, columns: &[usize], costs: &[u64]) {
    for (column, cost) in columns.iter().zip(costs) {
        if sums.len() <= *column {
            sums.resize(column + 1, 0);
        }
        sums[*column] = sums[*column].saturating_add(*cost);
    }
}

impl Convert {
    pub(super) fn new(dir: &Path) -> Self {
        let mut profile = Profile::new(dir, "callgrind");
        let process = profile.process(Owner::default());
        Self {
            profile,
            counts: BTreeMap::new(),
            objects: Names::default(),
            files: Names::default(),
            functions: Names::default(),
            known: FxHashMap::default(),
            all: Vec::new(),
            place: Place::default(),
            positions: 1,
            events: Vec::new(),
            columns: Vec::new(),
            long_names: BTreeMap::new(),
            part: Vec::new(),
            thread: String::new(),
            threads: BTreeMap::new(),
            process,
            sums: BTreeMap::new(),
            calls: BTreeMap::new(),
            headers: Vec::new(),
        }
    }

    fn count(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    pub(super) fn line(&mut self, line: &str, number: u64) {
        match parse(line, self.positions) {
            Content::Nothing => {}
            Content::Place(key, text) => self.place(key, text, number),
            Content::Calls(calls) => {
                self.count("calls");
                if self.place.calls.replace(calls).is_some() {
                    self.profile.trouble("calls without their costs");
                }
            }
            Content::Jump => self.count("jump"),
            Content::Cost(costs) => self.cost(&costs, number),
            Content::Header(name, value) => self.header(name, value),
            Content::Damage => self.profile.trouble(format!("line {number} makes no sense")),
        }
    }

    fn place(&mut self, key: &str, text: &str, number: u64) {
        let names = match key {
            "ob" | "cob" => &mut self.objects,
            "fn" | "cfn" => &mut self.functions,
            _ => &mut self.files,
        };
        let name = names.of(text).unwrap_or_else(|| {
            let what = format!("names that stand for others, the first in line {number}");
            self.profile.problems.add(MISSING, what, 1);
            text.to_owned()
        });
        let place = &mut self.place;
        let kind = match key {
            "ob" => {
                place.object = name;
                "place"
            }
            "fl" => {
                place.inlined.clone_from(&name);
                place.file = name;
                "place"
            }
            "fi" | "fe" => {
                place.inlined = name;
                "place of inlined code"
            }
            "fn" => {
                let function = (place.object.clone(), place.file.clone(), name);
                place.inlined.clone_from(&place.file);
                place.calls = None;
                place.callee = [None, None, None];
                self.place.function = Some(self.function(function));
                "fn"
            }
            "cob" => {
                place.callee[0] = Some(name);
                "place"
            }
            "cfn" => {
                place.callee[2] = Some(name);
                "place"
            }
            _ => {
                place.callee[1] = Some(name);
                "place"
            }
        };
        self.count(kind);
    }

    fn function(&mut self, function: Function) -> u32 {
        if let Some(id) = self.known.get(&function) {
            return *id;
        }
        let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(function.clone());
        self.known.insert(function, id);
        id
    }

    fn cost(&mut self, costs: &[u64], number: u64) {
        if costs.len() > self.columns.len() {
            self.profile.trouble(format!("line {number} has more costs than there are events"));
        }
        let Some(caller) = self.place.function else {
            self.profile.trouble(format!("line {number} is of no function"));
            return;
        };
        let thread = self.thread();
        let Some(calls) = self.place.calls.take() else {
            // The position of a jump is a line without costs.
            if !costs.is_empty() {
                self.count("cost");
            }
            add(&mut self.sums.entry((thread, caller)).or_default().own, &self.columns, costs);
            for (sum, cost) in self.part.iter_mut().zip(costs) {
                *sum = sum.saturating_add(*cost);
            }
            return;
        };
        self.count("cost of calls");
        let [object, file, name] = std::mem::take(&mut self.place.callee);
        let Some(name) = name else {
            self.profile.trouble(format!("line {number} has the cost of calls of nothing"));
            return;
        };
        let object = object.unwrap_or_else(|| self.place.object.clone());
        let file = file.unwrap_or_else(|| self.place.inlined.clone());
        let callee = self.function((object, file, name));
        let sum = self.sums.entry((thread, callee)).or_default();
        sum.visits = sum.visits.saturating_add(calls);
        if caller != callee {
            add(&mut self.sums.entry((thread, caller)).or_default().of_calls, &self.columns, costs);
        }
        let edge = self.calls.entry((thread, caller, callee)).or_default();
        edge.number = edge.number.saturating_add(calls);
        add(&mut edge.costs, &self.columns, costs);
    }

    fn thread(&mut self) -> u32 {
        if let Some(thread) = self.threads.get(&self.thread) {
            return *thread;
        }
        let name =
            if self.thread.is_empty() { "all threads".to_owned() } else { format!("thread {}", self.thread) };
        let thread = self.profile.thread(self.process, &name);
        self.threads.insert(self.thread.clone(), thread);
        thread
    }

    fn header(&mut self, name: &str, value: &str) {
        let kind = match name {
            "events" => {
                self.columns.clear();
                for name in value.split_whitespace().take(MOST_EVENTS) {
                    let known = self.events.iter().position(|it| it == name);
                    let column = known.unwrap_or(self.events.len());
                    if known.is_none() {
                        self.events.push(name.to_owned());
                    }
                    self.columns.push(column);
                }
                self.part = vec![0; self.columns.len()];
                self.place = Place::default();
                "events"
            }
            "event" => {
                if let Some((name, long)) = value.split_once(':') {
                    self.long_names.insert(name.trim().to_owned(), long.trim().to_owned());
                }
                "event"
            }
            "positions" => {
                self.positions = value.split_whitespace().count().clamp(1, 3);
                "positions"
            }
            "part" => {
                self.place = Place::default();
                "part"
            }
            "thread" => {
                value.clone_into(&mut self.thread);
                "thread"
            }
            "pid" => {
                self.profile.owner(self.process).pid = value.parse().unwrap_or(0);
                "pid"
            }
            "cmd" => {
                let words = value.split_whitespace().map(str::to_owned).collect();
                self.profile.owner(self.process).command = words;
                "cmd"
            }
            "creator" => {
                value.clone_into(&mut self.profile.recorder);
                "creator"
            }
            "totals" => {
                let mut totals = numbers(value);
                totals.resize(self.part.len(), 0);
                if totals != self.part {
                    self.profile.trouble("totals that are not the sum of the costs before them");
                }
                "totals"
            }
            "summary" => "summary",
            _ => {
                if self.headers.len() < MOST_HEADERS {
                    self.headers.push((name.to_owned(), value.to_owned()));
                }
                "header"
            }
        };
        self.count(kind);
    }

    /// ns in one of an event, if that is a time.
    fn ns_of(&self, event: &str) -> Option<u64> {
        ns_in(event).or_else(|| ns_in(self.long_names.get(event)?))
    }

    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn end(mut self) -> Result<(Profile, BTreeMap<&'static str, u64>), Error> {
        self.thread();
        let time = self.events.iter().enumerate().find_map(|(at, name)| Some((at, self.ns_of(name)?)));
        let metrics: Vec<Option<u32>> = (0..self.events.len())
            .map(|at| {
                let is_time = time.is_some_and(|time| time.0 == at);
                (!is_time).then(|| self.profile.metric(&self.events[at], ""))
            })
            .collect();
        let paths: Vec<u32> = self.all.iter().map(|function| path(&mut self.profile, function)).collect();
        let mut whole: BTreeMap<u32, u64> = BTreeMap::new();
        let of_time = |costs: &[u64]| {
            let (at, ns) = time?;
            Some(costs.get(at).copied().unwrap_or(0).saturating_mul(ns))
        };
        for ((thread, _), sum) in &self.sums {
            let all = whole.entry(*thread).or_default();
            *all = all.saturating_add(of_time(&sum.own).unwrap_or(0));
        }
        for ((thread, function), sum) in &self.sums {
            let path = paths[*function as usize];
            let own = of_time(&sum.own);
            let exclusive_ns = own.unwrap_or(0);
            let most = whole.get(thread).copied().unwrap_or(0);
            let inclusive_ns = of_time(&sum.of_calls).map(|ns| exclusive_ns.saturating_add(ns).min(most));
            self.profile.time(*thread, path, Time { visits: sum.visits, exclusive_ns, inclusive_ns })?;
            for (metric, cost) in metrics.iter().zip(&sum.own) {
                if let Some(metric) = metric.filter(|_| *cost > 0) {
                    self.profile.count(*thread, Some(path), metric, *cost)?;
                }
            }
        }
        self.notes()?;
        Ok((self.profile, self.counts))
    }

    /// Calls and other headers, as events.
    fn notes(&mut self) -> Result<(), Error> {
        let mut fields =
            vec![("caller", FieldType::Text), ("callee", FieldType::Text), ("calls", FieldType::Unsigned)];
        fields.extend(self.events.iter().map(|name| (name.as_str(), FieldType::Unsigned)));
        let kind = self.profile.kind("call", &fields);
        let mut bytes = Vec::new();
        for ((thread, caller, callee), calls) in &self.calls {
            bytes.clear();
            for function in [caller, callee] {
                put_bytes(&mut bytes, self.all[*function as usize].2.as_bytes());
            }
            put(&mut bytes, calls.number);
            for at in 0..self.events.len() {
                put(&mut bytes, calls.costs.get(at).copied().unwrap_or(0));
            }
            self.profile.note(*thread, kind, &bytes)?;
        }
        let thread = self.thread();
        let kind = self.profile.kind("header", &[("name", FieldType::Text), ("value", FieldType::Text)]);
        for (name, value) in &self.headers {
            bytes.clear();
            put_bytes(&mut bytes, name.as_bytes());
            put_bytes(&mut bytes, value.as_bytes());
            self.profile.note(thread, kind, &bytes)?;
        }
        Ok(())
    }
}

/// The call path of a function: itself, at the top.
fn path(profile: &mut Profile, (object, file, name): &Function) -> u32 {
    let mut region = mpi::region(name);
    // Functions of one name in objects without files are different ones.
    let is_known = !file.is_empty() && file != "???";
    if is_known { file } else { object }.clone_into(&mut region.file);
    let region = profile.region(&region);
    profile.path(None, region)
}
