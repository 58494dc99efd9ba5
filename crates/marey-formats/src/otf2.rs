//! Open Trace Format 2, the format of Score-P, TAU, eztrace and others, read without their library.
//!
//! The one idea: an archive has a file of events for each location, in the order of their time. The locations of a process
//! are read side by side, so that what they count in common is counted in its order; processes are read in parallel.
//!
//! * [`anchor`]: the first file. * [`chunks`]: records in files. * [`definitions`]: what their numbers mean, in the whole
//!   archive, [`local`] in a location. * [`records`]: all kinds of events. * [`lane`]: those of a location, [`convert`]: what becomes of
//!   them. * [`paradigm`]: regions in marey's terms.
//!
//! Source of the layout: the OTF2 3.0.2 library. Deliberately absent: snapshots, thumbnails and markers, which repeat what
//! events say or belong to one viewer; containers of SIONlib.

mod anchor;
mod chunks;
mod convert;
mod definitions;
mod lane;
mod local;
pub(crate) mod paradigm;
mod records;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use self::anchor::Anchor;
use self::definitions::{Definitions, Group};
use crate::problems::{Problems, kind};
use crate::spool::Spool;
use crate::{Error, Fate, Imported, Progress};

/// An archive, but for its events.
struct Archive {
    /// Directory with a file for each location.
    dir: PathBuf,
    anchor: Anchor,
    definitions: Definitions,
    ranks: Ranks,
}

/// Which process is which rank of MPI.
#[derive(Debug, Default)]
struct Ranks {
    /// Groups of locations by rank.
    processes: Vec<u32>,
    /// The communicator that has all of them in this order.
    world: Option<u32>,
}

/// Codes of `OTF2_GroupType`.
mod group {
    /// Members are places among those that communicate.
    pub(super) const COMM_GROUP: u8 = 5;
    /// Each process's own.
    pub(super) const COMM_SELF: u8 = 6;
}

impl Ranks {
    fn find(definitions: &Definitions) -> Self {
        let is_of_mpi = |it: &&Group| it.paradigm == paradigm::MPI;
        let Some(all) = definitions.communicating.iter().find(is_of_mpi) else { return Self::default() };
        let process = |location: &u64| definitions.locations.get(location).map(|it| it.group);
        let Some(processes) = all.members.iter().map(process).collect() else { return Self::default() };
        let is_world = |communicator: &definitions::Communicator| {
            let group = definitions.groups.get(&communicator.group);
            communicator.second.is_none()
                && group.is_some_and(|group| {
                    group.kind == group::COMM_GROUP
                        && group.members.iter().copied().eq(0..all.members.len() as u64)
                })
        };
        let named =
            |it: &(&u32, &definitions::Communicator)| definitions.string(it.1.name) == "MPI_COMM_WORLD";
        let mut worlds = definitions.communicators.iter().filter(|it| is_world(it.1));
        let world = worlds.clone().find(named).or_else(|| worlds.next()).map(|(id, _)| *id);
        Self { processes, world }
    }

    fn of(&self, process: u32) -> Option<u32> {
        self.processes.iter().position(|it| *it == process).and_then(|rank| u32::try_from(rank).ok())
    }
}

/// What is read of a process.
#[derive(Debug, Default)]
struct OfProcess {
    locations: u64,
    /// Records by code.
    counts: BTreeMap<u8, u64>,
    problems: Problems,
}

/// Whether it is an anchor file that begins so: behind a buffer's two bytes stands the name.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    beginning.first() == Some(&3) && beginning.get(2..7) == Some(b"OTF2\0")
}

