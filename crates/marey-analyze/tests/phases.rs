//! Iterations: known truth, in runs that are made up as loops.
//!
//! The one idea: the test itself is the program, and notes when its iterations began; what is found is compared to the
//! nanosecond with what `docs/phases.md` says follows from that.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::cast_possible_truncation, reason = "drawn durations and counts are small")]

#[path = "phases/chance.rs"]
mod chance;
#[path = "phases/inner.rs"]
mod inner;
#[path = "phases/odd.rs"]
mod odd;
#[path = "phases/within.rs"]
mod within;

use marey_analyze::{Border, Happenings, Loop, Phases, Trace, phases};
use marey_model::{CallPathId, LocationId, Nanos, Role};
use marey_testkit::MadeUp;

const MAIN: &str = "main";

fn ranks(number: u32) -> impl Iterator<Item = LocationId> + Clone {
    (0..number).map(LocationId)
}

fn found(run: &(impl Trace + Happenings)) -> Phases {
    phases(run, run).unwrap()
}

/// The main loop, which there must be.
fn main_loop(run: &(impl Trace + Happenings)) -> Loop {
    let found = found(run);
    let main = found.main.unwrap_or_else(|| panic!("no iterations were found"));
    found.loops[main].clone()
}

fn spans(it: &Loop) -> Vec<(i64, i64)> {
    it.iterations.iter().map(|iteration| (iteration.from.0, iteration.to.0)).collect()
}

/// A program whose iterations each compute, send a message and add something up.
struct Solver {
    run: MadeUp,
    send: CallPathId,
    receive: CallPathId,
    sum: CallPathId,
    bcast: CallPathId,
    finalize: CallPathId,
}

impl Solver {
    fn new() -> Self {
        let mut run = MadeUp::new(2);
        let at = |line| [(MAIN, 12), ("solve", line)];
        Self {
            send: run.mpi("MPI_Send", Role::Transfer, &at(30)),
            receive: run.mpi("MPI_Recv", Role::Transfer, &at(32)),
            sum: run.mpi("MPI_Allreduce", Role::AllToAll, &at(35)),
            bcast: run.mpi("MPI_Bcast", Role::OneToAll, &[(MAIN, 10)]),
            finalize: run.mpi("MPI_Finalize", Role::Manage, &[(MAIN, 20)]),
            run,
        }
    }

    /// Both compute for so long.
    fn compute(&mut self, ns: [i64; 2]) {
        ranks(2).zip(ns).for_each(|(rank, ns)| self.run.pause(rank, ns));
    }

    /// Rank 0 sends to rank 1, 10 ns, and all add up, 20 ns.
    fn exchange(&mut self) {
        self.run.message((LocationId(0), self.send), (LocationId(1), self.receive), 8, 10);
        self.run.collective(self.sum, 20);
    }

    fn begin(&mut self) {
        self.run.collective(self.bcast, 100);
    }

    fn end(&mut self) {
        self.run.collective(self.finalize, 50);
    }

    fn now(&self) -> i64 {
        ranks(2).map(|rank| self.run.now(rank).0).max().unwrap()
    }
}

/// Each iteration is 400 ns of computation, a message and a sum.
fn five_hundred() -> (Solver, Vec<(i64, i64)>) {
    let mut solver = Solver::new();
    solver.begin();
    let mut truth = Vec::new();
    for _ in 0..500 {
        let began = solver.now();
        solver.compute([400, 400]);
        solver.exchange();
        truth.push((began, solver.now()));
    }
    solver.end();
    (solver, truth)
}

#[test]
fn iterations_that_end_with_a_call_are_found_to_the_nanosecond() {
    let (solver, truth) = five_hundred();
    let it = main_loop(&solver.run);
    assert_eq!((it.number, it.per, it.rounds, it.border), (500, 1, 1, Border::Closes));
    assert_eq!((it.site.call_path, &it.site.frame, it.site.is_single), (solver.sum, &None, true));
    assert_eq!(it.locations, [LocationId(0), LocationId(1)]);
    assert_eq!(spans(&it), truth);
    assert_eq!((it.time.min, it.time.median, it.time.max), (430.0, 430.0, 430.0));
    assert!(it.outliers.is_empty() && it.kinds.len() == 1 && !it.drift.is_significant(), "{it:?}");
    assert_eq!(found(&solver.run).loops.len(), 1);
}

