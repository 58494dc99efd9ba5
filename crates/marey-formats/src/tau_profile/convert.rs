//! What becomes of rows.
//!
//! The one idea: rows of a thread are gathered until all of them are known, for whether a function counts by itself depends on
//! whether any call path ends in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use marey_model::Level;
use marey_model::spool::{FieldType, put, put_bytes};
use rustc_hash::FxHashMap;

use crate::draft::Owner;
use crate::profile::{Profile, Time, whole};
use crate::tau::definitions::region;

/// Node, context and thread.
pub(super) type Who = (u64, u64, u64);

/// What a thread has of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub name: String,
    pub groups: String,
    pub calls: f64,
    /// In the metric's unit; TAU's of time is µs.
    pub exclusive: f64,
    pub inclusive: f64,
}

/// What a thread has of a user event.
#[derive(Clone, Debug, Default)]
pub(super) struct UserEvent {
    pub name: String,
    pub number: f64,
    pub least: f64,
    pub greatest: f64,
    pub mean: f64,
    pub squares: f64,
}

/// Rows by what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub timed: u64,
    pub beside: u64,
    pub sampled: u64,
    pub user_events: u64,
    pub metadata: u64,
}

/// A profile on its way.
pub(super) struct Convert {
    pub profile: Profile,
    pub counts: Counts,
    processes: BTreeMap<(u64, u64), u32>,
    threads: BTreeMap<Who, u32>,
    /// The metric that is the time.
    time: Option<String>,
    regions: FxHashMap<String, u32>,
    has_mpi: bool,
    metadata: BTreeSet<(u32, String)>,
}

const ARROW: &str = "=>";
/// How names begin that samples alone have met.
const BY_SAMPLES: [&str; 5] = ["[SAMPLE]", "[UNWIND]", "[CONTEXT]", "[SUMMARY]", "[INTERMEDIATE]"];
const NS_PER_US: f64 = 1000.0;

