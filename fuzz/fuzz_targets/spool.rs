//! A whole merge of fuzzed records and definitions, and the reading of what comes out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_archive::merge::{Config, merge};
use marey_archive::schema::TABLES;
use marey_archive::{Archive, RunTrace};
use marey_fuzz::{Parts, window};
use marey_model::spool::{Open, Stream};

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
