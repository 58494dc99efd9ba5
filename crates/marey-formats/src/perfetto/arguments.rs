//! Arguments of events: debug annotations with their types.
//!
//! The one idea: what is a number, a text or a truth is a field of that type; what has parts is a text in JSON.
//! Deliberately absent: messages of types that only their writer knows, of which the length is told.

use marey_model::spool::{FieldType, put, put_bytes, put_signed};
use serde_json::{Map, Value as Json};

use super::sequence::{Sequence, Table};
use crate::protobuf::Value;

/// Bytes of a text.
const MOST_TEXT: usize = 4096;
/// Parts within parts.
const MOST_DEPTH: usize = 32;

/// Arguments as the spool has them.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub types: Vec<(String, FieldType)>,
    pub bytes: Vec<u8>,
    /// Those that are numbers, once more.
    pub numbers: Vec<(String, f64)>,
}

impl Arguments {
    pub(super) fn text(&mut self, name: &str, text: &str) {
        let cut = text.floor_char_boundary(MOST_TEXT);
        self.types.push((name.to_owned(), FieldType::Text));
        put_bytes(&mut self.bytes, text.as_bytes().get(..cut).unwrap_or_default());
    }

    pub(super) fn unsigned(&mut self, name: &str, number: u64) {
        self.types.push((name.to_owned(), FieldType::Unsigned));
        self.numbers.push((name.to_owned(), number as f64));
        put(&mut self.bytes, number);
    }

    /// A text that an argument has.
    pub(super) fn annotation(&mut self, value: Value<'_>, sequence: &Sequence) {
        let name = name(value, sequence);
        let name = if name.is_empty() { "argument" } else { &name };
        for (number, value) in value.fields() {
            match number {
                2 => {
                    self.types.push((name.to_owned(), FieldType::Bool));
                    self.bytes.push((value.number() != 0).into());
                }
                3 => self.unsigned(name, value.number()),
                4 => {
                    self.types.push((name.to_owned(), FieldType::Signed));
                    self.numbers.push((name.to_owned(), value.signed() as f64));
                    put_signed(&mut self.bytes, value.signed());
                }
                5 => {
                    self.types.push((name.to_owned(), FieldType::Real));
                    self.numbers.push((name.to_owned(), value.real()));
                    self.bytes.extend(value.real().to_le_bytes());
                }
                _ => continue,
            }
            return;
        }
        match json(value, sequence, 0) {
            Json::Null => {}
            Json::String(text) => self.text(name, &text),
            other => self.text(name, &other.to_string()),
        }
    }
}

pub(super) fn name(value: Value<'_>, sequence: &Sequence) -> String {
    let name = value.fields().find_map(|(number, value)| match number {
        1 => Some(sequence.text(Table::ArgumentNames, value.number())),
        10 => Some(value.text()),
        _ => None,
    });
    name.unwrap_or_default()
}

/// The value of an annotation, with all its parts.
fn json(annotation: Value<'_>, sequence: &Sequence, depth: usize) -> Json {
    if depth == MOST_DEPTH {
        return Json::String("…".to_owned());
    }
    let (mut members, mut list) = (Map::new(), Vec::new());
    let (mut proto, mut of) = (None, String::new());
    for (number, value) in annotation.fields() {
        match number {
            2 => return (value.number() != 0).into(),
            3 => return value.number().into(),
            4 => return value.signed().into(),
            5 => return value.real().into(),
            6 => return value.text().into(),
            7 => return format!("{:#x}", value.number()).into(),
            8 => return nested(value, depth + 1),
            9 => return serde_json::from_slice(value.bytes()).unwrap_or_else(|_| value.text().into()),
            17 => return sequence.text(Table::ArgumentTexts, value.number()).into(),
            11 => {
                members.insert(name(value, sequence), json(value, sequence, depth + 1));
            }
            12 => list.push(json(value, sequence, depth + 1)),
            14 => proto = Some(value.bytes().len()),
            16 => of = value.text(),
            13 => of = sequence.text(Table::ArgumentTypes, value.number()),
            _ => {}
        }
    }
    match proto {
        Some(len) => format!("{len} bytes of {}", if of.is_empty() { "a message" } else { &of }).into(),
        None if !members.is_empty() => members.into(),
        None if !list.is_empty() => list.into(),
        None => Json::Null,
    }
}

/// The older form of what has parts.
fn nested(value: Value<'_>, depth: usize) -> Json {
    if depth == MOST_DEPTH {
        return Json::String("…".to_owned());
    }
    let (mut keys, mut values, mut list, mut kind) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (number, value) in value.fields() {
        match number {
            1 => kind = value.number(),
            2 => keys.push(value.text()),
            3 => values.push(nested(value, depth + 1)),
            4 => list.push(nested(value, depth + 1)),
            5 => return value.signed().into(),
            6 => return value.real().into(),
            7 => return (value.number() != 0).into(),
            8 => return value.text().into(),
            _ => {}
        }
    }
    match kind {
        1 => Json::Object(keys.into_iter().zip(values).collect()),
        2 => list.into(),
        _ => Json::Null,
    }
}
