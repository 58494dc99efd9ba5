//! Constructs of OpenMP, against programs that count what their bodies do and know how long they have waited.
//!
//! The one idea: a program prints `NAME COUNT` for each construct, from what it has counted itself or from how it is
//! written, and the archive must have as many visits; where threads wait it prints who waited in what for whom, no shorter
//! and no longer than two readings of its own clock say. The same programs by several compilers, whose runtimes are told
//! from each other by nothing that is looked at here.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use marey_archive::Archive;
use program::{Program, Recorded};
use serde_json::Value;

const GCC: &str = "gcc -O2 -g -Wall -fopenmp {}/openmp.c";
const CLANG: &str = "clang -O2 -g -fopenmp {}/openmp.c";

fn archive(recorded: &Recorded) -> Archive {
    Archive::open(&recorded.dir.join("run.marey")).unwrap()
}

/// Visits of level `openmp` by verb, and by noun where that is not a construct; the latter are counted in both.
fn visits(recorded: &Recorded) -> BTreeMap<String, i64> {
    let archive = archive(recorded);
    let (regions, paths, profile) = (
        archive.table("regions").unwrap(),
        archive.table("call_paths").unwrap(),
        archive.table("profile").unwrap(),
    );
    let (levels, verbs, nouns) =
        (regions.text("level").unwrap(), regions.text("verb").unwrap(), regions.text("noun").unwrap());
    let mut visits = BTreeMap::new();
    for (&path, &n) in profile.u32("call_path").unwrap().iter().zip(profile.i64("visits").unwrap()) {
        let region = paths.u32("region").unwrap()[path as usize] as usize;
        if levels[region] == "openmp" {
            let is_named = nouns[region].starts_with("critical(") && verbs[region] == "critical";
            let name = if is_named { &nouns[region] } else { &verbs[region] };
            *visits.entry(name.clone()).or_default() += n;
        }
    }
    visits
}

/// What a program prints without being recorded, and the counts in it.
fn told(program: &Program, words: &[&str]) -> (String, BTreeMap<String, i64>) {
    let output = Command::new(program.path()).args(words).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let count = |line: &str| {
        let (name, count) = line.rsplit_once(' ')?;
        let is_count = name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains(char::is_numeric);
        Some((name.to_owned(), count.parse().ok().filter(|_| is_count)?))
    };
    (text.clone(), text.lines().filter_map(count).collect())
}

/// The program does the same when it is recorded, and each construct is there as often as it says, but for those of which
/// the runtime does not tell.
fn counts_agree(line: &str, words: &[&str], untold: &[&str]) -> Option<BTreeMap<String, i64>> {
    let program = Program::compile(line)?;
    let (text, told) = told(&program, words);
    assert!(told.len() > 3, "{text}");
    let recorded = program.record(&[], words);
    assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), text);
    let visits = visits(&recorded);
    for (name, count) in told.iter().filter(|(name, _)| !untold.contains(&name.as_str())) {
        assert_eq!(visits.get(name), Some(count), "{name}: {visits:?}");
    }
    recorded.is_whole();
    Some(visits)
}

#[test]
fn constructs_of_gcc_are_there_as_often_as_the_program_says() {
    // It tests the number of the thread.
    counts_agree(GCC, &["counts"], &["masked"]);
}

#[test]
fn constructs_of_gfortran_are_there_as_often_as_the_program_says() {
    counts_agree("gfortran -O2 -g -fopenmp {}/openmp.f90", &[], &[]);
}

#[test]
fn tasks_of_cpp_copy_and_throw_as_without_a_recorder() {
    counts_agree("g++ -O2 -g -fopenmp {}/openmp.cpp", &[], &[]);
}

#[test]
fn constructs_of_clang_are_there_as_often_as_the_program_says() {
    // The runtime tells of no portions before version 15, of static loops too, and of critical sections without names; and
    // it tells of a loop's tasks by themselves. Where no device is meant, `target` is no call.
    let untold = [
        "chunk",
        "section",
        "loop",
        "critical",
        "critical(update)",
        "taskloop",
        "task create",
        "target",
        "target data",
        "target end data",
        "target update",
        "target enter data",
        "target exit data",
    ];
    let Some(visits) = counts_agree(CLANG, &["counts"], &untold) else { return };
    assert_eq!((visits["critical"], visits["task create"]), (200, visits["task"]), "{visits:?}");
    // Static ones of four threads in each of five regions more.
    assert_eq!(visits["loop"], 64 + 20, "{visits:?}");
}

