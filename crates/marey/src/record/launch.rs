//! Starting the program with the library preloaded.
//!
//! The one idea: the program is started as the shell would have started it — same arguments, same
//! streams, same signals, same process group — and differs in its environment alone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use marey_model::{Elements, Rules};

use super::kokkos;
use super::signals::Relay;
use super::spool_dir::LIBRARY_FILE;
use crate::cli::{Mode, RecordArgs, Switch};
use crate::exit::say;
use crate::inherited;

/// How the attempt to run the program ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It ran and ended.
    Ended(std::process::ExitStatus),
    /// It could not be started.
    NotStarted(io::Error),
}

/// What the program finds in its environment.
#[derive(Debug)]
pub(crate) struct Places {
    /// What is preloaded.
    pub(crate) library: PathBuf,
    /// Where its processes record.
    pub(crate) spool: PathBuf,
    /// The spool of the run: the same, if all machines record into it.
    pub(crate) home: PathBuf,
    /// How much they record of which regions.
    pub(crate) rules: Rules,
}

/// Runs the program to its end. `on_start` is called as soon as it runs.
pub(crate) fn run(
    args: &RecordArgs,
    places: &Places,
    on_start: impl FnOnce() -> io::Result<()>,
) -> io::Result<Outcome> {
    let started = Relay::listen().and_then(|relay| Ok((relay, spawn(args, places)?)));
    let (relay, mut child) = match started {
        Ok(started) => started,
        Err(error) => return Ok(Outcome::NotStarted(error)),
    };
    // The program runs; from here on nothing of ours may stop it.
    if let Err(error) = on_start() {
        say(&format!("warning: cannot remove what lay there before: {error}"));
    }
    relay.wait(&mut child).map(Outcome::Ended)
}

/// The exit status that a shell would show.
pub(crate) fn exit_status(outcome: &Outcome) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match outcome {
        // The system hands over eight bits, signal numbers are below 128: nothing is cut off.
        Outcome::Ended(status) => {
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
            code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
        }
        Outcome::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => 127,
        Outcome::NotStarted(_) => 126,
    }
}

/// How many elements of a message are recorded if nothing is said.
const FIRST_ELEMENTS: &str = "8";

fn spawn(args: &RecordArgs, places: &Places) -> io::Result<Child> {
    let (program, arguments) = args.command.split_first().expect("clap asks for at least one word");
    let mut command = Command::new(program);
    command.args(arguments);
    set_environment(&mut command, args, places);
    inherited::hand_on(&mut command);
    match command.spawn() {
        // A script without `#!`: shells and `env` hand it to sh, so we do too.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg(program).args(arguments);
            set_environment(&mut shell, args, places);
            inherited::hand_on(&mut shell);
            shell.spawn()
        }
        result => result,
    }
}

fn set_environment(command: &mut Command, args: &RecordArgs, places: &Places) {
    let Places { library, spool, home, rules } = places;
    let is_first = std::env::var_os("MAREY_PRELOAD_FIRST").is_some_and(|value| value == "1");
    let order = if is_first { Order::First } else { Order::Last };
    command.env("LD_PRELOAD", preload(std::env::var_os("LD_PRELOAD").as_deref(), library.as_os_str(), order));
    command.env("MAREY_SPOOL", spool);
    // Where ranks of all machines find each other.
    if spool == home {
        command.env_remove("MAREY_BOARD");
    } else {
        command.env("MAREY_BOARD", home);
    }
    command.env("MAREY_MODE", args.mode.name());
    command.env("MAREY_STACK_DEPTH", args.depth.to_string());
    command.env("MAREY_THREADS", args.threads.name());
    command.env("MAREY_FILES", args.files.name());
    command.env("MAREY_SYSTEM", args.system.name());
    command.env("MAREY_OPENMP", args.openmp.name());
    // What records nothing need not be told anything.
    kokkos::set(command, library, if args.mode == Mode::Quiet { Switch::Off } else { args.kokkos });
    command.env("MAREY_COARRAYS", args.coarrays.name());
    command.env("MAREY_BUFFERS", args.buffers.name());
    // The process whose parent we are is the command itself; all others were started by it.
    command.env("MAREY_PARENT_PID", std::process::id().to_string());
    command.env("MAREY_MAX_MB", args.max_mb.to_string());
    command.env("MAREY_BUDGET", args.budget.0.to_string());
    match args.heap.0 {
        Some(least) => command.env("MAREY_HEAP", least.to_string()),
        None => command.env("MAREY_HEAP", "off"),
    };
    match args.sample.0 {
        Some(hertz) => command.env("MAREY_SAMPLE", hertz.to_string()),
        None => command.env_remove("MAREY_SAMPLE"),
    };
    if args.counters.0.is_empty() {
        command.env_remove("MAREY_COUNTERS");
    } else {
        command.env("MAREY_COUNTERS", &args.counters.0);
    }
    if args.mode == Mode::Full {
        let elements = args.elements.as_ref().map_or_else(|| FIRST_ELEMENTS.to_owned(), Elements::to_string);
        command.env("MAREY_ELEMENTS", elements);
    } else {
        command.env_remove("MAREY_ELEMENTS");
    }
    if rules.is_empty() {
        command.env_remove("MAREY_RULES");
    } else {
        command.env("MAREY_RULES", rules.to_string());
    }
    if args.all {
        command.env("MAREY_ALL", "1");
    } else {
        command.env_remove("MAREY_ALL");
    }
}

/// Where our library stands among those that the user preloads. Behind them by default: a tool of
/// the user's sees the calls of the program before we do, as without us.
#[derive(Clone, Copy, Debug)]
enum Order {
    First,
    Last,
}

fn preload(users: Option<&OsStr>, ours: &OsStr, order: Order) -> OsString {
    let users = users.map_or_else(Vec::new, |list| foreign_libraries(list.as_bytes()));
    if users.is_empty() {
        return ours.to_owned();
    }
    let (first, second) = match order {
        Order::First => (ours.as_bytes(), users.as_slice()),
        Order::Last => (users.as_slice(), ours.as_bytes()),
    };
    OsStr::from_bytes(&[first, second].join(&b':')).to_owned()
}

/// A list of libraries without ours: a launcher that is itself recorded finds that of the outer
/// recording, which has nothing to say about what it starts.
fn foreign_libraries(list: &[u8]) -> Vec<u8> {
    let is_ours = |library: &[u8]| Path::new(OsStr::from_bytes(library)).ends_with(LIBRARY_FILE);
    let libraries = list.split(|byte| b" :".contains(byte));
    let foreign: Vec<&[u8]> = libraries.filter(|library| !library.is_empty() && !is_ours(library)).collect();
    foreign.join(&b':')
}
