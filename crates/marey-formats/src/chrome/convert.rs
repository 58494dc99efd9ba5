//! What becomes of each event.
//!
//! The one idea: processes and threads are whatever `pid` and `tid` say, numbers or texts; all else is noted as it comes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use marey_model::spool::{FieldType, put, put_bytes, put_signed};
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::event::{Event, Members};
use super::value::{self, Text, ns};
use super::{KINDS, Kind, OTHER};
use crate::categories::Regions;
use crate::draft::{self, Act, Draft, Owner};
use crate::problems::kind;
use crate::{Error, Fate, Imported, Progress};

/// Bytes of a text among arguments.
const MOST_TEXT: usize = 4096;
/// Bytes of an event's arguments.
const MOST_ARGUMENTS: usize = 15 << 10;
/// Pieces of metadata that are kept.
const MOST_METADATA: usize = 10_000;

/// A process and its threads.
#[derive(Debug, Default)]
struct Known {
    process: u32,
    tracks: BTreeMap<Box<str>, u32>,
    /// Names of threads that nothing has happened in yet.
    names: FxHashMap<Box<str>, String>,
}

pub(super) struct Conversion {
    draft: Draft,
    shown: String,
    processes: BTreeMap<Box<str>, Known>,
    names: FxHashMap<Box<str>, String>,
    /// Process, name and arguments of what holds from the beginning.
    metadata: Vec<(Box<str>, String, Fields)>,
    members: Vec<(String, String)>,
    regions: Regions,
    counts: BTreeMap<usize, u64>,
    others: BTreeMap<String, (Fate, u64)>,
    /// What is wrong in the text: where first, how often, and what a parser says of that.
    damages: BTreeMap<&'static str, (u64, u64, String)>,
    n_events: u64,
}

/// Arguments as the spool has them.
#[derive(Debug, Default)]
struct Fields {
    types: Vec<(String, FieldType)>,
    bytes: Vec<u8>,
}

impl Fields {
    fn text(&mut self, name: &str, text: &str) {
        let cut = text.floor_char_boundary(MOST_TEXT);
        self.types.push((name.to_owned(), FieldType::Text));
        put_bytes(&mut self.bytes, &text.as_bytes()[..cut]);
    }

    fn value(&mut self, name: &str, raw: &RawValue) {
        let written = raw.get();
        let kind = match written.as_bytes().first() {
            Some(b't' | b'f') => {
                self.bytes.push((written == "true").into());
                FieldType::Bool
            }
            // There is no value.
            Some(b'n') => return,
            Some(b'-' | b'0'..=b'9') => {
                if let Ok(number) = written.parse::<u64>() {
                    put(&mut self.bytes, number);
                    FieldType::Unsigned
                } else if let Ok(number) = written.parse::<i64>() {
                    put_signed(&mut self.bytes, number);
                    FieldType::Signed
                } else {
                    self.bytes.extend(written.parse::<f64>().unwrap_or(f64::NAN).to_le_bytes());
                    FieldType::Real
                }
            }
            _ => return self.text(name, &value::text(raw)),
        };
        self.types.push((name.to_owned(), kind));
    }

    /// The arguments and other members of an event.
    fn of(event: &Event<'_>) -> Self {
        let mut fields = Self::default();
        if let Some(arguments) = event.arguments {
            match serde_json::from_str::<Members<'_>>(arguments.get()) {
                Ok(Members(members)) => members.iter().for_each(|(name, raw)| fields.value(&name.0, raw)),
                Err(_) => fields.value("args", arguments),
            }
        }
        event.others.iter().for_each(|(name, raw)| fields.value(&name.0, raw));
        fields
    }
}

impl Conversion {
    pub(super) fn new(file: &Path, spool: &Path) -> Self {
        Self {
            draft: Draft::new(&draft::beside(spool), "Chrome trace events"),
            shown: file.display().to_string(),
            processes: BTreeMap::new(),
            names: FxHashMap::default(),
            metadata: Vec::new(),
            members: Vec::new(),
            regions: Regions::default(),
            counts: BTreeMap::new(),
            others: BTreeMap::new(),
            damages: BTreeMap::new(),
            n_events: 0,
        }
    }

    pub(super) fn damage(&mut self, at: u64, what: &'static str) {
        self.damages.entry(what).or_insert((at, 0, String::new())).1 += 1;
    }

