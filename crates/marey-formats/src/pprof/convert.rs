//! What becomes of samples: call paths, and what was measured in them.

use std::collections::BTreeMap;
use std::path::Path;

use marey_model::spool::{FieldType, put, put_bytes, put_signed};
use rustc_hash::FxHashMap;

use super::tables::{Location, Tables};
use crate::draft::Owner;
use crate::profile::{Profile, Time};
use crate::protobuf::Value;
use crate::spool::Region;
use crate::{Error, mpi};

/// What is measured.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// ns that one stands for, if it is the time of the run.
    ns: Option<u64>,
    metric: Option<u32>,
}

/// Labels that name a thread.
const THREADS: [&str; 5] = ["thread", "thread_name", "thread_id", "thread id", "tid"];

/// Units of time as pprof has them, and ns in each.
const UNITS: [(&str, u64); 10] = [
    ("nanoseconds", 1),
    ("nanosecond", 1),
    ("ns", 1),
    ("microseconds", 1_000),
    ("us", 1_000),
    ("milliseconds", 1_000_000),
    ("ms", 1_000_000),
    ("seconds", 1_000_000_000),
    ("s", 1_000_000_000),
    ("minutes", 60_000_000_000),
];

/// A profile on its way.
pub(super) struct Convert {
    pub profile: Profile,
    tables: Tables,
    measured: Vec<Measured>,
    process: u32,
    threads: BTreeMap<String, u32>,
    /// Regions of a location, the outermost first.
    regions: FxHashMap<u64, Vec<u32>>,
    /// Labels that say something else than the thread.
    pub labels: u64,
    locations: Vec<u64>,
    values: Vec<u64>,
}

