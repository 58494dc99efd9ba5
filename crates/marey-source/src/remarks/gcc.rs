//! `*.opt-record.json.gz` of GCC: records that nest, some ten for each statement of a loop.
//!
//! The one idea: a record is read and dropped unless something in it is of use, so that files of gigabytes need no more
//! memory than what is kept of them. What GCC means by its messages is found by [`super::vect`].

use std::fmt;
use std::io::{BufReader, Read};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{RemarkConfig, Remarks, bounded, damaged};

/// What a record says, without what it contains.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) kind: String,
    pub(super) pass: String,
    pub(super) function: String,
    pub(super) location: Option<Location>,
    /// With names in the place of nodes.
    pub(super) text: String,
    /// Functions that it names, in order.
    pub(super) nodes: Vec<String>,
    pub(super) chain: Vec<ChainLink>,
}

/// A place in the source.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Location {
    #[serde(default)]
    pub(super) file: String,
    #[serde(default)]
    pub(super) line: u32,
    #[serde(default)]
    pub(super) column: u32,
}

/// A function, and where it was put.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ChainLink {
    #[serde(default)]
    pub(super) fndecl: String,
    #[serde(default)]
    pub(super) site: Option<Location>,
}

/// Links of a chain that are kept; GCC inlines no deeper.
const MOST_LINKS: usize = 64;

/// Functions that a message names, at most; GCC names two.
const MOST_NODES: usize = 16;
/// Parts of the compiler that are known; GCC has some 400.
const MOST_PASSES: usize = 10_000;
/// Bytes of messages that are in memory at one time; those of one function of GCC's have some 100 kB.
const MOST_HELD: usize = 16 << 20;
/// The longest text in a file, bytes; names of instances of templates are long, too.
const LONGEST: usize = 1 << 20;

/// A part of a message.
#[derive(Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    Named {
        #[serde(default)]
        symtab_node: Option<String>,
        #[serde(default)]
        expr: Option<String>,
        #[serde(default)]
        stmt: Option<String>,
    },
    Other(IgnoredAny),
}

/// Reads a file.
pub(super) fn read(bytes: impl Read, path: &Path, config: &RemarkConfig) -> Remarks {
    let plain = flate2::read::MultiGzDecoder::new(bytes).take(config.max_file_bytes);
    let plain = Short { bytes: BufReader::new(plain), since_quote: 0, is_escaped: false };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(plain));
    let mut reading =
        Reading { held: 0, passes: FxHashMap::default(), vect: super::vect::Vect::new(config.max_rows) };
    let whole = serde::Deserializer::deserialize_seq(&mut json, Whole(&mut reading));
    let rows = reading.vect.finish();
    let mut problems = Vec::new();
    if let Err(error) = whole {
        problems.push(damaged(path, &error.to_string(), rows.len()));
    }
    if config.max_rows <= rows.len() {
        problems.push(damaged(path, "it has more remarks than are read", rows.len()));
    }
    Remarks { rows, problems }
}

struct Reading {
    /// Bytes of messages that wait for the end of what they lie in.
    held: usize,
    /// Id and name of each part of the compiler.
    passes: FxHashMap<String, String>,
    vect: super::vect::Vect,
}

impl Reading {
    fn name_of(&self, pass: &str) -> String {
        self.passes.get(pass).cloned().unwrap_or_default()
    }
}

/// Bytes of which no text is longer than any is: what a text holds is in memory as a whole.
struct Short<R> {
    bytes: R,
    since_quote: usize,
    is_escaped: bool,
}

impl<R: Read> Read for Short<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let number = self.bytes.read(into)?;
        for byte in &into[..number] {
            let is_quote = *byte == b'"' && !self.is_escaped;
            self.is_escaped = *byte == b'\\' && !self.is_escaped;
            self.since_quote = if is_quote { 0 } else { self.since_quote + 1 };
            if LONGEST < self.since_quote {
                return Err(std::io::Error::other("one of its texts is longer than any that GCC writes"));
            }
        }
        Ok(number)
    }
}

/// The parts of the compiler, those that contain others as well.
struct Passes<'r>(&'r mut FxHashMap<String, String>);

