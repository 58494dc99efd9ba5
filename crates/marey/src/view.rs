//! `marey view`: the viewer in a browser.
//!
//! The one idea: this opens the run and says where to look; what is asked and answered is the business of `marey-serve`.

use std::io::{IsTerminal, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context;
use marey_archive::Archive;
use marey_serve::host::{Config, Place, serve};
use marey_serve::{Opened, viewer};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::cli::ViewArgs;
use crate::compare::names;
use crate::compare::viewed::compared;
use crate::exit;
use crate::report;
use crate::run::{damaged, open_archive};

/// Runs the command.
pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<ExitCode> {
    let opened = opened(args)?;
    if viewer::FILES.is_empty() {
        exit::say("built without its viewer: `cargo xtask ui` and `cargo build` in its sources put it in");
    }
    let place = match &args.socket {
        Some(path) => Place::Socket(path.clone()),
        None => Place::Port(args.port),
    };
    let config = Config { place, prefix: args.prefix.clone() };
    let ready = |address: &str| tell(args, address);
    serve(opened, config, ready, stopped()?)?;
    Ok(ExitCode::SUCCESS)
}

/// What is looked at: a run, or two of them side by side.
fn opened(args: &ViewArgs) -> anyhow::Result<Opened<'static>> {
    let paths: Vec<&Path> = iter::once(&args.run).chain(&args.other).map(PathBuf::as_path).collect();
    // As many names as paths.
    let names = names(&paths);
    let base = open_run(&args.run, &names[0])?;
    let Some(other) = args.other.clone() else { return Ok(base) };
    let second = open_run(&other, &names[1])?;
    let path = args.run.clone();
    let compare = move || compared(&path, &other).map_err(|error| exit::text_of(&error));
    Ok(base.beside(second, compare))
}

fn open_run(path: &Path, name: &str) -> anyhow::Result<Opened<'static>> {
    // It lives as long as the server does, which is as long as the process.
    let archive: &'static Archive = Box::leak(Box::new(open_archive(path)?));
    let of = path.to_owned();
    let report = move || report::as_json(&of).unwrap_or_else(|error| unknown(&error));
    Opened::new(archive, name, report).map_err(|error| damaged(path, &error))
}

/// A report that cannot be made says why.
fn unknown(error: &anyhow::Error) -> Vec<u8> {
    serde_json::json!({ "unexplained": exit::text_of(error) }).to_string().into_bytes()
}

/// Says where the viewer is, and opens it.
fn tell(args: &ViewArgs, address: &str) {
    let mut out = std::io::stdout().lock();
    let how = match &args.socket {
        Some(path) => format!(
            "on the socket {}, behind `ssh -L PORT:{0} …` with the port in the address",
            path.display()
        ),
        None => "for one browser on this machine".to_owned(),
    };
    // Who closed our output does not want to know.
    writeln!(out, "{address}").and_then(|()| out.flush()).ok();
    if std::io::stderr().is_terminal() {
        let beside =
            args.other.as_ref().map_or_else(String::new, |other| format!(" and {}", other.display()));
        exit::say(&format!("serving {}{beside} {how}; ^C ends it", args.run.display()));
    }
    if !args.no_open && args.socket.is_none() && has_screen() {
        open(address);
    }
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
fn stopped() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut signals =
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).context("cannot wait for signals")?;
    let (tell, told) = marey_serve::host::stopping();
    std::thread::spawn(move || {
        signals.forever().next();
        tell();
    });
    Ok(told)
}
