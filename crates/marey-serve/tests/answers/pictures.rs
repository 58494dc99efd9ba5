//! Pictures tell the truth: what a viewer draws of any bucket is what a count says of it.

use std::collections::BTreeMap;

use marey_testkit::{Chance, Spool};
use serde_json::json;

use super::decoded::{Decoded, ask};
use super::{Made, Row, counted};

const NONE: u32 = u32::MAX;

/// A window, and how it is asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    from: i64,
    to: i64,
    log2: u32,
    locations: (u32, u32),
}

fn states(run: &marey_serve::Opened<'_>, asked: Asked) -> Decoded {
    ask(
        run,
        &json!({ "ask": "states", "from_ns": asked.from, "to_ns": asked.to, "resolution_log2": asked.log2,
            "locations": [asked.locations], "exact": true }),
    )
}

/// What a picture has of a span of one line: time by region, and what is not told apart.
fn drawn(picture: &Decoded, line: u32, (from, to): (f64, f64)) -> (BTreeMap<u32, f64>, f64) {
    let (lines, starts, durations) = (picture.u32("line"), picture.f64("start"), picture.f64("duration"));
    let regions = ["region1", "region2", "region3"].map(|name| picture.u32(name));
    let shares = ["share1", "share2", "share3"].map(|name| picture.f32(name));
    let rest = picture.f32("rest");
    let mut times = BTreeMap::new();
    let mut untold = 0.0;
    for row in (0..lines.len()).filter(|row| lines[*row] == line) {
        let inside = ((starts[row] + durations[row]).min(to) - starts[row].max(from)).max(0.0);
        if inside == 0.0 {
            continue;
        }
        for (region, share) in regions.iter().zip(&shares).filter(|(region, _)| region[row] != NONE) {
            *times.entry(region[row]).or_default() += f64::from(share[row]) * inside;
        }
        untold += f64::from(rest[row]) * inside;
    }
    (times, untold)
}

/// Compares buckets of a picture, chosen by chance, with a count of the visits; how many had something in them.
fn compare(made: &Made, asked: Asked, buckets: u64, chance: &mut Chance) -> usize {
    let run = made.open();
    let picture = states(&run, asked);
    assert_eq!(picture.kind, "states", "{}", picture.head);
    assert_eq!(picture.head["trust"]["is_exact"], true, "{asked:?}: {}", picture.head);
    let lines = ask(&run, &json!({ "ask": "run" })).head["lines"].as_array().unwrap().clone();
    let size = 1_i64 << asked.log2;
    let mut filled = 0;
    for _ in 0..buckets {
        let number = chance.below(u64::try_from((asked.to - asked.from) / size).unwrap().max(1));
        let begin = (asked.from / size + i64::try_from(number).unwrap()) * size;
        let span = (begin, begin + size);
        // What is outside of the window is not told.
        if begin < asked.from || asked.to < begin + size {
            continue;
        }
        let truth = counted(&made.rows, span);
        let line = usize::try_from(chance.below(lines.len() as u64)).unwrap();
        let number = |name: &str| u32::try_from(lines[line][name].as_u64().unwrap()).unwrap();
        let place = (number("location"), number("level"), number("depth"));
        if !(asked.locations.0..asked.locations.1).contains(&place.0) {
            continue;
        }
        let line = u32::try_from(line).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
        let (times, untold) = drawn(&picture, line, (span.0 as f64, span.1 as f64));
        // Shares of buckets have 24 bits.
        let close = |a: f64, b: f64| {
            #[expect(clippy::cast_precision_loss, reason = "a bucket")]
            let bar = size as f64 * 1e-5 + 1e-6;
            (a - b).abs() <= bar
        };
        let mut all = 0.0;
        let mut told = 0.0;
        for ((_, region), time) in truth.iter().filter(|((it, _), _)| *it == place) {
            all += time;
            if let Some(found) = times.get(region) {
                told += found;
                assert!(close(*found, *time), "{asked:?} {place:?} {span:?}: {region} {found} is {time}");
            }
        }
        let drawn: f64 = times.values().sum();
        assert!(close(drawn, told), "{asked:?} {place:?} {span:?}: drew what is not there");
        assert!(close(drawn + untold, all), "{asked:?} {place:?} {span:?}: {drawn} and {untold} are {all}");
        filled += usize::from(all > 0.0);
    }
    filled
}

