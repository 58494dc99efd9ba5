//! Single visits and iterations of a part of a run, as `docs/selections.md` defines them.
//!
//! The one idea: which visits are in a part is asked of each visit by itself, by rules written anew here; and of runs made
//! up by hand it is known what is odd in a part, and when its iterations begin.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use marey_analyze::{
    Anomalies, Begun, CutOut, Excerpt, Happenings, Method, Phases, Selection, Span, Trace, Visit, anomalies,
    phases, phases_in, waits,
};
use marey_model::{CallPathId, LocationId, Nanos, Role};
use marey_testkit::{Chance, MadeUp};

const RANKS: u32 = 3;
const RANK: LocationId = LocationId(0);

/// A run of some hundred visits on three ranks, nested, of MPI and not.
fn random_run(seed: u64) -> MadeUp {
    let mut chance = Chance::new(seed);
    let mut below = move |bound: u64| i64::try_from(chance.below(bound)).unwrap();
    let mut run = MadeUp::new(RANKS);
    let outer = run.path(None, ("source", "solve", Role::Work), &[]);
    let inner = run.path(Some(outer), ("source", "sweep", Role::Work), &[]);
    let local = run.path(Some(inner), ("mpi", "MPI_Comm_rank", Role::Manage), &[]);
    let send = run.mpi("MPI_Send", Role::Transfer, &[]);
    let receive = run.mpi("MPI_Recv", Role::Transfer, &[]);
    let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[]);
    for _ in 0..60 {
        let here = LocationId(u32::try_from(below(u64::from(RANKS))).unwrap());
        run.pause(here, 1 + below(9));
        match below(5) {
            0..=2 => {
                run.enter(here, outer);
                for _ in 0..below(4) {
                    run.pause(here, 1 + below(12));
                    run.enter(here, inner);
                    run.visit(here, local, 1 + below(7));
                    run.leave(here);
                }
                run.leave(here);
            }
            3 => run.collective(barrier, 1 + below(4)),
            _ => {
                let to = LocationId((here.0 + 1) % RANKS);
                run.message((here, send), (to, receive), 8, 1 + below(6));
            }
        }
    }
    run.cut_every(1 + below(90))
}

fn of_span(from: i64, to: i64) -> Selection {
    Selection { span: Span { from: Nanos(from), to: Nanos(to) }, ..Selection::default() }
}

fn visits(events: &impl Happenings) -> Vec<Visit> {
    let mut all = Vec::new();
    for slab in 0..events.slabs().len() {
        let mut last = None;
        events
            .visits(slab, &mut |batch| {
                for visit in batch {
                    let key = (visit.interval.location, visit.interval.start, visit.interval.depth);
                    assert!(last <= Some(key), "not in order");
                    last = Some(key);
                    all.push(*visit);
                }
            })
            .unwrap();
    }
    let key = |visit: &Visit| (visit.interval.location, visit.interval.start, visit.interval.depth);
    all.sort_by_key(key);
    all
}

/// A choice of ranks, call paths and perhaps the world, and a span.
fn choice(chance: &mut Chance, run: &MadeUp) -> Selection {
    let end = chance.below(u64::try_from(run.duration().0).unwrap() + 2).cast_signed();
    let from = if chance.below(3) == 0 { i64::MIN } else { chance.below(200).cast_signed() % (end + 1) };
    let to = if chance.below(3) == 0 { i64::MAX } else { end.max(from + 1) };
    let mut some = |number: usize| {
        (chance.below(2) == 0).then(|| (0..number).map(|_| chance.below(2) == 0).collect::<Vec<bool>>())
    };
    Selection {
        locations: some(run.locations().len()),
        call_paths: some(run.call_paths().len()),
        communicators: some(1).map(|_| vec![true]),
        ..of_span(from, to)
    }
}

