//! Checks of a program without MPI: 20 runs of one version, and versions with one thing changed.

use crate::{Place, Random, holds, is_documented, ms, rows};

/// 2 steps of 100 ms in `solve` and 25 ms in `output`: few and long, for each may be woken late.
const SAME: [&str; 3] = ["100000", "25000", "2"];
/// `solve` takes 10 % longer.
const SLOWER: [&str; 3] = ["110000", "25000", "2"];
/// One step more.
const MORE: [&str; 3] = ["100000", "25000", "3"];

const RUNS: usize = 20;

/// Recorded one after the other, since two at once would not be runs of one kind.
fn recorded() -> Option<Place> {
    let place = Place::new();
    let program = place.build("program", "cc", &[])?;
    let renamed = place.build("renamed", "cc", &["-DSOLVE=solve_all"])?;
    let [program, renamed] = [program, renamed].map(|path| path.to_str().unwrap().to_owned());
    let line = |program: &'_ str, words: [&'static str; 3]| -> Vec<String> {
        [program].iter().chain(&words).map(|word| (*word).to_owned()).collect()
    };
    let record = |name: &str, line: Vec<String>| {
        place.record(name, &line.iter().map(String::as_str).collect::<Vec<_>>());
    };
    for run in 0..RUNS {
        record(&format!("same-{run}.marey"), line(&program, SAME));
        if run < 5 {
            record(&format!("slower-{run}.marey"), line(&program, SLOWER));
        }
    }
    record("more.marey", line(&program, MORE));
    record("renamed.marey", line(&renamed, SLOWER));
    Some(place)
}

fn names(kind: &str, runs: impl IntoIterator<Item = usize>) -> Vec<String> {
    runs.into_iter().map(|run| format!("{kind}-{run}.marey")).collect()
}

/// `marey check --baseline … --candidate …` and other words.
fn check<'a>(baseline: &'a [String], candidate: &'a [String], words: &[&'a str]) -> Vec<&'a str> {
    let names = |runs: &'a [String]| runs.iter().map(String::as_str);
    let candidate = std::iter::once("--candidate").chain(names(candidate));
    ["check", "--baseline"]
        .into_iter()
        .chain(names(baseline))
        .chain(candidate)
        .chain(words.iter().copied())
        .collect()
}

/// All of it in one test: recording is what takes time. Its name puts it among those that run one at a time, so that no
/// MPI job takes its processors. Where other things do, times are taken again: a check rightly says that it cannot tell.
#[test]
fn mpi_alone_jobs_aside_checks_pass_fail_or_cannot_tell() {
    type Part = fn(&Place) -> Result<(), String>;
    // What was right once is.
    let mut parts: Vec<Part> = vec![splits_pass, a_slower_region_fails, differences_are_told];
    for again in 0..MOST {
        let Some(place) = recorded() else { return };
        single_runs_are_judged_by_counts(&place);
        parts.retain(|part| match part(&place) {
            Ok(()) => false,
            Err(why) => {
                eprintln!("again ({again}): {why}");
                true
            }
        });
        if parts.is_empty() {
            return;
        }
    }
    panic!("{} of 3 parts were not right in {MOST} attempts", parts.len());
}

const MOST: usize = 5;

/// 20 runs of one program, 5 against 5: of 100 random splits at least 95 pass, and none fails.
fn splits_pass(place: &Place) -> Result<(), String> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut statuses = [0; 4];
    for _ in 0..100 {
        let mut runs: Vec<usize> = (0..RUNS).collect();
        // The first ten of a shuffle (Fisher and Yates).
        for at in 0..10 {
            let other = at + random.below(RUNS - at);
            runs.swap(at, other);
        }
        let (baseline, candidate) = (names("same", runs[..5].to_vec()), names("same", runs[5..10].to_vec()));
        let (status, _) = place.said(&check(&baseline, &candidate, &[]));
        statuses[usize::try_from(status.unwrap()).unwrap()] += 1;
    }
    eprintln!("of 100 splits {} pass, {} fail, {} have no verdict", statuses[0], statuses[1], statuses[3]);
    holds(statuses[0] >= 95 && statuses[1] == 0, format!("{statuses:?}"))
}