/// A wait as the program tells it: where, whose and for whom, by thread ids of the system, and bounds in ns.
fn waits_agree(recorded: &Recorded, waits: usize) {
    let archive = archive(recorded);
    let text = String::from_utf8(recorded.output.stdout.clone()).unwrap();
    let table = |name: &str| archive.table(name).unwrap();
    let (locations, edges, intervals) = (table("locations"), table("edges"), table("intervals"));
    let (paths, regions) = (table("call_paths"), table("regions"));
    let location = |id: &str| {
        let id: i64 = id.parse().unwrap();
        let place = locations.i64("os_thread").unwrap().iter().position(|&it| it == id);
        u32::try_from(place.unwrap()).unwrap()
    };
    let (mut n, mut wrong) = (0, Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let &[what, who, whom, least, most] = words.as_slice() else { panic!("{line}") };
        let (who, whom) = (location(who), location(whom));
        let (least, most): (i64, i64) = (least.parse().unwrap(), most.parse().unwrap());
        let (verb, kind) = match what {
            "barrier" | "loop" | "end" => ("barrier", "barrier"),
            "critical" => ("critical wait", "lock-hand-over"),
            "lock" => ("lock", "lock-hand-over"),
            "starved" => ("wait for tasks", "wake"),
            "rests" => ("wait for tasks", "barrier"),
            "taskwait" => ("taskwait", "join"),
            "idle" => ("idle", "wake"),
            "depends" => ("task", "done"),
            _ => panic!("{line}"),
        };
        // The waits of one that end by such an edge from the other, each until what was waited for happened.
        let of_verb = |row: usize| {
            let path = intervals.u32("call_path").unwrap()[row] as usize;
            let region = paths.u32("region").unwrap()[path] as usize;
            regions.text("verb").unwrap()[region] == verb
                && regions.text("level").unwrap()[region] == "openmp"
                && intervals.u32("location").unwrap()[row] == who
        };
        let starts: Vec<(i64, i64)> = (0..intervals.len())
            .filter(|&row| of_verb(row))
            .map(|row| {
                let start = intervals.i64("start").unwrap()[row];
                (start, start + intervals.i64("duration").unwrap()[row])
            })
            .collect();
        let found: Vec<i64> = (0..edges.len())
            .filter(|&row| {
                edges.text("kind").unwrap()[row] == kind
                    && edges.u32("from_location").unwrap()[row] == whom
                    && edges.u32("to_location").unwrap()[row] == who
            })
            .filter_map(|row| {
                let (from, to) = (edges.i64("from_time").unwrap()[row], edges.i64("to_time").unwrap()[row]);
                // A task begins so long after the one that it depends on has ended.
                if what == "depends" {
                    return starts.iter().any(|(start, _)| *start == to).then_some(to - from);
                }
                let &(start, end) = starts.iter().find(|(start, end)| *start < to && to <= *end)?;
                // The cause is not to come after the wait.
                (from <= end).then_some(from - start)
            })
            .collect();
        if !found.iter().any(|wait| (least..=most + 1_000_000).contains(wait)) {
            wrong.push(format!("{line}: {found:?} of {starts:?}"));
        }
        n += 1;
    }
    assert!(n >= waits && wrong.is_empty(), "{text}{wrong:#?}");
    recorded.is_whole();
}

#[test]
fn alone_waits_of_gcc_are_those_that_the_program_plans() {
    let Some(program) = Program::compile(GCC) else { return };
    waits_agree(&program.record(&[], &["edges"]), 12);
}

#[test]
fn alone_waits_of_clang_are_those_that_the_program_plans() {
    let Some(program) = Program::compile(CLANG) else { return };
    waits_agree(&program.record(&[], &["edges"]), 12);
}

