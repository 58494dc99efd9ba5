//! What a thread leaves in its process's events file: windows, and in them the slots that short records
//! name.
//!
//! The one idea: records are encoded as they come; when a window is full a new one begins with the open
//! stack, as a recorder does it, so that tests with small windows see every kind of boundary.
//!
//! What the records are is for [`super::acts`] to say.

use marey_model::spool::{
    ALIGN, CollectiveSignature, Direction, Head, Open, Record, SLACK, Signature, Stream, at,
};

use super::{Message, Process};

/// A thread on its way into windows.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// Its serial number, where it is not its place, and what its windows hold.
    pub(super) identity: Option<(u32, Stream)>,
    windows: Vec<Vec<u8>>,
    pub(super) records: Vec<u8>,
    head: Option<Head>,
    open_at_head: Vec<Open>,
    pub(super) open: Vec<Open>,
    pub(super) now: u64,
    bytes_before: u64,
    pub(super) serial: u64,
    messages: Vec<(Message, bool, u64)>,
    collectives: Vec<(CollectiveSignature, u64)>,
}

impl Process {
    /// Makes sure that a thread has a window with room for a record.
    pub(super) fn room(&mut self, thread: usize, ticks: u64) {
        while self.threads.len() <= thread {
            self.threads.push(Thread::default());
        }
        let full = self.threads[thread].head.as_ref().is_none_or(|head| {
            let used = Head::records_at(self.threads[thread].open_at_head.len())
                + self.threads[thread].records.len();
            used + SLACK > head.size as usize
        });
        if !full {
            return;
        }
        let triple = self.triple(self.threads[thread].now.max(ticks));
        let (key, size) = (self.key, u32::try_from(self.window_len).unwrap_or(u32::MAX));
        let state = &mut self.threads[thread];
        let place = (u32::try_from(thread).unwrap_or(u32::MAX), Stream::Events);
        let (serial_number, stream) = state.identity.unwrap_or(place);
        if state.head.is_some() {
            let bytes = state.window();
            state.bytes_before += state.records.len() as u64;
            state.windows.push(bytes);
            state.records.clear();
        } else {
            state.now = ticks;
        }
        state.head = Some(Head {
            size,
            process: key,
            thread: serial_number,
            stream,
            sequence: state.windows.len() as u64,
            ticks: state.now,
            triple,
            bytes_before: state.bytes_before,
            serial: state.serial,
            buffer: 0,
            round: 0,
            is_summing: false,
        });
        state.open_at_head = state.open.clone();
        state.messages.clear();
        state.collectives.clear();
    }

    /// A window of bytes as they are, of a thread that has no others but such.
    pub fn raw_window(&mut self, thread: usize, ticks: u64, sequence: u64, records: Vec<u8>) {
        while self.threads.len() <= thread {
            self.threads.push(Thread::default());
        }
        let size = (Head::records_at(0) + records.len() + SLACK).next_multiple_of(ALIGN);
        let triple = self.triple(ticks);
        let state = &mut self.threads[thread];
        let head = Head {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            process: self.key,
            thread: u32::try_from(thread).unwrap_or(u32::MAX),
            stream: Stream::Events,
            sequence,
            ticks,
            triple,
            bytes_before: state.bytes_before,
            serial: 0,
            buffer: 0,
            round: 0,
            is_summing: false,
        };
        state.windows.push(window(&head, &[], &records));
    }

    /// The windows of all threads, in the order of (sequence, thread).
    pub fn event_windows(&self) -> Vec<Vec<u8>> {
        let mut windows = Vec::new();
        for (idx, thread) in self.threads.iter().enumerate() {
            let last = thread.head.as_ref().map(|_| thread.window());
            windows.extend((0..).zip(thread.windows.iter().cloned().chain(last)).map(|(n, w)| (n, idx, w)));
        }
        windows.sort_by_key(|(sequence, thread, _)| (*sequence, *thread));
        windows.into_iter().map(|(_, _, window): (u64, usize, _)| window).collect()
    }

    pub(super) fn next_serial(&mut self, thread: usize) -> (u64, i64) {
        self.serials += 1;
        let thread = &mut self.threads[thread];
        let ahead = self.serials.wrapping_sub(thread.serial).cast_signed();
        thread.serial = self.serials;
        (self.serials, ahead)
    }

    pub(super) fn back(&mut self, thread: usize, serial: u64) -> i64 {
        let now = self.threads[thread].now;
        self.room(thread, now);
        self.threads[thread].serial.wrapping_sub(serial).cast_signed()
    }

    pub(super) fn slot(&mut self, thread: usize, direction: Direction, message: Message, counts: bool) -> u8 {
        let now = self.threads[thread].now;
        self.room(thread, now);
        let receives = direction == Direction::Receive;
        let counter =
            self.channels.entry((receives, message.communicator, message.peer, message.tag)).or_default();
        let number = *counter;
        *counter += u64::from(counts);
        let next = *counter;
        let thread = &mut self.threads[thread];
        let place = thread.messages.iter().position(|slot| slot.0 == message && slot.1 == receives);
        if let Some(place) = place
            && thread.messages[place].2 == number
        {
            thread.messages[place].2 = next;
            return u8::try_from(place).expect("slots are below 256");
        }
        let place = place.unwrap_or(thread.messages.len() % 256);
        if place == thread.messages.len() {
            thread.messages.push((message, receives, next));
        } else {
            thread.messages[place] = (message, receives, next);
        }
        let slot = u8::try_from(place).expect("slots are below 256");
        let signature = Signature {
            direction,
            communicator: message.communicator,
            peer: message.peer,
            tag: message.tag,
            bytes: message.bytes,
            count: message.bytes,
            datatype: 0,
            buffer_step: 0,
            data: u32::MAX,
            number,
        };
        Record::Signature { slot, signature }.encode(&mut thread.records);
        slot
    }

    pub(super) fn collective_slot(
        &mut self,
        thread: usize,
        communicator: u32,
        root: i64,
        out: u64,
        into: u64,
    ) -> u8 {
        let now = self.threads[thread].now;
        self.room(thread, now);
        let counter = self.collectives.entry(communicator).or_default();
        let number = *counter;
        *counter += 1;
        let signature = CollectiveSignature {
            communicator,
            root,
            bytes_out: out,
            bytes_in: into,
            data: [u32::MAX; 2],
            number: 0,
        };
        let thread = &mut self.threads[thread];
        let place = thread.collectives.iter().position(|slot| slot.0 == signature);
        if let Some(place) = place
            && thread.collectives[place].1 == number
        {
            thread.collectives[place].1 = number + 1;
            return u8::try_from(place).expect("slots are below 256");
        }
        let place = place.unwrap_or(thread.collectives.len() % 256);
        if place == thread.collectives.len() {
            thread.collectives.push((signature, number + 1));
        } else {
            thread.collectives[place] = (signature, number + 1);
        }
        let slot = u8::try_from(place).expect("slots are below 256");
        let signature = CollectiveSignature { number, ..signature };
        Record::CollectiveSignature { slot, signature }.encode(&mut thread.records);
        slot
    }
}

impl Thread {
    fn window(&self) -> Vec<u8> {
        window(self.head.as_ref().expect("called with a head"), &self.open_at_head, &self.records)
    }
}

/// A whole window.
pub(super) fn window(head: &Head, open: &[Open], records: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; head.size as usize];
    let begin = head.encode_into(open, &mut bytes);
    let end = begin + records.len();
    bytes[begin..end].copy_from_slice(records);
    bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
    bytes
}
