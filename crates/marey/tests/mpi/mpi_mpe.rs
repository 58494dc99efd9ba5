//! Programs with the logging calls of MPE: what is recorded are the states and events that the program
//! says it has logged, with their fields, inside one another; and what it prints is what it prints alone.
//!
//! The one idea: the programs count what they log, and print it. They are built with our header and no MPE
//! library, and once with a header and a library of the other kind, which must go on getting every call.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, cached, need, programs, which};

/// How often what was logged, by rank and name.
type Logged = BTreeMap<(i64, String), i64>;

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include")
}

/// Flags to build with our header; one of them changes with it.
fn flags() -> [String; 2] {
    let mut hasher = rustc_hash::FxHasher::default();
    for name in ["mpe.h", "mpe_logf.h", "mpe_fortran.c", "marey.h"] {
        hasher.write(&std::fs::read(include().join(name)).unwrap());
    }
    [format!("-I{}", include().display()), format!("-DHEADER={}", hasher.finish())]
}

/// What the program says: `count <rank> <name> <number>`.
fn said(output: &str) -> Logged {
    let mut said = Logged::new();
    for line in output.lines().filter_map(|line| line.strip_prefix("count ")) {
        let (rank, rest) = line.split_once(' ').unwrap();
        let (name, count) = rest.rsplit_once(' ').unwrap();
        let count = count.parse().unwrap();
        if count > 0 {
            said.insert((rank.parse().unwrap(), name.to_owned()), count);
        }
    }
    assert!(!said.is_empty(), "{output}");
    said
}

/// One row of a table of happenings, with its rank and what it is called.
struct Happening {
    rank: i64,
    name: String,
    start: i64,
    duration: i64,
    count: i64,
    /// What the region around it is called; empty for none.
    around: String,
}

fn ranks(run: &Run) -> Vec<i64> {
    // A program without MPI is rank 0 here.
    run.table("locations").i64("rank").unwrap().iter().map(|&rank| rank.max(0)).collect()
}

/// Names of the regions: of those of MPI their functions, of others their nouns.
fn names(run: &Run) -> Vec<String> {
    let regions = run.table("regions");
    let (verbs, nouns) = (regions.text("verb").unwrap(), regions.text("noun").unwrap());
    verbs.iter().zip(nouns).map(|(verb, noun)| if verb == "execute" { noun } else { verb }.clone()).collect()
}

fn intervals(run: &Run) -> Vec<Happening> {
    let (rows, paths, ranks, names) =
        (run.table("intervals"), run.table("call_paths"), ranks(run), names(run));
    let called = |path: u32| names[paths.u32("region").unwrap()[path as usize] as usize].clone();
    (0..rows.len())
        .map(|row| {
            let path = rows.u32("call_path").unwrap()[row];
            let parent = paths.u32("parent").unwrap()[path as usize];
            Happening {
                rank: ranks[rows.u32("location").unwrap()[row] as usize],
                name: called(path),
                start: rows.i64("start").unwrap()[row],
                duration: rows.i64("duration").unwrap()[row],
                count: match rows.u32("visits").unwrap()[row] {
                    u32::MAX => 1,
                    visits => visits.into(),
                },
                around: if parent == u32::MAX { String::new() } else { called(parent) },
            }
        })
        .collect()
}

fn overlaps(run: &Run) -> Vec<Happening> {
    let (rows, ranks, names) = (run.table("overlaps"), ranks(run), names(run));
    (0..rows.len())
        .map(|row| Happening {
            rank: ranks[rows.u32("location").unwrap()[row] as usize],
            name: names[rows.u32("region").unwrap()[row] as usize].clone(),
            start: rows.i64("start").unwrap()[row],
            duration: rows.i64("duration").unwrap()[row],
            count: 1,
            around: String::new(),
        })
        .collect()
}

/// Rank, name and fields of all events, or attributes, in their order.
fn events(run: &Run, kind: &str) -> Vec<(i64, String, Value)> {
    let (rows, kinds, ranks) = (run.table("events"), run.table("event_kinds"), ranks(run));
    let of_kind = |row: usize| rows.u32("kind").unwrap()[row] as usize;
    (0..rows.len())
        .filter(|&row| kinds.text("kind").unwrap()[of_kind(row)] == kind)
        .map(|row| {
            let rank = ranks[rows.u32("location").unwrap()[row] as usize];
            let fields = serde_json::from_str(&rows.text("fields").unwrap()[row]).unwrap();
            (rank, kinds.text("name").unwrap()[of_kind(row)].clone(), fields)
        })
        .collect()
}

