//! What becomes of each packet and event.
//!
//! The one idea: older events have letters, newer ones types that mean the same as some of them; all are one list of
//! letters here.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use marey_model::spool::FieldType;
use rustc_hash::FxHashMap;

use super::arguments::Arguments;
use super::clocks::{self, Clock, Clocks, MONOTONIC};
use super::event::{Event, Number};
use super::sequence::{Sequence, Table};
use super::tracks::{Place, Tracks};
use super::{COUNTER, KINDS, Kind, OTHER, packet_kind};
use crate::categories::Regions;
use crate::draft::{self, Act, Draft};
use crate::problems::{Problems, kind};
use crate::protobuf::{Fields, Value};
use crate::{Error, Fate, Imported, Progress};

/// Bytes of an event's arguments.
const MOST_ARGUMENTS: usize = 15 << 10;
/// Packets that only tell what holds for those behind them.
const NO_DATA: &str = "packet without data";
/// Flows of which the process is known.
const MOST_FLOWS: usize = 1 << 20;

pub(super) struct Conversion {
    draft: Draft,
    shown: String,
    clocks: Clocks,
    tracks: Tracks,
    sequences: FxHashMap<u32, Sequence>,
    regions: Regions,
    /// Processes that flows were seen in.
    flows: FxHashMap<u64, u32>,
    records: BTreeMap<String, (Fate, u64)>,
    typed: BTreeMap<u32, u64>,
    damages: u64,
    first_damage: Option<(u64, String)>,
    n_events: u64,
}

/// The fields of a packet that tell of it.
#[derive(Debug, Default)]
struct Packet<'a> {
    timestamp: Option<u64>,
    clock: Option<u32>,
    sequence: u32,
    flags: u64,
    was_dropped: bool,
    interned: Vec<Value<'a>>,
    defaults: Option<Value<'a>>,
    data: Vec<(u32, Value<'a>)>,
    is_damaged: bool,
}

impl<'a> Packet<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let mut it = Self::default();
        let mut fields = Fields::new(bytes);
        for (number, value) in fields.by_ref() {
            match number {
                8 => it.timestamp = Some(value.number()),
                58 => it.clock = value.word(),
                10 => it.sequence = value.word().unwrap_or(0),
                13 => it.flags |= value.number(),
                41 => it.flags |= value.number() & 1,
                42 => it.was_dropped = value.number() != 0,
                12 => it.interned.push(value),
                59 => it.defaults = Some(value),
                // Users, processes and machines that the service has noted.
                3 | 79 | 87 | 98 => {}
                _ => it.data.push((number, value)),
            }
        }
        it.is_damaged = fields.is_damaged;
        it
    }
}

/// Where and when an event happens, and what it is called.
#[derive(Clone, Copy, Debug)]
struct Site<'a> {
    process: u32,
    track: u32,
    ns: i64,
    name: &'a str,
}

impl Conversion {
    pub(super) fn new(file: &Path, spool: &Path) -> Self {
        Self {
            draft: Draft::new(&draft::beside(spool), "Perfetto"),
            shown: file.display().to_string(),
            clocks: Clocks::default(),
            tracks: Tracks::default(),
            sequences: FxHashMap::default(),
            regions: Regions::default(),
            flows: FxHashMap::default(),
            records: BTreeMap::new(),
            typed: BTreeMap::new(),
            damages: 0,
            first_damage: None,
            n_events: 0,
        }
    }

    pub(super) fn problems(&mut self) -> &mut Problems {
        &mut self.draft.problems
    }

    pub(super) fn damage(&mut self, at: u64, what: &str) {
        self.damages += 1;
        self.first_damage.get_or_insert_with(|| (at, what.to_owned()));
    }

    /// Takes from a packet what holds wherever it stands.
    pub(super) fn learn(&mut self, bytes: &[u8]) {
        let packet = Packet::read(bytes);
        for (number, value) in packet.data {
            match number {
                60 => self.tracks.track_descriptor(value),
                43 => drop(self.tracks.process_descriptor(value)),
                44 => drop(self.tracks.thread_descriptor(value)),
                2 => self.tracks.process_tree(value),
                6 => {
                    let (readings, primary) = clocks::read(value, packet.sequence);
                    self.clocks.add(&readings, primary);
                }
                _ => {}
            }
        }
    }

