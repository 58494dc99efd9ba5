//! Runs out of logs of MPE: what becomes of each record, written down by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../marey-formats/tests/clog2/writer.rs"]
mod writer;

#[path = "../../marey-formats/tests/clog1/writer.rs"]
mod older;

use std::path::Path;
use std::process::Command;

/// The lines that `marey dump` prints of a log, without their head; blanks are one each.
fn dumped(log: &[u8]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log");
    std::fs::write(&file, log).unwrap();
    marey(dir.path(), &["import", "log", "-o", "run.marey"]);
    let text = marey(dir.path(), &["dump", "run.marey"]);
    text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn marey(dir: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_marey")).current_dir(dir).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn records_of_clog2_are_what_they_were_written_as() {
    for is_big in [true, false] {
        let lines = dumped(&writer::log(is_big));
        let expected = [
            r#"0.000000000 rank 1 * TIMESHIFT {"seconds":0.5}"#,
            r#"0.003000000 rank 0 * SRCLOC {"file":"main.c","id":5,"line":42}"#,
            "0.004000000 rank 0 > MPI_Send",
            "0.004000000 rank 0 -> rank 1 1000 B tag 17 MPI_COMM_WORLD",
            "0.006000000 rank 0 < MPI_Send 2.00 ms 1000 B",
            "0.006500000 rank 1 > MPI_Recv",
            "0.008000000 rank 1 <- rank 0 1000 B tag 17 MPI_COMM_WORLD",
            "0.008000000 rank 1 < MPI_Recv 1.50 ms 1000 B",
            "0.009000000 rank 0 = send 0 ns 24 B",
            "0.009000000 rank 0 -> rank 1 24 B tag 8 communicator 3",
            "0.010000000 rank 1 = receive 0 ns 24 B",
            "0.010000000 rank 1 <- rank 0 24 B tag 8 communicator 3",
            "0.012000000 rank 1 thread 1 > compute",
            r#"0.012000000 rank 1 thread 1 * compute {"step":9,"what":"hi"}"#,
            r#"0.012000000 rank 1 thread 1 * compute {"step":-3,"what":"no"}"#,
            "0.013000000 rank 1 thread 1 < compute 1.00 ms",
            r#"0.014000000 rank 0 * mark {"x":2.5,"y":-7}"#,
            "0.015000000 rank 0 * event 41 {}",
            "0.016000000 rank 0 = collective 0 ns 64 B",
            "0.016000000 rank 0 @ MPI_COMM_WORLD #0, root 0, 64 B out, 0 B in",
            r#"0.017000000 rank 0 * COLLEVT {"bytes":64,"event":50,"root":1}"#,
        ];
        assert_eq!(lines, expected);
    }
}

#[test]
fn lines_of_alog_are_what_they_were_written_as() {
    let lines = dumped(include_bytes!("../../marey-formats/tests/alog/small.alog"));
    // The timer has run over once before the last line, which is 1 s later for it.
    let expected = [
        r#"0.000000000 rank 0 * clock {"data":0}"#,
        "0.000010000 rank 0 > compute",
        r#"0.000010000 rank 0 * data {"value":8}"#,
        r#"0.000010000 rank 0 * data at the end {"value":9}"#,
        r#"0.000020000 rank 0 * iteration {"comment":"with a comment","data":3}"#,
        "0.000030000 rank 0 < compute 20.0 µs",
        "0.000100000 rank 0 > MPI_Send",
        "0.000100000 rank 0 -> rank 1 12 B tag 99 MPI_COMM_WORLD",
        "0.000120000 rank 0 < MPI_Send 20.0 µs 12 B",
        "0.000200000 rank 1 > MPI_Recv",
        "0.000220000 rank 1 <- rank 0 12 B tag 99 MPI_COMM_WORLD",
        "0.000220000 rank 1 < MPI_Recv 20.0 µs 12 B",
        r#"1.000230000 rank 1 * event 8 {"data":4}"#,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn records_of_clog1_are_what_they_were_written_as() {
    let lines = dumped(&older::log(1024));
    let iterations: Vec<String> =
        (1..=14).map(|at| format!("0.{at:03}000000 rank 0 * iteration {{\"data\":{at}}}")).collect();
    let begin = [
        "0.000000000 rank 0 > Compute",
        r#"0.000000000 rank 0 * data {"comment":"begin","value":0}"#,
        r#"0.000000000 rank 0 * data at the end {"value":5}"#,
    ];
    // The first message is sent in a state that MPICH called after its function; the others in none.
    let end = [
        "0.015000000 rank 0 < Compute 15.0 ms",
        "0.020000000 rank 0 > SEND",
        "0.020000000 rank 0 -> rank 1 80 B tag 4 MPI_COMM_WORLD",
        "0.022000000 rank 0 < SEND 2.00 ms 80 B",
        "0.023000000 rank 1 = receive 0 ns 80 B",
        "0.023000000 rank 1 <- rank 0 80 B tag 4 MPI_COMM_WORLD",
        "0.024000000 rank 0 = send 0 ns 16 B",
        "0.024000000 rank 0 -> rank 1 16 B tag 9 MPI_COMM_WORLD",
        "0.025000000 rank 1 = receive 0 ns 16 B",
        "0.025000000 rank 1 <- rank 0 16 B tag 9 MPI_COMM_WORLD",
    ];
    let expected: Vec<&str> =
        begin.into_iter().chain(iterations.iter().map(String::as_str)).chain(end).collect();
    assert_eq!(lines, expected);
}
