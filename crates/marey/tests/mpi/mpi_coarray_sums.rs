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
    of_levels(&run);
    // A barrier is what `sync all` says. Windows are made for what is allocated, 8 on each image, for which all have to come
    // together: nobody asked for that, nor for the barrier before the end.
    let mappings = [
        ("sync all", "MPI_Barrier", "explicit", 8 * 3),
        ("sync all (implied)", "MPI_Barrier", "explicit", 3),
        ("allocate", "MPI_Win_allocate", "implicit", 8 * 3),
        ("finalise", "MPI_Barrier", "implicit", 3),
        ("form team", "MPI_Comm_split", "implicit", 3),
    ];
    expect_mappings(&run, &mappings);
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

/// A row of the profile: its call path, and what that took.
struct Visited {
    path: usize,
    visits: i64,
    inclusive: i64,
}

fn profile(run: &Run) -> Vec<Visited> {
    let profile = run.table("profile");
    let row = |row: usize| {
        let number = |column| profile.i64(column).unwrap()[row];
        Visited {
            path: profile.u32("call_path").unwrap()[row] as usize,
            visits: number("visits"),
            inclusive: number("inclusive"),
        }
    };
    (0..profile.len()).map(row).collect()
}

/// Level and verb of each call path, and the one above.
fn path_names(run: &Run) -> Vec<(String, String, Option<usize>)> {
    let [regions, paths] = ["regions", "call_paths"].map(|name| run.table(name));
    let parents = paths.u32("parent").unwrap().iter();
    let row = |(region, parent): (&u32, &u32)| {
        let of = |column| regions.text(column).unwrap()[*region as usize].clone();
        (of("level"), of("verb"), (*parent != u32::MAX).then_some(*parent as usize))
    };
    paths.u32("region").unwrap().iter().zip(parents).map(row).collect()
}

/// A time as reports have it, with three digits.
fn nanos(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap();
    let unit = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => panic!("{text}"),
    };
    unit * number.parse::<f64>().unwrap()
}

/// What levels cost: the table is that of sums over the profile.
fn of_levels(run: &Run) {
    let (rows, names) = (profile(run), path_names(run));
    // Whether a call path has one of this level above it.
    let is_beneath = |level: &str, path: usize| {
        let mut above = names[path].2;
        while let Some(path) = above {
            if names[path].0 == level {
                return true;
            }
            above = names[path].2;
        }
        false
    };
    let table = run.text("report", &["--by", "level"]);
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in table.lines().skip_while(|line| !line.trim_start().starts_with("level ")).skip(1) {
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        if let [level, rest @ ..] = &cells[..] {
            found.insert(level, rest.to_vec());
        }
    }
    let report = run.json("report");
    let regions = report["regions"].as_array().unwrap();
    let of_ns = ask(run, &["--level", "coarray"])["of_ns"].as_f64().unwrap();
    let is_near = |told: &str, sum: f64| (nanos(told) - sum).abs() <= 0.006 * sum + 1.0;
    let mut of_all = 0.0;
    assert!(found.contains_key("coarray") && found.contains_key("mpi"), "{table}");
    for (level, cells) in &found {
        let [visits, time, share, own, beneath @ ..] = &cells[..] else { panic!("{table}") };
        let rows: Vec<&Visited> = rows.iter().filter(|row| names[row.path].0 == *level).collect();
        let sum: i64 = rows.iter().map(|row| row.visits).sum();
        // Thousands stand apart.
        let digits: String = visits.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, sum.to_string(), "{level}");
        // Its own time is that of its regions without all that lies beneath.
        let exclusive =
            regions.iter().filter(|it| it["level"] == *level).map(|it| it["exclusive_ns"].as_f64().unwrap());
        let exclusive: f64 = exclusive.sum();
        assert!(is_near(own, exclusive), "{level}: {own}, not {exclusive} ns: {table}");
        of_all += exclusive;
        // All of it is that of its outermost regions.
        let outermost = rows.iter().filter(|row| !is_beneath(level, row.path));
        let outermost = outermost.map(|row| row.inclusive).sum::<i64>() as f64;
        assert!(is_near(time, outermost), "{level}: {time}, not {outermost} ns: {table}");
        let percent: f64 = share.trim_end_matches('%').trim().parse().unwrap();
        assert!(
            (percent - 100.0 * outermost / of_ns).abs() <= 0.051,
            "{level}: {share} of {of_ns} ns: {table}"
        );
        // What is not its own is what other levels take beneath.
        let beneath = beneath
            .first()
            .map_or(0.0, |told| told.split(", ").map(|it| nanos(it.split_once(' ').unwrap().1)).sum());
        assert!((outermost - exclusive - beneath).abs() <= 0.006 * outermost + 1.0, "{level}: {table}");
    }
    // Some of what coarrays do lies in others of their own, which must not count twice.
    let inner = rows.iter().filter(|row| names[row.path].0 == "coarray" && is_beneath("coarray", row.path));
    assert!(inner.map(|row| row.inclusive).sum::<i64>() as f64 > 0.01 * of_all);
    // Together levels have all time of threads but that between outermost regions, which is the program's own.
    let (locations, intervals) = (run.table("locations"), run.table("intervals"));
    let number = |column| intervals.i64(column).unwrap();
    let mut covered = 0;
    let mut of_threads = 0;
    for (id, (start, end)) in
        locations.i64("start").unwrap().iter().zip(locations.i64("end").unwrap()).enumerate()
    {
        of_threads += end - start;
        let is_outermost = |row: &usize| {
            intervals.u32("location").unwrap()[*row] as usize == id
                && intervals.u32("depth").unwrap()[*row] == 0
        };
        // They follow each other within the life of the thread.
        let mut at = *start;
        for row in (0..intervals.len()).filter(is_outermost) {
            assert!(at <= number("start")[row], "{row}");
            at = number("start")[row] + number("duration")[row];
            covered += number("duration")[row];
        }
        assert!(at <= *end);
    }
    assert_eq!((of_all, of_ns), (covered as f64, of_threads as f64));
    assert!(covered < of_threads);
}

