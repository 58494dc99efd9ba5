//! Counters beside the time against what a program counts of itself.
//!
//! The one idea: the kernel counts page faults, waits and processor time of a thread for everybody who asks, so a
//! program can say what each of its functions used. Counters of the processor go the same way; machines without any
//! are where these tests must run too.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// What is asked for, in this order.
const COUNTERS: &str = "page-faults,task-clock,voluntary-switches,cpu-migrations";

/// What a function used, in the order of [`COUNTERS`].
type Used = [f64; 4];

struct Program(TempDir);

impl Program {
    /// `None`, said aloud, without a compiler.
    fn compile(flags: &[&str]) -> Option<Self> {
        let place = TempDir::new().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/counted.c");
        let mut gcc = Command::new("gcc");
        gcc.args(["-g", "-O1", "-pthread", "-o", "program"])
            .args(flags)
            .arg(source)
            .current_dir(place.path());
        match gcc.output() {
            Err(error) => {
                marey_testkit::skip(&format!("gcc: {error}"));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(Self(place))
            }
        }
    }

    fn with_regions() -> Option<Self> {
        Self::compile(&["-finstrument-functions"])
    }

    fn record(&self, options: &[&str], word: &str) -> Output {
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.current_dir(self.0.path()).env_remove("LD_PRELOAD");
        record.args(["record", "--counters", COUNTERS]).args(options);
        record.args(["--", "./program", word]).output().unwrap()
    }

