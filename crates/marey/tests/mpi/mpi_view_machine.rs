//! The machine code of a run beside its sources, in a browser.
//!
//! What is seen and pressed stands in `ui/test/machine.mjs`; what it is held to is what `marey source RUN --code --json` reads
//! from the program, while the page has what the run kept.

use std::path::Path;
use std::process::Command;

use crate::mpi_view::{browser_and_engine, exported, look_for};
use crate::support::{Place, need, programs};

/// What a command prints; it must succeed.
fn marey(dir: &Path, words: &[&str]) -> Vec<u8> {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output =
        marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn machine_code_beside_the_text_in_the_browser() {
    let place = Place::new();
    let dir = place.path().canonicalize().unwrap();
    for source in ["machine.c", "machine.h"] {
        std::fs::copy(programs().join(source), dir.join(source)).unwrap();
    }
    let flags = ["-g", "-O2", "-o", "program", "machine.c"];
    let Ok(built) = Command::new("gcc").args(flags).current_dir(&dir).output() else {
        marey_testkit::skip("gcc");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let sources = format!("--embed-sources={}", dir.display());
    marey(&dir, &["record", &sources, "--embed-code", "-o", "run.marey", "--", "./program", "60000"]);
    let told = dir.join("code.json");
    std::fs::write(&told, marey(&dir, &["source", "run.marey", "--code", "sweep", "--json"])).unwrap();
    look_for(&dir.join("run.marey"), "machine", &told, &place);
    // Neither a run of which nobody asked to keep it has code, nor a page of one that keeps it.
    marey(&dir, &["record", "-o", "bare.marey", "--", "./program", "1000"]);
    need!(browser_and_engine(), "the engine of exported pages that `cargo xtask ui` builds");
    let page = exported(&dir.join("run.marey"), &[], &place);
    look_for(&dir.join("bare.marey"), "machineless", Path::new(&page), &place);
}
