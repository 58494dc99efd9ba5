//! Corrections that are applied on reading: times move, files do not.

use std::collections::BTreeMap;
use std::path::Path;

use marey_analyze::Span;
use marey_archive::corrections::{Corrections, Fit, FitKnot, refit, violations};
use marey_archive::{Archive, Column, Columns, Detail, Filter, Meta, Part, RunTrace, pack, write_table};
use marey_model::Nanos;

use super::simulated::{self, Random};
use super::{Merged, merged};

fn run(merged: &Merged) -> std::path::PathBuf {
    merged.dir.path().join("run")
}

fn offsets(of: &[(u32, i64)]) -> Corrections {
    Corrections { offsets: of.iter().copied().collect(), ..Corrections::default() }
}

/// All files but the one with corrections.
fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![run.to_owned()];
    while let Some(place) = open.pop() {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() != "corrections.json" {
                found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn column(archive: &Archive, table: &str, name: &str) -> Vec<i64> {
    archive.table(table).unwrap().i64(name).unwrap().to_vec()
}

/// Which process each row belongs to, by a column of locations.
fn whose(archive: &Archive, table: &str, key: &str) -> Vec<u32> {
    let locations = archive.table("locations").unwrap();
    let of = locations.u32("process").unwrap();
    archive.table(table).unwrap().u32(key).unwrap().iter().map(|&place| of[place as usize]).collect()
}

const TIMES: [(&str, &str, &str); 4] = [
    ("intervals", "location", "start"),
    ("messages", "send_location", "send_time"),
    ("messages", "recv_location", "recv_post"),
    ("messages", "recv_location", "recv_time"),
];

/// `added` says by how much times of each process move, given the time as it was merged.
#[track_caller]
fn check(merged: &Merged, corrections: &Corrections, added: impl Fn(u32, i64) -> i64) {
    let before = files(&run(merged));
    corrections.save(&run(merged)).unwrap();
    let corrected = Archive::open(&run(merged)).unwrap();
    for (table, key, name) in TIMES {
        let was = column(&merged.archive, table, name);
        let is = column(&corrected, table, name);
        for ((&was, &is), process) in was.iter().zip(&is).zip(whose(&merged.archive, table, key)) {
            assert!((is - was - added(process, was)).abs() <= 1, "{table}.{name} of {process}: {was} {is}");
            assert!(is >= 0);
        }
    }
    let ends = column(&merged.archive, "processes", "end");
    let last = (0..).zip(&ends).map(|(process, &end)| end + added(process, end)).max().unwrap();
    assert!((corrected.meta().run.duration_ns - last).abs() <= 1);
    assert_eq!(files(&run(merged)), before);
    // Whoever asks for a part of the time gets what has come to lie there, and no other rows.
    let whole = column(&corrected, "intervals", "start");
    let range = whole[whole.len() / 3] - 40_000_000..whole[whole.len() / 3] + 40_000_000;
    let filter = Filter { column: "start", range: range.clone() };
    let mut found = Vec::new();
    let scanned = corrected
        .scan("intervals", &["start"], &[filter], |rows| found.extend_from_slice(rows.i64("start").unwrap()))
        .unwrap();
    assert!(scanned.damage.is_empty());
    let mut expected: Vec<i64> = whole.into_iter().filter(|start| range.contains(start)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert!(expected.len() > 10);
    assert_eq!(found, expected);
    Corrections::default().save(&run(merged)).unwrap();
    assert!(!run(merged).join("corrections.json").exists());
    assert_eq!(
        column(&Archive::open(&run(merged)).unwrap(), "intervals", "start"),
        column(&merged.archive, "intervals", "start")
    );
}

#[test]
fn an_offset_moves_one_process_and_nothing_that_was_merged() {
    let merged = merged(&simulated::of_one_clock(3).spool);
    check(&merged, &offsets(&[(1, 250_000)]), |process, _| if process == 1 { 250_000 } else { 0 });
    // Nothing can be before the start of the run, so the others come later.
    check(&merged, &offsets(&[(1, -250_000)]), |process, _| if process == 1 { 0 } else { 250_000 });
    check(
        &merged,
        &offsets(&[(0, 5_000_000_000), (1, -7)]),
        |process, _| if process == 0 { 5_000_000_007 } else { 0 },
    );
}

#[test]
fn a_fit_moves_times_along_its_lines() {
    let merged = merged(&simulated::of_one_clock(4).spool);
    let second = 1_000_000_000;
    let knot = |time, add| FitKnot { time, add, uncertainty: 5 };
    let knots = vec![knot(0, 1000), knot(second, 2000), knot(second + 1, 50_000)];
    let fits = vec![Fit { processes: vec![1], knots }];
    let along = |process: u32, time: i64| match (process, time) {
        (0, _) => 0,
        (_, time) if time <= second => 1000 + time / (second / 1000),
        _ => 50_000,
    };
    check(&merged, &Corrections { fits: fits.clone(), ..Corrections::default() }, along);
    let both = Corrections { fits, ..offsets(&[(1, 300)]) };
    check(&merged, &both, |process, time| along(process, time) + if process == 1 { 300 } else { 0 });
}

/// Whatever stands in the file, an archive is read.
#[test]
fn knots_at_the_ends_of_time_stop_nothing() {
    let merged = merged(&simulated::of_one_clock(5).spool);
    for times in [[i64::MIN + 5, 0], [0, i64::MAX - 5], [i64::MIN + 5, i64::MAX - 5]] {
        for add in [i64::MIN, 0, i64::MAX] {
            let knots = times.map(|time| FitKnot { time, add, uncertainty: i64::MAX }).to_vec();
            let fits = vec![Fit { processes: vec![0], knots }];
            Corrections { fits, ..offsets(&[(1, i64::MIN)]) }.save(&run(&merged)).unwrap();
            let archive = Archive::open(&run(&merged)).unwrap();
            for table in marey_archive::schema::TABLES {
                archive.table(table.name).unwrap();
            }
            RunTrace::load(&archive).unwrap();
        }
    }
}

/// Buckets of the level of detail in a span, told one by one.
fn pictured(archive: &Archive, (from, to): (i64, i64), log2: u32) -> Vec<(u32, u32, u32, i64, u32)> {
    let detail = Detail::load(archive).unwrap();
    let locations = u32::try_from(archive.table("locations").unwrap().len()).unwrap();
    let span = Span { from: Nanos(from), to: Nanos(to) };
    let mut found = Vec::new();
    detail
        .buckets(archive, span, 0..locations, log2, &mut |it| {
            let region = it.regions[0].expect("a bucket has something in it").0;
            found.extend((0..it.n).map(|more| (it.location, it.level, it.depth, it.number + more, region)));
        })
        .unwrap();
    found.sort_unstable();
    found
}

#[test]
fn pictures_move_by_whole_buckets_with_the_clock_of_their_process() {
    let merged = merged(&simulated::of_one_clock(6).spool);
    let duration = merged.archive.meta().run.duration_ns;
    let finest = column(&merged.archive, "intervals", "start").len();
    assert!(finest > 1000, "a picture has something to show");
    let mut chance = marey_testkit::Chance::new(7);
    let process_of = merged.archive.table("locations").unwrap().u32("process").unwrap().to_vec();
    for log2 in [19, 22, 25] {
        let bucket = 1_i64 << log2;
        let all = pictured(&merged.archive, (0, 2 * duration), log2);
        // Whole buckets, a little more, and a little less.
        for (add, moved) in [(3 * bucket, 3), (17 * bucket + bucket / 3, 17), (17 * bucket - bucket / 3, 17)]
        {
            offsets(&[(1, add)]).save(&run(&merged)).unwrap();
            let corrected = Archive::open(&run(&merged)).unwrap();
            let moved = |location: u32| if process_of[location as usize] == 1 { moved } else { 0 };
            for _ in 0..20 {
                let first = i64::try_from(chance.below(duration.unsigned_abs())).unwrap() / bucket;
                let last = first + i64::try_from(chance.below(40)).unwrap();
                let expected: Vec<_> = all
                    .iter()
                    .map(|&(location, level, depth, number, region)| {
                        (location, level, depth, number + moved(location), region)
                    })
                    .filter(|row| (first..=last).contains(&row.3))
                    .collect();
                let found = pictured(&corrected, (first * bucket, (last + 1) * bucket), log2);
                assert_eq!(found, expected, "{log2} {add} {first}");
            }
        }
    }
    Corrections::default().save(&run(&merged)).unwrap();
}

/// Rows with a column changed.
fn changed(rows: &Columns, name: &str, column: Column) -> Columns {
    let place = rows.spec().column(name).unwrap();
    let mut columns = rows.columns().to_vec();
    columns[place] = column;
    Columns::from_columns(rows.spec(), columns).unwrap()
}

/// Writes a table in the place of that of a run, which says so.
fn put(run: &Path, rows: &Columns) {
    let mut meta = Meta::load(run).unwrap();
    meta.add(rows.spec(), Part::new(rows.spec(), 0, 0, write_table(run, rows).unwrap()));
    meta.save(run).unwrap();
}

/// A merge that knew nothing of the clocks: both processes said that they count one, and they do not.
#[test]
fn clocks_are_found_from_messages_alone() {
    for seed in 0..4 {
        let mut random = Random(seed * 17 + 2);
        let clocks = [simulated::Clock::default(), simulated::stepped_and_changing(&mut random)];
        let mut made = simulated::simulate(clocks, &mut random, true);
        for process in &mut made.spool.processes {
            (process.host, process.boot) = ("node".to_owned(), "boot".to_owned());
        }
        let merged = merged(&made.spool);
        let place = run(&merged);
        assert!(merged.problem("clock_violations") > 1000);
        let table = changed(&merged.table("clocks"), "clock", Column::U32(vec![0, 1]));
        let table = changed(&table, "uncertainty_ns", Column::I64(vec![0, -1]));
        put(&place, &table);
        let knots = merged.table("clock_knots");
        let bars = knots.u32("process").unwrap().iter().map(|&process| -i64::from(process)).collect();
        put(&place, &changed(&knots, "uncertainty_ns", Column::I64(bars)));

        let found = refit(&place).unwrap();
        assert_eq!((found.clocks, found.fits.len()), (2, 1));
        found.into_corrections(&Corrections::default()).save(&place).unwrap();
        let corrected = Archive::open(&place).unwrap();
        assert_eq!(violations(&corrected).unwrap(), 0);
        let bar = corrected.table("clocks").unwrap().i64("uncertainty_ns").unwrap()[1];
        assert!((0..=5_100_000).contains(&bar), "{bar}");
        let [right, other] = simulated::marks(&corrected);
        let errors: Vec<i64> = right.iter().zip(&other).map(|(right, other)| (other - right).abs()).collect();
        let close = errors.iter().filter(|&&error| error as f64 <= 2.0 * made.quickest).count();
        assert!(close * 100 >= errors.len() * 98, "{close} of {}", errors.len());
        assert!(errors.iter().all(|&error| error <= bar), "{:?} {bar}", errors.iter().max());
        // Again from there: always from what was merged, so nothing more is found.
        let again = refit(&place).unwrap();
        assert_eq!(again.into_corrections(&Corrections::default()).fits, corrected.corrections().fits);
    }
}

#[test]
fn a_good_fit_stays_as_it_is() {
    let mut random = Random(8);
    let clocks = [simulated::Clock::default(), simulated::line(&mut random)];
    let merged = merged(&simulated::simulate(clocks, &mut random, true).spool);
    let found = refit(&run(&merged)).unwrap();
    let most = found.fits.iter().flat_map(|fit| &fit.knots).map(|knot| knot.add.abs()).max().unwrap_or(0);
    let bar = merged.table("clocks").i64("uncertainty_ns").unwrap()[1];
    assert!(most <= bar / 4, "{most} of {bar}");
}

#[test]
fn corrections_go_with_a_packed_run() {
    let merged = merged(&simulated::of_one_clock(5).spool);
    let place = run(&merged);
    let corrections = Corrections { violations: Some(17), ..offsets(&[(1, 12_345)]) };
    corrections.save(&place).unwrap();
    let packed = merged.dir.path().join("packed.zip");
    pack(&place, &packed).unwrap();
    let [one, other] = [&place, &packed].map(|path| Archive::open(path).unwrap());
    assert_eq!(one.corrections().offsets, other.corrections().offsets);
    assert_eq!(column(&one, "intervals", "start"), column(&other, "intervals", "start"));
    assert_ne!(column(&one, "intervals", "start"), column(&merged.archive, "intervals", "start"));
    let trace = RunTrace::load(&other).unwrap();
    let counted =
        marey_analyze::Trace::problems(&trace).iter().find(|problem| problem.kind == "clock_violations");
    assert_eq!(counted.unwrap().count, 17);
}

#[test]
fn nonsense_in_the_file_is_an_error_or_harmless() {
    let merged = merged(&simulated::of_one_clock(6).spool);
    let place = run(&merged);
    let file = place.join("corrections.json");
    for text in ["", "{", r#"{"version": 9, "offsets": {"1": 5}}"#, r#"{"offsets": {"x": 5}}"#] {
        std::fs::write(&file, text).unwrap();
        let error = Archive::open(&place).unwrap_err().to_string();
        assert!(error.contains("corrections.json"), "{error}");
    }
    let most = i64::MAX;
    for text in [
        format!(r#"{{"offsets": {{"1": {most}, "77": 3}}}}"#),
        format!(r#"{{"fits": [{{"processes": [1, 99], "knots": [{{"time": {most}, "add": {most}}}]}}]}}"#),
        r#"{"fits": [{"processes": [1], "knots": [{"time": 9, "add": 7}, {"time": 9, "add": -7}, {"time": 1}]}]}"#.to_owned(),
        r#"{"fits": [{"processes": [0, 1], "knots": []}]}"#.to_owned(),
    ] {
        std::fs::write(&file, text).unwrap();
        let archive = Archive::open(&place).unwrap();
        RunTrace::load(&archive).unwrap();
        violations(&archive).unwrap();
        archive.table("intervals").unwrap();
    }
}
