//! `marey merge --offset`, `--reset` and `--reclock`, and the viewer: clocks of a run that is merged already.
//!
//! The one idea: what was merged stays as it is; what is to be added to times stands in a file beside it, and
//! taking the file away undoes everything. What the corrections do to messages is counted and said at once,
//! for that is by what a user tells whether they are right.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_archive::corrections::{self, Corrections};
use marey_archive::{Archive, Columns};
use marey_model::Nanos;

use crate::cli::MergeArgs;
use crate::exit::{Usage, say};
use crate::format;
use crate::paint::{Look, Paint, wrap};
use crate::run::{is_about_corrections, open_archive};

/// Sets offsets or forgets corrections.
pub(crate) fn set(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let _held = held(&args.input)?;
    if args.reset {
        forget_nonsense(&args.input)?;
    }
    let archive = open_directory(&args.input)?;
    let before = corrections::violations(&archive).context("cannot count messages that run backwards")?;
    let mut wanted = if args.reset { Corrections::default() } else { archive.corrections().clone() };
    let clocks = Clocks::read(&archive)?;
    for (name, time) in &args.offset {
        for process in clocks.named(name, &args.input)? {
            wanted.offsets.insert(process, time.0);
        }
    }
    wanted.offsets.retain(|_, ns| *ns != 0);
    let after = save(&args.input, wanted)?;
    clocks.warn(after.corrections());
    tell(&args.input, &after, before)?;
    Ok(ExitCode::SUCCESS)
}

/// Moves the clock of one process, in the place of what it was moved by before; 0 = not at all. `is_meant` refuses a run
/// that has taken the place of the one that somebody looked at.
pub(crate) fn shift(
    run: &Path,
    process: u32,
    offset_ns: i64,
    is_meant: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let _held = held(run)?;
    is_meant()?;
    let archive = open_directory(run)?;
    let shown = run.display();
    if u64::from(process) >= archive.meta().rows("processes") {
        bail!(Usage(format!("{shown} has no process {process}")));
    }
    if offset_ns.unsigned_abs() > corrections::MAX_OFFSET_NS.unsigned_abs() {
        bail!(Usage("no clock is moved by more than 104 days".to_owned()));
    }
    let mut wanted = archive.corrections().clone();
    wanted.offsets.insert(process, offset_ns);
    wanted.offsets.retain(|_, ns| *ns != 0);
    save(run, wanted)?;
    Ok(())
}

/// Why no clock of a run can be moved; `None` = it can.
pub(crate) fn why_no_shift(run: &Path) -> Option<String> {
    let writable = || rustix::fs::access(run, rustix::fs::Access::WRITE_OK).is_ok();
    if run.is_file() {
        return Some("the run is packed, and packed files are not changed".to_owned());
    }
    (!writable()).then(|| format!("{} may not be written to", run.display()))
}

/// Fits clocks from what the run has.
pub(crate) fn fit_again(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let shown = args.input.display();
    let _held = held(&args.input)?;
    let archive = open_directory(&args.input)?;
    let before = corrections::violations(&archive).context("cannot count messages that run backwards")?;
    let refit =
        corrections::refit(&args.input).with_context(|| format!("cannot fit the clocks of {shown} again"))?;
    let clocks = refit.clocks;
    let wanted = refit.into_corrections(archive.corrections());
    let is_same = wanted.fits == archive.corrections().fits;
    let after = save(&args.input, wanted)?;
    if clocks < 2 {
        say(&format!("{shown}: all processes count one clock, so there is nothing to fit"));
    } else if is_same {
        say(&format!("{shown}: the fit of {clocks} clocks stays as it was"));
    }
    tell(&args.input, &after, before)?;
    Ok(ExitCode::SUCCESS)
}

/// A finished run that can be written to.
/// Holds the corrections of a run until it is dropped: who changes others at the same time must not lose these, nor these
/// those.
fn held(run: &Path) -> anyhow::Result<Option<File>> {
    if !run.is_dir() {
        return Ok(None);
    }
    let held = File::open(run).with_context(|| format!("cannot open {}", run.display()))?;
    // Not every file system has locks; then the last who writes is right.
    held.lock().ok();
    Ok(Some(held))
}

fn open_directory(run: &Path) -> anyhow::Result<Archive> {
    let shown = run.display();
    if run.is_file() {
        bail!(Usage(format!(
            "{shown} is packed, and packed files are not changed: unpack it (unzip {shown} -d DIR), correct \
             DIR, and pack it again"
        )));
    }
    open_archive(run)
}

/// Takes away corrections that nobody can read: with them, no command would open the run.
fn forget_nonsense(run: &Path) -> anyhow::Result<()> {
    match Archive::open(run) {
        Err(error) if run.is_dir() && is_about_corrections(&error) => {
            say(&format!("{}: corrections that cannot be read are thrown away", run.display()));
            Corrections::remove(run)
                .with_context(|| format!("cannot remove the corrections of {}", run.display()))
        }
        // What else is wrong is told of when the run is opened.
        _ => Ok(()),
    }
}

