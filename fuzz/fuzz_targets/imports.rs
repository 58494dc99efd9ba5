//! Traces of other tools: what is read of fuzzed files, and the merge of what comes out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_archive::merge::{Config, merge};
use marey_archive::{Archive, RunTrace};
use marey_fuzz::Foreign;

fuzz_target!(|bytes: &[u8]| {
    let dir = tempfile::tempdir().expect("there is room");
    let Some(input) = Foreign::write(bytes, dir.path()).expect("there is room") else { return };
    let spool = dir.path().join("spool");
    let Ok(imported) = marey_formats::import(&input, &spool, &()) else { return };
    if imported.locations == 0 {
        return;
    }
    let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: true };
    let run = dir.path().join("run");
    merge(&spool, &run, &config, &()).expect("what was imported is a spool");
    let archive = Archive::open(&run).expect("what was merged can be opened");
    RunTrace::load(&archive).expect("what was merged makes sense");
});
