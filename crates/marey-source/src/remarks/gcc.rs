//! `*.opt-record.json.gz` of GCC: records that nest, some ten for each statement of a loop.
//!
//! The one idea: a record is read and dropped unless something in it is of use, so that files of gigabytes need no more
//! memory than what is kept of them. What GCC means by its messages is found by [`super::vect`].

use std::fmt;
use std::io::{BufReader, Read};
use std::path::Path;

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

/// A part of the compiler, and those within.
#[derive(Deserialize)]
struct Pass {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    children: Vec<Pass>,
}

/// Reads a file.
pub(super) fn read(bytes: impl Read, path: &Path, config: &RemarkConfig) -> Remarks {
    let plain = flate2::read::MultiGzDecoder::new(bytes).take(config.max_file_bytes);
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(plain));
    let mut reading = Reading { passes: Vec::new(), vect: super::vect::Vect::new(config.max_rows) };
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
    /// Id and name of each part of the compiler.
    passes: Vec<(String, String)>,
    vect: super::vect::Vect,
}

impl Reading {
    fn add_passes(&mut self, passes: Vec<Pass>) {
        for pass in passes {
            self.passes.push((pass.id, pass.name));
            self.add_passes(pass.children);
        }
    }

    fn name_of(&self, pass: &str) -> String {
        self.passes.iter().find(|(id, _)| id == pass).map_or_else(String::new, |(_, name)| name.clone())
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
        let Some(passes) = list.next_element::<Vec<Pass>>()? else { return Ok(()) };
        self.0.add_passes(passes);
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
                None => found.into_iter().for_each(|message| reading.vect.add(message)),
            }
        }
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
                "kind" => message.kind = fields.next_value()?,
                "pass" => message.pass = reading.name_of(&fields.next_value::<String>()?),
                "function" => message.function = bounded(fields.next_value()?),
                "location" => message.location = Some(fields.next_value()?),
                "message" => message.say(fields.next_value()?),
                "inlining_chain" => {
                    message.chain = fields.next_value()?;
                    message.chain.truncate(MOST_LINKS);
                }
                "children" => fields.next_value_seed(Records(reading, Some(&mut within)))?,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        if super::vect::is_of_use(&message) {
            into.push(message);
        }
        into.append(&mut within);
        Ok(())
    }
}

impl Message {
    fn say(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.text += &text,
                Piece::Named { symtab_node: Some(node), .. } => {
                    // GCC numbers functions behind a stroke, for several may have one name.
                    let name = node.rsplit_once('/').map_or(node.as_str(), |(name, _)| name);
                    self.nodes.push(bounded(name.to_owned()));
                    self.text += name;
                }
                Piece::Named { expr, stmt, .. } => {
                    self.text += &expr.or(stmt).unwrap_or_default();
                }
                Piece::Other(_) => {}
            }
        }
        self.text = bounded(std::mem::take(&mut self.text));
    }
}
