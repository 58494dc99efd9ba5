//! `cargo xtask test`: from a fresh machine with Rust to every check and every test.
//!
//! What was installed must be used: where everything is there, a test that finds something missing
//! fails instead of being skipped.
//!
//! The order is by how soon a mistake shows: rules, formatting and lints before tests. The test
//! runner comes last, so that the last lines on the screen are its own summary.

use crate::check;
use crate::setup;
use crate::shell::{cargo, run, typed};
use crate::ui;
use anyhow::{Context, Result};
use std::process::Command;

/// Sets up, checks, builds and tests.
pub(crate) fn run_all() -> Result<()> {
    let has_packages = setup::debian_packages(setup::TEST_PACKAGES);
    let python = setup::python_with_duckdb();
    let has_sources = setup::ripgrep();
    let nextest = setup::nextest();
    let has_viewer = ui::set_up();

    check::run(check::Scope::Everything)?;
    let has_viewer = has_viewer && ui::build()?;
    run(&mut cargo(["build", "--workspace"]))?;
    if nextest {
        // nextest does not run the examples in the documentation.
        run(&mut cargo(["test", "--quiet", "--doc", "--workspace"]))?;
    }
    let mut tests = test_runner(nextest);
    if has_packages && has_sources && python.is_some() && has_viewer {
        tests.env("MAREY_TEST_ALL", "1");
    } else {
        println!("setup: WARNING: not everything is there; tests that need what is missing ARE SKIPPED");
    }
    if let Some(python) = python {
        // The one thing that the tests cannot find by themselves.
        tests.env("MAREY_PYTHON", python);
    }
    println!("$ {}", typed(&tests));
    let status = tests.status().context("the test runner cannot be started")?;
    if !status.success() {
        // Without a word of ours: the summary of the test runner is to be the last thing said.
        std::process::exit(status.code().unwrap_or(1));
    }
    Ok(())
}

fn test_runner(nextest: bool) -> Command {
    match nextest {
        true => cargo(["nextest", "run", "--workspace", "--no-fail-fast"]),
        // One at a time: nothing else keeps MPI jobs from fighting for the processors.
        false => cargo(["test", "--workspace", "--no-fail-fast", "--", "--test-threads=1"]),
    }
}
