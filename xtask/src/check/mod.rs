//! `cargo xtask check`: the rules of ARCHITECTURE.md that a program can enforce.
//!
//! The one idea: a rule is a function that returns findings, and a finding says what is wrong,
//! where, and what to do about it. All rules run before anything is reported, so that one run
//! shows everything; the compiler's own checks come last because they take longest.

mod files;
mod layers;

use crate::mpi_table::{self, Freshness};
use crate::shell::{cargo, output, root, run as run_command};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// How much to check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Rules, formatting, lints, documentation.
    Everything,
    /// Rules alone: needs no compiler and takes a moment.
    RulesOnly,
}

/// Something that breaks a rule.
#[derive(Debug)]
pub(crate) struct Finding {
    /// What is wrong.
    pub what: String,
    /// The file, with a line where there is one.
    pub place: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Runs the checks and fails if anything was found.
pub(crate) fn run(scope: Scope) -> Result<()> {
    let files = tracked_files()?;
    let mut findings = layers::check(&metadata()?);
    findings.extend(files::check(&files));
    for Finding { what, place, remedy } in &findings {
        println!("rule broken: {what}\n         at: {place}\n         do: {remedy}\n");
    }
    if !findings.is_empty() {
        bail!("{} broken rules; ARCHITECTURE.md says what the rules are for", findings.len());
    }
    println!("rules: {} files and all dependencies follow ARCHITECTURE.md", files.len());
    if scope == Scope::Everything {
        run_command(&mut cargo(["fmt", "--all", "--check"]))
            .context("formatting differs; `cargo fmt --all` puts it right")?;
        run_command(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
            .context("clippy has findings; they stand above")?;
        // The program has the name of the library that it loads into others: both at once would write into one directory.
        for which in [&["--workspace", "--exclude", "marey"][..], &["--package", "marey"]] {
            let words = [&["doc", "--quiet", "--no-deps"], which].concat();
            run_command(cargo(words).env("RUSTDOCFLAGS", "-D warnings"))
                .context("the documentation has findings, such as links to nothing; they stand above")?;
        }
        generated_files_are_fresh()?;
    }
    Ok(())
}

/// The tests that compare a generated file with what would be generated now.
const FRESHNESS: &[(&str, &[&str], &str)] = &[(
    "docs/archive.md",
    &["test", "--quiet", "--package", "marey-archive", "--test", "archive"],
    "the_documentation_is_fresh",
)];

fn generated_files_are_fresh() -> Result<()> {
    match mpi_table::check_fresh()? {
        Freshness::Fresh => println!("fresh: {}", mpi_table::TABLE),
        Freshness::NoHeaders(missing) => {
            println!("not known whether fresh: {} needs {missing}", mpi_table::TABLE);
        }
        Freshness::OtherReleases => {
            println!("not known whether fresh: {} is of other MPI releases", mpi_table::TABLE);
        }
    }
    for (file, words, test) in FRESHNESS {
        let mut test_run = cargo(words.iter().copied());
        let printed = output(test_run.env_remove("MAREY_UPDATE_DOCS").args(["--", "--exact", test]))
            .with_context(|| format!("{file} is stale"))?;
        // A filter that matches nothing succeeds as well.
        if !printed.contains("1 passed") {
            bail!(
                "the test {test} is gone; FRESHNESS in xtask/src/check/mod.rs names the one that guards {file}"
            );
        }
        println!("fresh: {file}");
    }
    Ok(())
}

/// A file that belongs to the project.
pub(crate) struct TrackedFile {
    /// Path from the root of the checkout.
    pub path: String,
    /// Content; empty if it is not text.
    pub text: String,
}

/// Everything that git knows or would add: a rule that holds only after `git add` comes too late.
fn tracked_files() -> Result<Vec<TrackedFile>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = output(&mut git).context("the rules look at the files that git tracks")?;
    let mut files: Vec<TrackedFile> = listed
        .lines()
        .map(|path| (path, root().join(path)))
        .filter(|(_, absolute)| absolute.is_file())
        .map(|(path, absolute)| TrackedFile {
            path: path.to_owned(),
            text: std::fs::read_to_string(absolute).unwrap_or_default(),
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// What cargo itself says about the crates: truer than reading their manifests as text.
fn metadata() -> Result<serde_json::Value> {
    let text = output(&mut cargo(["metadata", "--format-version", "1", "--no-deps", "--offline"]))?;
    serde_json::from_str(&text).context("cargo metadata prints JSON")
}
