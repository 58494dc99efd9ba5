//! Paraver: a small trace of which all is known.
//!
//! The reference is what `marey dump` shows, gone through line by line against the trace, and tells what no counts do: who got
//! what from whom, and within which call; what counters stand at; when states end.

use std::path::Path;
use std::process::Command;

#[test]
fn a_small_trace_is_told_as_it_stands_there() {
    let dir = tempfile::tempdir().unwrap();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-formats/tests/paraver");
    let marey = |words: &[&str]| {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(dir.path()).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    marey(&["import", trace.to_str().unwrap(), "-o", "run.marey"]);
    // Of one time, lines of counters and facts come in the order of their numbers.
    assert_eq!(sorted(&marey(&["dump", "run.marey"])), sorted(include_str!("paraver.txt")));
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.sort_unstable();
    lines
}