/// Turns the archive with this anchor file into a spool.
///
/// # Errors
/// If its anchor or its global definitions cannot be read or made sense of, or the spool cannot be written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let anchor = anchor::read(file)?;
    let dir = file.with_extension("");
    let mut problems = Problems::default();
    let definitions = Definitions::read(&file.with_extension("def"), anchor.definition_chunk, &mut problems)?;
    let ranks = Ranks::find(&definitions);
    let archive = Archive { dir, anchor, definitions, ranks };
    let mut processes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (id, location) in &archive.definitions.locations {
        processes.entry(archive.definitions.process_of(location.group)).or_default().push(*id);
    }
    if !archive.anchor.is_whole {
        problems.add(kind::DAMAGED, format!("{}: the file ends before its end", file.display()), 1);
    }
    if archive.anchor.n_locations != archive.definitions.locations.len() as u64 {
        let (said, found) = (archive.anchor.n_locations, archive.definitions.locations.len());
        problems.add(
            kind::MISSING,
            format!("{} says that there are {said} locations, and {found} are defined", file.display()),
            1,
        );
    }
    let len = |location: &u64| std::fs::metadata(archive.events(*location)).map_or(0, |data| data.len());
    progress.begin(archive.definitions.locations.keys().map(len).sum());
    let target = Spool::create(spool, archive.definitions.clock.realtime_ns)?;
    let run = |(number, (group, locations)): (usize, (&u32, &Vec<u64>))| {
        let first = (number == 0).then_some(&problems);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        convert::process(&archive, &target, (number, *group), locations, first, progress)
    };
    let processes: Vec<_> = processes.iter().enumerate().collect();
    let read: Vec<OfProcess> = processes.into_par_iter().map(run).collect::<Result<_, _>>()?;
    Ok(summary(read, &archive.definitions.counts, problems))
}

fn summary(read: Vec<OfProcess>, defined: &BTreeMap<u8, u64>, mut problems: Problems) -> Imported {
    let mut imported = Imported { processes: read.len() as u64, ..Imported::default() };
    let named = |(code, number): (&u8, &u64)| match definitions::KINDS.iter().find(|kind| kind.code == *code)
    {
        Some(kind) => (kind.name.to_owned(), kind.fate, *number),
        None => (format!("definition {code}"), Fate::Ignored, *number),
    };
    imported.definitions = defined.iter().map(named).collect();
    imported.definitions.sort();
    let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
    for it in read {
        imported.locations += it.locations;
        for (code, number) in it.counts {
            *counts.entry(code).or_default() += number;
        }
        problems.merge(it.problems);
    }
    imported.events = counts.values().sum();
    let named = |(code, number): (u8, u64)| match records::of(code) {
        Some(kind) => (kind.name.to_owned(), kind.fate, number),
        None => (format!("record {code}"), Fate::Ignored, number),
    };
    imported.records = counts.into_iter().map(named).collect();
    imported.records.sort();
    imported.problems = problems.iter().map(|(_, text, number)| (text.to_owned(), number)).collect();
    imported
}

/// The tables of all kinds of records, with what becomes of them, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "## OTF2\n\nOpen Trace Format 2, versions 2 and 3, of Score-P, TAU, eztrace and others: the file `NAME.otf2`, or the \
         directory that it lies in.\nOf version 1 regions and counters are read, and no messages. Files in containers of SIONlib and snapshots are not read; markers and thumbnails are \
         passed over.\nA message that was recorded outside of all regions of MPI gets a region of its own, `send`, \
         `receive` or `complete`, which takes no time.\n\n| definition | fate | in a run |\n|---|---|---|\n",
    );
    for kind in definitions::KINDS {
        text += &format!("| {} | {} | {} |\n", kind.name, kind.fate.name(), kind.becomes);
    }
    text += "\n| record | fate | in a run |\n|---|---|---|\n";
    for kind in &records::KINDS {
        let mut becomes = records::becomes(kind).to_owned();
        if kind.fate == Fate::Kept {
            let fields: Vec<String> = kind.fields.iter().map(|field| format!("`{}`", field.0)).collect();
            becomes = if fields.is_empty() { "an event".to_owned() } else { becomes + &fields.join(", ") };
        }
        text += &format!("| {} | {} | {becomes} |\n", kind.name, kind.fate.name());
    }
    text
}

impl Archive {
    fn events(&self, location: u64) -> PathBuf {
        self.dir.join(format!("{location}.evt"))
    }

    fn local(&self, location: u64) -> PathBuf {
        self.dir.join(format!("{location}.def"))
    }
}
