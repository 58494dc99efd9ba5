//! Runs out of logs of Jumpshot: what becomes of each drawable, written down by hand; and a log beside what it was made of.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../marey-formats/tests/slog2/writer.rs"]
mod writer;

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

/// The lines that `marey dump` prints of a log, without their head; blanks are one each.
fn dumped(log: &[u8]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log");
    std::fs::write(&file, log).unwrap();
    marey(dir.path(), &["import", "log", "-o", "run.marey"]);
    let text = marey(dir.path(), &["dump", "run.marey"]);
    text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn drawables_are_what_they_were_written_as() {
    for version in ["SLOG 2.0.6", "SLOG 2.0.3"] {
        // The first drawable is at 0.05 s. Lines 0 and 3 are rank 0, line 2 is thread 1 of rank 1.
        let expected = [
            "0.000000000 rank 0 * category 99 {}",
            r#"0.050000000 rank 1 thread 1 * mark {"at":255,"big":1099511627776,"f":0.5,"x":2.5,"y":-7}"#,
            "0.150000000 rank 0 > MPI_Send",
            "0.150000000 rank 0 -> rank 1 1000 B tag 17 MPI_COMM_WORLD",
            "0.170000000 rank 1 > MPI_Recv",
            "0.200000000 rank 0 < MPI_Send 50.0 ms 1000 B",
            "0.250000000 rank 1 <- rank 0 1000 B tag 17 MPI_COMM_WORLD",
            "0.250000000 rank 1 < MPI_Recv 80.0 ms 1000 B",
            "0.300000000 rank 0 > compute",
            r#"0.300000000 rank 0 * compute {"step":9,"what":"hi"}"#,
            "0.350000000 rank 1 thread 1 > compute",
            "0.400000000 rank 0 < compute 100 ms",
            "0.550000000 rank 0 > BARRIER",
            r#"0.550000000 rank 0 * pair {"n":3}"#,
            "0.550000000 rank 1 > BARRIER",
            "0.650000000 rank 0 < BARRIER 100 ms",
            "0.650000000 rank 1 < BARRIER 100 ms",
            // A message that is there before it is sent, outside of any call.
            "0.700000000 rank 0 = receive 0 ns 24 B",
            "0.700000000 rank 0 <- rank 1 24 B tag 8 MPI_COMM_WORLD",
            "0.750000000 rank 1 = send 0 ns 24 B",
            "0.750000000 rank 1 -> rank 0 24 B tag 8 MPI_COMM_WORLD",
            "0.850000000 rank 1 thread 1 < compute 500 ms",
        ];
        assert_eq!(dumped(&writer::log(version)), expected);
    }
}

#[test]
fn arrows_between_lines_of_no_rank_are_edges() {
    let expected = [
        "0.000000000 process 0 > work",
        "1.000000000 process 0 < work 1.00 s",
        "2.000000000 process 0 thread 1 > work",
        "2.500000000 process 0 thread 1 ~ spawn from process 0 at 1.000000000",
        r#"2.500000000 process 0 thread 1 * link {"weight":12}"#,
        "3.500000000 process 0 thread 1 < work 1.50 s",
    ];
    assert_eq!(dumped(&writer::lines()), expected);
}

/// What happened: its time since the first initialisation, what, and how many bytes were moved.
type Happened = (u64, String, u64);

/// All that happened, in order.
fn happened(dir: &Path, log: &Path, run: &str) -> Vec<Happened> {
    marey(dir, &["import", log.to_str().unwrap(), "-o", run]);
    let text = marey(dir, &["dump", run, "--json"]);
    let rows = text.lines().map(|line| serde_json::from_str::<BTreeMap<String, Value>>(line).unwrap());
    // What clocks were shifted by is lost on the way from one format to the other.
    let rows = rows.filter(|row| row.get("name") != Some(&"TIMESHIFT".into()));
    let mut happened: Vec<Happened> = rows
        .map(|mut row| {
            let mut number = |name: &str| row.remove(name).and_then(|it| it.as_u64());
            let (time, bytes) = (number("time_ns").unwrap(), number("bytes").unwrap_or(0));
            (time, format!("{row:?}"), bytes)
        })
        .collect();
    let begin = happened.iter().map(|it| it.0).min().unwrap();
    happened.iter_mut().for_each(|it| it.0 -= begin);
    happened.sort();
    happened
}

#[test]
fn a_log_tells_what_the_one_tells_that_it_was_made_of() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let names = ["slog2/converted_with_clog2TOslog2/srtest.slog2", "clog2/generated_with_MPE-2/srtest.clog2"];
    let [made, source] = names.map(|name| samples.join(name));
    if !made.exists() || !source.exists() {
        marey_testkit::skip("samples of logs of MPE (../shared)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let made = happened(dir.path(), &made, "made.marey");
    let source = happened(dir.path(), &source, "source.marey");
    assert_eq!((made.len(), source.len()), (2 * 12_008 + 2 * 4000 + 8, 2 * 12_008 + 2 * 4000 + 8));
    // The converter writes a size of 0 where clocks let a message arrive before it was sent.
    let differing = made.iter().zip(&source).find(|(made, source)| {
        (made.0, &made.1) != (source.0, &source.1) || made.2 != source.2 && made.2 != 0
    });
    assert_eq!(differing, None);
    let bytes = |happened: &[Happened]| happened.iter().map(|it| it.2).sum::<u64>();
    assert!(bytes(&made) * 10 > bytes(&source) * 8, "{} {}", bytes(&made), bytes(&source));
}
