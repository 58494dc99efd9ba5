//! Adding up what a thread has recorded, when there is no room to keep it.
//!
//! The one idea: a thread at its limit goes on as before, in one last window. When that is full its records
//! are read as a reader would read them, their times are added to those of their call paths, and the window
//! begins anew. What an event costs is what it always costs, and the adding up, which works in the
//! processor's cache and has little to do for what is usual; the sums are those of a trace; and what is not
//! added up yet still stands in the window.
//!
//! How sums lie in the file, so that they are right whenever the process dies, is told in
//! [`marey_model::spool::sums`].
//!
//! Deliberately absent: what was recorded besides visits and messages (events and counters of the user's,
//! edges, states that need not nest).

mod beside;
mod cells;
mod courses;
mod parts;

use marey_model::spool::sums::{CellKind, NOBODY};
use marey_model::spool::{Direction, MAX_DEPTH, NO_PEER, Open, Record, SLOTS, Stream, Visits, get, op};

pub(crate) use self::beside::{Beside, Visit};
use self::cells::{Cells, Histogram, OTHER_MESSAGES, Sums};
use self::courses::Courses;
use self::parts::{NOWHERE, Parts, Trail, code_of};
use crate::runtime::Runtime;
use crate::sys;

/// Length of the window that is used again and again: large against the call paths that it adds to, which go
/// to the file for each window, and small enough for the processor's cache.
pub(crate) const WINDOW: usize = 128 << 10;
/// Bytes of records from which on a profile adds up: threads that are so short may be many, and fit into less.
pub(crate) const PROFILE_FROM: u64 = 16 << 10;

/// Adds up windows of records of a made-up thread of this process's recorder, each with the time that its
/// first record counts from, as if the thread had been in a profile. For tests, which know what comes out. In a
/// window that is longer than those of a profile no path may have more than 65 535 visits.
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
    here: Here,
    /// How many of the open regions are open [`AGAIN`].
    again: u32,
    /// Until then regions are entered and left and that is all: when the bucket ends, or 0 while there are
    /// regions open again.
    calm_until: u64,
    /// Takes what happens when no region is open.
    nobody: Sums,
    /// What the message slots of the window stand for.
    slots: [Slot; SLOTS],
    /// Bytes that go with the collective slots.
    collectives: [u64; SLOTS],
    open: [Frame; MAX_DEPTH],
    parts: Parts,
}

/// How far the records have been read. A copy of it is at hand, in registers, while they are.
#[derive(Clone, Copy)]
#[repr(C)]
struct Here {
    now: u64,
    /// Time of the innermost open region itself that is not added to its path yet.
    own: u64,
    trail: Trail,
    depth: u32,
    /// The place of the innermost open region's path.
    place: u32,
}

// A visit is two records of two bytes, so no round overflows a number of visits.
const _: () = assert!(WINDOW / 4 <= u16::MAX as usize);

/// Of an open region whose site is open further out, and whose cell does not tell both apart: its time is in
/// that one's.
const AGAIN: u32 = 1 << 31;

/// An open region, and what there was around it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Frame {
    began: u64,
    own: u64,
    trail: Trail,
    /// That of its site, see [`code_of`], or that and [`AGAIN`].
    code: u32,
    place: u32,
}

impl Frame {
    /// A region that is entered here.
    #[inline(always)]
    const fn new(around: Here, code: u32) -> Self {
        let Here { now, own, trail, place, .. } = around;
        Self { began: now, own, trail, code, place }
    }

    /// What it is like when it has been left.
    #[inline(always)]
    const fn around(&self, now: u64, depth: u32) -> Here {
        Here { now, own: self.own, trail: self.trail, depth, place: self.place }
    }

    /// Whether the region, whose path has this place, does not share it with the one around it, which has the time
    /// then.
    #[inline(always)]
    const fn is_outermost(&self, place: u32) -> bool {
        self.place != place
    }

