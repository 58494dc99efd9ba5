//! Tasks of the project: everything that a person or a CI job does to it beyond plain cargo.
//!
//! The one idea: each task is one function that prints the commands it runs as a user would type
//! them, so that nothing here is magic. Deliberately absent: logic of the product itself.
#![expect(clippy::print_stdout, reason = "a task talks to the person who started it")]

mod bench;
mod check;
mod demo;
mod engine;
mod mpi_table;
mod setup;
mod shell;
mod soak;
mod test;
mod ui;

use anyhow::{Context, Result};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK

  demo          set up, build, record a real MPI program and print its report
  test          install what the tests need, then run every check and every test
  check         enforce the rules of ARCHITECTURE.md, formatting and lints
  check --quick only the rules; no compiler
  bench         measure the recorder beside floors and peers; writes docs/benchmarks.md
  bench --quick the same, short and not written
  bench --full  the same with 100 M pairs and 200 M events; more than an hour, 2 GB of disk
  bench --only PART   only cases whose names contain PART; not written
  soak          valgrind, ThreadSanitizer, every fuzz target for five minutes, 1000 starts of odd programs
  soak --quick  the same with 20 seconds for each fuzz target, and 300 starts
  soak --only PART    only valgrind, threads, fuzz or odd
  soak --seed N       odd programs once more as they were started from this seed
  ui            build the viewer's page and the engine of exported pages, which the next cargo build puts into marey
  generate-mpi  renew the table of MPI functions from the headers of both MPIs
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args[..] {
        ["demo"] => demo::run_all(),
        ["test"] => test::run_all(),
        ["check"] => check::run(check::Scope::Everything),
        ["check", "--quick"] => check::run(check::Scope::RulesOnly),
        ["bench", ref words @ ..] => bench::Plan::from_words(words).and_then(|plan| bench::run(&plan)),
        ["soak", ref words @ ..] => soak::Plan::from_words(words).and_then(|plan| soak::run(&plan)),
        ["ui"] => ui::build().map(drop),
        ["generate-mpi"] => generate_mpi(),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(anyhow::anyhow!("no such task: {}\n\n{HELP}", args.join(" "))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn generate_mpi() -> Result<()> {
    let path = shell::root().join(mpi_table::TABLE);
    let text = mpi_table::generate()?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", mpi_table::TABLE);
    Ok(())
}