impl<'de> DeserializeSeed<'de> for Passes<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Passes<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of passes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Pass(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// A part of the compiler.
struct Pass<'r>(&'r mut FxHashMap<String, String>);

impl<'de> DeserializeSeed<'de> for Pass<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Pass<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pass")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (mut id, mut name) = (String::new(), String::new());
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "id" => id = bounded(fields.next_value()?),
                "name" => name = bounded(fields.next_value()?),
                "children" => fields.next_value_seed(Passes(&mut *self.0))?,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        if self.0.len() < MOST_PASSES {
            self.0.entry(id).or_insert(name);
        }
        Ok(())
    }
}

/// The file: what it is, the parts of the compiler, the records.
struct Whole<'r>(&'r mut Reading);

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of what GCC is, its passes and its records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if list.next_element::<IgnoredAny>()?.is_none() {
            return Ok(());
        }
        if list.next_element_seed(Passes(&mut self.0.passes))?.is_none() {
            return Ok(());
        }
        list.next_element_seed(Records(self.0, None))?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// A list of records; those of a record come behind it, though they may stand before the rest of it.
struct Records<'r, 'm>(&'r mut Reading, Option<&'m mut Vec<Message>>);

impl<'de> DeserializeSeed<'de> for Records<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Records<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(reading, mut into) = self;
        loop {
            let mut found = Vec::new();
            if list.next_element_seed(Record(reading, &mut found))?.is_none() {
                return Ok(());
            }
            match &mut into {
                Some(into) => into.append(&mut found),
                None => {
                    reading.held = 0;
                    found.into_iter().for_each(|message| reading.vect.add(message));
                }
            }
        }
    }
}

/// A list, each of which is handed on when it is read.
struct Each<'f, T>(&'f mut dyn FnMut(T));

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Each<'_, T> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Each<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(one) = list.next_element()? {
            self.0(one);
        }
        Ok(())
    }
}

/// A record.
struct Record<'r, 'm>(&'r mut Reading, &'m mut Vec<Message>);

impl<'de> DeserializeSeed<'de> for Record<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self(reading, into) = self;
        let (mut message, mut within) = (Message::default(), Vec::new());
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "kind" => message.kind = bounded(fields.next_value()?),
                "pass" => message.pass = reading.name_of(&fields.next_value::<String>()?),
                "function" => message.function = bounded(fields.next_value()?),
                "location" => message.location = Some(fields.next_value()?),
                "message" => fields.next_value_seed(Each(&mut |piece| message.say(piece)))?,
                "inlining_chain" => fields.next_value_seed(Each(&mut |link| {
                    if message.chain.len() < MOST_LINKS {
                        message.chain.push(link);
                    }
                }))?,
                "children" => fields.next_value_seed(Records(reading, Some(&mut within)))?,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        let size = message.size();
        if super::vect::is_of_use(&message) && size <= MOST_HELD - reading.held.min(MOST_HELD) {
            reading.held += size;
            into.push(message);
        }
        into.append(&mut within);
        Ok(())
    }
}

impl Message {
    /// Bytes in memory.
    fn size(&self) -> usize {
        let nodes = self.nodes.iter().map(|node| size_of::<String>() + node.len());
        let file = |at: &Option<Location>| at.as_ref().map_or(0, |at| at.file.len());
        let chain =
            self.chain.iter().map(|link| size_of::<ChainLink>() + link.fndecl.len() + file(&link.site));
        let texts = [&self.kind, &self.pass, &self.function, &self.text];
        let texts = texts.iter().map(|text| text.len()).sum::<usize>() + file(&self.location);
        size_of::<Self>() + texts + nodes.chain(chain).sum::<usize>()
    }

    fn say(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.text += &text,
            Piece::Named { symtab_node: Some(node), .. } => {
                // GCC numbers functions behind a stroke, for several may have one name.
                let name = node.rsplit_once('/').map_or(node.as_str(), |(name, _)| name);
                if self.nodes.len() < MOST_NODES {
                    self.nodes.push(bounded(name.to_owned()));
                }
                self.text += name;
            }
            Piece::Named { expr, stmt, .. } => {
                self.text += &expr.or(stmt).unwrap_or_default();
            }
            Piece::Other(_) => {}
        }
        self.text = bounded(std::mem::take(&mut self.text));
    }
}