impl Convert {
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            profile: Profile::new(dir, "TAU"),
            counts: Counts::default(),
            processes: BTreeMap::new(),
            threads: BTreeMap::new(),
            time: None,
            regions: FxHashMap::default(),
            has_mpi: false,
            metadata: BTreeSet::new(),
        }
    }

    /// Says which metrics there are, before any row: one of them is the time.
    pub(super) fn metrics(&mut self, names: &[String]) {
        if self.time.is_none() {
            self.time = names.iter().find(|name| name.to_ascii_uppercase().contains("TIME")).cloned();
        }
    }

    pub(super) fn thread(&mut self, who: Who) -> u32 {
        if let Some(thread) = self.threads.get(&who) {
            return *thread;
        }
        let (node, context, thread) = who;
        let profile = &mut self.profile;
        let process =
            *self.processes.entry((node, context)).or_insert_with(|| profile.process(Owner::default()));
        let id = profile.thread(process, &format!("thread {thread}"));
        self.threads.insert(who, id);
        id
    }

    /// Takes all rows of a thread in that are of one metric.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written; so for all that follow.
    pub(super) fn rows(&mut self, who: Who, metric: &str, rows: &[Row]) -> Result<(), crate::Error> {
        let thread = self.thread(who);
        let leaves: BTreeSet<&str> =
            rows.iter().filter_map(|row| Some(row.name.rsplit_once(ARROW)?.1.trim())).collect();
        let is_time = self.time.as_deref() == Some(metric);
        for row in rows {
            let is_path = row.name.contains(ARROW);
            if !is_path && leaves.contains(row.name.trim()) {
                self.count_row(&row.name, is_time);
                continue;
            }
            if row.groups.contains("TAU_PARAM") {
                self.by_parameter(thread, metric, row)?;
                continue;
            }
            self.count_row(&row.name, is_time);
            let mut path = None;
            for name in row.name.split(ARROW) {
                let region = self.region(name.trim(), &row.groups);
                path = Some(self.profile.path(path, region));
            }
            let Some(path) = path else { continue };
            if is_by_samples(&row.name) {
                if is_time {
                    let samples = self.profile.metric("samples", "");
                    self.profile.count(thread, Some(path), samples, whole(row.calls))?;
                }
                let unit = if is_time { "ns" } else { "" };
                let value = row.exclusive * if is_time { NS_PER_US } else { 1.0 };
                let sampled = self.profile.metric(&format!("sampled {metric}"), unit);
                self.profile.count(thread, Some(path), sampled, whole(value))?;
            } else if is_time {
                let [exclusive_ns, inclusive_ns] =
                    [row.exclusive, row.inclusive].map(|us| whole(us * NS_PER_US));
                let time = Time { visits: whole(row.calls), exclusive_ns, inclusive_ns: Some(inclusive_ns) };
                self.profile.time(thread, path, time)?;
            } else {
                let metric = self.profile.metric(metric, "");
                self.profile.count(thread, Some(path), metric, whole(row.exclusive))?;
            }
        }
        Ok(())
    }

    fn count_row(&mut self, name: &str, is_time: bool) {
        let counts = &mut self.counts;
        *match (is_by_samples(name), is_time) {
            (true, _) => &mut counts.sampled,
            (false, true) => &mut counts.timed,
            (false, false) => &mut counts.beside,
        } += 1;
    }

    fn region(&mut self, name: &str, groups: &str) -> u32 {
        if let Some(region) = self.regions.get(name) {
            return *region;
        }
        let region = region(name, groups);
        self.has_mpi |= region.level.0 == Level::MPI;
        let id = self.profile.region(&region);
        self.regions.insert(name.to_owned(), id);
        id
    }

    fn by_parameter(&mut self, thread: u32, metric: &str, row: &Row) -> Result<(), crate::Error> {
        self.counts.timed += 1;
        let fields = [
            ("name", FieldType::Text),
            ("metric", FieldType::Text),
            ("calls", FieldType::Unsigned),
            ("exclusive", FieldType::Real),
            ("inclusive", FieldType::Real),
        ];
        let kind = self.profile.kind("function by parameter", &fields);
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, row.name.trim().as_bytes());
        put_bytes(&mut bytes, metric.as_bytes());
        put(&mut bytes, whole(row.calls));
        [row.exclusive, row.inclusive].iter().for_each(|real| bytes.extend(real.to_le_bytes()));
        self.profile.note(thread, kind, &bytes)
    }

    pub(super) fn user_event(&mut self, who: Who, event: &UserEvent) -> Result<(), crate::Error> {
        let thread = self.thread(who);
        self.counts.user_events += 1;
        let fields = [
            ("name", FieldType::Text),
            ("number", FieldType::Unsigned),
            ("least", FieldType::Real),
            ("greatest", FieldType::Real),
            ("mean", FieldType::Real),
            ("sum_of_squares", FieldType::Real),
        ];
        let kind = self.profile.kind("user event", &fields);
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, event.name.as_bytes());
        put(&mut bytes, whole(event.number));
        let reals = [event.least, event.greatest, event.mean, event.squares];
        reals.iter().for_each(|real| bytes.extend(real.to_le_bytes()));
        self.profile.note(thread, kind, &bytes)
    }

    /// A fact about a thread, which those of all metrics repeat.
    pub(super) fn fact(&mut self, who: Who, name: &str, value: &str) -> Result<(), crate::Error> {
        let thread = self.thread(who);
        if !self.metadata.insert((thread, name.to_owned())) {
            return Ok(());
        }
        self.counts.metadata += 1;
        if let Some(process) = self.processes.get(&(who.0, who.1)) {
            let owner = self.profile.owner(*process);
            match name {
                "Hostname" => value.clone_into(&mut owner.host),
                "pid" => owner.pid = value.parse().unwrap_or(0),
                "Command Line" => owner.command = value.split_whitespace().map(str::to_owned).collect(),
                _ => {}
            }
        }
        if name == "Starting Timestamp" {
            let ns = value.parse::<u64>().ok().and_then(|us| us.checked_mul(1000)).filter(|ns| *ns < 1 << 63);
            let earliest = self.profile.epoch_ns.into_iter().chain(ns).min();
            self.profile.epoch_ns = earliest;
        }
        let kind = self.profile.kind("metadata", &[("name", FieldType::Text), ("value", FieldType::Text)]);
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, name.as_bytes());
        put_bytes(&mut bytes, value.as_bytes());
        self.profile.note(thread, kind, &bytes)
    }

    pub(super) fn end(mut self) -> (Profile, Counts) {
        if self.has_mpi || self.processes.len() > 1 {
            for ((node, context), process) in &self.processes {
                let rank = u32::try_from(*node).ok().filter(|_| *context == 0);
                self.profile.owner(*process).rank = rank;
            }
        }
        (self.profile, self.counts)
    }
}

/// Whether samples alone have met the innermost function of a path: what was measured around them has their time.
fn is_by_samples(name: &str) -> bool {
    let leaf = name.rsplit(ARROW).next().unwrap_or(name).trim_start();
    BY_SAMPLES.iter().any(|begin| leaf.starts_with(begin))
}
