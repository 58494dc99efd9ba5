//! Counters, against the rows of their table.

use std::collections::BTreeMap;

use marey_archive::{Archive, Column, Columns, Part, schema, write_table};
use marey_model::spool::{Definition, Record};
use marey_serve::Opened;
use marey_testkit::{Chance, Spool};
use serde_json::json;

use super::Made;
use super::decoded::{Decoded, ask};

/// A value, and when it was told.
type Value = (i64, f64);

/// Three ranks with two counters: one goes up and down, the other, which is the kernel's, only grows. Rank 2 has but the
/// first.
pub(super) fn counting(seed: u64) -> Made {
    let mut chance = Chance::new(seed);
    let mut spool = Spool::world(3);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        for (id, name) in [(0, "queue"), (1, "faults")] {
            let unit = if id == 0 { "messages" } else { "" };
            process.definitions.push(Definition::Counter {
                id,
                name: name.to_owned(),
                unit: unit.to_owned(),
            });
        }
        let work = process.site(0, "work");
        let (mut now, mut sum) = (1000, 0);
        for _ in 0..2500 {
            // Now and then two at one instant.
            let bits = chance.below(14);
            now += if chance.below(20) == 0 { 0 } else { chance.below(1 << bits) };
            let counter = if rank == 2 { 0 } else { u32::try_from(chance.below(2)).unwrap() };
            sum += chance.below(50);
            #[expect(clippy::cast_precision_loss, reason = "made-up values are small")]
            let value = if counter == 0 { chance.below(17) as f64 - 4.0 } else { sum as f64 };
            process.timed(0, now, |delta| Record::Counter { counter, delta, value });
            if chance.below(4) == 0 {
                process.enter(0, work, now);
                now += chance.below(200);
                process.leave(0, now);
            }
        }
        process.end = Some(now + 5000);
    }
    let made = of_the_kernel(Made::of(&spool), "faults");
    // As if it had been long enough to be cut, right before instants of two values, and right behind.
    let cuts = cuts(&made);
    let times = made.archive.table("counters").unwrap().i64("time").unwrap().to_vec();
    made.in_slabs("counters", |row| {
        let is_behind = |(place, cut): (usize, &i64)| *cut < times[row] + i64::from(place % 2 == 0);
        u32::try_from(cuts.iter().enumerate().filter(|cut| is_behind(*cut)).count()).unwrap()
    })
}

/// A dozen instants at which a counter of a location had two values, in the order of time.
fn cuts(made: &Made) -> Vec<i64> {
    let all = values(made);
    let pairs = all.values().flat_map(|values| values.windows(2)).filter(|pair| pair[0].0 == pair[1].0);
    let mut twice: Vec<i64> = pairs.map(|pair| pair[0].0).collect();
    twice.sort_unstable();
    twice.dedup();
    twice.iter().step_by(twice.len() / 12).copied().collect()
}

/// The same run, with a counter that is said to be the kernel's.
fn of_the_kernel(made: Made, name: &str) -> Made {
    let rows = made.archive.table("counter_kinds").unwrap();
    let names = rows.text("name").unwrap().to_vec();
    let spec = schema::table("counter_kinds").unwrap();
    let columns = spec.columns.iter().zip(rows.columns()).map(|(column, values)| match values {
        Column::Text(values) if column.name == "source" => {
            let source = |(it, source): (&String, &String)| {
                if it == name { "kernel".to_owned() } else { source.clone() }
            };
            Column::Text(names.iter().zip(values).map(source).collect())
        }
        other => other.clone(),
    });
    let columns = Columns::from_columns(spec, columns.collect()).unwrap();
    let run = made.dir.path().join("run");
    let stats = write_table(&run, &columns).unwrap();
    let mut meta = made.archive.meta().clone();
    meta.add(spec, Part::new(spec, 0, 0, stats));
    meta.save(&run).unwrap();
    Made { archive: Box::leak(Box::new(Archive::open(&run).unwrap())), ..made }
}

