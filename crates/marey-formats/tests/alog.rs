//! ALOG: what is counted of a log with each kind of line, of other tools' logs, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

/// Two ranks; a state, an event with a name and one without, a message, and a timer that runs over.
const LOG: &str = include_str!("alog/small.alog");

fn read(log: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log");
    std::fs::write(&file, log).unwrap();
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

fn strays(number: u64) -> Vec<(String, u64)> {
    if number == 0 { Vec::new() } else { vec![("lines that are no records".to_owned(), number)] }
}

#[test]
fn each_kind_of_line_is_counted() {
    let imported = read(LOG.as_bytes()).unwrap();
    let records = [
        ("-100 clock", 1),
        ("-101 send", 1),
        ("-102 receive", 1),
        ("event", 2),
        ("start or end of a state", 6),
    ];
    assert_eq!(counts(&imported.records), records);
    let definitions: u64 = imported.definitions.iter().map(|it| it.2).sum();
    assert_eq!((imported.definitions.len(), definitions), (14, 16));
    assert_eq!((imported.processes, imported.locations, imported.events), (2, 2, 11));
    assert_eq!(imported.problems, strays(1));
}

#[test]
fn no_damage_makes_it_panic() {
    for len in 0..LOG.len() {
        match read(&LOG.as_bytes()[..len]) {
            Ok(_) => {}
            Err(error) => assert!(len < 40, "{len}: {error}"),
        }
    }
    for at in 0..LOG.len() {
        let mut log = LOG.as_bytes().to_vec();
        log[at] ^= 0xff;
        if let Err(error) = read(&log) {
            assert!(at < 40, "{at}: {error}");
        }
    }
}

#[test]
fn numbers_of_any_size_are_taken() {
    let log = "-3 0 0 2 0 0\n-8 0 0 9 0 0\n-11 0 0 0 0 9223372036854775807\n1 0 0 0 9223372036854775807 1\n\
               1 99999999999 0 0 0 1\n1 0 -1 0 0 1\n-101 0 0 1 0 1 5 -1\n-101 0 0 7 0 1 5 1\n1 0 0 0 0 1e300\n1 0 0 0 0 2.5\n";
    let imported = read(log.as_bytes()).unwrap();
    assert_eq!(imported.events, 5 - 2, "{imported:?}");
}

fn check_sample(name: &str, records: &[(&str, u64)], processes: u64, n_strays: u64) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/alog");
    let path = samples.join(name);
    if !path.exists() {
        marey_testkit::skip("samples of logs of MPE (../shared)");
        return;
    }
    assert_eq!(recognise(&path).unwrap().0, Format::Alog);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    assert_eq!(counts(&imported.records), records);
    assert_eq!((imported.processes, imported.locations), (processes, processes));
    assert_eq!(imported.problems, strays(n_strays));
}

// The numbers are those that `cut` and `uniq -c` count of the first words.

#[test]
fn samples_with_messages_are_read() {
    let expected = [("-101 send", 15), ("-102 receive", 15), ("start or end of a state", 72)];
    check_sample("ANL_mpich1/srtest.alog", &expected, 3, 0);
}

#[test]
fn samples_without_messages_are_read() {
    check_sample("ANL_mpich1/gmm.log", &[("start or end of a state", 62)], 2, 0);
}

#[test]
fn the_dialect_of_tau_is_read() {
    // 48 lines of entries have data 1, and 48 of exits −1.
    check_sample(
        "generated_with_tau_convert/cpi.alog",
        &[("event", 972), ("start or end of a state", 96)],
        4,
        104,
    );
}
