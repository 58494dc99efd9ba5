//! Runs in which nothing is random.

use marey_analyze::{Method, Pattern};
use marey_model::{CallPathId, LocationId, Nanos, Role};
use marey_testkit::{Drawing, MadeUp, disturbed_drawing, random_drawing};

use super::{found, robust};

const RANK: LocationId = LocationId(0);

/// A function that is visited so often, for so long each.
fn visits(lengths: impl IntoIterator<Item = i64>) -> MadeUp {
    let mut run = MadeUp::new(1);
    let path = run.path(None, ("source", "work", Role::Work), &[("main", 3)]);
    for length in lengths {
        run.pause(RANK, 500);
        run.visit(RANK, path, length);
    }
    run
}

#[test]
fn of_durations_that_are_all_alike_none_is_anomalous() {
    for method in [Method::Normal, Method::Robust] {
        for percent in [0.1, 1.0, 5.0] {
            let all = found(&visits(vec![1_000_000; 10_000]), method, percent);
            assert_eq!((all.judged, all.long, all.short), (10_000, 0, 0), "{method:?} {percent}");
            // A thousandth more or less is alike.
            let nearly = (0..10_000).map(|at| 1_000_000 + 1000 * (at % 3 - 1));
            let all = found(&visits(nearly), method, percent);
            assert_eq!((all.long, all.short), (0, 0), "{method:?} {percent}");
        }
    }
}

/// 0, 10 and 20 µs in turns, 300 of each, and one of 100 µs: the mean is 9010000 + 100000 ns over 901, and so on.
#[test]
fn the_normal_test_has_the_cut_off_of_its_percentage() {
    let run = visits((0..900).map(|at| 10_000 * (at % 3)).chain([100_000]));
    let all = found(&run, Method::Normal, 1.0);
    let n = 901.0_f64;
    let mean = (300.0 * 30_000.0 + 100_000.0) / n;
    let squares = 300.0 * (10_000.0_f64.powi(2) + 20_000.0_f64.powi(2)) + 100_000.0_f64.powi(2);
    let deviation = (squares / n - mean * mean).sqrt();
    let [it] = all.list[..] else { panic!("{:?}", all.list) };
    assert_eq!((it.duration, it.like, all.long, all.short), (Nanos(100_000), 901, 1, 0));
    assert!((it.expected - mean).abs() < 1e-6, "{it:?}");
    assert_eq!(all.excess, Nanos((100_000.0 - mean).round() as i64));
    // Of 2.326 standard deviations and more there is one; of 1.28 there are those of 20 µs, and of the shortest 0.
    assert!((20_000.0 - mean) / deviation > 0.99 && (20_000.0 - mean) / deviation < 1.28);
    assert_eq!(found(&run, Method::Normal, 10.0).long, 1);
    let z = (20_000.0 - mean) / deviation;
    assert!(z > 0.9154, "{z}");
    // Φ(0.9154) is 82 per cent.
    let all = found(&run, Method::Normal, 18.0);
    assert_eq!((all.long, all.short), (301, 300));
}

#[test]
fn one_visit_that_is_longer_is_found_by_both() {
    for method in [Method::Normal, Method::Robust] {
        let run = visits((0..1000).map(|at| if at == 700 { 1_500_000 } else { 1_000_000 }));
        let all = found(&run, method, 1.0);
        let [it] = all.list[..] else { panic!("{method:?} {:?}", all.list) };
        // 700 pauses and visits before it, and its own pause.
        let start = 700 * 1_000_500 + 500;
        assert_eq!(
            (it.location, it.start, it.duration),
            (RANK, Nanos(start), Nanos(1_500_000)),
            "{method:?}"
        );
        assert_eq!(it.iteration, Some(700), "{method:?}");
        assert!((it.expected / 1e6 - 1.0).abs() < 0.02, "{it:?}");
        assert_eq!((it.like, it.waiting, it.cause, it.inside), (1000, Nanos(0), None, None));
        assert_eq!((all.groups, all.groups_with, all.not_judged), (1, 1, 0));
    }
}

/// Messages of a kilobyte take 10 µs, those of a megabyte a hundred times as long: both are usual, and a short one that
/// takes as long as a long one is not.
#[test]
fn durations_are_compared_with_those_of_the_same_size() {
    let mut run = MadeUp::new(1);
    let send = run.mpi("MPI_Send", Role::Transfer, &[("main", 3)]);
    for at in 0..1000_i64 {
        let is_big = at * 7919 % 10 < 3;
        let ns = if is_big || at == 501 { 1_000_000 } else { 10_000 };
        run.pause(RANK, 100 + at * 7919 % 1013);
        run.sized_visit(RANK, send, ns, Some(if is_big { 1 << 20 } else { 1 << 10 }));
    }
    let all = robust(&run);
    let [it] = all.list[..] else { panic!("{:?}", all.list) };
    assert_eq!((it.bytes, it.duration), (Some(1 << 10), Nanos(1_000_000)));
    assert_eq!(all.excess, Nanos(it.excess().round() as i64));
}