    /// Records it, and expects it to end well. What it printed.
    fn finish(&self, options: &[&str], word: &str) -> String {
        let output = self.record(options, word);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn report(&self) -> Value {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(self.0.path()).args(["report", "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// What the program says that its functions used.
fn said(printed: &str) -> BTreeMap<&str, Used> {
    let line = |line: &'_ str| -> Option<(usize, Used)> {
        let words: Vec<&str> = line.split(' ').collect();
        let numbers: Vec<f64> = words[1..].iter().map(|word| word.parse().unwrap()).collect();
        Some((words[0].len(), numbers.try_into().ok()?))
    };
    printed.lines().filter_map(|text| line(text).map(|(len, used)| (&text[..len], used))).collect()
}

/// Values of `key` by region or function; of counters that this machine has not, none.
fn counted(report: &Value, list: &str, name: &str, key: &str) -> BTreeMap<String, BTreeMap<String, f64>> {
    let counters = report["counters"].as_array().unwrap();
    let row = |row: &Value| {
        let values = row[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap());
        let names = counters.iter().map(|counter| counter["name"].as_str().unwrap().to_owned());
        (row[name].as_str().unwrap_or("").to_owned(), names.zip(values).collect())
    };
    report[list].as_array().unwrap().iter().map(row).collect()
}

fn regions(report: &Value) -> BTreeMap<String, BTreeMap<String, f64>> {
    counted(report, "counted_regions", "region", "inclusive")
}

/// Compares what a region counted with what the program says: not less, and hardly more, for the program asks between
/// the readings, and the recorder needs some memory and time itself.
fn same(counted: &BTreeMap<String, f64>, said: &Used, what: &str) {
    let more = [20.0, 0.1 * said[1] + 5e6, 2.0];
    for ((name, &truth), more) in COUNTERS.split(',').zip(said).zip(more) {
        let value = counted[name];
        eprintln!("{what}: {value} {name}, the program says {truth}");
        assert!((truth..=truth + more).contains(&value), "{what}: {value} {name}, not {truth}");
    }
    same_moves(counted, said, what);
}

/// The same of moves to another processor, of which many a machine counts none. The counter has one where a
/// thread was moved twice before it ran again, and the file in which the program reads two.
fn same_moves(counted: &BTreeMap<String, f64>, said: &Used, what: &str) {
    let truth = said[3];
    let Some(&value) = counted.get("cpu-migrations") else {
        return marey_testkit::skip("cpu-migrations: no perf events here");
    };
    if !Path::new("/proc/thread-self/sched").exists() {
        return marey_testkit::leave_out("this kernel does not say how often a thread was moved");
    }
    eprintln!("{what}: {value} cpu-migrations, the program says {truth}");
    assert!((truth / 2.0..=truth + 2.0).contains(&value), "{what}: {value} cpu-migrations, not {truth}");
}

#[test]
fn regions_have_what_the_kernel_counted_in_them() {
    let Some(program) = Program::with_regions() else { return };
    for options in [&["--sample", "off"][..], &["--sample", "1000"], &["--mode", "profile"]] {
        let options = [options, &["--force"]].concat();
        let printed = program.finish(&options, "all");
        let (regions, said) = (regions(&program.report()), said(&printed));
        assert_eq!(said.len(), 5);
        for (name, used) in said {
            // How it goes to and fro, a program sees by itself; what else it used there it does not say.
            if name == "migrate" {
                let found = regions[name].get("cpu-migrations");
                let is_right = |&value: &f64| used[3] <= value && value <= used[3] + 3.0;
                assert!(found.is_none_or(is_right), "{found:?} migrations, not {}", used[3]);
                continue;
            }
            same(&regions[name], &used, &format!("{options:?} {name}"));
        }
    }
}

/// What counters show over time ends with what they counted in all.
#[test]
fn values_grow_up_to_the_sum() {
    let Some(program) = Program::with_regions() else { return };
    for sample in ["off", "1000"] {
        program.finish(&["--sample", sample, "--force"], "all");
        let report = program.report();
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let dump = marey.current_dir(program.0.path()).args(["dump", "--json"]).output().unwrap().stdout;
        let dump = String::from_utf8(dump).unwrap();
        let rows = dump.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let rows: Vec<Value> = rows.filter(|row| row["event"] == "counter").collect();
        for counter in report["counters"].as_array().unwrap() {
            let own = rows.iter().filter(|row| row["name"] == counter["name"]);
            let values: Vec<f64> = own.map(|row| row["value"].as_f64().unwrap()).collect();
            assert!(values.is_sorted(), "{values:?}");
            assert_eq!(
                values.last().copied().unwrap_or(0.0),
                counter["total"].as_f64().unwrap(),
                "{counter}"
            );
        }
        // At samples, in 200 ms of work; and where regions are entered or left, if that was long ago.
        let times = rows.iter().filter(|row| row["name"] == "task-clock").count();
        assert!(if sample == "off" { 3 } else { 20 } < times, "{times} values with --sample {sample}");
    }
}

#[test]
fn threads_have_counters_of_their_own() {
    let Some(program) = Program::with_regions() else { return };
    let printed = program.finish(&[], "threads");
    let (regions, said) = (regions(&program.report()), said(&printed));
    let used = said["few"];
    assert!(5000.0 <= used[0], "{used:?}");
    // Each thread has a window of its own.
    let faults = regions["few"]["page-faults"];
    assert!((used[0]..used[0] + 150.0).contains(&faults), "{faults} faults of {used:?}");
    let time = regions["few"]["task-clock"];
    assert!((used[1]..1.2 * used[1] + 5e6).contains(&time), "{time} ns of {used:?}");
    let waits = regions["few"]["voluntary-switches"];
    assert!((used[2]..=used[2] + 2.0).contains(&waits), "{waits} waits of {used:?}");
    same_moves(&regions["few"], &used, "few");
    // Who waits for another thread does so in the region that waits.
    let (waits, joins) = (regions["pthread_join"]["voluntary-switches"], said["join"][2]);
    assert!(5.0 <= joins && (joins..=joins + 2.0).contains(&waits), "{waits} waits of {joins} in joins");
}

#[test]
fn a_program_may_take_the_descriptors_of_counters() {
    let Some(program) = Program::with_regions() else { return };
    let printed = program.finish(&["--sample", "1000"], "descriptors");
    assert_eq!(printed, "wrong 0\n");
    let report = program.report();
    let names: Vec<&str> =
        report["counters"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let faults = regions(&report)["few"]["page-faults"];
    assert!((6400.0..6440.0).contains(&faults), "{faults}");
    if names.contains(&"cpu-migrations") {
        let text = String::from_utf8(text_report(&program)).unwrap();
        assert!(text.contains("closed by the program"), "{text}");
    }
}

fn text_report(program: &Program) -> Vec<u8> {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(program.0.path()).args(["report", "--by", "counter"]).output().unwrap().stdout
}

#[test]
fn a_forked_child_counts_for_itself() {
    let Some(program) = Program::with_regions() else { return };
    program.finish(&[], "fork");
    let regions = regions(&program.report());
    let faults = |name: &str| regions[name]["page-faults"];
    // A child touches more, for all that it writes to it has to copy.
    assert!((200.0..300.0).contains(&faults("few")), "{}", faults("few"));
    assert!((1000.0..1100.0).contains(&faults("many")), "{}", faults("many"));
}

#[test]
fn a_process_that_is_killed_keeps_its_counts() {
    let Some(program) = Program::with_regions() else { return };
    program.record(&[], "killed");
    let regions = regions(&program.report());
    assert!((100.0..120.0).contains(&regions["few"]["page-faults"]), "{regions:?}");
    assert!((1000.0..1020.0).contains(&regions["many"]["page-faults"]), "{regions:?}");
}

#[test]
fn handlers_that_jump_away_lose_no_counts() {
    let Some(program) = Program::with_regions() else { return };
    let printed = program.finish(&["--sample", "1000"], "interrupted");
    let (report, said) = (program.report(), said(&printed));
    let total = |name: &str| {
        let counters = report["counters"].as_array().unwrap();
        counters.iter().find(|it| it["name"] == name).unwrap()["total"].as_f64().unwrap()
    };
    // From the first instruction of the program on; what came before is not recorded.
    let (time, faults) = (total("task-clock") / said["whole"][1], total("page-faults") / said["whole"][0]);
    assert!((0.95..1.05).contains(&time), "{time} of the time");
    assert!((0.8..1.1).contains(&faults), "{faults} of the faults");
}

#[test]
fn alone_functions_without_regions_have_their_share_by_samples() {
    let Some(program) = Program::compile(&[]) else { return };
    let printed = program.finish(&["--sample", "1000"], "shares");
    let (report, said) = (program.report(), said(&printed));
    let functions = counted(&report, "counted_functions", "name", "values");
    let is_burn =
        |name: &str| ["burn", "clock_gettime", "processor_time"].contains(&name) || name.contains("vdso");
    let share = |counter: &str| {
        let all: f64 = functions.values().map(|values| values[counter]).sum();
        let burn = functions.iter().filter(|(name, _)| is_burn(name));
        burn.map(|(_, values)| values[counter]).sum::<f64>() / all
    };
    let (faults, time) = (share("page-faults"), share("task-clock"));
    eprintln!("burn: {:.1} % of the faults, {:.1} % of the time", 100.0 * faults, 100.0 * time);
    assert!(said["burn"][0] < 0.01 * said["touch"][0], "{said:?}");
    // A sample in 4 ms, and stretches of 30 ms: at each change an eighth is the other's, every other time.
    assert!(faults < 0.2, "{faults}");
    let truth = said["burn"][1] / (said["burn"][1] + said["touch"][1]);
    assert!((time - truth).abs() < 0.1, "{time}, not {truth}");
}

#[test]
fn what_cannot_be_counted_is_said() {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = marey.args(["record", "--counters", "flops", "--", "true"]).output().unwrap();
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no counter is called “flops”") && text.contains("instructions"), "{text}");
    let output = marey.args(["record", "--counters", "auto,cycles", "--", "true"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("auto stands alone"), "{text}");
    let Some(program) = Program::with_regions() else { return };
    // Of this code no processor knows anything.
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.current_dir(program.0.path()).args(["record", "--counters", "rffffffffffffffff,page-faults"]);
    assert!(record.args(["--", "./program", "fork"]).output().unwrap().status.success());
    let text = String::from_utf8(text_report(&program)).unwrap();
    assert!(text.contains("not counted: rffffffffffffffff: "), "{text}");
}
