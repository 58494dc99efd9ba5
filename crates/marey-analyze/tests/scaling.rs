//! Runs at several sizes: known truth, worked out by hand from `docs/scaling.md`.
//!
//! The one idea: a program whose every number is a formula in n, as digests of runs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use marey_analyze::{
    Digest, Efficiency, Explained, FunctionName, Measure, PathSums, Place, PlaceKind, PlaceSums, PlaceTime,
    ProcessSums, RegionName, RegionSums, ScaledRow, ScaledSubject, Scaling, Sums, Where, Work, efficiencies,
    ranking, scaling,
};
use marey_model::Nanos;

fn region(verb: &str) -> RegionName {
    RegionName { level: "mpi".to_owned(), verb: verb.to_owned(), ..RegionName::default() }
}

fn place(verb: &str, caller: &str) -> Place {
    let caller = FunctionName { name: caller.to_owned(), file: "app.c".to_owned() };
    Place { kind: PlaceKind::Call, region: region(verb), caller }
}

const S: f64 = 1e9;

#[expect(clippy::cast_possible_truncation, reason = "made-up times are short")]
fn ns(seconds: f64) -> Nanos {
    Nanos((seconds * S).round() as i64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made-up numbers are small")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// A run of n ranks that lasts `5 + 40/n` seconds: rank 0 reads for 5 s, all others wait for it in a broadcast, and all
/// compute for 40/n s. Each rank sends n·log₂ n messages of 100 bytes in no time.
fn run(n: f64, factor: f64) -> Digest {
    let ranks = u32::try_from(whole(n)).unwrap();
    let (read, compute) = (5.0 * factor, 40.0 / n * factor);
    let row = |verb: &str, caller: &str, visits: f64, time: f64, bytes: f64| PlaceSums {
        place: place(verb, caller),
        line: 7,
        sums: Sums {
            visits: whole(visits),
            untimed: 0,
            inclusive: ns(time),
            exclusive: ns(time),
            bytes: whole(bytes),
        },
    };
    let sends = n * n * n.log2();
    let mut digest = Digest::default();
    digest.duration = ns(read + compute);
    digest.alive = Nanos(digest.duration.0 * i64::from(ranks));
    digest.processes = (0..ranks)
        .map(|rank| ProcessSums { rank: Some(rank), time: digest.duration, ..ProcessSums::default() })
        .collect();
    let at = |rank| Where { process: rank, world: 0, rank: Some(rank), thread: 0, lane: String::new() };
    digest.locations = (0..ranks).map(at).collect();
    digest.places = vec![
        row("read", "load", 1.0, read, 1e6),
        row("MPI_Bcast", "load", n, read * (n - 1.0), 0.0),
        row("MPI_Send", "halo", sends, 0.0, 100.0 * sends),
    ];
    digest.regions = digest
        .places
        .iter()
        .map(|row| RegionSums { region: row.place.region.clone(), sums: row.sums, longest: None })
        .filter(|row| row.sums.visits > 0)
        .collect();
    digest.paths = (0..3)
        .map(|at| PathSums { parent: None, place: at, sums: digest.places[at as usize].sums })
        .collect();
    digest.places.push(PlaceSums {
        place: Place { kind: PlaceKind::Outside, ..place("", "") },
        line: 0,
        sums: Sums::default(),
    });
    digest.places[3].place.region = RegionName::default();
    digest.places[3].place.caller = FunctionName::default();
    let time = |place, location, time: f64, waiting: f64, on_path: f64| PlaceTime {
        place,
        location,
        time: ns(time),
        waiting: ns(waiting),
        on_path: ns(on_path),
    };
    let mut times = vec![time(0, 0, read, 0.0, read)];
    for rank in 0..ranks {
        times.push(time(3, rank, compute, 0.0, if rank == 0 { compute } else { 0.0 }));
        if rank > 0 {
            times.push(time(1, rank, 0.0, read, 0.0));
        }
    }
    let largest = read + compute;
    let mean = compute + read / n;
    let efficiency = Efficiency {
        parallel: mean / largest,
        load_balance: mean / largest,
        communication: 1.0,
        serialisation: 1.0,
        setting_up: 1.0,
        transfer: 1.0,
        largest: ns(largest),
        mean: mean * S,
        run_time: ns(largest),
        locations: usize::try_from(ranks).unwrap(),
        ..Efficiency::default()
    };
    digest.explained = Some(Explained {
        waiting: ns(read * (n - 1.0)),
        time: digest.alive,
        efficiency: (ranks > 1).then_some(efficiency),
        efficiency_even_alone: Some(efficiency),
        times,
        costs: vec![(0, 0, read * (n - 1.0) * S)],
        is_whole: true,
        ..Explained::default()
    });
    digest
}

const SIZES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

fn runs(digests: &[Digest]) -> Vec<(f64, &Digest)> {
    SIZES.into_iter().zip(digests).collect()
}

fn digests() -> Vec<Digest> {
    SIZES.iter().map(|n| run(*n, 1.0)).collect()
}

fn place_row<'s>(scaling: &'s Scaling, verb: &str) -> &'s ScaledRow {
    let is_it = |row: &&ScaledRow| match row.subject {
        ScaledSubject::Place(number) => scaling.places[number].0.region.verb == verb,
        _ => false,
    };
    scaling.rows.iter().find(is_it).unwrap()
}