    /// A packet that begins at a byte.
    pub(super) fn packet(&mut self, bytes: &[u8], at: u64) -> Result<(), Error> {
        let packet = Packet::read(bytes);
        if packet.is_damaged {
            self.damage(at, "a packet with something that is no field, which is read up to there");
        }
        let id = packet.sequence;
        let mut sequence = self.sequences.remove(&id).unwrap_or_default();
        let done = self.on_sequence(&packet, &mut sequence);
        self.sequences.insert(id, sequence);
        done
    }

    fn on_sequence(&mut self, packet: &Packet<'_>, sequence: &mut Sequence) -> Result<(), Error> {
        if packet.flags & 1 != 0 {
            sequence.clear();
        } else if packet.was_dropped {
            // The first packet of a sequence says so, too: nobody knows what was before.
            if sequence.has_packets {
                self.draft.problems.add(
                    kind::DROPPED,
                    "packets lost in a sequence, some or one each time",
                    1,
                );
            }
            sequence.is_valid = false;
        }
        sequence.has_packets = true;
        if let Some(defaults) = packet.defaults {
            sequence.defaults(defaults);
        }
        packet.interned.iter().for_each(|it| sequence.intern(*it));
        let is_snapshot = packet.data.iter().any(|it| it.0 == 6);
        let time = packet.timestamp.filter(|_| !is_snapshot).map(|it| self.time(it, packet, sequence));
        let is_readable = packet.flags & 2 == 0 || sequence.is_valid;
        if packet.data.is_empty() {
            self.count(NO_DATA, Fate::Mapped);
        }
        for (number, value) in &packet.data {
            if *number == 11 {
                self.track_event(*value, time, sequence, is_readable)?;
                continue;
            }
            let (name, fate) = packet_kind(*number);
            self.count(&name, fate);
            match *number {
                44 => sequence.thread(self.tracks.thread_descriptor(*value), *value),
                6 => {
                    let (readings, _) = clocks::read(*value, packet.sequence);
                    let going_on = readings.iter().filter(|it| it.is_incremental);
                    sequence.ticks.extend(going_on.map(|it| (it.clock.id(), it.ticks)));
                }
                133 => self.draft.problems.add(
                    kind::MISSING,
                    "packets compressed by zstd, which are not read; `traceconv decompress_packets` opens them",
                    1,
                ),
                _ => {}
            }
        }
        Ok(())
    }

    fn count(&mut self, name: &str, fate: Fate) {
        match self.records.get_mut(name) {
            Some(known) => known.1 += 1,
            None => drop(self.records.insert(name.to_owned(), (fate, 1))),
        }
    }

    /// Time of a packet, ns on the trace's clock. `None` if no clock shows it.
    fn time(&mut self, timestamp: u64, packet: &Packet<'_>, sequence: &mut Sequence) -> Option<i64> {
        let id = packet.clock.or(sequence.clock).filter(|id| *id != 0);
        let clock = id.map_or(self.clocks.primary(), |id| Clock::new(id, packet.sequence));
        let (unit, is_incremental) = self.clocks.unit(clock);
        let mut ticks = i64::try_from(timestamp).ok()?;
        if is_incremental {
            let last = sequence.ticks.entry(clock.id()).or_default();
            ticks = last.checked_add(ticks)?;
            *last = ticks;
        }
        let ns = ticks.checked_mul(unit)?;
        let converted = self.clocks.on_primary(clock, ns);
        if converted.is_none() && packet.data.iter().any(|it| it.0 == 11) {
            let what = "times of clocks that no snapshot leads from, which are taken as they are";
            self.draft.problems.add(kind::MISSING, what, 1);
        }
        Some(converted.unwrap_or(ns))
    }