/// What is in the recording, as the program would say it.
fn recorded(run: &Run) -> Logged {
    let mut logged = Logged::new();
    let mut add = |rank: i64, name: &str, count: i64| {
        *logged.entry((rank, name.to_owned())).or_default() += count;
    };
    let is_call = |name: &str| name.starts_with("MPI_") || name.starts_with("pthread_");
    for row in intervals(run).iter().filter(|row| !is_call(&row.name)) {
        add(row.rank, &row.name, row.count);
    }
    for row in overlaps(run).iter().filter(|row| !row.name.ends_with(" (rest)")) {
        add(row.rank, &row.name, row.count);
    }
    for (rank, name, _) in events(run, "event").iter().filter(|event| !event.1.starts_with("MPE_Describe")) {
        add(*rank, name, 1);
    }
    let (problems, processes) = (run.table("problems"), run.table("processes"));
    for row in (0..problems.len()).filter(|&row| problems.text("kind").unwrap()[row] == "mpe_stopped") {
        let process = problems.u32("process").unwrap()[row] as usize;
        add(processes.i64("rank").unwrap()[process].max(0), "stopped", problems.i64("count").unwrap()[row]);
    }
    logged
}

/// What programs print is the matter of other tests.
fn without_files(job: &Job) -> Job {
    job.clone().option("--files").option("off")
}

/// Runs a job alone and recorded: it says the same, and that is what was recorded.
fn check(job: &Job, how: &str) -> Run {
    let (alone, place) = (Place::new(), Place::new());
    let output = job.plain(alone.path());
    assert!(output.status.success(), "{how}: {}", String::from_utf8_lossy(&output.stderr));
    let run = without_files(job).record(place.path());
    assert_eq!(run.stdout(), String::from_utf8_lossy(&output.stdout), "{how}: {}", run.stderr());
    assert_eq!(recorded(&run), said(&run.stdout()), "{how}");
    run.expect_no_problems(&[]);
    // The tables are read, but the place goes.
    expect_of_all(&run, how);
    drop(place);
    run
}

/// How a job is called whose fields nobody can know: what they are is said too late.
const LATE: &str = "described late";

/// What `mpe_all.c` has logged beside the counts; nothing for other programs.
fn expect_of_all(run: &Run, how: &str) {
    if !run.stdout().contains("turns") {
        return;
    }
    assert!(run.stdout().contains("turns 0 1\n"), "{how}: {}", run.stdout());
    let rows = intervals(run);
    let around = |name: &str| -> Vec<&str> {
        let rows = rows.iter().filter(|row| row.name == name);
        let mut around: Vec<&str> = rows.map(|row| row.around.as_str()).collect();
        around.sort_unstable();
        around.dedup();
        around
    };
    assert_eq!(around("Compute"), ["Iteration"], "{how}");
    assert_eq!(around("Exchange"), ["Iteration"], "{how}");
    assert_eq!(around("MPI_Sendrecv"), ["Exchange"], "{how}");
    assert_eq!(around("MPI_Barrier"), [""], "{how}: what came after the outer state is not in it");

    expect_overlap(run, &rows, how);
    if !how.ends_with(LATE) {
        expect_fields(run, how);
    }
}

fn expect_fields(run: &Run, how: &str) {
    let of_events = |rank: i64, name: &str, kind: &str| -> Vec<Value> {
        let events = events(run, kind).into_iter();
        events.filter(|event| event.0 == rank && event.1 == name).map(|event| event.2).collect()
    };
    for rank in [0, 1] {
        let steps = 20;
        let residuals: Vec<Value> =
            (0..steps).map(|step| json!({"step": step, "error": 0.25 * (step + 1) as f64})).collect();
        assert_eq!(of_events(rank, "Residual", "event"), residuals, "{how}");
        let word = |step: i64| if step % 2 == 0 { "even" } else { "odd" };
        let exchanges: Vec<Value> =
            (0..steps).map(|step| json!({"with": 1 - rank, "what": word(step)})).collect();
        assert_eq!(of_events(rank, "Exchange", "attribute"), exchanges, "{how}");
        let unknown = json!({"event": 20000, "text": "nobody knows"});
        assert_eq!(of_events(rank, "MPE_Log_event", "event"), [unknown], "{how}");
    }
    assert_eq!(
        of_events(1, "MPE_Log_send", "event"),
        [json!({"peer": 0, "tag": 17, "bytes": 4096})],
        "{how}"
    );
    let described = of_events(0, "MPE_Describe_state", "event");
    assert!(
        described.iter().any(|of| of["name"] == "Exchange" && of["color"] == "blue"),
        "{how}: {described:?}"
    );
    assert_eq!(of_events(1, "MPE_Describe_state", "event"), Vec::<Value>::new(), "{how}");
}

