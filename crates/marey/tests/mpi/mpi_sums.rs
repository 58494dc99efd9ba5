//! Profiles, and traces that come to their limit: calls are those that another counter in the same run has
//! seen, and who sent how much to whom is what a whole trace says.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::Value;

use crate::mpi_counts::prepare_hpcc;
use crate::mpi_view::look;
use crate::support::{Counter, Counts, Job, Mpi, Place, Run, need};

/// Who sent how much to whom, by the report.
fn communication(run: &Run) -> Vec<Value> {
    let report = run.json("report");
    let mut rows = report["communication"].as_array().unwrap().clone();
    rows.sort_by_key(|row| (row["from"].as_u64(), row["to"].as_u64()));
    rows
}

/// Bytes of files with events on disk, of each process.
fn spool_sizes(run: &Run) -> Vec<u64> {
    let files = std::fs::read_dir(run.path().join("spool")).unwrap().map(|file| file.unwrap());
    let events = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "events"));
    events.map(|file| file.metadata().unwrap().blocks() * 512).collect()
}

/// Records the job with an independent counter beside: calls of every function and rank are those that it saw,
/// and if there are only sums from some time on, that is said.
fn summed(place: &Place, counter: &Counter, job: &Job, options: [&str; 2]) -> (Run, Counts) {
    let counts = place.dir(&format!("counts{}", options[1]));
    let job = options.iter().fold(job.clone(), |job, option| job.option(option));
    let run = counter.watch(job, &counts).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    let calls = run.mpi_calls();
    assert_eq!(calls, Counter::read(&counts), "{options:?}");
    let info = run.json("info");
    let since = info["summed"]["since_ns"].as_u64();
    assert_eq!(since.is_some(), info["summed"]["locations"] != 0, "{info}");
    if since.is_some() {
        let told = [run.text("report", &[]), run.text("info", &[])];
        assert!(told.iter().all(|text| text.contains("as sums")), "{told:?}");
        let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_from_then_on = |text: &String| words(text).contains(" on are only known as sums");
        assert!(since == Some(0) || told.iter().all(is_from_then_on), "{told:?}");
    }
    (run, calls)
}

#[test]
fn sums_have_every_call_and_every_message() {
    let dir = Path::new("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests");
    need!(dir.join("xdlu").is_file().then_some(()), "tests of ScaLAPACK");
    need!(Mpi::Open.installed(), "Open MPI");
    let place = Place::new();
    std::fs::copy(dir.join("LU.dat"), place.path().join("LU.dat")).unwrap();
    // How many samples there are, and so how large a trace is, depends on what else the machine does.
    let job = || Job::new(Mpi::Open, 4, dir.join("xdlu")).option("--sample").option("off");
    let counter = need!(Counter::build(Mpi::Open), "python3 or a C compiler");
    let trace = job().option("--keep-spool").record(place.path());
    let (info, expected) = (trace.json("info"), communication(&trace));
    assert!(info["summed"]["since_ns"].is_null(), "{info}");
    let space: u64 = spool_sizes(&trace).iter().sum();
    let near = |info: &Value| {
        let said = info["trace"]["spool_bytes"].as_u64().unwrap();
        assert!(said.abs_diff(space) < space / 10, "{said} bytes of {space}");
    };
    near(&info);
    assert!(expected.len() > 4 && info["intervals"].as_u64() > Some(1_000_000), "{info}");

    for (options, kept) in [(["--mode", "profile"], 0..400_000), (["--max-mb", "1"], 300_000..1_300_000)] {
        let (run, _) = summed(&place, &counter, &job(), options);
        assert_eq!(communication(&run), expected, "{options:?}");
        if options[0] == "--max-mb" {
            look(run.path(), &[], "summed", &place);
        }
        let info = run.json("info");
        near(&info);
        assert!(run.text("info", &["--estimate"]).contains("A trace of everything takes"));
        let intervals = info["intervals"].as_u64().unwrap();
        assert!(kept.contains(&intervals), "{options:?}: {intervals}");
        assert_eq!(info["summed"]["locations"], 4, "{info}");
        assert!(info["summed"]["visits"].as_u64() > Some(300_000), "{info}");

        // No thread was in its regions longer than it was there, and none less than it did nothing else.
        let profile = run.table("profile");
        let locations = run.table("locations");
        for location in 0..4 {
            let own = |&row: &usize| profile.u32("location").unwrap()[row] == location;
            let all: i64 =
                (0..profile.len()).filter(own).map(|row| profile.i64("exclusive").unwrap()[row]).sum();
            let at = location as usize;
            let lived = locations.i64("end").unwrap()[at] - locations.i64("start").unwrap()[at];
            assert!(lived / 2 < all && all <= lived, "{all} of {lived} ns");
        }
        let histogram: i64 = run.table("histogram").i64("time").unwrap().iter().sum();
        let exclusive: i64 = profile.i64("exclusive").unwrap().iter().sum();
        assert_eq!(histogram, exclusive);
    }
}

