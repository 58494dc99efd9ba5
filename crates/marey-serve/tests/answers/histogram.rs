//! Histograms of a region's durations, and the visits of a range of them, against a count.

use marey_testkit::Chance;
use serde_json::{Value, json};

use super::decoded::ask;
use super::{Made, Row};

fn sample(regions: &[u32], (from, to): (i64, i64)) -> Value {
    json!({ "from_ns": from, "to_ns": to, "locations": [[0, 2], [3, 9]], "regions": regions, "of": "duration" })
}

/// Visits of regions that begin in a span, on the locations of the sample.
fn meant(made: &Made, regions: &[u32], (from, to): (i64, i64)) -> Vec<Row> {
    let is_meant = |row: &&Row| {
        regions.contains(&row.region) && row.location != 2 && from <= row.start && row.start < to
    };
    made.rows.iter().filter(is_meant).copied().collect()
}

#[test]
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "made-up runs are short")]
fn bins_have_as_many_visits_as_a_count_says() {
    let made = Made::random(17);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let regions = made.rows.iter().map(|row| row.region).max().unwrap() + 1;
    let mut chance = Chance::new(18);
    let mut below = |most: i64| i64::try_from(chance.below(u64::try_from(most).unwrap())).unwrap();
    let mut compared = 0;
    for number in 0..60_u32 {
        let from = below(end / 2);
        let span = (from, from + 1 + below(end - from));
        let asked: Vec<u32> = (0..1 + number % 3).map(|more| (number + more) % regions).collect();
        let rows = meant(&made, &asked, span);
        let mut lengths: Vec<u64> = rows.iter().map(|row| (row.end - row.start) as u64).collect();
        lengths.sort_unstable();
        let range = (number % 3 == 0 && lengths.len() > 10)
            .then(|| (lengths[lengths.len() / 4], lengths[lengths.len() / 2]));
        let request = json!({ "ask": "histogram", "sample": sample(&asked, span), "bins": 1 + number % 50,
            "logarithmic": number % 2 == 0, "range": range });
        let answer = ask(&run, &request);
        assert_eq!(answer.head["number"], lengths.len(), "{request}");
        let (edges, counts) = (answer.f64("edge"), answer.f64("number"));
        if lengths.is_empty() {
            assert!(edges.is_empty() && counts.is_empty());
            continue;
        }
        compared += 1;
        assert_eq!(answer.head["least"], lengths[0]);
        assert_eq!(answer.head["most"], *lengths.last().unwrap());
        let mean = lengths.iter().sum::<u64>() as f64 / lengths.len() as f64;
        let square = lengths.iter().map(|it| (*it as f64 - mean).powi(2)).sum::<f64>() / lengths.len() as f64;
        assert!((answer.head["mean"].as_f64().unwrap() - mean).abs() <= 1e-9 * mean);
        assert!((answer.head["deviation"].as_f64().unwrap() - square.sqrt()).abs() <= 1e-6 * mean.max(1.0));
        // Bins are those of all regions together, and each region has its own numbers in them.
        let bins = edges.len() - 1;
        assert_eq!(counts.len(), bins * asked.len());
        for (at, count) in counts.iter().enumerate() {
            let (region, bin) = (asked[at / bins], at % bins);
            let is_last = bin + 1 == bins;
            let is_in = |it: &&Row| {
                let length = (it.end - it.start) as f64;
                let is_below = length < edges[bin + 1] || is_last && length <= edges[bin + 1];
                it.region == region && edges[bin] <= length && is_below
            };
            let truth = rows.iter().filter(is_in).count();
            assert!((count - truth as f64).abs() < 0.5, "bin {bin} of {request}: {count} is {truth}");
        }
        for (place, region) in asked.iter().enumerate() {
            let own: Vec<f64> = rows
                .iter()
                .filter(|row| row.region == *region)
                .map(|row| (row.end - row.start) as f64)
                .collect();
            let of = |name: &str| answer.f64(name)[place];
            assert!((of("visits") - own.len() as f64).abs() < 0.5);
            if own.is_empty() {
                continue;
            }
            let extreme = |fold: fn(f64, f64) -> f64| own.iter().copied().reduce(fold).unwrap();
            assert!(
                (of("least") - extreme(f64::min)).abs() < 0.5 && (of("most") - extreme(f64::max)).abs() < 0.5
            );
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            assert!((of("mean") - mean).abs() <= 1e-9 * mean);
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "made-up runs are short")]
fn visits_of_a_range_are_those_of_a_count() {
    let made = Made::random(19);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    for region in 0..4 {
        let span = (end / 5, end - end / 7);
        let rows = meant(&made, &[region, region + 1], span);
        let mut lengths: Vec<i64> = rows.iter().map(|row| row.end - row.start).collect();
        lengths.sort_unstable();
        let (least, most) = (lengths[lengths.len() / 3], lengths[lengths.len() * 3 / 4]);
        let request = json!({ "ask": "instances", "sample": sample(&[region, region + 1], span),
            "which": { "range": [least, most] } });
        let answer = ask(&run, &request);
        let mut truth: Vec<(i64, i64)> = rows.iter().map(|row| (row.start, row.end - row.start)).collect();
        truth.retain(|(_, length)| (least..=most).contains(length));
        truth.sort_unstable();
        let mut found: Vec<(i64, i64)> = Vec::new();
        for (start, length) in answer.f64("start").iter().zip(answer.f64("duration")) {
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
            found.push((*start as i64, length as i64));
        }
        found.sort_unstable();
        assert!(truth.len() > 20);
        // Who it is of is told with each.
        let told = |region: u32| answer.u32("region").iter().filter(|it| **it == region).count();
        let of = |region: u32| {
            let is_of = |row: &&Row| row.region == region && (least..=most).contains(&(row.end - row.start));
            rows.iter().filter(is_of).count()
        };
        assert_eq!([told(region), told(region + 1)], [of(region), of(region + 1)]);
        assert_eq!(found, truth);
        assert_eq!(answer.head["number"], truth.len());
        let sum: f64 = truth.iter().map(|(_, length)| *length as u64 as f64).sum();
        assert!((answer.head["sum"].as_f64().unwrap() - sum).abs() < 0.5);
    }
}

/// One visit in thousands that takes a hundred times as long is anomalous; the others are not.
#[test]
fn what_is_anomalous_is_told() {
    let mut spool = marey_testkit::Spool::world(1);
    let process = &mut spool.processes[0];
    let site = process.site(1, "MPI_Send");
    let mut chance = Chance::new(3);
    let mut now = 100;
    for number in 0..3000 {
        process.enter(0, site, now);
        now += if number == 2000 { 1_000_000 } else { 9_500 + chance.below(1000) };
        process.leave(0, now);
        now += 500;
    }
    process.end = Some(now);
    let made = Made::of(&spool);
    let run = made.open();
    let row = made.rows.iter().max_by_key(|row| row.end - row.start).unwrap();
    let request = json!({ "ask": "instances", "sample": sample(&[row.region], (0, row.end * 2)),
        "which": { "anomalous": 1.0 } });
    let answer = ask(&run, &request);
    #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
    let truth = row.start as f64;
    assert_eq!(answer.f64("start"), [truth]);
    assert!((9_500.0..10_500.0).contains(&answer.f64("expected")[0]));
}

/// Each region has limits of its own, and they are those of `docs/anomalies.md`.
#[test]
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn what_lies_beyond_what_is_normal_is_told_by_region() {
    let made = Made::random(23);
    let run = made.open();
    let end = made.rows.iter().map(|row| row.end).max().unwrap();
    let mut found = 0;
    for (percent, away) in
        [(10.0, 1.281_551_565), (5.0, 1.644_853_626), (1.0, 2.326_347_874), (0.1, 3.090_232_306)]
    {
        let request = json!({ "ask": "instances", "sample": sample(&[0, 1, 2], (0, end)), "which": { "normal": percent } });
        let answer = ask(&run, &request);
        let mut truth = Vec::new();
        for region in 0..3 {
            let rows = meant(&made, &[region], (0, end));
            let lengths: Vec<f64> = rows.iter().map(|row| (row.end - row.start) as f64).collect();
            let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
            let square = lengths.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / lengths.len() as f64;
            let limit = away * square.sqrt().max(mean / 100.0).max(20.0);
            assert!(lengths.len() >= 5);
            let is_beyond = |(_, length): &(&Row, &f64)| (*length - mean).abs() > limit;
            truth.extend(
                rows.iter().zip(&lengths).filter(is_beyond).map(|(row, _)| (row.start as f64, region)),
            );
        }
        truth.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let mut told: Vec<(f64, u32)> =
            answer.f64("start").iter().copied().zip(answer.u32("region")).collect();
        told.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(told, truth, "{percent} %");
        found += told.len();
    }
    assert!(found > 20, "{found}");
}

#[test]
fn nonsense_is_refused() {
    let made = Made::random(1);
    let run = made.open();
    let empty = json!({ "ask": "histogram", "sample": sample(&[0], (5, 5)), "bins": 3, "logarithmic": false, "range": null });
    let none = json!({ "ask": "histogram", "sample": sample(&[0], (0, 5)), "bins": 0, "logarithmic": false, "range": null });
    let upside =
        json!({ "ask": "instances", "sample": sample(&[0], (0, 5)), "which": { "anomalous": 77.0 } });
    let beyond = json!({ "ask": "instances", "sample": sample(&[0], (0, 5)), "which": { "normal": -1.0 } });
    let many: Vec<u32> = (0..65).collect();
    let many = json!({ "ask": "instances", "sample": sample(&many, (0, 5)), "which": { "normal": 1.0 } });
    for (request, why) in [
        (beyond, "from 0 to 50"),
        (many, "up to 64 regions"),
        (empty, "is empty"),
        (none, "1 to 8192 bins"),
        (upside, "from 0 to 50"),
    ] {
        let answer = ask(&run, &request);
        assert_eq!(answer.kind, "error");
        assert!(answer.head["message"].as_str().unwrap().contains(why), "{request}");
    }
    // A region that there is not has no visits.
    let unknown = json!({ "ask": "histogram", "sample": sample(&[4_000_000_000], (0, 5)), "bins": 3, "logarithmic": true, "range": [0, 0] });
    assert_eq!(ask(&run, &unknown).head["number"], 0);
}