/// The states of `mpe_all.c` that do not nest: one is cut, once.
fn expect_overlap(run: &Run, rows: &[Happening], how: &str) {
    let overlaps = overlaps(run);
    for rank in [0, 1] {
        let count = |rows: &[Happening], name: &str| {
            rows.iter().filter(|row| row.rank == rank && row.name == name).count()
        };
        assert_eq!((count(rows, "Left"), count(rows, "Right")), (5, 1), "{how}");
        assert_eq!((count(&overlaps, "Right"), count(&overlaps, "Right (rest)")), (4, 1), "{how}");
        for state in overlaps.iter().filter(|row| row.rank == rank) {
            let within = |row: &&Happening| {
                row.rank == rank
                    && row.name == "MPI_Barrier"
                    && state.start <= row.start
                    && row.start + row.duration <= state.start + state.duration
            };
            assert_eq!(rows.iter().filter(within).count(), 1, "{how}: the barrier of {}", state.name);
        }
        for left in rows.iter().filter(|row| row.rank == rank && row.name == "Left") {
            let rest = overlaps.iter().filter(|row| row.rank == rank && row.start >= left.start);
            let right = rest.min_by_key(|row| row.start).unwrap();
            let (left_end, right_end) = (left.start + left.duration, right.start + right.duration);
            assert!(left_end < right_end, "{how}: what began in Left goes on");
            // One began inside; what is left of the one that was cut begins at the end.
            assert!(right.start >= left_end || right.name == "Right", "{how}");
        }
    }
}

#[test]
fn states_and_events_of_a_program_in_c() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let flags = flags();
        let flags = [&flags[0], &*flags[1], "-O2", "-ldl"];
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["mpe_all.c"], flags: &flags, output: "program" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        check(&Job::new(mpi, 2, &program), &format!("{mpi:?}"));
        check(&Job::new(mpi, 2, &program).arg("own"), &format!("{mpi:?}, own numbers"));
        check(&Job::new(mpi, 2, program).arg("late"), &format!("{mpi:?}, {LATE}"));
    }
}

/// Once with our file compiled in, once with it as a library: then the functions of the recorder come before
/// those of the same Fortran names.
#[test]
fn states_and_events_of_a_program_in_fortran() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        for (shape, name) in [(&["-c"][..], "object.o"), (&["-shared", "-fPIC"], "libmpe.so")] {
            let names = need!(compiled(mpi, shape, name), "a C compiler for {mpi:?}");
            let [path, version] = flags();
            let rpath = format!("-Wl,-rpath,{}", names.parent().unwrap().display());
            // What is packed has any type, and the compiler has no interface of the function.
            let mismatch = "-fallow-argument-mismatch";
            let flags = [&path, &*version, mismatch, names.to_str().unwrap(), &rpath, "-O1", "-ldl"];
            let sources = &["mpe_pi.f90"];
            let build = Build { mpi, compiler: Compiler::Fortran, sources, flags: &flags, output: "program" };
            let program = need!(build.path(), "a Fortran compiler for {mpi:?}");
            expect_of_pi(&Job::new(mpi, 2, program), &format!("{mpi:?}, {name}"));
        }
    }
}

