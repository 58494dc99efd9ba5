//! `marey merge`, which `marey record` starts at its end: from the spool to a run with names.
//!
//! The one idea: the spool is given up last. Whatever goes wrong before, running the command again
//! starts from what was recorded.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use marey_archive::merge::{self, Config, Progress, Summary};
use marey_archive::{Archive, META_FILE};
use marey_model::Nanos;

use crate::busy::Busy;
use crate::cli::MergeArgs;
use crate::clocks;
use crate::doctor::shell::quote;
use crate::exit::{Usage, say, text_of};
use crate::format;
use crate::gather;
use crate::info;
use crate::paint::harmless;
use crate::record::{LAUNCH_FILE, LIBRARY_FILE, SPOOL, WORLD_FILES, is_finished, is_locked, tidy};
use crate::remarks;
use crate::source;
use crate::source::kept::MachineCode;
use crate::symbolize::SystemNames;

/// Runs the command.
pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    must_be_plain(&args.input)?;
    source::kept::check(args.embed_sources.as_deref())?;
    if args.reset || !args.offset.is_empty() {
        return clocks::set(args);
    }
    if args.reclock && !holds_recordings(&args.input.join(SPOOL)) {
        return clocks::fit_again(args);
    }
    gather::bring_what_is_here(&args.input)?;
    let is_anew = args.force && holds_recordings(&args.input.join(SPOOL));
    if is_cut_short(&args.input) && args.output.is_none() && !is_anew {
        let unfinished = begin_unfinished(&args.input)?;
        finish(&args.input, args, unfinished)?;
        say(&format!("{}: what was left of its merge is done", args.input.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let places = Places::find(&args.input, args.output.as_deref())?;
    let shown = places.run.display();
    must_be_plain(&places.run)?;
    if is_finished(&places.run) && !args.force && !args.reclock {
        bail!(Usage(format!("{shown} is merged already; use --force to merge it again, or -o")));
    }
    if !places.run.exists() {
        let cannot = || format!("cannot make {shown}");
        DirBuilder::new().mode(0o700).create(&places.run).with_context(cannot)?;
    }
    let config = Config {
        threads: args.work.threads.and_then(|threads| usize::try_from(threads).ok()),
        memory_bytes: args.work.memory_mb.map_or(Config::DEFAULT_MEMORY_BYTES, bytes_of_mib),
        // Whoever fits clocks again may do so once more.
        keep_spool: args.keep_spool || args.reclock,
    };
    // Whoever kills a merge behind the spool's end finds what is still to do.
    let unfinished = begin_unfinished(&places.run)?;
    let summary = merge(&places.spool, &places.run, &config)?;
    tidy(&places.run).with_context(|| format!("cannot tidy up {shown}"))?;
    finish(&places.run, args, unfinished)?;
    tell(&summary, &places.run);
    Ok(ExitCode::SUCCESS)
}

/// There as long as a merge is not through with all that it does after the spool is gone, and locked as long as it is at that.
const UNFINISHED_FILE: &str = "merging";

/// Whether all of a run was merged, and the rest of the merge was not done: it was killed.
pub(crate) fn is_cut_short(run: &Path) -> bool {
    let unfinished = run.join(UNFINISHED_FILE);
    unfinished.exists() && is_finished(run) && !is_locked(&unfinished).unwrap_or(true)
}

/// Marks a run as one that is being merged.
fn begin_unfinished(run: &Path) -> anyhow::Result<File> {
    let unfinished = run.join(UNFINISHED_FILE);
    let file = File::create(&unfinished).with_context(|| format!("cannot write {}", unfinished.display()))?;
    match file.try_lock() {
        // A file system without locks is no reason not to merge.
        Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            bail!(Usage(format!("another merge of {} is under way", run.display())))
        }
    }
}

/// What comes last, for the run is whole without: why it took so long, what compilers said, and what the program consists of.
fn finish(run: &Path, args: &MergeArgs, unfinished: File) -> anyhow::Result<()> {
    let mut unprepared = None;
    if !args.work.no_causes {
        let _busy = Busy::with("explaining");
        unprepared = marey_archive::prepare(run).err();
    }
    remarks::keep_of(run);
    let machine = if args.embed_code { MachineCode::Kept } else { MachineCode::LeftOut };
    if let Err(error) = source::kept::keep(run, args.embed_sources.as_deref(), machine) {
        say(&format!("warning: {}; what the program consists of is not in the run", text_of(&error)));
    }
    if let Some(error) = unprepared {
        say(&format!("warning: {error}; commands that tell why the run took so long will try themselves"));
    }
    let mark = run.join(UNFINISHED_FILE);
    fs::remove_file(&mark).with_context(|| format!("cannot remove {}", mark.display()))?;
    drop(unfinished);
    Ok(())
}

/// Refuses a run, or a spool, with anything inside but files and directories of files: a merge would write
/// where links lead, and wait for pipes. Links among recordings are passed over by the merge itself.
fn must_be_plain(run: &Path) -> anyhow::Result<()> {
    let Ok(entries) = fs::read_dir(run) else { return Ok(()) };
    for entry in entries.flatten() {
        let is_recording = is_recording(&entry.path());
        let is_plain = match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                fs::read_dir(entry.path()).into_iter().flatten().flatten().all(|inner| {
                    entry.file_name() == SPOOL || inner.file_type().is_ok_and(|kind| kind.is_file())
                })
            }
            Ok(kind) => kind.is_file() || is_recording,
            Err(_) => false,
        };
        if !is_plain {
            bail!(Usage(format!(
                "{} is, or holds, a link or another thing that no recorder has made: nothing is merged",
                entry.path().display()
            )));
        }
    }
    Ok(())
}