fn a_slower_region_fails(place: &Place) -> Result<(), String> {
    let (baseline, candidate) = (names("same", 0..5), names("slower", 0..5));
    let files = ["--junit", "check.xml", "--markdown", "check.md"];
    let (status, text) = place.said(&check(&baseline, &candidate, &files));
    holds(status == Some(1), &text)?;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let names_it = words.contains("more on the critical path in clock_nanosleep in solve (compared.c:");
    holds(names_it, &text)?;
    let json = place.json(&check(&baseline, &candidate, &["--json"]));
    is_documented("check", &json);
    let metric = &json["metrics"][0];
    // 20 of 250 ms.
    let change = metric["change"].as_f64().unwrap();
    holds((change - 0.08).abs() < 0.02, change)?;
    assert!(metric["lower"].as_f64().unwrap() > 0.05);
    assert_eq!((&json["verdict"], &json["exit_status"]), (&"fail".into(), &1.into()));
    let sentences = json["cause"]["sentences"].to_string();
    assert!(sentences.contains("2 visits as before, each takes"), "{sentences}");
    let xml = std::fs::read_to_string(place.path().join("check.xml")).unwrap();
    for part in ["tests=\"1\" failures=\"1\"", "<failure type=\"slower\"", "in solve (compared.c:"] {
        assert!(xml.contains(part), "{xml}");
    }
    let markdown = std::fs::read_to_string(place.path().join("check.md")).unwrap();
    assert!(
        markdown.starts_with("## ❌ marey check: fail\n") && markdown.contains("| **fail** |"),
        "{markdown}"
    );
    // The same, faster.
    let (status, text) = place.said(&check(&candidate, &baseline, &[]));
    holds(status == Some(0), text)?;
    // Of the region that is slower and of the one that is not.
    let own = [
        "--metric",
        "function(\"solve\").self_time",
        "--metric",
        "output = function(\"output\").self_time > 50%",
    ];
    let json = place.json(&check(&baseline, &candidate, &[&own[..], &["--json"]].concat()));
    let verdicts: Vec<_> = rows(&json["metrics"]).map(|metric| metric["verdict"].as_str().unwrap()).collect();
    holds(verdicts == ["fail", "pass"], format!("{json:#}"))?;
    let place_of = json["metrics"][0]["place"].as_str().unwrap();
    assert!(place_of.contains("clock_nanosleep in solve (compared.c:"), "{place_of}");
    Ok(())
}

fn single_runs_are_judged_by_counts(place: &Place) {
    let [one, slower, more] = [names("same", 0..1), names("slower", 0..1), vec!["more.marey".to_owned()]];
    let verdicts = |candidate: &[String], words: &[&str]| {
        let json = place.json(&check(&one, candidate, &[words, &["--json"]].concat()));
        is_documented("check", &json);
        let metrics: Vec<_> =
            rows(&json["metrics"]).map(|metric| metric["verdict"].as_str().unwrap().to_owned()).collect();
        (json["exit_status"].as_i64().unwrap(), metrics.join(", "))
    };
    let both = ["--metric", "duration", "--metric", "visits"];
    assert_eq!(verdicts(&slower, &[]), (3, "no verdict".to_owned()));
    assert_eq!(verdicts(&slower, &both), (3, "no verdict, pass".to_owned()));
    assert_eq!(verdicts(&more, &both), (1, "no verdict, fail".to_owned()));
    // 6 visits instead of 4.
    assert_eq!(verdicts(&more, &["--metric", "visits"]), (1, "fail".to_owned()));
    assert_eq!(verdicts(&more, &["--metric", "visits > 50%"]), (0, "pass".to_owned()));
    assert_eq!(verdicts(&more, &["--metric", "visits", "--fail-above", "49%"]), (1, "fail".to_owned()));
    assert_eq!(
        verdicts(&one, &["--metric", "region(\"clock_nanosleep\").visits > 0%"]),
        (0, "pass".to_owned())
    );
    let (status, text) = place.said(&check(&one, &slower, &["--junit", "one.xml"]));
    assert_eq!(status, Some(3));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("too few repeats: 1 and 1 runs; 4 of each are needed"), "{text}");
    let xml = std::fs::read_to_string(place.path().join("one.xml")).unwrap();
    assert!(xml.contains("skipped=\"1\"") && xml.contains("<skipped message="), "{xml}");
}

fn differences_are_told(place: &Place) -> Result<(), String> {
    let diff = |other: &str| {
        let json = place.json(&["diff", "same-0.marey", other, "--json"]);
        is_documented("diff", &json);
        json["comparisons"][0].clone()
    };
    let found = diff("renamed.marey");
    let [renamed] = found["renamed"].as_array().unwrap().as_slice() else { panic!("{found:#}") };
    assert_eq!((&renamed["old_function"], &renamed["function"]), (&"solve".into(), &"solve_all".into()));
    assert_eq!(renamed["how"], "neighbours");
    let (old, new) = ms(&found["critical_path"], "solve_all");
    holds((new - old - 20.0).abs() < 8.0, format!("{old} {new}"))?;
    let cause = &found["verdict"]["causes"][0];
    holds(cause["function"] == "solve_all" && cause["old_function"] == "solve", format!("{cause:#}"))?;
    assert_eq!((&cause["old_visits"], &cause["new_visits"]), (&2.0.into(), &2.0.into()));
    let found = diff("more.marey");
    assert_eq!(found["renamed"].as_array().unwrap().len(), 0);
    let cause = &found["verdict"]["causes"][0];
    assert_eq!(
        (&cause["function"], &cause["old_visits"], &cause["new_visits"]),
        (&"solve".into(), &2.0.into(), &3.0.into())
    );
    let sleep = rows(&found["regions"]).find(|row| row["verb"] == "clock_nanosleep").unwrap();
    assert_eq!((&sleep["old_calls"], &sleep["new_calls"]), (&4.into(), &6.into()));
    // Several runs, the base against each.
    let all = place.json(&["diff", "same-0.marey", "same-1.marey", "more.marey", "--json"]);
    let names: Vec<_> = rows(&all["comparisons"]).map(|it| it["run"]["run"].as_str().unwrap()).collect();
    assert_eq!(names, ["same-1.marey", "more.marey"]);
    holds(all["comparisons"][0]["verdict"]["direction"] == "as long", "it is not as long")
}