fn expect_of_pi(job: &Job, how: &str) {
    let (alone, place) = (Place::new(), Place::new());
    let output = job.plain(alone.path());
    let run = without_files(job).record(place.path());
    assert_eq!(run.stdout(), String::from_utf8_lossy(&output.stdout), "{how}: {}", run.stderr());
    assert_eq!(recorded(&run), said(&run.stdout()), "{how}");
    run.expect_no_problems(&[]);
    let rows = intervals(&run);
    assert!(rows.iter().all(|row| row.name != "MPI_Bcast" || row.around == "Broadcast"), "{how}");
    // One is the program's; two ranks go through a section in two turns.
    assert_eq!(rows.iter().filter(|row| row.name == "MPI_Barrier").count(), 2 + 2 * 2, "{how}");
    let fields = |kind: &str, name: &str| -> Vec<Value> {
        let events = events(&run, kind).into_iter();
        events.filter(|event| event.1 == name).map(|event| event.2).collect()
    };
    assert_eq!(fields("attribute", "Compute"), vec![json!({"n": 1000}); 10], "{how}");
    assert_eq!(fields("event", "Estimate"), vec![json!({"pi": 3.0, "by": "rank 0"}); 5], "{how}");
}

/// Our functions for Fortran, in such a shape.
fn compiled(mpi: Mpi, shape: &[&str], name: &str) -> Option<PathBuf> {
    let compiler = which(mpi.compiler(Compiler::C))?;
    let (source, flags) = (include().join("mpe_fortran.c"), flags());
    let words = format!("{} {shape:?} {flags:?}", compiler.display());
    Some(cached(&words, std::slice::from_ref(&source), name, |out| {
        let mut command = Command::new(&compiler);
        command.args(shape).args(["-Wall", "-o"]).arg(out).arg(&source).args(&flags).arg("-ldl");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }))
}

/// The preloaded functions come before those of the library, and that gets every call all the same: what it
/// says of them in the end is part of the program's output.
#[test]
fn a_library_that_the_program_is_linked_with_gets_every_call() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let header = format!("-I{}", programs().join("mpe_library").display());
        let library = Build {
            mpi,
            compiler: Compiler::C,
            sources: &["mpe_library.c"],
            flags: &["-shared", "-fPIC"],
            output: "libmpe.so",
        };
        let library = need!(library.path(), "a C compiler for {mpi:?}");
        let rpath = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
        let flags = [&*header, library.to_str().unwrap(), &rpath];
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["mpe_all.c"], flags: &flags, output: "program" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let how = format!("a library, {mpi:?}");
        let run = check(&Job::new(mpi, 2, &program), &how);
        assert!(run.stdout().contains("numbers 3000 3001 3002\n"), "{how}: {}", run.stdout());
        assert!(run.stdout().contains("mpe_all: 7 described, "), "{how}: {}", run.stdout());
    }
}

/// Without MPI, in two threads, with a state that nobody has named.
#[test]
fn a_program_without_mpi() {
    let compiler = need!(which("cc"), "a C compiler");
    let flags = flags();
    let words = format!("serial {flags:?}");
    let source = programs().join("mpe_serial.c");
    let program = cached(&words, std::slice::from_ref(&source), "program", |out| {
        let mut command = Command::new(&compiler);
        command.args(["-O1", "-Wall", "-o"]).arg(out).arg(&source).args(&flags).args(["-pthread", "-ldl"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    });
    let place = Place::new();
    let alone = Command::new(&program).env_remove("LD_PRELOAD").output().unwrap();
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.args(["record", "--files", "off", "--force", "-o", "run.marey", "--"]).arg(&program);
    let output = marey.current_dir(place.path()).env_remove("LD_PRELOAD").output().unwrap();
    let run = Run::new(place.path(), output);
    assert_eq!(run.stdout(), String::from_utf8_lossy(&alone.stdout), "{}", run.stderr());
    assert_eq!(recorded(&run), said(&run.stdout()));
    run.expect_no_problems(&[]);
    let texts: Vec<Value> = events(&run, "attribute").into_iter().map(|event| event.2).collect();
    assert_eq!(texts, vec![json!({"text": "begins"}); 2000]);
    for row in intervals(&run) {
        let around = match &*row.name {
            "Region" => "Mixed",
            name if name.starts_with("MPE state") => "Outer",
            _ => "",
        };
        assert!(row.around == around || row.name.starts_with("pthread"), "{} in {}", row.name, row.around);
    }
    let problems = run.table("problems");
    for kind in ["mpe_unordered", "unmatched_ends"] {
        let rows = (0..problems.len()).filter(|&row| problems.text("kind").unwrap()[row] == kind);
        assert_eq!(rows.map(|row| problems.i64("count").unwrap()[row]).sum::<i64>(), 1, "{kind}");
    }
}
