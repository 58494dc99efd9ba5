//! `marey view`: the viewer in a browser.
//!
//! The one idea: this opens the run, or offers those that there are, and says where to look; what is asked and answered is
//! the business of `marey-serve`.

mod again;
mod mark;
mod place;
mod shelf;
mod told;

use std::io::{self, IsTerminal};
use std::iter;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::Context;
use marey_archive::Archive;
use marey_serve::host::{Config, Entry, Limits, Place, Runs, serve};
use marey_serve::{Opened, viewer};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::ViewArgs;
use crate::compare::names;
use crate::compare::viewed::compared;
use crate::exit;
use crate::inherited;
use crate::recent;
use crate::report;
use crate::run::{damaged, open_archive};

use self::again::{Runner, Shared};
use self::shelf::{Found, Named};

/// Runs the command.
pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<ExitCode> {
    let runner = match args.run.as_deref().filter(|_| args.allow_run) {
        Some(run) => Some(Runner::new(run).context("cannot find the directory that this is")?),
        None => None,
    };
    let (runs, what) = match &args.run {
        Some(run) => {
            let only = Some(Box::new(opened(run, args.other.as_deref())?));
            let shelf = Box::new(Named {
                run: run.clone(),
                other: args.other.clone(),
                again: runner.clone().map(Shared),
            });
            (Runs { shelf, only }, named(run, args.other.as_deref()))
        }
        None => {
            let here = std::env::current_dir().context("cannot find the directory that this is")?;
            let found = Found::beneath(&here);
            let what = format!("the runs beneath {} and those looked at lately", found.directory().display());
            (Runs { shelf: Box::new(found), only: None }, what)
        }
    };
    if viewer::FILES.is_empty() {
        exit::say("built without its viewer: `cargo xtask ui` and `cargo build` in its sources put it in");
    }
    let place = match &args.socket {
        Some(path) => Place::Socket(path.clone()),
        None => Place::Port(args.port),
    };
    let asked = args.prefix.clone();
    let new = place::new().context("cannot make a path by chance")?;
    let prefix = Box::new(|port| asked.unwrap_or_else(|| place::of(port, new)));
    let config = Config { place, prefix, limits: Limits::usual() };
    let ready = |entry: &Entry| tell(args, &what, entry);
    let served = serve(runs, config, ready, stopped(runner.clone())?);
    runner.inspect(|runner| runner.end());
    served?;
    Ok(ExitCode::SUCCESS)
}

/// What is looked at: a run, or two of them side by side.
fn opened(run: &Path, other: Option<&Path>) -> anyhow::Result<Opened<'static>> {
    let paths: Vec<&Path> = iter::once(run).chain(other).collect();
    // As many names as paths.
    let names = names(&paths);
    let base = open_run(run, &names[0], &|_, _, _| ())?;
    recent::remember(run);
    let Some(other) = other else { return Ok(base) };
    let second = open_run(other, &names[1], &|_, _, _| ())?;
    recent::remember(other);
    Ok(beside(base, second, run, other))
}

fn named(run: &Path, other: Option<&Path>) -> String {
    let other = other.map_or_else(String::new, |other| format!(" and {}", other.display()));
    format!("{}{other}", run.display())
}

/// Two runs side by side.
fn beside(base: Opened<'static>, second: Opened<'static>, run: &Path, other: &Path) -> Opened<'static> {
    let (run, other) = (run.to_owned(), other.to_owned());
    base.beside(second, move || compared(&run, &other).map_err(|error| exit::text_of(&error)))
}

fn open_run(path: &Path, name: &str, progress: &dyn Fn(&str, u32, u32)) -> anyhow::Result<Opened<'static>> {
    // It lives as long as the server does, which is as long as the process.
    let archive: &'static Archive = Box::leak(Box::new(open_archive(path)?));
    let of = path.to_owned();
    let report = move || report::as_json(&of).unwrap_or_else(|error| unknown(&error));
    Opened::with_progress(archive, name, report, progress).map_err(|error| damaged(path, &error))
}

/// A report that cannot be made says why.
fn unknown(error: &anyhow::Error) -> Vec<u8> {
    serde_json::json!({ "unexplained": exit::text_of(error) }).to_string().into_bytes()
}

/// Says where the viewer is, and opens it.
///
/// # Errors
/// If there is nobody who could read it.
fn tell(args: &ViewArgs, what: &str, entry: &Entry) -> io::Result<()> {
    let address = told::address(entry);
    told::tell(&address)?;
    match &args.socket {
        Some(socket) => exit::say(&told::recipe(socket, &address)),
        None if std::io::stderr().is_terminal() => {
            exit::say(&format!("serving {what} for one browser on this machine; ^C ends it"));
        }
        None => {}
    }
    if !args.no_open && args.socket.is_none() && has_screen() {
        open(&address);
    }
    Ok(())
}

fn has_screen() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn open(address: &str) {
    let program = if Path::new("/usr/bin/open").exists() { "open" } else { "xdg-open" };
    let mut browser = Command::new(program);
    browser.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if browser.spawn().is_err() {
        exit::say("no browser could be started; open the address in one");
    }
}

/// Is done when somebody stops us.
fn stopped(runner: Option<Arc<Runner>>) -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    // Whoever has it outlive the terminal (nohup) means that.
    let hangs_up = (!inherited::ignores(SIGHUP)).then_some(SIGHUP);
    let signals = [SIGINT, SIGTERM].into_iter().chain(hangs_up);
    let mut signals = signal_hook::iterator::Signals::new(signals).context("cannot wait for signals")?;
    let (tell, told) = marey_serve::host::stopping();
    std::thread::spawn(move || {
        let mut signals = signals.forever();
        signals.next();
        tell();
        // What is being answered may take long; whoever asks twice does not want to wait for it.
        signals.next();
        runner.inspect(|runner| runner.end());
        std::process::exit(130);
    });
    Ok(told)
}
