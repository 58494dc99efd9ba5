//! What a thread does: windows of records, and the slots that short records name.
//!
//! The one idea: a window is begun with what is open, so each decodes alone; when it is full the next one is.

use marey_model::EdgeKind;
use marey_model::spool::{
    ALIGN, CollectiveSignature, Direction, Head, MAX_DEPTH, Open, Record, SLACK, SLOTS, Signature, Stream, at,
};
use rustc_hash::FxHashMap;

use super::Process;
use crate::Error;

/// Bytes of a window: with 10 000 threads that is 640 MiB, and one is written for each 20 000 events.
const WINDOW: usize = 64 << 10;
/// A record is no longer, but for fields of events.
const RECORD: usize = 128;
/// Bytes of an event's fields.
const MOST_FIELDS: usize = 16 << 10;
/// What numbers of messages lack where events are missing, more than any trace has.
const GAP: u64 = 1 << 40;
/// Regions that are open at a time; deeper ones are only counted.
const DEPTH: usize = MAX_DEPTH - 24;

/// One half of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Half {
    /// The communicator's number in the process.
    pub communicator: u32,
    /// The other side's rank in it.
    pub peer: i64,
    /// The tag.
    pub tag: i64,
    /// Size.
    pub bytes: u64,
}

/// One member's part in a collective.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    /// The communicator's number in the process.
    pub communicator: u32,
    /// The root's rank in it; −1 where there is none.
    pub root: i64,
    /// Bytes that this member gives.
    pub bytes_out: u64,
    /// Bytes that it gets.
    pub bytes_in: u64,
}

/// A thread on its way into windows.
#[derive(Debug, Default)]
pub(super) struct Thread {
    records: Vec<u8>,
    /// `None` before the first record.
    head: Option<Head>,
    open_at_head: Vec<Open>,
    open: Vec<Open>,
    /// Regions that are open beyond [`DEPTH`].
    deeper: u64,
    now: u64,
    sequence: u64,
    bytes_before: u64,
    serial: u64,
    late: u64,
    /// How often what came before was added up.
    pub(super) round: u64,
    messages: Slots<(Half, bool)>,
    collectives: Slots<Member>,
}

/// What the slots of a window stand for, and how many had passed the channel before the next one.
#[derive(Debug)]
struct Slots<T> {
    places: FxHashMap<T, u8>,
    slots: Vec<(T, u64)>,
    next: usize,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { places: FxHashMap::default(), slots: Vec::new(), next: 0 }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Slots<T> {
    /// The slot of something of which `number` came before; and whether it has to be said anew what it stands for.
    fn find(&mut self, what: T, number: u64, following: u64) -> (u8, bool) {
        if let Some(&place) = self.places.get(&what) {
            let slot = &mut self.slots[usize::from(place)];
            let is_known = slot.1 == number;
            slot.1 = following;
            return (place, !is_known);
        }
        let place = self.next % SLOTS;
        self.next += 1;
        match self.slots.get_mut(place) {
            Some(slot) => {
                self.places.remove(&slot.0);
                *slot = (what, following);
            }
            None => self.slots.push((what, following)),
        }
        // There are as many slots as a byte has values.
        let slot = u8::try_from(place).unwrap_or(u8::MAX);
        self.places.insert(what, slot);
        (slot, true)
    }

    fn clear(&mut self) {
        self.places.clear();
        self.slots.clear();
        self.next = 0;
    }
}

impl Process {
    /// A thread enters a site. Times of a thread that run backwards are counted, and taken for those before.
    ///
    /// # Errors
    /// If it cannot be written; so for all that follow.
    pub fn enter(&mut self, thread: usize, site: u32, ns: u64) -> Result<(), Error> {
        if DEPTH <= self.threads[thread].open.len() {
            self.threads[thread].deeper += 1;
            return self.record(thread, 0, Record::Counted { site, visits: 1 });
        }
        let delta = self.delta(thread, ns)?;
        let thread = &mut self.threads[thread];
        Record::Enter { site, delta }.encode(&mut thread.records);
        thread.open.push(Open { ticks: thread.now, site, reserved: 0 });
        Ok(())
    }

