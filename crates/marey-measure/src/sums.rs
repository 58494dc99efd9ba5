//! Adding up what a thread has recorded, when there is no room to keep it.
//!
//! The one idea: a thread at its limit goes on as before, in one last window. When that is full its records
//! are read as a reader would read them, their times are added to those of their call paths, and the window
//! begins anew. What an event costs is what it always costs, and the adding up, which works in the
//! processor's cache; the sums are those of a trace; and what is not added up yet still stands in the window.
//!
//! How sums lie in the file, so that they are right whenever the process dies, is told in
//! [`marey_model::spool::sums`].
//!
//! Deliberately absent: what was recorded besides visits and messages (events and counters of the user's,
//! edges, states that need not nest).

mod beside;
mod cells;
mod courses;
mod windows;

use marey_model::spool::sums::{BINS, CELL_BINS, CellKind, NOBODY, bin};
use marey_model::spool::{Direction, MAX_DEPTH, NO_PEER, Open, Record, SLOTS, Stream, Visits, get, op};

pub(crate) use self::beside::{Beside, Visit};
use self::cells::{Cells, Histogram, MAX_CELLS, OTHER_MESSAGES, Sums};
use self::courses::Courses;
use crate::runtime::Runtime;
use crate::sys;

/// Length of the window that is used again and again: large against the call paths that it adds to, which are
/// copied once a window, and small enough for the processor's cache.
pub(crate) const WINDOW: usize = 64 << 10;
/// Bytes of records from which on a profile adds up: threads that are so short may be many, and fit into less.
pub(crate) const PROFILE_FROM: u64 = 16 << 10;

/// Adds up windows of records of a made-up thread of this process's recorder, each with the time that its
/// first record counts from, as if the thread had been in a profile. For tests, which know what comes out.
#[doc(hidden)]
pub fn add_up(thread: u32, windows: &[(u64, &[u8])]) -> bool {
    let (Some(runtime), Some(&(ticks, _))) = (crate::current_runtime(), windows.first()) else {
        return false;
    };
    // SAFETY: what `begin` gives is null or nobody else's.
    let Some(summing) = (unsafe { Summing::begin(runtime, thread, ticks).as_mut() }) else {
        return false;
    };
    for (round, &(ticks, records)) in (0..).zip(windows) {
        summing.add(runtime, thread, records, (round, ticks));
    }
    true
}

/// What a thread's records are added to.
#[repr(C)]
pub(crate) struct Summing {
    cells: Cells,
    courses: Courses,
    /// How many rounds there will have been after this one.
    rounds: u64,
    now: u64,
    depth: u32,
    /// How many of the open regions are open [`AGAIN`].
    again: u32,
    /// Cell of the innermost open region; [`NOBODY`] if none is open.
    cell: u32,
    /// Its sums; null if they have not been looked for in this window.
    sums: *mut Sums,
    /// Takes the time when no region is open.
    nobody: Sums,
    /// Call paths that were entered lately, at a place that follows from the first two numbers.
    lately: [Lately; LATELY],
    /// What the message slots of the window stand for.
    slots: [Slot; SLOTS],
    /// Bytes that go with the collective slots.
    collectives: [u64; SLOTS],
    open: [Frame; MAX_DEPTH],
    /// Visits of each cell in this round by their durations, which go to its bins at the end.
    bins: [[u16; BINS]; MAX_CELLS],
    /// Cells that have been asked for in this round.
    touched: [u32; MAX_CELLS],
    touched_len: usize,
}

// A visit is two records of two bytes, so no round overflows a bin.
const _: () = assert!(WINDOW / 4 <= u16::MAX as usize);

/// Of an open region whose site is open further out, and whose cell does not tell both apart: its time is in
/// that one's.
const AGAIN: u32 = 1 << 31;

/// An open region, and the cell and the sums of the path above it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Frame {
    began: u64,
    above: u32,
    /// Its site, or that and [`AGAIN`].
    site: u32,
    sums_above: *mut Sums,
}

/// Which cell the path of a site beneath that of another cell has, and its sums in a round.
#[derive(Clone, Copy)]
#[repr(C)]
struct Lately {
    parent: u32,
    site: u32,
    cell: u32,
    /// It is one of the cells above.
    is_again: bool,
    rounds: u64,
    sums: *mut Sums,
}

const LATELY: usize = 1 << 11;

#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    direction: u32,
    communicator: u32,
    peer: i64,
    bytes: u64,
    /// The cell of its messages, which is looked for when there is one; until then 0, which is of call paths.
    cell: u32,
}