/// Records the program of odd constructs with this word, as both compilers make it, which is to print this.
fn odd(word: &str, expected: Option<&str>, check: impl Fn(&Recorded)) {
    odd_in(&[], word, |recorded| {
        let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(recorded.output.status.success(), "{}", told(&recorded.output.stderr));
        if let Some(expected) = expected {
            assert_eq!(told(&recorded.output.stdout), expected, "{}", recorded.dir.display());
        }
        check(recorded);
    });
}

/// The same in an environment.
fn odd_in(environment: &[(&str, &str)], word: &str, check: impl Fn(&Recorded)) {
    for line in [GCC, CLANG] {
        let Some(program) = Program::compile(&line.replace("openmp.c", "openmp_odd.c")) else { continue };
        let dir = program.dir(word);
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.args(["record", "--force", "--all", "--"]).arg(program.path()).arg(word);
        record.current_dir(&dir).env_remove("LD_PRELOAD").env("OMP_CANCELLATION", "true");
        let output = record.envs(environment.iter().copied()).stdin(Stdio::null()).output().unwrap();
        check(&Recorded { dir, output });
    }
}

#[test]
fn tasks_of_a_region_that_reduces_do_so_recorded_too() {
    odd("reductions", Some("33\n"), |recorded| {
        let visits = visits(recorded);
        assert_eq!((visits["parallel"], visits["implicit task"], visits["task"]), (1, 3, 3), "{visits:?}");
    });
}

#[test]
fn nobody_waits_for_locks_that_are_free_or_tried_or_nest() {
    odd("locks", Some("3\n"), |recorded| {
        let found = visits(recorded);
        assert_eq!(found.get("lock"), None, "{found:?}");
        one_after_another(intervals(recorded, "parallel"), 5);
    });
}

#[test]
fn leagues_have_no_regions_but_those_of_the_program() {
    odd("league", Some("2 2\n"), |recorded| {
        let visits = visits(recorded);
        assert_eq!((visits["teams"], visits["parallel"], visits["implicit task"]), (1, 2, 2), "{visits:?}");
    });
}

/// None begins before the one before it is over.
fn one_after_another(mut spans: Vec<(i64, i64)>, n: usize) {
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{spans:?}");
    assert_eq!(spans.len(), n);
}

#[test]
fn regions_of_one_thread_end_where_they_end() {
    odd("serial", Some(""), |recorded| {
        one_after_another(intervals(recorded, "parallel"), 3);
        one_after_another(intervals(recorded, "implicit task"), 3);
    });
}

#[test]
fn leagues_end_no_task_that_they_are_in() {
    odd("within", Some(""), |recorded| {
        let mut tasks = intervals(recorded, "implicit task");
        tasks.retain(|(_, length)| *length >= 17_000_000);
        assert_eq!(tasks.len(), 2, "{:?}", intervals(recorded, "implicit task"));
    });
}

#[test]
fn alone_nobody_waits_for_leagues_in_barriers_of_regions_before_them() {
    odd("between", Some(""), |recorded| {
        let barriers = intervals(recorded, "barrier");
        assert!(
            barriers.len() >= 8 && barriers.iter().all(|(_, length)| *length < 20_000_000),
            "{barriers:?}"
        );
    });
}

/// With the simplest of clang's locks, which is free before its owner says so.
#[test]
fn alone_waits_are_told_where_who_waits_is_quicker_than_who_gives_back() {
    for kind in ["futex", "queuing"] {
        for (word, verb) in [("critical", "critical wait"), ("lock", "lock")] {
            odd_in(&[("KMP_LOCK_KIND", kind)], word, |recorded| {
                let text = String::from_utf8(recorded.output.stdout.clone()).unwrap();
                let all: i64 = text.trim().parse().unwrap();
                let told: i64 = intervals(recorded, verb).iter().map(|(_, length)| length).sum();
                assert!(50_000_000 < all, "{text}");
                assert!((all * 9 / 10..=all * 11 / 10).contains(&told), "{kind} {verb}: {told} of {all}");
            });
        }
    }
}

#[test]
fn a_wait_that_a_kill_ends_is_one() {
    odd_in(&[], "killed", |recorded| {
        let waits = intervals(recorded, "critical wait");
        assert!(matches!(waits[..], [(_, 150_000_000..)]), "{waits:?}");
    });
}

