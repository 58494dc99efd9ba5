//! Rules that say of which regions less is recorded: every call path has the visits that the program counted
//! itself, times add up, and pairs of messages are those that the program made.

use std::collections::BTreeMap;
use std::path::Path;

use marey_model::{Detail, Rules};

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

/// Visits by rank and call path, `r0/r3/MPI_Barrier`.
type Visits = BTreeMap<(i64, String), u64>;

/// What the program has written down, of regions that are all recorded.
fn truth(dir: &Path) -> Visits {
    let mut visits = Visits::new();
    for rank in 0..2 {
        let text = std::fs::read_to_string(dir.join(format!("truth.{rank}"))).unwrap();
        for line in text.lines() {
            let (path, number) = line.split_once(' ').unwrap();
            visits.insert((rank, path.to_owned()), number.parse().unwrap());
        }
    }
    visits
}

fn detail(rules: &Rules, name: &str) -> Detail {
    let level = if name.starts_with("MPI_") { "mpi" } else { "source" };
    rules.detail(level, name, "rules.c").unwrap_or(Detail::Trace)
}

/// Calls that begin or complete an operation are recorded whatever rules say.
const OPERATIONS: [&str; 3] = ["MPI_Isend", "MPI_Irecv", "MPI_Waitall"];

/// What is to be left of it: regions that are not timed are on no call path.
fn expected(truth: &Visits, rules: &Rules) -> Visits {
    let mut visits = Visits::new();
    for ((rank, path), number) in truth {
        let mut names: Vec<&str> = path.split('/').collect();
        let last = names.pop().unwrap();
        if detail(rules, last) == Detail::Off && !OPERATIONS.contains(&last) {
            continue;
        }
        names.retain(|name| matches!(detail(rules, name), Detail::Time | Detail::Trace));
        names.push(last);
        *visits.entry((*rank, names.join("/"))).or_default() += number;
    }
    visits
}

/// What is there of the calls that the program counts.
fn recorded(run: &Run) -> Visits {
    let (profile, paths, regions) = (run.table("profile"), run.table("call_paths"), run.table("regions"));
    let locations = run.table("locations");
    let mut visits = Visits::new();
    for row in 0..profile.len() {
        let mut names = Vec::new();
        let mut path = profile.u32("call_path").unwrap()[row];
        while path != u32::MAX {
            let region = paths.u32("region").unwrap()[path as usize] as usize;
            let (verb, noun) =
                (&regions.text("verb").unwrap()[region], &regions.text("noun").unwrap()[region]);
            names.insert(0, if verb.starts_with("MPI_") { verb.clone() } else { noun.clone() });
            path = paths.u32("parent").unwrap()[path as usize];
        }
        let rank = locations.i64("rank").unwrap()[profile.u32("location").unwrap()[row] as usize];
        let number = profile.i64("visits").unwrap()[row].cast_unsigned();
        if number > 0 {
            *visits.entry((rank, names.join("/"))).or_default() += number;
        }
    }
    let uncounted = ["MPI_Init", "MPI_Comm_rank", "MPI_Finalize"];
    visits.retain(|(_, path), _| !uncounted.contains(&path.as_str()));
    visits
}

/// Time in call paths themselves, and in the outermost ones with all that is beneath, ns.
fn times(run: &Run) -> (i64, i64) {
    let (profile, paths, regions) = (run.table("profile"), run.table("call_paths"), run.table("regions"));
    let exclusive = profile.i64("exclusive").unwrap();
    let is_outermost = |row: usize| {
        paths.u32("parent").unwrap()[profile.u32("call_path").unwrap()[row] as usize] == u32::MAX
    };
    // What is together lies inside others.
    let is_one = |row: usize| {
        let path = profile.u32("call_path").unwrap()[row] as usize;
        regions.text("verb").unwrap()[paths.u32("region").unwrap()[path] as usize] != "(other paths)"
    };
    let outermost = (0..profile.len()).filter(|&row| is_outermost(row) && is_one(row));
    (exclusive.iter().sum(), outermost.map(|row| profile.i64("inclusive").unwrap()[row]).sum())
}

/// No call path has lost more time than it had.
fn expect_none_negative(run: &Run) {
    let problems = run.table("problems");
    let is_negative = |row: &usize| problems.text("kind").unwrap()[*row] == "negative";
    let negative: Vec<_> =
        (0..problems.len()).filter(is_negative).map(|row| &problems.text("detail").unwrap()[row]).collect();
    assert!(negative.is_empty(), "{negative:?}");
}

/// Pairs of messages; fails if one is wrong. The k-th place of an array is where the k-th message is from or to.
fn right_pairs(run: &Run) -> usize {
    let stdout = run.stdout();
    let place = |rank: i64| -> i64 {
        let begin = format!("rank {rank}: places from ");
        stdout.lines().find_map(|line| line.strip_prefix(&begin)).unwrap().parse().unwrap()
    };
    let messages = run.table("messages");
    let ranks = run.table("locations").i64("rank").unwrap().to_vec();
    let mut pairs = 0;
    for row in 0..messages.len() {
        let end = |location: &str, buffer: &str| {
            let location = *ranks.get(messages.u32(location).unwrap()[row] as usize)?;
            Some((messages.i64(buffer).unwrap()[row] - place(location)) / 8)
        };
        if let (Some(from), Some(to)) =
            (end("send_location", "send_buffer"), end("recv_location", "recv_buffer"))
        {
            assert_eq!(from + 1, to, "row {row}");
            pairs += 1;
        }
    }
    pairs
}

