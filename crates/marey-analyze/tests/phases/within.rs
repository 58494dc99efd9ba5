//! What was done in iterations.

use marey_analyze::{Activity, Shares, shares, waits};
use marey_model::{LocationId, Nanos, Role};

use super::{Solver, main_loop};

fn shares_of(solver: &Solver) -> Shares {
    let run = &solver.run;
    let waits = waits(run, run).unwrap();
    shares(run, run, &waits, &main_loop(run)).unwrap()
}

/// Rank 1 computes 400 ns, rank 0 300 ns and then sends; rank 1 posts its receive 90 ns after rank 0 has sent, and rank
/// 0 waits those 90 ns and the 10 of the receive for rank 1 in the sum.
#[test]
fn the_time_of_iterations_is_told_by_what_was_done() {
    let mut solver = Solver::new();
    solver.begin();
    for at in 0..100 {
        solver.compute([300, if at == 60 { 3400 } else { 400 }]);
        solver.exchange();
    }
    solver.end();
    let it = main_loop(&solver.run);
    assert_eq!(it.iterations[0].length(), Nanos(430));
    let found = shares_of(&solver);
    // By hand: useful 300 and 400; rank 0 sends 10, is in the sum 120, of which it waits 100; rank 1 receives 10, sums 20.
    assert_eq!(found.of_each[0], [350.0, 50.0, 80.0]);
    assert_eq!(found.of_each[60], [1850.0, 1550.0, 1580.0]);
    assert_eq!((found.useful.median, found.waiting.median, found.mpi.median), (350.0, 50.0, 80.0));
    assert_eq!((found.useful.min, found.useful.max), (350.0, 1850.0));
    assert_eq!(found.typical, Some(0));
    let (varies, figures) = found.activities[0];
    assert_eq!((varies, figures.min, figures.max), (Activity::Outside, 350.0, 1850.0));
    let different = found.different[0].unwrap();
    assert_eq!(
        (different.location, different.activity, different.time, different.excess),
        (LocationId(1), Activity::Outside, Nanos(3400), 3000.0)
    );
    for (each, iteration) in found.of_each.iter().zip(&it.iterations) {
        // Useful, waiting and what of MPI is no wait is all that there is.
        assert_eq!(each[0] + each[1] + 30.0, iteration.length().0 as f64);
    }
}

/// Three iterations in five are as in the middle, in other places than the first.
#[test]
fn the_most_typical_iteration_is_nearest_to_the_medians() {
    let mut solver = Solver::new();
    solver.begin();
    // By time alone 2 would be as good as 4; by what was done it is not.
    for [first, second] in
        [[900, 900], [410, 380], [430, 390], [100, 100], [420, 390], [440, 400], [405, 395]]
    {
        solver.compute([first, second]);
        solver.exchange();
    }
    solver.end();
    let found = shares_of(&solver);
    // Sums over both ranks: computation 1800 790 820 200 810 840 800, median 810; others follow from that.
    assert_eq!(found.typical, Some(4));
}

/// Every tenth iteration also tells of its state.
#[test]
fn what_only_a_kind_does_is_told() {
    let mut solver = Solver::new();
    let tell = solver.run.mpi("MPI_Gather", Role::AllToOne, &[("main", 12), ("solve", 33)]);
    solver.begin();
    for at in 1..=50 {
        solver.compute([400, 400]);
        if at % 10 == 0 {
            solver.run.collective(tell, 70);
        }
        solver.exchange();
    }
    solver.end();
    let found = shares_of(&solver);
    assert_eq!(found.only_in, [None, Some(Activity::Path(tell))]);
}
