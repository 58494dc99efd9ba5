//! ThreadSanitizer over the recorder: the test `races` of `marey-measure`, which does at once
//! whatever threads may do at once.
//!
//! Only programs without a test harness can be run this way. The standard library comes built
//! without the sanitizer, so what its channels and locks order would be reported as races. For the
//! same reason the merge is not run here: it is safe Rust throughout, and its threads are those of
//! rayon, which stand on such locks. That any number of them gives the same bytes is a test.

use crate::shell::{command, run, succeeds, target};
use anyhow::{Result, bail};
use std::process::Command;

/// The sanitizer changes how memory is laid out, so the compiler wants to hear that the standard
/// library has not been built with it.
const FLAGS: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";

/// A cargo of the nightly tool chain.
pub(super) fn nightly() -> Result<Command> {
    let with_words = || {
        let mut cargo = command("rustup");
        cargo.args(["run", "nightly", "cargo"]);
        // Cargo tells its children which tool chain it belongs to.
        cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
        cargo
    };
    if !succeeds(with_words().arg("--version")) {
        bail!("there is no nightly compiler; type `rustup toolchain install nightly --profile minimal`");
    }
    Ok(with_words())
}

/// The sanitizer keeps a few accesses to a word and forgets others by chance: one run finds a store
/// that should have been a release five times in six.
const ROUNDS: usize = 5;

/// Runs the test; the sanitizer ends it at the first race.
pub(super) fn run_all() -> Result<()> {
    let mut test = nightly()?;
    test.args(["test", "--package", "marey-measure", "--test", "races"]);
    test.args(["--target", "x86_64-unknown-linux-gnu"]);
    test.arg("--target-dir").arg(target().join("soak/threads"));
    test.env("RUSTFLAGS", FLAGS).env("TSAN_OPTIONS", "halt_on_error=1 history_size=7");
    (0..ROUNDS).try_for_each(|_| run(&mut test))
}
