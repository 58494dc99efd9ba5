//! `marey record`: run a program, let it record itself, merge what it left.
//!
//! The one idea: nothing that goes wrong on our side after the program has started may change what
//! the program does or the status it exits with; it is told on standard error instead.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use marey_model::Rules;

use crate::cli::{Mode, RecordArgs};
use crate::doctor::shell::quote;
use crate::exit::{Usage, say, text_of};
use crate::{doctor, inherited, recent};

mod again;
mod apart;
mod clock;
mod existing;
mod job_step;
mod kokkos;
mod launch;
mod launch_file;
mod place;
mod rules;
mod settings;
mod signals;
mod spool_dir;

pub(crate) use again::command_of;
pub(crate) use existing::{
    Overwrite, is_finished, is_locked, may_be_replaced, move_aside, place_of, restore,
};
pub(crate) use kokkos::users as kokkos_tool;
pub(crate) use spool_dir::{
    LAUNCH_FILE, LIBRARY_FILE, LOCK_FILE, SPOOL, WORLD_FILES, can_preload_from, is_place_name, tidy,
};

pub(crate) use rules::read as read_rules;
pub(crate) use settings::unusual;

use job_step::JobStep;
use launch::Outcome;
use launch_file::LaunchFile;
use spool_dir::{Left, Origin, RunDir};

/// Runs the command.
pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<ExitCode> {
    if let Some(before) = &args.again {
        return again::run(args, before);
    }
    if args.elements.is_some() && args.mode != Mode::Full {
        bail!(Usage("elements are recorded in full mode only: add --mode full to --elements".to_owned()));
    }
    crate::source::kept::check(args.embed_sources.as_deref())?;
    let rules = read_rules(args.filter.as_deref(), &args.rule)?;
    if args.mode == Mode::Quiet {
        return run_quietly(args, rules);
    }
    let overwrite = if args.force { Overwrite::Replace } else { Overwrite::Refuse };
    let step = JobStep::detect();
    let command = Path::new(&args.command[0]);
    let chosen = args.spool.clone().or_else(|| place::find(&args.output, command, step.as_ref()));
    let mut run = RunDir::enter(&args.output, chosen.as_deref(), overwrite, step.as_ref())?;
    let mut launch_file = LaunchFile::start(args, step.as_ref(), run.place_apart());
    let library = match prepare(&mut run, &launch_file) {
        Ok(library) => library,
        Err(error) => {
            run.abandon(step.as_ref());
            return Err(error);
        }
    };

    if let Some(program) = unseen(args) {
        say(&format!("warning: {program} {UNSEEN}"));
    }
    if let Some(told) = kokkos::told(args.kokkos) {
        say(&format!("warning: {told}"));
    }
    let places = launch::Places { library, spool: run.spool(), home: run.home(), rules };
    let outcome = launch::run(args, &places, || run.commit()).context("cannot start the program")?;
    let code = launch::exit_status(&outcome);
    match outcome {
        Outcome::NotStarted(error) => {
            tell_not_started(args, &error);
            run.abandon(step.as_ref());
        }
        Outcome::Ended(status) => {
            launch_file.end(status);
            if let Err(error) = finish(run, &launch_file, args, step.as_ref(), code) {
                say(&format!("warning: {}", text_of(&error)));
            }
        }
    }
    Ok(ExitCode::from(code))
}

/// Mode quiet records nothing, so a run of that name stays what it is. What the program needs to be started
/// lies beside it for so long, in a directory that no other recorder has.
fn run_quietly(args: &RecordArgs, rules: Rules) -> anyhow::Result<ExitCode> {
    let mut name = args.output.file_name().unwrap_or_default().to_owned();
    // Recorders of several machines may do so at once, and with the same number.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    name.push(format!(".quiet-{}-{now:x}", std::process::id()));
    let mut run = RunDir::enter(&args.output.with_file_name(name), None, Overwrite::Refuse, None)?;
    let library = match run.unpack_library() {
        Ok(library) => library,
        Err(error) => {
            run.abandon(None);
            return Err(error);
        }
    };
    let places = launch::Places { library, spool: run.spool(), home: run.home(), rules };
    let outcome = launch::run(args, &places, || run.commit());
    run.abandon(None);
    let outcome = outcome.context("cannot start the program")?;
    match &outcome {
        Outcome::NotStarted(error) => tell_not_started(args, error),
        Outcome::Ended(_) => say("nothing was recorded, as --mode quiet says"),
    }
    Ok(ExitCode::from(launch::exit_status(&outcome)))
}

fn tell_not_started(args: &RecordArgs, error: &std::io::Error) {
    let program = &args.command[0];
    // A script whose interpreter is missing is there, and yet the system says that it is not.
    let is_missing = error.kind() == std::io::ErrorKind::NotFound && !Path::new(program).exists();
    let why = if is_missing { "command not found".to_owned() } else { error.to_string() };
    say(&format!("error: cannot run {}: {why}", program.display()));
}

fn prepare(run: &mut RunDir, launch_file: &LaunchFile) -> anyhow::Result<PathBuf> {
    let library = run.unpack_library()?;
    if run.origin == Origin::Made {
        run.write_launch_file(&launch_file.to_json())?;
    }
    run.made();
    Ok(library)
}

