//! `marey doctor`: what can and cannot be measured here, and what to do about it.
//!
//! The one idea: everything that is looked at becomes a finding, good or bad, and nothing else is
//! printed; a problem is what would prevent measuring, and sets the exit status.
//!
//! The program that is asked about is never run. Launchers are asked for their version, the dynamic
//! loader for a list, and one process that does nothing is recorded.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::paint::{Paint, harmless};

mod finding;
mod page;

mod machine;
mod place;
mod trial;

pub(crate) use shell::quote;

mod coarrays;
mod kokkos;
mod line;
mod mpi;
mod program;

mod elf;
mod loader;
mod loading;
mod source;
mod threads;

mod ask;
pub(crate) mod shell;

use finding::{Finding, State, Topic};

/// Runs the command.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let findings = examine(args);
    let is_prevented = findings.iter().any(|finding| finding.state == State::Problem);
    let mut out = io::stdout().lock();
    if args.json {
        let answer = Answer { version: env!("CARGO_PKG_VERSION"), findings: &findings };
        serde_json::to_writer_pretty(&mut out, &answer).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let subject = if words.is_empty() { host } else { format!("{} on {host}", words.join(" ")) };
        page::print(&mut out, Paint::for_stdout(), &harmless(&subject), &findings)?;
    }
    Ok(if is_prevented { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the command prints as JSON. Names are an interface.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    version: &'static str,
    findings: &'a [Finding],
}

/// The program of a command line of which nothing can be recorded, since it is linked statically and has no
/// recorder inside.
pub(crate) fn unseen(words: &[OsString]) -> Option<String> {
    program::unseen(&line::parse(words).programs)
}

/// The program first, since that is what was asked about, then the machine.
fn examine(args: &DoctorArgs) -> Vec<Finding> {
    let mut findings = Vec::new();
    let launchers = mpi::launchers();
    if !args.command.is_empty() {
        examine_line(args, &launchers, &mut findings);
    }
    let is_problem = |finding: &Finding, topic| finding.topic == topic && finding.state == State::Problem;
    let mut machine = machine::examine();
    // A launcher that is missing has been told of, with the same remedy.
    if !findings.iter().any(|finding| is_problem(finding, Topic::Launcher)) {
        machine.extend(mpi::examine(&launchers));
    }
    let places = place::all();
    // What a limit forbids need not be tried.
    if !machine.iter().any(|finding| is_problem(finding, Topic::Limit)) {
        findings.extend(trial::examine(&places, &args.command));
    }
    let spare = place::best_spare(&places);
    findings.extend(places.iter().map(|place| place.judge(spare, &args.command)));
    findings.extend(machine);
    // Of one state, in the order in which they were found.
    findings.sort_by_key(|finding| finding.state);
    findings
}

fn examine_line(args: &DoctorArgs, launchers: &[mpi::Launcher], findings: &mut Vec<Finding>) {
    let words = &args.command;
    let line = line::parse(words);
    let launcher = line.launcher.as_ref().and_then(mpi::launcher);
    if let Some(name) = line.launcher.as_ref().filter(|_| launcher.is_none()) {
        let name = harmless(&name.to_string_lossy());
        let why = "It is what starts the ranks.";
        let finding = Finding::ok(Topic::Launcher, &name, "not in the search path", why);
        findings.push(
            finding
                .problem("Load the module of your MPI, or name the launcher with its path")
                .command(format!("type -a {}", shell::quote(&name))),
        );
    }
    if line.programs.is_empty() {
        let name = harmless(&words[0].to_string_lossy());
        let why = "Only what can be started can be measured.";
        let finding = Finding::ok(Topic::Program, &name, "no program stands behind its options", why);
        findings.push(finding.problem("Put the program and its arguments at the end of the line"));
    }
    findings.extend(threads::ranks(&line, words));
    let recorder = loader::Recorder::unpack();
    let context =
        program::Context { words, launcher: launcher.as_ref(), launchers, recorder: recorder.as_ref() };
    let mut seen = Vec::new();
    for name in &line.programs {
        if !seen.contains(&name) {
            program::examine(name, &context, findings);
            seen.push(name);
        }
    }
}

/// An error of the system without its number.
fn words_of(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