    fn track_event(
        &mut self,
        value: Value<'_>,
        time: Option<Option<i64>>,
        sequence: &mut Sequence,
        is_readable: bool,
    ) -> Result<(), Error> {
        let event = Event::read(value);
        let phase = event.phase();
        let found = KINDS.iter().find(|kind| kind.phase == phase && phase.is_some());
        let is_counter = event.legacy.phase.is_none() && event.kind == 4;
        let kind = found.unwrap_or(if is_counter { &COUNTER } else { &OTHER });
        let name = match event.legacy.phase {
            Some(phase) => format!("{} ({phase})", kind.name),
            None => kind.name.to_owned(),
        };
        self.count(&name, kind.fate);
        self.n_events += 1;
        if !is_readable {
            let what = "events that need what their sequence has lost or not yet said";
            self.draft.problems.add(kind::DROPPED, what, 1);
            return Ok(());
        }
        let time = match time {
            None => self.older_time(&event, sequence),
            Some(None) => {
                self.draft.trouble("events with a time that is none");
                return Ok(());
            }
            Some(time) => time,
        };
        let Some(ns) = time else {
            self.draft.trouble("events without a time");
            return Ok(());
        };
        self.act(&event, ns, sequence, kind)
    }

    /// Time of an event that says it itself, in microseconds.
    fn older_time(&mut self, event: &Event<'_>, sequence: &mut Sequence) -> Option<i64> {
        let us = match (event.absolutes[0], event.deltas[0]) {
            (Some(us), _) => us,
            (None, Some(delta)) => {
                sequence.older[0] = sequence.older[0].checked_add(delta)?;
                sequence.older[0]
            }
            (None, None) => return None,
        };
        let ns = us.checked_mul(1000)?;
        Some(self.clocks.on_primary(Clock::new(MONOTONIC, 0), ns).unwrap_or(ns))
    }

    /// Where an event happens.
    fn place(&mut self, event: &Event<'_>, sequence: &Sequence) -> Place {
        let place = match event.track.or(sequence.track).filter(|uuid| *uuid != 0) {
            Some(uuid) => {
                if self.tracks.of(uuid).is_none() {
                    let what = "events on tracks that no descriptor tells of";
                    self.draft.problems.add(kind::MISSING, what, 1);
                }
                self.tracks.place(uuid)
            }
            None => match sequence.thread.filter(|_| event.legacy.instant_scope != 1) {
                Some((pid, tid)) => Place::Thread(pid, tid),
                None => self.tracks.place(0),
            },
        };
        let (process, thread) = (event.legacy.process, event.legacy.thread);
        if process.is_none() && thread.is_none() {
            return place;
        }
        let of = match place {
            Place::Thread(pid, tid) => Some((pid, tid)),
            Place::Track(_) => sequence.thread,
        };
        let pid = process.or(of.map(|it| it.0)).unwrap_or(0);
        Place::Thread(pid, thread.or(of.map(|it| it.1)).unwrap_or(pid))
    }