impl Summing {
    /// Makes sums for a thread, at `ticks`. Null if there is no memory or no room for them.
    pub(crate) fn begin(runtime: &Runtime, thread: u32, ticks: u64) -> *mut Self {
        let Some(this) = sys::map_zeros(size_of::<Self>()) else { return core::ptr::null_mut() };
        let this: *mut Self = this.cast();
        // SAFETY: zeros are a value of every field, and nobody else knows the memory.
        let summing = unsafe { &mut *this };
        summing.cell = NOBODY;
        if !summing.cells.begin(runtime, thread, ticks, Stream::Sums) {
            // SAFETY: as above.
            unsafe { sys::unmap(this.cast(), size_of::<Self>()) };
            return core::ptr::null_mut();
        }
        summing.courses.begin(ticks);
        this
    }

    /// Gives the memory back; what was added up is in the file.
    pub(crate) fn end(&mut self) {
        self.cells.unmap();
        self.courses.unmap();
        let this: *mut Self = self;
        // SAFETY: `begin` has mapped it, and nobody uses it after this.
        unsafe { sys::unmap(this.cast(), size_of::<Self>()) };
    }

    /// From now on adds up, with these regions open, which were entered while nothing was added up.
    pub(crate) fn go_on(&mut self, runtime: &Runtime, thread: u32, open: &[Open]) {
        (self.depth, self.again, self.cell) = (0, 0, NOBODY);
        for &Open { site, ticks: began, .. } in open {
            let (above, sums_above) = (self.cell, core::ptr::null_mut());
            self.open[self.depth as usize] = Frame { began, above, site, sums_above };
            self.depth += 1;
            let (cell, is_again) = self.cells.path(runtime, thread, (site, above));
            self.cell = cell;
            self.note_again(site, is_again);
        }
    }

    /// Adds up the records of a window that began at `ticks`, after so many rounds.
    pub(crate) fn add(
        &mut self,
        runtime: &Runtime,
        thread: u32,
        records: &[u8],
        (rounds, ticks): (u64, u64),
    ) {
        self.rounds = rounds + 1;
        self.now = ticks;
        self.sums = core::ptr::null_mut();
        let depth = self.depth as usize;
        self.open[..depth].iter_mut().for_each(|frame| frame.sums_above = core::ptr::null_mut());
        let mut at = 0;
        while let Some(&opcode) = records.get(at) {
            let mut next = at + 1;
            // What nearly all records are, without making one.
            if opcode >= op::SHORT_ENTER || opcode == op::LEAVE {
                let Some(delta) = get(records, &mut next) else { break };
                at = next;
                self.pass(runtime, thread, delta);
                match opcode {
                    op::LEAVE => self.leave(),
                    site => self.enter(runtime, thread, u32::from(site - op::SHORT_ENTER)),
                }
            } else {
                let Some(record) = Record::decode(records, &mut at) else { break };
                self.rare(runtime, thread, record);
            }
        }
        self.add_bins(runtime, thread);
        self.cells.publish(self.rounds);
    }

    /// Adds the durations of the round's visits to the bins of their call paths.
    fn add_bins(&mut self, runtime: &Runtime, thread: u32) {
        let in_round = (runtime, thread, self.rounds);
        let touched = &self.touched[..core::mem::take(&mut self.touched_len)];
        for &number in touched {
            let parts = self.bins[number as usize].as_chunks_mut::<CELL_BINS>().0;
            for (part, bins) in parts.iter_mut().enumerate() {
                if *bins != [0; CELL_BINS] {
                    let visits = core::mem::take(bins).map(u64::from);
                    // SAFETY: it is the number of a cell, and there are so many parts.
                    unsafe { self.cells.add_bins(in_round, (number, Histogram::Durations, part), visits) };
                }
            }
        }
    }

    /// Charges time to the innermost open region.
    #[inline(always)]
    fn pass(&mut self, runtime: &Runtime, thread: u32, delta: u64) {
        self.now = self.now.wrapping_add(delta);
        let sums = self.innermost();
        sums.exclusive = sums.exclusive.wrapping_add(delta);
        if self.now >= self.courses.edge {
            self.cross(runtime, thread, delta);
        }
    }

    /// Buckets have ended within the last `delta` ticks, which have been charged, or before.
    #[cold]
    fn cross(&mut self, runtime: &Runtime, thread: u32, delta: u64) {
        // From the first end to the next only the innermost region's time passes.
        let mut only = None;
        while self.now >= self.courses.edge {
            let beyond = delta.min(self.now - self.courses.edge);
            let sums = self.innermost();
            sums.exclusive = sums.exclusive.wrapping_sub(beyond);
            self.courses.cross(runtime, thread, &self.cells, only);
            let sums = self.innermost();
            sums.exclusive = sums.exclusive.wrapping_add(beyond);
            only = Some(self.cell);
        }
    }

