//! How ranks and threads differ, by the report; and by a fold over all events that knows nothing of its sums.
//!
//! The one idea: `marey dump` tells when each visit was left, how long it took and how deep it lay; what of a visit is its own
//! is what visits one deeper did not take.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

/// Of each region and location its exclusive time, visits and bytes.
fn folded(dump: &str) -> BTreeMap<[String; 3], BTreeMap<u64, [i64; 3]>> {
    let mut sums: BTreeMap<[String; 3], BTreeMap<u64, [i64; 3]>> = BTreeMap::new();
    // Of each location the time in visits of each depth that no visit around them has been told to contain yet.
    let mut inner: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    for line in dump.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] != "leave" && event["event"] != "visit" {
            continue;
        }
        let location = event["location"].as_u64().unwrap();
        let depth = usize::try_from(event["depth"].as_u64().unwrap()).unwrap();
        let duration = event["duration_ns"].as_i64().unwrap();
        let inner = inner.entry(location).or_default();
        inner.resize(inner.len().max(depth + 2), 0);
        inner[depth] += duration;
        let own = duration - std::mem::take(&mut inner[depth + 1]);
        let region = ["level", "verb", "noun"].map(|field| event[field].as_str().unwrap().to_owned());
        let [time, visits, bytes] = sums.entry(region).or_default().entry(location).or_default();
        *time += own;
        *visits += event["visits"].as_i64().unwrap_or(1);
        *bytes += event["bytes"].as_i64().unwrap_or(0);
    }
    sums
}

#[test]
fn how_ranks_differ_is_what_a_fold_over_all_events_says() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["sizes.c"], flags: &["-O1"], output: "sizes" };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, 2, &program).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let folded = folded(&run.text("dump", &["--json"]));
        let report = run.json("report");
        let mut number = 0;
        for row in report["regions"].as_array().unwrap() {
            let region = ["level", "verb", "noun"].map(|field| row[field].as_str().unwrap().to_owned());
            let across = &row["across"];
            let n = across["locations"].as_u64().unwrap();
            assert_eq!(n, 2, "each rank has one thread: {region:?}");
            let own = &folded[&region];
            for (field, at) in [("exclusive_ns", 0), ("calls", 1), ("bytes", 2)] {
                let values: Vec<(i64, u64)> =
                    (0..n).map(|id| (own.get(&id).map_or(0, |sums| sums[at]), id)).collect();
                let found = &across[field];
                let most = values.iter().map(|value| value.0).max().unwrap();
                let least = values.iter().map(|value| value.0).min().unwrap();
                let first = |of: i64| values.iter().find(|value| value.0 == of).unwrap().1;
                assert_eq!(
                    (found["max"].as_i64(), found["min"].as_i64()),
                    (Some(most), Some(least)),
                    "{region:?} {field}"
                );
                assert_eq!(found["max_location"].as_u64(), Some(first(most)), "{region:?} {field}");
                assert_eq!(found["min_location"].as_u64(), Some(first(least)), "{region:?} {field}");
                #[expect(clippy::cast_precision_loss, reason = "a run is shorter than 104 days")]
                let values: Vec<f64> = values.iter().map(|value| value.0 as f64).collect();
                #[expect(clippy::cast_precision_loss, reason = "there are few")]
                let mean = values.iter().sum::<f64>() / n as f64;
                #[expect(clippy::cast_precision_loss, reason = "there are few")]
                let std = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
                let close = |name: &str, value: f64| {
                    (found[name].as_f64().unwrap() - value).abs() <= 1e-9 * mean.max(1.0)
                };
                assert!(close("mean", mean) && close("std", std), "{region:?} {field}: {found} {mean} {std}");
                let most = values.iter().copied().fold(0.0, f64::max);
                let imbalance = if mean > 0.0 { most / mean - 1.0 } else { 0.0 };
                assert!(
                    (found["imbalance"].as_f64().unwrap() - imbalance).abs() < 1e-9,
                    "{region:?} {field}"
                );
                number += 1;
            }
            // Waits of the region, rank by rank.
            let waits = report["waits"].as_array().unwrap().iter();
            let waits = waits.filter(|wait| wait["region"] == row["verb"] && wait["level"] == row["level"]);
            let all: i64 = waits.map(|wait| wait["wait_ns"].as_i64().unwrap()).sum();
            let most = across["waiting_ns"]["max"].as_i64().unwrap();
            assert!(most <= all && across["waiting_ns"]["mean"].as_f64().unwrap() >= 0.0, "{region:?}");
        }
        assert!(number > 20, "{number}");
    }
}