    /// A thread leaves its innermost region. False if none is open.
    pub fn leave(&mut self, thread: usize, ns: u64) -> Result<bool, Error> {
        let state = &mut self.threads[thread];
        if state.deeper > 0 {
            state.deeper -= 1;
            return Ok(true);
        }
        if state.open.is_empty() {
            return Ok(false);
        }
        let delta = self.delta(thread, ns)?;
        let thread = &mut self.threads[thread];
        Record::Leave { delta }.encode(&mut thread.records);
        thread.open.pop();
        Ok(true)
    }

    /// How many regions a thread has to leave until one of a site is left; `None` if none is open.
    pub fn levels_to(&self, thread: usize, site: u32) -> Option<usize> {
        self.threads[thread].open.iter().rev().position(|open| open.site == site).map(|at| at + 1)
    }

    /// Whether so many regions are open that the innermost are only counted.
    pub fn is_deep(&self, thread: usize) -> bool {
        self.threads[thread].deeper > 0
    }

    /// Says that events of a thread are missing here: what it had open has ended some time, and of no message or collective
    /// from now on it is known which one it is.
    pub fn gap(&mut self, thread: usize, ns: u64) -> Result<(), Error> {
        while self.leave(thread, ns)? {}
        let jump = |number: &mut u64| *number += GAP;
        self.channels.values_mut().for_each(jump);
        self.collectives.values_mut().for_each(jump);
        self.base += GAP;
        Ok(())
    }

    /// The site of a thread's innermost open region.
    pub fn innermost(&self, thread: usize) -> Option<u32> {
        self.threads[thread].open.last().map(|open| open.site)
    }

    /// A state begins that need not nest; `token` is unique in the process.
    pub fn begin_state(&mut self, thread: usize, site: u32, token: u64, ns: u64) -> Result<(), Error> {
        let delta = self.delta(thread, ns)?;
        self.push(thread, Record::Begin { site, token, delta });
        Ok(())
    }

    /// The state that began with `token` ends, perhaps on another thread.
    pub fn end_state(&mut self, thread: usize, token: u64, ns: u64) -> Result<(), Error> {
        let delta = self.delta(thread, ns)?;
        self.push(thread, Record::End { token, delta });
        Ok(())
    }

    /// What the thread did last had to wait for what another one did `back` ns before that.
    pub fn edge(&mut self, thread: usize, kind: EdgeKind, from: usize, back: u64) -> Result<(), Error> {
        let from = u32::try_from(from).unwrap_or(u32::MAX);
        self.record(thread, 0, Record::Edge { kind: kind as u8, thread: from, back, noun: 0 })
    }

    /// A counter has a value from now on.
    pub fn count(&mut self, thread: usize, counter: u32, ns: u64, value: f64) -> Result<(), Error> {
        let delta = self.delta(thread, ns)?;
        self.push(thread, Record::Counter { counter, delta, value });
        Ok(())
    }

    /// An event that describes itself; fields that are too long are cut off as a whole.
    pub fn event(&mut self, thread: usize, kind: u32, ns: u64, fields: &[u8]) -> Result<(), Error> {
        let fields = if fields.len() <= MOST_FIELDS { fields } else { &[] };
        self.room(thread, ns, fields.len())?;
        let delta = self.delta(thread, ns)?;
        self.push(thread, Record::Event { kind, delta, fields });
        Ok(())
    }

    /// A fact about the innermost open region.
    pub fn attribute(&mut self, thread: usize, kind: u32, fields: &[u8]) -> Result<(), Error> {
        let fields = if fields.len() <= MOST_FIELDS { fields } else { &[] };
        self.record(thread, fields.len(), Record::Attribute { kind, fields })
    }

    /// The open region sends, and is done with it when it is left.
    pub fn send(&mut self, thread: usize, half: Half) -> Result<(), Error> {
        let slot = self.message(thread, Direction::Send, half, true)?;
        self.push(thread, Record::Send { slot });
        Ok(())
    }

    /// The open region receives what is known by now.
    pub fn receive(&mut self, thread: usize, half: Half) -> Result<(), Error> {
        let slot = self.message(thread, Direction::Receive, half, true)?;
        self.push(thread, Record::Receive { slot });
        Ok(())
    }

