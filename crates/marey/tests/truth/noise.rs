//! Whether a delay of the machine is told from one of the program.
//!
//! The one idea: a thread is late because a rival has its processor, or because it has more to do; the time that it had the
//! processor tells the two apart, and it measures that itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::build::programs;

/// Runs in which the machine took nothing else away from the thread than is meant.
const MOST_RUNS: u32 = 6;

/// Less of the processor than this is a machine that does much else.
const BUSY: f64 = 0.8;

/// What a command says of the run, as JSON, and wall and processor time that the program measured, seconds.
fn record(program: &Path, word: &str, asked: &str) -> (Value, [f64; 2]) {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let truth = place.path().join("truth");
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    command.args(["record", "-o", "run.marey", "--"]).arg(program).arg(word);
    let output = command.current_dir(place.path()).env("TRUTH", &truth).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
    let said = Command::new(env!("CARGO_BIN_EXE_marey"))
        .args([asked, "--json", "run.marey"])
        .current_dir(place.path())
        .output()
        .unwrap();
    (
        serde_json::from_slice(&said.stdout).unwrap(),
        ["wall", "processor"].map(|field| told[field].as_f64().unwrap()),
    )
}

/// A program in C; none if there is no compiler.
fn built(place: &Path, source: &str) -> Option<PathBuf> {
    if Command::new("cc").arg("--version").output().is_err() {
        marey_testkit::skip("cc");
        return None;
    }
    let program = place.join("program");
    let mut command = Command::new("cc");
    command.args(["-O1", "-g", "-Wall", "-pthread"]);
    if source != "noise.c" {
        command.arg("-finstrument-functions");
    }
    let output = command.arg(programs().join(source)).arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

#[test]
fn alone_delays_of_the_machine_are_told_from_those_of_the_program() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(program) = built(place.path(), "noise.c") else { return };
    for (word, label) in [("rival", "machine noise"), ("more", "measured")] {
        let mut wrong = Vec::new();
        let mut is_busy = true;
        for _ in 0..MOST_RUNS {
            let (report, [wall, processor]) = record(&program, word, "report");
            let finding = &report["findings"][0];
            let without = finding["without_processor_ns"].as_f64().unwrap_or(0.0) / 1e9;
            let is_it = finding["confidence"] == label
                && finding["function"] == "compute"
                && ((wall - processor) - without).abs() < 0.1 * wall;
            if is_it {
                wrong.clear();
                break;
            }
            // A rival takes half of it, and the machine may take the rest.
            is_busy &= processor / wall < if word == "rival" { BUSY / 2.0 } else { BUSY };
            wrong.push(format!("{word}: {wall:.3} s, of which {processor:.3} s computing; {finding:#}"));
        }
        if !wrong.is_empty() && is_busy {
            marey_testkit::leave_out("a machine that does not do much else");
            continue;
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// The longest of many visits, which had no processor for a while, or more to do.
#[test]
fn alone_visits_without_a_processor_are_told_from_those_that_compute() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(program) = built(place.path(), "preempted.c") else { return };
    for word in ["rival", "more"] {
        let mut wrong = Vec::new();
        for _ in 0..MOST_RUNS {
            let (told, [wall, processor]) = record(&program, word, "anomalies");
            let longest = &told["anomalies"][0];
            let without = longest["without_processor_ns"].as_f64().unwrap_or(-1.0) / 1e9;
            // What is told is the least that it can have been: up to two periods less than it was, and the kernel's ticks
            // may make a period of 5 ms one of 8.
            let truth = wall - processor;
            let is_it = longest["region"] == "step"
                && (longest["duration_ns"].as_f64().unwrap_or(0.0) / 1e9 - wall).abs() < 0.02 * wall
                && longest["is_noise"] == (word == "rival")
                && (truth.max(0.016) - 0.016..truth + 0.004).contains(&without);
            if is_it {
                wrong.clear();
                break;
            }
            wrong.push(format!("{word}: {wall:.3} s, of which {processor:.3} s computing; {longest:#}"));
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Steps that became slow for want of a processor, or because there was more to do: one situation, and its reason.
#[test]
fn alone_a_pace_without_a_processor_is_told_from_one_with_more_to_do() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(program) = built(place.path(), "pace.c") else { return };
    for word in ["rival", "more"] {
        let mut wrong = Vec::new();
        for _ in 0..MOST_RUNS {
            let (told, [wall, processor]) = record(&program, word, "situations");
            let all = told["situations"].as_array().unwrap();
            let slow: Vec<&Value> = all.iter().filter(|it| it["kind"] == "slow-down").collect();
            let ns = |value: &Value| value.as_f64().unwrap_or(-1.0) / 1e9;
            // Steps are told by their median, and measured by their mean; samples count by periods of 5 ms.
            let is_it = slow.len() == 1
                && slow[0]["region"] == "step"
                && (ns(&slow[0]["measured"]) - wall).abs() < 0.2 * wall
                && slow[0]["is_noise"] == (word == "rival")
                && (ns(&slow[0]["cause"]["without_processor_ns"]) - (wall - processor)).abs() < 0.2 * wall;
            if is_it {
                wrong.clear();
                break;
            }
            wrong.push(format!("{word}: {wall:.4} s, of which {processor:.4} s computing; {slow:#?}"));
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