/// Whether a visit is meant: by its begin, and by what acts on the world in these runs.
fn is_meant(run: &MadeUp, selection: &Selection, visit: &Visit) -> bool {
    let it = &visit.interval;
    let Span { from, to } = selection.span;
    let acts = ["MPI_Send", "MPI_Recv", "MPI_Barrier"];
    let verb = run.regions()[run.call_paths()[it.call_path.idx()].region.idx()].verb.as_str();
    let begins = from <= it.start && (it.start < to || to >= run.duration());
    begins
        && selection.locations.as_ref().is_none_or(|set| set[it.location.idx()])
        && selection.call_paths.as_ref().is_none_or(|set| set[it.call_path.idx()])
        && (selection.communicators.is_none() || acts.contains(&verb))
}

#[test]
fn visits_of_a_part_are_those_that_began_in_it() {
    let (mut told, mut left_out) = (0, 0);
    for seed in 1..=300 {
        let run = random_run(seed);
        let mut chance = Chance::new(seed + 5000);
        for _ in 0..4 {
            let selection = choice(&mut chance, &run);
            let part = visits(&Begun::new(&run, &run, &selection).unwrap());
            let all = visits(&run);
            let expected: Vec<Visit> =
                all.iter().filter(|visit| is_meant(&run, &selection, visit)).copied().collect();
            assert_eq!(part, expected, "run {seed}, {selection:?}");
            told += expected.len();
            left_out += all.len() - expected.len();
        }
    }
    assert!(told > 1000 && left_out > 1000, "{told} {left_out}");
}

/// What is cut out is of each visit what lies within, and nobody else's.
#[test]
fn what_is_cut_out_lies_within() {
    let mut cut_at_begin = 0;
    for seed in 1..=300 {
        let run = random_run(seed);
        let mut chance = Chance::new(seed + 5000);
        let Selection { span, locations, .. } = choice(&mut chance, &run);
        let selection = Selection { span, locations, ..Selection::default() };
        let ends = run.duration() <= span.to;
        let mut expected = Vec::new();
        for mut visit in visits(&run) {
            let it = &mut visit.interval;
            let begins = span.from <= it.start && (it.start < span.to || ends);
            let overlaps = span.from < it.end && it.start < span.to;
            if selection.has_location(it.location) && (begins || overlaps) {
                cut_at_begin += usize::from(it.start < span.from);
                it.start = it.start.max(span.from);
                it.end = if ends { it.end } else { it.end.min(span.to) };
                expected.push(visit);
            }
        }
        let key = |visit: &Visit| (visit.interval.location, visit.interval.start, visit.interval.depth);
        expected.sort_by_key(key);
        assert_eq!(visits(&CutOut::new(&run, &run, &selection)), expected, "run {seed}, {selection:?}");
    }
    assert!(cut_at_begin > 100, "{cut_at_begin}");
}

fn odd(run: &MadeUp, selection: &Selection, method: Method) -> Anomalies {
    let waits = waits(run, run).unwrap();
    let phases = phases(run, run).unwrap();
    let main = phases.main.map(|main| &phases.loops[main]);
    let part = Begun::new(run, run, selection).unwrap();
    anomalies(run, &part, &waits, main, (method, 1.0)).unwrap()
}

/// 400 steps of 4 ms each. Rank 0 works for 1 ms in the first half of them, but for 3 ms in one, and for 3 ms in the second:
/// beside these it is usual, among the first it is odd. Rank 1 does the same with 2 ms, and nothing odd.
fn two_halves() -> MadeUp {
    let mut run = MadeUp::new(2);
    let work = run.path(None, ("source", "work", Role::Work), &[("main", 3)]);
    for at in 0..400_i64 {
        let long = if at == 77 || at >= 200 { 3_000_000 } else { 1_000_000 };
        for (rank, ns) in [(RANK, long + 100 * (at % 7)), (LocationId(1), 2_000_000 + 100 * (at % 5))] {
            run.visit(rank, work, ns);
            run.pause(rank, 4_000_000 - ns);
        }
    }
    run
}

