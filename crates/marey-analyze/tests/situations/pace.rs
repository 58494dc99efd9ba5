//! Changes of pace in runs that are made up visit by visit: told once, and by whose fault.

use marey_analyze::{
    Activity, Happenings, Situation, SituationKind, SituationRules, Trace, causes, situations,
};
use marey_model::{CallPathId, LocationId, Nanos, Role};
use marey_testkit::MadeUp;

const MS: i64 = 1_000_000;
const ALL: [LocationId; 2] = [LocationId(0), LocationId(1)];

fn found(run: &(impl Trace + Happenings)) -> Vec<Situation> {
    let rules = "slow-downs everyone by 50%\nspeed-ups everyone by 50%";
    let rules = SituationRules::parse(rules).expect("they are rules");
    let causes = causes(run, run).expect("all can be read");
    situations(run, run, &causes, &rules).expect("all can be read").list
}

fn region(run: &impl Trace, path: CallPathId) -> String {
    run.regions()[run.call_paths()[path.idx()].region.idx()].name().to_owned()
}

/// Two ranks compute 20 ms and meet, 80 times. In the middle half rank 0 is 20 ms longer about it: it computes so much
/// more, or has no processor for so long.
fn run(has_processor: bool) -> MadeUp {
    let mut run = MadeUp::new(2);
    run.sample(5 * MS);
    let solve = run.path(None, ("source", "solve", Role::Work), &[]);
    let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 7)]);
    for step in 0..80 {
        for rank in ALL {
            run.enter(rank, solve);
            run.pause(rank, 20 * MS);
            if rank == LocationId(0) && (20..60).contains(&step) {
                if has_processor {
                    run.pause(rank, 20 * MS);
                } else {
                    run.stand_still(rank, 20 * MS);
                }
            }
            run.leave(rank);
        }
        run.collective(barrier, MS / 10);
    }
    run
}

/// The processor was taken away, and came back: both are told, and that the program did not change.
#[test]
fn a_missing_processor_is_no_other_program() {
    for has_processor in [false, true] {
        for length in [70 * MS, i64::MAX] {
            let run = run(has_processor).cut_every(length);
            let found = found(&run);
            let kinds: Vec<_> = found.iter().map(|it| it.kind).collect();
            assert_eq!(kinds, [SituationKind::SlowDown, SituationKind::SpeedUp], "{found:#?}");
            for it in &found {
                let cause = it.cause.expect("there is one");
                assert_eq!((cause.location, cause.is_waiting), (LocationId(0), false));
                let Activity::Path(path) = cause.activity else { panic!("{cause:?}") };
                assert_eq!(region(&run, path), "solve");
                assert_eq!(it.is_noise(), !has_processor, "{it:#?}");
                let without = cause.without_processor.expect("it was sampled");
                let expected = if has_processor { 0.0 } else { cause.amount };
                // A period each, for what of it was used at the borders of visits.
                assert!((without - expected).abs() <= 5e6, "{without} of {}", cause.amount);
            }
        }
    }
}

/// Where nobody took samples nothing is said of processors.
#[test]
fn without_samples_nobody_knows() {
    let mut run = MadeUp::new(1);
    let solve = run.path(None, ("source", "solve", Role::Work), &[]);
    for step in 0..40 {
        run.enter(LocationId(0), solve);
        run.pause(LocationId(0), MS);
        run.stand_still(LocationId(0), if step < 20 { 0 } else { MS });
        run.leave(LocationId(0));
    }
    let found = found(&run);
    assert_eq!(found.len(), 1);
    assert!(!found[0].is_noise());
    assert_eq!(found[0].cause.and_then(|cause| cause.without_processor), None);
}

/// A step calls four of one kind, a solver and a reduction. From the 40th on the solver takes three times as long: that is
/// one situation, told of the step, within which all lie, and of nothing else.
#[test]
fn one_change_is_told_once_by_what_lies_about_it() {
    let mut run = MadeUp::new(2);
    let step = run.path(None, ("source", "step", Role::Work), &[]);
    let put = run.path(Some(step), ("source", "put", Role::Work), &[("step", 3)]);
    let solve = run.path(Some(step), ("source", "solve", Role::Work), &[("step", 4)]);
    let reduce = run.path(Some(step), ("mpi", "MPI_Allreduce", Role::AllToAll), &[("step", 5)]);
    let shown = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 9)]);
    for at in 0..120 {
        for rank in ALL {
            run.enter(rank, step);
            for _ in 0..4 {
                run.visit(rank, put, MS);
            }
            run.visit(rank, solve, if at < 40 { 16 * MS } else { 48 * MS });
        }
        run.collective(reduce, MS);
        ALL.into_iter().for_each(|rank| run.leave(rank));
        // Every third step: its clock is three times as slow.
        if at % 3 == 0 {
            run.collective(shown, MS / 10);
        }
    }
    for length in [50 * MS, i64::MAX] {
        let run = run.clone().cut_every(length);
        let found = found(&run);
        assert_eq!(found.len(), 1, "{found:#?}");
        let it = &found[0];
        assert_eq!(it.kind, SituationKind::SlowDown);
        assert_eq!(it.locations, ALL);
        assert_eq!(region(&run, it.call_path.expect("there is one")), "step");
        let mut others: Vec<_> = it.others.iter().map(|path| region(&run, *path)).collect();
        others.sort();
        assert_eq!(others, ["MPI_Allreduce", "MPI_Barrier", "put", "solve"]);
        // The beats of every third step are 0.1 ms longer.
        assert_eq!((it.normal, it.measured), (21e6, 53e6));
        // It begins when the 40th step does, or a call of it: not with the slow clock of the barrier.
        assert!((0..=21 * MS).contains(&(it.from - step_at(40)).0), "{}", it.from.0);
        let Some(Activity::Path(cause)) = it.cause.map(|cause| cause.activity) else { panic!("{it:?}") };
        assert_eq!(region(&run, cause), "solve");
        assert!(it.cost.0 <= (it.to - it.from).0 + 53 * MS, "{}", it.cost.0);
    }
}