#[test]
fn it_does_not_matter_how_a_run_is_cut() {
    let (solver, _) = five_hundred();
    let whole = found(&solver.run);
    for length in [100, 777, 100_000] {
        assert_eq!(found(&solver.run.clone().cut_every(length)), whole);
    }
}

/// Each iteration is a message, a sum and then 400 ns of computation; behind the last other calls follow.
#[test]
fn iterations_that_begin_with_a_call_are_found_to_the_nanosecond() {
    let mut solver = Solver::new();
    solver.begin();
    let mut truth = Vec::new();
    for _ in 0..50 {
        let began = solver.now();
        solver.exchange();
        solver.compute([400, 400]);
        truth.push((began, solver.now()));
    }
    // Rank 1 posts its receive when rank 0 sends, so that all begin at once.
    solver.end();
    let it = main_loop(&solver.run);
    assert_eq!((it.number, it.border), (50, Border::Opens));
    assert_eq!(spans(&it), truth);
}

/// Nobody says how much of the time before the first exchange was start-up: as much as between two iterations is theirs.
#[test]
fn computation_at_start_up_is_no_iteration() {
    let mut solver = Solver::new();
    solver.begin();
    solver.compute([50_000, 50_000]);
    let began = solver.now();
    for _ in 0..20 {
        solver.compute([400, 400]);
        solver.exchange();
    }
    let ended = solver.now();
    solver.end();
    let it = main_loop(&solver.run);
    assert_eq!(it.span(), (Nanos(began), Nanos(ended)));
    assert_eq!((it.time.min, it.time.max), (430.0, 430.0));
}

/// Every 20th iteration exchanges at another place and tells of its state, as molecular dynamics does.
#[test]
fn iterations_may_be_of_several_kinds() {
    let mut run = MadeUp::new(2);
    let at = |line, name| [("run", line), (name, 5)];
    let forward = run.mpi("MPI_Send", Role::Transfer, &at(10, "forward"));
    let rebuild = run.mpi("MPI_Allgather", Role::AllToAll, &at(12, "rebuild"));
    let reverse = [
        run.mpi("MPI_Irecv", Role::Transfer, &at(14, "reverse")),
        run.mpi("MPI_Wait", Role::Wait, &at(14, "reverse")),
    ];
    let tell = run.mpi("MPI_Allreduce", Role::AllToAll, &at(16, "tell"));
    for step in 1..=250 {
        if step % 20 == 0 {
            run.collective(rebuild, 300);
        } else {
            ranks(2).for_each(|rank| (0..2).for_each(|_| _ = run.visit(rank, forward, 20)));
        }
        ranks(2).for_each(|rank| run.pause(rank, 500));
        // In each of two directions.
        (0..2).for_each(|_| {
            reverse.iter().for_each(|path| ranks(2).for_each(|rank| _ = run.visit(rank, *path, 30)))
        });
        if step % 50 == 0 {
            run.collective(tell, 40);
        }
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.border, it.rounds), (250, Border::Closes, 1));
    assert_eq!(it.site.frame.as_ref().map(|frame| (frame.function.as_str(), frame.line)), Some(("run", 14)));
    let kinds: Vec<(u64, Option<u64>, f64)> =
        it.kinds.iter().map(|kind| (kind.number, kind.every, kind.time.median)).collect();
    // What was told at the end of one lies before the next, and that behind the last in none.
    assert_eq!(kinds, [(234, None, 660.0), (12, Some(20), 920.0), (4, Some(50), 700.0)]);
    // Steps of 20 ns are 3 per cent, which is less than 20.
    assert!(it.outliers.is_empty(), "{:?}", it.outliers);
}

/// Rank 1 takes 2 µs longer in iteration 312, and that is what is told.
#[test]
fn one_long_iteration_is_told() {
    let mut solver = Solver::new();
    solver.begin();
    for iteration in 0..500 {
        solver.compute([400, if iteration == 312 { 2400 } else { 400 }]);
        solver.exchange();
    }
    solver.end();
    let it = main_loop(&solver.run);
    let [outlier] = it.outliers[..] else { panic!("{:?}", it.outliers) };
    assert_eq!((outlier.iteration, it.iterations[312].length(), outlier.has_like), (312, Nanos(2430), true));
    assert!((outlier.excess - 2000.0).abs() < 1e-6 && (outlier.expected - 430.0).abs() < 1e-6, "{outlier:?}");
}

