//! The side of the pipeline that joins, matches and writes what was decoded.
//!
//! The one idea: most of a slab is written as its locations left it, and only what takes several of
//! them — messages, collectives, overlapping states — is put together first. Of that, what is still
//! open at the end of a slab stays here and goes on with the next.
//!
//! What began in an earlier slab than it ended in is kept to the end, so that a slab's parts hold
//! nothing from before it. How halves are joined and matched is told in `messages` and `channels`,
//! how parts are written in `rows` and `write`.

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::array_messages::ArrayMessages;
use super::counting::Counting;
use super::input::Input;
use super::lod::Lod;
use super::messages::{CollectiveRow, Join, Ops};
use super::outcome::{MessageRow, log2_of};
use super::overlaps::{Overlap, Overlaps};
use super::rows;
use super::shards::Shards;
use super::stream::{LocationSlab, Slab};
use super::write::Sink;
use crate::schema::{COLLECTIVES, NONE};
use crate::{Error, PartWriter};

/// What lasts on the side that matches and writes.
pub(crate) struct Writing {
    pub joins: Vec<Join>,
    pub overlaps: Vec<Overlaps>,
    pub shards: Shards,
    collectives: Option<PartWriter>,
    pub collective_rows: u64,
    pub long_messages: Vec<MessageRow>,
    pub long_overlaps: Vec<Overlap>,
    pub communication: Communication,
    pub array_messages: ArrayMessages,
    /// By location.
    lods: Vec<Lod>,
}

/// (from, to, communicator, log₂ of the size) → (messages, bytes)
pub(crate) type Communication = FxHashMap<(u32, u32, u32, i64), (i64, i64)>;

impl Writing {
    pub(crate) fn new(input: &Input, run: &Path) -> Result<Self, Error> {
        let processes = input.processes.len();
        Ok(Self {
            joins: (0..processes).map(|_| Join::default()).collect(),
            overlaps: (0..processes).map(|_| Overlaps::default()).collect(),
            shards: Shards::new(Counting::read(input)?, input.shifts()),
            collectives: Some(PartWriter::create(&run.join(COLLECTIVES.file(0, 0)), &COLLECTIVES)?),
            collective_rows: 0,
            long_messages: Vec::new(),
            long_overlaps: Vec::new(),
            communication: FxHashMap::default(),
            array_messages: ArrayMessages::default(),
            lods: input.plan.lod_log2.iter().map(|&log2| Lod::new(log2, input.plan.end)).collect(),
        })
    }

    /// Joins, matches and writes a slab. In a small run each table is but one part, so there is
    /// little to spread over cores within one; hence what needs no matching goes beside it.
    pub(crate) fn slab(&mut self, input: &Input, slab: &Slab, sink: &Sink) -> Result<(), Error> {
        let mut lods = std::mem::take(&mut self.lods);
        let (matched, others) =
            rayon::join(|| self.matched(input, slab, sink), || rows::write_locations(slab, &mut lods, sink));
        self.lods = lods;
        matched.and(others)
    }

    /// What takes several locations: messages, collectives, overlapping states.
    fn matched(&mut self, input: &Input, slab: &Slab, sink: &Sink) -> Result<(), Error> {
        let mut by_process: Vec<Vec<&LocationSlab>> = vec![Vec::new(); input.processes.len()];
        for location in &slab.locations {
            by_process[location.process as usize].push(location);
        }
        let overlaps: Vec<Vec<Overlap>> = self
            .joins
            .par_iter_mut()
            .zip(&mut self.overlaps)
            .zip(&by_process)
            .enumerate()
            .map(|(idx, ((join, overlaps), threads))| {
                let ops: Vec<Ops<'_>> = threads
                    .iter()
                    .filter(|thread| !thread.happened.ops.is_empty())
                    .map(|thread| Ops {
                        location: thread.location,
                        ops: &thread.happened.ops,
                        paths: &thread.paths,
                    })
                    .collect();
                join.slab(&input.contexts[idx], &ops);
                let marks: Vec<_> =
                    threads.iter().map(|t| (t.location, t.happened.marks.as_slice())).collect();
                let mut ended = overlaps.slab(&marks);
                if slab.is_last {
                    join.finish(&input.contexts[idx]);
                    ended.extend(overlaps.finish(input.contexts[idx].clock.ns(input.endings[idx])));
                }
                ended
            })
            .collect();
        self.shards.advance(&mut self.joins, &slab.horizons, slab.is_last);
        count(&mut self.communication, input, &self.shards);
        self.array_messages.count(input, &self.shards);
        self.write_collectives()?;
        // Rows stay where they were made; what is sorted and written are references.
        let mut matched: Vec<&MessageRow> = Vec::new();
        for row in self.shards.rows() {
            if rows::first_time(row) < slab.start {
                self.long_messages.push(*row);
            } else {
                matched.push(row);
            }
        }
        // Channels give sorted runs, which a stable sort merges; and ties stay as they are.
        matched.par_sort_by_key(|row| (row.recv_location, row.recv_time));
        let (mut inside, long): (Vec<_>, Vec<_>) =
            overlaps.into_iter().flatten().partition(|row| row.start >= slab.start);
        inside.sort_unstable();
        self.long_overlaps.extend(long);
        rows::write_messages(slab.number, &mut matched, sink)?;
        rows::write_overlaps(slab.number, &inside, sink)
    }

    fn write_collectives(&mut self) -> Result<(), Error> {
        let mut found: Vec<CollectiveRow> =
            self.joins.iter_mut().flat_map(|join| join.collectives.drain(..)).collect();
        if found.is_empty() {
            return Ok(());
        }
        found.sort_unstable();
        self.collective_rows += found.len() as u64;
        let writer = self.collectives.as_mut().expect("taken only at the end");
        writer.write(&rows::collectives(&found)?)
    }

    /// Completes the table of collectives.
    pub(crate) fn end_collectives(&mut self) -> Result<crate::PartStats, Error> {
        self.collectives.take().expect("taken only once").finish()
    }
}

/// Adds the messages of a slab to the sums.
fn count(sums: &mut Communication, input: &Input, shards: &Shards) {
    let locations = &input.globals.locations;
    let whole = shards.rows().filter(|row| row.send_location != NONE && row.recv_location != NONE);
    // Messages come channel by channel, so the sum of the one before is nearly always the next's.
    let mut last = ((NONE, NONE, NONE, -1), (0, 0));
    let mut add = |(key, sum): ((u32, u32, u32, i64), (i64, i64))| {
        if sum.0 > 0 {
            let whole: &mut (i64, i64) = sums.entry(key).or_default();
            *whole = (whole.0 + sum.0, whole.1.saturating_add(sum.1));
        }
    };
    for row in whole {
        let from = locations[row.send_location as usize].process;
        let to = locations[row.recv_location as usize].process;
        let key = (from, to, row.communicator, log2_of(row.bytes));
        if last.0 != key {
            add(std::mem::replace(&mut last, (key, (0, 0))));
        }
        last.1 = (last.1.0 + 1, last.1.1.saturating_add(row.bytes));
    }
    add(last);
}
