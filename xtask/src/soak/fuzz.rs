//! Every fuzz target for some minutes, from seeds that are made anew.
//!
//! What a target has found interesting stays in `fuzz/corpus`, which is not part of the repository;
//! the input of a crash lies in `fuzz/artifacts` and belongs into a test.

use super::threads::nightly;
use crate::shell::{root, run, succeeds, target};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

const TARGETS: [&str; 7] = ["archive", "imports", "records", "remarks", "request", "spool", "trees"];
/// Longer than anything takes on a loaded machine: more is a hang.
const TIMEOUT_S: u32 = 20;
const MEMORY_MB: u32 = 3000;

/// Makes the seeds, then gives each target its time.
pub(super) fn run_all(seconds: u32) -> Result<()> {
    if !succeeds(nightly()?.args(["fuzz", "--version"])) {
        bail!("there is no cargo-fuzz; type `cargo install cargo-fuzz --locked`");
    }
    let built = target().join("soak/fuzz");
    let seeds = built.join("seeds");
    let mut make = nightly()?;
    make.args(["run", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--example", "seeds"]);
    run(make.arg("--target-dir").arg(&built).arg("--").arg(&seeds))?;
    let mut failed = Vec::new();
    for name in TARGETS {
        let corpus = root().join("fuzz/corpus").join(name);
        std::fs::create_dir_all(&corpus).with_context(|| format!("cannot make {}", corpus.display()))?;
        let mut fuzz = nightly()?;
        fuzz.args(["fuzz", "run", "--fuzz-dir", "fuzz", "--target-dir"]).arg(&built).arg(name);
        fuzz.arg(&corpus).arg(seeds.join(name)).arg("--");
        fuzz.args(["-len_control=0", "-print_final_stats=1"]);
        fuzz.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={TIMEOUT_S}"));
        fuzz.arg(format!("-rss_limit_mb={MEMORY_MB}"));
        in_memory(&mut fuzz);
        if let Err(error) = run(&mut fuzz) {
            println!("{name}: {error:#}");
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!("{} found something; see fuzz/artifacts", failed.join(", "));
    }
    Ok(())
}

/// Runs are written thousands of times; a disk has better to do.
fn in_memory(command: &mut Command) {
    if Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
}
