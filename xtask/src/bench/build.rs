//! Builds the programs that are measured, into `target/bench`.

use crate::shell::{cargo, command, output, root, target};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// Where programs are put.
fn programs() -> PathBuf {
    target().join("bench")
}

/// Compiles `benches/record/SOURCE` with a compiler and further words, and returns the program.
pub(super) fn compile(compiler: &str, source: &str, program: &str, words: &[&str]) -> Result<String> {
    let dir = programs();
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let path = dir.join(program);
    let mut compile = command(compiler);
    compile.args(["-O3", "-march=native", "-g1", "-pthread", "-Wall", "-Wextra", "-o"]).arg(&path);
    compile.arg(root().join("benches/record").join(source)).args(words);
    output(&mut compile)?;
    Ok(path.display().to_string())
}

/// Builds the peers in Rust; returns the directory of their programs.
pub(super) fn peers() -> Result<PathBuf> {
    let dir = programs().join("peers");
    let mut build = cargo(["build", "--release", "--locked", "--manifest-path", "benches/peers/Cargo.toml"]);
    output(build.arg("--target-dir").arg(&dir))?;
    Ok(dir.join("release"))
}
