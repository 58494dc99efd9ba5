//! Visits that are only counted or timed because rules say so, added up beside a thread's events.
//!
//! The one idea: such a visit goes to a cell of its call path as soon as it is over, in a round of its own,
//! so that the process may die at any instant. The path is that of the regions that are open, whether or not
//! these are recorded themselves. Its exclusive time loses that of the visit, and may become less than nothing:
//! what is recorded of it is not in these sums.
//!
//! Deliberately absent: which visits these are ([`crate::write`]).

use marey_model::spool::sums::{CellKind, NOBODY};
use marey_model::spool::{Direction, MAX_DEPTH, NO_PEER, Open, Record, Signature, Stream};

use super::cells::{Cells, Histogram, OTHER_MESSAGES, OTHER_PATHS, Sums};
use crate::runtime::Runtime;
use crate::sys;
use crate::write::{PLACES, Place};

/// What is added of one call path at once.
#[derive(Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) site: u32,
    /// How many visits, 0 if only what they recorded counts.
    pub(crate) number: u64,
    /// Ticks that they took together; `None` if they are only counted.
    pub(crate) took: Option<u64>,
}

/// The sums of a thread's visits.
#[repr(C)]
pub(crate) struct Beside {
    cells: Cells,
    rounds: u64,
    /// The call path of which the cells are known, from the outermost region on: sites and cells.
    depth: usize,
    /// Where visits of regions that are reduced are counted.
    places: [Place; PLACES],
    sites: [u32; MAX_DEPTH],
    paths: [u32; MAX_DEPTH],
}

impl Beside {
    /// Makes sums for a thread, at `ticks`. Null if there is no memory or no room for them.
    pub(crate) fn begin(runtime: &Runtime, thread: u32, ticks: u64) -> *mut Self {
        let Some(this) = sys::map_zeros(size_of::<Self>()) else { return core::ptr::null_mut() };
        let this: *mut Self = this.cast();
        // SAFETY: zeros are a value of every field, and nobody else knows the memory.
        unsafe {
            if !(*this).cells.begin(runtime, thread, ticks, Stream::Beside) {
                sys::unmap(this.cast(), size_of::<Self>());
                return core::ptr::null_mut();
            }
        }
        this
    }

    /// Gives the memory back; what was added up is in the file.
    pub(crate) fn end(&mut self) {
        self.cells.unmap();
        let this: *mut Self = self;
        // SAFETY: `begin` has mapped it, and nobody uses it after this.
        unsafe { sys::unmap(this.cast(), size_of::<Self>()) };
    }

    /// Adds `visit`, which happened with these regions open, and the messages and bytes of what it recorded.
    pub(crate) fn add(&mut self, of: (&Runtime, u32), open: &[Open], visit: Visit, records: &[u8]) {
        self.rounds += 1;
        if visit.number == 0 {
            self.messages(of, None, records);
        } else {
            let above = self.path(of, open);
            let cell = self.find(of, CellKind::Path { site: visit.site, parent: above }, OTHER_PATHS);
            let bytes = self.messages(of, Some(cell), records);
            let sums = self.sums(cell);
            sums.number += visit.number;
            sums.bytes = sums.bytes.wrapping_add(bytes);
            match visit.took {
                None => sums.untimed += visit.number,
                Some(took) => self.time(of, (cell, above), took, visit.number),
            }
        }
        self.cells.publish(self.rounds);
    }

    /// Where visits of regions that are reduced are counted; they stay where they are as long as the thread lives.
    pub(crate) fn places(&mut self) -> *mut Place {
        self.places.as_mut_ptr()
    }

    /// The word that has the number of visits of `site` that were only counted beneath these regions; `None` if
    /// there is no place for it.
    pub(crate) fn counter(&mut self, of: (&Runtime, u32), open: &[Open], site: u32) -> Option<*mut u64> {
        let (runtime, thread) = of;
        let parent = self.path(of, open);
        let cell = self.cells.find(runtime, thread, CellKind::Path { site, parent })?;
        let tally = self.cells.find(runtime, thread, CellKind::Tally { cell })?;
        // SAFETY: it is the number of a cell, which never moves.
        Some(unsafe { self.cells.first_word(tally) })
    }

