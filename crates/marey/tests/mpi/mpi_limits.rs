//! Places that a run can be written to with trouble, or not at all: full, limited, read-only, and file
//! systems that lack what others have.
//!
//! The one idea: the program says how often it called what, and that is the same as without us. Of its calls
//! those that are not recorded are added up or counted as dropped. (How large a file may be is tried in
//! `hazards.rs`: MPI libraries need large files themselves.)

use std::path::Path;
use std::process::{Command, Output};

use crate::mpi_launch::{Said, program};
use crate::support::{Counts, Mpi, Place, Run, need, prepare};

/// Runs a line of the shell in a mount namespace of its own.
fn shell(mpi: Mpi, place: &Path, line: &str) -> Option<Output> {
    let program = need!(program(mpi), "{mpi:?}" => None);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c"]).arg(line);
    command.env("marey", env!("CARGO_BIN_EXE_marey")).env("launch", program);
    let oversubscribe = if mpi == Mpi::Open { " --oversubscribe" } else { "" };
    command.env("mpirun", format!("{}{oversubscribe}", mpi.launcher()));
    Some(prepare(&mut command, place).output().unwrap())
}

fn may_mount() -> bool {
    let mut mount = Command::new("unshare");
    mount.args(["--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/mnt"]);
    let is_allowed = mount.output().is_ok_and(|output| output.status.success());
    if !is_allowed {
        marey_testkit::leave_out("no right to mount in a namespace of its own");
    }
    is_allowed
}

/// Whether there was room for every event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    /// Some were added up, or counted as dropped.
    Limited,
}

/// What is asked of each job: its own status and output, and a run that adds up. Whether it
/// has everything. After the line the run must be outside of what was mounted.
fn check(setup: &str, record: &str, after: &str) -> Vec<Detail> {
    if !may_mount() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for mpi in Mpi::BOTH {
        let place = Place::new();
        let line = format!("mkdir disk && {setup} || exit 99\n{record}\nstatus=$?\n{after}\nexit $status");
        let Some(output) = shell(mpi, place.path(), &line) else { continue };
        let run = Run::new(place.path(), output);
        assert_eq!(run.output.status.code(), Some(9), "{mpi:?}: {}{}", run.stdout(), run.stderr());
        let said = Said::read(&run.output);
        assert_eq!(said.calls.len(), 2, "{mpi:?}: {}", run.stderr());
        let sum = |counts: &Counts| counts.values().flat_map(|calls| calls.values()).sum::<u64>();
        let (calls, recorded) = (sum(&said.calls), sum(&run.mpi_calls()));
        for (pid, functions) in run.mpi_calls() {
            let is_less = |(name, n): (&String, &u64)| *n <= said.calls[&pid][name];
            assert!(functions.iter().all(is_less), "{mpi:?}: {functions:?}");
        }
        let info = run.json("info");
        let dropped = info["problems"]["dropped"].as_u64().unwrap();
        // An event when it is entered and one when it is left, and what belongs to it.
        let missing = 2 * (calls - recorded);
        // A rank that the launcher ends because the other one has ended badly may be in the middle of a call.
        let ended = info["ended_early"].as_array().unwrap();
        let killed = ended.iter().filter(|process| process["exit_code"].is_null()).count() as u64;
        let least = missing.saturating_sub(killed);
        assert!((least..=2 * missing).contains(&dropped), "{mpi:?}: {missing} {}", run.text("info", &[]));
        assert_eq!(info["problems"]["lost"], 0);
        let is_summed = info["summed"]["locations"].as_u64().unwrap() > 0;
        all.push(if dropped > 0 || is_summed { Detail::Limited } else { Detail::All });
    }
    all
}

const ROUNDS: &str = "100000";

/// A disk with room for the recorder, which the spool has a copy of, for what is written down of two processes, and a few events.
const SMALL_DISK: &str =
    "size=$($marey record --no-merge -o probe.marey -- stat -c %s probe.marey/spool/libmarey.so 2>probe.txt) &&
    mount -t tmpfs -o size=$((size / 1024 + 176))k none disk";

/// Long enough to fill what is given to it, and ends with a status of its own.
fn job() -> String {
    format!("$mpirun -n 2 $launch {ROUNDS} bad")
}

#[test]
fn a_full_disk_costs_events() {
    let record = format!("$marey record --no-merge -o disk/run.marey -- {}", job());
    let after = "$marey merge disk/run.marey -o run.marey";
    for detail in check(SMALL_DISK, &record, after) {
        assert_eq!(detail, Detail::Limited);
    }
}

