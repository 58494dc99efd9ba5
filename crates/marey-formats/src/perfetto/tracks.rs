//! Tracks, and the processes that they belong to.
//!
//! The one idea: all descriptors of a trace are read before its first event, so that it does not matter where they stand.
//! A process is whatever has the same number, a thread whatever has the same two; any other track is its own.
//!
//! Deliberately absent: numbers of processes that are used again within a trace, which are one process here.

use rustc_hash::FxHashMap;

use crate::draft::{Draft, Owner};
use crate::protobuf::Value;

/// Ancestors that are looked at.
const MOST_ANCESTORS: usize = 64;

/// What is said of a counter.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    /// Name of a kind that Perfetto has, else empty.
    pub builtin: &'static str,
    pub unit: String,
    pub factor: f64,
    pub is_incremental: bool,
}

/// A track as its descriptors say.
#[derive(Clone, Debug, Default)]
pub(super) struct Described {
    parent: u64,
    name: String,
    /// Its number.
    process: Option<i64>,
    /// Numbers of its process and its own.
    thread: Option<(i64, i64)>,
    pub counter: Option<Counter>,
}

/// Where something happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    Track(u64),
    Thread(i64, i64),
}

#[derive(Debug, Default)]
pub(super) struct Tracks {
    described: FxHashMap<u64, Described>,
    /// Command lines or names by number.
    process_names: FxHashMap<i64, Vec<String>>,
    thread_names: FxHashMap<(i64, i64), String>,
    /// Processes of the draft; `None` is that of tracks without.
    processes: FxHashMap<Option<i64>, u32>,
    tracks: FxHashMap<Place, (u32, u32)>,
}

impl Tracks {
    pub(super) fn track_descriptor(&mut self, value: Value<'_>) {
        let mut it = Described::default();
        let (mut uuid, mut has_parent) = (0, false);
        for (number, value) in value.fields() {
            match number {
                1 => uuid = value.number(),
                2 | 10 | 13 => it.name = value.text(),
                3 => it.process = self.process_descriptor(value),
                4 => it.thread = self.thread_descriptor(value),
                5 => (it.parent, has_parent) = (value.number(), true),
                8 => it.counter = Some(counter(value)),
                _ => {}
            }
        }
        let known = self.described.entry(uuid).or_default();
        if has_parent {
            known.parent = it.parent;
        }
        if !it.name.is_empty() {
            known.name = it.name;
        }
        known.process = known.process.or(it.process);
        known.thread = known.thread.or(it.thread);
        known.counter = it.counter.or(known.counter.take());
    }

    /// Learns of a process; its number.
    pub(super) fn process_descriptor(&mut self, value: Value<'_>) -> Option<i64> {
        let (mut pid, mut command, mut name) = (None, Vec::new(), String::new());
        for (number, value) in value.fields() {
            match number {
                1 => pid = Some(value.signed()),
                2 => command.push(value.text()),
                6 => name = value.text(),
                _ => {}
            }
        }
        if command.is_empty() && !name.is_empty() {
            command.push(name);
        }
        self.name_process(pid?, command);
        pid
    }

    /// Learns of a thread; its process and its number.
    pub(super) fn thread_descriptor(&mut self, value: Value<'_>) -> Option<(i64, i64)> {
        let (mut pid, mut tid, mut name) = (None, None, String::new());
        for (number, value) in value.fields() {
            match number {
                1 => pid = Some(value.signed()),
                2 => tid = Some(value.signed()),
                5 => name = value.text(),
                _ => {}
            }
        }
        let thread = (pid?, tid?);
        self.name_thread(thread, name);
        Some(thread)
    }

    /// Learns of the processes and threads that the kernel had.
    pub(super) fn process_tree(&mut self, value: Value<'_>) {
        for (number, value) in value.fields() {
            let (mut own, mut of, mut texts) = (0, 0, Vec::new());
            for (field, value) in value.fields() {
                match (number, field) {
                    (_, 1) => own = value.signed(),
                    (1, 3) | (2, 2) => texts.push(value.text()),
                    (2, 3) => of = value.signed(),
                    _ => {}
                }
            }
            match number {
                1 => self.name_process(own, texts),
                2 => self.name_thread((of, own), texts.pop().unwrap_or_default()),
                _ => {}
            }
        }
    }

    pub(super) fn name_process(&mut self, pid: i64, command: Vec<String>) {
        if command.iter().any(|word| !word.is_empty()) {
            self.process_names.entry(pid).or_insert(command);
        }
    }

