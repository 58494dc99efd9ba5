//! Threads of a program, and whether they and the ranks have processors.
//!
//! The one idea: ranks × threads is compared with what there is; that is the commonest reason why a
//! program waits.

use std::ffi::OsString;

use super::finding::{Finding, Topic};
use super::line::Line;
use super::loader::Listing;
use super::shell::{record, replaced};
use crate::format::{count, counted, counted_as};

/// What the libraries of a program say of its threads.
pub(super) fn examine(shown: &str, listing: &Listing, words: &[OsString]) -> Option<Finding> {
    const RUNTIMES: [&str; 3] = ["libgomp.so", "libomp.so", "libiomp5.so"];
    let runtime =
        listing.libraries.iter().find(|(name, _)| RUNTIMES.iter().any(|known| name.starts_with(known)))?;
    let line = super::line::parse(words);
    let ranks = line.ranks.unwrap_or(1).max(1);
    let threads = std::env::var("OMP_NUM_THREADS")
        .ok()
        .and_then(|text| text.split(',').next()?.trim().parse::<u64>().ok());
    let usable = usable();
    let finding = Finding::ok(
        Topic::Threads,
        shown,
        format!("OpenMP ({}): its threads and constructs are recorded, and who waits for whom", runtime.0),
        "Static loops make no call: they are part of their thread's task, and samples tell their lines.",
    );
    let is_too_many = |threads: &u64| 1 < *threads && usable < ranks.saturating_mul(*threads);
    let Some(threads) = threads.filter(|threads| !line.has_hosts && is_too_many(threads)) else {
        return Some(finding);
    };
    let each = (usable / ranks).max(1);
    let found = format!(
        "{} of {} each on {}",
        counted_as(ranks, "process", "processes"),
        counted(threads, "thread"),
        counted(usable, "processor")
    );
    Some(
        Finding { found, ..finding }
            .note(format!("Give each process {}", counted(each, "thread")))
            .command(format!("OMP_NUM_THREADS={each} {}", record("", words))),
    )
}

/// Whether the ranks of a line have a processor each, where they run here.
pub(super) fn ranks(line: &Line, words: &[OsString]) -> Option<Finding> {
    let launcher = line.launcher.as_ref().filter(|name| !name.as_encoded_bytes().ends_with(b"srun"))?;
    let (ranks, usable) = (line.ranks.filter(|_| !line.has_hosts)?, usable());
    if ranks <= usable {
        return None;
    }
    let finding = Finding::ok(
        Topic::Processors,
        &launcher.to_string_lossy(),
        format!("{} ranks on {}", count(ranks), counted(usable, "processor")),
        "Ranks that share a processor wait for each other, and that looks like waiting for messages.",
    )
    .note("Start as many ranks as there are processors, or name the hosts to run on");
    let fewer = replaced(words, ranks.to_string().as_ref(), usable.to_string().as_ref());
    Some(match fewer {
        Some(fewer) => finding.command(record("", &fewer)),
        None => finding,
    })
}

fn usable() -> u64 {
    std::thread::available_parallelism().map_or(1, |number| number.get() as u64)
}
