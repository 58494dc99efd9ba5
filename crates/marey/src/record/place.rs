//! Where processes record to: into the run, or into a directory of their own machine.
//!
//! The one idea: a spool is memory that a file system keeps for us, written a few bytes at a time by many
//! processes at once. A local file system does that at the speed of memory, one behind a network does
//! not, and may lose what two machines map at once. So where the run lies behind a network and the machine
//! has a disk for temporary files, each machine records there, and the spools are gathered at the end.
//! Not into memory: the program has better use for it.
//!
//! What is not known as a file system behind a network is taken for local, so that nothing unusual happens
//! there.

use std::path::{Path, PathBuf};

use super::job_step::JobStep;
use crate::file_system::{self, Medium};
use crate::launchers::is_launcher;

/// Whether processes of the program may run on machines that no recorder of the run is on, which would
/// have to be gathered from by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Recorders,
    Beyond,
}

/// Where to record, if not into the run: the first of the directories for temporary files that is better
/// than where the run lies.
fn choose(run: Medium, temporary: &[(PathBuf, Medium)], reach: Reach) -> Option<&Path> {
    if run != Medium::Network || reach == Reach::Beyond {
        return None;
    }
    let is_disk = |medium: Medium| matches!(medium, Medium::Disk | Medium::Layer);
    temporary.iter().find(|(_, medium)| is_disk(*medium)).map(|(path, _)| path.as_path())
}

/// Where to record a run in `run`, unless into it; `command` is the program's first word.
pub(super) fn find(run: &Path, command: &Path, step: Option<&JobStep>) -> Option<PathBuf> {
    let parent = std::path::absolute(run).ok()?;
    let run = medium_of(parent.parent()?)?;
    let candidates = [std::env::var_os("TMPDIR").map(PathBuf::from), Some(PathBuf::from("/tmp"))];
    let candidates = candidates.into_iter().flatten().filter(|path| path.is_absolute());
    let temporary: Vec<_> = candidates.filter_map(|path| Some((path.clone(), medium_of(&path)?))).collect();
    let machines = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"].iter().find_map(|name| std::env::var(name).ok());
    let reach = match step {
        // One of several recorders: each machine that has processes has one.
        Some(_) => Reach::Recorders,
        None => reach_of(command, machines.as_deref(), &starts_with(command)),
    };
    choose(run, &temporary, reach).map(Path::to_owned)
}

/// What starts other programs, perhaps a launcher among them, besides launchers and scripts: shells and
/// interpreters by their names without a version, and what prepares the start of a program.
const STARTERS: [&str; 31] = [
    "sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "python", "perl", "ruby", "lua", "julia",
    "Rscript", "tclsh", "node", "make", "ninja", "xargs", "parallel", "ssh", "rsh", "env", "time", "timeout",
    "nice", "nohup", "numactl", "taskset", "stdbuf", "setarch",
];

/// How far a command reaches, by its name, the number of machines of the batch job, and the first bytes of
/// its file: a script can start anything.
fn reach_of(command: &Path, machines: Option<&str>, start: &[u8]) -> Reach {
    if machines == Some("1") {
        return Reach::Recorders;
    }
    let name = command.file_name().unwrap_or_default().to_string_lossy();
    let is_version = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let is_starter = STARTERS.contains(&name.trim_end_matches(is_version));
    if is_launcher(command.as_os_str()) || is_starter || start.starts_with(b"#!") {
        return Reach::Beyond;
    }
    Reach::Recorders
}

fn starts_with(command: &Path) -> [u8; 2] {
    use std::io::Read;
    let mut start = [0; 2];
    // What cannot be read is no script; whether it is a program will be seen.
    let read = std::fs::File::open(command).and_then(|mut file| file.read_exact(&mut start));
    if read.is_ok() { start } else { [0; 2] }
}

fn medium_of(path: &Path) -> Option<Medium> {
    let number = file_system::number(path)?;
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let name = std::fs::canonicalize(path).ok().and_then(|path| file_system::name(&mounts, &path));
    Some(file_system::medium(name.as_deref(), Some(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_the_machine_is_better_than_the_network_and_memory_is_not() {
        use Medium::{Disk, Layer, Memory, Network};
        let cases: [(Medium, &[Medium], Reach, Option<usize>); 11] = [
            (Network, &[Layer], Reach::Recorders, Some(0)),
            (Layer, &[Disk], Reach::Recorders, None),
            (Disk, &[Disk, Disk], Reach::Recorders, None),
            (Memory, &[Disk, Disk], Reach::Recorders, None),
            (Network, &[Disk, Disk], Reach::Recorders, Some(0)),
            (Network, &[Memory, Disk], Reach::Recorders, Some(1)),
            (Network, &[Network, Disk], Reach::Recorders, Some(1)),
            (Network, &[Network, Memory], Reach::Recorders, None),
            (Network, &[], Reach::Recorders, None),
            (Network, &[Disk, Disk], Reach::Beyond, None),
            (Disk, &[Disk], Reach::Beyond, None),
        ];
        for (run, temporary, reach, expected) in cases {
            let named = temporary.iter().enumerate();
            let named: Vec<_> = named.map(|(n, medium)| (PathBuf::from(n.to_string()), *medium)).collect();
            let expected = expected.map(|n: usize| PathBuf::from(n.to_string()));
            let chosen = choose(run, &named, reach).map(Path::to_owned);
            assert_eq!(chosen, expected, "{run:?} {temporary:?} {reach:?}");
        }
    }

    #[test]
    fn launchers_and_scripts_may_reach_other_machines() {
        let cases: [(&str, Option<&str>, &[u8], Reach); 14] = [
            ("mpirun_rsh", None, b"\x7fE", Reach::Beyond),
            ("/opt/bin/mpiexec.hydra", None, b"\x7fE", Reach::Beyond),
            ("python", None, b"\x7fE", Reach::Beyond),
            ("/usr/bin/python3.12", None, b"\x7fE", Reach::Beyond),
            ("numactl", None, b"\x7fE", Reach::Beyond),
            ("python3", Some("1"), b"\x7fE", Reach::Recorders),
            ("./pythonic", None, b"\x7fE", Reach::Recorders),
            ("./app", None, b"\x7fE", Reach::Recorders),
            ("/usr/bin/mpirun.openmpi", None, b"\x7fE", Reach::Beyond),
            ("srun", Some("4"), b"\0\0", Reach::Beyond),
            ("srun", Some("1"), b"\0\0", Reach::Recorders),
            ("./job", None, b"#!", Reach::Beyond),
            ("/bin/sh", None, b"\x7fE", Reach::Beyond),
            ("./mpirunner", None, b"\x7fE", Reach::Recorders),
        ];
        for (command, machines, start, expected) in cases {
            assert_eq!(reach_of(Path::new(command), machines, start), expected, "{command} {machines:?}");
        }
    }
}
