//! What the table of one-sided operations says of who waited: fences as operations of all, and edges of the rest.
//!
//! The one idea: only what synchronises is kept while the table is read; transfers, of which there are many, go by, and only
//! if a post came while an origin was busy with something.
//!
//! What is deliberately absent: how calls belong together, which is [`one_sided`](super::one_sided)'s.

use marey_analyze::{CommunicatorId, Edge, Member, Span, Unread};
use marey_model::spool::RmaKind;
use marey_model::{LocationId, Nanos};

use super::one_sided::{Call, OneSided};
use super::{Events, done, outside_of_run, path, unread};
use crate::Error;
use crate::columns::Columns;
use crate::schema::NONE;

impl Events<'_> {
    /// Hands out the fences of windows as members of operations: the n-th of each member on a window is one of all. Their
    /// communicators have numbers of their own, from the end of all numbers.
    pub(super) fn fences(&self, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        let columns = ["location", "time", "leave", "call_path", "kind", "window"];
        let mut fences: Vec<(u32, u32, i64, i64, u32)> = Vec::new();
        let mut outside = 0;
        let result = self.read("rma", &columns, Span::ALL, |batch| {
            let (locations, times, leaves) =
                (batch.u32("location")?, batch.i64("time")?, batch.i64("leave")?);
            let (paths, kinds, windows) =
                (batch.u32("call_path")?, batch.text("kind")?, batch.u32("window")?);
            for row in 0..batch.len() {
                if kinds[row] == RmaKind::Fence.name() && windows[row] != NONE {
                    let (location, time, path) = (locations[row], times[row], paths[row]);
                    let leave = self.leave(location, time, leaves[row], path);
                    if self.is_access_in_run(location, time, leave) {
                        fences.push((windows[row], location, time, leave, path));
                    } else {
                        outside += 1;
                    }
                }
            }
            Ok(())
        });
        fences.sort_unstable();
        for window in fences.chunk_by(|a, b| a.0 == b.0) {
            let mut operations: Vec<Vec<Member>> = Vec::new();
            for own in window.chunk_by(|a, b| a.1 == b.1) {
                for (number, &(noun, location, enter, leave, call_path)) in own.iter().enumerate() {
                    if operations.len() <= number {
                        operations.push(Vec::new());
                    }
                    operations[number].push(Member {
                        communicator: CommunicatorId(NONE - 1 - noun),
                        instance: u32::try_from(number).unwrap_or(NONE),
                        location: LocationId(location),
                        enter: Nanos(enter),
                        call_path: path(call_path),
                        done: done(enter, leave, call_path),
                        root: None,
                        bytes_out: 0,
                        bytes_in: 0,
                    });
                }
            }
            operations.iter().for_each(|operation| each(operation));
        }
        result.and_then(|()| damaged(outside))
    }

    /// Edges between the other calls that synchronise, and what of them could not be read.
    pub(super) fn edges_of_windows(&self) -> (Vec<Edge>, Result<(), Unread>) {
        let mut calls = Vec::new();
        let is_asked = |kind: RmaKind| !kind.is_transfer() && kind != RmaKind::Fence;
        let mut read = self.one_sided_calls(is_asked, |call| calls.push(call));
        let mut found = OneSided::new(calls);
        if found.asks_for_transfers() {
            read = read.and(self.one_sided_calls(RmaKind::is_transfer, |call| found.transfer(&call)));
        }
        (found.finish(), read)
    }

    /// Hands out the calls of some kinds of which the window and both ends are known.
    fn one_sided_calls(
        &self,
        is_asked: impl Fn(RmaKind) -> bool,
        mut each: impl FnMut(Call),
    ) -> Result<(), Unread> {
        let columns = ["location", "time", "leave", "call_path", "kind", "window", "peer"];
        let mut outside = 0;
        let read = self.read("rma", &columns, Span::ALL, |batch| {
            let rows = Rows::of(batch)?;
            for row in 0..batch.len() {
                let Some(kind) = RmaKind::from_name(&rows.kinds[row]).filter(|kind| is_asked(*kind)) else {
                    continue;
                };
                let (location, window, start) = (rows.locations[row], rows.windows[row], rows.times[row]);
                let end = self.leave(location, start, rows.leaves[row], rows.paths[row]);
                if !self.is_access_in_run(location, start, end) {
                    outside += 1;
                    continue;
                }
                let process = self.process_of.get(location as usize);
                if let Some(process) = process.filter(|_| window != NONE && start <= end) {
                    let peer = super::known(rows.peers[row]);
                    each(Call { window, process: process.0, start, end, location, kind, peer });
                }
            }
            Ok(())
        });
        read.and_then(|()| damaged(outside))
    }

    /// Whether location and times of a call can be right; its end may not be known.
    fn is_access_in_run(&self, location: u32, start: i64, end: i64) -> bool {
        self.is_known(LocationId(location)) && self.is_in_run([Nanos(start), Nanos(end.max(start))])
    }

    /// When a call ended: one that lies across slabs stands among the intervals that do.
    fn leave(&self, location: u32, start: i64, leave: i64, path: u32) -> i64 {
        if leave >= 0 {
            return leave;
        }
        let slab = self.slabs.partition_point(|slab| slab.0.0 <= start).max(1) - 1;
        let long = self.long.get(slab).map_or(&[][..], Vec::as_slice);
        let key = (LocationId(location), Nanos(start));
        let first = long.partition_point(|visit| (visit.interval.location, visit.interval.start) < key);
        let at_once = long[first..].iter().take_while(|it| (it.interval.location, it.interval.start) == key);
        let own = at_once.map(|visit| visit.interval).find(|interval| interval.call_path.0 == path);
        own.map_or(leave, |interval| interval.end.0)
    }
}

/// An error if there are rows of which location or times cannot be right.
fn damaged(outside: u64) -> Result<(), Unread> {
    unread(&Vec::from_iter(outside_of_run("rma", outside).err()))
}

/// Columns of a batch.
struct Rows<'b> {
    locations: &'b [u32],
    times: &'b [i64],
    leaves: &'b [i64],
    paths: &'b [u32],
    kinds: &'b [String],
    windows: &'b [u32],
    peers: &'b [u32],
}

impl<'b> Rows<'b> {
    fn of(batch: &'b Columns) -> Result<Self, Error> {
        Ok(Self {
            locations: batch.u32("location")?,
            times: batch.i64("time")?,
            leaves: batch.i64("leave")?,
            paths: batch.u32("call_path")?,
            kinds: batch.text("kind")?,
            windows: batch.u32("window")?,
            peers: batch.u32("peer")?,
        })
    }
}
