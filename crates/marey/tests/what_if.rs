//! Predictions of changed programs, and what these programs then really took.
//!
//! The one idea: the same program has an argument that makes one of its parts faster. It is recorded without, marey says
//! how long it would take with it, and then it is run with it, alone, by its own clock.
//!
//! A machine that is busy with other things makes programs longer, and differently from run to run. So a case may be run
//! several times, and of the recorded and of the changed runs the shortest count, which were disturbed the least.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// How far a prediction may be from what it took then.
const TOLERANCE: f64 = 0.05;

const MOST_RUNS: usize = 8;

/// What a program is built and started with.
#[derive(Clone, Copy)]
struct Tools {
    compiler: &'static str,
    launcher: &'static [&'static str],
    source: &'static str,
}

const OPEN_MPI: Tools = Tools {
    compiler: "mpicc.openmpi",
    launcher: &["mpirun.openmpi", "--oversubscribe", "-n", "2"],
    source: "ranks.c",
};
const MPICH: Tools =
    Tools { compiler: "mpicc.mpich", launcher: &["mpirun.mpich", "-n", "2"], source: "ranks.c" };
const THREADS: Tools = Tools { compiler: "cc", launcher: &[], source: "threads.c" };

struct Built {
    place: TempDir,
    tools: Tools,
}

impl Built {
    fn new(tools: Tools) -> Option<Self> {
        for word in [Some(tools.compiler), tools.launcher.first().copied()].into_iter().flatten() {
            if Command::new(word).arg("--version").output().is_err() {
                marey_testkit::skip(word);
                return None;
            }
        }
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/what_if/programs");
        let mut compile = Command::new(tools.compiler);
        compile
            .args(["-O1", "-g", "-Wall", "-pthread"])
            .arg(programs.join(tools.source))
            .args(["-o", "program"]);
        succeeds(compile.current_dir(place.path()));
        Some(Self { place, tools })
    }

    fn program(&self) -> PathBuf {
        self.place.path().join("program")
    }

    /// Runs a case; gives the seconds that it took by its own clock.
    fn run(&self, case: &Case, faster: bool, recorded_to: Option<&Path>) -> f64 {
        let mut line: Vec<std::ffi::OsString> = Vec::new();
        if let Some(run) = recorded_to {
            line.extend([env!("CARGO_BIN_EXE_marey"), "record", "--force", "-o"].map(Into::into));
            line.extend([run.into(), "--".into()]);
        }
        line.extend(self.tools.launcher.iter().map(Into::into));
        line.push(self.program().into());
        let factor = if faster { case.factor } else { 1.0 };
        let what = match case.option {
            "--rank" => "rank",
            "--balance" => "balance",
            _ => "force",
        };
        let how = if case.computes { "computes" } else { "sleeps" };
        line.extend([case.name, &factor.to_string(), what, how].map(Into::into));
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(self.place.path()).env_remove("LD_PRELOAD");
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = succeeds(&mut command);
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A program, and what is changed in it.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    option: &'static str,
    factor: f64,
    /// Parts compute, and are known by samples; else they sleep.
    computes: bool,
    /// Whether the change is one that wins at least a tenth.
    wins: bool,
}

const fn sleeps(name: &'static str) -> Case {
    Case { name, option: "--faster", factor: 2.0, computes: false, wins: true }
}

const fn computes(name: &'static str) -> Case {
    Case { computes: true, ..sleeps(name) }
}

fn what_if(run: &Path, args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = succeeds(command.arg("what-if").arg(run).args(args).arg("--json"));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap() / 1e9
}

/// The least disturbed runs of a case so far, seconds.
#[derive(Clone, Copy)]
struct Shortest {
    before: f64,
    predicted: f64,
    after: f64,
}

impl Shortest {
    const NONE: Self = Self { before: f64::INFINITY, predicted: f64::INFINITY, after: f64::INFINITY };

    /// Records a case, has the change predicted, and makes it.
    fn run(&mut self, built: &Built, case: &Case) {
        let run = built.place.path().join("run.marey");
        let before = built.run(case, false, Some(&run));
        let factor = format!("={}", case.factor);
        let typed = match case.option {
            "--balance" => vec!["--balance".to_owned()],
            "--rank" => vec!["--rank".to_owned(), format!("0{factor}")],
            option => vec![option.to_owned(), format!("force{factor}")],
        };
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        let found = what_if(&run, &typed);
        // With no change the replay is the run, to the nanosecond.
        assert_eq!(found["replayed_ns"], found["duration_ns"], "{}", case.name);
        if before < self.before {
            (self.before, self.predicted) = (before, before - seconds(&found["gain_ns"]));
        }
        self.after = self.after.min(built.run(case, true, None));
    }