    /// The sums of the innermost open region's path.
    #[inline(always)]
    fn innermost(&mut self) -> &mut Sums {
        if self.sums.is_null() {
            self.sums = self.sums_of(self.cell);
        }
        // SAFETY: cells never move, and neither do we.
        unsafe { &mut *self.sums }
    }

    #[inline(never)]
    fn sums_of(&mut self, cell: u32) -> *mut Sums {
        if cell == NOBODY {
            return &raw mut self.nobody;
        }
        // SAFETY: whoever has a number has it from a cell.
        let (sums, is_first) = unsafe { self.cells.sums(cell, self.rounds) };
        if is_first && let Some(place) = self.touched.get_mut(self.touched_len) {
            *place = cell;
            self.touched_len += 1;
        }
        sums
    }

    #[inline(always)]
    fn enter(&mut self, runtime: &Runtime, thread: u32, site: u32) {
        let Some(frame) = self.open.get_mut(self.depth as usize) else { return };
        *frame = Frame { began: self.now, above: self.cell, site, sums_above: self.sums };
        self.depth += 1;
        let hash = self.cell.wrapping_mul(0x9e37_79b1) ^ site.wrapping_mul(0x85eb_ca6b);
        let place = (hash >> 16) as usize % LATELY;
        let lately = &self.lately[place];
        let is_it = lately.parent == self.cell && lately.site == site && lately.rounds == self.rounds;
        if is_it && !lately.is_again && self.again == 0 {
            (self.cell, self.sums) = (lately.cell, lately.sums);
            return;
        }
        self.enter_slowly(runtime, thread, site, place);
    }

    #[inline(never)]
    fn enter_slowly(&mut self, runtime: &Runtime, thread: u32, site: u32, place: usize) {
        let (parent, rounds) = (self.cell, self.rounds);
        let lately = &self.lately[place];
        if lately.parent != parent || lately.site != site || lately.rounds != rounds {
            let (cell, is_again) = self.cells.path(runtime, thread, (site, parent));
            let sums = self.sums_of(cell);
            self.lately[place] = Lately { parent, site, rounds, cell, is_again, sums };
        }
        let Lately { cell, is_again, sums, .. } = self.lately[place];
        (self.cell, self.sums) = (cell, sums);
        self.note_again(site, is_again);
    }

    /// Notes whether the region that was entered last is open further out, if its cell does not say so.
    fn note_again(&mut self, site: u32, is_again: bool) {
        let Some((last, around)) = self.open[..self.depth as usize].split_last_mut() else { return };
        // Within a path that ended early, regions may be open that no cell above is of.
        if is_again || (self.again > 0 && around.iter().any(|frame| frame.site & !AGAIN == site)) {
            last.site |= AGAIN;
            self.again += 1;
        }
    }

    /// The cell of a region beneath the innermost one.
    fn path(&mut self, runtime: &Runtime, thread: u32, site: u32) -> u32 {
        self.cells.path(runtime, thread, (site, self.cell)).0
    }

    #[inline(always)]
    fn leave(&mut self) {
        let Some(depth) = self.depth.checked_sub(1) else { return };
        let Frame { began, above, site, sums_above } = self.open[depth as usize];
        let (took, cell) = (self.now.wrapping_sub(began), self.cell);
        let sums = self.innermost();
        sums.number += 1;
        if site & AGAIN != 0 {
            sums.untimed += 1;
            self.again -= 1;
            self.depth = depth;
            (self.cell, self.sums) = (above, sums_above);
            return;
        }
        // Of paths that share a cell the outermost has the time of those inside.
        sums.inclusive = sums.inclusive.wrapping_add(if cell == above { 0 } else { took });
        sums.shortest = sums.shortest.min(took);
        sums.longest = sums.longest.max(took);
        // Signed, which takes one instruction; no visit takes 2⁶³ ticks.
        let time = took.cast_signed() as f64;
        sums.squares += time * time;
        if let Some(bins) = self.bins.get_mut(cell as usize) {
            let visits = &mut bins[bin(took)];
            *visits = visits.wrapping_add(1);
        }
        self.depth = depth;
        (self.cell, self.sums) = (above, sums_above);
    }

