//! Sums of a window, and its course, against a count.

use std::collections::BTreeMap;

use marey_testkit::Chance;
use serde_json::json;

use super::decoded::{Decoded, ask};
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

/// Whoever chooses a span with the pointer chooses no border of a bucket: what is cut there counts once.
#[test]
fn what_lies_across_an_end_of_the_span_counts_by_what_is_inside() {
    let made = Made::random(7);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let mut chance = Chance::new(9);
    let (mut exact, mut guessed) = (0, 0);
    for round in 0..300 {
        // Short ones are read visit by visit, long ones are answered from prepared buckets.
        let longest = if round % 2 == 0 { 1 << 20 } else { u64::MAX };
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let to =
            from + 1 + i64::try_from(chance.below(u64::try_from(end - from).unwrap().min(longest))).unwrap();
        // So coarse that a bucket at an end is a good part of the span.
        let log2 = ((to - from) / 4).max(1).ilog2();
        let answer = ask(
            &run,
            &json!({ "ask": "totals", "from_ns": from, "to_ns": to,
            "resolution_log2": log2, "locations": [[0, 4]], "exact": true }),
        );
        let truth: f64 = counted(&made.rows, (from, to)).values().sum();
        let found = answer.f64("time").iter().sum::<f64>() + answer.head["rest_ns"].as_f64().unwrap();
        if answer.head["trust"]["is_exact"] == true {
            assert!(
                (found - truth).abs() <= 1.0 + truth * 1e-6,
                "{from} to {to} by 2^{log2}: {found} is {truth}"
            );
            exact += 1;
        } else {
            guessed += 1;
        }
    }
    assert!(exact > 50 && guessed > 5, "{exact} exact, {guessed} guessed");
}

/// Sums of the whole run come from its profile: they are those that a count has, to the nanosecond.
#[test]
fn times_of_the_whole_run_are_exact() {
    let made = Made::random(29);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap() + 1000;
    let request = json!({ "ask": "totals", "from_ns": 0, "to_ns": end, "resolution_log2": 20,
        "locations": [[0, 2], [3, 4]], "exact": false });
    let answer = ask(&run, &request);
    assert_eq!(answer.head["trust"]["is_exact"], true);
    let mut truth: BTreeMap<u32, f64> = BTreeMap::new();
    for (((location, _, _), region), time) in counted(&made.rows, (0, end)) {
        if location != 2 {
            *truth.entry(region).or_default() += time;
        }
    }
    let found: BTreeMap<u32, f64> = answer.u32("region").into_iter().zip(answer.f64("time")).collect();
    assert_eq!(found.len(), truth.len());
    assert!(found.iter().all(|(region, time)| (time - truth[region]).abs() < 0.5), "{found:?} is {truth:?}");
}

/// Exclusive and inclusive time and visits by location and region, counted slowly: what is in a region twice counts once in
/// inclusive times.
fn sums_of(made: &Made, span: (i64, i64)) -> BTreeMap<(u32, u32), [f64; 3]> {
    let mut truth = BTreeMap::new();
    nested(made, span, |row, around, length| {
        let location = row.location;
        if let Some(outer) = around.last() {
            truth.entry((location, outer.region)).or_insert([0.0; 3])[0] -= length;
        }
        let is_outermost = around.iter().all(|outer| outer.region != row.region);
        let sums = truth.entry((location, row.region)).or_insert([0.0; 3]);
        sums[0] += length;
        sums[1] += if is_outermost { length } else { 0.0 };
        sums[2] += 1.0;
    });
    truth
}

/// Each visit of a span with those that lie around it in time, the outermost first, and what of it lies in the span.
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
pub(super) fn nested(
    made: &Made,
    (from, to): (i64, i64),
    mut each: impl FnMut(&super::Row, &[&super::Row], f64),
) {
    for location in 0..4 {
        let mut own: Vec<_> = made
            .rows
            .iter()
            .filter(|row| row.location == location && row.start < to && from < row.end)
            .collect();
        own.sort_by_key(|row| (row.start, std::cmp::Reverse(row.end), row.level, row.depth));
        let mut around: Vec<&super::Row> = Vec::new();
        for row in own {
            while around.last().is_some_and(|outer| outer.end < row.end || outer.end <= row.start) {
                around.pop();
            }
            each(row, &around, (row.end.min(to) - row.start.max(from)) as f64);
            around.push(row);
        }
    }
}

/// Every location's time by region is that of its visits; what is in a region twice counts once in inclusive times.
#[test]
fn shares_of_locations_are_what_a_count_says() {
    let made = Made::random(23);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    check_shares(&made, &ask(&run, &json!({ "ask": "shares", "span": null })), (0, i64::MAX), 0);
    let mut chance = marey_testkit::Chance::new(24);
    for _ in 0..40 {
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let bits = 6 + chance.below(22);
        let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
        let answer = ask(&run, &json!({ "ask": "shares", "span": { "from_ns": from, "to_ns": to } }));
        assert_eq!(answer.head["is_whole"], true);
        // A visit of no length at the edge may be counted or not.
        check_shares(&made, &answer, (from, to), 2);
    }
}

