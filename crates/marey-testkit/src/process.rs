//! One process: its definitions and what its threads did.
//!
//! Times are readings of the process's clock, by default in ns from 0. Records are encoded as they
//! come; when a window is full a new one begins with the open stack, as a recorder does it.

use std::collections::BTreeMap;

use marey_model::Triple;
use marey_model::spool::{
    ALIGN, CollectiveSignature, Definition, Direction, Head, Open, Record, SLACK, Signature, Stream, at,
};

/// Calendar time of reading 0, ns since 1970.
const REALTIME: u64 = 1_700_000_000_000_000_000;

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

/// A process on its way into a spool.
#[derive(Debug)]
pub struct Process {
    /// Its random number.
    pub key: u64,
    /// Its process id.
    pub pid: u32,
    /// Name of its node.
    pub host: String,
    /// Boot of its node.
    pub boot: String,
    /// Code of its clock's kind.
    pub clock: u8,
    /// Length of its windows, bytes.
    pub window_len: usize,
    /// Maps a reading to true time: `ns = reading × speed − offset`.
    pub speed: f64,
    /// See [`Self::speed`].
    pub offset: f64,
    /// Definitions behind the first, in order.
    pub definitions: Vec<Definition>,
    /// Reading at which its measurement began.
    pub start: u64,
    /// Reading at which it ended by itself; `None` = it was killed.
    pub end: Option<u64>,
    /// How it ended: kind and code of its last definition.
    pub ending: (u8, i64),
    /// Key of the process that forked it, and how many bytes of that one's definitions it has.
    pub forked_from: Option<(u64, u64)>,
    threads: Vec<Thread>,
    regions: BTreeMap<(u32, String), u32>,
    channels: BTreeMap<(bool, u32, i64, i64), u64>,
    collectives: BTreeMap<u32, u64>,
    serials: u64,
    tokens: u64,
}

#[derive(Debug, Default)]
struct Thread {
    /// Its serial number, where it is not its place, and what its windows hold.
    identity: Option<(u32, Stream)>,
    windows: Vec<Vec<u8>>,
    records: Vec<u8>,
    head: Option<Head>,
    open_at_head: Vec<Open>,
    open: Vec<Open>,
    now: u64,
    bytes_before: u64,
    serial: u64,
    messages: Vec<(Message, bool, u64)>,
    collectives: Vec<(CollectiveSignature, u64)>,
}

impl Process {
    /// A process with the levels `source`, `mpi` and `threads`, numbers 0 to 2.
    pub fn new(key: u64) -> Self {
        let levels = [("source", 0), ("mpi", 2), ("threads", 2)];
        let definitions = (0..).zip(levels).map(|(id, (name, tier))| Definition::Level {
            id,
            name: name.to_owned(),
            tier,
            built_on: Vec::new(),
        });
        Self {
            key,
            pid: 100 + u32::try_from(key % 100_000).unwrap_or(0),
            host: "node".to_owned(),
            boot: "boot".to_owned(),
            clock: 1,
            window_len: 4 * ALIGN,
            speed: 1.0,
            offset: 0.0,
            definitions: definitions.collect(),
            start: 0,
            end: None,
            ending: (0, 0),
            forked_from: None,
            threads: Vec::new(),
            regions: BTreeMap::new(),
            channels: BTreeMap::new(),
            collectives: BTreeMap::new(),
            serials: 0,
            tokens: 0,
        }
    }

    /// Makes it a rank of an MPI world, with `MPI_COMM_WORLD` as communicator 0.
    pub fn join_world(&mut self, world: &str, size: u32, rank: u32) {
        self.definitions.push(Definition::Mpi {
            flavour: 0,
            library: "MPI of tests".to_owned(),
            world: world.to_owned(),
            size,
            rank,
            thread_level: 3,
            enter: 1,
            leave: 2,
        });
        self.communicator(0, 0, None, 0, 0, &[(0, u64::from(size))], rank);
    }

    /// Defines an intracommunicator.
    #[expect(clippy::too_many_arguments, reason = "the fields of the definition that tests vary")]
    pub fn communicator(
        &mut self,
        id: u32,
        kind: u8,
        parent: Option<u32>,
        number: u64,
        leader: i64,
        members: &[(i64, u64)],
        rank: u32,
    ) {
        let size: u64 = members.iter().map(|run| run.1).sum();
        self.definitions.push(Definition::Communicator {
            id,
            kind,
            parent,
            number,
            tag: 0,
            leader,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            rank,
            remote_size: 0,
            members: members.to_vec(),
            remote_members: Vec::new(),
            port: String::new(),
            ticks: 3,
        });
    }

