//! Whether marey says of a recorded program what the program says of itself.
//!
//! The one idea: the program's own clock measured waits and delays in the very run that was recorded, so nothing has to
//! be repeated for the numbers to be compared; only a machine that was busy makes a run unfit to tell anything.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::build::Built;
use crate::cases::{Case, Inefficiency, NOT_STARTED, Place, Wait};
use crate::judge;
use crate::measured::Truth;

/// Runs a case under the recorder and compares.
pub(crate) fn judge(built: &Built, case: &Case, dir: &Path) -> Result<(), String> {
    let run = dir.join("run.marey");
    let words = ["record", "-o"].map(OsString::from);
    let prefix =
        [&[OsString::from(env!("CARGO_BIN_EXE_marey"))], &words[..], &[run.clone().into(), "--".into()]];
    let truth = built.run(case, &prefix.concat(), dir);
    // If the program itself did not get what it was meant to do, nothing can be told.
    judge::judge(case, std::slice::from_ref(&truth))?;
    let output =
        Command::new(env!("CARGO_BIN_EXE_marey")).args(["report", "--json"]).arg(&run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for finding in rows(&report, "findings") {
        shows_evidence(finding);
    }
    match &case.inefficiency {
        None => no_findings(&report),
        Some(it) => shows(it, &truth, &report),
    }
}

/// The command of a finding, given to a shell, shows the call that was waited in, and for whom.
fn shows_evidence(finding: &Value) {
    let command = finding["command"].as_str().unwrap();
    let words = command.strip_prefix("marey ").unwrap_or_else(|| panic!("{command}"));
    let line = format!("\"$MAREY\" {words}");
    let output =
        Command::new("sh").args(["-c", &line]).env("MAREY", env!("CARGO_BIN_EXE_marey")).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    if finding["kind"] == "delay" {
        let effect = &finding["effects"][0];
        for word in ["pattern", "region"].map(|field| effect[field].as_str().unwrap()) {
            assert!(shown.contains(word), "{command} does not show {word}:\n{shown}");
        }
    }
}

fn no_findings(report: &Value) -> Result<(), String> {
    let findings: Vec<&str> = rows(report, "findings").filter_map(|row| row["text"].as_str()).collect();
    if findings.is_empty() { Ok(()) } else { Err(format!("it has findings: {findings:#?}")) }
}

/// 5 % and 1 ms for the time between the clocks of the two.
fn are_equal(found_s: f64, expected_s: f64) -> bool {
    (found_s - expected_s).abs() <= expected_s * 0.05 + 0.001
}

fn shows(it: &Inefficiency, truth: &Truth, report: &Value) -> Result<(), String> {
    let mut expected_cost_s = 0.0;
    for wait in &it.waits {
        let expected_s = judge::time(wait, truth).0;
        expected_cost_s += expected_s;
        let is_it = |row: &&Value| {
            row["pattern"] == wait.pattern.to_string().as_str()
                && row["region"] == wait.region
                && is_in(row, wait)
                && is_at(row, wait.place)
        };
        let found_s: f64 = rows(report, "waits").filter(is_it).map(|row| seconds(row, "wait_ns")).sum();
        if !are_equal(found_s, expected_s) {
            let all: Vec<String> = rows(report, "waits").map(Value::to_string).collect();
            return Err(format!("{wait:?}: {found_s:.4} s instead of {expected_s:.4} s; {all:#?}"));
        }
    }
    let late = it.cause.functions.last().unwrap();
    let is_cause = |row: &&Value| ends_with(row, late) && is_at(row, it.cause.place);
    let cost_s: f64 = rows(report, "delays").filter(is_cause).map(|row| seconds(row, "cost_ns")).sum();
    if !are_equal(cost_s, expected_cost_s) {
        let all: Vec<String> = rows(report, "delays").map(Value::to_string).collect();
        return Err(format!("{late} costs {cost_s:.4} s instead of {expected_cost_s:.4} s; {all:#?}"));
    }
    if *late == NOT_STARTED {
        return no_findings(report);
    }
    let findings: Vec<&Value> = rows(report, "findings").collect();
    let is_the_one = |row: &Value| ends_with(row, late);
    match findings.as_slice() {
        [only] if is_the_one(only) => Ok(()),
        all => Err(format!("it is not the one finding: {all:#?}")),
    }
}

fn rows<'r>(report: &'r Value, table: &str) -> impl Iterator<Item = &'r Value> {
    report[table].as_array().unwrap().iter()
}

fn seconds(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap() / 1e9
}

/// Whether the function that made the call is the one. Of a name in Rust the last part is.
fn ends_with(row: &Value, function: &str) -> bool {
    row["function"].as_str().unwrap().rsplit("::").next() == Some(function)
}

fn is_in(row: &Value, wait: &Wait) -> bool {
    ends_with(row, wait.functions.last().unwrap())
}

/// Whether a row is of a thread: those that a program begins have names, the first has the program's.
fn is_at(row: &Value, place: Place) -> bool {
    let rank = row["rank"].as_u64().unwrap_or(0);
    let is_first = !row["location"].as_str().unwrap().contains("thread");
    let is_it = if place.thread == "main" { is_first } else { row["thread"] == place.thread };
    rank == u64::from(place.rank) && is_it
}
