//! Which events there are, and which fields each has.
//!
//! The one idea: a definition gives a kind of event a number of the file's own and its fields in an order of its own; so an
//! event is its kind and its fields by name.

use std::collections::BTreeMap;

use super::DEFINITION;
use super::line::words;
use crate::Fate::{self, Ignored, Kept, Mapped};

/// Definitions of a header.
const MOST: usize = 4096;
/// Fields of each.
const MOST_FIELDS: usize = 256;

/// A kind of event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub code: Code,
    /// Its name, behind `Paje`.
    pub name: &'static str,
    pub fate: Fate,
    pub is_definition: bool,
    pub becomes: &'static str,
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    ContainerType,
    EventType,
    StateType,
    VariableType,
    LinkType,
    Value,
    Create,
    Destroy,
    Event,
    Set,
    Push,
    Pop,
    Reset,
    SetVariable,
    AddVariable,
    SubVariable,
    StartLink,
    EndLink,
    File,
}

const fn record(code: Code, name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { code, name, fate, is_definition: false, becomes }
}

const fn definition(code: Code, name: &'static str, becomes: &'static str) -> Kind {
    Kind { code, name, fate: Mapped, is_definition: true, becomes }
}

/// All kinds, in the order of [`Code`].
pub(crate) const KINDS: [Kind; 19] = [
    definition(Code::ContainerType, "DefineContainerType", "whether containers are ranks, threads or others"),
    definition(Code::EventType, "DefineEventType", "the name of a kind of events"),
    definition(Code::StateType, "DefineStateType", "states that are regions"),
    definition(Code::VariableType, "DefineVariableType", "the name of a counter"),
    definition(Code::LinkType, "DefineLinkType", "links that are messages or edges"),
    definition(Code::Value, "DefineEntityValue", "the name of a region, or of a value of events"),
    record(Code::Create, "CreateContainer", Mapped, "a thread; a rank"),
    record(Code::Destroy, "DestroyContainer", Mapped, "its states end"),
    record(Code::Event, "NewEvent", Kept, "an event with the field `value`, and what else it has as texts"),
    record(
        Code::Set,
        "SetState",
        Mapped,
        "all states of the type are left and one is entered: of MPI if its name begins with `MPI_`, else a function of the program",
    ),
    record(Code::Push, "PushState", Mapped, "a region is entered"),
    record(Code::Pop, "PopState", Mapped, "the innermost region of the type is left"),
    record(Code::Reset, "ResetState", Mapped, "all regions of the type are left"),
    record(Code::SetVariable, "SetVariable", Mapped, "a counter has a value"),
    record(Code::AddVariable, "AddVariable", Mapped, "the same; the first value is added to 0"),
    record(Code::SubVariable, "SubVariable", Mapped, "the same"),
    record(
        Code::StartLink,
        "StartLink",
        Mapped,
        "with its end a message between ranks, of a tag and a size if it has fields whose names end so; else an edge between threads, to an event",
    ),
    record(Code::EndLink, "EndLink", Mapped, "the same"),
    record(Code::File, "TraceFile", Ignored, "the file that it names is not read, and counted as missing"),
];

/// An event.
#[derive(Clone, Debug)]
pub(super) struct Event<'a> {
    pub code: Code,
    /// Its fields: name and text.
    pub fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Event<'a> {
    /// The first of these fields that is there.
    pub(super) fn get(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.fields.iter().find(|it| it.0 == *name)).map(|it| it.1)
    }
}

/// A kind, if it is known, and names of its fields.
type Layout = (Option<Code>, Vec<String>);

/// What definitions have said.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    layouts: BTreeMap<i64, Layout>,
    /// The definition that has begun and not ended.
    open: Option<(i64, Layout)>,
    pub number: u64,
    pub strays: u64,
}

impl Header {
    /// Takes a line of the header; whether it is one.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let Some(rest) = line.strip_prefix('%') else { return false };
        let mut words = rest.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        match (first, second, &mut self.open) {
            (DEFINITION, Some(name), _) => {
                let Some(number) = words.next().and_then(|number| number.parse().ok()) else {
                    self.strays += 1;
                    return true;
                };
                let name = name.strip_prefix("Paje").unwrap_or(name);
                let code = KINDS.iter().find(|kind| kind.name == name).map(|kind| kind.code);
                self.open = Some((number, (code, Vec::new())));
            }
            ("EndEventDef", ..) => match self.open.take() {
                Some((number, layout)) if self.layouts.len() < MOST => {
                    self.number += 1;
                    self.layouts.insert(number, layout);
                }
                _ => self.strays += 1,
            },
            (field, Some(_), Some((_, (_, fields)))) if fields.len() < MOST_FIELDS => {
                fields.push(field.to_owned());
            }
            _ => self.strays += 1,
        }
        true
    }

    /// The event of a line, if all its fields are there, and its kind is known.
    pub(super) fn event<'a>(&'a self, line: &'a str) -> Option<Event<'a>> {
        let mut words = words(line);
        let (code, names) = self.layouts.get(&words.next()?.parse().ok()?)?;
        let mut fields = Vec::new();
        for name in names {
            fields.push((name.as_str(), words.next()?));
        }
        Some(Event { code: (*code)?, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_code() {
        assert!(KINDS.iter().enumerate().all(|(at, kind)| kind.code as usize == at));
    }
}