    /// Any record but a leave, and an enter of a site that has an opcode of its own.
    #[inline(never)]
    fn rare(&mut self, runtime: &Runtime, thread: u32, record: Record<'_>) {
        if let Some(delta) = record.delta() {
            self.pass(runtime, thread, delta);
        }
        match record {
            Record::Enter { site, .. } => self.enter(runtime, thread, site),
            Record::Counted { site, visits } => {
                let cell = self.path(runtime, thread, site);
                let sums = self.sums_mut(cell);
                sums.number += visits;
                sums.untimed += visits;
            }
            // What happens on a lane is no part of the thread's time: it is counted only.
            Record::LaneEnter { site, .. } => {
                let (cell, _) = self.cells.path(runtime, thread, (site, NOBODY));
                let sums = self.sums_mut(cell);
                sums.number += 1;
                sums.untimed += 1;
            }
            Record::Folded { site, visits, .. } => self.folded(runtime, thread, site, &visits),
            Record::Signature { slot, signature } => {
                self.slots[usize::from(slot)] = Slot {
                    direction: signature.direction as u32,
                    communicator: signature.communicator,
                    peer: signature.peer,
                    bytes: signature.bytes,
                    cell: 0,
                };
            }
            Record::CollectiveSignature { slot, signature } => {
                self.collectives[usize::from(slot)] = signature.bytes_out.saturating_add(signature.bytes_in);
            }
            Record::Send { slot }
            | Record::PostSend { slot, .. }
            | Record::Receive { slot }
            | Record::Received { slot, .. } => self.message(runtime, thread, slot),
            Record::Collective { slot } | Record::PostCollective { slot, .. } => {
                self.moved(runtime, thread, self.collectives[usize::from(slot)]);
            }
            Record::Rma { bytes, .. } | Record::Io { bytes, .. } => self.moved(runtime, thread, bytes),
            _ => {}
        }
    }

    fn sums_mut(&mut self, cell: u32) -> &mut Sums {
        // SAFETY: cells never move, and neither do we.
        unsafe { &mut *self.sums_of(cell) }
    }

    /// Polls in vain: what lies between them is of the region around them.
    fn folded(&mut self, runtime: &Runtime, thread: u32, site: u32, visits: &Visits) {
        let cell = self.path(runtime, thread, site);
        let (mut span, mut inside) = (visits.span.max(visits.inside), visits.inside);
        while span > 0 {
            // Up to the end of the bucket its part, at least something.
            let part = span.min(self.courses.edge.saturating_sub(self.now).max(1));
            let within = u128::from(inside) * u128::from(part) / u128::from(span);
            let within = u64::try_from(within).unwrap_or(part);
            (span, inside) = (span - part, inside - within);
            let sums = self.sums_mut(cell);
            sums.exclusive = sums.exclusive.wrapping_add(within);
            self.now = self.now.wrapping_add(within);
            self.pass(runtime, thread, part - within);
        }
        let sums = self.sums_mut(cell);
        sums.number += visits.number;
        sums.inclusive = sums.inclusive.wrapping_add(visits.inside);
        sums.shortest = sums.shortest.min(visits.shortest);
        sums.longest = sums.longest.max(visits.longest);
        sums.squares += visits.squares;
        for (took, number) in visits.durations() {
            let in_round = (runtime, thread, self.rounds);
            // SAFETY: it is the number of a cell.
            unsafe { self.cells.add_bin(in_round, (cell, Histogram::Durations, took), number) };
        }
    }

    fn message(&mut self, runtime: &Runtime, thread: u32, slot: u8) {
        let Slot { direction, communicator, peer, bytes, mut cell } = self.slots[usize::from(slot)];
        if peer == NO_PEER {
            return;
        }
        self.moved(runtime, thread, bytes);
        if cell == 0 {
            let is_sent = direction == Direction::Send as u32;
            let found = match u32::try_from(peer) {
                Ok(peer) if is_sent => {
                    let found = self.cells.find(runtime, thread, CellKind::Sent { communicator, peer });
                    Some(found.unwrap_or(OTHER_MESSAGES))
                }
                _ if is_sent => None,
                // Where there is no place, the channels that share one say so.
                _ => self.cells.find(runtime, thread, CellKind::Received { communicator }),
            };
            let Some(found) = found else { return };
            self.slots[usize::from(slot)].cell = found;
            cell = found;
        }
        let sums = self.sums_mut(cell);
        sums.number += 1;
        sums.bytes = sums.bytes.wrapping_add(bytes);
    }

    /// Data moved by the innermost open call.
    fn moved(&mut self, runtime: &Runtime, thread: u32, bytes: u64) {
        let sums = self.innermost();
        sums.bytes = sums.bytes.wrapping_add(bytes);
        if self.cell != NOBODY {
            let in_round = (runtime, thread, self.rounds);
            // SAFETY: it is the number of a cell.
            unsafe { self.cells.add_bin(in_round, (self.cell, Histogram::Sizes, bytes), 1) };
        }
    }
}
