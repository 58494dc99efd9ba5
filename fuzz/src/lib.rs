//! What the fuzz targets and the generator of their seeds share: the shape of their inputs, and a
//! made-up run in which everything happens once.
//!
//! A seed is what a target would need luck for years to guess: whole definitions and records that
//! belong together. They are made anew from `marey-testkit` and never stored.

use marey_model::Triple;
use marey_model::spool::{ALIGN, Definition, Head, Open, Record, SLACK, Stream, at, put, view};
use marey_testkit::{Message, Process, Spool};

mod foreign;
mod trees;

pub use foreign::Foreign;
pub use trees::{Trees, sampled, trees};

/// A site with a call stack; the test kit numbers its own from 0.
const STACKED: u32 = 40;

/// An input of the target `spool`, taken apart.
pub struct Parts<'a> {
    /// Sequence number of the second window; 1 follows on the first.
    pub sequence: u8,
    /// What the file of definitions holds.
    pub definitions: &'a [u8],
    /// Records of the first window.
    pub first: &'a [u8],
    /// Records of the second.
    pub second: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Any bytes are an input.
    pub fn of(bytes: &'a [u8]) -> Option<Self> {
        let (sequence, [definitions, first, second]) = take_apart(bytes)?;
        Some(Self { sequence, definitions, first, second })
    }

    /// The input that is taken apart into these.
    pub fn join(&self) -> Vec<u8> {
        join(self.sequence, [self.definitions, self.first, self.second])
    }
}

/// A byte, two lengths of two bytes, and the three parts that they divide the rest into.
fn take_apart(bytes: &[u8]) -> Option<(u8, [&[u8]; 3])> {
    let (&[first, a, b, c, d], rest) = bytes.split_first_chunk()?;
    let (one, rest) = rest.split_at(rest.len().min(u16::from_le_bytes([a, b]).into()));
    let (two, three) = rest.split_at(rest.len().min(u16::from_le_bytes([c, d]).into()));
    Some((first, [one, two, three]))
}

fn join(first: u8, parts: [&[u8]; 3]) -> Vec<u8> {
    let len = |part: &[u8]| u16::try_from(part.len()).expect("seeds are small").to_le_bytes();
    let head = [&[first][..], &len(parts[0]), &len(parts[1])].concat();
    [&head, parts[0], parts[1], parts[2]].concat()
}

/// A window of the process 1 and its first thread with a sound head, so that the fuzzer does not have to
/// guess check words.
pub fn window(stream: Stream, sequence: u64, open: &[Open], content: &[u8]) -> Vec<u8> {
    let size = (Head::records_at(open.len()) + content.len() + SLACK).next_multiple_of(ALIGN);
    let head = Head {
        size: u32::try_from(size).expect("fuzzed input is small"),
        process: 1,
        thread: 0,
        stream,
        sequence,
        ticks: 10 + sequence * 100_000,
        triple: Triple { ticks: 10, monotonic_ns: 10, realtime_ns: 10 },
        bytes_before: 0,
        serial: 0,
        buffer: 0,
        round: 0,
        is_summing: false,
    };
    let mut bytes = vec![0; size];
    let begin = head.encode_into(open, &mut bytes);
    let end = begin + content.len();
    bytes[begin..end].copy_from_slice(content);
    bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
    bytes
}

/// The records of a window.
pub fn records(window: &[u8]) -> Vec<u8> {
    view(window).expect("the test kit writes sound windows").records.to_vec()
}

/// Two ranks that exchange messages and do all else that a recorder can write down.
pub fn everything() -> Spool {
    let mut spool = Spool::world(2);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        define(process);
        let main = process.site(0, "main");
        process.enter(0, main, 10);
        exchange(process, 1 - rank);
        process.enter(0, STACKED, 480);
        process.leave(0, 490);
        besides(process);
        process.leave(0, 900);
        process.timed(1, 905, |delta| Record::ThreadEnd { delta });
        process.end = Some(1000);
    }
    spool
}

