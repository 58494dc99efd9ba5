//! A run that is recorded again by a button of its page, in a browser.
//!
//! What is seen and pressed stands in `ui/test/again.mjs`. The program calls two functions; the page gives a rule that
//! nothing is kept of the one.

use std::path::Path;
use std::process::Command;

use crate::mpi_view::look_with;
use crate::support::{Place, programs};

/// How often a function of the program was called, by what a run says.
fn calls(run: &Path, name: &str) -> u64 {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let report = marey.args(["report", "--json"]).arg(run).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let regions = report["regions"].as_array().unwrap().iter();
    let of_name = regions.filter(|region| region["level"] == "source" && region["noun"] == name);
    of_name.map(|region| region["calls"].as_u64().unwrap()).sum()
}

#[test]
fn a_button_records_the_run_again_by_the_rules_that_were_chosen() {
    let place = Place::new();
    let dir = place.path();
    let flags = ["-g", "-O1", "-fno-inline", "-finstrument-functions", "-rdynamic", "-o", "program"];
    let mut gcc = Command::new("gcc");
    let Ok(built) = gcc.args(flags).arg(programs().join("again.c")).current_dir(dir).output() else {
        marey_testkit::skip("gcc");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state"));
    marey.args([
        "record",
        "--budget=off",
        "--rule",
        "count source:nothing",
        "-o",
        "run.marey",
        "--",
        "./program",
    ]);
    let recorded = marey.output().unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let run = dir.join("run.marey");
    assert_eq!((calls(&run, "gone"), calls(&run, "kept")), (1000, 1000));
    look_with(&run, &["--allow-run"], "again", dir, &place);
    // The browser has left the name of what was opened beside it.
    let made = std::fs::read_to_string(dir.join("made")).unwrap();
    assert_eq!((calls(&dir.join(&made), "gone"), calls(&dir.join(&made), "kept")), (0, 1000), "{made}");
    // One has failed, one was cancelled, this one has not.
    assert_eq!(made, "run-4.marey");
    assert_eq!(std::fs::read_to_string(dir.join("run-4.rules")).unwrap(), "off    source:gone\n");
}
