//! The budget of `marey record`: programs with one function that is called far too often to be recorded each time, and
//! others. What they count themselves is what the run says, and nothing else is reduced.
//!
//! How long anything took is looked at by `cargo xtask bench --only governor`, in turns on a machine that is at rest.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn marey(dir: &Path, words: &[&str]) -> Output {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).args(words).output().unwrap()
}

fn json(dir: &Path, command: &str) -> Value {
    let output = marey(dir, &[command, "run.marey", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Compiles a program in a directory, records it, and gives the numbers that it printed, by name. `None`, said aloud,
/// without a compiler.
fn recorded(dir: &Path, compiler: &str, source: &str, options: &[&str]) -> Option<BTreeMap<String, f64>> {
    recorded_with(dir, (compiler, &["-finstrument-functions"], source), options, &["8000"])
}

/// The same with flags and words of its own.
fn recorded_with(
    dir: &Path,
    (compiler, flags, source): (&str, &[&str], &str),
    options: &[&str],
    words: &[&str],
) -> Option<BTreeMap<String, f64>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", root.join("../marey-collect/include").display());
    let mut command = Command::new(compiler);
    command.args(["-g", "-O2", "-fno-inline", &include]).args(flags).args(["-o", "program"]);
    let Ok(built) = command.arg(root.join("tests/programs").join(source)).current_dir(dir).output() else {
        marey_testkit::skip(compiler);
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let words = [&["record", "--force"], options, &["--", "./program"], words].concat();
    let output = marey(dir, &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |line: &str| {
        let (name, number) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), number.parse().unwrap())
    };
    Some(text.lines().map(number).collect())
}

/// A region of the report.
fn region(report: &Value, name: &str) -> Value {
    let regions = report["regions"].as_array().unwrap();
    let last = |noun: &str| noun.rsplit("::").next().unwrap().to_owned();
    let is_it = |it: &&Value| last(it["noun"].as_str().unwrap()) == name || it["verb"] == name;
    regions.iter().find(is_it).unwrap_or_else(|| panic!("{name} in {regions:#?}")).clone()
}

/// Names of the regions that were reduced.
fn reduced(info: &Value) -> Vec<&str> {
    let regions = info["reduced"]["regions"].as_array().unwrap().iter();
    regions.map(|it| it["region"].as_str().unwrap().rsplit("::").next().unwrap()).collect()
}

fn check(compiler: &str, source: &str, others: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let Some(told) = recorded(dir.path(), compiler, source, &[]) else { return };
    let (report, info) = (json(dir.path(), "report"), json(dir.path(), "info"));
    assert_eq!(reduced(&info), ["hot"]);
    let hot = region(&report, "hot");
    assert_eq!(hot["calls"].as_f64(), Some(told["hot"]));
    let visits = info["reduced"]["visits"].as_u64().unwrap();
    assert!(visits > 200_000, "{visits}");
    // The others are there one by one, and what was timed of the one.
    let intervals = info["intervals"].as_u64().unwrap();
    assert!(intervals > 50 && intervals < 200_000, "{intervals}");
    for name in others {
        let region = region(&report, name);
        assert_eq!(region["calls"].as_f64(), Some(told[*name]), "{name}");
        let durations = region["durations"].as_array().unwrap();
        let all: f64 = durations.iter().map(|bin| bin[2].as_f64().unwrap()).sum();
        assert_eq!(Some(all), region["calls"].as_f64(), "{name}: each has a time of its own");
    }
    assert_eq!(info["reduced"]["budget"], 0.02);
    // It is told where one looks, and what to do.
    for (command, words) in [("report", "Measuring took "), ("info", "budget  ")] {
        let text = String::from_utf8(marey(dir.path(), &[command, "run.marey"]).stdout).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [words.trim(), "(budget 2 %)", "visits of 1 region were counted from", "`--budget off`"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let problems = report["problems"].as_array().unwrap();
    assert!(problems.iter().any(|it| it["kind"] == "reduced" && it["count"] == visits), "{problems:?}");
}

#[test]
fn a_hot_function_of_c_among_cold_ones() {
    check("gcc", "budget.c", &["cold", "outer"]);
}

#[test]
fn a_hot_function_of_fortran_among_cold_ones() {
    check("gfortran", "budget.f90", &["cold"]);
}

#[test]
fn what_is_done_in_a_function_that_is_counted_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let Some(told) = recorded(dir.path(), "gcc", "budget.c", &[]) else { return };
    let read = region(&json(dir.path(), "report"), "read");
    assert_eq!(read["calls"].as_f64(), Some(told["outer"]));
    assert_eq!(read["bytes"].as_f64(), Some(told["outer"]));
}

/// A call takes what the program says that it took, by some factor that no disturbance is larger than.
#[test]
fn its_time_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let Some(told) = recorded(dir.path(), "gcc", "budget.c", &[]) else { return };
    let reduced = &json(dir.path(), "info")["reduced"]["regions"][0];
    let number = |name: &str| reduced[name].as_f64().unwrap();
    assert!(number("timed") >= 8.0, "{reduced}");
    let ns = number("time_ns") / number("visits");
    assert!(ns > told["ns"] / 4.0 && ns < told["ns"] * 4.0, "{ns} is {}", told["ns"]);
}

#[test]
fn without_a_budget_each_call_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let Some(told) = recorded(dir.path(), "gcc", "budget.c", &["--budget", "off"]) else { return };
    let info = json(dir.path(), "info");
    assert_eq!((reduced(&info), &info["reduced"]["budget"]), (Vec::new(), &Value::Null));
    assert!(info["intervals"].as_f64().unwrap() >= told["hot"] + told["cold"] + told["outer"]);
    let report = String::from_utf8(marey(dir.path(), &["report", "run.marey"]).stdout).unwrap();
    assert!(!report.contains("budget 2 %"), "{report}");
}

#[test]
fn a_budget_is_a_part_of_the_time() {
    let dir = tempfile::tempdir().unwrap();
    for wrong in ["0", "101", "much", "-1", ""] {
        let output = marey(dir.path(), &["record", &format!("--budget={wrong}"), "--", "true"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{wrong}: {told}");
        assert!(told.contains("neither per cent, from 0.01 to 100, nor off"), "{wrong}: {told}");
    }
}

/// Records one of the deeds of `budget_regions.c`. What it says of itself, what the report says, and what was reduced.
fn regions(what: &str, visits: &str, options: &[&str]) -> Option<(BTreeMap<String, f64>, Value, Value)> {
    let dir = tempfile::tempdir().unwrap();
    let told = recorded_with(dir.path(), ("gcc", &[], "budget_regions.c"), options, &[what, visits])?;
    let (report, info) = (json(dir.path(), "report"), json(dir.path(), "info"));
    for (name, visits) in &told {
        assert_eq!(region(&report, name)["calls"].as_f64(), Some(*visits), "{name}");
    }
    Some((told, report, info["reduced"].clone()))
}

/// What is known of a region that was reduced.
fn of<'a>(reduced: &'a Value, name: &str) -> &'a Value {
    let regions = reduced["regions"].as_array().unwrap();
    regions.iter().find(|it| it["region"] == name).unwrap_or_else(|| panic!("{name} in {regions:#?}"))
}

/// The end of a region inside that was only counted is not the end of the one around it, which goes on for long.
#[test]
fn a_region_that_is_timed_ends_when_it_is_left() {
    let Some((_, _, reduced)) = regions("nested", "100000", &["--budget", "0.2"]) else { return };
    let outer = of(&reduced, "outer");
    let number = |name: &str| outer[name].as_f64().unwrap();
    assert!(number("timed") >= 8.0, "{reduced}");
    // The program waits for so long by its own clock.
    assert!(number("time_ns") / number("visits") > 1950.0, "{reduced}");
}

/// Two regions whose places would be the same by their numbers are timed, each.
#[test]
fn regions_do_not_take_each_others_place() {
    let Some((_, _, reduced)) = regions("apart", "1000000", &[]) else { return };
    for name in ["first", "second"] {
        assert!(of(&reduced, name)["timed"].as_f64().unwrap() >= 32.0, "{reduced}");
    }
}

/// A region that is not in the stream is on call paths all the same.
#[test]
fn visits_are_counted_on_the_call_path_that_they_have() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--rule", "time around"];
    let words = ["beside", "100000"];
    let Some(told) = recorded_with(dir.path(), ("gcc", &[], "budget_regions.c"), &options, &words) else {
        return;
    };
    let report = json(dir.path(), "report");
    for path in [serde_json::json!(["hot"]), serde_json::json!(["around", "hot"])] {
        let paths = report["call_paths"].as_array().unwrap();
        let found = paths.iter().find(|it| it["path"] == path).unwrap();
        assert_eq!(found["calls"].as_f64(), Some(told["hot"] / 2.0), "{path:?}");
    }
}