    pub(super) fn name_thread(&mut self, thread: (i64, i64), name: String) {
        if !name.is_empty() {
            self.thread_names.insert(thread, name);
        }
    }

    pub(super) fn of(&self, uuid: u64) -> Option<&Described> {
        self.described.get(&uuid)
    }

    /// Where the events of a track happen: a track that describes a thread is that thread, whatever else does.
    pub(super) fn place(&self, uuid: u64) -> Place {
        match self.of(uuid).and_then(|it| it.thread) {
            Some((pid, tid)) => Place::Thread(pid, tid),
            None => Place::Track(uuid),
        }
    }

    /// Where the values of a counter belong: its thread, else its process.
    pub(super) fn place_of_counter(&self, uuid: u64) -> Place {
        let mut at = uuid;
        for _ in 0..MOST_ANCESTORS {
            match self.of(at) {
                Some(it) if it.thread.is_some() || it.process.is_some() => return self.place(at),
                Some(it) if it.parent != 0 => at = it.parent,
                _ => break,
            }
        }
        Place::Track(0)
    }

    pub(super) fn name_of_counter(&self, uuid: u64) -> &str {
        self.of(uuid).map_or("", |it| {
            let builtin = it.counter.as_ref().map_or("", |counter| counter.builtin);
            if it.name.is_empty() { builtin } else { &it.name }
        })
    }

    /// Number of the process that a place belongs to.
    pub(super) fn pid(&self, place: Place) -> Option<i64> {
        let mut at = match place {
            Place::Thread(pid, _) => return Some(pid),
            Place::Track(uuid) => uuid,
        };
        for _ in 0..MOST_ANCESTORS {
            let it = self.of(at)?;
            if let Some(pid) = it.process.or(it.thread.map(|thread| thread.0)) {
                return Some(pid);
            }
            if it.parent == 0 {
                return None;
            }
            at = it.parent;
        }
        None
    }

    /// The draft's numbers of a process and a track in it; `event` is the name of what happens there first.
    pub(super) fn track(&mut self, draft: &mut Draft, place: Place, event: &str) -> (u32, u32) {
        if let Some(track) = self.tracks.get(&place) {
            return *track;
        }
        let pid = self.pid(place);
        let process = *self.processes.entry(pid).or_insert_with(|| {
            let number = pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
            draft.process(Owner { pid: number, ..Owner::default() })
        });
        let track = draft.track(process, &self.name(place, event));
        self.tracks.insert(place, (process, track));
        (process, track)
    }

    fn name(&self, place: Place, event: &str) -> String {
        let uuid = match place {
            Place::Thread(pid, tid) => {
                let name = self.thread_names.get(&(pid, tid));
                return name.cloned().unwrap_or_else(|| format!("thread {tid}"));
            }
            Place::Track(uuid) => uuid,
        };
        let described = self.of(uuid);
        if let Some(name) = described.map(|it| &it.name).filter(|name| !name.is_empty()) {
            return name.clone();
        }
        match described.and_then(|it| it.process) {
            Some(_) => "process".to_owned(),
            None if uuid == 0 => "trace".to_owned(),
            None if event.is_empty() => format!("track {uuid}"),
            None => event.to_owned(),
        }
    }

    /// Tells the names of all processes, which may have been said last.
    pub(super) fn name_processes(&self, draft: &mut Draft) {
        let mut processes: Vec<_> = self.processes.iter().collect();
        processes.sort();
        for (pid, process) in processes {
            let name = match pid {
                Some(pid) => self.process_names.get(pid).cloned().unwrap_or_default(),
                None => vec!["trace".to_owned()],
            };
            draft.owner(*process).command = name;
        }
    }
}

fn counter(value: Value<'_>) -> Counter {
    let mut it = Counter { factor: 1.0, ..Counter::default() };
    let (mut unit, mut name) = (0, String::new());
    for (number, value) in value.fields() {
        match number {
            1 => {
                (it.builtin, unit) = match value.number() {
                    1 => ("thread time", 1),
                    2 => ("thread instruction count", 2),
                    _ => ("", 0),
                }
            }
            3 => unit = value.number(),
            4 if value.number() != 0 => it.factor = value.signed() as f64,
            5 => it.is_incremental = value.number() != 0,
            6 => name = value.text(),
            _ => {}
        }
    }
    it.unit = match unit {
        _ if !name.is_empty() => name,
        1 => "ns".to_owned(),
        3 => "bytes".to_owned(),
        _ => String::new(),
    };
    it
}
