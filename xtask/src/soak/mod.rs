//! `cargo xtask soak`: what takes too long for every change, and what needs tools that not everybody
//! has: valgrind, ThreadSanitizer, fuzzing.
//!
//! The one idea: each part is a run that must find nothing, of a kind that has been seen to find
//! something. A part whose tool is missing fails and says how to get it; nothing is left out in
//! silence. A short valgrind run and all regressions found here are ordinary tests as well.

mod fuzz;
mod memcheck;
mod threads;

use anyhow::{Context, Result, bail};

/// How much to do.
pub(crate) struct Plan {
    /// Seconds that each fuzz target gets.
    fuzz_seconds: u32,
    only: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Valgrind,
    Threads,
    Fuzz,
}

impl Plan {
    /// The plan that the words after `soak` ask for.
    pub(crate) fn from_words(words: &[&str]) -> Result<Self> {
        let mut plan = Self { fuzz_seconds: 300, only: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => plan.fuzz_seconds = 20,
                "--only" => {
                    let part = words.next().context("--only wants valgrind, threads or fuzz")?;
                    plan.only = Some(match *part {
                        "valgrind" => Part::Valgrind,
                        "threads" => Part::Threads,
                        "fuzz" => Part::Fuzz,
                        other => bail!("soak has no part {other}: it has valgrind, threads and fuzz"),
                    });
                }
                other => bail!("soak has no option {other}"),
            }
        }
        Ok(plan)
    }
}

/// Runs the parts, all of them even if one finds something.
pub(crate) fn run(plan: &Plan) -> Result<()> {
    let mut failed = Vec::new();
    for (part, name) in [(Part::Threads, "threads"), (Part::Valgrind, "valgrind"), (Part::Fuzz, "fuzz")] {
        if plan.only.is_some_and(|only| only != part) {
            continue;
        }
        println!("\n== {name}");
        let outcome = match part {
            Part::Threads => threads::run_all(),
            Part::Valgrind => memcheck::run_all(),
            Part::Fuzz => fuzz::run_all(plan.fuzz_seconds),
        };
        match outcome {
            Ok(()) => println!("{name}: nothing found"),
            Err(error) => {
                println!("{name}: FAILED: {error:#}");
                failed.push(name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("soak failed: {}", failed.join(", "));
    }
    Ok(())
}