/// By counter and location, in the order of the table.
fn values(made: &Made) -> BTreeMap<(u32, u32), Vec<Value>> {
    let table = made.archive.table("counters").unwrap();
    let mut values: BTreeMap<(u32, u32), Vec<Value>> = BTreeMap::new();
    for row in 0..table.len() {
        let of = (table.u32("counter").unwrap()[row], table.u32("location").unwrap()[row]);
        let value = (table.i64("time").unwrap()[row], table.f64("value").unwrap()[row]);
        values.entry(of).or_default().push(value);
    }
    values.values_mut().for_each(|values| values.sort_by_key(|value| value.0));
    values
}

/// What held from when until when.
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn held(values: &[Value], is_rate: bool, end: i64) -> Vec<(i64, i64, f64)> {
    if is_rate {
        let mut last: BTreeMap<i64, f64> = BTreeMap::new();
        for (time, value) in values {
            let sum = last.entry(*time).or_insert(*value);
            *sum = sum.max(*value);
        }
        let readings: Vec<Value> = last.into_iter().collect();
        return readings
            .windows(2)
            .map(|pair| {
                (pair[0].0, pair[1].0, (pair[1].1 - pair[0].1) * 1e9 / (pair[1].0 - pair[0].0) as f64)
            })
            .collect();
    }
    let until = |place: usize| values.get(place + 1).map_or(end, |next| next.0);
    values.iter().enumerate().map(|(place, value)| (value.0, until(place), value.1)).collect()
}

/// Least, mean and most of what held in a span; `None` = nothing did.
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn counted(held: &[(i64, i64, f64)], (from, to): (i64, i64)) -> Option<(f64, f64, f64)> {
    let (mut covered, mut sum) = (0.0, 0.0);
    let mut there = Vec::new();
    for &(begin, end, value) in held {
        let is_instant = begin == end && from <= begin && begin < to;
        let inside = end.min(to) - begin.max(from);
        if is_instant || inside > 0 {
            there.push(value);
            covered += inside.max(0) as f64;
            sum += value * inside.max(0) as f64;
        }
    }
    let least = there.iter().copied().reduce(f64::min)?;
    let most = there.iter().copied().reduce(f64::max)?;
    Some((least, if covered > 0.0 { sum / covered } else { least.midpoint(most) }, most))
}

fn asked(run: &Opened<'_>, (from, to): (i64, i64), log2: u32, locations: (u32, u32)) -> Decoded {
    ask(
        run,
        &json!({ "ask": "counters", "counters": [0, 1], "window": { "from_ns": from, "to_ns": to,
            "resolution_log2": log2, "locations": [locations], "exact": false } }),
    )
}