/// Merges, names the addresses, and removes the spool unless it is to be kept.
fn merge(spool: &Path, run: &Path, config: &Config) -> anyhow::Result<Summary> {
    let bar = Bar::new();
    let names = SystemNames::default();
    let summary = merge::merge_with_names(spool, run, config, &bar, &names)?;
    bar.0.finish_and_clear();
    if let Some(error) = names.failure() {
        say(&format!("warning: functions and lines are not known: {}", text_of(error)));
    }
    if !config.keep_spool && holds_recordings(spool) {
        let run = run.display();
        say(&format!(
            "warning: processes of the program still run: what they record from now on is not in {run}. The spool \
             is kept; when they have ended, `marey merge --force {run}` takes all of it"
        ));
    } else if !config.keep_spool {
        remove_rest(spool).with_context(|| format!("cannot remove {}", spool.display()))?;
    }
    Ok(summary)
}

/// Says what there is now, and what to do with it.
fn tell(summary: &Summary, run: &Path) {
    let shown = run.display();
    say(&format!(
        "{shown}: {} of {}, {} and {}",
        format::duration(Nanos(summary.duration_ns)),
        format::counted_as(summary.processes, "process", "processes"),
        format::counted(summary.intervals, "interval"),
        format::counted(summary.messages, "message"),
    ));
    // Of all problems only these mean that the numbers are not exact.
    let kinds = ["lost", "dropped", "damaged", "missing"];
    let missing = summary.problems.iter().filter(|(kind, _)| kinds.contains(&kind.as_str()));
    if missing.map(|(_, count)| count).sum::<u64>() > 0 {
        say("warning: not everything could be recorded; the report says what is missing");
    }
    // A run that cannot be read is told of when it is.
    let idle = Archive::open(run).ok().and_then(|archive| info::idle_rules(&archive).ok());
    if let Some(told) = idle.as_deref().and_then(info::without_regions) {
        say(&format!("warning: {}", harmless(&told)));
    }
    let typed = quote(&run.to_string_lossy());
    say(&format!("`marey report {typed}` tells where the time went"));
}

/// What is read and what is written.
#[derive(Debug)]
struct Places {
    spool: PathBuf,
    run: PathBuf,
}

impl Places {
    /// `input` is a run with a spool inside, or a spool.
    fn find(input: &Path, output: Option<&Path>) -> anyhow::Result<Self> {
        let shown = input.display();
        let inside = input.join(SPOOL);
        match fs::read_dir(input) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!(Usage(format!("there is no run and no spool at {shown}")));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(error).with_context(|| format!("cannot open {shown}"));
            }
            _ => {}
        }
        if holds_recordings(&inside) {
            return Ok(Self { spool: inside, run: output.unwrap_or(input).to_owned() });
        }
        // Merging nothing would put an empty run in the place of what is there.
        if is_finished(input) {
            bail!(Usage(format!("{shown} is merged already, and its spool is gone")));
        }
        if input.join(META_FILE).exists() {
            bail!(Usage(format!(
                "the merge of {shown} was not finished, and its spool is gone: record it again"
            )));
        }
        if inside.is_dir() {
            bail!(Usage(format!(
                "nothing was recorded in {shown}: no measured process has left anything there"
            )));
        }
        if !holds_recordings(input) {
            bail!(Usage(format!("{shown} is neither a run with a spool inside nor a spool")));
        }
        let Some(output) = output else {
            bail!(Usage(format!("{shown} is a spool; say with -o where to write the run")));
        };
        Ok(Self { spool: input.to_owned(), run: output.to_owned() })
    }
}

/// Whether measured processes have left anything in a spool.
pub(crate) fn holds_recordings(spool: &Path) -> bool {
    let Ok(entries) = fs::read_dir(spool) else { return false };
    entries.flatten().any(|entry| is_recording(&entry.path()))
}

/// Whether a measured process could have named a file so.
fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "events" || kind == "definitions")
}

/// Takes away what the recorder put into the spool, and where ranks announced themselves to each
/// other; the merge has removed what it merged. Anything else stays.
fn remove_rest(spool: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(spool) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        result => result?,
    };
    if_there(fs::remove_file(spool.join(LAUNCH_FILE)))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_library = name == LIBRARY_FILE && !is_loaded(&entry.path());
        if is_library || name.as_encoded_bytes().starts_with(WORLD_FILES.as_bytes()) {
            if_there(fs::remove_file(entry.path()))?;
        }
    }
    match fs::remove_dir(spool) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        result => if_there(result),
    }
}

/// Whether processes of the program still run, after their recorder was killed: what they start would say
/// that the library is missing.
fn is_loaded(library: &Path) -> bool {
    let (Ok(library), Ok(processes)) = (fs::canonicalize(library), fs::read_dir("/proc")) else {
        return true;
    };
    let name = library.as_os_str().as_encoded_bytes();
    let mut maps = processes.flatten().filter_map(|process| fs::read(process.path().join("maps")).ok());
    maps.any(|maps| maps.windows(name.len()).any(|part| part == name))
}

fn if_there(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn bytes_of_mib(mib: u64) -> usize {
    usize::try_from(mib.saturating_mul(1 << 20)).unwrap_or(usize::MAX)
}

/// A bar on standard error, if that is a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("  {msg:<28} {bar:40} {percent:>3} %  {elapsed}");
        Self(bar.with_style(style.expect("the template is well-formed")))
    }
}

impl Progress for Bar {
    fn begin(&self, what: &str, total: u64) {
        self.0.set_message(what.to_owned());
        self.0.set_length(total);
        self.0.set_position(0);
    }

    fn advance(&self, n: u64) {
        self.0.inc(n);
    }
}