#[test]
fn tasks_of_one_function_are_told_apart_by_their_lines() {
    let source = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/openmp_odd.c"),
    );
    let line = |of: &str| source.as_ref().unwrap().lines().position(|line| line.contains(of)).unwrap() + 1;
    odd("lines", Some(""), |recorded| {
        let regions = archive(recorded).table("regions").unwrap();
        let (verbs, lines) = (regions.text("verb").unwrap(), regions.u32("line").unwrap());
        let mut found: Vec<usize> =
            (0..regions.len()).filter(|&row| verbs[row] == "task").map(|row| lines[row] as usize).collect();
        found.sort_unstable();
        assert_eq!(found, [line("task /* first */"), line("task /* second */")]);
    });
}

#[test]
fn alone_waits_after_a_group_of_tasks_was_cancelled_have_their_causes() {
    odd("group", None, |recorded| waits_agree(recorded, 1));
}

#[test]
fn alone_who_executes_tasks_in_the_last_barrier_waits_after_them_only() {
    odd("last", None, |recorded| waits_agree(recorded, 1));
}

/// Intervals of a verb of level `openmp`: start and length.
fn intervals(recorded: &Recorded, verb: &str) -> Vec<(i64, i64)> {
    let archive = archive(recorded);
    let [intervals, paths, regions] =
        ["intervals", "call_paths", "regions"].map(|name| archive.table(name).unwrap());
    let is_it = |row: &usize| {
        let path = intervals.u32("call_path").unwrap()[*row] as usize;
        let region = paths.u32("region").unwrap()[path] as usize;
        regions.text("verb").unwrap()[region] == verb && regions.text("level").unwrap()[region] == "openmp"
    };
    let (starts, lengths) = (intervals.i64("start").unwrap(), intervals.i64("duration").unwrap());
    (0..intervals.len()).filter(is_it).map(|row| (starts[row], lengths[row])).collect()
}

/// A program in Fortran has of a lock that nests a pointer to it. Who has it already never waits.
#[test]
fn alone_locks_that_nest_are_waited_for_only_where_another_has_them() {
    let Some(program) = Program::compile("gfortran -O2 -g -fopenmp {}/openmp_nests.f90") else { return };
    let recorded = program.record(&[], &[]);
    let text = String::from_utf8(recorded.output.stdout.clone()).unwrap();
    let (total, bounds) = text.trim().split_once('\n').unwrap();
    // One of the first thread's, and the depth that the second has come to.
    assert_eq!(total, "total 3");
    let (least, most) = bounds.split_once(' ').unwrap();
    let (least, most): (i64, i64) = (least.parse().unwrap(), most.parse().unwrap());
    let locks = intervals(&recorded, "lock");
    let [(_, length)] = locks[..] else { panic!("{locks:?}") };
    assert!(
        10_000_000 < least && (least - 5_000_000..=most + 1_000_000).contains(&length),
        "{length}: {text}"
    );
    let edges = archive(&recorded).table("edges").unwrap();
    let handed = edges.text("kind").unwrap().iter().filter(|kind| *kind == "lock-hand-over").count();
    assert_eq!(handed, 1);
    recorded.is_whole();
}

/// That an event is fulfilled ends no task: neither the one whose event it is nor the one that does so.
#[test]
fn detached_tasks_last_as_long_as_their_bodies() {
    let Some(program) = Program::compile("clang -O2 -g -fopenmp {}/openmp_detach.c") else { return };
    let recorded = program.record(&[], &[]);
    let text = String::from_utf8(recorded.output.stdout.clone()).unwrap();
    let (bodies, shortest) = text.trim().split_once(' ').unwrap();
    let (bodies, shortest): (usize, i64) = (bodies.parse().unwrap(), shortest.parse().unwrap());
    assert_eq!(bodies, 30);
    assert!(shortest >= 3_000_000);
    let tasks = intervals(&recorded, "task");
    assert_eq!(tasks.len(), bodies);
    assert!(tasks.iter().all(|(_, length)| *length >= shortest), "{shortest}: {tasks:?}");
    assert_eq!(visits(&recorded)["task create"], 30);
    recorded.is_whole();
}

