//! What compilers said of loops, in a browser: a loop whose iterations need each other, in C, Fortran and Rust.
//!
//! What is seen and pressed stands in `ui/test/remarks.mjs`; what it is held to is what `marey remarks --json` says.

use std::path::Path;
use std::process::Command;

use crate::mpi_view::look_for;
use crate::support::{Place, programs};

const RECORDS: &[&str] = &["-O3", "-g", "-fsave-optimization-record", "-o", "program"];
const PRINTED: &[&str] = &["-O", "-Ccodegen-units=1", "-Cdebuginfo=1", "-Cremark=all", "-o", "program"];

/// A source, its compiler, and how that is asked for remarks.
const CASES: [(&str, &str, &[&str]); 3] = [
    ("remarked.c", "gcc", RECORDS),
    ("remarked.f90", "gfortran", RECORDS),
    ("remarked.rs", "rustc", PRINTED),
];

/// What a command prints; it must succeed.
fn marey(dir: &Path, words: &[&str]) -> Vec<u8> {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output =
        marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn remarks_at_loops_in_the_browser() {
    for (source, compiler, words) in CASES {
        let place = Place::new();
        let dir = place.path().canonicalize().unwrap();
        std::fs::copy(programs().join(source), dir.join(source)).unwrap();
        let Ok(output) = Command::new(compiler).args(words).arg(source).current_dir(&dir).output() else {
            marey_testkit::skip(compiler);
            continue;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        if compiler == "rustc" {
            std::fs::write(dir.join("program.remarks"), &output.stderr).unwrap();
        }
        let embed = format!("--embed-sources={}", dir.display());
        marey(&dir, &["record", &embed, "-o", "run.marey", "--", "./program", "20000"]);
        let told = dir.join("remarks.json");
        std::fs::write(&told, marey(&dir, &["remarks", "run.marey", "--json"])).unwrap();
        look_for(&dir.join("run.marey"), "remarks", &told, &place);
    }
}
