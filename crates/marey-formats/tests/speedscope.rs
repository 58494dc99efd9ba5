//! Speedscope: what is counted of a trace and of sums, of samples of Speedscope itself, and of damaged files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use marey_formats::{Error, Fate, Format, Imported, import, recognise};

const TRACE: &str = include_str!("speedscope/trace.json");
const SUMS: &str = include_str!("speedscope/sums.json");

fn read(text: &[u8]) -> Result<Imported, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("profile");
    std::fs::write(&file, text).unwrap();
    import(&file, &dir.path().join("spool"), &())
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

fn problems(imported: &Imported) -> Vec<(&str, u64)> {
    imported.problems.iter().map(|(text, number)| (text.as_str(), *number)).collect()
}

#[test]
fn events_with_times_are_a_trace() {
    let imported = read(TRACE.as_bytes()).unwrap();
    assert!(!imported.is_profile);
    assert_eq!(counts(&imported.records), [("close", 6), ("event of no known type", 1), ("open", 9)]);
    assert_eq!(counts(&imported.definitions), [("evented profile", 2), ("frame", 3)]);
    assert_eq!((imported.processes, imported.locations, imported.events), (1, 2, 16));
    let expected =
        [("frames that are closed after those around them", 1), ("frames that are never closed", 2)];
    assert_eq!(problems(&imported), expected);
}

#[test]
fn samples_and_what_has_no_times_are_sums() {
    let imported = read(SUMS.as_bytes()).unwrap();
    assert!(imported.is_profile);
    assert_eq!(counts(&imported.records), [("close", 4), ("open", 4), ("sample", 8)]);
    let definitions = [("evented profile", 2), ("frame", 3), ("sampled profile", 2)];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations), (1, 4));
    assert_eq!(problems(&imported), []);
}

fn check_problem(from: &str, to: &str, problem: &str) {
    for whole in [TRACE, SUMS] {
        if whole.contains(from) {
            let imported = read(whole.replacen(from, to, 1).as_bytes()).unwrap();
            assert!(problems(&imported).iter().any(|it| it.0 == problem), "{to}: {:?}", imported.problems);
        }
    }
}

#[test]
fn what_contradicts_itself_is_a_problem() {
    check_problem(r#""frame": 2, "at": 20}"#, r#""frame": 7, "at": 20}"#, "frames that events speak of");
    check_problem(r#""at": 10}"#, r#""at": 1}"#, "events that are earlier than those before them");
    check_problem("[1.5, 2, 3, 4, 5, 0]", "[1.5, 2, 3, 4, 5]", "samples without weight");
    check_problem("[1.5, 2, 3, 4, 5, 0]", "[-1.5, 2, 3, 4, 5, 0]", "weights that are less than nothing");
    check_problem("[0, 1, 2]", "[0, 1, 9]", "frames that events or samples speak of");
    let closed = r#"{"type": "C", "frame": 2, "at": 4}"#;
    check_problem(
        closed,
        r#"{"type": "C", "frame": 0, "at": 4}"#,
        "frames that are closed and were not open",
    );
}

#[test]
fn what_is_cut_off_says_so() {
    for whole in [TRACE, SUMS] {
        let end = whole.trim_end().len();
        for len in 0..end {
            if let Ok(imported) = read(&whole.as_bytes()[..len]) {
                let is_said =
                    problems(&imported).iter().any(|it| it.0.contains("nothing is read from there on"));
                assert!(is_said, "{len}: {:?}", imported.problems);
            }
        }
    }
}

#[test]
fn no_damage_makes_it_panic() {
    for whole in [TRACE, SUMS] {
        for at in 0..whole.len() {
            for bits in [0xff, 0x01, 0x10] {
                let mut text = whole.as_bytes().to_vec();
                text[at] ^= bits;
                // What is no text any more may be of no format.
                if let Ok(imported) = read(&text) {
                    assert!(imported.processes == 1, "{at}");
                }
            }
        }
    }
}

#[test]
fn bombs_cost_no_memory() {
    let bomb = |begin: &str, filling: &str, number: usize| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        let schema = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",";
        packed.write_all((schema.to_owned() + begin).as_bytes()).unwrap();
        packed.write_all(filling.repeat(number).as_bytes()).unwrap();
        read(&packed.finish().unwrap()).unwrap_err().to_string()
    };
    let error = bomb("\"name\":\"", "x", 20 << 20);
    assert!(error.contains("a text is too long"), "{error}");
    let error = bomb("\"profiles\":", "[", 900);
    assert!(error.contains("invalid type: sequence, expected an object that is a profile"), "{error}");
    let error = bomb("\"other\":", "[", 100_000);
    assert!(error.contains("lists and objects are too deep within each other"), "{error}");
}

fn check_sample(name: &str, expected: &[(&str, u64)], expected_problems: &[(&str, u64)]) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/speedscope");
    let path = samples.join("jlfwong_speedscope").join(name);
    if !path.exists() {
        marey_testkit::skip("samples of Speedscope (../shared)");
        return;
    }
    assert_eq!(recognise(&path).unwrap().0, Format::Speedscope);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    assert_eq!(counts(&imported.records), expected);
    assert_eq!(problems(&imported), expected_problems);
}

// The numbers are those that Python's `json` counts.

#[test]
fn samples_are_read() {
    check_sample("simple.speedscope.json", &[("close", 5), ("open", 5)], &[]);
    check_sample("simple-sampled.speedscope.json", &[("sample", 5)], &[]);
    check_sample("incomplete-trace.json", &[("open", 1)], &[("frames that are never closed", 1)]);
}