/// A wait has a word for each loop of its nest, and those of seven loops do not all go in registers.
#[test]
fn waits_of_a_nest_are_for_the_iteration_that_the_program_names() {
    let line = "gcc -O2 -g -Wall -fopenmp {}/openmp_ordered.c";
    let Some(program) = Program::compile(line) else { return };
    // 14! / (2!)^7, and of 3^7 iterations two thirds have one before them in the first loop, and in the last.
    let expected = "paths 681080400\nwaits 2916\n";
    assert_eq!(told(&program, &[]).0, expected);
    let recorded = program.record(&[], &[]);
    assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), expected);
    recorded.is_whole();
}

#[test]
fn programs_end_and_fork_as_without_a_recorder() {
    for line in [GCC, CLANG] {
        let Some(program) = Program::compile(line) else { continue };
        for (words, status) in [(["exit"], 7), (["fork"], 0), (["cancel"], 0)] {
            // The program hangs with libomp 14, recorded or not.
            if (line, words) == (CLANG, ["cancel"]) {
                continue;
            }
            let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
            record.args(["record", "--force", "--all", "--"]).arg(program.path()).args(words);
            record.current_dir(program.dir("odd")).env_remove("LD_PRELOAD").env("OMP_CANCELLATION", "true");
            let output = record.stdin(Stdio::null()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{line} {words:?}: {said}");
            let text = String::from_utf8(output.stdout).unwrap();
            match words {
                ["fork"] => assert!(text.contains("child 45") && text.contains("parent 45"), "{text}"),
                ["cancel"] => assert_eq!(text, "found 20\n"),
                _ => {}
            }
        }
    }
}

/// Two libraries that each bring a runtime of their own: the same one under two names.
#[test]
fn runtimes_that_are_loaded_privately_are_not_mixed_up() {
    let plugin = "gcc -O2 -g -fopenmp -shared -fPIC {}/openmp_plugin.c";
    let (Some(host), Some(plugin)) =
        (Program::compile("gcc -O2 -g {}/openmp_host.c"), Program::compile(plugin))
    else {
        return;
    };
    let output = Command::new("gcc").args(["-print-file-name=libgomp.so.1"]).output().unwrap();
    let libgomp = std::fs::canonicalize(String::from_utf8(output.stdout).unwrap().trim());
    let libgomp = libgomp.unwrap_or_else(|_| "/lib/x86_64-linux-gnu/libgomp.so.1".into());
    let dir = host.dir("two");
    let rename = |from: &std::path::Path, to: &str| {
        let mut bytes = std::fs::read(from).unwrap();
        let (old, new) = (b"libgomp.so.1\0", b"libgomp.so.9\0");
        let places: Vec<usize> =
            (0..bytes.len() - old.len()).filter(|&at| bytes[at..].starts_with(old)).collect();
        places.iter().for_each(|&at| bytes[at..at + new.len()].copy_from_slice(new));
        assert!(!places.is_empty(), "{from:?}");
        std::fs::write(dir.join(to), bytes).unwrap();
    };
    rename(&libgomp, "libgomp.so.9");
    rename(&plugin.path(), "other.so");
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.args(["record", "--force", "--"]).arg(host.path()).arg(plugin.path()).arg(dir.join("other.so"));
    record.current_dir(&dir).env_remove("LD_PRELOAD").env("LD_LIBRARY_PATH", &dir);
    let output = record.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Each of three threads was there once.
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), "4950111\n".repeat(6));
    let visits = visits(&Recorded { dir, output });
    assert_eq!(
        (visits["parallel"], visits["implicit task"], visits["critical"]),
        (12, 36, 18 + 6),
        "{visits:?}"
    );
}

/// The host of libraries with these words, recorded.
fn hosted(host: &Program, name: &str, words: &[String], libraries: &std::path::Path) -> Recorded {
    let dir = host.dir(name);
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.args(["record", "--force", "--"]).arg(host.path()).args(words);
    record.current_dir(&dir).env_remove("LD_PRELOAD").env("LD_LIBRARY_PATH", libraries);
    let output = record.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Recorded { dir, output }
}