/// The disk is full when the merge begins, which then makes what room it can, or says what to do.
#[test]
fn a_disk_that_is_full_at_the_merge_loses_nothing_more() {
    let record = format!("$marey record -o disk/run.marey -- {}", job());
    let after = "if test -e disk/run.marey/spool
                 then $marey merge --force disk/run.marey -o run.marey
                 else cp -r disk/run.marey run.marey; fi";
    for detail in check(SMALL_DISK, &record, after) {
        assert_eq!(detail, Detail::Limited);
    }
}

#[test]
fn a_disk_of_the_machine_that_is_full_costs_events() {
    let record = format!("$marey record --spool disk -o run.marey -- {}", job());
    for detail in check("mount -t tmpfs -o size=1m none disk", &record, "") {
        assert_eq!(detail, Detail::Limited);
    }
}

/// A quota, as a program sees it: from some time on, no space is given, though the disk has some. (The
/// kernel's own quotas bind nobody who may mount.)
#[test]
fn a_quota_costs_events() {
    if !can("strace -V", "no strace to play a quota") {
        return;
    }
    let limited = "strace -f --seccomp-bpf -qq -o strace.$$ -e inject=pwritev:error=EDQUOT:when=9+";
    let record =
        format!("$marey record -o run.marey -- $mpirun -n 2 sh -c 'exec {limited} $launch {ROUNDS} bad'");
    for detail in check("true", &record, "grep -q EDQUOT strace.* || exit 98") {
        assert_eq!(detail, Detail::Limited);
    }
}

/// Whether a line of the shell succeeds in a directory `disk`.
fn can(setup: &str, what: &str) -> bool {
    let place = Place::new();
    let line = format!("mkdir disk && {setup}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &line]).current_dir(place.path());
    let is_able = command.output().is_ok_and(|output| output.status.success());
    if !is_able {
        marey_testkit::leave_out(what);
    }
    is_able
}

/// File systems that cannot reserve space, and give none back: in memory, and on a disk as of 1993.
#[test]
fn file_systems_that_cannot_reserve_record_all() {
    let ext2 = "truncate -s 64m image && mkfs.ext2 -q image && mount -o loop image disk";
    for setup in ["mount -t ramfs none disk", ext2] {
        let probe = format!("{setup} && ! fallocate -l 4096 disk/probe");
        if !can(&probe, "no ramfs, or no ext2 in a file") {
            continue;
        }
        let record = format!("$marey record -o disk/run.marey -- {}", job());
        for detail in check(setup, &record, "mv disk/run.marey run.marey") {
            assert_eq!(detail, Detail::All, "{setup}");
        }
    }
}

/// A directory that cannot be written to is said to be one before anything is started.
#[test]
fn a_read_only_run_is_told_before_the_start() {
    if !may_mount() {
        return;
    }
    for mpi in Mpi::BOTH {
        for record in [
            "$marey record -o disk/run.marey -- $mpirun -n 2 $launch 5",
            "$mpirun -n 2 $marey record -o disk/run.marey -- $launch 5",
        ] {
            let place = Place::new();
            let line = format!("mkdir disk && mount -t tmpfs -o ro none disk || exit 99\n{record}");
            let Some(output) = shell(mpi, place.path(), &line) else { continue };
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{mpi:?}: {told}");
            assert!(told.contains("disk/run.marey: Read-only file system"), "{mpi:?}: {told}");
            assert!(Said::read(&output).calls.is_empty());
        }
    }
}

/// While the program runs, the disk goes read-only, as after an error of the disk. What was recorded until
/// then is read from it as it is.
#[test]
fn a_disk_that_becomes_read_only_changes_nothing_for_the_program() {
    let setup = "truncate -s 64m image && mkfs.ext4 -q image && mount -o loop image disk";
    if !can(&format!("{setup} && mount -o remount,abort disk && ! touch disk/probe"), "no ext4 in a file") {
        return;
    }
    let script = "mount -o remount,abort disk; exec $mpirun -n 2 $launch 1000 bad";
    for mpi in Mpi::BOTH {
        let place = Place::new();
        let record = format!("$marey record -o disk/run.marey -- sh -c '{script}'");
        let line = format!("mkdir disk && {setup} || exit 99\n{record}");
        let Some(output) = shell(mpi, place.path(), &line) else { continue };
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(9), "{mpi:?}: {told}");
        assert_eq!(Said::read(&output).calls_of("MPI_Sendrecv"), 2000, "{mpi:?}");
        assert!(told.contains("marey: warning") && told.contains("Read-only"), "{mpi:?}: {told}");
    }
}
