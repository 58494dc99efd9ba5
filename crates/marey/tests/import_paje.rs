//! Runs out of Pajé: what becomes of each event, as `pj_dump` tells it of the same trace.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

fn marey(dir: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_marey")).current_dir(dir).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines that `marey dump` prints of a trace, without their head; blanks are one each.
fn dumped(trace: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("trace"), trace).unwrap();
    marey(dir.path(), &["import", "trace", "-o", "run.marey"]);
    let text = marey(dir.path(), &["dump", "run.marey"]);
    text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

const SMALL: &str = include_str!("../../marey-formats/tests/paje/small.paje");

#[test]
fn events_are_what_they_were_written_as() {
    // The first state begins at 1 ms. `pj_dump` has the same times, values and ends of states, and the same link.
    let expected = [
        "0.000000000 rank 0 > compute",
        "0.000000000 rank 0 # memory = 5",
        "0.000000000 rank 1 > MPI_Recv",
        "0.001000000 rank 0 > MPI_Send",
        "0.001000000 rank 0 # memory = 8",
        "0.001000000 rank 0 -> rank 1 1000 B tag 0 MPI_COMM_WORLD",
        "0.001000000 rank 1 thread 1 > busy",
        "0.002000000 rank 0 < MPI_Send 1.00 ms 1000 B",
        "0.002000000 rank 0 # memory = 6.5",
        "0.003000000 rank 0 < compute 3.00 ms",
        "0.003000000 rank 1 thread 2 > long name",
        // It came at 4 ms; a receive is complete when its call ends.
        "0.005000000 rank 1 <- rank 0 1000 B tag 0 MPI_COMM_WORLD",
        "0.005000000 rank 1 < MPI_Recv 5.00 ms 1000 B",
        "0.005000000 rank 1 > compute",
        r#"0.006000000 rank 0 * mark {"Line":"42","value":"go on"}"#,
        "0.007000000 rank 1 < compute 2.00 ms",
        "0.008000000 rank 1 thread 2 < long name 5.00 ms",
        "0.009000000 rank 1 thread 1 < busy 8.00 ms",
    ];
    let (mut lines, mut expected) = (dumped(SMALL), expected.map(str::to_owned).to_vec());
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
}

#[test]
fn links_between_containers_of_no_rank_are_edges() {
    let lines = dumped(&SMALL.replace("rank1", "other"));
    let edges: Vec<_> =
        lines.iter().filter(|line| line.contains(" ~ ") || line.contains("* message")).collect();
    let expected = [
        "0.004000000 process 0 ~ spawn from process 0 thread 1 at 0.001000000",
        "0.004000000 process 0 * message {}",
    ];
    assert_eq!(edges, expected);
}