/// Some distributions have clang's runtime by the name of gcc's. Before its first construct it has not begun to tell.
#[test]
fn a_runtime_by_the_name_of_another_is_recorded_once() {
    let plugin = "gcc -O2 -g -fopenmp -shared -fPIC {}/openmp_plugin.c";
    let (Some(host), Some(plugin), Some(of_clang)) = (
        Program::compile("gcc -O2 -g {}/openmp_host.c"),
        Program::compile(plugin),
        Program::compile("clang -O2 -g -fopenmp -shared -fPIC {}/openmp_plugin.c"),
    ) else {
        return;
    };
    let output = Command::new("ldd").arg(of_clang.path()).output().unwrap();
    let needed = String::from_utf8(output.stdout).unwrap();
    let libomp = needed.split_whitespace().find(|word| word.starts_with('/') && word.contains("libomp"));
    let libomp = libomp.unwrap_or_else(|| panic!("{needed}"));
    let libraries = host.dir("renamed");
    std::os::unix::fs::symlink(libomp, libraries.join("libgomp.so.1")).unwrap();
    let recorded = hosted(&host, "named", &[format!("+{}", plugin.path().display())], &libraries);
    assert_eq!(String::from_utf8(recorded.output.stdout.clone()).unwrap(), "4950111\n".repeat(3));
    let visits = visits(&recorded);
    assert_eq!(
        (visits["parallel"], visits["implicit task"], visits["critical"]),
        (6, 18, 1 + 9 + 3),
        "{visits:?}"
    );
}

/// What was found by name goes with its library: the second one brings the runtime anew, elsewhere.
#[test]
fn a_runtime_that_is_closed_is_called_no_more() {
    let plugin = "gcc -O2 -g -fopenmp -shared -fPIC {}/openmp_plugin.c";
    let (Some(host), Some(plugin)) =
        (Program::compile("gcc -O2 -g {}/openmp_host.c"), Program::compile(plugin))
    else {
        return;
    };
    let dir = host.dir("closed");
    let path = plugin.path().display().to_string();
    let recorded = hosted(&host, "anew", &[format!("={path}"), path], &dir);
    assert_eq!(String::from_utf8(recorded.output.stdout.clone()).unwrap(), "4950111\n".repeat(3));
    let visits = visits(&recorded);
    assert_eq!((visits["parallel"], visits["critical"]), (6, 1 + 9 + 3), "{visits:?}");
}

/// The runtime of clang tells of its constructs, that of gcc does not: both are recorded once, whichever comes first, and whoever
/// has compiled what calls them.
#[test]
fn runtimes_of_two_compilers_are_both_recorded() {
    let plugin = |compiler: &str| {
        Program::compile(&format!("{compiler} -O2 -g -fopenmp -shared -fPIC {{}}/openmp_plugin.c"))
    };
    let (Some(host), Some(gcc), Some(clang)) =
        (Program::compile("gcc -O2 -g {}/openmp_host.c"), plugin("gcc"), plugin("clang"))
    else {
        return;
    };
    let object = Program::compile("gcc -O2 -g -fopenmp -fPIC -c {}/openmp_plugin.c").unwrap();
    let mixed = Program::compile(&format!("clang -shared -fopenmp {}", object.path().display())).unwrap();
    for (name, first, second) in [
        ("gcc-first", &gcc, &clang),
        ("clang-first", &clang, &gcc),
        ("mixed-first", &mixed, &gcc),
        ("mixed-second", &gcc, &mixed),
    ] {
        let dir = host.dir(name);
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.args(["record", "--force", "--"]).arg(host.path()).arg(first.path()).arg(second.path());
        record.current_dir(&dir).env_remove("LD_PRELOAD");
        let output = record.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), "4950111\n".repeat(6));
        let recorded = Recorded { dir, output };
        let (visits, meta) =
            (visits(&recorded), std::fs::read_to_string(recorded.dir.join("run.marey/meta.json")).unwrap());
        assert_eq!(
            (visits["parallel"], visits["implicit task"], visits["critical"]),
            (12, 36, 18 + 6),
            "{name}: {visits:?}"
        );
        // Locks that are free are counted with those of the libraries themselves, which take a few when they begin.
        let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
        let free = meta["counts"]["uncontended_locks"].as_i64().unwrap();
        let taken = free + visits.get("lock").copied().unwrap_or(0);
        assert!((18..27).contains(&taken), "{name}: {taken} locks");
    }
}

