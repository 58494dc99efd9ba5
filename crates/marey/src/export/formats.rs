//! A run in the format of another tool.
//!
//! The one idea: how files look is the matter of `marey_formats::write`; here it is told what there is, gets the events of the
//! run in order, and what it could not write is said.
//!
//! Deliberately absent: parts of a run; all of it is written.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_analyze::Trace;
use marey_archive::redact;
use marey_formats::Progress;
use marey_formats::write::{self, Definitions, Form, What, Written};
use marey_model::ProcessId;
use serde_json::json;

use super::{AsideDirectory, may_be_written, users};
use crate::bar::Bar;
use crate::cli::ExportArgs;
use crate::events::{Go, Window, in_order, n_rows};
use crate::exit::{Usage, say};
use crate::pack::beside;
use crate::run::{Run, damaged};
use crate::{format, info};

/// Runs the command for such a form.
pub(super) fn run(args: &ExportArgs, form: Form) -> anyhow::Result<ExitCode> {
    if args.other.is_some() {
        bail!(Usage(format!("{} hold one run; a second beside it is for --to html", form.name())));
    }
    if args.most_mib.is_some() {
        bail!(Usage(format!("--most-mib is for --to html; {} hold all of the run", form.name())));
    }
    // What cannot be read is not to be a reason to look at where it would have been written.
    let found = Run::open(&args.run)?;
    if let Some(words) = info::without_times(found.archive.meta()) {
        bail!(
            "{} has no events, which {} consist of: it was imported from {words}; `marey report --json` has its sums",
            args.run.display(),
            form.name()
        );
    }
    let out = args.output.clone().unwrap_or_else(|| beside(&args.run, form.extension()));
    form.fits(&out).map_err(|why| Usage(format!("{}: {why}", out.display())))?;
    may_be_written(args, &out, &form.files(&out))?;
    let told = if args.redact {
        drop(found);
        let aside = AsideDirectory::beside(&out)?;
        let copy = aside.0.join("run");
        redact(&[(args.run.as_path(), copy.as_path())], &users())
            .map_err(|error| damaged(&args.run, &error))?;
        write(&Run::open(&copy)?, form, &out)?
    } else {
        write(&found, form, &out)?
    };
    if args.json {
        writeln!(std::io::stdout(), "{:#}", as_json(form, &told))
            .context("cannot write to standard output")?;
    } else {
        tell(form, &told);
    }
    if !args.redact {
        say(
            "it tells names of nodes, functions and files and the command line; --redact leaves out whose they are",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// What was written, and how many visits the run has beside those.
struct Told {
    written: Written,
    only_sums: u64,
}

fn write(run: &Run, form: Form, out: &Path) -> anyhow::Result<Told> {
    let Run { archive, trace, .. } = run;
    let definitions = definitions(run)?;
    let mut writer = write::create(form, &definitions, out)?;
    let bar = Bar::new("exporting");
    bar.begin(n_rows(archive));
    let mut visits = 0;
    in_order((archive, trace), &Window::ALL, &|rows| bar.advance(rows), &mut |event| {
        if let What::Enter(visit) | What::Visit(visit) = &event.what {
            visits += u64::from(visit.visits);
        }
        writer.event(event)?;
        Ok(Go::On)
    })?;
    let written = writer.finish()?;
    bar.finish();
    let all: u64 = trace.profile().iter().chain(trace.lanes()).map(|row| row.visits).sum();
    Ok(Told { written, only_sums: all.saturating_sub(visits) })
}

fn definitions(run: &Run) -> anyhow::Result<Definitions<'_>> {
    let Run { archive, trace, .. } = run;
    let kinds = archive.table("event_kinds")?;
    let mut event_kinds = Vec::new();
    for (id, name) in kinds.u32("id")?.iter().zip(kinds.text("name")?) {
        let id = usize::try_from(*id)?;
        if event_kinds.len() <= id && id < kinds.len() {
            event_kinds.resize(id + 1, String::new());
        }
        if let Some(place) = event_kinds.get_mut(id) {
            name.clone_into(place);
        }
    }
    let communicators = archive.table("communicators")?;
    let most = trace.processes().len();
    let members = communicators.text("members")?.iter().map(|text| members(text, most)).collect();
    let facts = &archive.meta().run;
    Ok(Definitions {
        trace,
        event_kinds,
        members,
        command: facts.command.clone(),
        title: facts.title.clone(),
        epoch_ns: facts.start_realtime_ns,
        creator: format!("marey {}", env!("CARGO_PKG_VERSION")),
    })
}

/// `0-3,7` of each group of a communicator; of a run that is not whole, as many as there are processes.
fn members(text: &str, most: usize) -> Vec<Vec<ProcessId>> {
    let group = |text: &str| -> Vec<ProcessId> {
        let run = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
            Some(first..=last)
        };
        text.split(',').filter_map(run).flatten().map(ProcessId).take(most).collect()
    };
    text.split('|').map(group).collect()
}

fn tell(form: Form, told: &Told) {
    let Told { written: Written { files, written, left_out }, only_sums } = told;
    let bytes: u64 = files.iter().map(|file| size(file)).sum();
    let counts: Vec<String> =
        written.iter().map(|(what, number)| format!("{} {what}", format::count(*number))).collect();
    for file in files.iter().take(1) {
        say(&format!("{} ({}): {}", file.display(), format::bytes(bytes), counts.join(", ")));
    }
    if written.is_empty() {
        say("it has no events: the run has none, or only their sums");
    }
    for (what, number) in left_out {
        say(&format!("not in {}: {what} ({})", form.name(), format::count(*number)));
    }
    if *only_sums > 0 {
        say(&format!("not in it: visits of which the run has only sums ({})", format::count(*only_sums)));
    }
}

/// Bytes of a file, or of all in a directory.
fn size(path: &Path) -> u64 {
    let Ok(entries) = path.read_dir() else { return path.metadata().map_or(0, |it| it.len()) };
    entries.filter_map(Result::ok).map(|entry| size(&entry.path())).sum()
}

fn as_json(form: Form, told: &Told) -> serde_json::Value {
    let Told { written: Written { files, written, left_out }, only_sums } = told;
    let counted = |list: &[(&'static str, u64)]| {
        list.iter().map(|(what, number)| json!({ "what": what, "number": number })).collect::<Vec<_>>()
    };
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    json!({ "format": form.name(), "files": files, "written": counted(written), "left_out": counted(left_out),
        "visits_only_in_sums": only_sums })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_as_the_archive_has_them() {
        let ids = |of: &[u32]| of.iter().copied().map(ProcessId).collect::<Vec<_>>();
        assert_eq!(members("0-2,5|4", 9), [ids(&[0, 1, 2, 5]), ids(&[4])]);
        assert_eq!(members("0-4000000000", 3), [ids(&[0, 1, 2])]);
        assert_eq!(members("", 3), [ids(&[])]);
    }
}