#[test]
fn what_is_usual_is_learnt_from_the_part() {
    let run = two_halves();
    let zero = Selection { locations: Some(vec![true, false]), ..Selection::default() };
    assert_eq!(odd(&run, &zero, Method::Robust).long, 0);
    let first = Selection { span: Span { from: Nanos(0), to: Nanos(800_000_000) }, ..zero.clone() };
    let found = odd(&run, &first, Method::Robust);
    let [it] = found.list[..] else { panic!("{found:?}") };
    assert_eq!((found.judged, found.not_judged), (200, 0), "{found:?}");
    assert_eq!((it.location, it.like, it.duration), (RANK, 200, Nanos(3_000_000)));
    assert_eq!((it.start, it.iteration), (Nanos(77 * 4_000_000), Some(77)));
    // An iteration keeps its number where fewer are asked for.
    let some = Selection { span: Span { from: Nanos(200_000_000), to: Nanos(800_000_000) }, ..zero.clone() };
    let found = odd(&run, &some, Method::Robust);
    assert_eq!((found.judged, found.list[0].iteration), (150, Some(77)));
    let second = Selection { span: Span { from: Nanos(800_000_000), to: Nanos(i64::MAX) }, ..zero };
    let found = odd(&run, &second, Method::Robust);
    assert_eq!((found.long, found.judged), (0, 200));
}

#[test]
fn all_is_the_same_as_no_part() {
    let all = |run: &MadeUp| Selection {
        locations: Some(vec![true; run.locations().len()]),
        call_paths: Some(vec![true; run.call_paths().len()]),
        ..of_span(0, run.duration().0)
    };
    for seed in 1..=60 {
        let run = random_run(seed);
        for method in [Method::Robust, Method::Normal] {
            let whole = odd(&run, &Selection::default(), method);
            assert_eq!(odd(&run, &all(&run), method), whole, "run {seed}");
            let waits = waits(&run, &run).unwrap();
            let found = phases(&run, &run).unwrap();
            let main = found.main.map(|main| &found.loops[main]);
            assert_eq!(anomalies(&run, &run, &waits, main, (method, 1.0)).unwrap(), whole, "run {seed}");
        }
        assert_eq!(iterations(&run, &all(&run)), phases(&run, &run).unwrap(), "run {seed}");
    }
    let run = two_halves();
    assert_eq!(iterations(&run, &all(&run)), phases(&run, &run).unwrap());
}

/// Parts that have the run between them have its visits, and each of these is judged, or not.
#[test]
fn parts_have_all_visits_between_them() {
    for seed in 1..=100 {
        let run = random_run(seed);
        let number = visits(&run).len() as u64;
        let of = |selection: &Selection| {
            let found = odd(&run, selection, Method::Normal);
            found.judged + found.not_judged
        };
        let ranks = (0..RANKS as usize).map(|rank| {
            let locations = (0..RANKS as usize).map(|other| other == rank).collect();
            of(&Selection { locations: Some(locations), ..Selection::default() })
        });
        assert_eq!(ranks.sum::<u64>(), number, "run {seed}");
        let levels = ["mpi", "source"].map(|level| {
            let paths = marey_analyze::on_level(&run, level);
            of(&Selection { call_paths: Some(paths), ..Selection::default() })
        });
        assert_eq!(levels.iter().sum::<u64>(), number, "run {seed}");
        let middle = run.duration().0 / 2;
        let spans = [of_span(i64::MIN, middle), of_span(middle, i64::MAX)];
        assert_eq!(spans.iter().map(of).sum::<u64>(), number, "run {seed}");
    }
}

fn iterations(run: &MadeUp, selection: &Selection) -> Phases {
    let part = Excerpt::new(run, run, selection).unwrap();
    phases_in(&part, &CutOut::new(run, run, selection), part.span()).unwrap()
}

