//! Questions of a viewer, in any words: each is answered, or refused with a reason, and none takes a gigabyte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_archive::merge::{Config, merge};
use marey_archive::{Archive, prepare};
use marey_serve::{Opened, answer};
use std::sync::OnceLock;

fn run() -> &'static Opened<'static> {
    static RUN: OnceLock<Opened<'static>> = OnceLock::new();
    RUN.get_or_init(|| {
        let dir = Box::leak(Box::new(tempfile::tempdir().expect("there is room")));
        let (spool, run) = (dir.path().join("spool"), dir.path().join("run"));
        marey_fuzz::everything().write(&spool).expect("there is room");
        let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false };
        merge(&spool, &run, &config, &()).expect("the run is sound");
        prepare(&run).expect("the run is sound");
        let archive = Box::leak(Box::new(Archive::open(&run).expect("the run is sound")));
        Opened::new(archive, "run", Vec::new).expect("the run is sound")
    })
}

fuzz_target!(|input: &[u8]| {
    let frame = answer(run(), input);
    let len = u32::from_le_bytes(frame[..4].try_into().expect("a frame has a length")) as usize;
    assert!(frame[4..4 + len].starts_with(b"{\"kind\":"));
});