/// Without sizes the same durations are two modes; what lies between or above is neither.
#[test]
fn modes_are_told_by_the_gaps_between_them() {
    let usual = |at: i64| if at * 7919 % 10 < 3 { 1_000_000 } else { 10_000 };
    let run = visits((0..1000).map(|at| match at {
        300 => 100_000,
        600 => 10_000_000,
        at => usual(at),
    }));
    let lengths: Vec<i64> = robust(&run).list.iter().map(|it| it.duration.0).collect();
    assert_eq!(lengths, [10_000_000, 100_000]);
    assert!(robust(&visits((0..1000).map(usual))).list.is_empty());
}

/// The second call of each iteration takes ten times as long as the first, but once the first does.
#[test]
fn durations_are_compared_with_those_of_the_same_place_in_an_iteration() {
    let mut run = MadeUp::new(2);
    let sum = run.mpi("MPI_Allreduce", Role::AllToAll, &[("main", 9)]);
    let path = run.path(None, ("source", "half", Role::Work), &[("main", 3)]);
    for at in 0..200 {
        for rank in [0, 1].map(LocationId) {
            run.visit(rank, path, if at == 77 && rank == RANK { 50_000 } else { 5_000 });
            run.visit(rank, path, 50_000);
        }
        run.collective(sum, 1000);
    }
    let all = robust(&run);
    // And rank 1 waits for it in the sum.
    let [a, b] = all.list[..] else { panic!("{:?}", all.list) };
    let (half, wait) = if a.call_path == path { (a, b) } else { (b, a) };
    assert_eq!((half.call_path, half.location, half.iteration), (path, RANK, Some(77)));
    assert_eq!((wait.call_path, wait.location, wait.iteration), (sum, LocationId(1), Some(77)));
    assert_eq!((wait.waiting, wait.cause), (Nanos(45_000), Some((RANK, Pattern::AllToAll))));
    assert!(wait.is_waiting() && !half.is_waiting());
    let place = all.list.iter().position(|it| it.call_path == path);
    assert_eq!((wait.because, half.because), (place, None));
}

/// Every 20th iteration does more in the same call, which is its kind.
#[test]
fn durations_are_compared_with_those_in_iterations_of_the_same_kind() {
    let mut run = MadeUp::new(1);
    let [exchange, rebuild, sum] = [("MPI_Sendrecv", 3), ("MPI_Alltoall", 5), ("MPI_Allreduce", 7)]
        .map(|(name, line)| run.mpi(name, Role::Transfer, &[("main", line)]));
    for at in 1..=2000 {
        let is_more = at % 20 == 0;
        run.pause(RANK, 1000);
        run.visit(RANK, exchange, if is_more || at == 1010 { 400_000 } else { 30_000 });
        if is_more {
            run.visit(RANK, rebuild, 10_000);
        }
        run.visit(RANK, sum, 5_000);
    }
    let found: Vec<_> = robust(&run).list.iter().map(|it| (it.call_path, it.iteration)).collect();
    assert_eq!(found, [(exchange, Some(1009))]);
}

/// A region is long because a call inside it is: the call is what to look at.
#[test]
fn the_inner_visit_explains_the_outer_one() {
    let mut run = MadeUp::new(1);
    let step = run.path(None, ("source", "step", Role::Work), &[("main", 3)]);
    let write = run.path(Some(step), ("files", "write", Role::Io), &[("main", 3), ("step", 5)]);
    for at in 0..300 {
        run.enter(RANK, step);
        run.pause(RANK, 1_000_000);
        run.visit(RANK, write, if at == 50 { 4_000_000 } else { 20_000 });
        run.leave(RANK);
    }
    let all = robust(&run);
    let paths: Vec<CallPathId> = all.list.iter().map(|it| it.call_path).collect();
    assert_eq!(paths, [write, step]);
    assert_eq!((all.list[0].inside, all.list[1].inside), (None, Some(0)));
}

#[test]
fn what_cannot_be_judged_is_counted() {
    let mut run = visits([1000; 19]);
    let poll = run.mpi("MPI_Test", Role::Wait, &[("main", 8)]);
    run.polls(RANK, poll, 5_000_000, 40);
    let all = robust(&run);
    assert_eq!((all.judged, all.not_judged, all.list.len()), (0, 59, 0));
    let all = found(&run, Method::Normal, 1.0);
    assert_eq!((all.judged, all.not_judged, all.list.len()), (19, 40, 0));
}

/// More than are kept: the longest are.
#[test]
fn the_longest_are_kept_and_all_are_counted() {
    let run = visits((0..300_000).map(|at| if at % 12 == 0 { 9_000_000 + at } else { 1_000 + at % 2 }));
    let all = found(&run, Method::Normal, 1.0);
    assert_eq!((all.list.len(), all.long), (10_000, 25_000));
    assert_eq!(all.list[0].duration, Nanos(9_299_988));
    assert!(all.list.windows(2).all(|pair| pair[1].duration <= pair[0].duration));
}