    /// A member beside the list of events.
    pub(super) fn member(&mut self, name: String, value: Option<&[u8]>) {
        let text = value.and_then(|value| std::str::from_utf8(value).ok()).map(str::trim);
        let is_list = name == "stackFrames" || name == "samples";
        let kept = text.filter(|_| !is_list && self.members.len() < MOST_METADATA);
        let fate = if kept.is_some() { Fate::Kept } else { Fate::Ignored };
        self.others.entry(name.clone()).or_insert((fate, 0)).1 += 1;
        let Some(text) = kept else { return };
        if name == "baseTimeNanoseconds" {
            self.draft.epoch_ns = text.parse().ok();
        }
        let plain = serde_json::from_str::<Text<'_>>(text).map_or_else(|_| text.to_owned(), |it| it.0.into());
        self.members.push((name, plain));
    }

    /// An event. False if that is not what the text is.
    pub(super) fn event(&mut self, text: &[u8], at: u64) -> Result<bool, Error> {
        match serde_json::from_slice(text) {
            Ok(event) => self.act(&event, at).map(|()| true),
            Err(error) => {
                let new = || (at, 0, format!(": {error}"));
                self.damages.entry("an event that cannot be read").or_insert_with(new).1 += 1;
                Ok(false)
            }
        }
    }

    fn count(&mut self, place: usize) {
        self.n_events += 1;
        *self.counts.entry(place).or_default() += 1;
    }

    fn act(&mut self, event: &Event<'_>, at: u64) -> Result<(), Error> {
        let phase = event.phase.map(value::text).unwrap_or_default();
        let place = KINDS.iter().position(|kind| kind.phase == phase).unwrap_or(KINDS.len());
        let name = event.name.map(value::text).unwrap_or_default();
        if phase == "M" {
            self.count(place);
            self.metadata(event, &name);
            return Ok(());
        }
        let time = match event.time.map(ns) {
            Some(Some(time)) => time,
            Some(None) => {
                self.damage(at, "a time that is none");
                return Ok(());
            }
            None => {
                self.damage(at, "an event without a time");
                return Ok(());
            }
        };
        self.count(place);
        let track = self.track(event);
        match phase.as_ref() {
            "X" => self.span(track, time, event, &name),
            "B" => {
                let region = self.region(event, &name);
                self.draft.add(track, time, &Act::Enter { region })?;
                self.facts(track, &name, event)
            }
            "E" => {
                let region = (!name.is_empty()).then(|| self.region(event, &name));
                self.facts_before(track, time, &name, event)?;
                self.draft.add(track, time, &Act::Leave { region })
            }
            "C" => self.counters(track, time, event, &name),
            "b" | "S" => {
                let region = self.region(event, &name);
                let key = key(event, &name, phase == "S");
                self.draft.add(track, time, &Act::Begin { region, key })?;
                self.event_with_arguments(track, time, &name, event)
            }
            "e" | "F" => {
                let key = key(event, &name, phase == "F");
                self.draft.add(track, time, &Act::End { key })?;
                self.event_with_arguments(track, time, &name, event)
            }
            "s" | "t" | "f" => self.flow(track, time, event, (&phase, &name)),
            _ => {
                let mut fields = Fields::of(event);
                let known = KINDS.get(place).unwrap_or(&OTHER);
                if let Some(id) = event.id.or(event.id2) {
                    fields.value("id", id);
                }
                if known.phase.is_empty() {
                    fields.text("phase", &phase);
                } else if known.phase != "i" && known.phase != "I" {
                    fields.text("phase", known.name);
                }
                let name = if name.is_empty() { known.name } else { &name };
                self.keep(track, time, name, &fields)
            }
        }
    }

    fn span(&mut self, track: u32, time: i64, event: &Event<'_>, name: &str) -> Result<(), Error> {
        let duration = event.duration.or(event.thread_duration);
        let length = duration.and_then(ns).unwrap_or(0);
        let Ok(length) = u64::try_from(length) else {
            self.draft.trouble("complete events that end before they begin");
            return Ok(());
        };
        let region = self.region(event, name);
        self.draft.add(track, time, &Act::Span { region, ns: length })?;
        self.facts(track, name, event)
    }

    fn flow(
        &mut self,
        track: u32,
        time: i64,
        event: &Event<'_>,
        (phase, name): (&str, &str),
    ) -> Result<(), Error> {
        let key = key(event, name, true);
        if phase != "s" {
            let binds = event.binding.map(value::text);
            let is_next = phase == "f" && binds.as_deref() != Some("e");
            self.draft.add(track, time, &Act::FlowIn { key, is_next })?;
        }
        match phase {
            "s" => self.draft.add(track, time, &Act::FlowOut { key }),
            // What leads on from here comes behind what has led here.
            "t" => self.draft.also(track, &Act::FlowOut { key }),
            _ => Ok(()),
        }
    }

