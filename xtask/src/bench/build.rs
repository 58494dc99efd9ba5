//! Builds the programs that are measured, into `target/bench`.
//!
//! The one idea: what is measured lies where no other build touches it, so that somebody's build in
//! between changes nothing.

use crate::shell::{cargo, command, output, root, run, target};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// What nearly every case needs.
pub(super) struct Tools {
    /// A copy of the command line, so that somebody's build in between changes nothing.
    pub marey: String,
    /// Runs a command and prints what it took.
    pub spent: String,
}

impl Tools {
    /// The words before a program that record it, with further options, into the case's directory. Without samples,
    /// which are measured by themselves, if the options do not say otherwise.
    pub(super) fn record(&self, options: &[&str]) -> Vec<String> {
        let mut words =
            vec![self.marey.as_str(), "record", "--no-merge", "--max-mb", "0", "-o", "{output}/run"];
        if !options.contains(&"--sample") {
            words.extend(["--sample", "off"]);
        }
        // What recording costs is measured, not how it is kept low, which `governor` does.
        if !options.contains(&"--budget") {
            words.extend(["--budget", "off"]);
        }
        words.extend(options);
        words.push("--");
        words.into_iter().map(str::to_owned).collect()
    }
}

/// Builds them.
pub(super) fn tools() -> Result<Tools> {
    run(&mut cargo(["build", "--release", "--package", "marey"]))?;
    let built = target().join("release/marey");
    let marey = programs()?.join("marey");
    std::fs::copy(&built, &marey).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(Tools { marey: marey.display().to_string(), spent: compile("gcc", "spent.c", "spent", &[])? })
}

/// Where programs are put.
fn programs() -> Result<PathBuf> {
    let dir = target().join("bench");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Compiles `benches/record/SOURCE` with a compiler and further words, and returns the program.
pub(super) fn compile(compiler: &str, source: &str, program: &str, words: &[&str]) -> Result<String> {
    let path = programs()?.join(program);
    let include = root().join("crates/marey-collect/include");
    let mut compile = command(compiler);
    compile.args(["-O3", "-march=native", "-g1", "-pthread", "-Wall", "-Wextra", "-I"]).arg(&include);
    compile.arg("-o").arg(&path);
    if source.ends_with(".f90") {
        // The module has to be compiled first, and its interface must not litter the checkout.
        compile.args(["-cpp", "-fopenmp", "-J"]).arg(programs()?).arg(include.join("marey.f90"));
    }
    compile.arg(root().join("benches/record").join(source)).args(words);
    output(&mut compile)?;
    Ok(path.display().to_string())
}

/// Compiles a program with coarrays by the wrapper of an MPI and links it with the library of that.
pub(super) fn coarrays(compiler: &str, source: &str, program: &str, library: &str) -> Result<String> {
    let path = programs()?.join(program);
    let mut compile = command(compiler);
    compile.args(["-O3", "-g1", "-fcoarray=lib", "-o"]).arg(&path);
    compile.arg(root().join("benches/record").join(source)).arg(format!("-l{library}"));
    output(&mut compile)?;
    Ok(path.display().to_string())
}

/// Builds an example of one of our crates.
pub(super) fn rust(package: &str, example: &str) -> Result<String> {
    output(&mut cargo(["build", "--release", "--package", package, "--example", example]))?;
    let path = programs()?.join(example);
    let built = target().join("release/examples").join(example);
    std::fs::copy(&built, &path).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(path.display().to_string())
}

/// Builds the programs in Rust; returns their directory.
pub(super) fn peers() -> Result<PathBuf> {
    let dir = programs()?.join("peers");
    let mut build = cargo(["build", "--release", "--locked", "--manifest-path", "benches/peers/Cargo.toml"]);
    output(build.arg("--target-dir").arg(&dir))?;
    Ok(dir.join("release"))
}