/// `k + c·term`, rounded.
fn law(row: &ScaledRow, measure: Measure) -> String {
    let Some(found) = row.of(measure) else { return "none".to_owned() };
    let Some(model) = &found.model else { return "no model".to_owned() };
    match model.term {
        None => format!("{:.4}", model.constant),
        Some(term) => format!("{:.4} + {:.4} {term}", model.constant, model.coefficient),
    }
}

#[test]
fn each_number_of_each_name_grows_as_it_does() {
    let digests = digests();
    let found = scaling(&runs(&digests));
    for (verb, measure, expected) in [
        ("read", Measure::Path, "5.0000"),
        ("read", Measure::Time, "5.0000"),
        ("read", Measure::TimePerRank, "0.0000 + 5.0000 n^-1"),
        ("read", Measure::Bytes, "1000000.0000"),
        ("read", Measure::DelayCost, "-5.0000 + 5.0000 n"),
        ("read", Measure::Waiting, "none"),
        ("MPI_Bcast", Measure::Waiting, "-5.0000 + 5.0000 n"),
        ("MPI_Bcast", Measure::Path, "none"),
        ("MPI_Bcast", Measure::Visits, "0.0000 + 1.0000 n"),
        ("MPI_Bcast", Measure::TimePerRank, "5.0000 + -5.0000 n^-1"),
        ("MPI_Send", Measure::Visits, "0.0000 + 1.0000 n^2·log2(n)"),
        ("MPI_Send", Measure::Bytes, "0.0000 + 100.0000 n^2·log2(n)"),
        ("MPI_Send", Measure::Time, "none"),
        // The computation outside of calls.
        ("", Measure::Path, "0.0000 + 40.0000 n^-1"),
        ("", Measure::Time, "40.0000"),
    ] {
        assert_eq!(law(place_row(&found, verb), measure), expected, "{verb} {measure:?}");
    }
    let run = found.run().unwrap();
    assert_eq!(law(run, Measure::Path), "5.0000 + 40.0000 n^-1");
    assert_eq!(law(run, Measure::Time), "40.0000 + 5.0000 n");
    assert_eq!(law(run, Measure::Waiting), "-5.0000 + 5.0000 n");
    // Regions and call paths have the same numbers here.
    let of = |is_it: fn(&ScaledSubject) -> bool| -> Vec<String> {
        found.rows.iter().filter(|row| is_it(&row.subject)).map(|row| law(row, Measure::Visits)).collect()
    };
    let mut regions = of(|subject| matches!(subject, ScaledSubject::Region(_)));
    let mut paths = of(|subject| matches!(subject, ScaledSubject::Path(_)));
    regions.sort();
    paths.sort();
    assert_eq!(regions, ["0.0000 + 1.0000 n", "0.0000 + 1.0000 n^2·log2(n)", "1.0000"]);
    assert_eq!(paths, regions);
}

#[test]
fn what_dominates_and_from_where_on() {
    let digests = digests();
    let found = scaling(&runs(&digests));
    let places: Vec<&ScaledRow> =
        found.rows.iter().filter(|row| matches!(row.subject, ScaledSubject::Place(_))).collect();
    let at_64 = ranking(&places, &found.sizes, Measure::Path, 64.0);
    // 5 s of reading, 0.625 s of computing.
    assert!((at_64.total.value - 5.625).abs() < 1e-9);
    let read = &at_64.rows[0];
    assert_eq!(law(places[read.row], Measure::Path), "5.0000");
    assert!((read.share - 5.0 / 5.625).abs() < 1e-9 && !read.prediction.is_far);
    assert_eq!(at_64.rows.len(), 2);
    // 40/n = 5.
    let first = at_64.first.unwrap();
    assert!((first.from - 8.0).abs() < 1e-6, "{first:?}");
    assert_eq!(first.before, Some(at_64.rows[1].row));
    // Where it does not yet, the other one does, from the beginning on.
    let at_4 = ranking(&places, &found.sizes, Measure::Path, 4.0);
    let first = at_4.first.unwrap();
    assert_eq!((first.row, first.before), (at_64.rows[1].row, None));
    assert!((first.from - 1.0).abs() < 1e-9);
    assert!(ranking(&places, &found.sizes, Measure::Path, 65.0).rows[0].prediction.is_far);
    // All of that is clear.
    assert!(at_64.unclear.abs() < 1e-12);
    // Nothing is ranked by what nobody has.
    let none = ranking(&[], &[], Measure::Path, 64.0);
    assert_eq!((none.rows.len(), none.first), (0, None));
}