/// With some regions hidden, what is drawn of others is what a count says of them; only where not all regions of a bucket
/// are told apart it may be more, by no more than what is not, and then the picture says so.
#[test]
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn hidden_states_are_not_drawn() {
    let mut chance = Chance::new(41);
    let (mut exact, mut about) = (0, 0);
    for seed in 0..4 {
        let made = Made::random(40 + seed);
        let (run, end) = (made.open(), end_of(&made.rows));
        let lines = ask(&run, &json!({ "ask": "run" })).head["lines"].as_array().unwrap().clone();
        for _ in 0..8 {
            let length = (end >> chance.below(10)).max(4000);
            let from = i64::try_from(chance.below(u64::try_from(end - length + 1).unwrap())).unwrap();
            let parts = if chance.below(2) == 0 { 300 } else { 20 };
            let log2 = (length / parts).max(1).ilog2();
            let size = 1 << log2;
            let picture = states(&run, Asked { from, to: from + length, log2, locations: (0, 4) });
            let is_approximate = picture.f32("rest").iter().any(|share| *share > 0.0);
            for _ in 0..25 {
                let hidden: Vec<u32> = (0..5).map(|_| u32::try_from(chance.below(14)).unwrap()).collect();
                let line = usize::try_from(chance.below(lines.len() as u64)).unwrap();
                let number = |name: &str| u32::try_from(lines[line][name].as_u64().unwrap()).unwrap();
                let place = (number("location"), number("level"), number("depth"));
                let buckets = u64::try_from(length / size - 1).unwrap().max(1);
                let begin = (from / size + 1 + i64::try_from(chance.below(buckets)).unwrap()) * size;
                if begin + size > from + length {
                    continue;
                }
                let (times, untold) =
                    drawn(&picture, u32::try_from(line).unwrap(), (begin as f64, (begin + size) as f64));
                let shown: f64 =
                    times.iter().filter(|(it, _)| !hidden.contains(it)).map(|(_, time)| time).sum();
                let truth: f64 = counted(&made.rows, (begin, begin + size))
                    .iter()
                    .filter(|((it, region), _)| *it == place && !hidden.contains(region))
                    .map(|(_, time)| time)
                    .sum();
                let bar = size as f64 * 2e-5 + 1e-6;
                assert!(
                    truth - shown >= -bar && truth - shown <= untold + bar,
                    "{shown} and {untold}: {truth}"
                );
                if untold > 0.0 {
                    assert!(is_approximate, "it says so");
                    about += 1;
                } else {
                    assert!((truth - shown).abs() <= bar);
                    exact += 1;
                }
            }
        }
    }
    assert!(exact > 200 && about > 20, "{exact} exact, {about} about");
}

/// The first bucket of a run is a bucket as others are: what goes on in the second is told there.
#[test]
fn what_lies_across_the_end_of_the_first_bucket_is_in_both() {
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    let site = process.site(0, "first");
    for (from, to) in [(1000, 1100), (1200, 1300), (2000, 2100)] {
        process.enter(0, site, from);
        process.leave(0, to);
    }
    process.end = Some(5000);
    let made = Made::of(&spool);
    let offset = made.rows.iter().map(|row| row.start).min().unwrap();
    // Buckets are counted from the start of the run, wherever the clocks put the first visit.
    let log2 = (offset + 50).ilog2();
    let border = 1 << log2;
    let picture = states(&made.open(), Asked { from: 0, to: 4 * border, log2, locations: (0, 1) });
    for number in 0..3 {
        let span = (number * border, (number + 1) * border);
        let truth: f64 = counted(&made.rows, span).values().sum();
        #[expect(clippy::cast_precision_loss, reason = "a short run")]
        let (times, _) = drawn(&picture, 0, (span.0 as f64, span.1 as f64));
        let found: f64 = times.values().sum();
        assert!((found - truth).abs() < 0.01, "{span:?}: {found} is {truth}");
    }
}