    /// The site of a region on a level (0 source, 1 mpi), defined when it is first asked for.
    pub fn site(&mut self, level: u32, verb: &str) -> u32 {
        if let Some(&id) = self.regions.get(&(level, verb.to_owned())) {
            return id;
        }
        let id = u32::try_from(self.regions.len()).unwrap_or(u32::MAX);
        self.regions.insert((level, verb.to_owned()), id);
        self.definitions.push(Definition::Region {
            id,
            level,
            verb: verb.to_owned(),
            role: u8::from(level == 1),
            noun_kind: String::new(),
            noun: String::new(),
            file: String::new(),
            line: 0,
        });
        self.definitions.push(Definition::Site { id, region: id, stack: None });
        id
    }

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

    fn next_serial(&mut self, thread: usize) -> (u64, i64) {
        self.serials += 1;
        let thread = &mut self.threads[thread];
        let ahead = self.serials.wrapping_sub(thread.serial).cast_signed();
        thread.serial = self.serials;
        (self.serials, ahead)
    }

    fn back(&mut self, thread: usize, serial: u64) -> i64 {
        let now = self.threads[thread].now;
        self.room(thread, now);
        self.threads[thread].serial.wrapping_sub(serial).cast_signed()
    }

    fn slot(&mut self, thread: usize, direction: Direction, message: Message, counts: bool) -> u8 {
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
            number,
        };
        Record::Signature { slot, signature }.encode(&mut thread.records);
        slot
    }

    fn collective_slot(&mut self, thread: usize, communicator: u32, root: i64, out: u64, into: u64) -> u8 {
        let now = self.threads[thread].now;
        self.room(thread, now);
        let counter = self.collectives.entry(communicator).or_default();
        let number = *counter;
        *counter += 1;
        let signature = CollectiveSignature { communicator, root, bytes_out: out, bytes_in: into, number: 0 };
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

    fn triple(&self, ticks: u64) -> Triple {
        let ns = self.true_time(ticks);
        Triple { ticks, monotonic_ns: ns, realtime_ns: REALTIME + ns }
    }

    /// True time of a reading, ns.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "made-up times are small"
    )]
    fn true_time(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.speed - self.offset).max(0.0) as u64
    }

    /// Makes sure that a thread has a window with room for a record.
    fn room(&mut self, thread: usize, ticks: u64) {
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

    /// The content of the events file.
    pub fn event_bytes(&self) -> Vec<u8> {
        self.event_windows().concat()
    }

    /// All definitions so far, one after the other: a child that is forked now inherits so many
    /// bytes.
    pub fn definition_text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.process_definition().encode(&mut text);
        for definition in &self.definitions {
            definition.encode(&mut text);
        }
        text
    }

    /// The content of the definitions file.
    pub fn definition_bytes(&self) -> Vec<u8> {
        let mut text = self.definition_text();
        if let Some(end) = self.end {
            let (kind, code) = self.ending;
            Definition::Ending { kind, code, end: self.triple(end) }.encode(&mut text);
        }
        let size = (Head::records_at(0) + text.len() + SLACK).next_multiple_of(ALIGN);
        let head = Head {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            process: self.key,
            thread: 0,
            stream: Stream::Definitions,
            sequence: 0,
            ticks: 0,
            triple: Triple::default(),
            bytes_before: 0,
            serial: 0,
            buffer: 0,
        };
        window(&head, &[], &text)
    }

    fn process_definition(&self) -> Definition {
        Definition::Process {
            key: self.key,
            pid: self.pid,
            parent_pid: 1,
            host: self.host.clone(),
            boot: self.boot.clone(),
            clock: self.clock,
            start: self.triple(self.start),
            command: vec!["./app".to_owned()],
            executable: "/bin/app".to_owned(),
            directory: "/".to_owned(),
            version: "test".to_owned(),
            environment: Vec::new(),
            forked_from: self.forked_from.map(|parent| parent.0),
            inherited: self.forked_from.map_or(0, |parent| parent.1),
            pair_cost: 4000,
        }
    }
}

impl Thread {
    fn window(&self) -> Vec<u8> {
        window(self.head.as_ref().expect("called with a head"), &self.open_at_head, &self.records)
    }
}

/// A whole window.
fn window(head: &Head, open: &[Open], records: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; head.size as usize];
    let begin = head.encode_into(open, &mut bytes);
    let end = begin + records.len();
    bytes[begin..end].copy_from_slice(records);
    bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
    bytes
}