#[test]
fn it_does_not_matter_how_a_run_is_cut_and_odd_runs_have_none() {
    let run = visits((0..3000).map(|at| if at == 700 { 15_000 } else { 9_000 + at * 37 % 1000 }));
    let whole = robust(&run);
    assert_eq!(whole.list.len(), 1);
    assert_eq!(robust(&run.cut_every(12_345)), whole);
    assert_eq!(robust(&MadeUp::new(0)), robust(&MadeUp::new(2)));
    for seed in 1..=300 {
        for text in [random_drawing(seed), disturbed_drawing(seed)] {
            let drawing = Drawing::parse(&text).unwrap();
            for method in [Method::Normal, Method::Robust] {
                let all = found(&drawing, method, 5.0);
                assert_eq!(all.list.len() as u64, all.long + all.short);
            }
        }
    }
}

/// 200 visits of 20 ms, sampled every 5 ms of processor time; two of them take 60 ms, of which one computes all the time and
/// the other has no processor for 40 ms.
fn with_a_rival(level: &str, role: Role, uses_processor: bool) -> MadeUp {
    let mut run = MadeUp::new(1);
    run.sample(5_000_000);
    let path = run.path(None, (level, "work", role), &[("main", 3)]);
    for number in 0..200 {
        run.pause(RANK, 500);
        run.enter(RANK, path);
        if uses_processor {
            run.pause(RANK, 20_000_000);
        } else {
            run.stand_still(RANK, 20_000_000);
        }
        match number {
            70 => run.pause(RANK, 40_000_000),
            140 => run.stand_still(RANK, 40_000_000),
            _ => {}
        }
        run.leave(RANK);
    }
    run
}

#[test]
fn visits_without_a_processor_are_noise_where_others_have_one() {
    let all = robust(&with_a_rival("mpi", Role::Transfer, true)).list;
    // Of equal excess the first comes first.
    let [computes, stands] = &all[..] else { panic!("{all:?}") };
    assert!(computes.start < stands.start);
    // 12 or 13 periods were used in the first, 4 in the other; one more may have been.
    assert_eq!(computes.without_processor, Some(Nanos(0)));
    assert_eq!(stands.without_processor, Some(Nanos(60_000_000 - 5 * 5_000_000)));
    assert_eq!([computes.is_noise, stands.is_noise], [false, true]);
}

/// A call that sleeps as a rule has no processor because it asks for none.
#[test]
fn visits_that_sleep_by_themselves_are_no_noise() {
    let all = robust(&with_a_rival("system", Role::Wait, false)).list;
    let [computes, stands] = &all[..] else { panic!("{all:?}") };
    assert_eq!(stands.without_processor, Some(Nanos(55_000_000)));
    assert_eq!([computes.is_noise, stands.is_noise], [false, false]);
}

/// A function cannot sleep, whatever the others had: from it nothing was called that could.
#[test]
fn functions_without_a_processor_are_noise() {
    let all = robust(&with_a_rival("source", Role::Work, false)).list;
    let noise: Vec<bool> = all.iter().map(|it| it.is_noise).collect();
    assert_eq!(noise, [false, true]);
}

#[test]
fn functions_that_call_what_can_sleep_are_not() {
    let mut run = MadeUp::new(1);
    run.sample(5_000_000);
    let work = run.path(None, ("source", "work", Role::Work), &[("main", 3)]);
    let sleep = run.path(Some(work), ("system", "nanosleep", Role::Wait), &[("work", 3)]);
    for number in 0..200 {
        run.enter(RANK, work);
        run.pause(RANK, 1_000_000);
        run.enter(RANK, sleep);
        run.stand_still(RANK, if number == 70 { 60_000_000 } else { 20_000_000 });
        run.leave(RANK);
        run.leave(RANK);
    }
    let all = robust(&run).list;
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().all(|it| it.without_processor > Some(Nanos(50_000_000)) && !it.is_noise), "{all:?}");
}

#[test]
fn without_samples_nothing_is_said_of_processors() {
    let all = robust(&visits(vec![20_000_000; 100].into_iter().chain([60_000_000]))).list;
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].without_processor, all[0].is_noise), (None, false));
}

/// Whoever sleeps in a wait lacks no processor.
#[test]
fn waiting_is_not_being_without_a_processor() {
    let mut run = MadeUp::new(2);
    let meet = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 3)]);
    for number in 0..200 {
        run.sample(5_000_000);
        run.pause(LocationId(0), 6_000_000);
        run.pause(LocationId(1), if number == 70 { 66_000_000 } else { 6_000_000 });
        // Nobody is sampled in the barrier.
        run.sample(0);
        run.collective(meet, 1000);
    }
    let all = robust(&run).list;
    let waited = all.iter().find(|it| it.location == RANK).expect("it is long");
    assert!(waited.is_waiting() && !waited.is_noise, "{waited:?}");
    assert_eq!(waited.without_processor, Some(Nanos(0)));
}
