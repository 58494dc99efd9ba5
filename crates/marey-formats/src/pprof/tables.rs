//! What the numbers of a profile mean.

use rustc_hash::FxHashMap;

use crate::protobuf::Value;

/// A location: its mapping, its address, and the functions of its lines, the innermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub mapping: u64,
    pub address: u64,
    pub functions: Vec<u64>,
}

/// A function: numbers of its name, its name in the program and its file, and its first line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Function {
    pub name: u64,
    pub system_name: u64,
    pub file: u64,
    pub line: u64,
}

/// Bytes of all texts, and entries of each other table: what unpacks to more is no profile.
const MOST_TEXT: usize = 256 << 20;
const MOST: usize = 1 << 23;
/// What is measured at once.
const MOST_TYPES: usize = 1000;

/// All but the samples.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub strings: Vec<String>,
    /// Numbers of name and unit.
    pub types: Vec<(u64, u64)>,
    /// Number of the name of the file.
    pub mappings: FxHashMap<u64, u64>,
    pub locations: FxHashMap<u64, Location>,
    pub functions: FxHashMap<u64, Function>,
    pub time_ns: u64,
    pub duration_ns: u64,
    pub period: i64,
    pub period_type: (u64, u64),
    pub comments: Vec<u64>,
    pub usual: u64,
    text_bytes: usize,
    /// Entries for which there was no room.
    pub left_out: u64,
}

impl Tables {
    /// A text by its number.
    pub(super) fn text(&self, number: u64) -> &str {
        usize::try_from(number).ok().and_then(|place| self.strings.get(place)).map_or("", String::as_str)
    }

    /// Takes a field of the profile in.
    pub(super) fn learn(&mut self, number: u32, value: Value<'_>) {
        let is_full = match number {
            1 => self.types.len() >= MOST_TYPES,
            3 => self.mappings.len() >= MOST,
            4 => self.locations.len() >= MOST,
            5 => self.functions.len() >= MOST,
            6 => {
                self.text_bytes = self.text_bytes.saturating_add(value.bytes().len() + size_of::<String>());
                self.text_bytes > MOST_TEXT
            }
            13 | 15 => self.comments.len() >= MOST,
            _ => false,
        };
        if is_full {
            self.left_out += 1;
            return;
        }
        match number {
            1 => self.types.push(pair(value)),
            3 => {
                let (mut id, mut file) = (0, 0);
                for (number, value) in value.fields() {
                    match number {
                        1 => id = value.number(),
                        5 => file = value.number(),
                        _ => {}
                    }
                }
                self.mappings.insert(id, file);
            }
            4 => self.location(value),
            5 => self.function(value),
            6 => self.strings.push(value.text()),
            9 => self.time_ns = value.number(),
            10 => self.duration_ns = value.number(),
            11 => self.period_type = pair(value),
            12 => self.period = value.signed(),
            13 => value.numbers(false, &mut self.comments),
            14 => self.usual = value.number(),
            15 => self.comments.push(value.number()),
            _ => {}
        }
    }

    fn location(&mut self, value: Value<'_>) {
        let (mut id, mut location) = (0, Location::default());
        for (number, value) in value.fields() {
            match number {
                1 => id = value.number(),
                2 => location.mapping = value.number(),
                3 => location.address = value.number(),
                4 => {
                    let function = value.fields().find(|it| it.0 == 1);
                    location.functions.extend(function.map(|it| it.1.number()));
                }
                _ => {}
            }
        }
        self.locations.insert(id, location);
    }

    fn function(&mut self, value: Value<'_>) {
        let (mut id, mut function) = (0, Function::default());
        for (number, value) in value.fields() {
            match number {
                1 => id = value.number(),
                2 => function.name = value.number(),
                3 => function.system_name = value.number(),
                4 => function.file = value.number(),
                5 => function.line = value.number(),
                _ => {}
            }
        }
        self.functions.insert(id, function);
    }
}

fn pair(value: Value<'_>) -> (u64, u64) {
    let mut pair = (0, 0);
    for (number, value) in value.fields() {
        match number {
            1 => pair.0 = value.number(),
            2 => pair.1 = value.number(),
            _ => {}
        }
    }
    pair
}