fn check_shares(made: &Made, answer: &Decoded, span: (i64, i64), slack: u32) {
    let regions: Vec<u32> = answer.head["regions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| u32::try_from(it.as_u64().unwrap()).unwrap())
        .collect();
    let (exclusive, inclusive, visits) =
        (answer.f64("exclusive"), answer.f64("inclusive"), answer.f64("visits"));
    let width = regions.len() + 1;
    assert_eq!(exclusive.len(), 4 * width);
    let truth = sums_of(made, span);
    for ((location, region), sums) in &truth {
        // Regions without time of their own have no column.
        let place = regions.iter().position(|it| it == region).unwrap_or(width - 1);
        if place == width - 1 {
            assert!(sums[0] < 0.5, "{region} has {sums:?}");
            continue;
        }
        let at = *location as usize * width + place;
        let found = [exclusive[at], inclusive[at]];
        assert!(
            found.iter().zip(sums).all(|(a, b)| (a - b).abs() < 0.5),
            "{span:?} {location} {region}: {found:?} is {sums:?}"
        );
        assert!((visits[at] - sums[2]).abs() <= f64::from(slack), "{span:?}: {} is {sums:?}", visits[at]);
    }
    let all = |values: &[f64]| values.iter().sum::<f64>();
    let own: f64 = truth.values().map(|sums| sums[0]).sum();
    assert!((all(&exclusive) - own).abs() < 0.5, "{} is {own}", all(&exclusive));
    assert!(slack > 0 || truth.len() > 20);
}

/// Every call path's time of its own in a span is that of its visits without those inside them, and nothing is lost.
#[test]
fn call_paths_of_a_span_are_what_a_count_says() {
    let made = Made::random(27);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let mut chance = Chance::new(28);
    for turn in 0..40 {
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let bits = 6 + chance.below(22);
        let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
        let (from, to) = if turn == 0 { (0, end) } else { (from, to) };
        let answer = ask(&run, &json!({ "ask": "call-paths", "from_ns": from, "to_ns": to }));
        assert_eq!(answer.head["is_whole"], true);
        let truth = paths_of(&made, (from, to));
        let [exclusive, visits] = ["exclusive", "visits"].map(|name| answer.f64(name));
        let found: BTreeMap<u32, [f64; 2]> = (answer.u32("call_path").into_iter().zip(exclusive))
            .zip(visits)
            .map(|((path, exclusive), visits)| (path, [exclusive, visits]))
            .collect();
        for (path, [own, number]) in &truth {
            let [exclusive, visits] = found.get(path).copied().unwrap_or_default();
            assert!((exclusive - own).abs() < 0.5, "{from} to {to}: {path} has {exclusive}, not {own}");
            // A visit of no length at the edge may be counted or not.
            assert!((visits - number).abs() <= 2.0, "{from} to {to}: {path} has {visits}, not {number}");
        }
        let all: f64 = found.values().map(|sums| sums[0]).sum();
        let own: f64 = truth.values().map(|sums| sums[0]).sum();
        assert!((all - own).abs() < 0.5, "{all} is {own}");
    }
}

/// Time of its own and visits by call path, counted slowly: what a visit has is all of it without what is directly inside.
fn paths_of(made: &Made, span: (i64, i64)) -> BTreeMap<u32, [f64; 2]> {
    let mut truth: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    nested(made, span, |row, around, length| {
        if let Some(outer) = around.last() {
            truth.entry(outer.path).or_default()[0] -= length;
        }
        let own = truth.entry(row.path).or_default();
        own[0] += length;
        own[1] += 1.0;
    });
    truth
}

/// Levels of a location add up to the time that was recorded of it, and each has that of its regions.
#[test]
fn levels_of_locations_are_what_a_count_says() {
    let made = Made::random(25);
    let run = made.open();
    let head = ask(&run, &json!({ "ask": "run" })).head;
    let answer = ask(&run, &json!({ "ask": "levels" }));
    let exclusive = answer.f64("exclusive");
    let width = head["levels"].as_array().unwrap().len();
    assert_eq!(answer.head["levels"], width);
    let mut truth = vec![0.0; 4 * width];
    for ((location, region), [own, ..]) in sums_of(&made, (0, i64::MAX)) {
        let level = head["regions"][region as usize]["level"].as_u64().unwrap();
        truth[location as usize * width + usize::try_from(level).unwrap()] += own;
    }
    assert!(truth.iter().filter(|time| **time > 0.0).count() >= 8, "two levels each");
    assert!(exclusive.iter().zip(&truth).all(|(a, b)| (a - b).abs() < 0.5), "{exclusive:?} is {truth:?}");
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

/// What is left out counts nowhere, and all others stay as they are.
#[test]
fn mountains_are_without_the_regions_that_are_left_out() {
    let made = Made::random(9);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let course = |without: &[u32]| {
        // The same twice, and in no order: it is put in order.
        let twice: Vec<u32> = without.iter().rev().chain(without).copied().collect();
        let request = json!({ "ask": "course", "from_ns": 0, "to_ns": end, "resolution_log2": (end / 300).ilog2(),
            "locations": [[0, 4]], "exact": true, "without": twice });
        ask(&run, &request)
    };
    let all = course(&[]);
    let buckets = usize::try_from(all.head["buckets"].as_u64().unwrap()).unwrap();
    let regions = all.u32("region");
    assert!(regions.len() > 2, "{regions:?}");
    let gone = [regions[0], regions[1]];
    let rest = course(&gone);
    assert_eq!(rest.u32("region"), regions[2..]);
    let busy = all.f64("busy");
    assert_eq!(rest.f64("busy"), busy[2 * buckets..], "others are as before");
}