    fn counters(&mut self, track: u32, time: i64, event: &Event<'_>, name: &str) -> Result<(), Error> {
        let members = event.arguments.and_then(|it| serde_json::from_str::<Members<'_>>(it.get()).ok());
        let Members(members) = members.unwrap_or_default();
        let process = self.known(event).process;
        let id = event.id.map(value::text).map(|id| format!(" {id}")).unwrap_or_default();
        let mut others = Fields::default();
        for (series, raw) in &members {
            let Ok(value) = value::text(raw).parse::<f64>() else {
                others.value(&series.0, raw);
                continue;
            };
            let is_only = members.len() == 1 && ["value", "Value", name].contains(&series.0.as_ref());
            let series = if is_only { String::new() } else { format!(": {}", series.0) };
            let counter = self.draft.counter(process, &format!("{name}{id}{series}"), "");
            self.draft.add(track, time, &Act::Counter { counter, value })?;
        }
        if others.types.is_empty() && !members.is_empty() {
            return Ok(());
        }
        self.keep(track, time, name, &others)
    }

    /// An event of its own for what a state begins or ends with.
    fn event_with_arguments(
        &mut self,
        track: u32,
        time: i64,
        name: &str,
        event: &Event<'_>,
    ) -> Result<(), Error> {
        let fields = Fields::of(event);
        if fields.types.is_empty() { Ok(()) } else { self.keep(track, time, name, &fields) }
    }

    fn keep(&mut self, track: u32, time: i64, name: &str, fields: &Fields) -> Result<(), Error> {
        let Some((kind, bytes)) = self.kind(name, false, fields) else { return Ok(()) };
        self.draft.add(track, time, &Act::Event { kind, fields: &bytes })
    }

    /// Arguments as facts about the region that was noted before.
    fn facts(&mut self, track: u32, name: &str, event: &Event<'_>) -> Result<(), Error> {
        let fields = Fields::of(event);
        let Some((kind, as_event)) = self.fact(name, &fields) else { return Ok(()) };
        self.draft.also(track, &Act::Fact { kind, as_event, fields: &fields.bytes })
    }

    /// The same of the region that is left next.
    fn facts_before(&mut self, track: u32, time: i64, name: &str, event: &Event<'_>) -> Result<(), Error> {
        let fields = Fields::of(event);
        let Some((kind, as_event)) = self.fact(name, &fields) else { return Ok(()) };
        self.draft.add(track, time, &Act::Fact { kind, as_event, fields: &fields.bytes })
    }

    /// The kinds of a fact with these fields, and of an event in its place; `None` if there are none, or too many.
    fn fact(&mut self, name: &str, fields: &Fields) -> Option<(u32, u32)> {
        if fields.types.is_empty() {
            return None;
        }
        // What is left out is counted once.
        let (kind, _) = self.kind("arguments", true, fields)?;
        let (as_event, _) = self.kind(name, false, fields)?;
        Some((kind, as_event))
    }

    /// The kind of events with these fields, and their bytes; `None` if they are too long.
    fn kind(&mut self, name: &str, is_fact: bool, fields: &Fields) -> Option<(u32, Vec<u8>)> {
        if MOST_ARGUMENTS < fields.bytes.len() {
            self.draft.problems.add(kind::DROPPED, "arguments of events that are longer than 15 KiB", 1);
            return None;
        }
        let types: Vec<(&str, FieldType)> =
            fields.types.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        if let Some(kind) = self.draft.kind(name, is_fact, &types) {
            return Some((kind, fields.bytes.clone()));
        }
        self.draft.problems.add(kind::DROPPED, "arguments of events of more kinds than are told apart", 1);
        None
    }

    fn metadata(&mut self, event: &Event<'_>, name: &str) {
        let process = event.process.map(value::text).unwrap_or_default();
        let members = event.arguments.and_then(|it| serde_json::from_str::<Members<'_>>(it.get()).ok());
        let Members(members) = members.unwrap_or_default();
        let said = members.iter().find(|(key, _)| key.0 == "name").map(|(_, raw)| value::text(raw));
        match (name, said) {
            ("process_name", Some(said)) => {
                self.names.insert(process.as_ref().into(), said.into_owned());
            }
            ("thread_name", Some(said)) => {
                let thread = event.thread.map(value::text).unwrap_or_default();
                let known = self.known(event);
                match known.tracks.get(thread.as_ref()) {
                    Some(track) => {
                        let track = *track;
                        self.draft.name_track(track, &said);
                    }
                    None => drop(known.names.insert(thread.as_ref().into(), said.into_owned())),
                }
            }
            ("process_sort_index" | "thread_sort_index", _) => {}
            _ if self.metadata.len() < MOST_METADATA => {
                let fields = Fields::of(event);
                self.metadata.push((process.as_ref().into(), name.to_owned(), fields));
            }
            _ => self.draft.problems.add(kind::DROPPED, "metadata beyond the first 10 000", 1),
        }
    }

    fn known(&mut self, event: &Event<'_>) -> &mut Known {
        let process = event.process.map(value::text).unwrap_or_default();
        if !self.processes.contains_key(process.as_ref()) {
            let pid = process.parse().unwrap_or(0);
            let process_number = self.draft.process(Owner { pid, ..Owner::default() });
            let known = Known { process: process_number, ..Known::default() };
            self.processes.insert(process.as_ref().into(), known);
        }
        self.processes.entry(process.as_ref().into()).or_default()
    }

    fn track(&mut self, event: &Event<'_>) -> u32 {
        let process = event.process.map(value::text).unwrap_or_default();
        let thread = event.thread.map(value::text).unwrap_or_default();
        if let Some(track) =
            self.processes.get(process.as_ref()).and_then(|it| it.tracks.get(thread.as_ref()))
        {
            return *track;
        }
        let known = self.known(event);
        let number = known.process;
        let name = known.names.remove(thread.as_ref()).unwrap_or_else(|| match thread.parse::<i64>() {
            Ok(number) => format!("thread {number}"),
            Err(_) => thread.clone().into_owned(),
        });
        let track = self.draft.track(number, &name);
        self.known(event).tracks.insert(thread.as_ref().into(), track);
        track
    }

    fn region(&mut self, event: &Event<'_>, name: &str) -> u32 {
        let categories = event.category.map(value::text).unwrap_or_default();
        let category = categories.split(',').next().unwrap_or_default().trim();
        self.regions.of(&mut self.draft, (category, name), ("", 0))
    }

    pub(super) fn finish(mut self, spool: &Path, progress: (&dyn Progress, u64)) -> Result<Imported, Error> {
        for (process, known) in &self.processes {
            let names = self.names.get(process).cloned();
            let name = names.or_else(|| process.parse::<i64>().is_err().then(|| process.to_string()));
            self.draft.owner(known.process).command = name.into_iter().collect();
        }
        self.tell_metadata()?;
        for (what, (at, number, why)) in std::mem::take(&mut self.damages) {
            let text = format!("{}: from byte {at} on: {what}{why}", self.shown);
            self.draft.problems.add(kind::DAMAGED, text, number);
        }
        let mut imported = self.draft.finish(spool, progress)?;
        imported.events = self.n_events;
        let named = |(place, number): (usize, u64)| {
            let Kind { phase, name, fate, .. } = KINDS.get(place).unwrap_or(&OTHER);
            let letter = if phase.is_empty() { String::new() } else { format!(" ({phase})") };
            (format!("{name}{letter}"), *fate, number)
        };
        imported.records = self.counts.into_iter().map(named).collect();
        imported.records.sort();
        imported.definitions =
            self.others.into_iter().map(|(name, (fate, number))| (name, fate, number)).collect();
        Ok(imported)
    }

    /// What holds from the beginning: of the first thread of its process; of the first of all, where the whole trace is meant.
    fn tell_metadata(&mut self) -> Result<(), Error> {
        let first = |known: &Known| known.tracks.values().copied().min();
        for (process, name, fields) in std::mem::take(&mut self.metadata) {
            // Of a process in which nothing happens nobody asks.
            let Some(track) = self.processes.get(&process).and_then(first) else { continue };
            if let Some((kind, bytes)) = self.kind(&name, false, &fields) {
                self.draft.at_begin(track, &Act::Event { kind, fields: &bytes })?;
            }
        }
        let Some(track) = self.processes.values().filter_map(first).min() else { return Ok(()) };
        for (name, text) in std::mem::take(&mut self.members) {
            let mut fields = Fields::default();
            fields.text("value", &text);
            if let Some((kind, bytes)) = self.kind(&name, false, &fields) {
                self.draft.at_begin(track, &Act::Event { kind, fields: &bytes })?;
            }
        }
        Ok(())
    }
}

/// What the parts of a state or a flow have in common: category, identifier and its scope, and perhaps the name. Identifiers
/// that are local are those of their process.
fn key(event: &Event<'_>, name: &str, is_by_name: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    event.category.map(RawValue::get).hash(&mut hasher);
    event.scope.map(RawValue::get).hash(&mut hasher);
    event.id.map(value::text).hash(&mut hasher);
    if let Some(id) = event.id2 {
        id.get().hash(&mut hasher);
        if id.get().contains("\"local\"") {
            event.process.map(RawValue::get).hash(&mut hasher);
        }
    }
    is_by_name.then_some(name).hash(&mut hasher);
    hasher.finish()
}
