//! The file beside a trace that says what its events are: `NUMBER GROUP TAG "NAME" PARAMETER`, a line each.

use std::path::Path;

use marey_model::{Level, Role, Tier};
use rustc_hash::FxHashMap;

use crate::input::{Input, Line};
use crate::problems::{Problems, kind};
use crate::spool::Region;
use crate::{Error, mpi};

/// What an event is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A region that is entered or left.
    Region(Region),
    /// A quantity that has a value.
    Value(String),
    /// A fact about the process: name and value.
    Fact(String, String),
    Send,
    Receive,
    /// The recorder's own business.
    Other,
}

/// What events are, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Definitions {
    pub events: FxHashMap<i64, (String, Meaning)>,
    /// Whether there are functions of MPI, or messages.
    pub has_mpi: bool,
}

/// A barrier that TAU puts before collective calls, to know how long they wait: no work of the program.
const COLLECTIVE_SYNC: &str = "MPI Collective Sync";

impl Definitions {
    /// # Errors
    /// If the file is there and cannot be read.
    pub(super) fn read(path: &Path, problems: &mut Problems) -> Result<Self, Error> {
        let mut definitions = Self::default();
        if !path.is_file() {
            problems.add(
                kind::MISSING,
                format!("{}: no such file, so events have no names", path.display()),
                1,
            );
            return Ok(definitions);
        }
        let (mut input, mut line) = (Input::open(path)?, Vec::new());
        loop {
            match input.line(&mut line)? {
                Line::Whole => definitions.line(&String::from_utf8_lossy(&line)),
                Line::TooLong | Line::Broken => {
                    problems.add(kind::DAMAGED, format!("{}: damaged", path.display()), 1);
                    return Ok(definitions);
                }
                Line::End => return Ok(definitions),
            }
        }
    }

    fn line(&mut self, line: &str) {
        // Names may have quotes in them.
        let Some((before, rest)) = line.split_once('"') else { return };
        let Some((name, parameter)) = rest.rsplit_once('"') else { return };
        let mut words = before.split_whitespace();
        let Some(number) = words.next().and_then(|it| it.parse::<i64>().ok()) else { return };
        let (group, tag) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // Of metadata the value may be empty, so the blank behind the bar still counts.
        let fact = name.split_once(" | ");
        let name = name.trim();
        let meaning = match (tag, parameter.trim()) {
            ("-7", _) => Meaning::Send,
            ("-8", _) => Meaning::Receive,
            (_, "EntryExit") => Meaning::Region(region(name, group)),
            (_, "TriggerValue") => match fact {
                Some((name, value)) => Meaning::Fact(name.trim().to_owned(), value.trim().to_owned()),
                None => Meaning::Value(name.to_owned()),
            },
            _ => Meaning::Other,
        };
        self.has_mpi |= match &meaning {
            Meaning::Region(region) => region.level.0 == Level::MPI,
            _ => false,
        };
        self.events.insert(number, (name.to_owned(), meaning));
    }
}

pub(super) fn region(name: &str, group: &str) -> Region {
    let nothing = || ("".into(), String::new());
    // `NAME [{FILE} {LINE,COLUMN}-{LINE,COLUMN}]`
    let (name, place) = name.split_once(" [{").unwrap_or((name, ""));
    let (file, line) = place.split_once("} {").unwrap_or(("", ""));
    let line = line.split([',', '}']).next().and_then(|line| line.parse().ok()).unwrap_or(0);
    let name = name.trim();
    if name.starts_with("MPI_") {
        let name = name.split(['(', ' ']).next().unwrap_or(name).to_owned();
        let (level, role) = ((Level::MPI.into(), Tier::Runtime), mpi::role(&name));
        return Region { level, verb: name, role, noun: nothing(), file: String::new(), line: 0 };
    }
    if name == COLLECTIVE_SYNC {
        let level = (Level::MPI.into(), Tier::Runtime);
        return Region {
            level,
            verb: name.to_owned(),
            role: Role::Wait,
            noun: nothing(),
            file: String::new(),
            line: 0,
        };
    }
    let role = Role::Work;
    if group.to_ascii_uppercase().contains("OPENMP") {
        let level = (Level::OPENMP.into(), Tier::Model);
        return Region { level, verb: name.to_owned(), role, noun: nothing(), file: file.to_owned(), line };
    }
    Region {
        level: (Level::SOURCE.into(), Tier::Source),
        verb: "execute".to_owned(),
        role,
        noun: ("function".into(), name.to_owned()),
        file: file.to_owned(),
        line,
    }
}
