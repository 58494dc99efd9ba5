//! CLOG-1: what is counted of a log with known records, of MPICH's own, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "clog1/writer.rs"]
mod writer;

use std::path::Path;

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

fn read(log: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log");
    std::fs::write(&file, log).unwrap();
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

#[test]
fn each_type_of_record_is_counted_in_both_sizes_of_blocks() {
    for (block, n_blocks) in [(1024, 1), (65536, 0)] {
        let imported = read(&writer::log(block)).unwrap();
        let mut records = vec![
            ("collective", 1),
            ("endblock", n_blocks),
            ("endlog", 1),
            ("message", 2),
            ("raw", 20),
            ("time shift", 1),
        ];
        records.retain(|it| it.1 > 0);
        assert_eq!(counts(&imported.records), records);
        let definitions =
            [("communicator", 1), ("event definition", 1), ("source location", 1), ("state definition", 2)];
        assert_eq!(counts(&imported.definitions), definitions);
        assert_eq!((imported.processes, imported.locations, imported.events), (2, 2, 24));
        assert_eq!(imported.problems, []);
    }
}

#[test]
fn what_is_damaged_or_cut_off_says_so() {
    let log = writer::log(1024);
    let is_good = |log: &[u8]| read(log).is_ok_and(|imported| imported.problems.is_empty());
    // Behind the end there may be anything.
    let end = log.iter().rposition(|byte| *byte != 0).unwrap();
    for len in 0..end {
        assert!(!is_good(&log[..len]), "{len}");
    }
    for at in 0..log.len() {
        let mut log = log.clone();
        log[at] ^= 0xff;
        if let Err(error) = read(&log) {
            // Three records are what it is recognised by.
            assert!(at < 200, "{at}: {error}");
        }
    }
}

fn check_sample(name: &str, n_raw: u64, n_states: u64, n_blocks: u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/clog1").join(name);
    if !path.exists() {
        marey_testkit::skip("samples of logs of MPE (../shared)");
        return;
    }
    assert_eq!(recognise(&path).unwrap().0, Format::Clog1);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    let mut records = vec![("endblock", n_blocks), ("endlog", 1), ("raw", n_raw)];
    records.retain(|it| it.1 > 0);
    assert_eq!(counts(&imported.records), records);
    let definitions = [("communicator", 4), ("source location", 9), ("state definition", n_states)];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations), (4, 4));
    assert_eq!(imported.problems, []);
}

// The numbers are those that a loop over the bytes of the samples counts.

#[test]
fn samples_with_small_blocks_are_read() {
    check_sample("ANL_mpich1/simple.clog", 160, 4, 11);
}

#[test]
fn samples_with_large_blocks_are_read() {
    check_sample("pmodels_mpe/fpilog.clog", 306, 10, 0);
}
