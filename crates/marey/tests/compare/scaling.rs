//! `marey scale` on recorded programs whose every part grows by a known law, and on a small run.
//!
//! The one idea: what is predicted of a larger size is held against a recording of that size.

use std::process::Command;

use serde_json::Value;

use crate::{Place, holds, is_documented, rows};

/// Times that a busy machine spoils are taken again.
const MOST: usize = 8;

fn build(place: &Place, compiler: &str, words: &[&str]) -> Option<String> {
    let program = place.build_of("scaled.c", "program", compiler, &[words, &["-lm"]].concat())?;
    Some(program.to_str().unwrap().to_owned())
}

fn scale(place: &Place, runs: &[String], words: &[&str]) -> Value {
    let runs = runs.iter().map(String::as_str);
    let args: Vec<&str> =
        ["scale"].into_iter().chain(runs).chain(words.iter().copied()).chain(["--json"]).collect();
    let json = place.json(&args);
    is_documented("scale", &json);
    json
}

/// The model of a metric of the calls of a region that a function makes.
fn model<'j>(json: &'j Value, function: &str, region: &str, metric: &str) -> &'j Value {
    let is_it = |row: &&Value| {
        row["subject"] == "place"
            && row["function"] == function
            && row["region"] == region
            && row["metric"] == metric
    };
    &rows(&json["models"]).find(is_it).unwrap_or_else(|| panic!("no {metric} of {region} in {function}"))["model"]
}

/// What a run has of a metric, in the calls of a region that a function makes.
fn measured(json: &Value, function: &str, region: &str, metric: &str, run: usize) -> f64 {
    let is_it = |row: &&Value| {
        row["subject"] == "place"
            && row["function"] == function
            && row["region"] == region
            && row["metric"] == metric
    };
    rows(&json["models"]).find(is_it).unwrap()["values"][run].as_f64().unwrap()
}

/// Functions of the ranking, in their order.
fn ranked(json: &Value, functions: &[&str]) -> Vec<String> {
    let names = rows(&json["ranking"]).map(|row| row["function"].as_str().unwrap().to_owned());
    names.filter(|name| functions.contains(&name.as_str())).collect()
}

/// Whether what was measured lies within the error bar.
fn is_within(model: &Value, value: f64) -> Result<(), String> {
    let is_so = model["lower"].as_f64().unwrap() <= value && value <= model["upper"].as_f64().unwrap();
    holds(is_so, format!("{value} is not within {model:#}"))
}

#[test]
fn alone_a_larger_run_is_as_predicted() {
    let place = Place::new();
    let Some(program) = build(&place, "cc", &[]) else { return };
    let mut verdict = Ok(());
    for again in 0..MOST {
        let dir = Place::new();
        for n in [4, 8, 16, 32, 64, 4, 8, 16, 32, 64, 4, 8, 16, 32, 64, 256] {
            let repeat = (0..).find(|repeat| !dir.path().join(name(n, *repeat)).exists()).unwrap();
            dir.record(&name(n, repeat), &[&program, "--n", &n.to_string()]);
        }
        verdict = is_as_predicted(&dir);
        match &verdict {
            Ok(()) => break,
            Err(why) => eprintln!("again ({again}): {why}"),
        }
    }
    assert_eq!(verdict, Ok(()));
}

fn name(n: u32, repeat: u32) -> String {
    format!("n{n}-{repeat}.marey")
}

