//! What compilers said of loops, as the viewer is told it: as the run keeps it, in a page the same, in a redacted copy not at all.

use marey_analyze::{LoopOutcome, RemarkRow};
use marey_archive::{Archive, keep_remarks, redact};
use marey_serve::{Opened, SPARED, answer};
use serde_json::{Value, json};

use super::Made;
use super::decoded::ask;
use super::exported::held;

const ASK: &[u8] = br#"{"ask":"remarks"}"#;

fn row(line: u32, outcome: LoopOutcome, kind: &str) -> RemarkRow {
    RemarkRow {
        file: "/home/ada/secret.c".to_owned(),
        first_line: line,
        last_line: line + 2,
        is_read: true,
        function: "sweep".to_owned(),
        outcome,
        kind: kind.to_owned(),
        line: line + 1,
        column: 9,
        compiler: "GCC".to_owned(),
        pass: "vect".to_owned(),
        reason: "an iteration needs what another one writes".to_owned(),
        said: "bad data dependence".repeat(90),
        dependence: "carried".to_owned(),
        distance: 1,
        array: "secret_array".to_owned(),
        is_array_of_text: false,
        lanes: 4,
        callee: String::new(),
        inlined_into: String::new(),
    }
}

fn opened(run: &std::path::Path) -> Opened<'static> {
    Opened::new(Box::leak(Box::new(Archive::open(run).unwrap())), "made", Vec::new).unwrap()
}

#[test]
fn remarks_are_told_in_a_page_too_and_of_no_redacted_copy() {
    let made = Made::random(30);
    let run = made.dir.path().join("run");
    let none = ask(&opened(&run), &json!({ "ask": "remarks" })).head;
    assert!(none["why_not"].as_str().unwrap().contains("-fsave-optimization-record"), "{none}");

    let silent = RemarkRow { kind: String::new(), ..row(90, LoopOutcome::Silent, "") };
    let mut rows = vec![row(5, LoopOutcome::NotVectorised, "not vectorised"), silent];
    rows.push(row(40, LoopOutcome::Vectorised, "vectorised"));
    // Of one loop as much as can be read.
    rows.extend((0..9).map(|column| RemarkRow { column, ..row(60, LoopOutcome::Both, "not vectorised") }));
    keep_remarks(&run, &rows).unwrap();
    let head = ask(&opened(&run), &json!({ "ask": "remarks" })).head;
    assert_eq!(head["why_not"], Value::Null);
    let loops = head["loops"].as_array().unwrap();
    let of = |it: &Value| [it["first"].as_u64(), it["more"].as_u64(), it["is_left"].as_bool().map(u64::from)];
    assert_eq!(
        loops.iter().map(of).collect::<Vec<_>>(),
        [[Some(5), Some(0), Some(1)], [Some(40), Some(0), Some(0)], [Some(60), Some(3), Some(1)]]
    );
    let why = &loops[0]["remarks"][0];
    assert_eq!([&why["array"], &why["dependence"], &why["compiler"]], ["secret_array", "carried", "GCC"]);
    assert_eq!([why["line"].as_u64(), why["distance"].as_u64()], [Some(6), Some(1)]);
    assert_eq!(why["said"].as_str().unwrap().len(), 400);

    // A page has the same.
    assert_eq!(answer(&held(&made, SPARED[0]), ASK), answer(&opened(&run), ASK));

    let copy = made.dir.path().join("copy");
    redact(&[(&run, &copy)], &[]).unwrap();
    let told = answer(&opened(&copy), ASK);
    let told = String::from_utf8_lossy(&told);
    assert!(!told.contains("secret") && told.contains("why_not\":\"No remarks"), "{told}");
}

#[test]
fn remarks_that_cannot_be_read_are_told_as_such() {
    let made = Made::random(31);
    let run = made.dir.path().join("run");
    keep_remarks(&run, &[row(5, LoopOutcome::NotVectorised, "not vectorised")]).unwrap();
    let table = run.join("remarks.parquet");
    let bytes = std::fs::read(&table).unwrap();
    std::fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    let head = ask(&opened(&run), &json!({ "ask": "remarks" })).head;
    assert!(head["why_not"].as_str().unwrap().contains("cannot be read"), "{head}");
}