#[test]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "made-up runs are short")]
fn buckets_of_any_window_are_what_a_count_says() {
    let mut chance = Chance::new(71);
    let (mut rates, mut levels, mut empty) = (0, 0, 0);
    for seed in 0..3 {
        let made = counting(seed);
        let (run, all) = (made.open(), values(&made));
        let head = ask(&run, &json!({ "ask": "run" })).head;
        let end = head["duration_ns"].as_i64().unwrap();
        let cuts = cuts(&made);
        assert!(made.archive.parts("counters").len() > 4, "the run has slabs");
        for _ in 0..200 {
            // Anywhere, or right beside where the run was cut.
            let (from, to) = if chance.below(3) == 0 {
                let cut = cuts[usize::try_from(chance.below(cuts.len() as u64)).unwrap()];
                let from = cut + i64::try_from(chance.below(12)).unwrap() - 6;
                (from, from + 1 + i64::try_from(chance.below(5)).unwrap())
            } else {
                let bits = 2 + chance.below(21);
                let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
                (from, from + 1 + i64::try_from(chance.below(1 << bits)).unwrap())
            };
            let log2 = u32::try_from(chance.below(u64::from((to - from).ilog2()) + 2)).unwrap();
            let first = u32::try_from(chance.below(3)).unwrap();
            let locations = (first, first + 1 + u32::try_from(chance.below(3)).unwrap());
            let answer = asked(&run, (from, to), log2.max((to - from).ilog2().saturating_sub(10)), locations);
            let log2 = log2.max((to - from).ilog2().saturating_sub(10));
            assert_eq!(answer.head["is_whole"], true);
            let (of, at, behind) = (answer.u32("counter"), answer.u32("location"), answer.u32("behind"));
            let found: Vec<(u32, u32)> = of.into_iter().zip(at).collect();
            let meant = all.keys().filter(|(_, at)| (locations.0..locations.1).contains(at));
            assert_eq!(found, meant.copied().collect::<Vec<_>>());
            let columns = ["start", "duration", "least", "mean", "most"].map(|name| answer.f64(name));
            let mut begin = 0;
            for (series, behind) in found.iter().zip(behind) {
                let life = head["locations"][series.1 as usize]["end_ns"].as_i64().unwrap();
                let is_rate = head["counters"][series.0 as usize]["is_rate"].as_bool().unwrap();
                let held = held(&all[series], is_rate, life);
                let pieces = begin..behind as usize;
                begin = behind as usize;
                for _ in 0..12 {
                    let parts = u64::try_from(((to - 1) >> log2) - (from >> log2) + 1).unwrap();
                    let bucket = (from >> log2) + i64::try_from(chance.below(parts)).unwrap();
                    let span = (bucket << log2, (bucket + 1) << log2);
                    let piece = pieces.clone().find(|place| {
                        columns[0][*place] <= span.0 as f64
                            && span.1 as f64 <= columns[0][*place] + columns[1][*place]
                    });
                    let truth = counted(&held, span);
                    // What is behind the run is not told.
                    let Some(truth) = truth.filter(|_| span.0 <= end) else {
                        assert_eq!(piece, None, "{series:?} {span:?}");
                        empty += 1;
                        continue;
                    };
                    let piece = piece.unwrap_or_else(|| panic!("{series:?} {span:?}: {truth:?}"));
                    let told = [columns[2][piece], columns[3][piece], columns[4][piece]];
                    for (told, truth) in told.iter().zip([truth.0, truth.1, truth.2]) {
                        let bar = 1e-9 * truth.abs().max(1.0);
                        assert!((told - truth).abs() <= bar, "{series:?} {span:?}: {told} is {truth}");
                    }
                    *(if is_rate { &mut rates } else { &mut levels }) += 1;
                }
            }
            // Pieces are buckets in the order of time.
            assert!(columns[0].iter().chain(&columns[1]).all(|it| (*it as i64) % (1 << log2) == 0));
        }
    }
    assert!(rates > 500 && levels > 500 && empty > 20, "{rates} rates, {levels} levels, {empty} without");
}

/// A value that holds for long is one piece, however many buckets that is.
#[test]
fn what_stays_the_same_is_one_piece() {
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    process.definitions.push(Definition::Counter { id: 0, name: "level".to_owned(), unit: "m".to_owned() });
    for (time, value) in [(1000, 3.0), (800_000, 3.0), (1_600_000, 5.0)] {
        process.timed(0, time, |delta| Record::Counter { counter: 0, delta, value });
    }
    process.end = Some(4_000_000);
    let made = Made::of(&spool);
    let answer = asked(&made.open(), (0, 4_000_000), 6, (0, 1));
    assert_eq!(answer.f64("mean"), [3.0, 5.0]);
    assert_eq!(answer.f64("least"), answer.f64("most"));
}

#[test]
fn it_is_told_which_counters_are_where() {
    let made = counting(7);
    let run = made.open();
    let places = ask(&run, &json!({ "ask": "counter-places" }));
    let all = values(&made);
    let found: Vec<(u32, u32)> = places.u32("counter").into_iter().zip(places.u32("location")).collect();
    assert_eq!(found, all.keys().copied().collect::<Vec<_>>());
    assert_eq!(found.len(), 5, "rank 2 has but one");
    let head = ask(&run, &json!({ "ask": "run" })).head;
    for (place, (of, values)) in all.iter().enumerate() {
        assert_eq!(places.u32("number")[place] as usize, values.len());
        if head["counters"][of.0 as usize]["name"] == "queue" {
            let least = values.iter().map(|value| value.1).fold(f64::INFINITY, f64::min);
            let most = values.iter().map(|value| value.1).fold(f64::NEG_INFINITY, f64::max);
            assert!((places.f64("least")[place] - least).abs() < 1e-9);
            assert!((places.f64("most")[place] - most).abs() < 1e-9);
        } else {
            assert!(places.f64("least")[place].is_nan() && places.f64("most")[place].is_nan());
        }
    }
}
