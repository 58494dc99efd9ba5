//! Programs without iterations, and runs that are odd.

use marey_analyze::Phases;
use marey_model::{LocationId, Role};
use marey_testkit::{Chance, Drawing, MadeUp, disturbed_drawing, random_drawing};

use super::{MAIN, found, ranks};

#[test]
fn nothing_repeats_in_a_program_that_does_each_thing_once() {
    let mut run = MadeUp::new(2);
    for line in 1..200 {
        let path = run.mpi("MPI_Bcast", Role::OneToAll, &[(MAIN, line)]);
        ranks(2).for_each(|rank| run.pause(rank, 100));
        run.collective(path, 10);
    }
    assert_eq!(found(&run), Phases { loops: Vec::new(), main: None, looked_at: 2 });
}

#[test]
fn four_times_is_no_loop_and_five_times_is_one() {
    for times in [4, 5] {
        let mut run = MadeUp::new(1);
        let path = run.mpi("MPI_Barrier", Role::Barrier, &[(MAIN, 3)]);
        (0..times).for_each(|_| {
            run.pause(LocationId(0), 100);
            run.visit(LocationId(0), path, 10);
        });
        assert_eq!(found(&run).loops.len(), usize::from(times == 5));
    }
}

/// What takes less than a twentieth of the run is not what the program does.
#[test]
fn a_short_loop_at_start_up_is_none() {
    for (ns, is_told) in [(5_000, true), (50_000, false)] {
        let mut run = MadeUp::new(1);
        let read = run.path(None, ("files", "read", Role::Io), &[(MAIN, 3)]);
        let last = run.mpi("MPI_Finalize", Role::Manage, &[(MAIN, 9)]);
        (0..10).for_each(|_| _ = run.visit(LocationId(0), read, 100));
        run.pause(LocationId(0), ns);
        run.visit(LocationId(0), last, 10);
        assert_eq!(found(&run).main.is_some(), is_told, "{ns}");
    }
}

/// Three places and more in a random order, with random pauses: whatever comes next says nothing of what came before.
#[test]
fn a_random_order_is_no_loop() {
    let mut told = 0;
    for seed in 0..300 {
        let mut chance = Chance::new(seed);
        let mut run = MadeUp::new(1);
        let places = 3 + chance.below(6);
        let paths: Vec<_> =
            (0..places).map(|line| run.mpi("MPI_Send", Role::Transfer, &[(MAIN, 1 + line as u32)])).collect();
        for _ in 0..40 + chance.below(400) {
            run.pause(LocationId(0), (-1000.0 * (1.0 - chance.uniform()).ln()) as i64);
            run.visit(LocationId(0), paths[chance.below(places) as usize], 10);
        }
        told += usize::from(found(&run).main.is_some());
    }
    eprintln!("{told} of 300 random orders were told as loops");
    assert!(told <= 3, "{told}");
}

#[test]
fn odd_runs_have_no_iterations() {
    assert_eq!(found(&MadeUp::new(0)), Phases::default());
    assert_eq!(found(&MadeUp::new(3)), Phases { looked_at: 3, ..Phases::default() });
}

/// Whatever is found lies in order, within the run.
#[test]
fn iterations_of_any_run_lie_one_behind_the_other() {
    let mut loops = 0;
    for seed in 1..=1000 {
        for text in [random_drawing(seed), disturbed_drawing(seed)] {
            let drawing = Drawing::parse(&text).unwrap();
            let all = found(&drawing);
            for it in &all.loops {
                loops += 1;
                assert_eq!(it.iterations.len() as u64, it.number);
                for pair in it.iterations.windows(2) {
                    assert!(pair[0].from <= pair[0].to && pair[0].to <= pair[1].to, "{pair:?}\n{text}");
                }
            }
        }
    }
    assert!(20 < loops, "{loops}");
}
