//! What a thread of a made-up process does: enter and leave, send and receive, begin and end.
//!
//! The one idea: a test says what a program did, in the order in which it did it, and numbers of
//! messages, serials and slots follow from that as they do in a recorder.
//!
//! How it is put into windows is told in [`super::stream`].

use marey_model::spool::{Direction, Open, Record, Stream, Visits};

use super::Process;
use super::stream::Thread;

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Message {
    /// The communicator's number in the process.
    pub communicator: u32,
    /// The other side's rank, or a wildcard.
    pub peer: i64,
    /// The tag, or a wildcard.
    pub tag: i64,
    /// Size.
    pub bytes: u64,
}

impl Process {
    /// Thread `thread` enters a site.
    pub fn enter(&mut self, thread: usize, site: u32, ticks: u64) {
        self.timed(thread, ticks, |delta| Record::Enter { site, delta });
        self.threads[thread].open.push(Open { ticks, site, reserved: 0 });
    }

    /// Thread `thread` leaves its innermost region.
    pub fn leave(&mut self, thread: usize, ticks: u64) {
        self.timed(thread, ticks, |delta| Record::Leave { delta });
        self.threads[thread].open.pop();
    }

    /// A state begins that need not nest; its token.
    pub fn begin(&mut self, thread: usize, site: u32, ticks: u64) -> u64 {
        self.tokens += 1;
        let token = self.tokens;
        self.timed(thread, ticks, |delta| Record::Begin { site, token, delta });
        token
    }

    /// It ends.
    pub fn end_of(&mut self, thread: usize, token: u64, ticks: u64) {
        self.timed(thread, ticks, |delta| Record::End { token, delta });
    }

    /// Thread `thread` visits a site again and again, from `ticks` on; the recorder has folded that.
    pub fn polls(&mut self, thread: usize, site: u32, ticks: u64, visits: Visits) {
        self.timed(thread, ticks, |delta| Record::Folded { site, delta, visits });
        self.threads[thread].now += visits.span;
    }

    /// Any record with a time.
    pub fn timed(&mut self, thread: usize, ticks: u64, record: impl FnOnce(u64) -> Record<'static>) {
        self.room(thread, ticks);
        let thread = &mut self.threads[thread];
        let delta = ticks - thread.now;
        thread.now = ticks;
        record(delta).encode(&mut thread.records);
    }

    /// Any record without a time.
    pub fn untimed(&mut self, thread: usize, record: Record<'_>) {
        let now = self.threads.get(thread).map_or(0, |thread| thread.now);
        self.room(thread, now);
        record.encode(&mut self.threads[thread].records);
    }

    /// The open interval sends, blocking.
    pub fn send(&mut self, thread: usize, message: Message) {
        let slot = self.slot(thread, Direction::Send, message, true);
        self.untimed(thread, Record::Send { slot });
    }

    /// The open interval receives, blocking; `message` is what arrived.
    pub fn receive(&mut self, thread: usize, message: Message) {
        let slot = self.slot(thread, Direction::Receive, message, true);
        self.untimed(thread, Record::Receive { slot });
    }

    /// The open interval posts a send; its serial number.
    pub fn post_send(&mut self, thread: usize, message: Message) -> u64 {
        let slot = self.slot(thread, Direction::Send, message, true);
        let (serial, ahead) = self.next_serial(thread);
        self.untimed(thread, Record::PostSend { slot, ahead });
        serial
    }

    /// The open interval posts a receive; its serial number.
    pub fn post_receive(&mut self, thread: usize, message: Message) -> u64 {
        let slot = self.slot(thread, Direction::Receive, message, false);
        let (serial, ahead) = self.next_serial(thread);
        self.untimed(thread, Record::PostReceive { slot, ahead });
        serial
    }

    /// The open interval completes a send.
    pub fn sent(&mut self, thread: usize, serial: u64) {
        let back = self.back(thread, serial);
        self.untimed(thread, Record::Sent { back });
    }

    /// The open interval completes a receive; `message` is what arrived.
    pub fn received(&mut self, thread: usize, serial: u64, message: Message) {
        let slot = self.slot(thread, Direction::Receive, message, true);
        let back = self.back(thread, serial);
        self.untimed(thread, Record::Received { back, slot });
    }

    /// The open interval frees the request of an operation that is under way.
    pub fn freed(&mut self, thread: usize, serial: u64) {
        let back = self.back(thread, serial);
        self.untimed(thread, Record::Freed { back });
    }

    /// The open interval takes a message out of the queue by a matching probe; its serial number.
    pub fn probed(&mut self, thread: usize, message: Message) -> u64 {
        let slot = self.slot(thread, Direction::Receive, message, false);
        let (serial, ahead) = self.next_serial(thread);
        self.untimed(thread, Record::Probed { slot, ahead });
        serial
    }

    /// The open interval finds an operation cancelled.
    pub fn cancelled(&mut self, thread: usize, serial: u64) {
        let back = self.back(thread, serial);
        self.untimed(thread, Record::Cancelled { back });
    }

    /// The open interval is a collective.
    pub fn collective(&mut self, thread: usize, communicator: u32, root: i64, bytes_out: u64, bytes_in: u64) {
        let slot = self.collective_slot(thread, communicator, root, bytes_out, bytes_in);
        self.untimed(thread, Record::Collective { slot });
    }

    /// The open interval starts a nonblocking collective; its serial number.
    pub fn post_collective(&mut self, thread: usize, communicator: u32, root: i64, bytes: u64) -> u64 {
        let slot = self.collective_slot(thread, communicator, root, bytes, bytes);
        let (serial, ahead) = self.next_serial(thread);
        self.untimed(thread, Record::PostCollective { slot, ahead });
        serial
    }

    /// The open interval completes a collective.
    pub fn collected(&mut self, thread: usize, serial: u64) {
        let back = self.back(thread, serial);
        self.untimed(thread, Record::Collected { back });
    }

    /// The open interval acts on a communicator besides.
    pub fn acts_on(&mut self, thread: usize, communicator: u32) {
        self.untimed(thread, Record::ActsOn { communicator });
    }

    /// What signal handlers of thread `of` do while they interrupt a record: a stream of its own,
    /// written as if it were thread `place`.
    pub fn handlers_of(&mut self, of: u32, place: usize) {
        while self.threads.len() <= place {
            self.threads.push(Thread::default());
        }
        self.threads[place].identity = Some((of, Stream::Second));
    }

    /// Counts messages on a channel without recording them, as a paused recorder does.
    pub fn skip_messages(&mut self, direction: Direction, message: Message, count: u64) {
        let key = (direction == Direction::Receive, message.communicator, message.peer, message.tag);
        *self.channels.entry(key).or_default() += count;
    }
}
