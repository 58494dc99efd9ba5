//! Random durations, with and without some that were made longer: how many are found, and how many are not right.

use marey_analyze::Method;
use marey_model::{LocationId, Nanos, Role};
use marey_testkit::{Chance, MadeUp};

use super::found;

/// How durations are distributed; the size is given for those that depend on it.
type Distribution = fn(&mut Chance, u64) -> f64;

/// A distribution, and by what factor some visits are made longer.
const DISTRIBUTIONS: [(&str, Distribution, f64); 9] = [
    ("constant", |_, _| 100_000.0, 1.5),
    ("uniform, ± 20 %", |chance, _| 100_000.0 * (0.8 + 0.4 * chance.uniform()), 4.0),
    ("normal, 5 %", |chance, _| 100_000.0 * (1.0 + 0.05 * chance.normal()), 2.0),
    ("normal, 15 %", |chance, _| 100_000.0 * (1.0 + 0.15 * chance.normal()), 6.0),
    ("lognormal, 0.1", |chance, _| 100_000.0 * (0.1 * chance.normal()).exp(), 3.0),
    ("lognormal, 0.4", |chance, _| 100_000.0 * (0.4 * chance.normal()).exp(), 60.0),
    ("bimodal by size", |chance, bytes| (5000.0 + bytes as f64) * (0.05 * chance.normal()).exp(), 2.0),
    (
        "bimodal by itself",
        |chance, _| {
            let middle = if chance.below(10) < 3 { 800_000.0 } else { 20_000.0 };
            middle * (0.1 * chance.normal()).exp()
        },
        // Those of the lower mode must not come to lie in the upper one, nor between both where it is narrow.
        200.0,
    ),
    ("power law, 3", |chance, _| 100_000.0 * (1.0 - chance.uniform()).powf(-1.0 / 3.0), 0.0),
];

/// So many visits on two ranks; those at these places are so much longer.
fn visits(seed: u64, number: usize, draw: Distribution, long: &[usize], factor: f64) -> MadeUp {
    let mut chance = Chance::new(seed);
    let mut run = MadeUp::new(2);
    let path = run.path(None, ("source", "work", Role::Work), &[("main", 3)]);
    for at in 0..number {
        let rank = LocationId(u32::try_from(at % 2).unwrap());
        let bytes = if chance.below(2) == 0 { 1 << 10 } else { 1 << 18 };
        let length = draw(&mut chance, bytes).max(1.0) * if long.contains(&at) { factor } else { 1.0 };
        run.pause(rank, 1000 + chance.below(1000) as i64);
        run.sized_visit(rank, path, length as i64, Some(bytes));
    }
    run
}

/// In a run of some hundred or thousand visits one in two hundred is longer.
#[test]
fn long_visits_are_found_and_no_others() {
    let runs = 24;
    for (name, draw, factor) in DISTRIBUTIONS {
        let (mut planted, mut right, mut wrong, mut judged, mut with_wrong) = (0, 0, 0, 0, 0);
        for seed in 0..runs {
            let number = 200 + 100 * seed as usize;
            // Every other run has none.
            let has_long = seed % 2 == 0 && factor > 0.0;
            let long: Vec<usize> = if has_long { (100..number).step_by(200).collect() } else { Vec::new() };
            let run = visits(seed, number, draw, &long, factor);
            let all = found(&run, Method::Robust, 1.0);
            // The n-th visit of a rank is known by when it began.
            let starts = starts_of(&run);
            let is_long = |it: &(LocationId, Nanos)| long.iter().any(|at| starts[*at] == *it);
            let here = all.list.iter().filter(|it| is_long(&(it.location, it.start))).count();
            planted += long.len();
            right += here;
            wrong += all.list.len() - here;
            judged += number;
            with_wrong += usize::from(here < all.list.len());
        }
        eprintln!(
            "{name}: {right} of {planted} found; {wrong} wrong of {judged} visits, in {with_wrong} of {runs} runs"
        );
        assert!(planted * 95 <= right * 100, "{name}: {right} of {planted}");
        assert!(with_wrong <= 2, "{name}: {with_wrong}");
    }
}

/// Where and when each visit began, in the order in which they were made.
fn starts_of(run: &MadeUp) -> Vec<(LocationId, Nanos)> {
    use marey_analyze::Happenings;
    let mut of: [Vec<(LocationId, Nanos)>; 2] = [Vec::new(), Vec::new()];
    run.intervals(0, &mut |batch| {
        batch.iter().for_each(|it| of[it.location.idx()].push((it.location, it.start)));
    })
    .unwrap();
    let number = of[0].len() + of[1].len();
    (0..number).map(|at| of[at % 2][at / 2]).collect()
}

/// Where durations truly are normal, Jumpshot's test finds the chosen per cent on either side.
#[test]
fn the_normal_test_finds_its_percentage_of_normal_durations() {
    let draw: Distribution = |chance, _| 100_000.0 * (1.0 + 0.1 * chance.normal());
    let run = visits(1, 20_000, draw, &[], 1.0);
    for percent in [1.0, 5.0, 10.0] {
        let all = found(&run, Method::Normal, percent);
        for found in [all.long, all.short] {
            let share = found as f64 / 200.0;
            assert!((share - percent).abs() < 0.3 * percent, "{percent}: {share}");
        }
    }
}
