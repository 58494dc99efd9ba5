//! What a sequence of packets has said, so that those that follow need not say it again.
//!
//! The one idea: all of it holds until the sequence says that it begins anew.

use rustc_hash::FxHashMap;

use crate::protobuf::Value;

/// Tables of texts that have numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Table {
    Categories,
    EventNames,
    ArgumentNames,
    ArgumentTexts,
    ArgumentTypes,
    Correlations,
    LogMessages,
}

impl Table {
    /// The table that a field of interned data goes to.
    const fn of(field: u32) -> Option<Self> {
        Some(match field {
            1 => Self::Categories,
            2 => Self::EventNames,
            3 => Self::ArgumentNames,
            27 => Self::ArgumentTypes,
            29 => Self::ArgumentTexts,
            20 => Self::LogMessages,
            42 => Self::Correlations,
            _ => return None,
        })
    }
}

/// A place in a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub file: String,
    pub function: String,
    pub line: u32,
}

impl Location {
    pub(super) fn read(value: Value<'_>) -> (u64, Self) {
        let (mut id, mut it) = (0, Self::default());
        for (number, value) in value.fields() {
            match number {
                1 => id = value.number(),
                2 => it.file = value.text(),
                3 => it.function = value.text(),
                4 => it.line = value.word().unwrap_or(0),
                _ => {}
            }
        }
        (id, it)
    }
}

#[derive(Debug, Default)]
pub(super) struct Sequence {
    texts: FxHashMap<(Table, u64), String>,
    locations: FxHashMap<u64, Location>,
    /// Something holds: it has begun anew, and nothing was lost since.
    pub is_valid: bool,
    pub has_packets: bool,
    pub clock: Option<u32>,
    pub track: Option<u64>,
    pub counters: Vec<u64>,
    pub real_counters: Vec<u64>,
    /// Last readings of clocks that go on from packet to packet, in their units.
    pub ticks: FxHashMap<u32, i64>,
    /// Values of counters that go on from event to event.
    pub values: FxHashMap<u64, i64>,
    /// The thread that older traces name for a sequence.
    pub thread: Option<(i64, i64)>,
    /// Its time, time on its CPU and instructions: us, us, and how many.
    pub older: [i64; 3],
}

impl Sequence {
    pub(super) fn clear(&mut self) {
        let ticks = std::mem::take(&mut self.ticks);
        *self = Self { is_valid: true, has_packets: true, ticks, ..Self::default() };
    }

    pub(super) fn text(&self, table: Table, id: u64) -> String {
        match self.texts.get(&(table, id)) {
            Some(text) => text.clone(),
            None => format!("unknown {id}"),
        }
    }

    pub(super) fn location(&self, id: u64) -> Option<&Location> {
        self.locations.get(&id)
    }

    pub(super) fn intern(&mut self, value: Value<'_>) {
        for (number, value) in value.fields() {
            if number == 4 {
                let (id, location) = Location::read(value);
                self.locations.insert(id, location);
                continue;
            }
            let Some(table) = Table::of(number) else { continue };
            let (mut id, mut text) = (0, String::new());
            for (number, value) in value.fields() {
                match number {
                    1 => id = value.number(),
                    2 => text = value.text(),
                    _ => {}
                }
            }
            self.texts.insert((table, id), text);
        }
    }

    /// Learns what holds for packets that say nothing else.
    pub(super) fn defaults(&mut self, value: Value<'_>) {
        (self.clock, self.track) = (None, None);
        self.counters.clear();
        self.real_counters.clear();
        for (number, value) in value.fields() {
            match number {
                58 => self.clock = value.word(),
                11 => {
                    for (number, value) in value.fields() {
                        match number {
                            11 => self.track = Some(value.number()),
                            31 => value.numbers(false, &mut self.counters),
                            45 => value.numbers(false, &mut self.real_counters),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Learns of the thread that an older trace names, and what its clocks show.
    pub(super) fn thread(&mut self, thread: Option<(i64, i64)>, value: Value<'_>) {
        self.thread = thread;
        self.older = [0; 3];
        for (number, value) in value.fields() {
            match number {
                6 => self.older[0] = value.signed(),
                7 => self.older[1] = value.signed(),
                8 => self.older[2] = value.signed(),
                _ => {}
            }
        }
    }
}
