//! `cargo xtask soak`: what takes too long for every change, and what needs tools that not everybody
//! has: valgrind, ThreadSanitizer, fuzzing, a thousand starts of odd programs.
//!
//! The one idea: each part is a run that must find nothing, of a kind that has been seen to find
//! something. A part whose tool is missing fails and says how to get it; nothing is left out in
//! silence. A short valgrind run and all regressions found here are ordinary tests as well.

mod fuzz;
mod memcheck;
mod odd;
mod threads;

use anyhow::{Context, Result, bail};

/// How much to do.
pub(crate) struct Plan {
    /// Seconds that each fuzz target gets.
    fuzz_seconds: u32,
    /// Starts of odd programs, and the seed that they follow from.
    starts: u32,
    seed: Option<u32>,
    only: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Valgrind,
    Threads,
    Fuzz,
    Odd,
}

impl Plan {
    /// The plan that the words after `soak` ask for.
    pub(crate) fn from_words(words: &[&str]) -> Result<Self> {
        let mut plan = Self { fuzz_seconds: 300, starts: 1000, seed: None, only: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => (plan.fuzz_seconds, plan.starts) = (20, 300),
                "--seed" => plan.seed = Some(words.next().context("--seed wants a number")?.parse()?),
                "--only" => {
                    let part = words.next().context("--only wants valgrind, threads, fuzz or odd")?;
                    plan.only = Some(match *part {
                        "valgrind" => Part::Valgrind,
                        "threads" => Part::Threads,
                        "fuzz" => Part::Fuzz,
                        "odd" => Part::Odd,
                        other => bail!("soak has no part {other}: it has valgrind, threads, fuzz and odd"),
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
    let parts = [
        (Part::Threads, "threads"),
        (Part::Valgrind, "valgrind"),
        (Part::Fuzz, "fuzz"),
        (Part::Odd, "odd programs"),
    ];
    for (part, name) in parts {
        if plan.only.is_some_and(|only| only != part) {
            continue;
        }
        println!("\n== {name}");
        let outcome = match part {
            Part::Threads => threads::run_all(),
            Part::Valgrind => memcheck::run_all(),
            Part::Fuzz => fuzz::run_all(plan.fuzz_seconds),
            Part::Odd => odd::run_all(plan.starts, plan.seed),
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
