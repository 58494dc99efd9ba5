//! What one enter and one leave cost, on one thread and on two, recorded and not.
//!
//! The one idea: everybody runs the same loop, in every language and with every library, and beside it
//! runs what no recorder can do without: two readings of the clock and two stores.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, median, with_range};
use super::{Plan, Section};
use anyhow::{Result, anyhow};

const TEXT: &str = "\
Processor time of the recording thread for one enter and one leave, in ns; 50 names, two levels deep, \
nothing between the events.
F, the floor, is two readings of the time-stamp counter and two stores of 16 bytes, kept by nobody; \
× F is the median of the ratios within each round.
*All CPU* counts the whole program from its start to its end, threads in the background, page faults, start-up \
and exit included; *in the file* is elapsed time until everything is there; both on one thread.
*Handed over* is what the library says it recorded, in parts of what was executed; what marey recorded is \
counted under *Nothing is lost*.
*Profile* is `marey record --mode profile`: visits are added up, in 650 call paths.
The targets are judged by all CPU of marey against the loop alone of F.";

/// The case that all others are compared with.
const FLOOR: &str = "F";
const OTF2: &str = "libotf2";
/// Sums only, of 650 call paths.
const PROFILE: &str = "profile C";

/// Processor time of the recording thread.
const LOOP: &str = "ns_per_pair";
/// Processor time of the whole program.
const PROGRAM: &str = "program_ns_per_pair";
const PEAK: &str = "peak_bytes";

/// Whether `marey record` starts a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recording {
    Here,
    /// With sums only.
    Profile,
    Absent,
}

/// A way to record pairs. Its command takes PAIRS THREADS OUTPUT as its last words.
struct Recorder {
    name: String,
    /// Pairs are divided by this: some keep everything in memory.
    divisor: u64,
    recording: Recording,
    /// The program, or why there is none.
    program: Result<String>,
}

/// A recorder with its figures on one thread and on two.
struct Measured {
    name: String,
    one: Samples,
    two: Samples,
}

/// Measures all recorders that can be built here.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&[
        "case",
        "1 thread",
        "× F",
        "2 threads",
        "all CPU",
        "in the file",
        "bytes/event",
        "handed over",
    ]);
    let mut absent = Vec::new();
    let measured = turns(plan, tools, &mut absent);
    let find = |name: &str| measured.iter().find(|measured| measured.name == name);
    if let Some(floor) = find(FLOOR) {
        measured.iter().for_each(|measured| table.push(row(measured, floor)));
        if let Some((profile, idle)) = find(PROFILE).zip(find(&idle("C"))) {
            goals.add(PROFILE, "× F", profile.one.ratio_to(PROGRAM, &floor.one, LOOP), Target::AtMost(1.6));
            judge_memory("profile C", profile, idle, 4.0, goals);
        }
        for language in LANGUAGES {
            if let Some(recorded) = find(&recorded(language)) {
                judge_recorded(recorded, floor, find(OTF2), goals);
                if let Some(idle) = find(&idle(language)) {
                    judge_memory(&format!("memory {language}"), recorded, idle, 8.0, goals);
                }
            }
            if let Some((idle, empty)) = find(&idle(language)).zip(find(&empty(language))) {
                let added = idle.one.added(LOOP, &empty.one);
                goals.add(&idle.name, "ns/pair above an empty loop", added, Target::AtMost(1.0));
            }
        }
    }
    Ok(Section { title: "Enter and leave", text: TEXT, table, absent })
}

fn judge_recorded(recorded: &Measured, floor: &Measured, otf2: Option<&Measured>, goals: &mut Goals) {
    let Measured { name, one, two } = recorded;
    goals.add(name, "ns/pair, all CPU", one.summary(PROGRAM), Target::Open);
    goals.add(name, "× F", one.ratio_to(PROGRAM, &floor.one, LOOP), Target::AtMost(1.4));
    if let Some(otf2) = otf2 {
        goals.add(name, "× libotf2", one.ratio(PROGRAM, &otf2.one), Target::AtMost(0.45));
    }
    goals.add(&format!("{name}, 2 threads"), "× 1 thread", two.ratio(PROGRAM, one), Target::AtMost(1.1));
}

/// What a program holds more when it is recorded: windows, tables and the touched pages of the
/// library alike.
fn judge_memory(name: &str, recorded: &Measured, idle: &Measured, most: f64, goals: &mut Goals) {
    const MIB: f64 = 1.0 / (1024.0 * 1024.0);
    for (ours, theirs, threads) in [(&recorded.one, &idle.one, 1.0), (&recorded.two, &idle.two, 2.0)] {
        let added = ours.added(PEAK, theirs).map(|added| added.times(MIB / threads));
        let case = format!("{name}, {threads} thread{}", if threads < 2.0 { "" } else { "s" });
        goals.add(&case, "MiB/thread", added, Target::AtMost(most));
    }
}

fn row(measured: &Measured, floor: &Measured) -> Vec<String> {
    let Measured { name, one, two } = measured;
    let per_event = one.per("output_bytes", "executed").map(|bytes| bytes.times(0.5));
    vec![
        name.clone(),
        with_range(one.summary(LOOP)),
        median(one.ratio(LOOP, &floor.one), 2),
        with_range(two.summary(LOOP)),
        median(one.summary(PROGRAM), 1),
        median(one.summary("flushed_ns_per_pair"), 1),
        median(per_event, 2),
        median(one.per("recorded", "executed"), 6),
    ]
}