    /// The open region begins to send; the number of that operation.
    pub fn post_send(&mut self, thread: usize, half: Half) -> Result<u64, Error> {
        let slot = self.message(thread, Direction::Send, half, true)?;
        let (serial, ahead) = self.next_serial(thread);
        self.push(thread, Record::PostSend { slot, ahead });
        Ok(serial)
    }

    /// The open region begins to receive, from where is known or a wildcard; the number of that operation.
    pub fn post_receive(&mut self, thread: usize, half: Half) -> Result<u64, Error> {
        let slot = self.message(thread, Direction::Receive, half, false)?;
        let (serial, ahead) = self.next_serial(thread);
        self.push(thread, Record::PostReceive { slot, ahead });
        Ok(serial)
    }

    /// The open region completes a send.
    pub fn sent(&mut self, thread: usize, serial: u64) -> Result<(), Error> {
        let back = self.back(thread, serial)?;
        self.push(thread, Record::Sent { back });
        Ok(())
    }

    /// The open region completes a receive, which was this.
    pub fn received(&mut self, thread: usize, serial: u64, half: Half) -> Result<(), Error> {
        let slot = self.message(thread, Direction::Receive, half, true)?;
        // No window may end behind the signature.
        let back = self.threads[thread].serial.wrapping_sub(serial).cast_signed();
        self.push(thread, Record::Received { back, slot });
        Ok(())
    }

    /// The open region finds an operation cancelled.
    pub fn cancelled(&mut self, thread: usize, serial: u64) -> Result<(), Error> {
        let back = self.back(thread, serial)?;
        self.push(thread, Record::Cancelled { back });
        Ok(())
    }

    /// The open region gives up the request of an operation, which goes on.
    pub fn freed(&mut self, thread: usize, serial: u64) -> Result<(), Error> {
        let back = self.back(thread, serial)?;
        self.push(thread, Record::Freed { back });
        Ok(())
    }

    /// The open region is a collective.
    pub fn collective(&mut self, thread: usize, member: Member) -> Result<(), Error> {
        let slot = self.membership(thread, member)?;
        self.push(thread, Record::Collective { slot });
        Ok(())
    }

    /// The open region begins a collective; the number of that operation.
    pub fn post_collective(&mut self, thread: usize, member: Member) -> Result<u64, Error> {
        let slot = self.membership(thread, member)?;
        let (serial, ahead) = self.next_serial(thread);
        self.push(thread, Record::PostCollective { slot, ahead });
        Ok(serial)
    }

    /// The open region completes a collective.
    pub fn collected(&mut self, thread: usize, serial: u64) -> Result<(), Error> {
        let back = self.back(thread, serial)?;
        self.push(thread, Record::Collected { back });
        Ok(())
    }

    fn next_serial(&mut self, thread: usize) -> (u64, i64) {
        self.serial += 1;
        let thread = &mut self.threads[thread];
        let ahead = self.serial.wrapping_sub(thread.serial).cast_signed();
        thread.serial = self.serial;
        (self.serial, ahead)
    }

    fn back(&mut self, thread: usize, serial: u64) -> Result<i64, Error> {
        // The number is told from what the window's head or a record in it says.
        self.room(thread, self.threads[thread].now, 0)?;
        Ok(self.threads[thread].serial.wrapping_sub(serial).cast_signed())
    }

    fn message(
        &mut self,
        thread: usize,
        direction: Direction,
        half: Half,
        counts: bool,
    ) -> Result<u8, Error> {
        self.room(thread, self.threads[thread].now, 0)?;
        let receives = direction == Direction::Receive;
        let Half { communicator, peer, tag, bytes } = half;
        let counter = self.channels.entry((receives, communicator, peer, tag)).or_insert(self.base);
        let number = *counter;
        *counter += u64::from(counts);
        let thread = &mut self.threads[thread];
        let (slot, is_new) = thread.messages.find((half, receives), number, *counter);
        if is_new {
            let (datatype, buffer_step, data) = (u32::MAX, 0, u32::MAX);
            let signature = Signature {
                direction,
                communicator,
                peer,
                tag,
                bytes,
                count: bytes,
                datatype,
                buffer_step,
                data,
                number,
            };
            Record::Signature { slot, signature }.encode(&mut thread.records);
        }
        Ok(slot)
    }

