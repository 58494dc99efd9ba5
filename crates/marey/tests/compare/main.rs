//! `marey diff`, `marey check`, `marey scale` and `--metric` on recorded programs of which the truth is known, and on a small run.
//!
//! The one idea: one program whose parts take as long as it is told (`tests/programs/compared.c`), so what differs between
//! two recordings of it is what the test changed. Parts sleep by one schedule, so that a busy machine makes single parts
//! longer, but not the run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod known;
mod mpi;
#[path = "../sample/mod.rs"]
mod sample;
mod scaling;
mod shown;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A directory with built programs and their runs.
struct Place(TempDir);

/// Writes the small run, as if it had begun so many seconds later: a repeat of it, to the nanosecond.
fn write_repeat(run: &Path, number: i64) {
    sample::write(run);
    let path = run.join("meta.json");
    let mut meta: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let begin = meta["run"]["start_realtime_ns"].as_i64().unwrap();
    meta["run"]["start_realtime_ns"] = (begin + number * 1_000_000_000).into();
    std::fs::write(path, serde_json::to_vec(&meta).unwrap()).unwrap();
}

impl Place {
    fn new() -> Self {
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Builds the program with other words for the compiler; `None`, said aloud, without it.
    fn build(&self, name: &str, compiler: &str, words: &[&str]) -> Option<PathBuf> {
        self.build_of("compared.c", name, compiler, words)
    }

    /// The same of another source.
    fn build_of(&self, source: &str, name: &str, compiler: &str, words: &[&str]) -> Option<PathBuf> {
        if Command::new(compiler).arg("--version").output().is_err() {
            marey_testkit::skip(compiler);
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let program = self.path().join(name);
        let mut compile = Command::new(compiler);
        compile.args(["-O1", "-g", "-Wall"]).arg(source).args(words).arg("-o").arg(&program);
        let output = compile.output().unwrap();
        assert!(output.status.success(), "{compile:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(program)
    }

    /// Records a command line as `name`.
    fn record(&self, name: &str, line: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.args(["record", "-o", name, "--"]).args(line).current_dir(self.path());
        // Tests run as root in containers; Open MPI wants to be told twice.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = command.env_remove("LD_PRELOAD").output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn marey(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.args(args).current_dir(self.path()).env_remove("COLUMNS").output().unwrap()
    }

    /// What is printed, which must be JSON.
    fn json(&self, args: &[&str]) -> Value {
        let output = self.marey(args);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// The exit status and what is printed.
    fn said(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.marey(args);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

/// What depends on times, which a busy machine spoils: then they are taken again.
fn holds(is_so: bool, what: impl std::fmt::Display) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what.to_string()) }
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

/// Milliseconds of the rows of a function, in the base and in the other run.
fn ms(table: &Value, function: &str) -> (f64, f64) {
    let rows = rows(table).filter(|row| row["function"] == function);
    rows.fold((0.0, 0.0), |sum, row| {
        (sum.0 + row["old_ns"].as_f64().unwrap() / 1e6, sum.1 + row["new_ns"].as_f64().unwrap() / 1e6)
    })
}

/// Every field that is printed stands in the document.
fn is_documented(command: &str, value: &Value) {
    let document = include_str!("../../../../docs/json.md");
    let section =
        document.split("\n## ").find(|text| text.starts_with(&format!("`marey {command} --json`"))).unwrap();
    let mut names = Vec::new();
    collect_names(value, &mut names);
    assert!(8 <= names.len());
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "{command}: {name}");
    }
}

fn collect_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                names.push(name.clone());
                collect_names(value, names);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect_names(value, names)),
        _ => {}
    }
}

/// Numbers that look random and are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }
}
