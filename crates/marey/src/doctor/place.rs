//! Directories that a recording may go to: the present one, and those for what is temporary.
//!
//! The one idea: what is found out about a directory is a value, and judging it is a function of that
//! value, because a full disk and a network file system are seldom at hand.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

use super::finding::{Finding, State, Topic};
use super::shell;
use crate::file_system::{self, Medium};
use crate::format;

/// A directory, and what it would be used for.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// What the user calls it.
    name: String,
    /// Where it is.
    pub(super) path: PathBuf,
    role: Role,
    look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Where a run is written to if nothing else is said.
    Run,
    /// Where else it could be recorded.
    Spare,
}

/// What its file system says.
#[derive(Clone, Debug)]
struct Look {
    /// Its type, as the kernel calls it.
    kind: String,
    medium: Medium,
    free_bytes: u64,
    has_inodes: bool,
    may_write: bool,
    allows_code: bool,
}

/// The present directory and the usual others, each once.
pub(super) fn all() -> Vec<Place> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let mut wanted = vec![("this directory".to_owned(), here, Role::Run)];
    if let Some(temporary) = std::env::var_os("TMPDIR").filter(|dir| !dir.is_empty()) {
        wanted.push(("TMPDIR".to_owned(), PathBuf::from(temporary), Role::Spare));
    }
    wanted.extend(["/tmp", "/dev/shm"].map(|dir| (dir.to_owned(), PathBuf::from(dir), Role::Spare)));
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mut places: Vec<Place> = Vec::new();
    for (name, path, role) in wanted {
        // Those that do not exist cannot be used, and nobody expects them.
        let Ok(path) = std::fs::canonicalize(path) else { continue };
        if let Some(look) = Look::at(&path, &mounts)
            && places.iter().all(|known| known.path != path)
        {
            places.push(Place { name, path, role, look });
        }
    }
    places
}

/// Where to go instead of the first: the roomiest place on a disk or in memory of this machine.
pub(super) fn best_spare(places: &[Place]) -> Option<&Place> {
    let is_good = |place: &&Place| place.role == Role::Spare && place.judge(None, &[]).state == State::Ok;
    let rank = |place: &&Place| (place.look.medium == Medium::Disk, place.look.free_bytes);
    places.iter().filter(is_good).max_by_key(rank)
}

impl Look {
    fn at(path: &Path, mounts: &[u8]) -> Option<Self> {
        let system = statvfs(path).ok()?;
        let kind = file_system::name(mounts, path);
        Some(Self {
            medium: file_system::medium(kind.as_deref(), file_system::number(path)),
            kind: kind.unwrap_or_else(|| "unknown file system".to_owned()),
            free_bytes: system.f_bavail.saturating_mul(system.f_frsize),
            // Some file systems make inodes as they go, and say that there are none.
            has_inodes: system.f_files == 0 || system.f_favail != 0,
            may_write: access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
            allows_code: !system.f_flag.contains(StatVfsMountFlags::NOEXEC),
        })
    }
}

/// Below this a recording of any use has no place.
const LEAST: u64 = 16 << 20;
/// Below this a few minutes of a busy program may not have.
const SCARCE: u64 = 1 << 30;