    fn membership(&mut self, thread: usize, member: Member) -> Result<u8, Error> {
        self.room(thread, self.threads[thread].now, 0)?;
        let Member { communicator, root, bytes_out, bytes_in } = member;
        let counter = self.collectives.entry(communicator).or_insert(self.base);
        let number = *counter;
        *counter += 1;
        let thread = &mut self.threads[thread];
        let (slot, is_new) = thread.collectives.find(member, number, *counter);
        if is_new {
            let signature =
                CollectiveSignature { communicator, root, bytes_out, bytes_in, data: [u32::MAX; 2], number };
            Record::CollectiveSignature { slot, signature }.encode(&mut thread.records);
        }
        Ok(slot)
    }

    /// Ticks since the thread's record before, which there is a window for.
    pub(super) fn delta(&mut self, thread: usize, ns: u64) -> Result<u64, Error> {
        self.room(thread, ns, 0)?;
        self.last = self.last.max(ns);
        let thread = &mut self.threads[thread];
        let delta = ns.checked_sub(thread.now);
        thread.late += u64::from(delta.is_none());
        thread.now = thread.now.max(ns);
        Ok(delta.unwrap_or(0))
    }

    /// A record for which there is room: behind its signature, or with the time since the one before, so that no window may
    /// end in between.
    pub(super) fn push(&mut self, thread: usize, record: Record<'_>) {
        record.encode(&mut self.threads[thread].records);
    }

    /// A record that depends on nothing before it.
    fn record(&mut self, thread: usize, fields: usize, record: Record<'_>) -> Result<(), Error> {
        self.room(thread, self.threads[thread].now, fields)?;
        record.encode(&mut self.threads[thread].records);
        Ok(())
    }

    /// Makes sure that the thread's window has room for a record with its signature and so many bytes of fields.
    fn room(&mut self, thread: usize, ns: u64, fields: usize) -> Result<(), Error> {
        let state = &self.threads[thread];
        let is_full = state.head.as_ref().is_none_or(|head| {
            let used = Head::records_at(state.open_at_head.len()) + state.records.len();
            used + 2 * RECORD + fields + SLACK > head.size as usize
        });
        if !is_full {
            return Ok(());
        }
        self.seal(thread)?;
        let first = self.threads[thread].sequence == 0;
        let now = if first { ns } else { self.threads[thread].now };
        let (process, triple) = (self.key, self.triple(now));
        let serial_number = u32::try_from(thread).unwrap_or(u32::MAX);
        let state = &mut self.threads[thread];
        state.now = now;
        let least = Head::records_at(state.open.len()) + fields + 4 * RECORD + SLACK;
        let size = WINDOW.max(least.next_multiple_of(ALIGN));
        state.head = Some(Head {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            process,
            thread: serial_number,
            stream: Stream::Events,
            sequence: state.sequence,
            ticks: now,
            triple,
            bytes_before: state.bytes_before,
            serial: state.serial,
            buffer: 0,
            round: state.round,
            is_summing: false,
        });
        state.sequence += 1;
        state.open_at_head.clone_from(&state.open);
        state.messages.clear();
        state.collectives.clear();
        Ok(())
    }

    /// Writes the thread's window, if it has one.
    pub(super) fn seal(&mut self, thread: usize) -> Result<(), Error> {
        let state = &mut self.threads[thread];
        let Some(mut head) = state.head.take() else { return Ok(()) };
        let begin = Head::records_at(state.open_at_head.len());
        let end = begin + state.records.len();
        // As long as it has to be: the last window of a thread may be short.
        head.size = u32::try_from((end + SLACK).next_multiple_of(ALIGN)).unwrap_or(u32::MAX);
        let mut window = vec![0; end];
        head.encode_into(&state.open_at_head, &mut window);
        window[begin..].copy_from_slice(&state.records);
        window[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
        window[at::LATE..at::LATE + 8].copy_from_slice(&state.late.to_le_bytes());
        state.bytes_before += state.records.len() as u64;
        state.records.clear();
        window.resize(head.size as usize, 0);
        self.write_window(&window)
    }
}
