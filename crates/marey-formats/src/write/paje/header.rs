//! Definitions: of events with their fields, of types, of values, and containers.
//!
//! Types have short aliases; two kinds of events, or two counters, of one name are one type.

use std::collections::BTreeMap;

use marey_analyze::Trace;
use marey_model::{LocationId, Role};

use super::super::aside::Aside;
use super::super::{Definitions, names};
use super::texts::{plain, quoted};
use crate::Error;
use crate::paje::{Code, KINDS};

/// Links with a tag and a size have numbers of their own behind those of the kinds.
pub(super) const START_MESSAGE: usize = KINDS.len();
pub(super) const END_MESSAGE: usize = KINDS.len() + 1;

/// Aliases of types, and of a value.
pub(super) const PROCESS: &str = "P";
pub(super) const THREAD: &str = "T";
pub(super) const COLLECTIVE: &str = "C";
pub(super) const HEAP_PEAK: &str = "H";
pub(super) const UNKNOWN: &str = "unknown";
const UNKNOWN_EVENT: &str = "X";
const UNKNOWN_COUNTER: &str = "Y";

const LINK: &str = "Time date|Type string|Container string";

/// Events that are used: number, kind, and fields.
const EVENTS: [(usize, Code, &str); 16] = [
    (Code::ContainerType as usize, Code::ContainerType, "Alias string|Type string|Name string"),
    (Code::EventType as usize, Code::EventType, "Alias string|Type string|Name string"),
    (Code::StateType as usize, Code::StateType, "Alias string|Type string|Name string"),
    (Code::VariableType as usize, Code::VariableType, "Alias string|Type string|Name string|Color color"),
    (
        Code::LinkType as usize,
        Code::LinkType,
        "Alias string|Type string|StartContainerType string|EndContainerType string|Name string",
    ),
    (
        Code::Value as usize,
        Code::Value,
        "Alias string|Type string|Name string|Color color|Level string|Place string",
    ),
    (Code::Create as usize, Code::Create, "Time date|Alias string|Type string|Container string|Name string"),
    (Code::Destroy as usize, Code::Destroy, "Time date|Type string|Name string"),
    (Code::Event as usize, Code::Event, "Time date|Type string|Container string|Value string"),
    (Code::Push as usize, Code::Push, "Time date|Type string|Container string|Value string"),
    (Code::Pop as usize, Code::Pop, "Time date|Type string|Container string"),
    (Code::SetVariable as usize, Code::SetVariable, "Time date|Type string|Container string|Value double"),
    (Code::StartLink as usize, Code::StartLink, "StartContainer string|Value string|Key string"),
    (Code::EndLink as usize, Code::EndLink, "EndContainer string|Value string|Key string"),
    (START_MESSAGE, Code::StartLink, "StartContainer string|Value string|Key string|Tag int|Size int"),
    (END_MESSAGE, Code::EndLink, "EndContainer string|Value string|Key string|Tag int|Size int"),
];

/// Aliases of kinds of events and of counters, by number.
pub(super) struct Aliases {
    kinds: Vec<String>,
    counters: Vec<String>,
}

impl Aliases {
    pub(super) fn kind(&self, number: u32) -> &str {
        of(&self.kinds, number, UNKNOWN_EVENT)
    }

    pub(super) fn counter(&self, number: u32) -> &str {
        of(&self.counters, number, UNKNOWN_COUNTER)
    }
}

fn of<'a>(list: &'a [String], number: u32, else_it_is: &'a str) -> &'a str {
    usize::try_from(number).ok().and_then(|at| list.get(at)).map_or(else_it_is, String::as_str)
}

