//! The ways in which parallel programs are started, with `marey record` before the launcher, behind it,
//! and on some of the ranks only.
//!
//! The one idea: the program says how often it called which MPI function, and in which world it was.
//! What was recorded must be that of the processes that were measured, and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Build, Compiler, Counts, Mpi, Place, Run, need, prepare};

pub(crate) fn program(mpi: Mpi) -> Option<PathBuf> {
    let mpi = mpi.installed()?;
    Build { mpi, compiler: Compiler::C, sources: &["launch.c"], flags: &["-O1"], output: "launch" }.path()
}

/// What the processes said of themselves: calls by process id, and the others of their world.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) calls: Counts,
    /// Rank and size.
    places: BTreeMap<u32, (u32, u32)>,
}

impl Said {
    pub(crate) fn read(output: &Output) -> Self {
        let mut said = Self::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Some(rest) = line.strip_prefix("counted ") else { continue };
            let words: Vec<&str> = rest.split(' ').collect();
            let number = |at: usize| words[at].parse::<u32>().unwrap();
            let calls = words[3..].iter().map(|word| word.split_once('=').unwrap());
            let calls = calls.filter(|(_, n)| *n != "0");
            let calls = calls.map(|(name, n)| (name.to_owned(), n.parse().unwrap())).collect();
            said.calls.insert(number(0), calls);
            said.places.insert(number(0), (number(1), number(2)));
        }
        said
    }

    pub(crate) fn calls_of(&self, name: &str) -> u64 {
        self.calls.values().filter_map(|calls| calls.get(name)).sum()
    }
}

/// Runs a line of the shell with the words that it is given: `$marey`, `$launch` and `$mpirun`.
fn shell(mpi: Mpi, place: &Path, program: &Path, line: &str) -> Output {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).env("marey", env!("CARGO_BIN_EXE_marey")).env("launch", program);
    let oversubscribe = if mpi == Mpi::Open { " --oversubscribe" } else { "" };
    command.env("mpirun", format!("{}{oversubscribe}", mpi.launcher()));
    prepare(&mut command, place).output().unwrap()
}

/// Runs the line with both MPIs and looks at what was recorded.
fn check(line: &str, status: i32, look: impl Fn(&Run, &Said)) {
    for mpi in Mpi::BOTH {
        let program = need!(program(mpi), "{mpi:?}");
        let place = Place::new();
        let output = shell(mpi, place.path(), &program, line);
        let run = Run::new(place.path(), output);
        assert_eq!(run.output.status.code(), Some(status), "{mpi:?}: {}", run.stderr());
        let said = Said::read(&run.output);
        assert!(!said.calls.is_empty(), "{mpi:?}: {}{}", run.stdout(), run.stderr());
        look(&run, &said);
    }
}

/// All that the processes said was recorded, and each message has two ends.
fn is_complete(run: &Run, said: &Said) {
    assert_eq!(run.mpi_calls(), said.calls, "{}", run.stderr());
    assert_eq!(run.table("messages").len() as u64, said.calls_of("MPI_Sendrecv"), "{}", run.stderr());
    run.expect_no_problems(&[]);
}

/// Process ids by world, and within it by rank.
fn worlds(run: &Run) -> Vec<Vec<u32>> {
    let processes = run.table("processes");
    let (world, rank, pid) = ("world", "rank", "pid");
    let mut worlds = BTreeMap::<u32, BTreeMap<i64, u32>>::new();
    for row in 0..processes.len() {
        let ranks = worlds.entry(processes.u32(world).unwrap()[row]).or_default();
        ranks.insert(processes.i64(rank).unwrap()[row], processes.u32(pid).unwrap()[row]);
    }
    worlds.into_values().map(|ranks| ranks.into_values().collect()).collect()
}

#[test]
fn recorders_behind_the_launcher_share_a_run() {
    check("$mpirun -n 2 $marey record -o run.marey -- $launch 20", 0, |run, said| {
        is_complete(run, said);
        assert_eq!((said.calls.len(), worlds(run).len()), (2, 1));
    });
}

/// Seen with MPICH, whose launcher is known by the parent of a rank: with a recorder or a shell in
/// between, every rank was a world of its own, and no message was matched.
#[test]
fn wrappers_between_launcher_and_recorder_change_nothing() {
    let line = "$mpirun -n 2 sh -c '$marey record -o run.marey -- sh -c \"\\$launch 5; exit\"; exit'";
    check(line, 0, |run, said| {
        is_complete(run, said);
        assert_eq!(worlds(run).len(), 1);
    });
}