fn define(process: &mut Process) {
    let kind = |id, name: &str, attribute, fields: &[(&str, u8)]| Definition::EventKind {
        id,
        name: name.to_owned(),
        attribute,
        fields: fields.iter().map(|&(name, code)| (name.to_owned(), code)).collect(),
    };
    process.definitions.extend([
        kind(0, "tick", false, &[("n", 0), ("x", 2)]),
        kind(1, "fact", true, &[("n", 0)]),
        Definition::Counter { id: 0, name: "load".to_owned(), unit: "1".to_owned() },
        Definition::Lane { id: 0, name: "task".to_owned(), ticks: 5 },
        Definition::Module {
            id: 0,
            path: "/bin/app".to_owned(),
            build_id: vec![1, 2, 3],
            bias: 0x1000,
            start: 0x1000,
            end: 0x9000,
            ticks: 1,
        },
        Definition::Stack { id: 0, frames: vec![(0, 0x2000), (0, 0x3000)], complete: true },
        Definition::Site { id: STACKED, region: 0, stack: Some(0) },
        Definition::Datatype { id: 0, name: "MPI_BYTE".to_owned(), size: 1 },
        Definition::Window { id: 0, communicator: 0, number: 1, base: 0, size: 64 },
        Definition::File { id: 0, name: "out.dat".to_owned() },
    ]);
    process.communicator(1, 1, Some(0), 1, 0, &[(0, 2)], 0);
    process.handlers_of(0, 2);
}

/// Messages and collectives of every kind, each in an interval of its own.
fn exchange(process: &mut Process, peer: i64) {
    let message = |tag| Message { communicator: 0, peer, tag, bytes: 8 << tag };
    let mut now = 10;
    let mut call = |process: &mut Process, name: &str, body: &mut dyn FnMut(&mut Process)| {
        let site = process.site(1, name);
        process.enter(0, site, now + 10);
        body(process);
        process.leave(0, now + 15);
        now += 20;
    };
    if peer == 1 {
        call(process, "MPI_Send", &mut |p| p.send(0, message(1)));
        call(process, "MPI_Recv", &mut |p| p.receive(0, message(1)));
    } else {
        call(process, "MPI_Recv", &mut |p| p.receive(0, message(1)));
        call(process, "MPI_Send", &mut |p| p.send(0, message(1)));
    }
    let any = Message { communicator: 0, peer: -1, tag: -1, bytes: 0 };
    let (mut sent, mut got, mut gone, mut probed) = (0, 0, 0, 0);
    call(process, "MPI_Irecv", &mut |p| got = p.post_receive(0, any));
    call(process, "MPI_Irecv", &mut |p| gone = p.post_receive(0, message(5)));
    call(process, "MPI_Isend", &mut |p| sent = p.post_send(0, message(2)));
    call(process, "MPI_Waitall", &mut |p| {
        p.sent(0, sent);
        p.received(0, got, message(2));
    });
    call(process, "MPI_Cancel", &mut |p| p.cancelled(0, gone));
    call(process, "MPI_Isend", &mut |p| sent = p.post_send(0, message(3)));
    call(process, "MPI_Request_free", &mut |p| p.freed(0, sent));
    call(process, "MPI_Mprobe", &mut |p| probed = p.probed(0, message(3)));
    call(process, "MPI_Mrecv", &mut |p| p.received(0, probed, message(3)));
    call(process, "MPI_Bcast", &mut |p| p.collective(0, 1, 0, 64, 64));
    call(process, "MPI_Iallreduce", &mut |p| got = p.post_collective(0, 0, -1, 8));
    call(process, "MPI_Wait", &mut |p| p.collected(0, got));
    let rma = Record::Rma { kind: 0, window: 0, target: peer, bytes: 24, displacement: 3, data: 0, shape: 0 };
    call(process, "MPI_Put", &mut |p| p.untimed(0, rma));
    let io = Record::Io { file: 0, kind: 1, bytes: 100, offset: 512 };
    call(process, "MPI_File_write", &mut |p| p.untimed(0, io));
}

/// Spans, events, counters, lanes, edges, a handler, counted calls, and a later version's record.
fn besides(process: &mut Process) {
    let (main, task) = (process.site(0, "main"), process.site(0, "task"));
    let token = process.begin(0, task, 500);
    let mut fields = Vec::new();
    put(&mut fields, 7);
    process.untimed(0, Record::Attribute { kind: 1, fields: &fields });
    process.timed(0, 510, |delta| Record::Event {
        kind: 0,
        delta,
        fields: &[9, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f],
    });
    process.timed(0, 520, |delta| Record::Counter { counter: 0, delta, value: 0.5 });
    process.timed(0, 530, |delta| Record::LaneEnter { lane: 0, site: task, delta });
    process.timed(1, 540, |delta| Record::LaneLeave { lane: 0, site: task, delta });
    process.end_of(1, token, 550);
    process.enter(1, main, 560);
    process.untimed(1, Record::Edge { kind: 0, thread: 0, back: 15, noun: 0 });
    process.untimed(1, Record::Counted { site: task, visits: 3 });
    process.untimed(1, Record::Unknown { opcode: 0x30, body: &[1, 2, 3] });
    process.leave(1, 570);
    process.enter(2, task, 580);
    process.leave(2, 590);
}