/// Fails unless these are in the table of what serves what: verbs, the kind, and how often. Number and time are those of
/// visits one by one; the table has them from sums.
pub(crate) fn expect_mappings(run: &Run, expected: &[(&str, &str, &str, i64)]) {
    let [mappings, regions] = ["mappings", "regions"].map(|name| run.table(name));
    let verb = |region: u32| &regions.text("verb").unwrap()[region as usize];
    let mut told: BTreeMap<(&str, &str, &str), (i64, i64)> = BTreeMap::new();
    for row in 0..mappings.len() {
        let [upper, lower] =
            ["upper", "lower"].map(|column| verb(mappings.u32(column).unwrap()[row]).as_str());
        let sum = told.entry((upper, lower, &mappings.text("kind").unwrap()[row])).or_default();
        sum.0 += mappings.i64("visits").unwrap()[row];
        sum.1 += mappings.i64("time").unwrap()[row];
    }
    let names = path_names(run);
    // Number of visits whose nearest above of another level is this, and what they took without what lies in them.
    let served = |upper: &str, lower: &str| -> (i64, i64) {
        let mut nearest: Vec<Option<usize>> = Vec::new();
        for (level, _, above) in &names {
            let up = above.and_then(|up| if names[up].0 == *level { nearest[up] } else { Some(up) });
            nearest.push(up);
        }
        let is = |path: usize| names[path].1 == lower && nearest[path].is_some_and(|up| names[up].1 == upper);
        let (mut visits, mut time) = (0, 0);
        for (path, duration) in intervals(run) {
            if is(path) {
                (visits, time) = (visits + 1, time + duration);
            }
            if names[path].2.is_some_and(is) {
                time -= duration;
            }
        }
        (visits, time)
    };
    for (upper, lower, kind, visits) in expected.iter().copied() {
        let found = served(upper, lower);
        assert_eq!(found.0, visits, "{lower} for {upper}");
        assert!(found.1 > 0, "{lower} for {upper}");
        assert_eq!(told.get(&(upper, lower, kind)), Some(&found), "{lower} for {upper}: {told:#?}");
    }
}

/// Call path and duration of each visit.
fn intervals(run: &Run) -> Vec<(usize, i64)> {
    let intervals = run.table("intervals");
    let paths = intervals.u32("call_path").unwrap().iter();
    paths.zip(intervals.i64("duration").unwrap()).map(|(path, time)| (*path as usize, *time)).collect()
}