/// When a step of those that are quick begins: 21 ms each, and 0.1 ms for every third.
fn step_at(step: i64) -> Nanos {
    Nanos(step * 21 * MS + (step + 2) / 3 * (MS / 10))
}

/// Who polls for a while, again and again, in a run whose steps are all alike: nothing has another pace.
#[test]
fn polls_have_no_pace() {
    let mut run = MadeUp::new(2);
    let ask = run.mpi("MPI_Iprobe", Role::Wait, &[("main", 5)]);
    let shown = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 9)]);
    for step in 0..60 {
        run.pause(ALL[0], 20 * MS);
        for _ in 0..if step % 10 == 9 { 400 } else { 2 } {
            run.visit(ALL[1], ask, MS / 50);
            run.pause(ALL[1], MS / 50);
        }
        run.collective(shown, MS / 100);
    }
    assert_eq!(found(&run), []);
}

/// Steps become longer little by little: who has called since the beginning notices it at half as much again, who began
/// when they were longer already does so later. It is one situation.
#[test]
fn a_pace_that_creeps_is_told_once() {
    let mut run = MadeUp::new(2);
    let solve = run.path(None, ("source", "solve", Role::Work), &[]);
    let shown = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 9)]);
    let later = run.mpi("MPI_Allreduce", Role::AllToAll, &[("main", 12)]);
    for step in 0..600 {
        run.visit(ALL[0], solve, 10 * MS + step * MS / 50);
        run.collective(shown, MS / 100);
        if step >= 100 {
            run.collective(later, MS / 100);
        }
    }
    let found = found(&run);
    let [it] = &found[..] else { panic!("{found:#?}") };
    let shows: Vec<_> = it.others.iter().map(|path| region(&run, *path)).collect();
    assert!(shows.contains(&"MPI_Allreduce".to_owned()), "{shows:?}");
    // Half as much again as in the first nine steps.
    assert!((250..262).contains(&step_of(it.from)), "{}", it.from.0);
    assert_eq!(it.locations.len(), 2);
}

/// The step that goes on at an instant: they take 10 ms and 0.02 ms more each, and 0.01 ms for every operation.
fn step_of(at: Nanos) -> i64 {
    let length = |step: i64| 10 * MS + step * MS / 50 + MS / 100 + if step >= 100 { MS / 100 } else { 0 };
    let mut time = 0;
    (0..)
        .find(|step| {
            time += length(*step);
            at.0 < time
        })
        .expect("there is one")
}

/// Two changes that all notice are two, though they have one cause.
#[test]
fn a_pace_that_changes_twice_is_told_twice() {
    let mut run = MadeUp::new(2);
    let solve = run.path(None, ("source", "solve", Role::Work), &[]);
    let shown = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 9)]);
    let also = run.mpi("MPI_Allreduce", Role::AllToAll, &[("main", 12)]);
    for step in 0..120 {
        run.visit(ALL[0], solve, [10, 20, 40][step / 40] * MS);
        run.collective(shown, MS / 100);
        run.collective(also, MS / 100);
    }
    let found = found(&run);
    let told: Vec<_> = found.iter().map(|it| it.others.len()).collect();
    assert_eq!(told, [2, 2], "{found:#?}");
}

/// Two changes apart from each other stay two.
#[test]
fn what_changes_at_another_time_is_another_situation() {
    let mut run = MadeUp::new(2);
    let solve = run.path(None, ("source", "solve", Role::Work), &[]);
    let pack = run.path(None, ("source", "pack", Role::Work), &[]);
    // Each rank for itself, so that neither waits for the other.
    for at in 0..120 {
        run.visit(ALL[0], solve, if at < 40 { 10 * MS } else { 30 * MS });
        run.visit(ALL[1], pack, if at < 60 { 10 * MS } else { 30 * MS });
    }
    let found = found(&run);
    let told: Vec<_> = found.iter().map(|it| (it.locations.clone(), it.others.len())).collect();
    assert_eq!(told, [(vec![ALL[0]], 0), (vec![ALL[1]], 0)]);
}

/// 25 times the solver is slow for a while, and each time that is longer than the time before: the twenty that matter most
/// are told, none of them as a part of another.
#[test]
fn of_many_changes_none_is_seen_in_one_that_comes_later() {
    let mut run = MadeUp::new(1);
    let solve = run.path(None, ("source", "solve", Role::Work), &[]);
    for time in 0..25 {
        for _ in 0..12 {
            run.visit(ALL[0], solve, 10 * MS);
        }
        for _ in 0..12 + time {
            run.visit(ALL[0], solve, 30 * MS);
        }
    }
    let found = found(&run);
    let slow: Vec<_> = found.iter().filter(|it| it.kind == SituationKind::SlowDown).collect();
    let beats: Vec<_> = slow.iter().map(|it| it.number).collect();
    assert_eq!(beats, (17..37).collect::<Vec<_>>());
}

/// A program is killed in a recursion: the visits that it is in all end at once, and that is no pace.
#[test]
fn visits_that_end_at_once_are_one_beat() {
    let mut run = MadeUp::new(1);
    let mut path = None;
    for _ in 0..100 {
        let deeper = run.path(path, ("source", "descend", Role::Work), &[("descend", 3)]);
        run.enter(ALL[0], deeper);
        run.pause(ALL[0], MS);
        path = Some(deeper);
    }
    (0..100).for_each(|_| run.leave(ALL[0]));
    assert_eq!(found(&run), []);
}
