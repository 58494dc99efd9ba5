//! Whether situations and calls too small are told of real programs that have them, and of no others.
//!
//! The one idea: the programs write down what they did, and numbers are compared with that: how long a step took before
//! and after, how long the queue was, how many messages there were.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::build::programs;

/// A machine that does other things may disturb as many runs as this but one.
const MOST_RUNS: usize = 6;

/// What marey and the program say of one run: situations, advice, and values by name.
struct Told {
    situations: Vec<Value>,
    small: Vec<Value>,
    values: Vec<(String, f64)>,
}

impl Told {
    fn value(&self, what: &str) -> f64 {
        self.values.iter().find(|(name, _)| name == what).map_or(f64::NAN, |(_, value)| *value)
    }

    /// Situations of kinds that begin with this.
    fn kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.situations.iter().filter(move |it| it["kind"].as_str().unwrap().starts_with(kind))
    }

    fn small_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.small.iter().filter(move |it| it["kind"] == kind)
    }
}

fn build(compiler: &str, source: &str, place: &Path) -> bool {
    if Command::new(compiler).arg("--version").output().is_err() {
        marey_testkit::skip(compiler);
        return false;
    }
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "-pthread"]).arg(programs().join(source)).args(["-o", "program"]);
    let output = command.current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

fn json(place: &Path, args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_marey")).args(args).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn record(place: &Path, launcher: &[&str], word: &str, rules: &str) -> Told {
    std::fs::write(place.join("rules"), rules).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    command.args(["record", "--force", "-o", "run.marey", "--"]).args(launcher).arg(place.join("program"));
    command.arg(word).current_dir(place).env("TRUTH", place.join("truth"));
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(place.join("truth.0")).unwrap_or_default();
    let value = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["what"].as_str().unwrap().to_owned(), line["value"].as_f64().unwrap())
    };
    let list = |value: &Value| value.as_array().unwrap().clone();
    Told {
        situations: list(
            &json(place, &["situations", "--json", "--rules-file", "rules", "run.marey"])["situations"],
        ),
        small: list(&json(place, &["report", "--json", "run.marey"])["granularity"]),
        values: text.lines().map(value).collect(),
    }
}

fn is_near(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() <= 0.05 * expected
}

/// A word, and whether what is told of it is right.
type Case = (&'static str, fn(&Told) -> bool);

fn each_is_told(place: &Path, launcher: &[&str], rules: &str, cases: &[Case]) {
    for (word, is_right) in cases {
        let mut runs = 0;
        loop {
            let told = record(place, launcher, word, rules);
            runs += 1;
            if is_right(&told) {
                break;
            }
            let all = (&told.situations, &told.small, &told.values);
            assert!(runs < MOST_RUNS, "{word}: {all:#?}");
        }
        eprintln!("{word}: right in run {runs}");
    }
}

/// Steps that took so long before and after, and rank 0's part as the cause.
fn is_change(told: &Told, kind: &str) -> bool {
    let changes: Vec<&Value> = told.kind(kind).collect();
    let [only] = changes[..] else { return false };
    is_near(&only["normal"], 1e9 * told.value("before"))
        && is_near(&only["measured"], 1e9 * told.value("after"))
        && only["ranks"].as_array().unwrap().len() == 2
        && only["cause"]["rank"] == 0
        && only["cause"]["function"] == "late_part"
}

fn is_steady(told: &Told) -> bool {
    told.kind("s").count() == 0 && told.kind("message-queue").count() == 0 && told.small.is_empty()
}

#[test]
fn mpi_alone_situations_are_told_where_they_are_and_nowhere_else() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if !build("mpicc.openmpi", "situations.c", place.path()) {
        return;
    }
    let launcher = ["mpirun.openmpi", "--oversubscribe", "-n", "2"];
    // Steps of 10 and 25 ms, 100 messages.
    let rules =
        "slow-downs everyone by 50%\nspeed-ups everyone by 50%\nmessage-queue everyone over 50 messages";
    each_is_told(
        place.path(),
        &launcher,
        rules,
        &[
            ("slower", |told| is_change(told, "slow-down") && told.kind("speed-up").count() == 0),
            ("faster", |told| is_change(told, "speed-up") && told.kind("slow-down").count() == 0),
            ("steady", is_steady),
            ("hiccup", is_steady),
            ("pile_up", |told| {
                let queues: Vec<&Value> = told.kind("message-queue").collect();
                matches!(queues[..], [only] if only["measured"] == told.value("queue")
                    && only["ranks"][0] == 1
                    && only["cause"]["function"] == "pile_up"
                    && only["cause"]["rank"] == 0)
            }),
            ("in_turn", is_steady),
            ("many_small", |told| {
                let rows: Vec<&Value> = told.small_of("messages").collect();
                matches!(rows[..], [only] if only["number"] == told.value("messages")
                    && only["mean_bytes"] == 8.0
                    && only["function"] == "many_small"
                    && only["gain_ns"].as_f64() > Some(0.0)
                    && only["cost_ns"].as_f64().unwrap() < 1e9 * told.value("time"))
            }),
            ("few_large", is_steady),
        ],
    );
}

#[test]
fn alone_situations_of_threads_are_told_where_they_are_and_nowhere_else() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if !build("cc", "workers.c", place.path()) {
        return;
    }
    let rules = "family team thread worker*\nover-utilised team by 25%\nunder-utilised team by 25%";
    each_is_told(
        place.path(),
        &[],
        rules,
        &[
            // One of four takes 40 ms, the others 10: the mean is 17.5 of 40.
            ("uneven", |told| {
                let over: Vec<&Value> = told.kind("over-utilised").collect();
                told.kind("under-utilised").count() == 3
                    && matches!(over[..], [only] if is_near(&only["normal"], 17.5 / 40.0)
                        && is_near(&only["measured"], 1.0)
                        && only["cause"]["function"] == "work")
            }),
            ("even", |told| told.situations.is_empty() && told.small.is_empty()),
            ("tiny", |told| {
                let threads: Vec<&Value> = told.small_of("threads").collect();
                matches!(threads[..], [only] if only["number"] == 300 && only["function"] == "spawn")
            }),
            ("worth_it", |told| told.small.is_empty()),
        ],
    );
}