    fn judge(&self, case: &Case) -> Result<String, String> {
        let Self { before, predicted, after } = *self;
        let error = (predicted - after) / after;
        let figures = format!(
            "{:11} {:9} {:8}: {before:.4} s, predicted {predicted:.4} s, took {after:.4} s, error {:+.1} %",
            case.name,
            case.option,
            if case.computes { "computes" } else { "sleeps" },
            100.0 * error
        );
        match () {
            () if error.abs() > TOLERANCE => Err(figures),
            () if (after < 0.9 * before) != case.wins => {
                Err(format!("{figures}; it should have won: {}", case.wins))
            }
            () => Ok(figures),
        }
    }
}

/// Fails unless each case is predicted right within a few runs. `MAREY_WHAT_IF_ONLY=chain` takes those whose names contain
/// that.
fn are_predicted(tools: Tools, cases: &[Case]) {
    let Some(built) = Built::new(tools) else { return };
    let only = std::env::var("MAREY_WHAT_IF_ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for case in cases.iter().filter(|case| case.name.contains(&only)) {
        let (mut runs, mut shortest) = (0, Shortest::NONE);
        let verdict = loop {
            runs += 1;
            shortest.run(&built, case);
            match shortest.judge(case) {
                Err(why) if runs < MOST_RUNS => eprintln!("again: {why}"),
                verdict => break verdict,
            }
        };
        match verdict {
            Ok(figures) => eprintln!("{} {figures} (run {runs})", tools.compiler),
            Err(why) => failed.push(why),
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

const RANKS: [Case; 14] = [
    sleeps("on_path"),
    Case { wins: false, ..sleeps("off_path") },
    sleeps("half"),
    sleeps("limited"),
    sleeps("chain"),
    sleeps("steps"),
    sleeps("sums"),
    sleeps("overlap"),
    sleeps("rendezvous"),
    sleeps("eager"),
    sleeps("rooted"),
    sleeps("leaving"),
    Case { option: "--rank", ..sleeps("sums") },
    Case { option: "--balance", ..sleeps("uneven") },
];

#[test]
fn mpi_alone_programs_made_faster_take_what_was_predicted() {
    are_predicted(OPEN_MPI, &RANKS);
}

#[test]
fn mpi_alone_programs_of_mpich_made_faster_take_what_was_predicted() {
    are_predicted(MPICH, &RANKS);
}

#[test]
fn mpi_alone_programs_that_compute_take_what_was_predicted() {
    let off_path = Case { wins: false, ..computes("off_path") };
    let slower = Case { factor: 0.5, wins: false, ..computes("half") };
    are_predicted(
        OPEN_MPI,
        &[computes("on_path"), off_path, computes("half"), computes("limited"), computes("chain"), slower],
    );
}

#[test]
fn alone_programs_with_threads_made_faster_take_what_was_predicted() {
    let off_path = Case { wins: false, ..sleeps("off_path") };
    let names = ["on_path", "half", "steps", "locked", "made", "first", "helper"];
    let mut cases: Vec<Case> = names.into_iter().map(sleeps).collect();
    cases.push(off_path);
    are_predicted(THREADS, &cases);
}

#[test]
fn alone_programs_with_threads_that_compute_take_what_was_predicted() {
    are_predicted(THREADS, &[computes("on_path"), computes("half"), computes("first"), computes("helper")]);
}

/// The most worthwhile place of a program is the one that it is about.
#[test]
fn mpi_alone_the_most_worthwhile_place_comes_first() {
    let Some(built) = Built::new(OPEN_MPI) else { return };
    for (case, activity) in [(sleeps("half"), "region"), (computes("on_path"), "outside")] {
        let run = built.place.path().join("run.marey");
        let mut found = Value::Null;
        for _ in 0..MOST_RUNS {
            built.run(&case, false, Some(&run));
            found = what_if(&run, &[]);
            if found["places"][0]["function"] == "force" {
                break;
            }
        }
        assert_eq!(found["replayed_ns"], found["duration_ns"]);
        let first = &found["places"][0];
        assert_eq!(
            (&first["function"], &first["activity"]),
            (&"force".into(), &activity.into()),
            "{found:#}"
        );
        // It is what a user would type, but for what the function calls: a sample or two.
        let typed = what_if(&run, &["--faster", "force=2"])["run_ns"].as_f64().unwrap();
        let itself = first["twice_ns"].as_f64().unwrap();
        assert!((0.97 * itself..=1.000_001 * itself).contains(&typed), "{typed} {found:#}");
        let typed = what_if(&run, &["--zero-latency"]);
        assert_eq!(typed["run_ns"], found["zero_latency_ns"]);
    }
}