impl Place {
    /// What there is to say of it when `words` are to be recorded; `spare` is where to go instead.
    pub(super) fn judge(&self, spare: Option<&Place>, words: &[OsString]) -> Finding {
        const WHY: &str =
            "Events go to files that are mapped into the program, and the merged run beside them.";
        let look = &self.look;
        let room = format::bytes(look.free_bytes);
        let finding = |found: String| Finding::ok(Topic::Directory, &self.name, found, WHY);
        let elsewhere =
            spare.map_or_else(|| "DIR".to_owned(), |place| shell::quote(&place.path.to_string_lossy()));
        let with_run = shell::record(&format!("-o {elsewhere}/run.marey"), words);
        // Of a spare place nothing prevents measuring: it need not be used.
        let instead = |found: String, remedy: &str| match self.role {
            Role::Run => finding(found).problem(remedy).command(with_run.clone()),
            Role::Spare => {
                finding(found).note("Have another place ready if something is to be recorded there")
            }
        };
        if !look.may_write {
            return instead(
                format!("{}, not to be written to", look.kind),
                "Write the run to another directory",
            );
        }
        if look.free_bytes < LEAST || !look.has_inodes {
            let left = if look.has_inodes { room } else { "no inode".to_owned() };
            let remedy = "Make room, or write the run to another disk";
            return instead(format!("{}, full: {left} left", look.kind), remedy);
        }
        if look.free_bytes < SCARCE {
            return finding(format!("{}, only {room} free", look.kind))
                .note(
                    "On a full disk events are added up, and those of threads that have recorded little are \
                     dropped. Make room, record elsewhere, or set a limit",
                )
                .command(shell::record("--max-mb 64", words));
        }
        let where_to = self.role == Role::Run;
        match look.medium {
            Medium::Network => finding(format!("{} (network), {room} free", look.kind))
                .note(
                    "If all ranks run on this machine, record on its own disk; the run comes here at the end",
                )
                .command(shell::record(
                    &format!("--spool {}", if where_to { &elsewhere } else { "DIR" }),
                    words,
                )),
            Medium::Layer if where_to => {
                finding(format!("{}, the container's own layer, {room} free", look.kind))
                    .note(
                        "A run that is written here goes when the container goes. Write it to a directory \
                         of the host",
                    )
                    .command(shell::record("-o DIR/run.marey", words))
            }
            Medium::Memory if where_to => finding(format!("{} (memory), {room} free", look.kind))
                .note("A run that is written here takes memory from the program, and is gone after a restart")
                .command(shell::record("-o DIR/run.marey", words)),
            // Only the library needs it, and goes elsewhere by itself; the trial tells if it finds a place.
            _ if !look.allows_code => finding(format!("{}, {room} free, allows no code (noexec)", look.kind)),
            Medium::Memory => finding(format!("{} (memory), {room} free", look.kind)),
            Medium::Disk | Medium::Layer => finding(format!("{}, {room} free", look.kind)),
        }
    }

    /// Whether a trial recording can be expected to find a place here.
    pub(super) fn is_usable(&self) -> bool {
        self.look.may_write && LEAST <= self.look.free_bytes && self.look.has_inodes
    }

    /// Whether programs and libraries may lie here.
    pub(super) fn allows_code(&self) -> bool {
        self.look.allows_code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(role: Role, kind: &str, free_bytes: u64) -> Place {
        let look = Look {
            kind: kind.to_owned(),
            medium: file_system::medium(Some(kind), None),
            free_bytes,
            has_inodes: true,
            may_write: true,
            allows_code: true,
        };
        Place { name: "here".to_owned(), path: PathBuf::from("/here"), role, look }
    }

    #[test]
    fn directories_are_judged_by_what_they_are_for() {
        const PLENTY: u64 = 50 << 30;
        let spare = Place { path: PathBuf::from("/local disk"), ..place(Role::Spare, "xfs", PLENTY) };
        let cases = [
            (Role::Run, "ext4", PLENTY, State::Ok, "ext4, 50.0 GiB free", ""),
            (Role::Run, "lustre", PLENTY, State::Note, "(network)", "--spool '/local disk'"),
            (Role::Run, "fuse.sshfs", PLENTY, State::Note, "(network)", "--spool"),
            (Role::Run, "tmpfs", PLENTY, State::Note, "(memory)", "-o DIR"),
            (Role::Run, "overlay", PLENTY, State::Note, "container", "-o DIR"),
            (Role::Run, "ext4", 100 << 20, State::Note, "only 100 MiB", "--max-mb"),
            (Role::Run, "ext4", 1 << 20, State::Problem, "full", "-o '/local disk'/run.marey"),
            (Role::Spare, "ext4", 1 << 20, State::Note, "full", ""),
            (Role::Spare, "tmpfs", PLENTY, State::Ok, "(memory)", ""),
        ];
        for (role, kind, free, state, found, command) in cases {
            let finding = place(role, kind, free).judge(Some(&spare), &[]);
            assert_eq!(finding.state, state, "{finding:?}");
            assert!(finding.found.contains(found), "{finding:?}");
            assert!(finding.command.clone().unwrap_or_default().contains(command), "{finding:?}");
        }
        let mut closed = place(Role::Run, "ext4", PLENTY);
        closed.look.may_write = false;
        assert_eq!(closed.judge(None, &[]).state, State::Problem);
        let mut full = place(Role::Run, "ext4", PLENTY);
        full.look.has_inodes = false;
        assert!(full.judge(None, &[]).found.contains("no inode"));
    }
}
