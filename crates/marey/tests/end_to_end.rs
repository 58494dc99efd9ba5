//! From a command to a run and back: recording, merging and reading with the real recorder.
//!
//! The programs are those of every system; they make no call that is measured, but the command
//! itself is measured from its start, so each leaves a run with one process.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod place;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use place::{Place, stderr};
use serde_json::Value;

fn facts(place: &Place, run: &str) -> Value {
    serde_json::from_str(&place.ok(&["info", run, "--json"])).unwrap()
}

fn names(place: &Place, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(directory)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_recording_becomes_a_run() {
    let place = Place::new();
    let recorded = place.marey(&["record", "--title", "listing", "--", "ls", "/"]);
    assert!(recorded.status.success());
    assert!(stderr(&recorded).contains("`marey report run.marey`"), "{}", stderr(&recorded));
    let left = names(&place, "run.marey");
    for file in ["spool", "libmarey.so", "recording.lock", "launch.json"] {
        assert!(!left.iter().any(|name| name == file), "{file} is left: {left:?}");
    }

    let info = facts(&place, "run.marey");
    assert_eq!(info["processes"], 1);
    assert_eq!(info["problems"]["lost"], 0);
    assert!(info["duration_ns"].as_i64().unwrap() > 0);
    let shown = place.ok(&["info"]);
    assert!(shown.contains("listing") && shown.contains("ls /"), "{shown}");
    assert!(place.ok(&["report"]).contains("PROBLEMS"));
    assert_eq!(place.marey(&["record", "--", "ls", "/"]).status.code(), Some(2), "it is finished");
}

/// The program's own copy of the user API had given up after its first window, because
/// only the library's copy can open the next.
#[test]
fn regions_of_a_rust_program_are_all_there() {
    const PAIRS: u64 = 200_000;
    // Built by the test runner, beside the executable.
    let program = PathBuf::from(env!("CARGO_BIN_EXE_marey")).with_file_name("examples").join("pairs");
    if !program.exists() {
        return marey_testkit::skip(&format!("{}, which `--examples` builds", program.display()));
    }
    let place = Place::new();
    place.ok(&["record", "--", program.to_str().unwrap(), &PAIRS.to_string()]);
    let report: Value = serde_json::from_str(&place.ok(&["report", "--json"])).unwrap();
    let regions = report["regions"].as_array().unwrap();
    let own = regions.iter().filter(|region| region["level"] == "source");
    // Each of the 50 regions is entered once more, before the loop.
    assert_eq!(own.map(|region| region["calls"].as_u64().unwrap()).sum::<u64>(), PAIRS + 50);
    assert_eq!(facts(&place, "run.marey")["problems"]["dropped"], 0);
}

/// What outlives the command goes on recording after the merge: seen to be lost, without a word.
#[test]
fn what_still_runs_when_the_command_has_ended_is_not_lost() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    // It has begun to record when the command ends.
    let script = "cat pipe > copy 2> /dev/null & echo $! > pid
                  until test -e $MAREY_SPOOL/*-$!-*.events; do :; done";
    let recorded = place.marey(&["record", "--all", "--", "/bin/sh", "-c", script]);
    let said = stderr(&recorded);
    assert!(said.contains("still run") && said.contains("`marey merge --force run.marey`"), "{said}");
    assert!(place.path("run.marey/spool").is_dir());
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    fs::write(place.path("pipe"), "all").unwrap();
    while Path::new("/proc").join(pid.trim()).exists() {
        std::thread::yield_now();
    }
    place.ok(&["merge", "--force", "run.marey"]);
    assert!(!place.path("run.marey/spool").exists());
    let processes = facts(&place, "run.marey");
    assert_eq!((&processes["processes"], &processes["ended_early"]), (&2.into(), &Value::Array(Vec::new())));
}

#[test]
fn a_recorder_that_is_off_records_nothing() {
    let place = Place::new();
    let output = place.marey(&["record", "--mode", "quiet", "--", "ls", "/"]);
    assert!(output.status.success());
    assert!(stderr(&output).contains("nothing was recorded"), "{}", stderr(&output));
}

#[test]
fn a_merge_can_be_put_off() {
    let place = Place::new();
    place.ok(&["record", "--no-merge", "--", "ls", "/"]);
    assert_eq!(place.marey(&["info"]).status.code(), Some(2));
    place.ok(&["merge", "run.marey", "--keep-spool", "--threads", "1", "--memory-mb", "64"]);
    assert_eq!(facts(&place, "run.marey")["processes"], 1);

    let again = place.marey(&["merge", "run.marey"]);
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
    // Ranks leave such a file to find each other; it goes with the spool.
    fs::write(place.path("run.marey/spool/world-0123456789abcdef"), "").unwrap();
    place.ok(&["merge", "run.marey", "--force"]);
    assert!(!place.path("run.marey/spool").exists());
    assert_eq!(facts(&place, "run.marey")["processes"], 1);
    let gone = place.marey(&["merge", "run.marey", "--force"]);
    assert!(stderr(&gone).contains("its spool is gone"), "{}", stderr(&gone));
}

#[test]
fn a_bare_spool_can_be_merged_to_anywhere() {
    let place = Place::new();
    place.ok(&["record", "--no-merge", "--", "ls", "/"]);
    fs::rename(place.path("run.marey/spool"), place.path("spool")).unwrap();
    let unsaid = place.marey(&["merge", "spool"]);
    assert_eq!(unsaid.status.code(), Some(2));
    assert!(stderr(&unsaid).contains("-o"), "{}", stderr(&unsaid));
    place.ok(&["merge", "spool", "-o", "other.marey"]);
    assert_eq!(facts(&place, "other.marey")["processes"], 1);
    assert!(!place.path("spool").exists());
}

#[test]
fn a_spool_elsewhere_is_removed() {
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    place.ok(&["record", "--spool", "disk", "--", "ls", "/"]);
    assert_eq!(facts(&place, "run.marey")["processes"], 1);
    assert!(names(&place, "disk").is_empty(), "{:?}", names(&place, "disk"));
    assert!(place.path("run.marey/spool").symlink_metadata().is_err());
}

#[test]
fn what_is_no_spool_is_not_merged() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    for input in ["empty", "missing"] {
        let output = place.marey(&["merge", input, "-o", "run.marey"]);
        assert_eq!(output.status.code(), Some(2), "{input}");
        assert!(!place.path("run.marey").exists());
    }
}

#[test]
fn a_merge_that_fails_leaves_the_exit_status_and_the_spool() {
    let place = Place::new();
    // The program itself spoils the place where the list of tables is to go.
    let script = "mkdir -p $MAREY_SPOOL/../meta.json/in-the-way; ls / > listing; exit 5";
    let output = place.marey(&["record", "--all", "--", "/bin/sh", "-c", script]);
    assert_eq!(output.status.code(), Some(5));
    let text = stderr(&output);
    assert!(text.contains("warning") && text.contains("marey merge run.marey"), "{text}");
    fs::remove_dir_all(place.path("run.marey/meta.json")).unwrap();
    place.ok(&["merge", "run.marey"]);
    assert!(facts(&place, "run.marey")["processes"].as_i64().unwrap() >= 1);
}

#[test]
fn a_packed_run_is_read_in_place() {
    let place = Place::new();
    place.ok(&["record", "--", "ls", "/"]);
    let info = facts(&place, "run.marey");
    place.ok(&["pack", "run.marey", "-o", "one.zip"]);
    fs::remove_dir_all(place.path("run.marey")).unwrap();
    assert_eq!(facts(&place, "one.zip"), info);
}
