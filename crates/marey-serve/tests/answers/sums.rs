//! Sums of a window, and its course, against a count.

use std::collections::BTreeMap;

use marey_testkit::Chance;
use serde_json::json;

use super::decoded::ask;
use super::{Made, counted};

#[test]
fn times_of_regions_are_what_a_count_says() {
    let made = Made::random(7);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let mut chance = Chance::new(8);
    for _ in 0..30 {
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let to = from + 1 + i64::try_from(chance.below(u64::try_from(end - from).unwrap())).unwrap();
        // So fine that visits are read, so that nothing is left untold and no bucket lies across an end.
        let request = json!({ "ask": "totals", "from_ns": from, "to_ns": to,
            "resolution_log2": ((to - from) / 60_000).max(1).ilog2(), "locations": [[0, 3]], "exact": true });
        let answer = ask(&run, &request);
        let mut truth: BTreeMap<u32, f64> = BTreeMap::new();
        for (((location, _, _), region), time) in counted(&made.rows, (from, to)) {
            if location < 3 {
                *truth.entry(region).or_default() += time;
            }
        }
        let found: BTreeMap<u32, f64> = answer.u32("region").into_iter().zip(answer.f64("time")).collect();
        let sum = |times: &BTreeMap<u32, f64>| times.values().sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
        let bar = (to - from) as f64 * 4e-5 + 2.0;
        assert!((sum(&found) + answer.head["rest_ns"].as_f64().unwrap() - sum(&truth)).abs() <= bar * 3.0);
        for (region, time) in &found {
            let true_time = truth.get(region).copied().unwrap_or(0.0);
            assert!((time - true_time).abs() <= bar, "{from} to {to}: {region} {time} is {true_time}");
        }
    }
}

/// The mountains are as high as locations are busy on their outermost line.
#[test]
fn mountains_add_up_to_the_time_of_outermost_lines() {
    let made = Made::random(9);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let request = json!({ "ask": "course", "from_ns": 0, "to_ns": end, "resolution_log2": (end / 300).ilog2(),
        "locations": [[0, 4]], "exact": true });
    let answer = ask(&run, &request);
    let bucket = answer.head["bucket_ns"].as_f64().unwrap();
    let busy: f64 = answer.f64("busy").iter().sum();
    assert!(answer.f64("busy").iter().all(|share| (0.0..=4.0001).contains(share)));
    // Level 0 and depth 0 is the outermost line of everybody here.
    #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
    let truth: f64 = made
        .rows
        .iter()
        .filter(|row| row.level == 0 && row.depth == 0)
        .map(|row| (row.end - row.start) as f64)
        .sum();
    assert!((busy * bucket - truth).abs() <= truth * 1e-4, "{} is {truth}", busy * bucket);
}
