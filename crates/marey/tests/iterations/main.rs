//! Real programs that iterate, or do not, and write down when their iterations began and which parts were longer.
//!
//! The one idea: what `marey phases` and `marey anomalies` say of a recorded program is compared with what the program
//! measured in that very run. What it meant to do longer must be found; whatever else is found must have been longer by
//! the program's own clock, for a busy machine makes parts longer as it likes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod programs;

use programs::{Built, MPICH, OPEN_MPI, PLAIN, Recorded, Tools};
use serde_json::Value;

/// 5 % and 1 ms, for the program's clock is read a little before and after.
fn are_equal(found_ns: i64, expected_ns: i64) -> bool {
    (found_ns - expected_ns).abs() <= expected_ns / 20 + 1_000_000
}

/// The loop that is told of, as JSON.
fn main_loop(phases: &Value) -> Result<&Value, String> {
    let main = phases["main"].as_u64().ok_or("no iterations were found")?;
    Ok(&phases["loops"][usize::try_from(main).unwrap() - 1])
}

fn ns(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// A machine that is busy may spoil a run, but not so many.
const MOST_RUNS: usize = 20;

/// What a case must show.
struct Case {
    name: &'static str,
    number: usize,
    /// Which call the iterations end with.
    region: &'static str,
    are_parts_alike: bool,
    also: fn(&Recorded) -> Result<(), String>,
}

/// The iterations are those of the program, as many, as long, and no others are told as long.
fn iterations_are_right(case: &Case, run: &Recorded) -> Result<(), String> {
    let it = main_loop(&run.phases)?;
    if it["iterations"] != case.number || it["region"] != case.region || it["border"] != "end" {
        return Err(format!("{} iterations, {} {}", it["iterations"], it["border"], it["region"]));
    }
    let list = run.phases["told"]["list"].as_array().unwrap();
    let truth = run.iterations();
    assert_eq!((truth.len(), list.len()), (case.number, case.number));
    // The first one begins when all have come from what was before, which is not written down.
    for at in 1..truth.len() {
        let expected = truth[at].1 - truth[at - 1].1;
        let found = ns(&list[at]["to_ns"]) - ns(&list[at]["from_ns"]);
        if !are_equal(found, expected) {
            return Err(format!("iteration {at}: {found} ns instead of {expected} ns"));
        }
    }
    let outliers: Vec<usize> = it["outliers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|outlier| usize::try_from(outlier["iteration"].as_u64().unwrap()).unwrap() - 1)
        .collect();
    for planted in run.parts().filter(|part| part.longer_ms > 0) {
        let place = outliers.iter().position(|outlier| *outlier == planted.index);
        let Some(place) = place else { return Err(format!("{planted:?} is not told: {outliers:?}")) };
        let different = &run.phases["told"]["different"][place];
        if !run.is_at(different, planted.who) || different["function"] != "work" {
            return Err(format!("{planted:?} is told as {different}"));
        }
    }
    let mut lengths: Vec<i64> = truth.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    let of = |at: usize| (at > 0).then(|| truth[at].1 - truth[at - 1].1);
    lengths.sort_unstable();
    let usual = lengths[lengths.len() / 2];
    let wrong = outliers.iter().copied().filter_map(|at| Some((at, of(at)?)));
    let wrong: Vec<_> = wrong.filter(|(_, length)| *length < usual + usual / 6).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("of {usual} ns, {wrong:?} are told as long")) }
}

/// The visits that were longer are told, and others only if they were.
fn visits_are_right(run: &Recorded) -> Result<(), String> {
    let list = run.anomalies["anomalies"].as_array().unwrap();
    let parts = || list.iter().filter(|row| row["function"] == "work");
    for planted in run.parts().filter(|part| part.longer_ms > 0) {
        let is_it = |row: &&Value| {
            row["iteration"] == planted.index + 1
                && run.is_at(row, planted.who)
                && are_equal(ns(&row["duration_ns"]), planted.ended - planted.began)
        };
        let Some(row) = parts().find(is_it) else {
            return Err(format!("{planted:?} is not told: {list:#?}"));
        };
        if row["is_waiting"] != false || ns(&row["excess_ns"]) < planted.longer_ms * 950_000 {
            return Err(format!("{planted:?} is told as {row}"));
        }
        // Whoever waited for it is told with it.
        let place = list.iter().position(|other| other == row).unwrap() + 1;
        let waits = |other: &&Value| other["because"] == place && other["is_waiting"] == true;
        if !list.iter().any(|other| waits(&other)) {
            return Err(format!("nobody waited for {planted:?}: {list:#?}"));
        }
    }
    let lengths = run.parts().map(|part| part.ended - part.began);
    let mut lengths: Vec<i64> = lengths.collect();
    lengths.sort_unstable();
    let long = lengths.iter().filter(|length| **length * 10 > lengths[lengths.len() / 2] * 11).count();
    if parts().count() > long {
        return Err(format!("{} parts are told as long, {long} were", parts().count()));
    }
    Ok(())
}

fn nothing(_: &Recorded) -> Result<(), String> {
    Ok(())
}

