//! A program that is to be measured.
//!
//! The one idea: the questions are asked in the order in which a start would fail: is it there, is it
//! for this machine, does it let a library be loaded, are its own libraries there, does it call MPI
//! where the calls can be seen, and will its lines be known.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::elf::{self, Elf, Kind};
use super::finding::{Finding, Topic};
use super::loader::{self, Recorder};
use super::mpi::{self, Launcher};
use super::shell::{find_program, line, quote, record};
use super::{coarrays, kokkos, loading, source, threads};
use crate::paint::harmless;

/// The first program of a command line that is linked statically and has no recorder inside: nothing of it
/// can be recorded.
pub(super) fn unseen(names: &[OsString]) -> Option<String> {
    let is_unseen = |name: &&OsString| {
        let path = find_program(name);
        path.and_then(|path| elf::read(&path).ok()).is_some_and(|kind| match kind {
            Kind::Elf(elf) => elf.loader.is_none() && elf.recorder.is_none(),
            _ => false,
        })
    };
    names.iter().find(is_unseen).map(|name| harmless(&name.to_string_lossy()))
}

/// What is known when a program is looked at.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// The whole command line.
    pub(super) words: &'a [OsString],
    /// Its launcher, if that could be asked.
    pub(super) launcher: Option<&'a Launcher>,
    /// All launchers.
    pub(super) launchers: &'a [Launcher],
    /// The recorder, if it could be unpacked.
    pub(super) recorder: Option<&'a Recorder>,
}

const WHY_START: &str = "Only what can be started can be measured.";

/// Looks at the program that is called `name`.
pub(super) fn examine(name: &OsStr, context: &Context<'_>, findings: &mut Vec<Finding>) {
    let shown = harmless(&name.to_string_lossy());
    let Some(path) = find_program(name) else {
        findings.push(absent(name, &shown));
        return;
    };
    let place = quote(&path.to_string_lossy());
    let found = |found: String| Finding::ok(Topic::Program, &shown, found, WHY_START);
    let finding = match elf::read(&path) {
        Ok(Kind::Elf(elf)) => return executable(&shown, &path, &elf, context, findings),
        Ok(Kind::Script(interpreter)) => script(&shown, interpreter.as_deref()),
        Ok(Kind::Foreign(what)) => {
            found(what).problem("Build it for Linux on x86-64").command(format!("file {place}"))
        }
        Ok(Kind::Other) => found("neither a program nor a script".to_owned())
            .problem("Name the program itself")
            .command(format!("file {place}")),
        Err(error) => found(format!("may not be read: {}", super::words_of(&error)))
            .note("It is measured all the same. Let it be read if its functions are to be known")
            .command(format!("chmod u+r {place}")),
    };
    findings.push(finding);
}

fn absent(name: &OsStr, shown: &str) -> Finding {
    let finding = |found: &str| Finding::ok(Topic::Program, shown, found, WHY_START);
    let beside = Path::new(".").join(name);
    if !name.as_encoded_bytes().contains(&b'/') {
        let finding = if beside.is_file() {
            finding("not in the search path, but in this directory").problem("Name it with its directory")
        } else {
            finding("not in the search path").problem("Name it with its directory, or load its module")
        };
        return if beside.is_file() {
            finding.command(format!("marey doctor -- {}", line(&[beside])))
        } else {
            finding.command(line(&["type".as_ref(), "-a".as_ref(), name]))
        };
    }
    match std::fs::metadata(name) {
        Ok(data) if data.is_dir() => {
            finding("a directory").problem("Name a program in it").command(line(&["ls".as_ref(), name]))
        }
        Ok(_) => finding("may not be executed").problem("Make it executable").command(line(&[
            "chmod".as_ref(),
            "u+x".as_ref(),
            name,
        ])),
        Err(error) => {
            let directory = Path::new(name).parent().map_or(OsStr::new("."), Path::as_os_str);
            finding(&super::words_of(&error))
                .problem("Check its name and the directory that you are in")
                .command(line(&["ls".as_ref(), "-l".as_ref(), directory]))
        }
    }
}