/// The first call of a thread to clang's runtime is within a region of gcc's.
#[test]
fn regions_within_those_of_another_runtime_end_none_of_them() {
    let program = Program::compile("gcc -O2 -g -fopenmp {}/openmp_within.c -ldl");
    let library = Program::compile("clang -O2 -g -fopenmp -DLIBRARY -shared -fPIC {}/openmp_within.c");
    let (Some(program), Some(library)) = (program, library) else { return };
    let recorded = program.record(&["--all"], &[library.path().to_str().unwrap()]);
    assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), "6\n");
    let long = |verb: &str| {
        let mut spans = intervals(&recorded, verb);
        spans.retain(|(_, length)| *length >= 4_000_000);
        spans
    };
    let (regions, tasks) = (long("parallel"), long("implicit task"));
    one_after_another(regions.clone(), 3);
    let is_in_one = |(start, length): &(i64, i64)| {
        regions.iter().any(|(begin, of)| begin <= start && start + length <= begin + of)
    };
    assert_eq!(tasks.iter().filter(|task| is_in_one(task)).count(), 6, "{tasks:?} in {regions:?}");
    assert_eq!((tasks.len(), visits(&recorded)["critical"]), (6, 6));
}

#[test]
fn what_constructs_execute_is_the_program_s_own() {
    for line in [GCC, CLANG] {
        let Some(program) = Program::compile(line) else { continue };
        let recorded = program.record(&[], &["burn"]);
        let hot = recorded.json("hot");
        let rows = hot["functions"].as_array().unwrap();
        let share = |row: &serde_json::Value| row["exclusive_share"].as_f64().unwrap();
        let burn = rows.iter().find(|row| row["name"] == "burn").unwrap();
        // The rest is waiting that is active.
        assert!(share(burn) > 0.5, "{line}: {rows:#?}");
        // Ten calls each in a static loop, of which nobody tells where gcc has made it, and in tasks; some of these may be
        // executed at the end of that loop, and are on its line then, too.
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/openmp.c");
        let text = std::fs::read_to_string(&source).unwrap();
        let lines: Value =
            serde_json::from_str(&recorded.show(&["lines", "run.marey", "openmp.c", "--json"])).unwrap();
        let samples = |what: &str| {
            let at = text.lines().position(|line| line.contains(what)).unwrap() as u64 + 1;
            let row = lines["lines"].as_array().unwrap().iter().find(|row| row["line"] == at);
            row.unwrap_or_else(|| panic!("{line}: {what}, {lines:#}"))["inclusive_samples"].as_f64().unwrap()
        };
        let (all, of_static) = (samples("sum += one /"), samples("sum += burn("));
        let of_tasks = samples("kept = burn(");
        assert!((0.3..0.7).contains(&(of_tasks / all)), "{line}: {of_tasks} of {all}");
        assert!(of_static + of_tasks >= 0.9 * all && of_static / all > 0.3, "{line}: {of_static} of {all}");
    }
}

#[test]
fn what_is_left_out_is_not_there() {
    let Some(program) = Program::compile(GCC) else { return };
    assert_eq!(visits(&program.record(&["--openmp", "off"], &["counts"])), BTreeMap::new());
    assert_eq!(visits(&program.record(&["--rule", "off openmp:*"], &["counts"])), BTreeMap::new());
    let program_of_locks = Program::compile(&CLANG.replace("openmp.c", "openmp_odd.c"));
    if let Some(program) = program_of_locks {
        // Of twenty rounds; where both come at the same time one of them waits.
        let n = visits(&program.record(&["--rule", "count openmp:lock"], &["lock"]))["lock"];
        assert!((10..=20).contains(&n), "{n}");
    }
    let rules = ["--rule", "off openmp:chunk", "--rule", "count openmp:critical"];
    let visits = visits(&program.record(&rules, &["counts"]));
    assert_eq!((visits.get("chunk"), visits.get("implicit task")), (None, Some(&42)), "{visits:?}");
}
