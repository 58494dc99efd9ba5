//! `marey record --again RUN`: the command that a run says it recorded, recorded anew.
//!
//! The one idea: a run may have come from anywhere, so what it says is started only because somebody has typed this, is
//! printed before it is, and is taken whole or not at all.
//!
//! What is not said anew is as it was then: settings, and rules (`settings.rs`).
//!
//! Deliberately absent: places, title and remark of the first recording, and its environment; where that differs, it is
//! said.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_archive::{Archive, RunFacts};

use super::existing::is_finished;
use super::settings;
use crate::cli::RecordArgs;
use crate::exit::{Usage, say};
use crate::run::open_archive;

/// Runs the command.
pub(super) fn run(args: &RecordArgs, before: &Path) -> anyhow::Result<ExitCode> {
    let archive = open_archive(before)?;
    let facts = &archive.meta().run;
    let shown = before.display();
    let typed = command_of(facts, &shown.to_string())?;
    let absolute = |path: &Path| std::path::absolute(path).context("cannot find this directory");
    let output = absolute(&args.output)?;
    if output.canonicalize().is_ok_and(|output| before.canonicalize().is_ok_and(|before| before == output)) {
        bail!(Usage(format!(
            "{shown} would be replaced by what is recorded again: give another one with -o"
        )));
    }
    let filter = args.filter.as_deref().map(absolute).transpose()?;
    let spool = args.spool.as_deref().map(absolute).transpose()?;
    let embed_sources = args.embed_sources.as_deref().map(absolute).transpose()?;
    let command = facts.command.iter().map(Into::into).collect();
    let mut again = RecordArgs { output, filter, spool, embed_sources, command, again: None, ..args.clone() };
    let as_then = settings::take(&mut again, facts, settings::is_given());
    // Before the directory is left that the run may be named from.
    let differences = differences(&archive)?;
    let directory = &facts.directory;
    std::env::set_current_dir(directory)
        .with_context(|| format!("cannot enter {directory}, where {shown} was recorded"))?;
    say(&format!("records again what {shown} says, in {directory}:"));
    say(&format!("  {typed}"));
    for difference in as_then.in_words(&shown.to_string()).into_iter().chain(differences) {
        say(&format!("  {difference}"));
    }
    let code = super::run(&again)?;
    if is_finished(&again.output) {
        let runs = [shown.to_string(), args.output.display().to_string()];
        say(&format!("`marey diff {}` says what has changed", words(&runs)));
    }
    Ok(code)
}

/// The command of a run as one would type it.
///
/// # Errors
/// If it cannot be recorded again.
pub(crate) fn command_of(facts: &RunFacts, shown: &str) -> anyhow::Result<String> {
    if facts.command.is_empty() {
        bail!(Usage(format!("{shown} does not say what was recorded: give the command")));
    }
    let command = words(&facts.command);
    if facts.directory.is_empty() {
        bail!(Usage(format!(
            "{shown} does not say in which directory it was recorded: go there and type `marey record -- {command}`"
        )));
    }
    if !facts.job_step.is_empty() {
        bail!(Usage(format!(
            "{shown} was recorded by several recorders, of which each started some of the ranks: start the launcher again \
             as it was, with `marey record -- {command}` behind it"
        )));
    }
    if facts.command.iter().chain([&facts.directory]).any(|word| word.contains('\u{fffd}')) {
        bail!(Usage(format!(
            "the command of {shown} has words that are not UTF-8 and were not kept whole: give the command"
        )));
    }
    Ok(command)
}

/// What stands instead of a process where something is of all.
const OF_ALL: u32 = u32::MAX;

/// Variables that change how parallel programs run, and are not what they were. Those that say where a job of a batch
/// system runs are another one's each time.
fn differences(archive: &Archive) -> anyhow::Result<Vec<String>> {
    let table = archive.table("environment")?;
    let mut found = Vec::new();
    let rows = table.u32("process")?.iter().zip(table.text("name")?).zip(table.text("value")?);
    for ((_, name), before) in rows.filter(|((process, _), _)| **process == OF_ALL) {
        let is_of_job = name.starts_with("SLURM_") || !name.contains('_');
        let now = std::env::var(name).ok();
        if !is_of_job && now.as_ref() != Some(before) {
            let now = now.map_or_else(|| "not set now".to_owned(), |now| format!("{now} now"));
            found.push(format!("{name} was {before}, and is {now}"));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Words as one would type them.
fn words(words: &[String]) -> String {
    let quoted = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