fn script(shown: &str, interpreter: Option<&str>) -> Finding {
    const WHY: &str = "What a script starts is measured like itself, since the recorder is handed on.";
    let finding = |found: String| Finding::ok(Topic::Program, shown, found, WHY);
    let Some(interpreter) = interpreter else {
        return finding("a script of the shell; what it starts is measured".to_owned());
    };
    let mut words = interpreter.split_whitespace();
    let first = words.next().unwrap_or_default();
    // `#!/usr/bin/env -S python3 -u`: what counts is what `env` looks for.
    let wanted = if first.ends_with("/env") {
        words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or(first)
    } else {
        first
    };
    if find_program(wanted.as_ref()).is_some() {
        return finding(format!("a script of {}; what it starts is measured", harmless(wanted)));
    }
    finding(format!("a script of {}, which is not there", harmless(wanted)))
        .problem("Install it, load its module, or change the first line of the script")
        .command(format!("type -a {}", quote(wanted)))
}

fn executable(shown: &str, path: &Path, elf: &Elf, context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(asked) = &elf.loader else {
        let finding = elf.recorder.map(|version| loading::linked(shown, version));
        findings.push(finding.unwrap_or_else(|| loading::without_loader(shown)));
        if elf.recorder.is_some() && elf.defines_mpi {
            findings.push(mpi::match_launcher(shown, (elf, path), context));
        }
        findings.push(source::examine(shown, path, elf));
        return;
    };
    findings.extend(loading::privileges(shown, path));
    if !asked.exists() {
        findings.push(loading::loader_gone(shown, asked));
        return;
    }
    // A program is found through the search path or beside us; the loader wants a path.
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(listing) = loader::list(asked, &place, context.recorder) else { return };
    match elf.recorder {
        Some(version) => findings.push(loading::linked(shown, version)),
        None => findings.extend(loading::recorder(shown, &listing, context)),
    }
    findings.extend(loading::libraries(shown, &listing));
    let modules: Vec<Module> = listing.libraries.iter().filter_map(read_library).collect();
    findings.push(calls(shown, path, elf, &modules, context));
    findings.extend(coarrays::examine(shown, elf));
    // Of an interpreter the lines are of interest to nobody, of libraries where calls stand in them.
    if !is_interpreter(path) {
        findings.push(source::examine(shown, path, elf));
    }
    let callers = modules.iter().filter(|(name, _, elf)| {
        elf.calls_mpi && !elf.defines_mpi && !name.starts_with("libmpi") && !name.starts_with("libmarey")
    });
    findings.extend(callers.take(8).map(|(name, path, elf)| source::examine(name, path, elf)));
    findings.extend(threads::examine(shown, &listing, context.words));
    findings.extend(kokkos::examine(shown, &listing));
}

/// A library: its name, its place, its facts.
type Module = (String, PathBuf, Box<Elf>);

fn read_library((name, path): &(String, PathBuf)) -> Option<Module> {
    match elf::read(path) {
        Ok(Kind::Elf(elf)) => Some((name.clone(), path.clone(), elf)),
        _ => None,
    }
}

/// Whether its calls of MPI can be seen.
fn calls(shown: &str, path: &Path, elf: &Elf, modules: &[Module], context: &Context<'_>) -> Finding {
    const WHY: &str = "Behind a launcher, a process is measured from its first call of MPI or of marey's \
                       own interface.";
    let library = modules.iter().find(|(_, _, elf)| elf.defines_mpi);
    if let Some((_, place, library)) = library {
        return mpi::match_launcher(shown, (library, place), context);
    }
    if elf.defines_mpi && elf.recorder.is_some() {
        return mpi::match_launcher(shown, (elf, path), context);
    }
    if elf.defines_mpi {
        let why = "Calls inside one file are bound by the linker, so no library can come between.";
        return Finding::ok(Topic::Mpi, shown, "has its MPI library inside itself, linked statically", why)
            .problem(
                "Link it again with the words that `marey link` prints; or with the shared MPI library: \
                 libmpi.so or libmpich.so instead of the .a, and with Intel MPI without -static_mpi",
            )
            .command("mpicc app.o $(marey link) -o app");
    }
    let finding = |found: &str| Finding::ok(Topic::Mpi, shown, found, WHY);
    if is_interpreter(path) {
        return finding("none by itself; what its script starts or loads, such as mpi4py, is measured");
    }
    if context.launcher.is_none() {
        return finding("no MPI library; the program is measured from its start");
    }
    finding("no MPI library")
        .note(
            "If it loads MPI while it runs, all is well. If it has none at all, have every process \
             measured from its start",
        )
        .command(record("--all", context.words))
}

fn is_interpreter(path: &Path) -> bool {
    const NAMES: [&str; 9] = ["python", "pypy", "julia", "perl", "ruby", "java", "lua", "octave", "Rscript"];
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    NAMES.iter().any(|known| name.starts_with(known))
        || ["sh", "bash", "dash", "zsh"].contains(&name.as_str())
}
