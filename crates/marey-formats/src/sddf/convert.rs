//! What becomes of records.

use std::collections::BTreeMap;

use marey_model::Level;
use marey_model::spool::{FieldType, put_bytes, put_signed};
use rustc_hash::FxHashMap;

use super::dimemas::Dimemas;
use super::item::{Descriptor, Value};
use super::meaning::{Meaning, Special};
use super::named;
use crate::Fate::{self, Ignored, Kept, Mapped};
use crate::draft::{Act, Draft, Owner};
use crate::problems::kind;
use crate::{Error, mpe, tau};

/// Descriptors that are told apart.
const MOST_DESCRIPTORS: usize = 1 << 16;
/// Processes and threads together.
const MOST_TRACKS: usize = 1 << 20;
/// What TAU calls the record that has the time of day, s.
const WALL_CLOCK: &str = "WALL_CLOCK";
const SECONDS_A_DAY: u64 = 86_400;

/// A thread, and where it has come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    /// Process and thread in the trace.
    key: (u32, i64),
    pub id: u32,
    pub process: u32,
    /// Its last time.
    pub ns: i64,
}

/// A trace on its way into a draft.
#[derive(Debug)]
pub(super) struct Convert {
    pub draft: Draft,
    pub dimemas: Dimemas,
    pub has_mpi: bool,
    meanings: FxHashMap<String, Meaning>,
    processes: BTreeMap<u32, u32>,
    tracks: BTreeMap<(u32, i64), Track>,
    counts: BTreeMap<(&'static str, Fate), u64>,
}

impl Convert {
    pub(super) fn new(draft: Draft) -> Self {
        Self {
            draft,
            dimemas: Dimemas::default(),
            has_mpi: false,
            meanings: FxHashMap::default(),
            processes: BTreeMap::new(),
            tracks: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    pub(super) fn count(&mut self, name: &'static str, fate: Fate) {
        *self.counts.entry((name, fate)).or_default() += 1;
    }

    pub(super) fn stray(&mut self, at: u64) {
        self.draft.trouble(format!("no record or descriptor from byte {at} on; passed over to the next one"));
    }

    pub(super) fn descriptor(&mut self, descriptor: Descriptor) {
        self.count(named::DESCRIPTOR, Mapped);
        if self.meanings.len() == MOST_DESCRIPTORS {
            self.draft.trouble("descriptors, more than can be told apart");
            return;
        }
        // Of one name, the last holds.
        self.meanings.insert(descriptor.name.clone(), Meaning::of(descriptor));
    }

    /// Notes what a record says.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn record(&mut self, name: &str, values: &[Value]) -> Result<(), Error> {
        let Some(meaning) = self.meanings.remove(name) else {
            self.count(named::UNDESCRIBED, Ignored);
            self.draft.problems.add(kind::MISSING, "records without a descriptor", 1);
            return Ok(());
        };
        let noted = self.described(&meaning, values);
        self.meanings.insert(name.to_owned(), meaning);
        noted
    }

    fn described(&mut self, meaning: &Meaning, values: &[Value]) -> Result<(), Error> {
        if values.len() != meaning.fields.len() {
            self.draft.trouble("records with more or less fields than their descriptor");
        }
        if let Some((name, special)) = meaning.special
            && self.definition(special, meaning, values)
        {
            self.count(name, Mapped);
            return Ok(());
        }
        let Some(mut track) = self.track(meaning, values) else { return Ok(()) };
        if let Some((at, unit)) = meaning.time {
            let ns = values.get(at).and_then(|value| match value {
                Value::Whole(time) => time.checked_mul(unit.ns()),
                #[expect(clippy::cast_precision_loss, reason = "a power of ten")]
                Value::Real(time) => mpe::nanoseconds(time * (unit.ns() as f64 / 1e9)),
                _ => None,
            });
            match ns {
                Some(ns) => track.ns = ns,
                None => self.draft.trouble("records whose time is no time, at the last one of their thread"),
            }
        } else if meaning.special.is_none() {
            let what = "records without a time, at the last one of their thread";
            self.draft.problems.add(kind::MISSING, what, 1);
        }
        let noted = match meaning.special {
            Some((name, special)) => {
                self.count(name, Mapped);
                self.special(special, &mut track, meaning, values)
            }
            None => self.plain(track, meaning, values),
        };
        // Whatever it was, its thread has come so far.
        self.tracks.insert(track.key, track);
        noted
    }

    fn track(&mut self, meaning: &Meaning, values: &[Value]) -> Option<Track> {
        let number = |at: Option<usize>| match values.get(at?)? {
            Value::Whole(number) => Some(*number),
            _ => None,
        };
        let process = number(meaning.process).and_then(mpe::rank);
        if process.is_none() {
            let what = "records without a process that can be, in process 0";
            self.draft.problems.add(kind::MISSING, what, 1);
        }
        let key = (process.unwrap_or(0), number(meaning.thread).unwrap_or(0));
        if let Some(track) = self.tracks.get(&key) {
            return Some(*track);
        }
        if self.tracks.len() == MOST_TRACKS {
            self.draft.trouble("records of more threads than can be told apart");
            return None;
        }
        let draft = &mut self.draft;
        let process = *self.processes.entry(key.0).or_insert_with(|| draft.process(Owner::default()));
        let id = self.draft.track(process, &format!("thread {}", key.1));
        let track = Track { key, id, process, ns: 0 };
        self.tracks.insert(key, track);
        Some(track)
    }

    fn plain(&mut self, track: Track, meaning: &Meaning, values: &[Value]) -> Result<(), Error> {
        let value = |at: Option<usize>| at.and_then(|at| values.get(at));
        if meaning.entry_exit.is_some() {
            self.count(named::ENTRY_EXIT, Mapped);
            let region = tau::region(&meaning.name);
            self.has_mpi |= region.level.0 == Level::MPI;
            let region = self.draft.region(&region);
            return match value(meaning.entry_exit) {
                Some(Value::Whole(1)) => self.draft.add(track.id, track.ns, &Act::Enter { region }),
                Some(Value::Whole(-1)) => {
                    self.draft.add(track.id, track.ns, &Act::Leave { region: Some(region) })
                }
                _ => {
                    self.draft.trouble("regions that are neither entered nor left");
                    Ok(())
                }
            };
        }
        if meaning.trigger.is_some() {
            if let Some((name, text)) = meaning.name.split_once(" |") {
                return self.metadata(track, name.trim(), text.trim());
            }
            self.count(named::TRIGGER, Mapped);
            let value = match value(meaning.trigger) {
                #[expect(clippy::cast_precision_loss, reason = "counters of a run are real numbers")]
                Some(Value::Whole(value)) => *value as f64,
                Some(Value::Real(value)) => *value,
                _ => {
                    self.draft.trouble("counters without a value");
                    return Ok(());
                }
            };
            let counter = self.draft.counter(track.process, &meaning.name, "");
            return self.draft.add(track.id, track.ns, &Act::Counter { counter, value });
        }
        if let (WALL_CLOCK, Some(Value::Whole(seconds))) = (meaning.name.as_str(), values.last())
            && seconds.abs_diff(track.ns / 1_000_000_000) < SECONDS_A_DAY
        {
            // So the clock is the calendar's.
            self.draft.epoch_ns = Some(0);
        }
        self.count(named::OTHER, Kept);
        self.keep(track, meaning, values)
    }

    fn metadata(&mut self, track: Track, name: &str, text: &str) -> Result<(), Error> {
        self.count(named::METADATA, Kept);
        tau::owner_fact(self.draft.owner(track.process), name, text);
        let mut fields = Vec::new();
        put_bytes(&mut fields, name.as_bytes());
        put_bytes(&mut fields, text.as_bytes());
        let kinds = [("name", FieldType::Text), ("value", FieldType::Text)];
        let Some(kind) = self.draft.kind("metadata", false, &kinds) else { return Ok(()) };
        self.draft.add(track.id, track.ns, &Act::Event { kind, fields: &fields })
    }

    /// Keeps a record as an event, with all fields but those that say when and where.
    pub(super) fn keep(&mut self, track: Track, meaning: &Meaning, values: &[Value]) -> Result<(), Error> {
        let told = [meaning.time.map(|it| it.0), meaning.process, meaning.thread];
        let (mut kinds, mut bytes) = (Vec::new(), Vec::new());
        let all = meaning.fields.iter().zip(values).enumerate();
        for (_, ((name, kind), value)) in all.filter(|(at, _)| !told.contains(&Some(*at))) {
            let kind = match (kind, value) {
                (_, Value::None) => continue,
                #[expect(clippy::cast_precision_loss, reason = "that is what the descriptor says")]
                (FieldType::Real, Value::Whole(number)) => {
                    bytes.extend((*number as f64).to_le_bytes());
                    FieldType::Real
                }
                (_, Value::Whole(number)) => {
                    put_signed(&mut bytes, *number);
                    FieldType::Signed
                }
                (_, Value::Real(number)) => {
                    bytes.extend(number.to_le_bytes());
                    FieldType::Real
                }
                (_, Value::Text(text)) => {
                    put_bytes(&mut bytes, text.as_bytes());
                    FieldType::Text
                }
                (_, Value::Array(values)) => {
                    put_bytes(&mut bytes, json(values).to_string().as_bytes());
                    FieldType::Text
                }
            };
            kinds.push((name.as_str(), kind));
        }
        self.event(track, &meaning.name, &kinds, &bytes)
    }

    pub(super) fn event(
        &mut self,
        track: Track,
        name: &str,
        kinds: &[(&str, FieldType)],
        fields: &[u8],
    ) -> Result<(), Error> {
        let Some(kind) = self.draft.kind(name, false, kinds) else {
            self.draft.trouble("events of more kinds than can be told apart");
            return Ok(());
        };
        self.draft.add(track.id, track.ns, &Act::Event { kind, fields })
    }

    /// Processes are ranks where there is MPI, or more than one.
    pub(super) fn end(mut self, creator: Option<String>) -> (Draft, BTreeMap<(&'static str, Fate), u64>) {
        if self.has_mpi || self.processes.len() > 1 {
            for (number, process) in &self.processes {
                self.draft.owner(*process).rank = Some(*number);
            }
        }
        if let Some(creator) = creator {
            self.draft.recorder = format!("SDDF of {creator}");
        }
        (self.draft, self.counts)
    }

    /// Takes what a record defines; whether it is one that does.
    fn definition(&mut self, special: Special, meaning: &Meaning, values: &[Value]) -> bool {
        match self.dimemas.define(special, meaning, values) {
            Some(true) => true,
            Some(false) => {
                self.draft.trouble("definitions that name nothing");
                true
            }
            None => false,
        }
    }
}

fn json(values: &[Value]) -> serde_json::Value {
    let one = |value: &Value| match value {
        Value::Whole(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::None | Value::Array(_) => serde_json::Value::Null,
    };
    values.iter().map(one).collect()
}