fn end_of(rows: &[Row]) -> i64 {
    rows.iter().map(|row| row.end).max().unwrap()
}

#[test]
fn buckets_of_any_resolution_are_what_a_count_says() {
    let made = Made::random(1);
    let end = end_of(&made.rows);
    let mut chance = Chance::new(2);
    let mut filled = 0;
    let finest = (end / 100_000).max(1).ilog2();
    for log2 in finest..finest + 14 {
        filled += compare(&made, Asked { from: 0, to: end, log2, locations: (0, 4) }, 40, &mut chance);
    }
    assert!(filled >= 200, "{filled}");
}

#[test]
fn buckets_of_any_window_are_what_a_count_says() {
    let made = Made::random(3);
    let end = end_of(&made.rows);
    let mut chance = Chance::new(4);
    let mut filled = 0;
    for _ in 0..60 {
        let bits = 6 + chance.below(18);
        let length = 50 + i64::try_from(chance.below(1 << bits)).unwrap();
        let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
        let pixels = 1 + chance.below(2000);
        let log2 = (length / i64::try_from(pixels).unwrap()).max(1).ilog2();
        let first = u32::try_from(chance.below(4)).unwrap();
        let locations = (first, first + 1 + u32::try_from(chance.below(4)).unwrap());
        filled += compare(&made, Asked { from, to: from + length, log2, locations }, 40, &mut chance);
    }
    assert!(filled >= 200, "{filled}");
}

/// Beside a rank with very much to tell one with little is told visit by visit.
#[test]
fn each_location_is_as_fine_as_it_can_be() {
    let made = Made::random(5);
    let run = made.open();
    let end = end_of(&made.rows);
    let log2 = (end / 500).ilog2();
    let picture = states(&run, Asked { from: 0, to: end, log2, locations: (0, 4) });
    let lines = ask(&run, &json!({ "ask": "run" })).head["lines"].as_array().unwrap().clone();
    let (is_visit, of) = (picture.u32("visit"), picture.u32("line"));
    let long = |location: u64| {
        let rows = made.rows.iter().filter(|row| u64::from(row.location) == location);
        rows.filter(|row| row.end - row.start >= 1 << log2).count()
    };
    let told = |location: u64| {
        let is_meant = |row: &usize| lines[of[*row] as usize]["location"] == location && is_visit[*row] == 1;
        (0..of.len()).filter(is_meant).count()
    };
    assert!(long(3) > 0);
    assert_eq!(told(3), long(3));
}

#[test]
fn windows_that_make_no_sense_are_refused() {
    let made = Made::random(6);
    let run = made.open();
    let refused = |request: serde_json::Value| {
        let answer = ask(&run, &request);
        assert_eq!(answer.kind, "error", "{request}");
        answer.head["message"].as_str().unwrap().to_owned()
    };
    let window = |from: i64, to: i64, log2: u32| json!({ "ask": "states", "from_ns": from, "to_ns": to, "resolution_log2": log2, "locations": [[0, 4]], "exact": false });
    assert_eq!(refused(window(5, 5, 0)), "the window from 5 to 5 ns is empty");
    assert!(refused(window(0, 1 << 40, 0)).contains("ask for longer steps"));
    assert!(refused(window(i64::MIN, i64::MAX, 62)).contains("longer than time"));
    assert!(refused(window(0, 10, 63)).contains("ask for longer steps"));
    assert!(refused(json!({ "ask": "everything" })).contains("unknown variant"));
    assert!(refused(json!([])).contains("missing field"));
}
