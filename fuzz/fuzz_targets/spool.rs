//! A whole merge of fuzzed records and definitions. They are put into windows with sound heads, so
//! that the fuzzer does not have to guess check words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_archive::merge::{Config, merge};
use marey_model::Triple;
use marey_model::spool::{ALIGN, Head, Open, SLACK, Stream, at};

fuzz_target!(|bytes: &[u8]| {
    let (cut, rest) = bytes.split_first().map_or((0, bytes), |(cut, rest)| (usize::from(*cut), rest));
    let middle = rest.len() * cut / 256;
    let (definitions, events) = rest.split_at(middle);
    let dir = tempfile::tempdir().expect("there is room");
    let spool = dir.path().join("spool");
    std::fs::create_dir(&spool).expect("there is room");
    std::fs::write(spool.join("a.definitions"), window(Stream::Definitions, 0, &[], definitions)).expect("there is room");
    let (first, second) = events.split_at(events.len() / 2);
    let open = [Open { ticks: 5, site: 1, reserved: 0 }];
    let windows = [window(Stream::Events, 0, &[], first), window(Stream::Events, u64::from(cut > 128), &open, second)];
    std::fs::write(spool.join("a.events"), windows.concat()).expect("there is room");
    let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: true };
    merge(&spool, &dir.path().join("run"), &config, &()).expect("damage is no error");
});

fn window(stream: Stream, sequence: u64, open: &[Open], records: &[u8]) -> Vec<u8> {
    let size = (Head::records_at(open.len()) + records.len() + SLACK).next_multiple_of(ALIGN);
    let head = Head {
        size: u32::try_from(size).expect("fuzzed input is small"),
        process: 7,
        thread: 0,
        stream,
        sequence,
        ticks: 10 + sequence * 100_000,
        triple: Triple { ticks: 10, monotonic_ns: 10, realtime_ns: 10 },
        bytes_before: 0,
        serial: 0,
        buffer: 0,
    };
    let mut bytes = vec![0; size];
    let begin = head.encode_into(open, &mut bytes);
    let end = begin + records.len();
    bytes[begin..end].copy_from_slice(records);
    bytes[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
    bytes
}
