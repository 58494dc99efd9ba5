//! Coarray Fortran: what is said of arrays, of sentences, of levels and of what serves what adds up.
//!
//! The one idea: arrays are told from single accesses, sentences and levels from the profile; so what both say of a line is
//! compared, and what they say of the whole with sums over the tables of the archive that are made here.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::mpi_coarrays::{line_of, program};
use crate::support::{Job, Mpi, Place, Run, need};

fn ask(run: &Run, options: &[&str]) -> Value {
    let words: Vec<&str> = options.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&run.text("sentence", &words)).unwrap()
}

/// What is said of a verb at a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Said {
    times: u64,
    bytes: u64,
    time: u64,
}

/// Fails unless what is said of lines with arrays is what is said of lines with sentences; `without` are visits that act
/// on no array, by verb and line.
pub(crate) fn expect_lines_agree(run: &Run, arrays: &Value, without: &[(&str, u64, u64)]) {
    let mut by_array: BTreeMap<(String, u64), Said> = BTreeMap::new();
    for statement in
        arrays["arrays"].as_array().unwrap().iter().flat_map(|it| it["statements"].as_array().unwrap())
    {
        let key = (statement["verb"].as_str().unwrap().to_owned(), statement["line"].as_u64().unwrap());
        let number = |field: &str| statement[field].as_u64().unwrap();
        let said = by_array.entry(key).or_default();
        said.times += number("accesses");
        // What is made moves nothing, however large it is.
        said.bytes += if statement["sections"].is_null() { 0 } else { number("bytes") };
        said.time += number("time_ns");
    }
    let mut verbs: Vec<String> = by_array.keys().map(|(verb, _)| verb.clone()).collect();
    verbs.dedup();
    let mut agreed = 0;
    for verb in verbs.iter().map(String::as_str) {
        let sentences = ask(run, &["--level", "coarray", "--verb", verb, "--by", "line"]);
        // Each visit of this one reads from an image and writes to one, and so counts for both.
        let sides = if verb == "sendget" { 2 } else { 1 };
        for group in sentences["groups"].as_array().unwrap() {
            let line: u64 = group["name"].as_str().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();
            let number = |field: &str| group[field].as_u64().unwrap();
            let mut others = without.iter().filter(|it| (it.0, it.1) == (verb, line));
            let others = others.next().map_or(0, |it| it.2);
            let visits = number("visits") - others;
            let Some(said) = by_array.remove(&(verb.to_owned(), line)) else {
                assert_eq!(visits, 0, "{verb} at {line} is not said of any array");
                continue;
            };
            assert_eq!((said.times, said.bytes), (sides * visits, number("bytes")), "{verb} at {line}");
            match others {
                0 => assert_eq!(said.time, sides * number("time_ns"), "{verb} at {line}"),
                _ => assert!(said.time < number("time_ns"), "{verb} at {line}"),
            }
            agreed += 1;
        }
    }
    assert!(by_array.is_empty(), "of arrays only: {by_array:#?}");
    assert!(agreed > 0);
}

#[test]
fn sentences_add_up_and_what_lies_beneath_is_theirs() {
    let program = need!(program(Mpi::Open), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(Mpi::Open, 3, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let sum = |rows: &Value| -> i64 {
        rows.as_array().unwrap().iter().map(|row| row["time_ns"].as_i64().unwrap()).sum()
    };
    for asked in [
        &["--level", "coarray"][..],
        &["--level", "coarray", "--verb", "get"],
        &["--noun", "grid"],
        &["--level", "mpi", "--under", "coarray:get grid"],
        &["--level", "mpi", "--verb", "MPI_*", "--under", "coarrays", "--under", "coarray:"],
    ] {
        let whole = ask(&run, asked);
        let time = whole["time_ns"].as_i64().unwrap();
        assert!(time > 0, "{asked:?} {whole:#}");
        assert_eq!(sum(&whole["shares"]), time, "{asked:?}");
        // However they are told apart, the same.
        for by in ["line", "noun", "verb", "rank"] {
            let groups = ask(&run, &[asked, &["--by", by]].concat());
            assert_eq!(sum(&groups["groups"]), time, "{asked:?} by {by}");
        }
        assert_eq!(sum(&ask(&run, &[asked, &["--by", "time"]].concat())["spans"]), time, "{asked:?}");
    }
    // Arrays and statements: the rows of each array sum to what it took, and those of each line to what its sentence took.
    let arrays: Value = serde_json::from_str(&run.text("arrays", &["--json"])).unwrap();
    for array in arrays["arrays"].as_array().unwrap() {
        let own = array["access_ns"].as_i64().unwrap() + array["manage_ns"].as_i64().unwrap();
        assert_eq!(sum(&array["statements"]), own, "{array:#}");
    }
    // With the static array of a type its allocatable component is announced, which is no array yet.
    expect_lines_agree(&run, &arrays, &[("allocate", line_of("end module shared"), 3)]);
    of_gets(&run);
}

/// What lies beneath the gets of an array, whether it is what they say, and what that is.
fn of_gets(run: &Run) {
    // 5 gets of `grid` took 67 MPI_Get, each within a lock.
    for (verb, class, is_explicit) in [
        ("MPI_Get", "communication", true),
        ("MPI_Win_lock", "waiting", false),
        ("MPI_Win_unlock", "waiting", false),
    ] {
        let calls = ask(run, &["--level", "mpi", "--verb", verb, "--under", "coarray:get grid"]);
        assert_eq!(calls["visits"], 67, "{verb}");
        // Files and the like that MPI uses beneath are other levels.
        let shares = calls["shares"].as_array().unwrap().iter().filter(|it| it["level"] == "mpi");
        let shares: Vec<_> = shares.map(|it| (&it["class"], &it["is_explicit"], &it["visits"])).collect();
        assert_eq!(shares, [(&class.into(), &is_explicit.into(), &67.into())], "{verb}");
    }
    let of_grid = ask(run, &["--level", "coarray", "--verb", "get", "--noun", "grid"]);
    assert_eq!(of_grid["visits"], 5);
    assert_eq!(of_grid["bytes"], 480 + 24 + 32);
}