    /// Adds the time of visits of a cell beneath another one.
    fn time(&mut self, of: (&Runtime, u32), (cell, above): (u32, u32), took: u64, visits: u64) {
        let sums = self.sums(cell);
        // Of paths that share a cell the outermost has the time of those inside.
        sums.inclusive = sums.inclusive.wrapping_add(if cell == above { 0 } else { took });
        sums.exclusive = sums.exclusive.wrapping_add(took);
        sums.shortest = sums.shortest.min(took);
        sums.longest = sums.longest.max(took);
        sums.squares += took as f64 * took as f64;
        self.add_bin(of, (cell, Histogram::Durations, took), visits);
        if above != NOBODY {
            let sums = self.sums(above);
            sums.exclusive = sums.exclusive.wrapping_sub(took);
        }
    }

    /// The cell of the path of these regions; [`NOBODY`] if there are none.
    fn path(&mut self, of: (&Runtime, u32), open: &[Open]) -> u32 {
        let known = open.iter().zip(&self.sites[..self.depth]);
        let same = known.take_while(|(open, site)| open.site == **site).count();
        self.depth = same;
        let mut above = same.checked_sub(1).map_or(NOBODY, |idx| self.paths[idx]);
        for entry in open.iter().take(MAX_DEPTH).skip(same) {
            above = self.find(of, CellKind::Path { site: entry.site, parent: above }, OTHER_PATHS);
            (self.sites[self.depth], self.paths[self.depth]) = (entry.site, above);
            self.depth += 1;
        }
        above
    }

    fn find(&mut self, (runtime, thread): (&Runtime, u32), kind: CellKind, other: u32) -> u32 {
        self.cells.find(runtime, thread, kind).unwrap_or(other)
    }

    /// The sums of a cell in this round.
    fn sums(&mut self, cell: u32) -> &mut Sums {
        // SAFETY: whoever has a number has it from a cell, and these never move.
        unsafe { &mut *self.cells.sums(cell, self.rounds) }
    }

    fn add_bin(&mut self, (runtime, thread): (&Runtime, u32), value: (u32, Histogram, u64), times: u64) {
        // SAFETY: as above.
        unsafe { self.cells.add_bin((runtime, thread, self.rounds), value, times) };
    }

    /// Adds the messages among `records`, their sizes to the bins of `cell`. Bytes moved, by collective
    /// operations and files too.
    fn messages(&mut self, of: (&Runtime, u32), cell: Option<u32>, records: &[u8]) -> u64 {
        let (mut at, mut moved) = (0, 0_u64);
        let mut message: Option<Signature> = None;
        let mut collective = 0;
        while let Some(record) = Record::decode(records, &mut at) {
            let is_moved = match record {
                // Each stands before what it is of: slots have no other meaning here.
                Record::Signature { signature, .. } => {
                    message = Some(signature);
                    None
                }
                Record::CollectiveSignature { signature, .. } => {
                    collective = signature.bytes_out.saturating_add(signature.bytes_in);
                    None
                }
                Record::Send { .. }
                | Record::PostSend { .. }
                | Record::Receive { .. }
                | Record::Received { .. } => message.and_then(|message| self.message(of, &message)),
                Record::Collective { .. } | Record::PostCollective { .. } => Some(collective),
                _ => record.accessed(),
            };
            let Some(bytes) = is_moved else { continue };
            moved = moved.saturating_add(bytes);
            if let Some(cell) = cell {
                self.add_bin(of, (cell, Histogram::Sizes, bytes), 1);
            }
        }
        moved
    }

    /// Adds a message. Its bytes; `None` if it goes to nobody.
    fn message(&mut self, of: (&Runtime, u32), message: &Signature) -> Option<u64> {
        let Signature { direction, communicator, peer, bytes, .. } = *message;
        if peer == NO_PEER {
            return None;
        }
        let cell = match (direction, u32::try_from(peer)) {
            (Direction::Send, Ok(peer)) => {
                Some(self.find(of, CellKind::Sent { communicator, peer }, OTHER_MESSAGES))
            }
            // Where there is no place, the channels that share one say so.
            (Direction::Receive, _) => self.cells.find(of.0, of.1, CellKind::Received { communicator }),
            _ => None,
        };
        if let Some(cell) = cell {
            let sums = self.sums(cell);
            sums.number += 1;
            sums.bytes = sums.bytes.wrapping_add(bytes);
        }
        Some(bytes)
    }
}
