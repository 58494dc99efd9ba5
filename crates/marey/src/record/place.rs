//! Where processes record to: into the run, or into a directory of their own machine.
//!
//! The one idea: a spool is memory that a file system keeps for us, written a few bytes at a time by many
//! processes at once. A local file system does that at the speed of memory, one behind a network does
//! not, and may lose what two machines map at once. So where the run lies behind a network and the machine
//! has a disk for temporary files, each machine records there, and the spools are gathered at the end.
//! Not into memory: the program has better use for it.
//!
//! Which file system is which is known by the numbers that `statfs` gives. What is not in the table is
//! taken for local, so that nothing unusual happens there.

use std::path::{Path, PathBuf};

use super::job_step::JobStep;

/// What a file system is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Disks of this machine, or unknown.
    Disk,
    /// Memory of this machine.
    Memory,
    /// Another machine, behind a network or a process in user space.
    Network,
}

/// Whether processes of the program may run on machines that no recorder of the run is on, which would
/// have to be gathered from by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Recorders,
    Beyond,
}

/// The magic numbers of `statfs` (linux/magic.h and the sources of Lustre, GPFS, BeeGFS, Panasas) of file
/// systems that are not a disk of this machine.
const MEDIA: [(u32, Medium); 21] = [
    (0x0102_1994, Medium::Memory),  // tmpfs
    (0x8584_58F6, Medium::Memory),  // ramfs
    (0x9584_58F6, Medium::Memory),  // hugetlbfs
    (0x0000_6969, Medium::Network), // NFS
    (0x0000_517B, Medium::Network), // SMB
    (0xFF53_4D42, Medium::Network), // CIFS
    (0xFE53_4D42, Medium::Network), // SMB 2
    (0x0BD0_0BD0, Medium::Network), // Lustre
    (0x4750_4653, Medium::Network), // GPFS (Spectrum Scale)
    (0x1983_0326, Medium::Network), // BeeGFS
    (0x00C3_6400, Medium::Network), // Ceph
    (0x5346_414F, Medium::Network), // AFS
    (0x6B41_4653, Medium::Network), // kAFS
    (0x7375_7245, Medium::Network), // Coda
    (0x0102_1997, Medium::Network), // 9P
    (0x6573_5546, Medium::Network), // FUSE: sshfs, GlusterFS, DAOS …
    (0xAAD7_AAEA, Medium::Network), // Panasas
    (0x0116_1970, Medium::Network), // GFS2
    (0x7461_636F, Medium::Network), // OCFS2
    (0x2003_0528, Medium::Network), // OrangeFS
    (0x0000_564C, Medium::Network), // NCP
];

/// What a file system with this number is made of.
fn medium(magic: u32) -> Medium {
    MEDIA.iter().find(|(known, _)| *known == magic).map_or(Medium::Disk, |(_, medium)| *medium)
}

/// Where to record, if not into the run: the first of the directories for temporary files that is better
/// than where the run lies.
fn choose(run: Medium, temporary: &[(PathBuf, Medium)], reach: Reach) -> Option<&Path> {
    if run != Medium::Network || reach == Reach::Beyond {
        return None;
    }
    temporary.iter().find(|(_, medium)| *medium == Medium::Disk).map(|(path, _)| path.as_path())
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

/// Programs that start others on other machines.
const LAUNCHERS: [&str; 9] =
    ["mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "aprun", "jsrun", "ssh"];

/// How far a command reaches, by its name, the number of machines of the batch job, and the first bytes of
/// its file: a script can start anything.
fn reach_of(command: &Path, machines: Option<&str>, start: &[u8]) -> Reach {
    if machines == Some("1") {
        return Reach::Recorders;
    }
    let name = command.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let is_shell =
        ["sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "env", "time", "timeout"].contains(&stem);
    if LAUNCHERS.contains(&stem) || is_shell || start.starts_with(b"#!") {
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
    let magic = rustix::fs::statfs(path).ok()?.f_type;
    // Some are negative where the field is signed and has 32 bits; these are what counts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "magic numbers have 32 bits")]
    Some(medium(magic as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_known_by_their_numbers() {
        let cases = [
            (0xEF53, Medium::Disk),        // ext2, ext3, ext4
            (0x5846_5342, Medium::Disk),   // XFS
            (0x9123_683E, Medium::Disk),   // Btrfs
            (0x794C_7630, Medium::Disk),   // overlayfs
            (0xDEAD_BEEF, Medium::Disk),   // unknown
            (0x0102_1994, Medium::Memory), // tmpfs
            (0x6969, Medium::Network),     // NFS
            (0x0BD0_0BD0, Medium::Network),
            (0xFF53_4D42, Medium::Network),
        ];
        for (magic, expected) in cases {
            assert_eq!(medium(magic), expected, "{magic:#x}");
        }
    }

    #[test]
    fn no_number_is_there_twice() {
        for (idx, (magic, _)) in MEDIA.iter().enumerate() {
            assert!(MEDIA[..idx].iter().all(|(other, _)| other != magic), "{magic:#x}");
        }
    }

    #[test]
    fn the_disk_of_the_machine_is_better_than_the_network_and_memory_is_not() {
        use Medium::{Disk, Memory, Network};
        let cases: [(Medium, &[Medium], Reach, Option<usize>); 9] = [
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
        let cases: [(&str, Option<&str>, &[u8], Reach); 7] = [
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
