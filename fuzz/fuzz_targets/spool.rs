//! A whole merge of fuzzed records and definitions, and the reading of what comes out. They are put
//! into windows with sound heads, so that the fuzzer does not have to guess check words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_archive::merge::{Config, merge};
use marey_archive::schema::TABLES;
use marey_archive::{Archive, RunTrace};
use marey_fuzz::Parts;
use marey_model::Triple;
use marey_model::spool::{ALIGN, Head, Open, SLACK, Stream, at};

fuzz_target!(|bytes: &[u8]| {
    let Some(parts) = Parts::of(bytes) else { return };
    let dir = tempfile::tempdir().expect("there is room");
    let spool = dir.path().join("spool");
    std::fs::create_dir(&spool).expect("there is room");
    let definitions = window(Stream::Definitions, 0, &[], parts.definitions);
    std::fs::write(spool.join("a.definitions"), definitions).expect("there is room");
    let open = [Open { ticks: 5, site: 1, reserved: 0 }];
    let first = window(Stream::Events, 0, &[], parts.first);
    let second = window(Stream::Events, parts.sequence.into(), &open, parts.second);
    std::fs::write(spool.join("a.events"), [first, second].concat()).expect("there is room");
    let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: true };
    let run = dir.path().join("run");
    merge(&spool, &run, &config, &()).expect("damage is no error");
    let archive = Archive::open(&run).expect("what was merged can be opened");
    for spec in TABLES {
        archive.table(spec.name).expect("what was merged can be read");
    }
    RunTrace::load(&archive).expect("what was merged makes sense");
});

fn window(stream: Stream, sequence: u64, open: &[Open], records: &[u8]) -> Vec<u8> {
    let size = (Head::records_at(open.len()) + records.len() + SLACK).next_multiple_of(ALIGN);
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
    let end = begin + records.len();
    bytes[begin..end].copy_from_slice(records);
    bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
    bytes
}