/// Functions that HPCC calls as often as it has to wait, or as many times as it takes until a time is over.
const BY_TIME: [&str; 12] = [
    "MPI_Alltoall",
    "MPI_Barrier",
    "MPI_Get_count",
    "MPI_Iprobe",
    "MPI_Irecv",
    "MPI_Isend",
    "MPI_Recv",
    "MPI_Send",
    "MPI_Test",
    "MPI_Testany",
    "MPI_Waitany",
    "MPI_Wtime",
];

/// Calls of all ranks, but for those that depend on time.
fn calls_of_all(ranks: Counts) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (name, calls) in ranks.into_values().flatten().filter(|(name, _)| !BY_TIME.contains(&name.as_str())) {
        *sums.entry(name).or_default() += calls;
    }
    sums
}

/// With 8 MiB a process, and with so little that every rank comes to the limit.
#[test]
fn hpcc_at_small_limits_has_all_calls() {
    let mpi = Mpi::Open;
    let place = Place::new();
    // Systems of equations, solved column by column. HPCC reads lines of at most 81 bytes, newline included, into a buffer: a
    // longer one shifts all below it, and then it transposes in blocks whose sizes it never set, which lie on its stack.
    let systems = "300 ".repeat(20);
    let lines = [(5, "20 # of problems sizes (N)"), (6, systems.as_str()), (8, "1 NBs")];
    assert!(systems.len() < 81);
    let hpcc = need!(prepare_hpcc(&place, &lines), "HPCC and the example that comes with it");
    let counter = need!(Counter::build(mpi), "python3 or a C compiler for {mpi:?}");
    let job = Job::new(mpi, 4, hpcc);
    let whole = job.clone().option("--keep-spool").option("--max-mb").option("0").record(place.path());
    assert!(whole.json("info")["summed"]["since_ns"].is_null());
    let expected = calls_of_all(whole.mpi_calls());
    let least = spool_sizes(&whole).into_iter().min().unwrap() >> 20;
    assert!(least > 0 && expected.len() > 20, "{least} MiB, {expected:?}");
    for (limit, everywhere) in [(8, least >= 8), (least.min(7), true)] {
        // It appends to its output file.
        std::fs::remove_file(place.path().join("hpccoutf.txt")).unwrap();
        let (run, calls) = summed(&place, &counter, &job, ["--max-mb", &limit.to_string()]);
        assert_eq!(calls_of_all(calls), expected, "{limit} MiB");
        let info = run.json("info");
        assert!(!everywhere || info["summed"]["locations"] == 4, "{limit} MiB: {info}");
        let result = std::fs::read_to_string(place.path().join("hpccoutf.txt")).unwrap();
        assert!(result.contains("\nSuccess=1\n") && !result.contains("Error in line"), "{result}");
    }
}
