//! One track event, read but not understood.

use super::sequence::Location;
use crate::protobuf::Value;

/// A value of a counter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

/// What older traces say of an event instead of its type.
#[derive(Clone, Debug, Default)]
pub(super) struct Legacy {
    pub phase: Option<char>,
    pub duration_us: Option<i64>,
    pub thread_duration_us: Option<i64>,
    /// Which kind of identifier it is, and which one.
    pub id: Option<(u32, u64)>,
    pub scope: String,
    pub bind_id: Option<u64>,
    pub binds_to_enclosing: bool,
    /// 1 to here, 2 from here, 3 both.
    pub direction: u64,
    /// 1 the trace, 2 a process, 3 a thread.
    pub instant_scope: u64,
    pub process: Option<i64>,
    pub thread: Option<i64>,
}

/// What an event says, with numbers for what was interned.
#[derive(Clone, Debug, Default)]
pub(super) struct Event<'a> {
    pub kind: u64,
    pub track: Option<u64>,
    pub name: Option<String>,
    pub name_id: Option<u64>,
    pub category: Option<String>,
    pub category_id: Option<u64>,
    pub annotations: Vec<Value<'a>>,
    pub flows: Vec<u64>,
    pub last_flows: Vec<u64>,
    pub counter: Option<Number>,
    pub counters: Vec<u64>,
    pub counter_values: Vec<u64>,
    pub real_counters: Vec<u64>,
    pub real_counter_values: Vec<u64>,
    pub legacy: Legacy,
    pub location: Option<Location>,
    pub location_id: Option<u64>,
    /// Time, time on the CPU and instructions: since the last event, or absolute.
    pub deltas: [Option<i64>; 3],
    pub absolutes: [Option<i64>; 3],
    /// Number, text or number of a text by which events belong together.
    pub correlation: Option<(u32, Value<'a>)>,
    pub log: Option<Value<'a>>,
    pub task: Option<Value<'a>>,
    pub callstack: Option<(u32, Value<'a>)>,
    /// Numbers of all other fields.
    pub others: Vec<u32>,
}

impl<'a> Event<'a> {
    pub(super) fn read(value: Value<'a>) -> Self {
        let mut it = Self::default();
        for (number, value) in value.fields() {
            match number {
                1 => it.deltas[0] = Some(value.signed()),
                2 => it.deltas[1] = Some(value.signed()),
                8 => it.deltas[2] = Some(value.signed()),
                16 => it.absolutes[0] = Some(value.signed()),
                17 => it.absolutes[1] = Some(value.signed()),
                20 => it.absolutes[2] = Some(value.signed()),
                3 => {
                    let mut ids = Vec::new();
                    value.numbers(false, &mut ids);
                    it.category_id = it.category_id.or(ids.first().copied());
                }
                22 => it.category = it.category.or_else(|| Some(value.text())),
                10 => it.name_id = Some(value.number()),
                23 => it.name = Some(value.text()),
                4 => it.annotations.push(value),
                5 => it.task = Some(value),
                6 => it.legacy = Legacy::read(value, &mut it.name_id),
                9 => it.kind = value.number(),
                11 => it.track = Some(value.number()),
                12 => value.numbers(false, &mut it.counter_values),
                21 => it.log = Some(value),
                30 => it.counter = Some(Number::Whole(value.signed())),
                44 => it.counter = Some(Number::Real(value.real())),
                31 => value.numbers(false, &mut it.counters),
                45 => value.numbers(false, &mut it.real_counters),
                46 => value.numbers(true, &mut it.real_counter_values),
                33 => it.location = Some(Location::read(value).1),
                34 => it.location_id = Some(value.number()),
                36 => value.numbers(false, &mut it.flows),
                47 => value.numbers(true, &mut it.flows),
                42 => value.numbers(false, &mut it.last_flows),
                48 => value.numbers(true, &mut it.last_flows),
                52..=54 => it.correlation = Some((number, value)),
                55 | 56 => it.callstack = Some((number, value)),
                _ => it.others.push(number),
            }
        }
        it
    }

    /// The letter for what it is, as Chrome trace events have it. Counters and what has none are `None`.
    pub(super) fn phase(&self) -> Option<char> {
        self.legacy.phase.or(match self.kind {
            1 => Some('B'),
            2 => Some('E'),
            3 => Some('i'),
            _ => None,
        })
    }
}

impl Legacy {
    fn read(value: Value<'_>, name_id: &mut Option<u64>) -> Self {
        let mut it = Self::default();
        for (number, value) in value.fields() {
            match number {
                1 => *name_id = name_id.or(Some(value.number())),
                2 => it.phase = value.word().and_then(char::from_u32).filter(|phase| *phase != '\0'),
                3 => it.duration_us = Some(value.signed()),
                4 => it.thread_duration_us = Some(value.signed()),
                6 | 10 | 11 => it.id = Some((number, value.number())),
                7 => it.scope = value.text(),
                8 => it.bind_id = Some(value.number()),
                12 => it.binds_to_enclosing = value.number() != 0,
                13 => it.direction = value.number(),
                14 => it.instant_scope = value.number(),
                18 => it.process = Some(value.signed()),
                19 => it.thread = Some(value.signed()),
                _ => {}
            }
        }
        it
    }
}
