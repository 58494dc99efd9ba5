//! Fields of spans and events: their values as bytes, and the kinds of events that they make.
//!
//! The one idea: `tracing` says the types of fields with the values, and which are there may change from one visit to the
//! next; so a place has a kind of event for each combination that it has come by with.

use core::fmt::{Debug, Write};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use marey_measure::{MadeKind, Value};
use marey_model::spool::FieldType;
use tracing_core::Field;
use tracing_core::field::Visit;

/// Most fields that are kept of a span or an event: as many as `tracing` itself allows.
const MOST: usize = 32;
/// Longest text, bytes.
const LONGEST: usize = 4096;
/// Most combinations of fields that are told apart at a place; events with others are counted as dropped.
const MOST_KINDS: usize = 256;

/// Fields with their values.
#[derive(Default)]
pub(super) struct Fields {
    names: Vec<(&'static str, FieldType)>,
    bytes: Vec<u8>,
}

impl Fields {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.bytes.clear();
    }

    /// Whether there is room for others.
    pub(super) fn fits(&self, others: &Self) -> bool {
        self.names.len() + others.names.len() <= MOST
    }

    pub(super) fn append(&mut self, others: Self) {
        self.names.extend(others.names);
        self.bytes.extend(others.bytes);
    }

    fn put<T: Value + ?Sized>(&mut self, field: &Field, value: &T) {
        if self.names.len() < MOST {
            self.names.push((field.name(), T::TYPE));
            value.put(&mut self.bytes);
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, &value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, &value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, &value[..value.floor_char_boundary(LONGEST)]);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = Short(String::new());
        // What does not fit is left out.
        write!(text, "{value:?}").unwrap_or_default();
        self.put(field, &text.0);
    }
}

/// A text that refuses to become longer than [`LONGEST`].
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, more: &str) -> core::fmt::Result {
        let room = LONGEST - self.0.len();
        let fits = more.floor_char_boundary(room);
        self.0.push_str(&more[..fits]);
        if fits < more.len() { Err(core::fmt::Error) } else { Ok(()) }
    }
}

/// The kinds of events, or of attributes, of a place.
pub(super) struct Kinds {
    name: String,
    is_attribute: bool,
    kinds: Mutex<BTreeMap<Vec<(&'static str, u8)>, MadeKind>>,
}

impl Kinds {
    pub(super) fn new(name: String, is_attribute: bool) -> Self {
        Self { name, is_attribute, kinds: Mutex::default() }
    }

    pub(super) fn record(&self, fields: &Fields) {
        let key: Vec<(&'static str, u8)> =
            fields.names.iter().map(|&(name, kind)| (name, kind as u8)).collect();
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = kinds.len() >= MOST_KINDS;
        let kind = match kinds.get(&key) {
            Some(&kind) => kind,
            None if is_full => MadeKind::NONE,
            None => {
                let kind = MadeKind::new(&self.name, self.is_attribute, &fields.names);
                kinds.insert(key, kind);
                kind
            }
        };
        drop(kinds);
        kind.record(&fields.bytes);
    }
}