#[test]
fn a_script_with_three_jobs_is_a_run_with_three_worlds() {
    let line = "$marey record -o run.marey -- sh -c 'for n in 5 6 7; do $mpirun -n 2 $launch $n; done'";
    check(line, 0, |run, said| {
        is_complete(run, said);
        let worlds = worlds(run);
        let rounds = |pid: &u32| said.calls[pid]["MPI_Sendrecv"];
        let seen: Vec<Vec<u64>> = worlds.iter().map(|world| world.iter().map(rounds).collect()).collect();
        assert_eq!(seen, [[5, 5], [6, 6], [7, 7]]);
        for world in worlds {
            assert_eq!(world.iter().map(|pid| said.places[pid]).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        }
    });
}

#[test]
fn programs_of_one_world_can_be_different() {
    let line = "$marey record -o run.marey -- $mpirun -n 1 $launch 9 : -n 1 $launch 9 bad";
    check(line, 9, |run, said| {
        is_complete(run, said);
        assert_eq!(worlds(run).len(), 1);
        let info = run.json("info");
        let ended = info["ended_early"].as_array().unwrap();
        let of = |rank: u32| ended.iter().find(|process| process["rank"] == rank);
        assert_eq!(of(1).unwrap()["exit_code"], 9);
        // The launcher may have ended the other one, which was done, before it could say so.
        assert!(of(0).is_none_or(|process| process["exit_code"].is_null()), "{ended:?}");
    });
}

/// Seen: the recorder waited for those of the other ranks, which never came, and nothing was merged.
#[test]
fn one_rank_alone_can_be_measured() {
    for (line, rank) in [
        ("$mpirun -n 1 $marey record -o run.marey -- $launch 30 : -n 2 $launch 30", 0),
        ("$mpirun -n 2 $launch 30 : -n 1 $marey record -o run.marey -- $launch 30", 2),
    ] {
        check(line, 0, |run, said| {
            assert_eq!(said.calls.len(), 3, "all have done their work");
            let (pid, _) = said.places.iter().find(|(_, place)| place.0 == rank).unwrap();
            let mine = said.calls.iter().filter(|(other, _)| *other == pid);
            assert_eq!(run.mpi_calls(), mine.map(|(pid, calls)| (*pid, calls.clone())).collect());
            // Nobody is guessed to have sent or received what it sent and received.
            run.expect_no_problems(&["unmatched_sends", "unmatched_receives"]);
            let problems = &run.json("info")["problems"];
            assert_eq!(
                (&problems["unmatched_sends"], &problems["unmatched_receives"]),
                (&30.into(), &30.into())
            );
        });
    }
}

/// A recorder of one rank of which the program fails, or knows no MPI, cannot know whether others are to come.
#[test]
fn one_rank_alone_that_fails_is_merged_by_hand() {
    let line = "$mpirun -n 1 $marey record -o run.marey -- $launch 3 bad : -n 1 $launch 3
                status=$?; $marey merge run.marey || exit 1; exit $status";
    check(line, 9, |run, said| {
        assert!(run.stderr().contains("`marey merge run.marey`"), "{}", run.stderr());
        let recorded = run.mpi_calls();
        assert_eq!(recorded.len(), 1);
        assert!(recorded.iter().all(|(pid, calls)| said.calls[pid] == *calls));
    });
}

/// The preloaded library in some of the processes, by hand: a wrapper that takes it away from rank 1.
#[test]
fn a_rank_without_the_library_is_not_waited_for() {
    let wrapper = "test ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 || unset LD_PRELOAD; exec $launch 12";
    let line = format!("$marey record -o run.marey -- $mpirun -n 2 sh -c '{wrapper}'");
    check(&line, 0, |run, said| {
        let recorded = run.mpi_calls();
        assert_eq!((recorded.len(), said.calls.len()), (1, 2));
        let pid = *recorded.keys().next().unwrap();
        assert_eq!((said.places[&pid], &recorded[&pid]), ((0, 2), &said.calls[&pid]));
    });
}

/// The launcher starts them, and no recorder is between. (In front of the launcher, one measures them too:
/// `mpi_match.rs`.)
#[test]
fn spawned_processes_behind_no_recorder_are_missed_and_told() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let build =
        Build { mpi, compiler: Compiler::C, sources: &["match_spawn.c"], flags: &["-O1"], output: "spawn" };
    let program = need!(build.path(), "a C compiler for Open MPI");
    let place = Place::new();
    let line = "mkdir out; MATCH_OUT=$PWD/out $mpirun -n 2 $marey record -o run.marey -- $launch";
    let run = Run::new(place.path(), shell(mpi, place.path(), &program, line));
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let info = run.json("info");
    assert_eq!(info["processes"], 2, "{info}");
    // The world's own messages are matched, those to and from the others are not, and nobody guesses.
    let problems = &info["problems"];
    let open = ["unmatched_sends", "unmatched_receives", "unmatchable_channels"];
    assert!(open.iter().all(|kind| problems[kind].as_u64().unwrap() > 0), "{info}");
}

#[test]
fn what_ranks_run_in_shells_is_not_measured() {
    check("$marey record -o run.marey -- $mpirun -n 2 $launch 5 shells", 0, |run, said| {
        is_complete(run, said);
        assert_eq!(run.stdout().matches("other\n").count(), 2);
        assert_eq!(run.json("info")["processes"], 2, "neither launcher nor shells");
    });
}

#[test]
fn with_all_launchers_and_shells_are_measured_too() {
    check("$marey record --all -o run.marey -- $mpirun -n 2 $launch 5 shells", 0, |run, said| {
        assert_eq!(run.mpi_calls(), said.calls);
        let processes = run.table("processes");
        let names: Vec<&str> = processes
            .text("executable")
            .unwrap()
            .iter()
            .map(|path| path.rsplit('/').next().unwrap())
            .collect();
        // `echo` is a command of the shell's own: two shells, and at least the launcher.
        let shells = names.iter().filter(|name| ["sh", "dash", "bash"].contains(name)).count();
        assert_eq!((shells, names.iter().filter(|name| **name == "launch").count()), (2, 2), "{names:?}");
        assert!(names.len() > 4, "{names:?}");
    });
}

#[test]
fn a_merge_can_be_put_off() {
    for line in [
        "$marey record --no-merge -o run.marey -- $mpirun -n 2 $launch 8",
        "$mpirun -n 2 $marey record --no-merge -o run.marey -- $launch 8",
    ] {
        let line = format!("{line} && test ! -e run.marey/meta.json && $marey merge run.marey");
        check(&line, 0, |run, said| {
            is_complete(run, said);
            assert_eq!(run.stderr().matches("recorded, not merged").count(), 1, "{}", run.stderr());
        });
    }
}
