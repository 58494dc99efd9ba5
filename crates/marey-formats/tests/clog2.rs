//! CLOG-2: what is counted of a log with each type of record, of logs of MPE itself, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "clog2/writer.rs"]
mod writer;

use std::path::{Path, PathBuf};

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
fn each_type_of_record_is_counted_in_both_orders_of_bytes() {
    for is_big in [true, false] {
        let log = writer::log(is_big);
        let imported = read(&log).unwrap();
        let marks = (log.len() as u64 - 1024) / writer::BLOCK as u64;
        let records = [
            ("BAREEVT", 5),
            ("CARGOEVT", 3),
            ("COLLEVT", 2),
            ("ENDBLOCK", marks - 1),
            ("ENDLOG", 1),
            ("MSGEVT", 4),
            ("SRCLOC", 1),
            ("TIMESHIFT", 1),
        ];
        assert_eq!(counts(&imported.records), records);
        let definitions = [
            ("COMMEVT", 8),
            ("CONSTDEF", 1),
            ("EVENTDEF", 1),
            ("STATEDEF", 3),
            ("colour", 3),
            ("communicator table entry", 5),
        ];
        assert_eq!(counts(&imported.definitions), definitions);
        assert_eq!((imported.processes, imported.locations, imported.events), (2, 3, 16));
        assert_eq!(imported.problems, []);
    }
}

#[test]
fn a_damaged_block_costs_no_other() {
    let mut log = writer::log(true);
    // The type of the first record of the first block.
    let at = 1024 + 20;
    log[at] = 0x7f;
    let imported = read(&log).unwrap();
    let what = format!("there is no record at byte {}: the rest of its block is passed over", at - 20);
    assert!(imported.problems.contains(&(what, 1)), "{:?}", imported.problems);
    assert!(counts(&imported.definitions).contains(&("STATEDEF", 3)));
}

#[test]
fn an_end_amid_blocks_is_none() {
    let mut log = writer::log(true);
    let at = 1024 + 20;
    log[at..at + 4].fill(0);
    let imported = read(&log).unwrap();
    assert!(counts(&imported.records).contains(&("ENDLOG", 2)));
    assert!(counts(&imported.definitions).contains(&("STATEDEF", 3)));
}

#[test]
fn what_is_cut_off_says_so() {
    let log = writer::log(true);
    for len in 0..log.len() {
        match read(&log[..len]) {
            Ok(imported) => assert!(len >= log.len() - 204 || !imported.problems.is_empty(), "{len}"),
            Err(error) => assert!(len < 1024, "{len}: {error}"),
        }
    }
}

#[test]
fn no_damage_makes_it_panic() {
    let log = writer::log(true);
    for at in 0..log.len() {
        let mut log = log.clone();
        log[at] ^= 0xff;
        if let Err(error) = read(&log) {
            assert!(at < 1024, "{at}: {error}");
        }
    }
}

fn sample(name: &str) -> Option<PathBuf> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let path = samples.join("clog2/generated_with_MPE-2").join(name);
    if !path.exists() {
        marey_testkit::skip("samples of logs of MPE (../shared)");
        return None;
    }
    Some(path)
}

fn check_sample(name: &str, expected: &[(&str, u64)]) {
    let Some(path) = sample(name) else { return };
    assert_eq!(recognise(&path).unwrap().0, Format::Clog2);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    assert_eq!(counts(&imported.records), expected);
    let definitions = [
        ("COMMEVT", 8),
        ("CONSTDEF", 3),
        ("EVENTDEF", 2),
        ("STATEDEF", 5),
        ("colour", 7),
        ("communicator table entry", 5),
    ];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations), (4, 4));
    assert_eq!(imported.problems, []);
}

// The numbers are those that a loop over the bytes of the samples counts.

#[test]
fn samples_are_read() {
    check_sample("cpi.clog2", &[("BAREEVT", 48), ("ENDLOG", 1), ("TIMESHIFT", 4)]);
}

#[test]
fn samples_of_many_blocks_are_read() {
    let expected =
        [("BAREEVT", 24_024), ("ENDBLOCK", 17), ("ENDLOG", 1), ("MSGEVT", 8_000), ("TIMESHIFT", 44)];
    check_sample("srtest.clog2", &expected);
}