/// Writes corrections with the number of messages that run backwards with them.
fn save(run: &Path, wanted: Corrections) -> anyhow::Result<Archive> {
    let cannot = || format!("cannot write corrections into {}", run.display());
    let wanted = Corrections { violations: None, ..wanted };
    wanted.save(run).with_context(cannot)?;
    let violations = corrections::violations(&Archive::open(run)?)?;
    Corrections { violations: Some(violations), ..wanted }.save(run).with_context(cannot)?;
    Ok(Archive::open(run)?)
}

/// Which process is where, and counts which clock.
struct Clocks {
    hosts: Vec<String>,
    /// Number of the clock of each process, if the archive says it.
    clocks: Vec<u32>,
}

impl Clocks {
    fn read(archive: &Archive) -> anyhow::Result<Self> {
        let cannot = "cannot read the table of processes";
        let processes: Columns = archive.table("processes").context(cannot)?;
        let clocks = archive.table("clocks").context("cannot read the table of clocks")?;
        Ok(Self { hosts: processes.text("host")?.to_vec(), clocks: clocks.u32("clock")?.to_vec() })
    }

    /// Processes by number or host.
    fn named(&self, name: &str, run: &Path) -> anyhow::Result<Vec<u32>> {
        let all = || (0_u32..).zip(&self.hosts);
        let number = name.parse::<u32>().ok();
        let found: Vec<u32> = match number.filter(|&number| all().any(|(process, _)| process == number)) {
            Some(number) => vec![number],
            None => all().filter(|(_, host)| *host == name).map(|(process, _)| process).collect(),
        };
        if found.is_empty() {
            bail!(Usage(format!(
                "{} has no process and no host {name:?}; `marey info {0}` lists them",
                run.display()
            )));
        }
        Ok(found)
    }

    /// Processes of one clock belong together.
    fn warn(&self, corrections: &Corrections) {
        let offset = |process: u32| corrections.offsets.get(&process).copied().unwrap_or(0);
        let clock =
            |process: u32| self.clocks.get(process as usize).copied().filter(|&clock| clock != u32::MAX);
        for &process in corrections.offsets.keys() {
            let others = (0_u32..).zip(&self.hosts).map(|(other, _)| other);
            let apart = others.filter(|&other| clock(other).is_some() && clock(other) == clock(process));
            let apart = apart.filter(|&other| offset(other) != offset(process)).count();
            if apart > 0 {
                let others = format::counted_as(apart as u64, "process that counts", "processes that count");
                say(&format!("warning: process {process} is moved against {others} the same clock"));
            }
        }
    }
}

/// Says what is applied now, and what comes of it.
fn tell(run: &Path, after: &Archive, before: u64) -> anyhow::Result<()> {
    let shown = run.display();
    match in_words(after.corrections()) {
        Some(words) => say(&format!("{shown}: {words}; `marey merge {shown} --reset` undoes it")),
        None => say(&format!("{shown}: all times are as they were merged")),
    }
    let now = corrections::violations(after)?;
    let messages = format::counted(now, "message");
    let verb = if now == 1 { "seems" } else { "seem" };
    say(&format!(
        "{messages} {verb} to arrive before being sent; before there were {}",
        format::count(before)
    ));
    Ok(())
}

/// What is applied; `None` if nothing is.
pub(crate) fn in_words(corrections: &Corrections) -> Option<String> {
    const MOST: usize = 8;
    if corrections.is_empty() {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let refitted: usize = corrections.fits.iter().map(|fit| fit.processes.len()).sum();
    if refitted > 0 {
        let processes = format::counted_as(refitted as u64, "process is", "processes are");
        words.push(format!("clocks of {processes} fitted again"));
    }
    let sign = |ns: i64| if ns < 0 { "-" } else { "+" };
    let offsets = corrections.offsets.iter().filter(|(_, ns)| **ns != 0);
    let mut moved: Vec<String> = offsets
        .map(|(process, &ns)| {
            let by = i64::try_from(ns.unsigned_abs()).unwrap_or(i64::MAX);
            format!("process {process} by {}{}", sign(ns), format::duration(Nanos(by)))
        })
        .collect();
    let more = moved.len().saturating_sub(MOST);
    moved.truncate(MOST);
    if !moved.is_empty() {
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        words.push(format!("moved: {}{more}", moved.join(", ")));
    }
    Some(words.join("; "))
}

/// The lines of `marey info` about what is applied.
pub(crate) fn print(out: &mut dyn Write, paint: Paint, corrections: &Corrections) -> io::Result<()> {
    let Some(words) = in_words(corrections) else { return Ok(()) };
    let text = format!(
        "Applied on reading: {words}. `marey merge RUN --reset` undoes it. Sums of the profile are as they were \
         merged."
    );
    writeln!(out)?;
    for line in wrap(&text, paint.prose_width() - 2) {
        writeln!(out, "  {}", paint.paint(Look::Strong, &line))?;
    }
    Ok(())
}