fn messages_by_report(run: &Run) -> u64 {
    let report = run.json("report");
    report["communication"].as_array().unwrap().iter().map(|row| row["messages"].as_u64().unwrap()).sum()
}

fn program(mpi: Mpi) -> Option<std::path::PathBuf> {
    let include = format!("-I{}/../marey-collect/include", env!("CARGO_MANIFEST_DIR"));
    let flags = ["-O1", include.as_str()];
    Build { mpi, compiler: Compiler::C, sources: &["rules.c"], flags: &flags, output: "rules" }.path()
}

/// A rule for regions that the program does not have, which is told.
const IDLE: &str = "count MPI_Sned";

/// Checks runs under these rules.
fn check(mpi: Mpi, all: &[&str]) {
    let mpi = need!(mpi.installed(), "{}", mpi.launcher());
    let program = need!(program(mpi), "a C compiler for {mpi:?}");
    for text in all {
        let rules = Rules::parse(text).unwrap();
        let place = Place::new();
        std::fs::write(place.path().join("filter"), text).unwrap();
        let job =
            Job::new(mpi, 2, &program).option("--filter").option("filter").option("--files").option("off");
        let run = job.option("--rule").option(IDLE).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let truth = truth(place.path());
        let (found, expected) = (recorded(&run), expected(&truth, &rules));
        let different = found
            .iter()
            .chain(&expected)
            .filter(|(key, number)| found.get(*key) != Some(*number) || expected.get(*key) != Some(*number));
        let different: Vec<_> = different.map(|(key, _)| (key, found.get(key), expected.get(key))).collect();
        assert!(different.is_empty(), "{text}: {different:#?}");

        let (exclusive, outermost) = times(&run);
        let rounding = i64::try_from(run.table("profile").len()).unwrap() * 4;
        assert!((exclusive - outermost).abs() <= rounding, "{text}: {exclusive} and {outermost} ns");

        let (pairs, sent) = (right_pairs(&run), messages_by_report(&run));
        let sends = |(_, path): &(i64, String)| path.ends_with("end") || path.ends_with("MPI_Sendrecv");
        let true_sends: u64 = truth.iter().filter(|(key, _)| sends(key)).map(|(_, number)| number).sum();
        assert_eq!(sent, true_sends, "{text}");
        let keeps_all = rules.detail("mpi", "MPI_Recv", "").is_none();
        assert_eq!(pairs as u64 == true_sends, keeps_all, "{text}: {pairs} of {true_sends} pairs");
        let info = run.json("info");
        assert_eq!(
            info["summed"]["visits_by_rules"].as_u64() > Some(1000),
            text.contains("time") || text.contains("count"),
            "{info}"
        );
        run.expect_no_problems(&[]);
        expect_none_negative(&run);
        assert_eq!(info["idle_rules"], serde_json::json!([IDLE]), "{text}");
        let told = [run.text("report", &[]), run.text("info", &[]), run.stderr()];
        // Lines are broken, and blanks of patterns do not break.
        let is_told = |text: &String| {
            text.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(&format!("pattern of `{IDLE}` says"))
        };
        assert!(told.iter().all(is_told), "{told:?}");
        let first = text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told[..2].iter().all(|text| text.contains(&first)), "{told:?}");
    }
}

#[test]
fn visits_are_those_that_rules_leave() {
    check(
        Mpi::Open,
        &[
            "time r?",
            "off r1\ncount r2\ntime r3\ntime file:*rules.c\ntrace r0",
            "off r0\ncount mpi:*",
            "time mpi:*\ncount r0",
            "off *\ntrace r*",
            "time *",
            "count MPI_Recv\noff MPI_Send",
        ],
    );
}

#[test]
fn visits_are_those_that_rules_leave_under_mpich() {
    check(Mpi::Mpich, &["time *\ncount r1\noff MPI_Barrier", "count r?\ntime MPI_Recv"]);
}

/// More call paths than a thread keeps sums of: visits are all there, and the time of those that are together is
/// taken from the regions around them too.
#[test]
fn visits_of_call_paths_without_number_are_together() {
    need!(Mpi::Open.installed(), "Open MPI");
    let program = need!(program(Mpi::Open), "a C compiler");
    // In a profile the regions around timed visits may be together while these are not.
    for (mode, timed) in [("trace", "time *"), ("profile", "time MPI_*")] {
        check_together(&program, mode, timed);
    }
}

fn check_together(program: &Path, mode: &str, timed: &str) {
    let place = Place::new();
    let mut job = Job::new(Mpi::Open, 2, program).arg("6").option("--mode").option(mode);
    // MPI_Finalize comes last and would be among the others, though it lies inside no region.
    for rule in [timed, "trace MPI_Finalize"] {
        job = job.option("--rule").option(rule);
    }
    let run = job.option("--files").option("off").record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    expect_none_negative(&run);
    let (truth, found) = (truth(place.path()), recorded(&run));
    assert_eq!(found.values().sum::<u64>(), truth.values().sum::<u64>(), "{mode}");
    let others: u64 = found.iter().filter(|(key, _)| key.1.is_empty()).map(|(_, number)| number).sum();
    assert!(others > 1000, "{others} without sums of their own");

    let report = run.text("report", &[]);
    assert!(report.contains("are together in `(other paths)`"), "{report}");

    let (exclusive, outermost) = times(&run);
    let rounding = i64::try_from(run.table("profile").len()).unwrap() * 4;
    assert!((exclusive - outermost).abs() <= rounding, "{mode}: {exclusive} and {outermost} ns");
}
