//! A Rust program that uses the crate and calls MPI: both are written by one runtime, so the
//! user's regions are the ancestors of the MPI calls, and states that overlap disturb nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Compiler, Job, Mpi, Place, Run, need, programs, which};

/// Builds the program, as its user would, in a directory that is kept.
fn build() -> Option<PathBuf> {
    let linker = which(Mpi::Open.compiler(Compiler::C))?;
    let cargo = std::env::var_os("CARGO").map(PathBuf::from).or_else(|| which("cargo"))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust_mpi");
    let source = programs().join("rust_mpi");
    std::fs::create_dir_all(dir.join("src")).unwrap();
    let manifest = std::fs::read_to_string(source.join("Cargo.toml.in")).unwrap();
    let measure = root.join("crates/marey-measure");
    std::fs::write(dir.join("Cargo.toml"), manifest.replace("@MEASURE@", measure.to_str().unwrap())).unwrap();
    std::fs::copy(source.join("src/main.rs"), dir.join("src/main.rs")).unwrap();
    // The same versions as everywhere here, so that nothing need be downloaded.
    std::fs::copy(root.join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
    let mut command = Command::new(cargo);
    command.args(["rustc", "--quiet", "--offline", "--bin", "rust_mpi", "--"]).current_dir(&dir);
    command.arg("-C").arg(format!("linker={}", linker.display())).args(["-C", "link-arg=-lmpi"]);
    command.env("CARGO_TARGET_DIR", dir.join("target"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(dir.join("target/debug/rust_mpi"))
}

/// Rows of the report whose field, a text or the last of several, is `name`.
fn rows<'a>(report: &'a Value, table: &str, field: &str, name: &str) -> Vec<&'a Value> {
    let is = |row: &&Value| {
        let value = row[field].as_array().map_or(&row[field], |path| path.last().unwrap());
        value.as_str().unwrap().split_whitespace().any(|word| word == name)
    };
    report[table].as_array().unwrap().iter().filter(is).collect()
}

fn sum(rows: &[&Value], field: &str) -> i64 {
    rows.iter().map(|row| row[field].as_i64().unwrap()).sum()
}

#[test]
fn regions_of_a_rust_program_are_ancestors_of_its_mpi_calls() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let program = need!(build(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let run: Run = Job::new(mpi, 2, program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let report = run.json("report");
    let parent_is_step = |row: &&&Value| {
        let path = row["path"].as_array().unwrap();
        path.len() >= 3 && path[path.len() - 2].as_str().unwrap().contains("step")
    };
    let mut below_step = 0;
    for function in ["MPI_Send", "MPI_Recv"] {
        let calls = rows(&report, "call_paths", "path", function);
        assert_eq!(sum(&calls, "calls"), 200, "{function}: {calls:#?}");
        assert!(calls.iter().all(|row| parent_is_step(&row)), "{function}: {calls:#?}");
        below_step += sum(&calls, "inclusive_ns");
    }
    let computed: Vec<&Value> = rows(&report, "call_paths", "path", "compute");
    let (below, beside): (Vec<&Value>, Vec<&Value>) = computed.iter().partition(|row| parent_is_step(row));
    assert_eq!((sum(&below, "calls"), sum(&beside, "calls")), (200, 200), "{computed:#?}");
    below_step += sum(&below, "inclusive_ns");

    let steps = rows(&report, "call_paths", "path", "step");
    assert_eq!(sum(&steps, "calls"), 200, "{steps:#?}");
    assert_eq!(sum(&steps, "exclusive_ns") + below_step, sum(&steps, "inclusive_ns"), "{steps:#?}");
    let rounds = rows(&report, "call_paths", "path", "rounds");
    let below_rounds = sum(&steps, "inclusive_ns") + sum(&beside, "inclusive_ns");
    assert_eq!(sum(&rounds, "exclusive_ns") + below_rounds, sum(&rounds, "inclusive_ns"), "{rounds:#?}");

    // The states are there, crosswise, in a table of their own.
    let (overlaps, regions) = (run.table("overlaps"), run.table("regions"));
    let mut states: Vec<(u32, i64, i64, &str)> = (0..overlaps.len())
        .map(|row| {
            let region = overlaps.u32("region").unwrap()[row] as usize;
            let noun = regions.text("noun").unwrap()[region].as_str();
            let (start, duration) =
                (overlaps.i64("start").unwrap()[row], overlaps.i64("duration").unwrap()[row]);
            (overlaps.u32("location").unwrap()[row], start, start + duration, noun)
        })
        .collect();
    states.sort_unstable();
    assert_eq!(states.len(), 400, "{:?}", states.first());
    for pair in states.chunks(2) {
        let [(_, begin, end, "prefetch"), (_, later_begin, later_end, "settle")] = pair else {
            panic!("out of order: {pair:?}");
        };
        assert!(begin <= later_begin && later_begin < end && end < later_end, "do not cross: {pair:?}");
    }
    run.expect_no_problems(&[]);
}