/// Deeper than regions can be told to be open each is counted still, and what is left afterwards is what is meant.
#[test]
fn deep_down_they_are_counted() {
    let Some((told, report, reduced)) = regions("deep", "300000", &[]) else { return };
    assert_eq!(told["hot"], 900_000.0);
    assert!(of(&reduced, "hot")["visits"].as_f64().unwrap() > 700_000.0, "{reduced}");
    assert_eq!(report["problems"].as_array().unwrap().iter().filter(|it| it["kind"] == "dropped").count(), 0);
}

/// Two thousand functions that take the same: none of them alone is dear, so all is recorded, and the report says what that
/// took.
#[test]
fn alone_a_budget_that_cannot_be_kept_is_told() {
    use std::fmt::Write as _;
    let dir = tempfile::tempdir().unwrap();
    let mut text = "#include <stdint.h>\n#include <stdio.h>\n".to_owned();
    for n in 0..2000 {
        writeln!(text, "static uint64_t f{n}(uint64_t x) {{ return x * {} + 1; }}", 2 * n + 3).unwrap();
    }
    text += "__attribute__((no_instrument_function)) int main(void) {\n  uint64_t x = 1;\n  \
             for (int i = 0; i < 400; i++) {\n";
    for n in 0..2000 {
        writeln!(text, "    x = f{n}(x);").unwrap();
    }
    text += "  }\n  printf(\"x %d\\n\", (int)(x & 1));\n  return 0;\n}\n";
    std::fs::write(dir.path().join("many.c"), text).unwrap();
    // An absolute path stands for itself.
    let source = dir.path().join("many.c");
    let Some(_) = recorded(dir.path(), "gcc", source.to_str().unwrap(), &["--sample", "off"]) else { return };
    let output = marey(dir.path(), &["report", "run.marey"]);
    let report = String::from_utf8(output.stdout).unwrap();
    let told = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("more than the budget of 2 %: no region takes so much"), "{report}");
    assert_eq!(json(dir.path(), "info")["reduced"]["regions"].as_array().unwrap().len(), 0);
}
