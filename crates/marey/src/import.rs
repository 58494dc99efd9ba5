//! `marey import`: a run out of a trace or profile of another tool.
//!
//! The one idea: what the tool recorded becomes a spool in the new run, and the merge is the same as after a recording.
//! Formats are the matter of `marey_formats`.

use std::cmp::Reverse;
use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_formats::{Fate, Format, Imported};
use serde_json::json;

use crate::bar::Bar;
use crate::cli::{ImportArgs, MergeArgs};
use crate::exit::{Usage, say};
use crate::record::{Overwrite, SPOOL, may_be_replaced, move_aside, restore};
use crate::{format, merge};

/// Runs the command.
pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let shown = args.input.display();
    if !args.input.exists() {
        bail!(Usage(format!("there is no {shown}")));
    }
    let (kind, _) = marey_formats::recognise(&args.input)?;
    let run = args.output.clone().unwrap_or_else(|| named_after(&args.input));
    let overwrite = if args.force { Overwrite::Replace } else { Overwrite::Refuse };
    may_be_replaced(&run, &run, overwrite)?;
    // Whoever kills an import leaves no run behind that looks like one, and the former one where it was.
    let aside = Aside::create(&run)?;
    let spool = aside.0.join(SPOOL);
    let bar = Bar::new("importing");
    let imported = marey_formats::import(&args.input, &spool, &bar)?;
    bar.finish();
    let facts = json!({ "imported_from": kind.name(), "without_times": imported.is_profile }).to_string();
    let path = spool.join("launch.json");
    fs::write(&path, facts).with_context(|| format!("cannot write {}", path.display()))?;
    if imported.locations == 0 {
        let why =
            imported.problems.iter().map(|(text, _)| text.as_str()).next().unwrap_or("it says nothing else");
        bail!("{} holds no process and no thread: {why}", args.input.display());
    }
    if args.json {
        writeln!(std::io::stdout(), "{}", as_json(kind, &imported))
            .context("cannot write to standard output")?;
    } else {
        tell(args, kind, &imported);
    }
    let previous = move_aside(&run, &run, overwrite)?;
    let cannot = || format!("cannot make {}", run.display());
    let made = DirBuilder::new().mode(0o700).create(&run).and_then(|()| fs::rename(&spool, run.join(SPOOL)));
    if let Err(error) = made {
        restore(previous.as_deref(), &run);
        return Err(error).with_context(cannot);
    }
    drop(aside);
    let code = merge(args, &run)?;
    if let Some(previous) = previous {
        let cannot = || format!("cannot remove the former run {}", previous.display());
        fs::remove_dir_all(&previous).with_context(cannot)?;
    }
    Ok(code)
}

/// Kinds of records that are named in a line, the most frequent first.
const NAMES: usize = 4;

/// A directory beside a run, where it is made; gone when it is not needed any more.
struct Aside(PathBuf);

impl Aside {
    fn create(run: &Path) -> anyhow::Result<Self> {
        let mut name = run.file_name().unwrap_or("run".as_ref()).to_owned();
        name.push(format!(".importing-{}", std::process::id()));
        let dir = run.with_file_name(name);
        let cannot = || format!("cannot make {}", dir.display());
        DirBuilder::new().mode(0o700).create(&dir).with_context(cannot)?;
        Ok(Self(dir))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // What cannot be removed says by its name what it is.
        fs::remove_dir_all(&self.0).ok();
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

fn merge(args: &ImportArgs, run: &Path) -> anyhow::Result<ExitCode> {
    let merging = MergeArgs {
        input: run.to_owned(),
        output: None,
        force: false,
        keep_spool: false,
        work: args.work.clone(),
        embed_sources: None,
        embed_code: false,
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
    for (fate, what) in [(Fate::Kept, "kept as events"), (Fate::Ignored, "counted only")] {
        let mut of: Vec<_> = imported.records.iter().filter(|it| it.1 == fate).collect();
        of.sort_by_key(|it| Reverse(it.2));
        let number = of.iter().map(|it| it.2).sum();
        let mut names: Vec<&str> = of.iter().map(|it| it.0.as_str()).take(NAMES).collect();
        if NAMES < of.len() {
            names.push("… (`--json` has all)");
        }
        if number > 0 {
            let records = format::counted(number, "record");
            say(&format!(
                "{what}: {records} of {}: {}",
                format::counted(of.len() as u64, "kind"),
                names.join(", ")
            ));
        }
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
