//! Loops inside loops, and calls in a row that are none.

use marey_analyze::Border;
use marey_model::{LocationId, Nanos, Role};
use marey_testkit::{Chance, MadeUp};

use super::{MAIN, found, main_loop, ranks};

/// Each time step calls a solver, which iterates 30 times.
#[test]
fn a_solver_in_each_step_is_an_inner_loop() {
    let mut run = MadeUp::new(2);
    let halo = run.mpi("MPI_Sendrecv", Role::Transfer, &[(MAIN, 5)]);
    let at = |line| [(MAIN, 6), ("cg", line)];
    let dots = [20, 24].map(|line| run.mpi("MPI_Allreduce", Role::AllToAll, &at(line)));
    for _ in 0..10 {
        ranks(2).for_each(|rank| run.pause(rank, 1000));
        ranks(2).for_each(|rank| _ = run.visit(rank, halo, 50));
        for _ in 0..30 {
            for dot in dots {
                ranks(2).for_each(|rank| run.pause(rank, 40));
                run.collective(dot, 10);
            }
        }
    }
    let all = found(&run);
    assert_eq!(all.main, Some(0));
    let [outer, inner] = &all.loops[..] else { panic!("{:?}", all.loops) };
    assert_eq!((outer.number, outer.rounds, outer.inside, outer.time.median), (10, 1, None, 4050.0));
    assert_eq!((inner.number, inner.rounds, inner.inside, inner.time.median), (300, 10, Some(0), 100.0));
    // Between two rounds lies what is not of the solver.
    assert_eq!(inner.iterations[29].to, Nanos(4050));
    assert_eq!(inner.iterations[30].from, Nanos(5100));
    assert!(inner.outliers.is_empty(), "{:?}", inner.outliers);
}

/// Directions of a halo exchange in one function: all computation lies between two sums, however long messages take.
#[test]
fn calls_for_each_direction_are_no_iterations() {
    for (directions, receive_ns) in [(2_i32, 10_i64), (6, 10), (6, 600), (26, 1000)] {
        let mut run = MadeUp::new(2);
        let send = run.mpi("MPI_Send", Role::Transfer, &[(MAIN, 5)]);
        let receive = run.mpi("MPI_Recv", Role::Transfer, &[(MAIN, 6)]);
        let sum = run.mpi("MPI_Allreduce", Role::AllToAll, &[(MAIN, 8)]);
        for _ in 0..40 {
            ranks(2).for_each(|rank| run.pause(rank, 2000));
            for _ in 0..directions {
                for rank in ranks(2) {
                    run.visit(rank, send, 5);
                    run.visit(rank, receive, receive_ns);
                }
            }
            run.collective(sum, 20);
        }
        let it = main_loop(&run);
        assert_eq!((it.number, it.border, it.site.call_path), (40, Border::Closes, sum), "{directions}");
        let length = f64::from(2020 + directions * (5 + i32::try_from(receive_ns).unwrap()));
        assert_eq!((it.time.min, it.time.max), (length, length));
    }
}

/// Rounds of 50 in one function, each followed by another call: the finest that is regular is told.
#[test]
fn the_finest_regular_loop_of_a_function_is_told() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let names = [("MPI_Send", 5), ("MPI_Recv", 6), ("MPI_Barrier", 9)];
    let [send, receive, barrier] = names.map(|(name, line)| run.mpi(name, Role::Transfer, &[(MAIN, line)]));
    for _ in 0..12 {
        for _ in 0..50 {
            run.pause(rank, 100);
            run.visit(rank, send, 10);
            run.visit(rank, receive, 10);
        }
        run.visit(rank, barrier, 30);
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.kinds[1].number, it.kinds[1].every), (600, 11, Some(50)));
}

/// One call of one place, as often as there are steps.
#[test]
fn one_call_alone_can_be_a_loop() {
    let mut run = MadeUp::new(4);
    let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[]);
    for _ in 0..7 {
        ranks(4).for_each(|rank| run.pause(rank, 100 * (1 + i64::from(rank.0))));
        run.collective(barrier, 5);
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.time.min, it.time.max), (7, 405.0, 405.0));
}

/// Functions that are recorded by themselves, one in the other, with other calls inside.
#[test]
fn recorded_functions_are_places_too() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let whole = run.path(None, ("source", "simulate", Role::Work), &[(MAIN, 3)]);
    let step = run.path(Some(whole), ("source", "step", Role::Work), &[(MAIN, 3), ("simulate", 8)]);
    let frames = [(MAIN, 3), ("simulate", 8), ("step", 2)];
    let write = run.path(Some(step), ("files", "write", Role::Io), &frames);
    run.pause(rank, 500);
    run.enter(rank, whole);
    for _ in 0..25 {
        run.pause(rank, 10);
        run.enter(rank, step);
        run.pause(rank, 200);
        run.visit(rank, write, 30);
        run.leave(rank);
    }
    run.leave(rank);
    let it = main_loop(&run);
    assert_eq!((it.number, it.border, it.site.call_path), (25, Border::Visit, step));
    assert_eq!((it.iterations[0].from, it.time.max), (Nanos(510), 230.0));
}

/// Each iteration makes one of five calls at random: no sequence is that of most, but all take about the same time.
#[test]
fn iterations_may_differ_at_random() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let mut chance = Chance::new(1);
    let calls: Vec<_> =
        (0..5).map(|line| run.mpi("MPI_Isend", Role::Transfer, &[(MAIN, 10 + line)])).collect();
    let sum = run.mpi("MPI_Allreduce", Role::AllToAll, &[(MAIN, 30)]);
    for _ in 0..60 {
        run.pause(rank, 1000 + i64::try_from(chance.below(500)).unwrap());
        run.visit(rank, calls[usize::try_from(chance.below(5)).unwrap()], 10);
        run.visit(rank, sum, 20);
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.site.call_path), (60, sum));
}
