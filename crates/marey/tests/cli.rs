//! Help and errors of the command line, compared with files under `tests/help`.
//!
//! `SNAPSHOTS=overwrite cargo test -p marey --test cli` accepts what is printed now; read the diff.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use snapbox::assert_data_eq;
use snapbox::cmd::Command;
use snapbox::{Data, file};

fn marey(args: &[&str]) -> Command {
    Command::new(snapbox::cmd::cargo_bin!("marey")).args(args)
}

fn check_help(args: &[&str], expected: Data) {
    let output = marey(args).output().unwrap();
    assert!(output.status.success());
    assert_data_eq!(String::from_utf8(output.stdout).unwrap(), expected.raw());
}

#[test]
fn help_explains_every_command() {
    check_help(&["--help"], file!["help/marey.txt"]);
    check_help(&["record", "--help"], file!["help/record.txt"]);
    check_help(&["doctor", "--help"], file!["help/doctor.txt"]);
    check_help(&["link", "--help"], file!["help/link.txt"]);
    check_help(&["report", "--help"], file!["help/report.txt"]);
    check_help(&["info", "--help"], file!["help/info.txt"]);
    check_help(&["dump", "--help"], file!["help/dump.txt"]);
    check_help(&["merge", "--help"], file!["help/merge.txt"]);
    check_help(&["gather", "--help"], file!["help/gather.txt"]);
    check_help(&["waits", "--help"], file!["help/waits.txt"]);
    check_help(&["path", "--help"], file!["help/path.txt"]);
    check_help(&["diff", "--help"], file!["help/diff.txt"]);
    check_help(&["check", "--help"], file!["help/check.txt"]);
    check_help(&["scale", "--help"], file!["help/scale.txt"]);
    check_help(&["situations", "--help"], file!["help/situations.txt"]);
    check_help(&["phases", "--help"], file!["help/phases.txt"]);
    check_help(&["anomalies", "--help"], file!["help/anomalies.txt"]);
    check_help(&["what-if", "--help"], file!["help/what-if.txt"]);
    check_help(&["hot", "--help"], file!["help/hot.txt"]);
    check_help(&["arrays", "--help"], file!["help/arrays.txt"]);
    check_help(&["sentence", "--help"], file!["help/sentence.txt"]);
    check_help(&["f90", "--help"], file!["help/f90.txt"]);
    check_help(&["lines", "--help"], file!["help/lines.txt"]);
    check_help(&["instrument", "--help"], file!["help/instrument.txt"]);
    check_help(&["remarks", "--help"], file!["help/remarks.txt"]);
    check_help(&["pack", "--help"], file!["help/pack.txt"]);
    check_help(&["view", "--help"], file!["help/view.txt"]);
    check_help(&["export", "--help"], file!["help/export.txt"]);
    check_help(&["completions", "--help"], file!["help/completions.txt"]);
    check_help(&["man", "--help"], file!["help/man.txt"]);
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    let cases: [(&[&str], &str); 12] = [
        (&[], "Usage: marey <COMMAND>"),
        (&["frobnicate"], "unrecognized subcommand 'frobnicate'"),
        (&["record"], "<CMD>..."),
        (&["record", "--mode", "everything", "--", "true"], "possible values: trace, profile, full, quiet"),
        (
            &["record", "--rule", "skip MPI_Send", "--", "true"],
            "does not begin with off, count, time or trace",
        ),
        (&["record", "--rule", "count", "--", "true"], "names no regions"),
        (
            &["record", "--rule", "count mip:MPI_*", "--", "true"],
            "none of source, mpi, threads, files, system, memory, coarray, openmp, kokkos and tasks",
        ),
        (&["record", "--rule", "off io:read", "--", "true"], "is source:NAME"),
        (&["record", "--elements", "0-99", "--", "true"], "1 to 64"),
        (&["record", "--elements", "0-3", "--", "true"], "add --mode full"),
        (&["record", "--elements", "8", "--mode", "profile", "--", "true"], "add --mode full"),
        (&["record", "--depth", "33", "--", "true"], "33 is not in 1..=32"),
    ];
    for (args, expected) in cases {
        let output = marey(args).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(expected), "{args:?}: {text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn completions_know_every_shell_and_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = marey(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("record"), "{shell}");
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let output = marey(&["man", dir.path().to_str().unwrap()]).output().unwrap();
    assert!(output.status.success());
    let page = std::fs::read_to_string(dir.path().join("marey-record.1")).unwrap();
    assert!(page.contains("EXIT STATUS"), "{page}");
    assert!(dir.path().join("marey.1").exists());
}
