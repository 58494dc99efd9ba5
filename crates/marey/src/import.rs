//! `marey import`: a run out of a trace or profile of another tool.
//!
//! The one idea: what the tool recorded becomes a spool in the new run, and the merge is the same as after a recording.
//! Formats are the matter of `marey_formats`.

use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use marey_formats::{Fate, Format, Imported};
use serde_json::json;

use crate::cli::{ImportArgs, MergeArgs};
use crate::exit::{Usage, say};
use crate::record::{Overwrite, SPOOL, move_aside, restore};
use crate::{format, merge};

/// Runs the command.
pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let shown = args.input.display();
    if !args.input.exists() {
        bail!(Usage(format!("there is no {shown}")));
    }
    // Before anything is moved aside.
    let (kind, _) = marey_formats::recognise(&args.input)?;
    let run = args.output.clone().unwrap_or_else(|| named_after(&args.input));
    let overwrite = if args.force { Overwrite::Replace } else { Overwrite::Refuse };
    let previous = move_aside(&run, &run, overwrite)?;
    match import(args, kind, &run) {
        Ok(code) => {
            if let Some(previous) = previous {
                let cannot = || format!("cannot remove the former run {}", previous.display());
                fs::remove_dir_all(&previous).with_context(cannot)?;
            }
            Ok(code)
        }
        Err(error) => {
            // Half a run is none; what was there before comes back.
            fs::remove_dir_all(&run).ok();
            restore(previous.as_deref(), &run);
            Err(error)
        }
    }
}

/// `a/traces.otf2` becomes `traces.marey` in the directory where the command is typed.
fn named_after(input: &Path) -> PathBuf {
    let whole = input.canonicalize().unwrap_or_else(|_| input.to_owned());
    let stem = whole.file_stem().unwrap_or("imported".as_ref());
    let mut name = stem.to_owned();
    name.push(".marey");
    PathBuf::from(name)
}

fn import(args: &ImportArgs, kind: Format, run: &Path) -> anyhow::Result<ExitCode> {
    let cannot = || format!("cannot make {}", run.display());
    DirBuilder::new().mode(0o700).create(run).with_context(cannot)?;
    let bar = Bar::new();
    let imported = marey_formats::import(&args.input, &run.join(SPOOL), &bar)?;
    bar.0.finish_and_clear();
    if args.json {
        writeln!(std::io::stdout(), "{}", as_json(kind, &imported))
            .context("cannot write to standard output")?;
    } else {
        tell(args, kind, &imported);
    }
    let merging = MergeArgs {
        input: run.to_owned(),
        output: None,
        force: false,
        keep_spool: false,
        no_causes: args.no_causes,
        embed_sources: None,
        embed_code: false,
        threads: args.threads,
        memory_mb: args.memory_mb,
        reclock: false,
        offset: Vec::new(),
        reset: false,
    };
    merge::run(&merging)
}

fn tell(args: &ImportArgs, kind: Format, imported: &Imported) {
    say(&format!(
        "{} is {}: {} of {} in {}",
        args.input.display(),
        kind.name(),
        format::counted(imported.events, "record"),
        format::counted(imported.locations, "location"),
        format::counted_as(imported.processes, "process", "processes"),
    ));
    let of = |fate: Fate| {
        let names = imported.records.iter().filter(|it| it.1 == fate);
        names.map(|(name, _, number)| format!("{name} {number}")).collect::<Vec<_>>().join(", ")
    };
    let (kept, ignored) = (of(Fate::Kept), of(Fate::Ignored));
    if !kept.is_empty() {
        say(&format!("kept as events: {kept}"));
    }
    if !ignored.is_empty() {
        say(&format!("counted only: {ignored}"));
    }
    for (text, number) in imported.problems.iter().take(10) {
        say(&format!("warning: {text} ({number})"));
    }
    if let Some(more @ 1..) = imported.problems.len().checked_sub(10) {
        say(&format!("warning: {more} further problems; `marey info --problems` has all of them"));
    }
}

fn as_json(kind: Format, imported: &Imported) -> String {
    let record = |(name, fate, number): &(String, Fate, u64)| json!({ "name": name, "fate": fate.name(), "number": number });
    let problem = |(text, number): &(String, u64)| json!({ "text": text, "number": number });
    let told = json!({
        "format": kind.name(),
        "processes": imported.processes,
        "locations": imported.locations,
        "events": imported.events,
        "definitions": imported.definitions.iter().map(record).collect::<Vec<_>>(),
        "records": imported.records.iter().map(record).collect::<Vec<_>>(),
        "problems": imported.problems.iter().map(problem).collect::<Vec<_>>(),
    });
    format!("{told:#}")
}

/// A bar on standard error, if that is a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("  {msg:<28} {bar:40} {percent:>3} %  {elapsed}");
        Self(bar.with_style(style.expect("the template is well-formed")).with_message("importing"))
    }
}

impl marey_formats::Progress for Bar {
    fn begin(&self, total: u64) {
        self.0.set_length(total);
    }

    fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}