/// Computing that takes now more, now less, for no reason that sizes know: its mean is 24.8 s, and may be far more at 64.
#[test]
fn a_total_has_room_for_what_is_unclear() {
    let mut digests = digests();
    for (digest, time) in digests.iter_mut().zip([20.0, 31.0, 18.0, 33.0, 22.0]) {
        let explained = digest.explained.as_mut().unwrap();
        let row = explained.times.iter_mut().find(|row| row.place == 3 && row.location == 0).unwrap();
        row.on_path = ns(time);
    }
    let found = scaling(&runs(&digests));
    let places: Vec<&ScaledRow> =
        found.rows.iter().filter(|row| matches!(row.subject, ScaledSubject::Place(_))).collect();
    let at_64 = ranking(&places, &found.sizes, Measure::Path, 64.0);
    assert!((at_64.total.value - 29.8).abs() < 1e-9);
    assert!((at_64.unclear - 24.8 / 29.8).abs() < 1e-9);
    let model = place_row(&found, "").of(Measure::Path).unwrap().model.as_ref().unwrap();
    let own = model.predict(64.0);
    assert!(model.is_unclear() && model.plausible().count() > 1);
    assert!(at_64.total.upper - 5.0 >= own.upper - 1e-9);
}

#[test]
fn efficiencies_are_those_of_pop() {
    let digests = digests();
    let runs = runs(&digests);
    // All do 45 s of useful work; the reference has 45 s on one rank.
    let strong = efficiencies(&runs, Work::OfAll);
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    for (row, n) in strong.iter().zip(SIZES) {
        near(row.scalability.unwrap(), 1.0);
        near(row.own.parallel, 45.0 / n / (5.0 + 40.0 / n));
        near(row.global.unwrap(), row.own.parallel);
        near(row.speed_up, 45.0 / (5.0 + 40.0 / n));
        assert_eq!(row.is_reference, n == 1.0);
    }
    let weak = efficiencies(&runs, Work::OfEach);
    for (row, n) in weak.iter().zip(SIZES) {
        near(row.scalability.unwrap(), n);
        near(row.speed_up, n * 45.0 / (5.0 + 40.0 / n));
    }
    for rows in [&strong, &weak] {
        let reference = rows[0];
        for row in rows {
            let of = |row: &marey_analyze::ScaledEfficiency| {
                row.global.unwrap() * f64::from(u32::try_from(row.own.locations).unwrap())
            };
            near(row.speed_up, of(row) / of(&reference));
        }
    }
    // Twice the work on 8 ranks, as memory that is too slow does it, is seen in the scalability alone.
    let mut slow = digests.clone();
    slow[3] = run(8.0, 2.0);
    let rows = efficiencies(&self::runs(&slow), Work::OfAll);
    near(rows[3].scalability.unwrap(), 0.5);
    near(rows[3].own.parallel, strong[3].own.parallel);
    near(rows[3].global.unwrap(), strong[3].own.parallel / 2.0);
}

#[test]
fn of_repeats_the_median_run_stands_for_its_size() {
    let digests = [run(2.0, 1.0), run(4.0, 3.0), run(4.0, 1.0), run(4.0, 2.0), run(1.0, 1.0)];
    let runs: Vec<(f64, &Digest)> = [2.0, 4.0, 4.0, 4.0, 1.0].into_iter().zip(&digests).collect();
    let rows: Vec<usize> = efficiencies(&runs, Work::OfAll).iter().map(|row| row.run).collect();
    assert_eq!(rows, [4, 0, 3]);
    // The same number of ranks says nothing of scalability.
    let alike: Vec<(f64, &Digest)> = [1.0, 2.0, 3.0].into_iter().zip(&digests[1..4]).collect();
    let rows = efficiencies(&alike, Work::OfAll);
    assert!(rows.iter().all(|row| row.scalability.is_none() && row.global.is_none()));
    assert!((rows[2].speed_up - 1.5).abs() < 1e-9);
    assert!(efficiencies(&[], Work::OfAll).is_empty());
}

#[test]
fn what_was_not_measured_has_no_model() {
    let mut digests = digests();
    digests[2].explained.as_mut().unwrap().is_whole = false;
    let found = scaling(&runs(&digests));
    let read = place_row(&found, "read");
    let path = read.of(Measure::Path).unwrap();
    assert_eq!((path.values[2], path.model.is_none()), (None, true));
    assert_eq!(law(read, Measure::Time), "5.0000");
    assert_eq!(law(found.run().unwrap(), Measure::Path), "5.0000 + 40.0000 n^-1");
    assert!(efficiencies(&runs(&digests), Work::OfAll).is_empty());
    // A repeat that was measured is enough.
    let whole = run(4.0, 1.0);
    let mut with_repeat = runs(&digests);
    with_repeat.push((4.0, &whole));
    assert_eq!(law(place_row(&scaling(&with_repeat), "read"), Measure::Path), "5.0000");
    // Runs of nothing.
    let empty = [Digest::default(), Digest::default()];
    assert!(scaling(&[(1.0, &empty[0]), (2.0, &empty[1])]).rows.is_empty());
    assert!(scaling(&[]).rows.is_empty());
}