/// What is left to do when the program has ended.
fn finish(
    mut run: RunDir,
    launch_file: &LaunchFile,
    args: &RecordArgs,
    step: Option<&JobStep>,
    code: u8,
) -> anyhow::Result<()> {
    let shown = args.output.display();
    let typed = quote(&args.output.to_string_lossy());
    let is_apart = run.place_apart().is_some();
    // Before the others hear that we are done: one of them may merge then.
    if let Err(error) = run.bring_home() {
        say(&format!(
            "warning: what was recorded on this machine is still there: {}; `marey gather {typed}` tries again",
            text_of(&error)
        ));
    }
    match run.leave(step, code == 0)? {
        Left::Nobody => {}
        Left::Others => return Ok(()),
        Left::Perhaps => {
            say(&format!(
                "not every process of the job had a recorder yet; if none is to come, `marey merge {typed}` \
                 finishes it"
            ));
            return Ok(());
        }
    }
    // First what takes most: the program may have filled the disk.
    run.give_up_library().context("cannot remove the library")?;
    if let Err(error) = run.write_launch_file(&launch_file.to_json()) {
        say(&format!("warning: how the program ended is not in the run: {}", text_of(&error)));
    }
    let (is_empty, home) = (run.is_empty(), run.home());
    run.close().context("cannot tidy up the spool")?;
    if is_empty {
        tell_that_nothing_is_there(args, code);
        return Ok(());
    }
    if is_apart && apart::lacks_ranks(&home) {
        say(&format!(
            "ranks are missing that have recorded on other machines, or ended before MPI_Init did: run \
             `marey gather {typed}` on each of those machines, then `marey merge {typed}`"
        ));
        return Ok(());
    }
    if args.no_merge {
        say(&format!("recorded, not merged; `marey merge {typed}` finishes {shown}"));
        return Ok(());
    }
    merge_apart(args)?;
    recent::remember(&args.output);
    Ok(())
}

/// Nothing was recorded, for a reason that can be guessed at.
fn tell_that_nothing_is_there(args: &RecordArgs, code: u8) {
    say(&format!("nothing was measured; {} holds no run", args.output.display()));
    if code != 0 {
        say(&format!(
            "  {} ended with status {code}, perhaps before it began its work",
            args.command[0].display()
        ));
    }
    if let Some(program) = unseen(args) {
        say(&format!("  {program} {UNSEEN}"));
        return;
    }
    for reason in NOTHING_MEASURED {
        say(&format!("  {reason}"));
    }
    say("  `marey doctor --` before the command looks which of these it is");
}

/// The program of the command of which nothing can be recorded.
fn unseen(args: &RecordArgs) -> Option<String> {
    if args.mode == Mode::Quiet { None } else { doctor::unseen(&args.command) }
}

/// What is said of it.
const UNSEEN: &str = "is linked statically and has no recorder inside, so nothing of it can be recorded; link it \
                      again with the words that `marey link` prints";

/// The option as the merge takes it; the path may be no text.
fn embed_sources(root: &Path) -> OsString {
    let mut option = OsString::from("--embed-sources=");
    option.push(root);
    option
}

/// `marey merge` in a process of its own, because a process that finds no memory is aborted: that must
/// not take the place of the program's status.
fn merge_apart(args: &RecordArgs) -> anyhow::Result<()> {
    let shown = args.output.display();
    let typed = quote(&args.output.to_string_lossy());
    // This executable, even if its file has been replaced meanwhile.
    let mut merge = Command::new("/proc/self/exe");
    merge.arg0("marey").arg("merge");
    if args.keep_spool {
        merge.arg("--keep-spool");
    }
    if let Some(root) = &args.embed_sources {
        merge.arg(embed_sources(root));
    }
    if args.embed_code {
        merge.arg("--embed-code");
    }
    merge.arg("--").arg(&args.output);
    inherited::end_together(&mut merge);
    let status = merge
        .status()
        .with_context(|| format!("the merge could not be started; `marey merge {typed}` does it"))?;
    match status.signal() {
        // What explains it comes last, when all else is there.
        Some(signal) if is_finished(&args.output) => {
            say(&format!(
                "warning: the merge was ended by signal {signal}, perhaps for want of memory; {shown} is whole, and commands \
                 that tell why the run took so long will find that themselves"
            ));
            Ok(())
        }
        Some(signal) => bail!(
            "the merge was ended by signal {signal}, perhaps for want of memory; nothing is lost, and \
             `marey merge {typed}` finishes it"
        ),
        None if !status.success() => bail!("the merge failed; `marey merge {typed}` tries again"),
        None => Ok(()),
    }
}

/// Why a program can run without leaving a trace, the likeliest first.
const NOTHING_MEASURED: [&str; 5] = [
    "it may have made no MPI or user-API call: `--all` measures every process from its start",
    "it may be linked with a static MPI library, which a preloaded recorder does not see: `marey link` helps",
    "it may be setuid, or clear LD_PRELOAD from its environment, as some wrappers do",
    "it may have run on other machines, which do not see this directory",
    "it may have been measured by a `marey record` that it started, and lie in the run of that",
];
