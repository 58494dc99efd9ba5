//! callgrind: what is counted of a profile with everything in it, of one of pprof, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

const SMALL: &str = include_str!("callgrind/small.callgrind");

fn read(text: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("profile");
    std::fs::write(&file, text).unwrap();
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

#[test]
fn all_kinds_of_lines_are_counted() {
    let imported = read(SMALL.as_bytes()).unwrap();
    let records = [("calls", 4), ("cost", 10), ("cost of calls", 4), ("jump", 2)];
    assert_eq!(counts(&imported.records), records);
    let definitions = [
        ("cmd", 1),
        ("creator", 1),
        ("event", 2),
        ("events", 2),
        ("fn", 6),
        ("header", 2),
        ("part", 2),
        ("pid", 1),
        ("place", 15),
        ("place of inlined code", 2),
        ("positions", 2),
        ("summary", 1),
        ("thread", 2),
        ("totals", 1),
    ];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations, imported.events), (1, 2, 20));
    assert_eq!(imported.problems, []);
    assert!(imported.is_profile);
}

fn check_problem(from: &str, to: &str, problem: &str) {
    assert_eq!(SMALL.matches(from).count(), 1, "{from}");
    let imported = read(SMALL.replace(from, to).as_bytes()).unwrap();
    assert!(imported.problems.iter().any(|it| it.0 == problem), "{to}: {:?}", imported.problems);
}

#[test]
fn what_contradicts_itself_is_a_problem() {
    check_problem(
        "totals: 1000 90",
        "totals: 1001 90",
        "totals that are not the sum of the costs before them",
    );
    check_problem("0x900 1 50 5", "0x900 1 50 5 6", "line 51 has more costs than there are events");
    check_problem("cfn=(2) work", "", "names that stand for others, the first in line 36");
    check_problem("0x910 1 0x14 1", "0x910 1 fourteen", "line 55 makes no sense");
    check_problem("+4 22 180 29", "fn(3)", "line 46 makes no sense");
    check_problem("fl=(1) main.c\nfn=(1) main", "", "line 17 is of no function");
}

#[test]
fn a_profile_without_its_first_line_is_recognised() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    let check = |text: &str| {
        std::fs::write(&file, text).unwrap();
        recognise(&file).ok().map(|it| it.0)
    };
    assert_eq!(check(SMALL), Some(Format::Callgrind));
    assert_eq!(
        check("version: 1\nevents: Time_(10ns)\n\nfl=a.php\nfn={main}\n1 2\n"),
        Some(Format::Callgrind)
    );
    assert_eq!(check("events: none\n\nDear all,\nfn=1\n"), None);
    assert_eq!(check("fn=1\n"), None);
}

#[test]
fn no_damage_makes_it_panic() {
    for at in 0..SMALL.len() {
        let mut text = SMALL.as_bytes().to_vec();
        text[at] ^= 0xff;
        // What is no text any more may be of no format.
        if let Ok(imported) = read(&text) {
            assert_eq!(imported.processes, 1, "{at}");
        }
        if let Ok(imported) = read(&SMALL.as_bytes()[..at]) {
            assert!(imported.events <= 20, "{at}");
        }
    }
}

#[test]
fn a_sample_of_pprof_is_read() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let path = samples.join("callgrind/google_pprof/pprof.cpu.callgrind");
    if !path.exists() {
        marey_testkit::skip("samples of callgrind (../shared)");
        return;
    }
    assert_eq!(recognise(&path).unwrap().0, Format::Callgrind);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    // Counted by `grep -c`: lines of `calls=`, and lines that begin with a position.
    assert_eq!(counts(&imported.records), [("calls", 9), ("cost", 10), ("cost of calls", 9)]);
    assert_eq!(imported.problems, []);
}