/// With n from 4 to 64, `solve` takes 2 ms · n, `gather` 20 ms · √n, `setup` 60 ms. At 256 that is 512, 320 and 60 ms;
/// `solve` has most from n = 100 on.
fn is_as_predicted(place: &Place) -> Result<(), String> {
    let runs: Vec<String> =
        [4, 8, 16, 32, 64].iter().flat_map(|n| (0..3).map(|repeat| name(*n, repeat))).collect();
    let found = scale(place, &runs, &["--parameter", "n", "--at", "256"]);
    assert_eq!((&found["parameter"], &found["few_sizes"]), (&"n".into(), &false.into()));
    assert_eq!(found["sizes"], serde_json::json!([4.0, 8.0, 16.0, 32.0, 64.0]));
    // Visits do not depend on the machine: n · log₂ n calls, exactly.
    let visits = model(&found, "exchange", "nanosleep", "visits");
    assert_eq!(visits["growth"], "n·log2(n)");
    assert!((visits["value"].as_f64().unwrap() - 2048.0).abs() < 1e-6, "{visits:#}");
    assert_eq!(model(&found, "setup", "clock_nanosleep", "visits")["growth"], "constant");
    let sleep = |function: &str| model(&found, function, "clock_nanosleep", "path");
    holds(sleep("setup")["growth"] == "constant", sleep("setup"))?;
    let power = |function: &str| {
        let model = sleep(function);
        let over = model["power"][0].as_f64().unwrap() / model["power"][1].as_f64().unwrap();
        (over, model["log"].as_f64().unwrap())
    };
    holds(power("gather") == (0.5, 0.0), sleep("gather"))?;
    holds(power("solve") == (1.0, 0.0), sleep("solve"))?;
    let order = ranked(&found, &["solve", "gather", "setup"]);
    holds(order == ["solve", "gather", "setup"], format!("{order:?}"))?;
    let text = found["text"].to_string();
    assert!(text.contains("clock_nanosleep in solve (scaled.c:"), "{text}");
    let from: f64 = text.split("from n = ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    holds((90.0..=110.0).contains(&from), &text)?;
    // The run that was predicted.
    let large = scale(place, &[name(256, 0), name(64, 0)], &["--parameter", "n=256,64"]);
    for function in ["solve", "gather", "setup"] {
        is_within(sleep(function), measured(&large, function, "clock_nanosleep", "path", 0))?;
    }
    assert!((measured(&large, "exchange", "nanosleep", "visits", 0) - 2048.0).abs() < 1e-9);
    let total = rows(&found["totals"]).find(|row| row["metric"] == "path").unwrap();
    let duration = large["runs"][0]["duration_ns"].as_f64().unwrap() / 1e9;
    is_within(total, duration)?;
    // Of two sizes nothing is predicted.
    assert_eq!(large["ranking"], serde_json::json!([]));
    Ok(())
}

#[test]
fn mpi_alone_more_ranks_are_as_predicted() {
    let place = Place::new();
    let Some(program) = build(&place, "mpicc.openmpi", &["-DWITH_MPI"]) else { return };
    let mut verdict = Ok(());
    for again in 0..MOST {
        let dir = Place::new();
        for ranks in ["1", "2", "3", "4", "6", "8"] {
            let line = ["mpirun.openmpi", "--oversubscribe", "-n", ranks, &program];
            dir.record(&format!("p{ranks}.marey"), &line);
        }
        verdict = ranks_are_as_predicted(&dir);
        match &verdict {
            Ok(()) => break,
            Err(why) => eprintln!("again ({again}): {why}"),
        }
    }
    assert_eq!(verdict, Ok(()));
}

/// Rank 0 sets up for 180 ms, all solve for 1200 ms / n and gather for 120 ms · √n: with 8 ranks 180, 150, 339 ms.
fn ranks_are_as_predicted(place: &Place) -> Result<(), String> {
    let runs: Vec<String> = [1, 2, 3, 4, 6].iter().map(|n| format!("p{n}.marey")).collect();
    let found = scale(place, &runs, &["--at", "8"]);
    assert_eq!(found["parameter"], "ranks");
    // 10 · log₂ n calls of each rank, rounded; two barriers of each.
    let barriers = model(&found, "meet", "MPI_Barrier", "visits");
    assert_eq!((&barriers["growth"], &barriers["value"]), (&"n".into(), &16.0.into()));
    assert_eq!(model(&found, "exchange", "MPI_Sendrecv", "visits")["growth"], "n·log2(n)");
    let order = ranked(&found, &["setup", "solve", "gather"]);
    holds(order == ["gather", "setup", "solve"], format!("{order:?}"))?;
    let path = |function: &str| model(&found, function, "clock_nanosleep", "path");
    holds(path("setup")["growth"] == "constant", path("setup"))?;
    holds(path("solve")["growth"] == "n^-1", path("solve"))?;
    let large = scale(place, &["p8.marey".to_owned(), "p6.marey".to_owned()], &[]);
    for function in ["gather", "setup", "solve"] {
        let value = measured(&large, function, "clock_nanosleep", "path", 0);
        let bar = path(function);
        // A part that was never disturbed has no bar at all; a clock tick is not held against it.
        let near = (bar["value"].as_f64().unwrap() - value).abs() < 0.01 * value;
        if !near {
            is_within(bar, value)?;
        }
    }
    // Of 180 + 1200 + 120 ms useful with one rank; with n, 180 + 1200 + 120 · n · √n.
    let mut scalability = Vec::new();
    for row in rows(&found["efficiencies"]) {
        let n = row["size"].as_f64().unwrap();
        assert_eq!(row["locations"].as_f64().unwrap(), n);
        let expected = 1500.0 / (1380.0 + 120.0 * n * n.sqrt());
        let known = row["scalability"].as_f64().unwrap();
        scalability.push((known - expected).abs());
        let product = known * row["parallel"].as_f64().unwrap();
        assert!((row["global"].as_f64().unwrap() - product).abs() < 1e-9);
    }
    holds(scalability.iter().all(|off| *off < 0.02), format!("{scalability:?}"))?;
    // Weak: each has the same work, which is n times as much.
    let weak = scale(place, &runs, &["--weak"]);
    for (row, strong) in rows(&weak["efficiencies"]).zip(rows(&found["efficiencies"])) {
        let n = row["size"].as_f64().unwrap();
        let ratio = row["scalability"].as_f64().unwrap() / strong["scalability"].as_f64().unwrap();
        assert!((ratio - n).abs() < 1e-9);
    }
    Ok(())
}

fn with_runs(n: usize) -> (Place, Vec<String>) {
    let place = Place::new();
    let runs: Vec<String> = (1..=n).map(|run| format!("{run}.marey")).collect();
    runs.iter().zip(0..).for_each(|(run, number)| super::write_repeat(&place.path().join(run), number));
    (place, runs)
}

fn said(place: &Place, runs: &[String], words: &[&str]) -> (Option<i32>, String) {
    let args: Vec<&str> =
        ["scale"].into_iter().chain(runs.iter().map(String::as_str)).chain(words.iter().copied()).collect();
    place.said(&args)
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same run at all sizes does not change with the size.
#[test]
fn the_same_run_is_constant() {
    let (place, runs) = with_runs(5);
    let found = scale(&place, &runs, &["--parameter", "n=1,2,4,8,16"]);
    let models: Vec<&Value> = rows(&found["models"]).filter(|row| !row["model"].is_null()).collect();
    assert!(10 < models.len());
    assert!(models.iter().all(|row| row["model"]["growth"] == "constant"), "{found:#}");
    assert_eq!((&found["at"], &found["by"]), (&64.0.into(), &"path".into()));
    let shares: f64 = rows(&found["ranking"]).map(|row| row["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let total = rows(&found["totals"]).find(|row| row["metric"] == "path").unwrap();
    assert!((total["value"].as_f64().unwrap() - 0.1).abs() < 1e-9, "{total:#}");
    let (_, text) = said(&place, &runs, &["--parameter", "n=1,2,4,8,16", "--at", "65"]);
    assert!(joined(&text).contains("n = 65 is far from what was measured"), "{text}");
    assert!(joined(&text).contains("so there is no computation scalability"), "{text}");
}

#[test]
fn few_sizes_are_told() {
    let (place, runs) = with_runs(4);
    let (status, text) = said(&place, &runs[..2], &["--parameter", "n=1,2"]);
    assert_eq!(status, Some(0));
    assert!(joined(&text).contains("2 sizes are too few for a model"), "{text}");
    assert!(text.contains("MEASURED") && !text.contains("PREDICTION"), "{text}");
    // Ranks are the same everywhere: one size.
    let (_, text) = said(&place, &runs, &[]);
    assert!(joined(&text).contains("1 size is too few for a model"), "{text}");
    let (_, text) = said(&place, &runs[..3], &["--parameter", "n=1,2,3"]);
    assert!(joined(&text).contains("Only 3 sizes were measured"), "{text}");
    assert!(scale(&place, &runs, &["--parameter", "n=1,2,3,4"])["few_sizes"].as_bool().unwrap());
}

#[test]
fn wrong_usage_is_told_with_its_remedy() {
    let (place, _) = with_runs(3);
    let runs = ["1.marey", "2.marey", "3.marey"];
    let cases: [(&[&str], &str); 11] = [
        (&["--parameter", "n=1,2"], "has 2 values for 3 runs"),
        (&["--parameter", "n=1,2,x"], "`x` is not a number above 0"),
        (&["--parameter", "n=1,2,0"], "`0` is not a number above 0"),
        (&["--parameter", "cells"], "1.marey does not say what `cells` is"),
        (&["--parameter", "=1,2,3"], "the name is empty"),
        (&["--parameter", "n=1,2,3", "--at", "0"], "not a number above 0"),
        (&["--by", "speed"], "invalid value 'speed'"),
        (&["--rows", "paths", "--by", "waiting"], "is not known of call paths"),
        (&["--metric", "tmie"], "did you mean `time`?"),
        (&["--top", "0"], "not a number of 1 or more"),
        (&["4.marey"], "there is no run at 4.marey"),
    ];
    for (words, expected) in cases {
        let output = place.marey(&[&["scale"], &runs[..], words].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(expected), "{words:?}: {text}");
    }
    let output = place.marey(&["scale", "1.marey"]);
    assert_eq!(output.status.code(), Some(2));
    let output = place.marey(&[&["scale"], &runs[..], &["--export", "no/such/place.jsonl"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write no/such/place.jsonl"));
}

/// What Extra-P reads: worked out by hand from the sums of the small run.
#[test]
fn values_are_exported_for_extra_p() {
    let (place, runs) = with_runs(3);
    let words = ["--parameter", "n=1,2,2.5", "--export", "out.jsonl", "--metric", "part = mpi_time / time"];
    assert_eq!(said(&place, &runs, &words).0, Some(0));
    let text = std::fs::read_to_string(place.path().join("out.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |end: &str, metric: &str| -> Vec<(Value, f64)> {
        let rows = lines
            .iter()
            .filter(|line| line["callpath"].as_str().unwrap().ends_with(end) && line["metric"] == metric);
        rows.map(|line| (line["params"]["n"].clone(), line["value"].as_f64().unwrap())).collect()
    };
    let at = |value: f64| vec![(Value::from(1), value), (Value::from(2), value), (Value::from(2.5), value)];
    // Two ranks wait 10 and 30 ms in the barrier, and call it once each.
    assert_eq!(of("->MPI_Barrier", "time"), at(0.04));
    assert_eq!(of("->MPI_Barrier", "time_per_rank"), at(0.02));
    assert_eq!(of("->MPI_Barrier", "visits"), at(2.0));
    assert_eq!(of("->MPI_Send", "bytes"), at(4160.0));
    assert_eq!(of("run", "part"), at(0.3));
    // Each call path and metric has a value of each run, no more and no less.
    let mut keys: Vec<String> =
        lines.iter().map(|line| format!("{} {}", line["callpath"], line["metric"])).collect();
    keys.sort();
    assert!(keys.chunk_by(|a, b| a == b).all(|same| same.len() == 3), "{keys:?}");
    // A path is its callers and regions, root first; of places there is what paths have not.
    let callpaths = |metric: &str, region: &str| -> Vec<usize> {
        let rows = lines.iter().filter(|line| line["metric"] == metric).map(|line| &line["callpath"]);
        let names = rows.map(|name| name.as_str().unwrap()).filter(|name| name.ends_with(region));
        names.map(|name| name.split("->").count()).collect()
    };
    assert_eq!(callpaths("visits", "->MPI_Send"), [3, 3, 3]);
    assert_eq!(callpaths("path", "->MPI_Send"), [2, 2, 2]);
}

#[test]
fn scaling_fits_a_page_and_a_narrow_terminal() {
    let (place, runs) = with_runs(6);
    let metric = "a name that is rather long = region(\"MPI_Send\").time / duration";
    for more in [&["--rows", "places"][..], &["--rows", "regions", "--by", "visits"], &["--rows", "paths"]] {
        for width in [None, Some(40), Some(60), Some(80)] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
            command.arg("scale").args(&runs).args([
                "--parameter",
                "n=1,2,4,8,16,1000000",
                "--metric",
                metric,
            ]);
            command.args(more).current_dir(place.path()).env_remove("COLUMNS");
            if let Some(width) = width {
                command.env("COLUMNS", width.to_string());
            }
            let output = command.output().unwrap();
            assert!(output.status.success());
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let most = width.unwrap_or(140);
                assert!(line.chars().count() <= most, "{more:?} at {width:?}: {line}");
            }
        }
    }
}