    const fn is_of(&self, code: u32) -> bool {
        self.code & !AGAIN == code
    }
}

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
        if !summing.cells.begin(runtime, thread, ticks, Stream::Sums) {
            // SAFETY: as above.
            unsafe { sys::unmap(this.cast(), size_of::<Self>()) };
            return core::ptr::null_mut();
        }
        summing.courses.begin(ticks);
        summing.note_calm();
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
        self.again = 0;
        self.note_calm();
        self.here = Here { now: 0, own: 0, trail: Trail::NONE, depth: 0, place: NOWHERE };
        for &Open { site, ticks, .. } in open {
            self.here.now = ticks;
            self.enter_any(runtime, thread, site);
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
        let mut here = Here { now: ticks, ..self.here };
        let mut rest = records;
        while let Some(near) = rest.first_chunk() {
            if let Some(added) = self.add_usual(u32::from_le_bytes(*near), rest, here) {
                (here, rest) = added;
                continue;
            }
            self.here = here;
            let Some(behind) = self.add_any(runtime, thread, rest) else { break };
            (here, rest) = (self.here, behind);
        }
        self.here = here;
        while let Some(behind) = self.add_any(runtime, thread, rest) {
            rest = behind;
        }
        self.settle(runtime, thread);
        self.cells.publish(self.rounds);
    }

    /// Adds what nearly all records are, without making one: the first of these, or the first two. What it is like
    /// then, and those behind; `None` if there is more to do. `near` are the first four bytes.
    #[inline(always)]
    fn add_usual<'a>(&mut self, near: u32, records: &'a [u8], here: Here) -> Option<(Here, &'a [u8])> {
        let code = near & 0xff;
        if code == u32::from(op::LEAVE) {
            let (passed, behind) = delta(near, records)?;
            return Some((self.leave(passed, here)?, behind));
        }
        if code < u32::from(op::SHORT_ENTER) {
            return None;
        }
        if near & NEAR_VISIT == NEAR_VISIT_IS
            && let Some(after) = self.visit(near, code, here)
        {
            return Some((after, &records[4..]));
        }
        let (passed, behind) = delta(near, records)?;
        Some((self.enter(passed, code, here)?, behind))
    }

    /// Adds a visit with nothing inside, whose two records are these four bytes, without entering it. Where there is
    /// more to do it does nothing.
    #[inline(always)]
    fn visit(&mut self, near: u32, code: u32, here: Here) -> Option<Here> {
        let (before, took) = (u64::from(near >> 9 & 0x7f), near >> 25);
        let now = here.now.wrapping_add(before + u64::from(took));
        if now >= self.calm_until {
            return None;
        }
        let (_, part) = self.parts.entered_lately(here.trail.enter(code), code, here.place)?;
        part.visit_near(took);
        Some(Here { now, own: here.own.wrapping_add(before), ..here })
    }

    /// Enters a region. `None` if there is more to do, and then nothing has changed; the same with the next.
    #[inline(always)]
    fn enter(&mut self, delta: u64, code: u32, here: Here) -> Option<Here> {
        let now = here.now.wrapping_add(delta);
        if now >= self.calm_until {
            return None;
        }
        let trail = here.trail.enter(code);
        let (place, _) = self.parts.entered_lately(trail, code, here.place)?;
        let around = Here { now, own: here.own.wrapping_add(delta), ..here };
        *self.open.get_mut(here.depth as usize)? = Frame::new(around, code);
        Some(Here { now, own: 0, trail, depth: here.depth + 1, place })
    }

    #[inline(always)]
    fn leave(&mut self, delta: u64, here: Here) -> Option<Here> {
        let now = here.now.wrapping_add(delta);
        if now >= self.calm_until {
            return None;
        }
        let depth = here.depth.wrapping_sub(1);
        let frame = self.open.get(depth as usize)?;
        let took = now.wrapping_sub(frame.began);
        let inclusive = if frame.is_outermost(here.place) { took } else { 0 };
        self.parts.part(here.place).visit(took, here.own.wrapping_add(delta), inclusive);
        Some(frame.around(now, depth))
    }

    /// Charges time to the innermost open region.
    fn pass(&mut self, runtime: &Runtime, thread: u32, delta: u64) {
        self.here.now = self.here.now.wrapping_add(delta);
        self.here.own = self.here.own.wrapping_add(delta);
        if self.here.now >= self.courses.edge {
            self.cross(runtime, thread, delta);
        }
    }

    /// Adds everything to the cells.
    fn settle(&mut self, runtime: &Runtime, thread: u32) {
        let Here { own, place, depth, .. } = self.here;
        for frame in &mut self.open[..depth as usize] {
            let part = self.parts.part(frame.place);
            part.exclusive = part.exclusive.wrapping_add(core::mem::take(&mut frame.own));
        }
        let part = self.parts.part(place);
        part.exclusive = part.exclusive.wrapping_add(own);
        self.here.own = 0;
        self.parts.settle((runtime, thread, &mut self.cells), self.rounds);
    }

    /// Buckets have ended within the last `delta` ticks, which are the innermost region's, or before.
    #[cold]
    #[inline(never)]
    fn cross(&mut self, runtime: &Runtime, thread: u32, delta: u64) {
        self.settle(runtime, thread);
        let (now, cell) = (self.here.now, self.parts.cell(self.here.place));
        // From the first end to the next only the innermost region's time passes.
        let mut only = None;
        while now >= self.courses.edge {
            let beyond = delta.min(now - self.courses.edge);
            let sums = self.sums_mut(cell);
            sums.exclusive = sums.exclusive.wrapping_sub(beyond);
            self.courses.cross(runtime, thread, &self.cells, only);
            let sums = self.sums_mut(cell);
            sums.exclusive = sums.exclusive.wrapping_add(beyond);
            only = Some(cell);
        }
        self.note_calm();
    }

    fn note_calm(&mut self) {
        self.calm_until = if self.again == 0 { self.courses.edge } else { 0 };
    }

    /// Enters any region.
    fn enter_any(&mut self, runtime: &Runtime, thread: u32, site: u32) {
        let around = self.here;
        let (code, depth) = (code_of(site), around.depth as usize);
        let Some(frame) = self.open.get_mut(depth) else { return };
        *frame = Frame::new(around, code);
        let trail = around.trail.enter(code);
        let of = (runtime, thread, &mut self.cells);
        let (place, is_again) = self.parts.find(of, trail, (site, around.place));
        // Within a path that ended early, regions may be open that no cell above is of.
        if is_again || (self.again > 0 && self.open[..depth].iter().any(|frame| frame.is_of(code))) {
            self.open[depth].code |= AGAIN;
            self.again += 1;
        }
        self.here = Here { own: 0, trail, depth: around.depth + 1, place, ..around };
        self.note_calm();
    }

    /// Leaves any region.
    fn leave_any(&mut self) {
        let Here { now, own, place, depth, .. } = self.here;
        let Some(depth) = depth.checked_sub(1) else { return };
        let frame = self.open[depth as usize];
        let (took, cell) = (now.wrapping_sub(frame.began), self.parts.cell(place));
        let part = self.parts.part(place);
        if frame.code & AGAIN != 0 {
            part.exclusive = part.exclusive.wrapping_add(own);
            let sums = self.sums_mut(cell);
            sums.number += 1;
            sums.untimed += 1;
            self.again -= 1;
        } else {
            let inclusive = if frame.is_outermost(place) { took } else { 0 };
            part.visit(took, own, inclusive);
        }
        self.here = frame.around(now, depth);
        self.note_calm();
    }

    /// Adds any record, the first of these. Those behind it; `None` if there is none.
    #[inline(never)]
    fn add_any<'a>(&mut self, runtime: &Runtime, thread: u32, records: &'a [u8]) -> Option<&'a [u8]> {
        let mut at = 0;
        let record = Record::decode(records, &mut at)?;
        if let Some(delta) = record.delta() {
            self.pass(runtime, thread, delta);
        }
        let cell = self.parts.cell(self.here.place);
        match record {
            Record::Enter { site, .. } => self.enter_any(runtime, thread, site),
            Record::Leave { .. } => self.leave_any(),
            Record::Counted { site, visits } => {
                let (cell, _) = self.cells.path(runtime, thread, (site, cell));
                let sums = self.sums_mut(cell);
                sums.number += visits;
                sums.untimed += visits;
            }
            // What happens on a lane is no part of the thread's time: it is counted only.
            Record::LaneEnter { site, .. } | Record::LaneEarlier { site, is_enter: true, .. } => {
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
            | Record::Received { slot, .. } => self.message(runtime, thread, slot, cell),
            Record::Collective { slot } | Record::PostCollective { slot, .. } => {
                self.moved(runtime, thread, self.collectives[usize::from(slot)], cell);
            }
            _ => {
                if let Some(bytes) = record.accessed() {
                    self.moved(runtime, thread, bytes, cell);
                }
            }
        }
        records.get(at..)
    }

    /// The sums of a cell.
    fn sums_mut(&mut self, cell: u32) -> &mut Sums {
        if cell == NOBODY {
            return &mut self.nobody;
        }
        // SAFETY: whoever has a number has it from a cell, and cells never move.
        unsafe { &mut *self.cells.sums(cell, self.rounds) }
    }

    /// Polls in vain: what lies between them is of the region around them.
    fn folded(&mut self, runtime: &Runtime, thread: u32, site: u32, visits: &Visits) {
        let (cell, _) = self.cells.path(runtime, thread, (site, self.parts.cell(self.here.place)));
        let (mut span, mut inside) = (visits.span.max(visits.inside), visits.inside);
        while span > 0 {
            // Up to the end of the bucket its part, at least something.
            let part = span.min(self.courses.edge.saturating_sub(self.here.now).max(1));
            let within = u128::from(inside) * u128::from(part) / u128::from(span);
            let within = u64::try_from(within).unwrap_or(part);
            (span, inside) = (span - part, inside - within);
            let sums = self.sums_mut(cell);
            sums.exclusive = sums.exclusive.wrapping_add(within);
            self.here.now = self.here.now.wrapping_add(within);
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

    /// A message of the call that has cell `of`.
    fn message(&mut self, runtime: &Runtime, thread: u32, slot: u8, of: u32) {
        let Slot { direction, communicator, peer, bytes, mut cell } = self.slots[usize::from(slot)];
        if peer == NO_PEER {
            return;
        }
        self.moved(runtime, thread, bytes, of);
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

    /// Data moved by the call that has this cell.
    fn moved(&mut self, runtime: &Runtime, thread: u32, bytes: u64, cell: u32) {
        let sums = self.sums_mut(cell);
        sums.bytes = sums.bytes.wrapping_add(bytes);
        if cell != NOBODY {
            let in_round = (runtime, thread, self.rounds);
            // SAFETY: it is the number of a cell.
            unsafe { self.cells.add_bin(in_round, (cell, Histogram::Sizes, bytes), 1) };
        }
    }
}

/// Which bits of an enter tell that a leave follows at once, the times of both being one byte each.
const NEAR_VISIT: u32 = 0x01_ff_01_00;
const NEAR_VISIT_IS: u32 = 1 << 24 | (op::LEAVE as u32) << 16 | 1 << 8;

/// The time in the first record, which is all that follows its first byte, and the records behind it; `near` are the
/// first four bytes.
#[inline(always)]
fn delta(near: u32, records: &[u8]) -> Option<(u64, &[u8])> {
    // Most are one byte. That is foreseen, so that the next record does not wait for this one to be read.
    if near & 1 << 8 == 0 {
        return far_delta(records);
    }
    Some((u64::from(near >> 9 & 0x7f), &records[2..]))
}

#[inline(never)]
fn far_delta(records: &[u8]) -> Option<(u64, &[u8])> {
    let mut at = 1;
    let delta = get(records, &mut at)?;
    Some((delta, records.get(at..)?))
}