impl Convert {
    pub(super) fn new(dir: &Path, tables: Tables) -> Self {
        let mut profile = Profile::new(dir, "pprof");
        profile.epoch_ns = Some(tables.time_ns).filter(|ns| *ns > 0 && *ns < 1 << 63);
        let ns_of = |unit: u64| UNITS.iter().find(|it| it.0 == tables.text(unit)).map(|it| it.1);
        let mut times = tables.types.iter().enumerate().filter(|(_, it)| ns_of(it.1).is_some());
        let usual = times.clone().find(|(_, it)| it.0 == tables.usual && tables.usual != 0);
        let time = usual.or(times.next_back()).map(|it| it.0);
        let unit = ns_of(tables.period_type.1);
        let period = unit.and_then(|unit| u64::try_from(tables.period).ok()?.checked_mul(unit));
        let period = period.filter(|period| *period > 0);
        let mut measured = Vec::new();
        for (place, (name, unit)) in tables.types.iter().enumerate() {
            measured.push(match ns_of(*unit).filter(|_| Some(place) == time) {
                Some(ns) => Measured { ns: Some(ns), metric: None },
                None => {
                    let shown = Some(tables.text(*unit)).filter(|unit| *unit != "count").unwrap_or_default();
                    let metric = Some(profile.metric(tables.text(*name), shown));
                    // Where only samples were counted, each stands for a period.
                    let is_samples = time.is_none() && tables.text(*name) == "samples" && shown.is_empty();
                    Measured { ns: period.filter(|_| is_samples), metric }
                }
            });
        }
        // A mapping's file is that of the program where it is the first.
        let program = tables.mappings.get(&1).map(|file| tables.text(*file).to_owned());
        let command = program.filter(|it| !it.is_empty()).into_iter().collect();
        let process = profile.process(Owner { command, ..Owner::default() });
        Self {
            profile,
            tables,
            measured,
            process,
            threads: BTreeMap::new(),
            regions: FxHashMap::default(),
            labels: 0,
            locations: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Takes a sample in.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn sample(&mut self, sample: Value<'_>) -> Result<(), Error> {
        self.locations.clear();
        self.values.clear();
        let mut thread = None;
        let mut fields = sample.fields();
        for (number, value) in fields.by_ref() {
            match number {
                1 => value.numbers(false, &mut self.locations),
                2 => value.numbers(false, &mut self.values),
                3 => match self.thread_of(value) {
                    Some(name) => thread = Some(name),
                    None => self.labels += 1,
                },
                _ => {}
            }
        }
        if fields.is_damaged {
            self.profile.trouble("samples that end in what is no field");
        }
        if self.values.len() != self.measured.len() {
            self.profile.trouble("samples with more or fewer values than the profile says");
        }
        let thread = self.thread(&thread.unwrap_or_default());
        let mut path = None;
        for place in (0..self.locations.len()).rev() {
            let location = self.locations[place];
            for region in self.regions_of(location) {
                path = Some(self.profile.path(path, region));
            }
        }
        // One that is nowhere is of the program as a whole.
        let path = match path {
            Some(path) => path,
            None => {
                let region = self.profile.region(&Region::of_program("unknown"));
                self.profile.path(None, region)
            }
        };
        for place in 0..self.values.len().min(self.measured.len()) {
            let signed = self.values[place].cast_signed();
            let Ok(value) = u64::try_from(signed) else {
                self.profile.trouble("values that are less than nothing");
                continue;
            };
            if value == 0 {
                continue;
            }
            let Measured { ns, metric } = self.measured[place];
            if let Some(ns) = ns {
                let exclusive_ns = value.saturating_mul(ns);
                self.profile.time(thread, path, Time { exclusive_ns, ..Time::default() })?;
            }
            if let Some(metric) = metric {
                self.profile.count(thread, Some(path), metric, value)?;
            }
        }
        Ok(())
    }

    /// The thread that a label names.
    fn thread_of(&self, label: Value<'_>) -> Option<String> {
        let (mut key, mut text, mut number) = (0, 0, 0);
        for (field, value) in label.fields() {
            match field {
                1 => key = value.number(),
                2 => text = value.number(),
                3 => number = value.signed(),
                _ => {}
            }
        }
        THREADS.contains(&self.tables.text(key)).then(|| match self.tables.text(text) {
            "" => format!("thread {number}"),
            name => name.to_owned(),
        })
    }

    fn thread(&mut self, name: &str) -> u32 {
        if let Some(thread) = self.threads.get(name) {
            return *thread;
        }
        let shown = if name.is_empty() { "all threads" } else { name };
        let thread = self.profile.thread(self.process, shown);
        self.threads.insert(name.to_owned(), thread);
        thread
    }

    fn regions_of(&mut self, location: u64) -> Vec<u32> {
        if let Some(regions) = self.regions.get(&location) {
            return regions.clone();
        }
        let unknown = Location { address: location, ..Location::default() };
        let known = self.tables.locations.get(&location);
        if known.is_none() {
            self.profile.trouble("locations that the profile does not have");
        }
        let place = known.unwrap_or(&unknown);
        let mut regions: Vec<Region> = Vec::new();
        for function in place.functions.iter().rev() {
            let Some(it) = self.tables.functions.get(function) else { continue };
            let names = [self.tables.text(it.name), self.tables.text(it.system_name), "unknown"];
            let mut region = mpi::region(names.into_iter().find(|it| !it.is_empty()).unwrap_or_default());
            self.tables.text(it.file).clone_into(&mut region.file);
            region.line = u32::try_from(it.line).unwrap_or(0);
            regions.push(region);
        }
        if regions.is_empty() {
            let file = self.tables.mappings.get(&place.mapping).map_or("", |file| self.tables.text(*file));
            let file = file.rsplit('/').next().unwrap_or_default();
            let address = format!("{:#x}", place.address);
            regions.push(Region::of_program(
                if file.is_empty() { address } else { format!("{file} {address}") }.as_str(),
            ));
        }
        let ids: Vec<u32> = regions.iter().map(|region| self.profile.region(region)).collect();
        self.regions.insert(location, ids.clone());
        ids
    }

    /// What the profile says beside its samples is noted with its first thread.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn end(mut self) -> Result<Profile, Error> {
        let first = self.threads.values().copied().min();
        let thread = first.unwrap_or_else(|| self.thread(""));
        let tables = &self.tables;
        let (of, unit) = (tables.text(tables.period_type.0), tables.text(tables.period_type.1));
        if tables.period != 0 || tables.duration_ns != 0 || !of.is_empty() {
            let fields = [
                ("period", FieldType::Signed),
                ("period_of", FieldType::Text),
                ("period_unit", FieldType::Text),
                ("duration_ns", FieldType::Unsigned),
            ];
            let kind = self.profile.kind("profile", &fields);
            let mut fields = Vec::new();
            put_signed(&mut fields, tables.period);
            put_bytes(&mut fields, of.as_bytes());
            put_bytes(&mut fields, unit.as_bytes());
            put(&mut fields, tables.duration_ns);
            self.profile.note(thread, kind, &fields)?;
        }
        for comment in &tables.comments {
            let kind = self.profile.kind("comment", &[("text", FieldType::Text)]);
            let mut fields = Vec::new();
            put_bytes(&mut fields, tables.text(*comment).as_bytes());
            self.profile.note(thread, kind, &fields)?;
        }
        Ok(self.profile)
    }
}
