//! Profiles, and traces that come to their limit: calls are those that another counter in the same run has
//! seen, and who sent how much to whom is what a whole trace says.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::Value;

use crate::support::{Counter, Job, Mpi, Place, Run, need};

/// Who sent how much to whom, by the report.
fn communication(run: &Run) -> Vec<Value> {
    let report = run.json("report");
    let mut rows = report["communication"].as_array().unwrap().clone();
    rows.sort_by_key(|row| (row["from"].as_u64(), row["to"].as_u64()));
    rows
}

#[test]
fn sums_have_every_call_and_every_message() {
    let dir = Path::new("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests");
    need!(dir.join("xdlu").is_file().then_some(()), "tests of ScaLAPACK");
    need!(Mpi::Open.installed(), "Open MPI");
    let place = Place::new();
    std::fs::copy(dir.join("LU.dat"), place.path().join("LU.dat")).unwrap();
    let job = || Job::new(Mpi::Open, 4, dir.join("xdlu"));
    let counter = need!(Counter::build(Mpi::Open), "python3 or a C compiler");
    let trace = job().option("--keep-spool").record(place.path());
    let (info, expected) = (trace.json("info"), communication(&trace));
    assert!(info["summed"]["since_ns"].is_null(), "{info}");
    let files = std::fs::read_dir(trace.path().join("spool")).unwrap().map(|file| file.unwrap());
    let events = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "events"));
    let space: u64 = events.map(|file| file.metadata().unwrap().blocks() * 512).sum();
    let near = |info: &Value| {
        let said = info["trace"]["spool_bytes"].as_u64().unwrap();
        assert!(said.abs_diff(space) < space / 10, "{said} bytes of {space}");
    };
    near(&info);
    assert!(expected.len() > 4 && info["intervals"].as_u64() > Some(1_000_000), "{info}");

    for (options, kept) in [(["--mode", "profile"], 0..400_000), (["--max-mb", "1"], 300_000..1_300_000)] {
        let counts = place.dir(&format!("counts{}", options[1]));
        let job = options.iter().fold(job(), |job, option| job.option(option));
        let run = counter.watch(job, &counts).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        run.expect_no_problems(&[]);
        assert_eq!(run.mpi_calls(), Counter::read(&counts), "{options:?}");
        assert_eq!(communication(&run), expected, "{options:?}");
        let info = run.json("info");
        near(&info);
        assert!(run.text("info", &["--estimate"]).contains("A trace of everything takes"));
        let intervals = info["intervals"].as_u64().unwrap();
        assert!(kept.contains(&intervals), "{options:?}: {intervals}");
        assert_eq!(info["summed"]["locations"], 4, "{info}");
        assert!(info["summed"]["visits"].as_u64() > Some(300_000), "{info}");
        let told = [run.text("report", &[]), run.text("info", &[])];
        assert!(told.iter().all(|text| text.contains("as sums")), "{told:?}");

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
