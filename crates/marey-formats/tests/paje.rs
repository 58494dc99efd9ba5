//! Pajé: what is counted of a trace with each kind of event, in both vocabularies, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

/// Two ranks, one with a thread; each kind of event but one.
const SMALL: &str = include_str!("paje/small.paje");
/// The one that is left.
const OTHER_FILE: &str = "%EventDef PajeTraceFile 20\n% Filename string\n%EndEventDef\n20 other.trace\n";

fn read(trace: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace");
    std::fs::write(&file, trace).unwrap();
    assert_eq!(recognise(&file)?.0, Format::Paje);
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

#[test]
fn each_kind_of_event_is_counted() {
    let imported = read([SMALL, OTHER_FILE].concat().as_bytes()).unwrap();
    // As many as lines begin with the number of each.
    let records = [
        ("AddVariable", 1),
        ("CreateContainer", 4),
        ("DestroyContainer", 3),
        ("EndLink", 1),
        ("NewEvent", 1),
        ("PopState", 2),
        ("PushState", 3),
        ("ResetState", 1),
        ("SetState", 3),
        ("SetVariable", 1),
        ("StartLink", 1),
        ("SubVariable", 1),
        ("TraceFile", 1),
    ];
    assert_eq!(counts(&imported.records), records);
    let definitions = [
        ("DefineContainerType", 3),
        ("DefineEntityValue", 6),
        ("DefineEventType", 1),
        ("DefineLinkType", 1),
        ("DefineStateType", 3),
        ("DefineVariableType", 1),
        ("EventDef", 19),
    ];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations, imported.events), (2, 4, 23));
    let problem = "files that a trace names, and that are not read".to_owned();
    assert_eq!(imported.problems, [(problem, 1)]);
}

#[test]
fn the_older_vocabulary_says_the_same() {
    let older = SMALL
        .replace("% Type string", "% EntityType string")
        .replace("% StartContainer string", "% SourceContainer string")
        .replace("% EndContainer string", "% DestContainer string");
    assert_eq!(read(older.as_bytes()).unwrap(), read(SMALL.as_bytes()).unwrap());
}

#[test]
fn a_link_may_be_told_from_its_end() {
    const START: &str = "16 0.002 L m 7 a k1 1000\n";
    let late = SMALL.replace(START, "") + START;
    assert_eq!(read(late.as_bytes()).unwrap(), read(SMALL.as_bytes()).unwrap());
}

#[test]
fn without_numbers_there_are_no_ranks() {
    let imported = read(SMALL.replace("rank1", "other").as_bytes()).unwrap();
    assert_eq!((imported.processes, imported.locations), (1, 4));
}

#[test]
fn what_makes_no_sense_is_told_by_its_line() {
    let last = SMALL.lines().count() as u64;
    let wrong = "99 0.1\n11 0.02 S a\n16 0.02 L m 7 a k1 1\n13 0.02 V a much\n13 soon V a 1\n13 0.02 V c 1\n8 0.02 E\n";
    let imported = read([SMALL, wrong].concat().as_bytes()).unwrap();
    let problems = [
        "events in containers that were never created".to_owned(),
        "events whose time is no time".to_owned(),
        format!("line {} is no event that is defined", last + 1),
        format!("line {} is no event that is defined", last + 7),
        "states that are left and not entered".to_owned(),
        "variables whose value is no number".to_owned(),
        "links without their other end".to_owned(),
    ];
    assert_eq!(imported.problems, problems.map(|text| (text, 1)));
}

#[test]
fn no_damage_makes_it_panic() {
    let trace = SMALL.as_bytes();
    // By what stands before it, the format is known.
    for at in SMALL.find("PajeDefine").unwrap()..trace.len() {
        let mut damaged = trace.to_vec();
        damaged[at] ^= if at % 2 == 0 { 0x01 } else { 0xff };
        drop(read(&damaged).unwrap());
    }
}

#[test]
fn what_is_cut_off_has_what_stands_before() {
    let begin = SMALL.find("0 M 0 Machine").unwrap();
    let (whole, mut events) = (read(SMALL.as_bytes()).unwrap().events, 0);
    for len in begin..SMALL.len() {
        let imported = read(&SMALL.as_bytes()[..len]).unwrap();
        assert!(events <= imported.events && imported.events <= whole, "{len}");
        events = imported.events;
    }
}
