//! SLOG-2: what is counted of logs with each kind of drawable, of logs of the format's own tools, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "slog2/writer.rs"]
mod writer;

use std::path::{Path, PathBuf};

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

const NEWEST: &str = "SLOG 2.0.6";

fn read(log: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log");
    std::fs::write(&file, log).unwrap();
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

const UNNAMED: &str = "drawables of categories that nothing names";
const RECORDS: [(&str, u64); 7] = [
    ("arrow", 2),
    ("composite", 1),
    ("event", 2),
    ("node", 3),
    ("shadow", 6),
    ("shadow buffer", 2),
    ("state", 6),
];

#[test]
fn each_kind_of_drawable_is_counted() {
    let imported = read(&writer::log(NEWEST)).unwrap();
    assert_eq!(counts(&imported.records), RECORDS);
    let definitions = [("category", 7), ("category of previews", 2), ("line-ID map", 3)];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations, imported.events), (2, 3, 11));
    assert_eq!(imported.problems, [(UNNAMED.to_owned(), 1)]);
}

#[test]
fn categories_of_older_versions_are_shorter() {
    let imported = read(&writer::log("SLOG 2.0.3")).unwrap();
    let expected: Vec<_> = RECORDS.into_iter().filter(|it| !it.0.starts_with("shadow")).collect();
    assert_eq!(counts(&imported.records), expected);
    assert_eq!(counts(&imported.definitions)[0], ("category", 7));
    assert_eq!(imported.problems, [(UNNAMED.to_owned(), 1)]);
}

#[test]
fn other_versions_are_refused_by_name() {
    let mut log = writer::log(NEWEST);
    log[11] = b'9';
    let said = read(&log).unwrap_err().to_string();
    assert!(said.contains("SLOG 2.0.9") && said.contains("clog2TOslog2"), "{said}");
}

#[test]
fn without_its_end_a_log_has_its_nodes() {
    // A writer that is stopped leaves a header without places.
    let mut log = writer::log(NEWEST);
    log[24..108].fill(0);
    let imported = read(&log).unwrap();
    assert_eq!(counts(&imported.records)[3], ("node", 3));
    // That tells no name, so a state, an event and an arrow are what they look like.
    assert_eq!(counts(&imported.records), RECORDS);
    assert!(
        imported.problems.iter().any(|it| it.0.contains("from the header on")),
        "{:?}",
        imported.problems
    );
}

/// Where the directory lists the first node of the file, the last of three, and its length.
fn entry(log: &[u8]) -> usize {
    log.len() - 12
}

#[test]
fn a_node_is_read_once() {
    let mut log = writer::log(NEWEST);
    let (own, other) = (entry(&log), entry(&log) - 34);
    log.copy_within(own..own + 12, other);
    let imported = read(&log).unwrap();
    assert!(imported.problems.contains(&("the node at byte 108 is listed twice".to_owned(), 1)));
    assert_eq!(counts(&imported.records).iter().find(|it| it.0 == "event"), Some(&("event", 2)));
}

#[test]
fn what_is_no_node_is_passed_over() {
    let mut log = writer::log(NEWEST);
    let own = entry(&log);
    log[own + 7] = 109;
    let imported = read(&log).unwrap();
    assert!(imported.problems.contains(&("there is no node at byte 109".to_owned(), 1)));
    assert_eq!(counts(&imported.records).iter().find(|it| it.0 == "node"), Some(&("node", 2)));
}

#[test]
fn a_node_that_reaches_into_the_next_is_cut_there() {
    let mut log = writer::log(NEWEST);
    let own = entry(&log);
    log[own + 8] = 1;
    let imported = read(&log).unwrap();
    assert_eq!(counts(&imported.records), RECORDS);
    assert!(imported.problems.iter().any(|it| it.0.starts_with("the node at byte 108 reaches beyond byte")));
}

#[test]
fn what_is_cut_off_says_so() {
    let log = writer::log(NEWEST);
    for len in 0..log.len() {
        match read(&log[..len]) {
            Ok(imported) => assert!(imported.problems.iter().any(|it| it.0 != UNNAMED), "{len}"),
            Err(error) => assert!(len < 108, "{len}: {error}"),
        }
    }
}

#[test]
fn no_damage_makes_it_panic() {
    for log in [writer::log(NEWEST), writer::lines()] {
        for at in 0..log.len() {
            let mut log = log.clone();
            // Larger and smaller numbers, and negative ones.
            log[at] ^= [0xff, 0x01, 0x80][at % 3];
            if let Err(error) = read(&log) {
                assert!(at < 12, "{at}: {error}");
            }
        }
    }
}

fn sample(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples").join(name);
    if !path.exists() {
        marey_testkit::skip("samples of logs of MPE (../shared)");
        return None;
    }
    Some(path)
}

fn check_sample(name: &str, expected: &[(&str, u64)], (processes, overlapping): (u64, u64)) {
    let Some(path) = sample(name) else { return };
    assert_eq!(recognise(&path).unwrap().0, Format::Slog2);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    assert_eq!(counts(&imported.records), expected);
    assert_eq!(imported.processes, processes);
    let problems: u64 = imported.problems.iter().map(|it| it.1).sum();
    assert_eq!(problems, overlapping, "{:?}", imported.problems);
    assert!(imported.problems.iter().all(|it| it.0.starts_with("spans that overlap")));
}

// The numbers are those that a loop over the bytes of the samples counts; those of `data` are lines of its text form.

#[test]
fn a_sample_of_many_nodes_is_read() {
    let expected = [
        ("arrow", 4000),
        ("event", 8),
        ("node", 20),
        ("shadow", 184),
        ("shadow buffer", 19),
        ("state", 12_008),
    ];
    check_sample("slog2/converted_with_clog2TOslog2/srtest.slog2", &expected, (4, 0));
}

#[test]
fn a_sample_of_one_node_is_read() {
    let expected = [("event", 8), ("node", 1), ("state", 20)];
    check_sample("slog2/converted_with_clog2TOslog2/cpi.slog2", &expected, (4, 0));
}

#[test]
fn a_sample_with_arrows_of_all_kinds_is_read() {
    let expected = [("arrow", 11), ("node", 1), ("state", 2)];
    check_sample("slog2/raffenet_mpich-CVS/arrow.slog2", &expected, (2, 0));
}

#[test]
fn a_sample_of_an_older_version_is_read() {
    let expected = [("arrow", 6), ("composite", 3), ("node", 1), ("state", 14)];
    // On line 3, a SENDRECV begins within a RECV and ends behind it.
    check_sample("slog2-old/matthiasdiener_mpich/data.slog2", &expected, (5, 1));
}