    fn act(&mut self, event: &Event<'_>, ns: i64, sequence: &mut Sequence, kind: &Kind) -> Result<(), Error> {
        let location = event.location.as_ref().or(event.location_id.and_then(|id| sequence.location(id)));
        let location = location.cloned().unwrap_or_default();
        let name = match (&event.name, event.name_id.filter(|id| *id != 0)) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => sequence.text(Table::EventNames, id),
            (None, None) => location.function.clone(),
        };
        let category = match (&event.category, event.category_id) {
            (Some(category), _) => category.clone(),
            (None, Some(id)) => sequence.text(Table::Categories, id),
            (None, None) => String::new(),
        };
        if event.legacy.phase.is_none() && event.kind == 4 {
            return self.counter(event, ns, sequence, &name);
        }
        let place = self.place(event, sequence);
        let (process, track) = self.tracks.track(&mut self.draft, place, &name);
        let site = Site { process, track, ns, name: &name };
        let mut arguments = self.arguments(event, sequence);
        match event.phase().unwrap_or('?') {
            'B' => {
                let region =
                    self.regions.of(&mut self.draft, (&category, &name), (&location.file, location.line));
                self.draft.add(track, ns, &Act::Enter { region })?;
                self.facts(site, &arguments, true)?;
                self.flows(event, site)?;
            }
            'E' => {
                self.facts(site, &arguments, false)?;
                self.draft.add(track, ns, &Act::Leave { region: None })?;
                self.flows(event, site)?;
            }
            'X' => {
                let us = event.legacy.duration_us.or(event.legacy.thread_duration_us).unwrap_or(0);
                match u64::try_from(us).ok().and_then(|us| us.checked_mul(1000)) {
                    Some(length) => {
                        let region = self.regions.of(
                            &mut self.draft,
                            (&category, &name),
                            (&location.file, location.line),
                        );
                        self.draft.add(track, ns, &Act::Span { region, ns: length })?;
                        self.facts(site, &arguments, true)?;
                        self.flows(event, site)?;
                    }
                    None => self.draft.trouble("complete events that end before they begin"),
                }
            }
            phase @ ('b' | 'S') => {
                let region =
                    self.regions.of(&mut self.draft, (&category, &name), (&location.file, location.line));
                let key = key(event, process, (&category, &name), phase == 'S');
                self.draft.add(track, ns, &Act::Begin { region, key })?;
                if !arguments.types.is_empty() {
                    self.keep(site, &arguments)?;
                }
                self.flows(event, site)?;
            }
            phase @ ('e' | 'F') => {
                let key = key(event, process, (&category, &name), phase == 'F');
                self.draft.add(track, ns, &Act::End { key })?;
                if !arguments.types.is_empty() {
                    self.keep(site, &arguments)?;
                }
            }
            phase @ ('s' | 't' | 'f') => {
                let key = key(event, process, (&category, &name), true);
                if phase == 's' {
                    self.draft.add(track, ns, &Act::FlowOut { key })?;
                } else {
                    let is_next = phase == 'f' && !event.legacy.binds_to_enclosing;
                    self.draft.add(track, ns, &Act::FlowIn { key, is_next })?;
                }
                if phase == 't' {
                    self.draft.also(track, &Act::FlowOut { key })?;
                }
            }
            'C' => {
                for (series, value) in &arguments.numbers {
                    let is_only = arguments.numbers.len() == 1 && (series == "value" || *series == name);
                    let counter = if is_only { name.clone() } else { format!("{name}: {series}") };
                    let counter = self.draft.counter(process, &counter, "");
                    self.draft.add(track, ns, &Act::Counter { counter, value: *value })?;
                }
                if arguments.numbers.is_empty() {
                    self.keep(site, &arguments)?;
                }
            }
            'M' => self.metadata(event, site, place, sequence)?,
            _ => {
                if !category.is_empty() {
                    arguments.text("category", &category);
                }
                if event.legacy.phase.is_some_and(|phase| !matches!(phase, 'i' | 'I')) {
                    arguments.text("phase", kind.name);
                }
                if let Some((_, id)) = event.legacy.id {
                    arguments.unsigned("id", id);
                }
                let name = if name.is_empty() { kind.name } else { &name };
                self.keep(Site { name, ..site }, &arguments)?;
                self.flows(event, site)?;
            }
        }
        self.extra_counters(event, site, sequence)
    }

    /// All that an event says besides its name, place and time.
    fn arguments(&mut self, event: &Event<'_>, sequence: &Sequence) -> Arguments {
        let mut arguments = Arguments::default();
        event.annotations.iter().for_each(|it| arguments.annotation(*it, sequence));
        match event.correlation {
            Some((52, id)) => arguments.unsigned("correlation_id", id.number()),
            Some((53, text)) => arguments.text("correlation_id", &text.text()),
            Some((_, id)) => {
                arguments.text("correlation_id", &sequence.text(Table::Correlations, id.number()));
            }
            None => {}
        }
        if let Some(log) = event.log {
            let body = log.fields().find(|it| it.0 == 2).map_or(0, |it| it.1.number());
            arguments.text("log_message", &sequence.text(Table::LogMessages, body));
        }
        let posted = event.task.and_then(|task| task.fields().find(|it| it.0 == 1));
        if let Some(at) = posted.and_then(|it| sequence.location(it.1.number())) {
            arguments.text("posted_from", &format!("{}:{} {}", at.file, at.line, at.function));
        }
        match event.callstack {
            Some((55, frames)) => {
                let frames = frames.fields().filter(|it| it.0 == 1);
                let name = |frame: Value<'_>| frame.fields().find(|it| it.0 == 1).map(|it| it.1.text());
                let names: Vec<_> = frames.filter_map(|it| name(it.1)).collect();
                arguments.text("callstack", &names.join(" > "));
            }
            Some((_, id)) => arguments.unsigned("callstack_iid", id.number()),
            None => {}
        }
        for number in &event.others {
            *self.typed.entry(*number).or_default() += 1;
        }
        arguments
    }

    fn counter(
        &mut self,
        event: &Event<'_>,
        ns: i64,
        sequence: &mut Sequence,
        name: &str,
    ) -> Result<(), Error> {
        let uuid = event.track.or(sequence.track).unwrap_or(0);
        match event.counter {
            Some(value) => self.value(uuid, value, ns, sequence, name),
            None => {
                self.draft.trouble("counter events without a value");
                Ok(())
            }
        }
    }

    /// A value of the counter that a track is.
    fn value(
        &mut self,
        uuid: u64,
        value: Number,
        ns: i64,
        sequence: &mut Sequence,
        event: &str,
    ) -> Result<(), Error> {
        let counter = self.tracks.of(uuid).and_then(|it| it.counter.clone()).unwrap_or_default();
        let value = match value {
            Number::Whole(difference) if counter.is_incremental => {
                let value = sequence.values.entry(uuid).or_default();
                *value = value.saturating_add(difference);
                *value as f64
            }
            Number::Whole(value) => value as f64,
            Number::Real(value) => value,
        };
        let factor = if counter.factor == 0.0 { 1.0 } else { counter.factor };
        let place = self.tracks.place_of_counter(uuid);
        let (process, track) = self.tracks.track(&mut self.draft, place, "");
        let name =
            [self.tracks.name_of_counter(uuid), event, "counter"].into_iter().find(|it| !it.is_empty());
        let counter = self.draft.counter(process, name.unwrap_or_default(), &counter.unit);
        self.draft.add(track, ns, &Act::Counter { counter, value: value * factor })
    }

    /// Counters that were read along with an event.
    fn extra_counters(
        &mut self,
        event: &Event<'_>,
        site: Site<'_>,
        sequence: &mut Sequence,
    ) -> Result<(), Error> {
        let of = |own: &Vec<u64>, default: &Vec<u64>| if own.is_empty() { default } else { own }.clone();
        let whole = of(&event.counters, &sequence.counters).into_iter().zip(&event.counter_values);
        let whole = whole.map(|(uuid, value)| (uuid, Number::Whole(value.cast_signed())));
        let real = of(&event.real_counters, &sequence.real_counters);
        let real = real.into_iter().zip(&event.real_counter_values);
        let real = real.map(|(uuid, bits)| (uuid, Number::Real(f64::from_bits(*bits))));
        for (uuid, value) in whole.chain(real) {
            self.value(uuid, value, site.ns, sequence, "")?;
        }
        for (place, name, unit, factor) in
            [(1, "thread time", "ns", 1000), (2, "thread instruction count", "", 1)]
        {
            let value = match (event.absolutes[place], event.deltas[place]) {
                (Some(value), _) => value,
                (None, Some(delta)) => {
                    sequence.older[place] = sequence.older[place].saturating_add(delta);
                    sequence.older[place]
                }
                (None, None) => continue,
            };
            let counter = self.draft.counter(site.process, name, unit);
            let value = value.saturating_mul(factor) as f64;
            self.draft.add(site.track, site.ns, &Act::Counter { counter, value })?;
        }
        Ok(())
    }

    /// Flows through what was noted last.
    fn flows(&mut self, event: &Event<'_>, site: Site<'_>) -> Result<(), Error> {
        let going_on = event.flows.iter().map(|id| (*id, false));
        for (key, is_last) in going_on.chain(event.last_flows.iter().map(|id| (*id, true))) {
            if self.flows.len() < MOST_FLOWS || self.flows.contains_key(&key) {
                let process = *self.flows.entry(key).or_insert(site.process);
                if process != site.process {
                    let what = "flows from one process to another, which have no edge";
                    self.draft.problems.add(kind::MISSING, what, 1);
                }
            }
            self.draft.also(site.track, &Act::FlowStep { key, is_last })?;
        }
        if let Some(id) = event.legacy.bind_id {
            let mut hasher = DefaultHasher::new();
            ("bind", id).hash(&mut hasher);
            let key = hasher.finish();
            let direction = event.legacy.direction;
            if direction & 1 != 0 {
                self.draft.also(site.track, &Act::FlowIn { key, is_next: false })?;
            }
            if direction & 2 != 0 {
                self.draft.also(site.track, &Act::FlowOut { key })?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, site: Site<'_>, arguments: &Arguments) -> Result<(), Error> {
        let Some(kind) = self.kind(site.name, false, arguments) else { return Ok(()) };
        self.draft.add(site.track, site.ns, &Act::Event { kind, fields: &arguments.bytes })
    }

    /// Arguments as facts about the region that was noted last, or that is left next.
    fn facts(&mut self, site: Site<'_>, arguments: &Arguments, is_last: bool) -> Result<(), Error> {
        if arguments.types.is_empty() {
            return Ok(());
        }
        let (kind, as_event) =
            (self.kind("arguments", true, arguments), self.kind(site.name, false, arguments));
        let (Some(kind), Some(as_event)) = (kind, as_event) else { return Ok(()) };
        let fact = Act::Fact { kind, as_event, fields: &arguments.bytes };
        match is_last {
            true => self.draft.also(site.track, &fact),
            false => self.draft.add(site.track, site.ns, &fact),
        }
    }

    fn kind(&mut self, name: &str, is_fact: bool, arguments: &Arguments) -> Option<u32> {
        if MOST_ARGUMENTS < arguments.bytes.len() {
            self.draft.problems.add(kind::DROPPED, "arguments of events that are longer than 15 KiB", 1);
            return None;
        }
        let types: Vec<(&str, FieldType)> =
            arguments.types.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let found = self.draft.kind(name, is_fact, &types);
        if found.is_none() {
            let what = "arguments of events of more kinds than are told apart";
            self.draft.problems.add(kind::DROPPED, what, 1);
        }
        found
    }

    fn metadata(
        &mut self,
        event: &Event<'_>,
        site: Site<'_>,
        place: Place,
        sequence: &Sequence,
    ) -> Result<(), Error> {
        let said = event.annotations.iter().find(|it| super::arguments::name(**it, sequence) == "name");
        let said = said.and_then(|it| it.fields().find(|it| it.0 == 6)).map(|it| it.1.text());
        match (site.name, said, self.tracks.pid(place)) {
            ("process_name", Some(name), Some(pid)) => self.tracks.name_process(pid, vec![name]),
            ("thread_name", Some(name), _) => self.draft.name_track(site.track, &name),
            _ => {
                let arguments = self.arguments(event, sequence);
                let name = if site.name.is_empty() { "metadata" } else { site.name };
                return self.keep(Site { name, ..site }, &arguments);
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self, spool: &Path, progress: (&dyn Progress, u64)) -> Result<Imported, Error> {
        self.tracks.name_processes(&mut self.draft);
        self.draft.epoch_ns = self.clocks.epoch();
        if let Some((at, what)) = self.first_damage.take() {
            let text = format!("{}: from byte {at} on: {what}", self.shown);
            self.draft.problems.add(kind::DAMAGED, text, self.damages);
        }
        if self.n_events == 0 {
            let mut names: Vec<_> = self.records.iter().map(|(name, (_, number))| (*number, name)).collect();
            names.sort_by(|a, b| b.cmp(a));
            names.retain(|it| it.1 != NO_DATA);
            let names: Vec<_> = names.iter().take(3).map(|it| it.1.as_str()).collect();
            let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            let text = format!("its packets hold no track events, but {names}");
            self.draft.problems.add(kind::MISSING, text, 1);
        }
        let mut imported = self.draft.finish(spool, progress)?;
        imported.events = self.n_events;
        let typed = self.typed.into_iter();
        let typed = typed.map(|(number, count)| (format!("typed argument {number}"), Fate::Ignored, count));
        imported.definitions = typed.collect();
        imported.definitions.sort();
        imported.records =
            self.records.into_iter().map(|(name, (fate, number))| (name, fate, number)).collect();
        Ok(imported)
    }
}

/// What the parts of a state or a flow have in common: category, identifier and its scope, and perhaps the name. Identifiers
/// that are local are those of their process.
fn key(event: &Event<'_>, process: u32, (category, name): (&str, &str), is_by_name: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    category.hash(&mut hasher);
    event.legacy.scope.hash(&mut hasher);
    event.legacy.id.hash(&mut hasher);
    let is_local = event.legacy.id.is_some_and(|it| it.0 == 10);
    is_local.then_some(process).hash(&mut hasher);
    is_by_name.then_some(name).hash(&mut hasher);
    hasher.finish()
}
