//! Iterations of random lengths: what is found among them, and how often something is that is not there.

use marey_model::Role;
use marey_testkit::{Chance, MadeUp};

use super::{main_loop, ranks};

/// A loop of a barrier, whose iterations take so long.
fn with_lengths(lengths: impl Iterator<Item = f64>) -> MadeUp {
    let mut run = MadeUp::new(2);
    let begin = run.mpi("MPI_Bcast", Role::OneToAll, &[("main", 1)]);
    let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 3)]);
    let end = run.mpi("MPI_Finalize", Role::Manage, &[("main", 9)]);
    run.collective(begin, 10);
    for length in lengths {
        ranks(2).for_each(|rank| run.pause(rank, length.max(1.0) as i64));
        run.collective(barrier, 10);
    }
    run.collective(end, 10);
    run
}

/// How lengths are distributed, ns: about 1 ms.
type Distribution = (&'static str, fn(&mut Chance, usize) -> f64);

const DISTRIBUTIONS: [Distribution; 5] = [
    ("constant", |_, _| 1e6),
    ("normal, 3 %", |chance, _| 1e6 + 3e4 * chance.normal()),
    ("normal, 10 %", |chance, _| 1e6 + 1e5 * chance.normal()),
    ("lognormal, 0.1", |chance, _| 1e6 * (0.1 * chance.normal()).exp()),
    ("lognormal, 0.5", |chance, _| 1e6 * (0.5 * chance.normal()).exp()),
];

#[test]
fn long_iterations_are_found_and_no_others() {
    for (name, length) in DISTRIBUTIONS {
        let (mut planted, mut right, mut wrong, mut runs_with_wrong) = (0, 0, 0, 0);
        for seed in 0..40 {
            let mut chance = Chance::new(seed);
            let number = 50 + chance.below(500) as usize;
            let has_long = seed % 2 == 0;
            let long: Vec<usize> =
                if has_long { (0..3).map(|at| number * (1 + 2 * at) / 6).collect() } else { Vec::new() };
            let lengths = (0..number).map(|at| {
                // Eight standard deviations of the logarithm, and at least half as much more.
                let factor = if name.ends_with("0.5") { 60.0 } else { 3.0 };
                length(&mut chance, at) * if long.contains(&at) { factor } else { 1.0 }
            });
            let it = main_loop(&with_lengths(lengths));
            assert_eq!(it.number, number as u64, "{name} {seed}");
            let found: Vec<usize> = it.outliers.iter().map(|outlier| outlier.iteration).collect();
            planted += long.len();
            right += long.iter().filter(|at| found.contains(at)).count();
            let others = found.iter().filter(|at| !long.contains(at)).count();
            wrong += others;
            runs_with_wrong += usize::from(others > 0);
        }
        eprintln!("{name}: {right} of {planted} found, {wrong} wrong in {runs_with_wrong} of 40 runs");
        assert!(planted * 95 <= right * 100, "{name}: {right} of {planted}");
        assert!(runs_with_wrong <= 2, "{name}: {runs_with_wrong}");
    }
}

#[test]
fn drift_is_found_and_chance_is_none() {
    let (mut found, mut wrong) = (0, 0);
    for seed in 0..100 {
        let mut chance = Chance::new(seed);
        let steady = with_lengths((0..300).map(|_| 1e6 * (0.1 * chance.normal()).exp()));
        wrong += usize::from(main_loop(&steady).drift.is_significant());
        let drifting =
            with_lengths((0..300).map(|at| (1e6 + 500.0 * f64::from(at)) * (0.1 * chance.normal()).exp()));
        let drift = main_loop(&drifting).drift;
        found += usize::from(drift.is_significant() && (drift.slope - 500.0).abs() < 200.0);
    }
    eprintln!("drift of 15 per cent: {found} of 100 found, {wrong} of 100 without any");
    assert!(95 <= found && wrong <= 4, "{found} {wrong}");
}

/// An exact trend, beside iterations of another kind, over more iterations than there are points.
#[test]
fn the_slope_is_that_of_the_iterations() {
    for number in [100, 2500] {
        let run = with_lengths((0..number).map(|at| f64::from(10_000 + 3 * at)));
        let drift = main_loop(&run).drift;
        assert!((drift.slope - 3.0).abs() < 1e-9, "{number}: {drift:?}");
        let median = 10_010.0 + 1.5 * f64::from(number - 1);
        let change = 3.0 * f64::from(number - 1) / median;
        assert!((drift.change - change).abs() < 0.01 && drift.p < 1e-6, "{number}: {drift:?} {change}");
    }
}