/// Gives all recorders that are wanted their turns; says which could not be measured.
fn turns(plan: &Plan, tools: &Tools, absent: &mut Vec<String>) -> Vec<Measured> {
    let wanted = recorders(plan);
    let mut names = Vec::new();
    let mut cases = Vec::new();
    for Recorder { name, divisor, recording, program } in wanted {
        match program {
            Ok(program) => {
                let pairs = plan.pairs / divisor;
                cases.extend([1, 2].map(|threads| case(tools, &name, recording, &program, pairs, threads)));
                names.push(name);
            }
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
    let mut results = rotate(plan, &cases).into_iter();
    let mut measured = Vec::new();
    for name in names {
        match (results.next(), results.next()) {
            (Some(Ok(mut one)), Some(Ok(mut two))) => {
                for samples in [&mut one, &mut two] {
                    samples.derive(PROGRAM, "program_cpu_ns", "executed");
                }
                if name.starts_with("pair ") && [&one, &two].into_iter().any(has_lost_events) {
                    absent
                        .push(format!("{name}: events are missing in the spool, so that times mean nothing"));
                    continue;
                }
                measured.push(Measured { name, one, two });
            }
            (one, two) => absent.extend([one, two].into_iter().flatten().filter_map(Result::err)),
        }
    }
    measured
}

/// Whether the spool is too small for what was executed: a record takes at least a byte for what
/// and a byte for when, an executed pair two records. A recorder that drops is fast.
fn has_lost_events(samples: &Samples) -> bool {
    samples.per("output_bytes", "executed").is_none_or(|bytes| bytes.least < 4.0)
}

fn case(tools: &Tools, name: &str, recording: Recording, program: &str, pairs: u64, threads: u32) -> Case {
    let mut words = match recording {
        Recording::Here => tools.record(&[]),
        Recording::Profile => tools.record(&["--mode", "profile"]),
        Recording::Absent => Vec::new(),
    };
    words.extend([tools.spent.clone(), program.to_owned(), pairs.to_string(), threads.to_string()]);
    words.push("{output}".into());
    Case::new(format!("{name}, {threads} thread{}", if threads == 1 { "" } else { "s" }), words)
}

pub(super) const LANGUAGES: [&str; 3] = ["C", "Fortran", "Rust"];

fn recorded(language: &str) -> String {
    format!("pair {language}")
}

fn idle(language: &str) -> String {
    format!("idle {language}")
}

fn empty(language: &str) -> String {
    format!("empty loop {language}")
}

/// The workload through marey in a language.
pub(super) fn marey_program(language: &str) -> Result<String> {
    match language {
        "C" => build::compile("gcc", "marey.c", "marey-c", &[]),
        "Fortran" => build::compile("gfortran", "marey.f90", "marey-fortran", &[]),
        _ => peer("marey"),
    }
}

fn empty_program(language: &str) -> Result<String> {
    match language {
        "C" => build::compile("gcc", "floor.c", "empty-c", &["-DEMPTY"]),
        "Fortran" => build::compile("gfortran", "marey.f90", "empty-fortran", &["-DEMPTY"]),
        _ => peer("empty"),
    }
}

fn peer(program: &str) -> Result<String> {
    Ok(build::peers()?.join(program).display().to_string())
}

/// All that are wanted, and what they are compared with.
fn recorders(plan: &Plan) -> Vec<Recorder> {
    let mut recorders = Vec::new();
    let mut add = |name: String, divisor: u64, recording: Recording, program: Result<String>| {
        recorders.push(Recorder { name, divisor, recording, program });
    };
    for language in LANGUAGES {
        let memory = format!("memory {language}");
        let record = plan.wants(&recorded(language)) || plan.wants(&memory);
        let has_idle = plan.wants(&idle(language)) || record;
        if has_idle {
            add(empty(language), 1, Recording::Absent, empty_program(language));
            add(idle(language), 1, Recording::Absent, marey_program(language));
        }
        if record {
            add(recorded(language), 1, Recording::Here, marey_program(language));
        }
        if language == "C" && plan.wants(PROFILE) {
            if !has_idle {
                add(idle(language), 1, Recording::Absent, marey_program(language));
            }
            add(PROFILE.into(), 1, Recording::Profile, marey_program(language));
        }
    }
    for (name, program, divisor) in [
        ("tracing, no subscriber", "tracing_off", 1),
        ("tracing + tracing-chrome", "tracing_chrome", 10),
        ("fastrace", "fastrace", 2),
        ("puffin, packed and saved", "puffin", 2),
    ] {
        if plan.wants(name) {
            add(name.into(), divisor, Recording::Absent, peer(program));
        }
    }
    if plan.wants(OTF2) || !recorders.is_empty() {
        let floor = build::compile("gcc", "floor.c", "floor", &[]);
        let otf2 = build::compile("gcc", "otf2.c", "otf2", &["-lotf2"]).map_err(|error| {
            anyhow!("{error:#}").context("libotf2-trace-dev of Debian is needed to compile its peer")
        });
        let front = [(FLOOR, floor), (OTF2, otf2)].map(|(name, program)| Recorder {
            name: name.into(),
            divisor: 1,
            recording: Recording::Absent,
            program,
        });
        recorders.splice(0..0, front);
    }
    recorders
}