/// Whether the machine let the program do what it meant to: nine in ten parts took about as long as most. Of a run in
/// which they did not, nothing can be told.
fn is_fit(run: &Recorded) -> Result<(), String> {
    let mut lengths: Vec<i64> = run.parts().map(|part| part.ended - part.began).collect();
    lengths.sort_unstable();
    let at = |part: usize| lengths[lengths.len() * part / 100];
    if at(90) * 5 < at(50) * 6 {
        return Ok(());
    }
    Err(format!("the machine was busy: parts of {} ns took {} ns", at(50), at(90)))
}

/// Runs all cases; a machine that is busy with other things may spoil one several times.
fn each_is_told_right(source: &str, tools: &Tools, cases: &[Case]) {
    let Some(built) = Built::new(source, tools) else { return };
    let mut failed = Vec::new();
    for case in cases {
        let judge = |run: &Recorded| {
            if case.number == 0 {
                return match run.phases["main"].is_null() {
                    true => Ok(()),
                    false => Err(format!("it has iterations: {}", run.phases["text"])),
                };
            }
            if case.are_parts_alike {
                is_fit(run)?;
            }
            iterations_are_right(case, run)?;
            visits_are_right(run)?;
            (case.also)(run)
        };
        let mut tries = 0;
        let verdict = loop {
            tries += 1;
            match judge(&built.record(case.name)) {
                Err(why) if tries < MOST_RUNS => eprintln!("{} {}, again: {why}", tools.compiler, case.name),
                verdict => break verdict,
            }
        };
        eprintln!(
            "{} {} (run {tries}): {}",
            tools.compiler,
            case.name,
            if verdict.is_ok() { "right" } else { "wrong" }
        );
        failed.extend(verdict.err().map(|why| format!("{}: {why}", case.name)));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

const SUM: &str = "MPI_Allreduce";

fn of_ranks() -> [Case; 7] {
    let case = |name, number, region| Case { name, number, region, are_parts_alike: true, also: nothing };
    [
        case("steady", 60, SUM),
        case("one_long", 60, SUM),
        case("three_long", 150, SUM),
        Case { also: kinds, ..case("kinds", 60, SUM) },
        Case { also: drift, are_parts_alike: false, ..case("drift", 80, SUM) },
        Case { also: first_loop, ..case("two_loops", 60, SUM) },
        case("none", 0, ""),
    ]
}

/// Ten of sixty do more, and every sixth does.
fn kinds(run: &Recorded) -> Result<(), String> {
    let kinds = &main_loop(&run.phases)?["kinds"];
    let told = (&kinds[0]["number"], &kinds[1]["number"], &kinds[1]["every"], &kinds[1]["first"]);
    if told == (&50.into(), &10.into(), &6.into(), &6.into()) { Ok(()) } else { Err(kinds.to_string()) }
}

/// Each iteration is a tenth of a millisecond longer than the one before.
fn drift(run: &Recorded) -> Result<(), String> {
    let drift = &main_loop(&run.phases)?["drift"];
    let slope = drift["slope_ns"].as_f64().unwrap();
    let is_it = drift["is_significant"] == true && (slope - 100_000.0).abs() < 5_000.0;
    if is_it { Ok(()) } else { Err(drift.to_string()) }
}

/// What was before is a loop of its own.
fn first_loop(run: &Recorded) -> Result<(), String> {
    let loops = run.phases["loops"].as_array().unwrap();
    let is_first =
        |it: &Value| it["iterations"] == 25 && it["region"] == "MPI_Allgather" && it["inside"].is_null();
    if loops.len() == 2 && loops.iter().any(is_first) { Ok(()) } else { Err(format!("{loops:#?}")) }
}

#[test]
fn mpi_alone_iterations_are_those_that_programs_write_down() {
    each_is_told_right("ranks.c", &OPEN_MPI, &of_ranks());
}

#[test]
fn mpi_alone_iterations_are_the_same_with_another_mpi() {
    each_is_told_right("ranks.c", &MPICH, &of_ranks());
}

/// The inner loop is told as such; the outer one has its iterations where the solver ends.
#[test]
fn mpi_alone_inner_loops_are_told_as_such() {
    let Some(built) = Built::new("ranks.c", &OPEN_MPI) else { return };
    let run = built.record("nested");
    let [outer, inner] = &run.phases["loops"].as_array().unwrap()[..] else {
        panic!("{}", run.phases["loops"])
    };
    assert_eq!(
        (&outer["iterations"], &outer["inside"], &outer["rounds"]),
        (&10.into(), &Value::Null, &1.into())
    );
    assert_eq!(
        (&inner["iterations"], &inner["inside"], &inner["rounds"]),
        (&120.into(), &1.into(), &10.into())
    );
    assert_eq!((&inner["region"], &run.phases["main"]), (&SUM.into(), &1.into()));
}

/// Iterations that exchange first and then compute end with what they compute.
#[test]
fn mpi_alone_iterations_may_end_without_communication() {
    let Some(built) = Built::new("ranks.c", &OPEN_MPI) else { return };
    let run = built.record("exchange_first");
    let it = main_loop(&run.phases).unwrap();
    assert_eq!(
        (&it["iterations"], &it["function"], &it["border"]),
        (&50.into(), &"exchange_first".into(), &"end".into())
    );
}

#[test]
fn alone_iterations_of_threads_are_those_that_they_write_down() {
    let case = |name, number| Case {
        name,
        number,
        region: "pthread_barrier_wait",
        are_parts_alike: true,
        also: nothing,
    };
    each_is_told_right("threads.c", &PLAIN, &[case("steady", 80), case("one_long", 80), case("none", 0)]);
}
