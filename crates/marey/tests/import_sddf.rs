//! Runs out of SDDF: what becomes of each record, written down by hand; and TAU's dialect beside the trace it was made of.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn marey(dir: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_marey")).current_dir(dir).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines that `marey dump` prints of a trace, without their head; blanks are one each.
fn dumped(trace: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace");
    std::fs::write(&file, trace).unwrap();
    marey(dir.path(), &["import", "trace", "-o", "run.marey"]);
    let text = marey(dir.path(), &["dump", "run.marey"]);
    text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn records_with_times_are_what_they_were_written_as() {
    // The first record is at 1 ms. Those at 7 and 8 ms are ticks, between them is one that is damaged.
    let expected = [
        r#"0.000000000 rank 1 * sample {"Event Identifier":42,"Timestamp":"[7,8]","load":2.5,"many":"[1,-2,3]","names":"[\"x\",\"y\"]","text":"a \"b\";;"}"#,
        "0.001000000 rank 0 > compute(int)",
        "0.001500000 rank 0 thread 1 # heap = 4096",
        r#"0.001600000 rank 0 * metadata {"name":"Hostname","value":"alpha"}"#,
        "0.002000000 rank 0 = send 0 ns 1000 B",
        "0.002000000 rank 0 -> rank 1 1000 B tag 17 MPI_COMM_WORLD",
        "0.003000000 rank 1 = receive 0 ns 1000 B",
        "0.003000000 rank 1 <- rank 0 1000 B tag 17 MPI_COMM_WORLD",
        "0.004000000 rank 0 < compute(int) 3.00 ms",
        r#"0.004000000 rank 0 * timeless {"value":9}"#,
        "0.005000000 rank 1 * tick {}",
        "0.007000000 rank 1 * tick {}",
    ];
    assert_eq!(dumped(include_str!("../../marey-formats/tests/sddf/small.sddf")), expected);
}

#[test]
fn records_of_dimemas_are_where_their_tasks_have_come_to() {
    // Task 0 has come to 10 and 15 ms by its bursts, task 1 to 20 ms by its only one.
    let expected = [
        "0.000000000 rank 0 > CPU burst",
        "0.000000000 rank 1 > CPU burst",
        "0.010000000 rank 0 < CPU burst 10.0 ms",
        "0.010000000 rank 0 = MPI_Send 0 ns 1000 B",
        "0.010000000 rank 0 > solve",
        "0.010000000 rank 0 > CPU burst",
        "0.010000000 rank 0 -> rank 1 1000 B tag 17 MPI_COMM_WORLD",
        "0.015000000 rank 0 < CPU burst 5.00 ms",
        "0.015000000 rank 0 < solve 5.00 ms",
        "0.015000000 rank 0 = MPI_Bcast 0 ns 64 B",
        "0.015000000 rank 0 = send 0 ns 24 B",
        "0.015000000 rank 0 @ MPI_COMM_WORLD #0, root 1, 0 B out, 64 B in",
        "0.015000000 rank 0 -> rank 1 24 B tag 8 communicator 7",
        r#"0.015000000 rank 0 * iteration {"name":"second","value":2}"#,
        "0.020000000 rank 1 < CPU burst 20.0 ms",
        "0.020000000 rank 1 = receive 0 ns 1000 B",
        "0.020000000 rank 1 = MPI_Bcast 0 ns 64 B",
        "0.020000000 rank 1 = receive 0 ns 24 B",
        "0.020000000 rank 1 @ MPI_COMM_WORLD #0, root 1, 64 B out, 0 B in",
        "0.020000000 rank 1 <- rank 0 1000 B tag 17 MPI_COMM_WORLD",
        "0.020000000 rank 1 <- rank 0 24 B tag 8 communicator 7",
        r#"0.020000000 rank 1 * NX recv {"commid":1,"msg length":1000,"source taskid":0,"tag":17,"type":1}"#,
        r#"0.020000000 rank 1 * user event 91 {"value":5}"#,
    ];
    assert_eq!(dumped(include_str!("../../marey-formats/tests/sddf/dimemas.sddf")), expected);
}

/// What a trace says of regions and metadata: time since the beginning, and what.
fn happened(dir: &Path, trace: &Path, run: &str) -> Vec<(u64, String)> {
    marey(dir, &["import", trace.to_str().unwrap(), "-o", run]);
    let text = marey(dir, &["dump", run, "--json"]);
    let rows = text.lines().map(|line| serde_json::from_str::<BTreeMap<String, Value>>(line).unwrap());
    let is_kept = |row: &BTreeMap<String, Value>| {
        matches!(row["event"].as_str(), Some("enter" | "leave" | "visit"))
            || row.get("name") == Some(&"metadata".into())
    };
    let mut happened: Vec<_> = rows
        .filter(is_kept)
        .map(|mut row| (row.remove("time_ns").unwrap().as_u64().unwrap(), format!("{row:?}")))
        .collect();
    happened.sort();
    happened
}

#[test]
fn the_dialect_of_tau_tells_what_the_trace_tells_that_it_was_made_of() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let names = ["sddf/generated_with_tau_convert/cpi.sddf", "tau-trace/generated_with_TAU/cpi/tau.trc"];
    let [made, source] = names.map(|name| samples.join(name));
    if !made.exists() || !source.exists() {
        marey_testkit::skip("samples of traces of TAU (../shared)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let made = happened(dir.path(), &made, "made.marey");
    let source = happened(dir.path(), &source, "source.marey");
    // Of the 48 visits, one takes no time and is told by a single line.
    assert_eq!((made.len(), source.len()), (2 * 47 + 1 + 912, 2 * 47 + 1 + 912));
    assert_eq!(made.iter().zip(&source).find(|(made, source)| made != source), None);
}