/// A program with 40 steps of 1 µs each and 20 checks of 10 µs behind them, on two ranks, all told by their own calls.
fn two_loops() -> (MadeUp, CallPathId, CallPathId) {
    let mut run = MadeUp::new(2);
    let main = run.path(None, ("source", "main", Role::Work), &[]);
    let step = run.path(Some(main), ("source", "step", Role::Work), &[]);
    let check = run.path(Some(main), ("source", "check", Role::Work), &[]);
    let both = [RANK, LocationId(1)];
    for rank in both {
        run.enter(rank, main);
        run.pause(rank, 5_000);
        for _ in 0..40 {
            run.visit(rank, step, 900);
            run.pause(rank, 100);
        }
        run.pause(rank, 5_000);
        for at in 0..20 {
            // The other rank is later in each second.
            run.pause(rank, if at % 2 == 1 { 300 * i64::from(rank.0) } else { 0 });
            run.visit(rank, check, 9_000);
            run.pause(rank, if at % 2 == 1 { 300 * (1 - i64::from(rank.0)) } else { 0 });
            run.pause(rank, 700);
        }
        run.leave(rank);
    }
    (run.cut_every(7_777), step, check)
}

fn spans(found: &Phases, site: CallPathId) -> Option<Vec<(i64, i64)>> {
    let it = found.loops.iter().find(|it| it.site.call_path == site)?;
    Some(it.iterations.iter().map(|iteration| (iteration.from.0, iteration.to.0)).collect())
}

#[test]
fn a_span_has_the_iterations_that_lie_in_it() {
    let (run, step, check) = two_loops();
    // Steps from 5000 to 45000, each 900 of 1000; each is a visit, which takes half of the time and more.
    let steps: Vec<(i64, i64)> = (0..40).map(|at| (5_000 + 1000 * at, 5_900 + 1000 * at)).collect();
    let whole = iterations(&run, &Selection::default());
    assert_eq!(spans(&whole, step), Some(steps.clone()));
    assert_eq!(whole.loops[whole.main.unwrap()].site.call_path, check);
    // From the 11th to the 30th, both whole.
    let part = iterations(&run, &of_span(15_000, 35_000));
    assert_eq!(spans(&part, step).unwrap(), steps[10..30]);
    assert_eq!((part.loops.len(), part.main), (1, Some(0)));
    // Of one that is cut what lies within.
    let part = iterations(&run, &of_span(15_400, 35_000));
    assert_eq!(spans(&part, step).unwrap()[..2], [(15_400, 15_900), steps[11]]);
    // Four are none.
    assert_eq!(iterations(&run, &of_span(15_000, 19_000)).main, None);
}

#[test]
fn an_iteration_is_over_when_it_is_for_the_ranks_that_are_meant() {
    let (run, _, check) = two_loops();
    let of = |meant: [bool; 2]| {
        let selection = Selection { locations: Some(meant.to_vec()), ..Selection::default() };
        let found = iterations(&run, &selection);
        let it = &found.loops[found.main.unwrap()];
        assert_eq!(it.locations.len(), meant.iter().filter(|is_meant| **is_meant).count());
        spans(&found, check).unwrap()
    };
    // The checks begin at 50000, two take 9700 and 10000.
    let begin = |at: i64| 50_000 + at / 2 * 19_700 + at % 2 * 9_700;
    let zero: Vec<(i64, i64)> = (0..20).map(|at| (begin(at), begin(at) + 9_000)).collect();
    let one: Vec<(i64, i64)> =
        (0..20).map(|at| (begin(at) + at % 2 * 300, begin(at) + at % 2 * 300 + 9_000)).collect();
    assert_eq!(of([true, false]), zero);
    assert_eq!(of([false, true]), one);
    // For both it is over when it is for the other.
    assert_eq!(of([true, true]), one);
}

/// What takes a twentieth of a part is looked into, though it is a fiftieth of the run.
#[test]
fn a_loop_that_is_short_beside_the_run_is_found_in_its_part() {
    let mut run = MadeUp::new(1);
    let step = run.path(None, ("source", "step", Role::Work), &[]);
    run.pause(RANK, 500_000);
    for _ in 0..20 {
        run.visit(RANK, step, 900);
        run.pause(RANK, 100);
    }
    run.pause(RANK, 500_000);
    assert_eq!(iterations(&run, &Selection::default()).main, None);
    let part = iterations(&run, &of_span(450_000, 600_000));
    assert_eq!(spans(&part, step).unwrap().len(), 20);
    assert_eq!(iterations(&run, &of_span(0, 520_000)).main, None);
}
