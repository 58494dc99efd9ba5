//! A run with a function that the budget has counted, in a browser.
//!
//! What is seen and pressed stands in `ui/test/reduced.mjs`. The program calls it so often that what was recorded of it
//! before took little of its time: charged with all its visits, it would seem to be the dearest of the run.

use std::process::Command;

use crate::mpi_view::look;
use crate::support::{Place, programs};

#[test]
fn what_the_budget_counted_in_the_browser() {
    let place = Place::new();
    let dir = place.path();
    let flags = ["-g", "-O2", "-fno-inline", "-finstrument-functions", "-o", "program"];
    let mut gcc = Command::new("gcc");
    let Ok(built) = gcc.args(flags).arg(programs().join("budget.c")).current_dir(dir).output() else {
        marey_testkit::skip("gcc");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state"));
    let recorded = marey.args(["record", "-o", "run.marey", "--", "./program", "80000"]).output().unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    look(&dir.join("run.marey"), &[], "reduced", &place);
}
