//! SDDF: what is counted of traces with each kind of record, of one of TAU, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

/// Records with times: of Pablo, ParAide and TAU; some are damaged.
const SMALL: &str = include_str!("sddf/small.sddf");
/// Records without times.
const DIMEMAS: &str = include_str!("sddf/dimemas.sddf");

fn read(trace: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace");
    std::fs::write(&file, trace).unwrap();
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

#[test]
fn each_kind_of_record_is_counted() {
    let imported = read(SMALL.as_bytes()).unwrap();
    let records = [
        ("NX recv", 1),
        ("NX send", 1),
        ("others", 4),
        ("with EntryExit", 2),
        ("with TriggerValue", 1),
        ("with TriggerValue, of metadata", 1),
        ("without descriptor", 1),
    ];
    assert_eq!(counts(&imported.records), records);
    assert_eq!(counts(&imported.definitions), [("descriptor", 8)]);
    assert_eq!((imported.processes, imported.locations, imported.events), (2, 3, 11));
    let stray = SMALL.find("\n\"tick\" { 7 1 }").unwrap();
    let problems = [
        format!("no record or descriptor from byte {stray} on; passed over to the next one"),
        "records without a descriptor".to_owned(),
        "records without a process that can be, in process 0".to_owned(),
        "records without a time, at the last one of their thread".to_owned(),
    ];
    assert_eq!(imported.problems, problems.map(|text| (text, 1)));
}

#[test]
fn records_of_dimemas_are_counted() {
    let imported = read(DIMEMAS.as_bytes()).unwrap();
    let records = [
        ("CPU burst", 3),
        ("NX recv", 3),
        ("NX send", 3),
        ("block begin", 2),
        ("block end", 2),
        ("global OP", 2),
        ("user event", 2),
    ];
    assert_eq!(counts(&imported.records), records);
    let definitions = [
        ("block definition", 2),
        ("communicator definition", 2),
        ("descriptor", 12),
        ("global OP definition", 1),
        ("user event type definition", 1),
        ("user event value definition", 1),
    ];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations), (2, 2));
    let problem = "messages from or to a task that is not in their communicator".to_owned();
    assert_eq!(imported.problems, [(problem, 1)]);
}

#[test]
fn the_binary_form_is_refused_by_name() {
    let said = read(b"SDDFB\0\0\0\x01").unwrap_err().to_string();
    assert!(said.contains("an SDDF trace") && said.contains("binary form"), "{said}");
}

#[test]
fn what_is_cut_off_has_what_stands_before() {
    let whole = read(SMALL.as_bytes()).unwrap().events;
    let mut events = 0;
    for len in 5..SMALL.len() {
        let imported = read(&SMALL.as_bytes()[..len]).unwrap();
        assert!(events <= imported.events && imported.events <= whole, "{len}");
        events = imported.events;
    }
}

#[test]
fn no_damage_makes_it_panic() {
    for trace in [SMALL, DIMEMAS] {
        for at in 0..trace.len() {
            let mut trace = trace.as_bytes().to_vec();
            // Other digits and signs, and what is no text.
            trace[at] ^= if at % 2 == 0 { 0x01 } else { 0xff };
            if let Err(error) = read(&trace) {
                assert!(at < 5, "{at}: {error}");
            }
        }
    }
}

#[test]
fn what_has_no_end_takes_no_memory() {
    let head = "SDDFA\n#1: \"r\" { int \"v\"[]; };;\n\"r\" { [9] {";
    for (byte, what) in
        [(b"1,".as_slice(), "an array"), (b"\"", "texts"), (b"[", "brackets"), (b"/* ", "a comment")]
    {
        let trace = [head.as_bytes(), &byte.repeat(3 << 20)].concat();
        let imported = read(&trace).unwrap();
        assert_eq!(imported.events, 0, "{what}");
        assert_eq!(imported.problems.len(), 1, "{what}");
    }
}

#[test]
fn the_dialect_of_tau_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/samples/sddf/generated_with_tau_convert/cpi.sddf");
    if !path.exists() {
        marey_testkit::skip("samples of traces of TAU (../shared)");
        return;
    }
    assert_eq!(recognise(&path).unwrap().0, Format::Sddf);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    // As many as there are in the binary trace that it was made of; and the recorder's own.
    let records = [
        ("others", 16),
        ("with EntryExit", 96),
        ("with TriggerValue", 44),
        ("with TriggerValue, of metadata", 912),
    ];
    assert_eq!(counts(&imported.records), records);
    // Lines that begin with a sign and a number.
    assert_eq!(counts(&imported.definitions), [("descriptor", 104)]);
    assert_eq!((imported.processes, imported.locations, imported.events), (4, 4, 1068));
    assert_eq!(imported.problems, []);
}