/// Writes all that stands before the first event.
pub(super) fn write(run: &Definitions<'_>, out: &mut Aside) -> Result<Aliases, Error> {
    let trace = run.trace;
    let Definitions { creator, command, title, epoch_ns, .. } = run;
    for (what, text) in [("written by", creator), ("command line", &command.join(" ")), ("title", title)] {
        out.write(format!("# {what}: {}\n", plain(text)).as_bytes())?;
    }
    out.write(format!("# began, ns since 1970: {epoch_ns}\n").as_bytes())?;
    for (number, code, fields) in EVENTS {
        let name = KINDS.get(code as usize).map_or("", |kind| kind.name);
        out.write(format!("%EventDef Paje{name} {number}\n").as_bytes())?;
        let common = matches!(code, Code::StartLink | Code::EndLink).then_some(LINK);
        for field in common.iter().flat_map(|it| it.split('|')).chain(fields.split('|')) {
            out.write(format!("% {field}\n").as_bytes())?;
        }
        out.write(b"%EndEventDef\n")?;
    }
    let process = if has_ranks(trace) { "Rank" } else { "Program" };
    for (alias, parent, name) in [(PROCESS, "0", process), (THREAD, PROCESS, "Thread")] {
        line(out, Code::ContainerType, format_args!("{alias} {parent} {name}"))?;
    }
    line(out, Code::StateType, format_args!("S {THREAD} State"))?;
    for (alias, name) in [("M", "message"), ("E", "edge")] {
        line(out, Code::LinkType, format_args!("{alias} 0 {THREAD} {THREAD} {name}"))?;
    }
    for (alias, name) in [(COLLECTIVE, "collective"), (UNKNOWN_EVENT, "(unknown event)")] {
        line(out, Code::EventType, format_args!("{alias} {THREAD} \"{name}\""))?;
    }
    let colour = colour(Role::Manage);
    for (alias, name) in [(HEAP_PEAK, "heap peak"), (UNKNOWN_COUNTER, "(unknown counter)")] {
        line(out, Code::VariableType, format_args!("{alias} {THREAD} \"{name}\" {colour}"))?;
    }
    let aliases = types(run, out)?;
    values(trace, out)?;
    containers(trace, out)?;
    Ok(aliases)
}

/// Whether all processes are ranks of one world, which then are told apart by their ranks.
fn has_ranks(trace: &dyn Trace) -> bool {
    trace.processes().iter().all(|process| process.first_rank().is_some())
}

fn line(out: &mut Aside, code: Code, rest: std::fmt::Arguments<'_>) -> Result<(), Error> {
    out.write(format!("{} {rest}\n", code as usize).as_bytes())
}

/// Defines kinds of events and counters.
fn types(run: &Definitions<'_>, out: &mut Aside) -> Result<Aliases, Error> {
    let mut known = BTreeMap::new();
    let mut alias = |out: &mut Aside, code: Code, name: &str, tail: &str| -> Result<String, Error> {
        let next = known.len();
        let name = quoted(name);
        if let Some(alias) = known.get(&(code as usize, name.clone())) {
            return Ok(String::clone(alias));
        }
        let alias = format!("t{next}");
        line(out, code, format_args!("{alias} {THREAD} {name}{tail}"))?;
        known.insert((code as usize, name), alias.clone());
        Ok(alias)
    };
    let colour = format!(" {}", colour(Role::Transfer));
    let mut aliases = Aliases { kinds: Vec::new(), counters: Vec::new() };
    for name in &run.event_kinds {
        aliases.kinds.push(alias(out, Code::EventType, name, "")?);
    }
    for counter in run.trace.counters() {
        aliases.counters.push(alias(out, Code::VariableType, &counter.name, &colour)?);
    }
    Ok(aliases)
}

/// Defines regions, as values of states.
fn values(trace: &dyn Trace, out: &mut Aside) -> Result<(), Error> {
    for (number, region) in trace.regions().iter().enumerate() {
        let (name, level) = (quoted(names::region(region)), quoted(&region.level));
        let (place, colour) = (quoted(&names::place(region)), colour(region.role));
        line(out, Code::Value, format_args!("r{number} S {name} {colour} {level} {place}"))?;
    }
    let colour = colour(Role::Manage);
    line(out, Code::Value, format_args!("{UNKNOWN} S \"(unknown region)\" {colour} - -"))
}

fn containers(trace: &dyn Trace, out: &mut Aside) -> Result<(), Error> {
    for (number, process) in trace.processes().iter().enumerate() {
        let name = quoted(&names::process(process));
        line(out, Code::Create, format_args!("0.000000000 p{number} {PROCESS} 0 {name}"))?;
    }
    for (number, location) in trace.locations().iter().enumerate() {
        let id = LocationId::from_idx(number);
        let name = id.map_or_else(String::new, |id| quoted(&names::location_of_all(trace, id)));
        let process = location.process.0;
        line(out, Code::Create, format_args!("0.000000000 c{number} {THREAD} p{process} {name}"))?;
    }
    Ok(())
}

/// What a region of a role looks like, between 0 and 1 of red, green and blue.
const fn colour(role: Role) -> &'static str {
    match role {
        Role::Work => "\"0.3 0.6 0.9\"",
        Role::Transfer => "\"0.9 0.6 0.2\"",
        Role::Wait | Role::Acquire | Role::Release => "\"0.8 0.2 0.2\"",
        Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne => "\"0.6 0.3 0.7\"",
        Role::Io => "\"0.7 0.7 0.2\"",
        Role::Create | Role::Start | Role::End | Role::Manage => "\"0.6 0.6 0.6\"",
    }
}
