//! A merge of fuzzed samples, instants and heaps beside sound definitions and events, and the reading of what
//! comes out: whatever the nodes say, the archive can be opened and analysed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_analyze as analyze;
use marey_archive::merge::{Config, merge};
use marey_archive::schema::TABLES;
use marey_archive::{Archive, RunTrace};
use marey_fuzz::{Trees, sampled};
use std::sync::OnceLock;

/// Definitions and events of the process.
fn process() -> &'static [Vec<u8>; 2] {
    static FILES: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    FILES.get_or_init(|| {
        let process = sampled();
        [process.definition_bytes(), process.event_bytes()]
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some(trees) = Trees::of(bytes) else { return };
    let dir = tempfile::tempdir().expect("there is room");
    let spool = dir.path().join("spool");
    std::fs::create_dir(&spool).expect("there is room");
    let [definitions, events] = process();
    std::fs::write(spool.join("a.definitions"), definitions).expect("there is room");
    std::fs::write(spool.join("a.events"), [events, &trees.windows()[..]].concat()).expect("there is room");
    let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: true };
    let run = dir.path().join("run");
    merge(&spool, &run, &config, &()).expect("damage is no error");
    let archive = Archive::open(&run).expect("what was merged can be opened");
    for spec in TABLES {
        archive.table(spec.name).expect("what was merged can be read");
    }
    let trace = RunTrace::load(&archive).expect("what was merged makes sense");
    let hot = analyze::hot(&trace);
    analyze::lines(&trace, &hot);
    analyze::memory(&trace);
    analyze::allocations(&trace);
    analyze::counted(&trace);
});