/// Five of a kind are long, each as long as the others but for one; and so are three.
#[test]
fn a_few_of_a_kind_are_compared_with_each_other() {
    let mut solver = Solver::new();
    let tell = solver.run.mpi("MPI_Gather", Role::AllToOne, &[(MAIN, 12), ("solve", 33)]);
    let save = solver.run.mpi("MPI_File_write_all", Role::Io, &[(MAIN, 12), ("solve", 34)]);
    solver.begin();
    for at in 1..=100 {
        solver.compute([400, 400]);
        if at % 20 == 0 {
            solver.run.collective(tell, if at == 60 { 9000 } else { 4000 });
        }
        if at % 40 == 17 {
            solver.run.collective(save, 4000);
        }
        solver.exchange();
    }
    solver.end();
    let it = main_loop(&solver.run);
    let found: Vec<(usize, bool)> = it.outliers.iter().map(|it| (it.iteration + 1, it.has_like)).collect();
    // 17, 57 and 97 are three.
    assert_eq!(found, [(60, true)]);
}

#[test]
fn visits_of_a_region_of_the_program_are_iterations() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let step = run.path(None, ("source", "step", Role::Work), &[(MAIN, 7)]);
    let write = run.path(None, ("files", "write", Role::Io), &[(MAIN, 9)]);
    run.pause(rank, 1000);
    let mut truth = Vec::new();
    for at in 0..100 {
        let visit = run.visit(rank, step, 700 + at % 3);
        truth.push((visit.start.0, visit.end.0));
        run.visit(rank, write, 100);
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.border, it.site.call_path), (100, Border::Closes, write));
    // A region alone is its own border.
    let mut run = MadeUp::new(1);
    let step = run.path(None, ("source", "step", Role::Work), &[(MAIN, 7)]);
    let mut truth = Vec::new();
    for at in 0..100 {
        run.pause(rank, 50);
        let visit = run.visit(rank, step, 700 + at % 3);
        truth.push((visit.start.0, visit.end.0));
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.border), (100, Border::Visit));
    assert_eq!(spans(&it), truth);
}

/// One function iterates 100 times and then another 300 times, at other places.
#[test]
fn loops_one_after_the_other_are_told_apart() {
    let mut run = MadeUp::new(2);
    let sums = [3, 5].map(|line| run.mpi("MPI_Allreduce", Role::AllToAll, &[(MAIN, line)]));
    for (sum, number, ns) in [(sums[0], 100, 500), (sums[1], 300, 200)] {
        for _ in 0..number {
            ranks(2).for_each(|rank| run.pause(rank, ns));
            run.collective(sum, 10);
        }
    }
    let all = found(&run);
    let told: Vec<(u64, CallPathId, (Nanos, Nanos))> =
        all.loops.iter().map(|it| (it.number, it.site.call_path, it.span())).collect();
    assert_eq!(
        told,
        [(100, sums[0], (Nanos(0), Nanos(51_000))), (300, sums[1], (Nanos(51_000), Nanos(114_000)))]
    );
    assert_eq!(all.main, Some(1));
}

/// Ranks were killed one iteration apart.
#[test]
fn ranks_may_have_done_one_iteration_more() {
    let mut run = MadeUp::new(2);
    let wait = run.mpi("MPI_Wait", Role::Wait, &[(MAIN, 3)]);
    for (rank, number) in ranks(2).zip([40, 41]) {
        for _ in 0..number {
            run.pause(rank, 100);
            run.visit(rank, wait, 10);
        }
    }
    let it = main_loop(&run);
    assert_eq!((it.number, it.locations.len()), (40, 2));
}

/// Threads have no MPI, and the first one only joins them.
#[test]
fn threads_iterate_too() {
    let mut run = MadeUp::new(1);
    let join = run.path(None, ("threads", "pthread_join", Role::Wait), &[(MAIN, 40)]);
    let barrier = run.path(None, ("threads", "pthread_barrier_wait", Role::Barrier), &[("worker", 9)]);
    let threads: Vec<LocationId> = (0..3).map(|_| run.thread(0)).collect();
    for (at, thread) in (0..).zip(&threads) {
        for _ in 0..64 {
            run.pause(*thread, 1000 + at);
            run.visit(*thread, barrier, 100 - at);
        }
    }
    run.visit(LocationId(0), join, 64 * 1100);
    let it = main_loop(&run);
    assert_eq!((it.number, it.locations, it.site.call_path), (64, threads, barrier));
    assert_eq!(it.time.mean, 1100.0);
}
