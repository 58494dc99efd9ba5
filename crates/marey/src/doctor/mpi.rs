//! MPI libraries and what starts their programs.
//!
//! The one idea: a program and its launcher must be of one family, or every rank runs as a world of
//! its own. Launchers say what they are; libraries show it by their symbols.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ask;
use super::elf::Elf;
use super::finding::{Finding, Topic};
use super::program::Context;
use super::shell::{self, find_program};
use crate::launchers::LAUNCHERS;

/// Libraries whose handles and statuses have the same layout, and whose launchers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Open MPI and what was made of it.
    OpenMpi,
    /// MPICH, and what has its binary interface: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
}

impl Family {
    const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }

    /// Of an MPI library.
    fn of_library(elf: &Elf) -> Self {
        if elf.defines_open_mpi { Self::OpenMpi } else { Self::Mpich }
    }
}

/// A launcher that was asked.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    /// What the user types.
    pub(super) name: OsString,
    path: PathBuf,
    /// The family that it starts; none if it starts all, or is not known.
    pub(super) family: Option<Family>,
    /// What it calls itself, with its version.
    title: String,
}

/// Launchers in the search path, each once, and the one with the plainest name if it has several.
pub(super) fn launchers() -> Vec<Launcher> {
    let mut found: Vec<Launcher> = Vec::new();
    for name in LAUNCHERS {
        let Some(path) = find_program(name.as_ref()) else { continue };
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        if found.iter().any(|known| known.path == path) {
            continue;
        }
        let launcher = ask_launcher(name.into(), path);
        // Several files of one installation: `mpirun` and `mpiexec.hydra` say the same.
        if found.iter().all(|known| known.title != launcher.title || known.family.is_none()) {
            found.push(launcher);
        }
    }
    found
}

/// The launcher of a command line.
pub(super) fn launcher(name: &OsString) -> Option<Launcher> {
    find_program(name).map(|path| ask_launcher(name.clone(), path))
}

fn ask_launcher(name: OsString, path: PathBuf) -> Launcher {
    let told = ask::output(Command::new(&path).arg("--version").env("LC_ALL", "C"));
    let told = told.as_ref().map(ask::text).unwrap_or_default();
    let (family, title) = recognise(&told);
    Launcher { name, path, family, title }
}

/// What a launcher is by what it says of its version.
fn recognise(told: &str) -> (Option<Family>, String) {
    const KNOWN: [(&str, &str, Option<Family>); 9] = [
        ("Intel(R) MPI", "Intel MPI", Some(Family::Mpich)),
        ("MVAPICH", "MVAPICH", Some(Family::Mpich)),
        ("HYDRA", "MPICH", Some(Family::Mpich)),
        ("OpenRTE", "Open MPI", Some(Family::OpenMpi)),
        ("Open MPI", "Open MPI", Some(Family::OpenMpi)),
        ("PRRTE", "Open MPI", Some(Family::OpenMpi)),
        ("PRTE", "Open MPI", Some(Family::OpenMpi)),
        ("slurm", "Slurm", None),
        ("aprun", "ALPS", None),
    ];
    let known = KNOWN.iter().find(|(sign, _, _)| told.contains(sign));
    let Some((_, title, family)) = known else { return (None, "of a kind that is not known".to_owned()) };
    (*family, version(told).map_or_else(|| (*title).to_owned(), |version| format!("{title} {version}")))
}

/// The first word that begins with a number and a point.
fn version(told: &str) -> Option<&str> {
    let words =
        told.split(|c: char| c.is_whitespace() || "(),".contains(c)).map(|word| word.trim_start_matches('v'));
    words.into_iter().find(|word| {
        let number = word.split('.').next().unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && number.len() < word.len()
    })
}

/// What there is to say of the launchers of this machine.
pub(super) fn examine(launchers: &[Launcher]) -> Vec<Finding> {
    const WHY: &str = "MPI programs are recorded by putting marey before their launcher.";
    if launchers.is_empty() {
        let finding = Finding::ok(Topic::Launcher, "launchers", "none in the search path", WHY);
        return vec![
            finding
                .note(
                    "Programs without MPI can be measured. For others load the module of your MPI, or \
                     install one",
                )
                .command("module load openmpi || sudo apt install openmpi-bin"),
        ];
    }
    let told = |launcher: &Launcher| {
        let name = launcher.name.to_string_lossy();
        let finding = Finding::ok(Topic::Launcher, &name, launcher.title.clone(), WHY);
        if is_tested(&launcher.title) {
            return finding;
        }
        finding
            .note(
                "marey is tested with Open MPI 4 and MPICH 4; others share their binary interface. \
                 Compare the calls of a short run with what you expect",
            )
            .command(format!("marey record -- {name} -n 2 PROGRAM && marey report"))
    };
    launchers.iter().map(told).collect()
}

fn is_tested(title: &str) -> bool {
    ["Open MPI 4.", "MPICH 4.", "Slurm"].iter().any(|known| title.starts_with(known))
}

/// Whether a program that has the MPI library `library` has the right launcher before it.
pub(super) fn match_launcher(subject: &str, library: (&Elf, &Path), context: &Context<'_>) -> Finding {
    const WHY: &str = "With a launcher of another family each rank believes to be alone, in a world of one.";
    let (elf, place) = library;
    let family = Family::of_library(elf);
    let name = family.name();
    let title = format!("{name} {}", elf.mpi_version).trim_end().to_owned();
    let own = context.launchers.iter().find(|other| other.family == Some(family));
    let finding =
        |rest: String| Finding::ok(Topic::Mpi, subject, format!("{title} ({}){rest}", place.display()), WHY);
    let words = context.words;
    match (context.launcher, own) {
        (None, Some(own)) => finding(format!(", started by {}", own.name.to_string_lossy())),
        (None, None) => finding(String::new())
            .note(format!(
                "No launcher of {name} is in the search path: load its module, or name it with its path"
            ))
            .command(shell::record("", &[&["/path/to/mpirun".into()], words].concat())),
        (Some(launcher), _) if launcher.family.is_none_or(|started| started == family) => {
            finding(String::new())
        }
        (Some(launcher), own) => {
            let finding = finding(format!(
                ", but {} starts programs of {}",
                launcher.name.to_string_lossy(),
                launcher.title
            ));
            let Some(own) = own else {
                let title = &launcher.title;
                return finding
                    .problem(format!(
                        "Load the module of the {name} that it was linked with, or link it again with the \
                         compiler wrapper of {title}"
                    ))
                    .command("module avail mpi; mpicc -show");
            };
            // Whatever stands before the launcher stays before it.
            let renamed = shell::replaced(words, &launcher.name, &own.name).unwrap_or_else(|| words.to_vec());
            finding
                .problem(format!("Start it with the launcher of {name}"))
                .command(shell::record("", &renamed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_what_they_say() {
        let cases = [
            ("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to", Some(Family::OpenMpi), "Open MPI 4.1.4"),
            ("mpirun (Open MPI) 5.0.3\n", Some(Family::OpenMpi), "Open MPI 5.0.3"),
            ("HYDRA build details:\n    Version:     4.0.2\n", Some(Family::Mpich), "MPICH 4.0.2"),
            (
                "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 1\n",
                Some(Family::Mpich),
                "Intel MPI 2021.9",
            ),
            ("slurm 22.05.8\n", None, "Slurm 22.05.8"),
            ("what?", None, "of a kind that is not known"),
        ];
        for (told, family, title) in cases {
            assert_eq!(recognise(told), (family, title.to_owned()), "{told}");
        }
        assert!(is_tested("Open MPI 4.1.4") && !is_tested("Open MPI 5.0.3"));
    }
}
