//! Differences of MPI programs: between 2 and 4 ranks, and between versions with renamed functions.

use serde_json::Value;

use crate::{Place, holds, is_documented, ms, rows};

const LAUNCHER: [&str; 3] = ["mpirun.openmpi", "--oversubscribe", "-n"];

fn record(dir: &Place, built: &Place, name: &str, ranks: &str, program: &str, words: &[&str]) {
    let program = built.path().join(program);
    let line = [&LAUNCHER[..], &[ranks, program.to_str().unwrap()], words].concat();
    dir.record(name, &line);
}

fn diff(place: &Place, base: &str, other: &str) -> Value {
    let json = place.json(&["diff", base, other, "--json"]);
    is_documented("diff", &json);
    json["comparisons"][0].clone()
}

/// 10 steps of 40 ms, divided among the ranks, and 2 ms of output.
const STEPS: [&str; 3] = ["40000", "2000", "10"];

#[test]
fn mpi_alone_two_ranks_and_four_and_a_renamed_function_are_told_right() {
    let place = Place::new();
    let renamed = ["-DWITH_MPI", "-DSOLVE=solve_all", "-DHALO=swap"];
    let built = [("program", &["-DWITH_MPI"][..]), ("renamed", &renamed)];
    for (name, words) in built {
        if place.build(name, "mpicc.openmpi", words).is_none() {
            return;
        }
    }
    let mut verdict = Ok(());
    for again in 0..MOST {
        let dir = Place::new();
        let run = |name: &str, ranks: &str, program: &str, words: &[&str]| {
            record(&dir, &place, name, ranks, program, words);
        };
        run("two.marey", "2", "program", &STEPS);
        run("four.marey", "4", "program", &[&STEPS[..], &["3", "8000"]].concat());
        run("late.marey", "2", "renamed", &[&STEPS[..], &["1", "8000"]].concat());
        verdict = two_and_four_ranks(&dir).and_then(|()| renamed_and_late(&dir));
        match &verdict {
            Ok(()) => break,
            Err(why) => eprintln!("again ({again}): {why}"),
        }
    }
    assert_eq!(verdict, Ok(()));
}

/// Times that a busy machine spoils are taken again.
const MOST: usize = 8;

/// With 2 ranks each solves 20 ms a step, with 4 10 ms, but for rank 3, which takes 8 ms more: the others wait for it.
fn two_and_four_ranks(place: &Place) -> Result<(), String> {
    let found = diff(place, "two.marey", "four.marey");
    assert_eq!(found["basis"], "means");
    assert_eq!((&found["run"]["processes"], &found["run"]["ranks"]), (&4.into(), &4.into()));
    assert_eq!(found["renamed"].as_array().unwrap().len(), 0, "{:#}", found["renamed"]);
    let near = |found: f64, expected: f64| (found - expected).abs() < 0.15 * expected + 5.0;
    let (old, new) = ms(&found["critical_path"], "solve");
    holds(near(old, 200.0) && near(new, 180.0), format!("on the path: {old} {new}"))?;
    // Three ranks wait 10 times 8 ms each.
    let (old, new) = ms(&found["waits"], "halo");
    holds(old < 30.0 && near(new, 240.0), format!("waiting: {old} {new}"))?;
    let (_, new) = ms(&found["delays"], "solve");
    holds(near(new, 240.0), format!("delay costs: {new}"))?;
    // Sums of calls: as often for each rank.
    let barrier = rows(&found["regions"]).find(|row| row["verb"] == "MPI_Barrier").unwrap();
    assert_eq!((&barrier["old_calls"], &barrier["new_calls"]), (&20.into(), &40.into()));
    let (_, text) = place.said(&["diff", "two.marey", "four.marey"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("four.marey (4 processes) takes") && words.contains("two.marey (2 processes)"),
        "{text}"
    );
    assert!(words.contains("mean of a process"), "{text}");
    // Calls of a rank are as many as before.
    assert!(words.contains("or moved more or less data, mean of a process none of"), "{text}");
    Ok(())
}

/// Rank 1 takes 8 ms longer in each step, in functions with other names.
fn renamed_and_late(place: &Place) -> Result<(), String> {
    let found = diff(place, "two.marey", "late.marey");
    let renamed: Vec<String> = rows(&found["renamed"])
        .map(|pair| {
            format!("{} {}", pair["old_function"].as_str().unwrap(), pair["function"].as_str().unwrap())
        })
        .collect();
    assert_eq!(renamed, ["halo swap", "solve solve_all"]);
    // What takes its time may be hidden by what the machine adds elsewhere, in MPI_Init above all.
    let causes = || rows(&found["verdict"]["causes"]);
    let Some(cause) = causes().find(|cause| cause["function"] == "solve_all") else {
        return Err(format!("it is no cause: {:#}", found["verdict"]));
    };
    assert_eq!((&cause["region"], &cause["old_function"]), (&"clock_nanosleep".into(), &"solve".into()));
    assert_eq!((&cause["old_visits"], &cause["new_visits"]), (&20.0.into(), &20.0.into()));
    let difference = (cause["new_ns"].as_f64().unwrap() - cause["old_ns"].as_f64().unwrap()) / 1e6;
    let share = cause["share"].as_f64().unwrap_or_default();
    let is_right =
        (difference - 80.0).abs() < 15.0 && share > 0.7 && cause["ranks"] == serde_json::json!([1]);
    holds(is_right, format!("{cause:#}"))?;
    assert_eq!((&cause["share_region"], &cause["share_function"]), (&"MPI_Barrier".into(), &"swap".into()));
    holds(found["verdict"]["direction"] == "longer", "the run is not longer")
}
