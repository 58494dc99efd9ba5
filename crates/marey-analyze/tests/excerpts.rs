//! Sums of a part of a run, as `docs/selections.md` defines them.
//!
//! The one idea: runs are made up visit by visit at random, and what should be in a span is counted nanosecond by
//! nanosecond, or added up while the run is made; and spans behind one another must have what the run has.

use std::collections::{BTreeMap, BTreeSet};

use marey_analyze::{
    CommunicationRow, Excerpt, Happenings, Interval, ProfileRow, SampledRow, Selection, Span, Trace, Visit,
    files, in_context, on_communicator, stacks_in_context, waiting,
};
use marey_model::{CallPathId, LocationId, Nanos, ProcessId, Role};
use marey_testkit::{Chance, MadeUp};

const RANKS: u32 = 3;

/// A message as the run was made: from, to, bytes, when its receive was complete.
type Sent = (u32, u32, u64, Nanos);

/// A run of some hundred visits; some of them are polls with time between them if `polls`.
fn random_run(seed: u64, polls: bool) -> (MadeUp, Vec<Sent>) {
    let mut chance = Chance::new(seed);
    let mut run = MadeUp::new(RANKS);
    run.sample(7);
    let outer = run.path(None, ("source", "solve", Role::Work), &[]);
    let inner = run.path(Some(outer), ("source", "sweep", Role::Work), &[]);
    // The same region beneath itself.
    let again = run.path(Some(inner), ("source", "solve", Role::Work), &[]);
    let poll = run.path(Some(outer), ("mpi", "MPI_Test", Role::Transfer), &[]);
    let (send, receive) =
        (run.mpi("MPI_Send", Role::Transfer, &[]), run.mpi("MPI_Recv", Role::Transfer, &[]));
    let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[]);
    let mut sent = Vec::new();
    for _ in 0..40 {
        let here = LocationId(u32::try_from(chance.below(u64::from(RANKS))).expect("there are few"));
        run.pause(here, chance.below(9) as i64);
        match chance.below(6) {
            0..=2 => {
                run.enter(here, outer);
                run.pause(here, chance.below(12) as i64);
                for _ in 0..chance.below(3) {
                    run.enter(here, inner);
                    run.pause(here, chance.below(12) as i64);
                    run.visit(here, again, chance.below(5) as i64);
                    run.leave(here);
                }
                if polls {
                    let ns = 1 + chance.below(60) as i64;
                    run.polls_with_gaps(here, poll, (ns, chance.below(ns as u64 + 1) as i64), 5);
                }
                run.pause(here, chance.below(12) as i64);
                run.leave(here);
            }
            3 => run.collective(barrier, 1 + chance.below(4) as i64),
            _ => {
                let to = LocationId((here.0 + 1) % RANKS);
                let bytes = chance.below(5000);
                run.message((here, send), (to, receive), bytes, 1 + chance.below(6) as i64);
                sent.push((here.0, to.0, bytes, run.now(to)));
            }
        }
    }
    (run.cut_every(1 + chance.below(90) as i64), sent)
}

/// Points that cut a run into spans: some, and its ends.
fn cuts(seed: u64, length: Nanos) -> Vec<Nanos> {
    let mut chance = Chance::new(seed + 1000);
    let mut cuts: Vec<Nanos> = (0..6).map(|_| Nanos(chance.below(length.0 as u64 + 1) as i64)).collect();
    cuts.extend([Nanos(0), length]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn of_span(span: Span) -> Selection {
    Selection { span, ..Selection::default() }
}

fn all_visits(run: &MadeUp) -> Vec<Visit> {
    let mut all = Vec::new();
    for slab in 0..run.slabs().len() {
        run.visits(slab, &mut |batch| all.extend_from_slice(batch)).expect("all can be read");
    }
    all
}

type Key = (CallPathId, LocationId);

/// Inclusive and exclusive time in a span, instant by instant.
fn times_by_instant(visits: &[Visit], span: Span) -> BTreeMap<Key, (i64, i64)> {
    let mut times: BTreeMap<Key, (i64, i64)> = BTreeMap::new();
    for at in span.from.0..span.to.0 {
        for location in (0..RANKS).map(LocationId) {
            let is_open = |it: &&Interval| it.location == location && it.start.0 <= at && at < it.end.0;
            let open: Vec<Interval> =
                visits.iter().map(|visit| visit.interval).filter(|it| is_open(&it)).collect();
            for it in &open {
                let sum = times.entry((it.call_path, location)).or_default();
                sum.0 += 1;
                sum.1 += i64::from(open.iter().all(|other| other.depth <= it.depth));
            }
        }
    }
    times
}

fn times_of(rows: &[ProfileRow]) -> BTreeMap<Key, (i64, i64)> {
    let key = |row: &ProfileRow| ((row.call_path, row.location), (row.inclusive.0, row.exclusive.0));
    rows.iter().filter(|row| row.inclusive > Nanos(0)).map(key).collect()
}

#[test]
fn times_of_a_span_are_those_of_its_instants() {
    for seed in 1..=60 {
        let (run, _) = random_run(seed, false);
        let visits = all_visits(&run);
        for cut in cuts(seed, run.duration()).windows(2) {
            let span = Span { from: cut[0], to: cut[1] };
            let part = Excerpt::new(&run, &run, &of_span(span)).expect("all can be read");
            assert_eq!(times_of(part.profile()), times_by_instant(&visits, span), "run {seed}, {span:?}");
            for (whole, part) in run.locations().iter().zip(part.locations()) {
                let there = (whole.start.0..whole.end.0).filter(|at| span.from.0 <= *at && *at < span.to.0);
                assert_eq!((part.end - part.start).0, there.count() as i64, "run {seed}, {span:?}");
            }
        }
    }
}

#[test]
fn visits_count_where_they_begin_and_as_a_whole() {
    for seed in 1..=60 {
        let (run, _) = random_run(seed, true);
        let visits = all_visits(&run);
        for cut in cuts(seed, run.duration()).windows(2) {
            let span = Span { from: cut[0], to: cut[1] };
            let last = if span.to == run.duration() { Nanos(i64::MAX) } else { span.to };
            let part = Excerpt::new(&run, &run, &of_span(span)).expect("all can be read");
            for row in part.profile() {
                let begin = |visit: &&Visit| {
                    let it = visit.interval;
                    (it.call_path, it.location) == (row.call_path, row.location)
                        && span.from <= it.start
                        && it.start < last
                };
                let own: Vec<&Visit> = visits.iter().filter(begin).collect();
                let long = |visit: &&&Visit| visit.interval.end - visit.interval.start;
                assert_eq!(row.visits, own.iter().map(|visit| u64::from(visit.interval.visits)).sum::<u64>());
                assert_eq!(row.bytes, own.iter().filter_map(|visit| visit.bytes).sum::<u64>());
                if own.iter().all(|visit| visit.interval.visits == 1) {
                    assert_eq!(row.min, own.iter().map(|visit| long(&visit)).min(), "run {seed}");
                    assert_eq!(row.max, own.iter().map(|visit| long(&visit)).max(), "run {seed}");
                    let squares: f64 = own.iter().map(|visit| (long(&visit).0 as f64).powi(2)).sum();
                    assert!((row.sum_squares - squares).abs() < 1e-6, "run {seed}");
                } else {
                    assert_eq!((row.min, row.max), (None, None), "run {seed}");
                }
                let bins = part.durations().iter();
                let bins = bins.filter(|bin| (bin.call_path, bin.location) == (row.call_path, row.location));
                assert_eq!(bins.map(|bin| bin.number).sum::<u64>(), row.visits, "run {seed}");
            }
        }
    }
}

/// What adds up.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    /// Visits, inclusive, exclusive, bytes.
    profile: BTreeMap<Key, (u64, i64, i64, u64)>,
    bins: BTreeMap<(Key, Option<Option<u32>>), u64>,
    messages: BTreeMap<(ProcessId, ProcessId, Option<u32>), (u64, u64)>,
    samples: BTreeMap<(Option<CallPathId>, LocationId), (u64, i64)>,
    lives: BTreeMap<usize, i64>,
}

impl Sums {
    fn add(&mut self, part: &dyn Trace) {
        for row in part.profile() {
            let sum = self.profile.entry((row.call_path, row.location)).or_default();
            sum.0 += row.visits;
            sum.1 += row.inclusive.0;
            sum.2 += row.exclusive.0;
            sum.3 += row.bytes;
        }
        for row in part.durations() {
            let bin = row.bin.map(|(log2, _)| log2);
            *self.bins.entry(((row.call_path, row.location), bin)).or_default() += row.number;
        }
        for row in part.communication() {
            let sum = self.messages.entry((row.from, row.to, row.size_log2)).or_default();
            *sum = (sum.0 + row.messages, sum.1 + row.bytes);
        }
        for row in part.samples() {
            let sum = self.samples.entry((row.call_path, row.location)).or_default();
            *sum = (sum.0 + row.samples, sum.1 + row.time.0);
        }
        for (place, location) in part.locations().iter().enumerate() {
            *self.lives.entry(place).or_default() += (location.end - location.start).0;
        }
    }
}

#[test]
fn spans_behind_one_another_have_what_the_run_has() {
    for seed in 1..=200 {
        let (run, sent) = random_run(seed, true);
        let mut sums = Sums::default();
        for cut in cuts(seed, run.duration()).windows(2) {
            let span = Span { from: cut[0], to: cut[1] };
            sums.add(&Excerpt::new(&run, &run, &of_span(span)).expect("all can be read"));
        }
        let mut whole = Sums::default();
        whole.add(&Excerpt::new(&run, &run, &Selection::default()).expect("all can be read"));
        assert_eq!(sums, whole, "run {seed}");
        // And that is what was noted while the run was made.
        let gaps: i64 = all_visits(&run).iter().map(|visit| visit.between.0).sum();
        let inclusive: i64 = run.profile().iter().map(|row| row.inclusive.0).sum();
        assert_eq!(sums.profile.values().map(|sum| sum.1).sum::<i64>(), inclusive - gaps, "run {seed}");
        assert_eq!(sums.messages.values().map(|sum| sum.0).sum::<u64>(), sent.len() as u64, "run {seed}");
        let samples: u64 = run.samples().iter().map(|row| row.samples).sum();
        assert_eq!(sums.samples.values().map(|sum| sum.0).sum::<u64>(), samples, "run {seed}");
        // All time in calls is somebody's own.
        let mut open = 0;
        for location in (0..RANKS).map(LocationId) {
            let mut until = Nanos(0);
            let mut visits: Vec<Visit> = all_visits(&run);
            visits.retain(|visit| visit.interval.location == location && visit.interval.depth == 0);
            for visit in &visits {
                assert!(until <= visit.interval.start);
                until = visit.interval.end;
                open += (visit.interval.end - visit.interval.start).0;
            }
        }
        assert_eq!(sums.profile.values().map(|sum| sum.2).sum::<i64>(), open, "run {seed}");
    }
}

/// A span may begin within a call and have no other, so there is time in it and no visit.
#[test]
fn files_and_waiting_have_the_time_of_a_call_that_began_before_the_span() {
    let mut run = MadeUp::new(1);
    let sleep = run.path(None, ("system", "nanosleep", Role::Wait), &[]);
    let read = run.path(None, ("files", "read", Role::Io), &[]);
    let here = LocationId(0);
    run.visit(here, sleep, 100);
    run.visit(here, read, 60);
    let run = run.cut_every(50);
    let (mut of_files, mut of_waiting) = (Vec::new(), Vec::new());
    for cut in [0, 40, 70, 130, 160].windows(2) {
        let span = Span { from: Nanos(cut[0]), to: Nanos(cut[1]) };
        let part = Excerpt::new(&run, &run, &of_span(span)).expect("all can be read");
        of_files.push(files(&part).iter().map(|row| row.time().0).sum::<i64>());
        let found = waiting(&part);
        assert_eq!(found.rows.iter().map(|row| row.time.0).sum::<i64>(), found.time.0);
        of_waiting.push(found.time.0);
    }
    assert_eq!(of_waiting, [40, 30, 30, 0]);
    assert_eq!(of_files, [0, 0, 30, 30]);
}

#[test]
fn messages_lie_where_they_were_received() {
    for seed in 1..=60 {
        let (run, sent) = random_run(seed, false);
        for cut in cuts(seed, run.duration()).windows(2) {
            let span = Span { from: cut[0], to: cut[1] };
            let last = if span.to == run.duration() { Nanos(i64::MAX) } else { span.to };
            for rank in 0..RANKS {
                let mut meant = vec![false; RANKS as usize];
                meant[rank as usize] = true;
                let selection = Selection { locations: Some(meant), ..of_span(span) };
                let part = Excerpt::new(&run, &run, &selection).expect("all can be read");
                let own = |it: &&Sent| (it.0 == rank || it.1 == rank) && span.from <= it.3 && it.3 < last;
                let expected = sent.iter().filter(own).fold((0, 0), |sum, it| (sum.0 + 1, sum.1 + it.2));
                let add = |sum: (u64, u64), row: &CommunicationRow| (sum.0 + row.messages, sum.1 + row.bytes);
                assert_eq!(part.communication().iter().fold((0, 0), add), expected, "run {seed}, {span:?}");
                assert!(part.profile().iter().all(|row| row.location.0 == rank), "run {seed}");
                assert!(part.samples().iter().all(|row| row.location.0 == rank), "run {seed}");
                for (place, location) in part.locations().iter().enumerate() {
                    assert!(place == rank as usize || location.start == location.end, "run {seed}");
                }
                let left_out: Vec<bool> = (0..RANKS).map(|it| part.leaves_out(ProcessId(it))).collect();
                assert_eq!(left_out, (0..RANKS).map(|it| it != rank).collect::<Vec<_>>(), "run {seed}");
            }
        }
    }
}

/// What is beneath a call is not its own, whether or not it is meant.
#[test]
fn calls_that_are_not_meant_are_left_out() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let outer = run.path(None, ("source", "solve", Role::Work), &[]);
    let inner = run.path(Some(outer), ("mpi", "MPI_Wait", Role::Wait), &[]);
    run.enter(rank, outer);
    run.pause(rank, 30);
    run.visit(rank, inner, 12);
    run.leave(rank);
    let selection = |meant: [bool; 2]| Selection { call_paths: Some(meant.to_vec()), ..Selection::default() };
    let sums = |meant: [bool; 2]| {
        let part = Excerpt::new(&run, &run, &selection(meant)).expect("all can be read");
        let times = |row: &ProfileRow| (row.call_path, row.inclusive.0, row.exclusive.0);
        part.profile().iter().map(times).collect::<Vec<_>>()
    };
    assert_eq!(sums([true, false]), [(outer, 42, 30)]);
    assert_eq!(sums([false, true]), [(inner, 12, 12)]);
}

/// Samples in a function of that name are there, in calls or outside of them; on which level what is no call is, nobody knows.
#[test]
fn samples_in_a_context_are_those_of_its_functions() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    run.sample(10);
    let wait = run.mpi("MPI_Wait", Role::Wait, &[("main", 3), ("solve", 7)]);
    for (function, line) in [("solve", 4), ("print", 5)] {
        run.compute_in(&[("main", line), (function, 9)]);
        run.pause(rank, 30);
    }
    run.visit(rank, wait, 20);
    let selection = Selection {
        call_paths: Some(in_context(&run, "solve")),
        stacks: stacks_in_context(&run, "solve"),
        ..Selection::default()
    };
    let part = Excerpt::new(&run, &run, &selection).expect("all can be read");
    let sum = |rows: &[SampledRow]| rows.iter().map(|row| row.time.0).sum::<i64>();
    assert_eq!((sum(part.samples()), sum(part.all_samples()), sum(run.samples())), (50, 80, 80));
    let calls = Selection { stacks: BTreeSet::new(), ..selection };
    let part = Excerpt::new(&run, &run, &calls).expect("all can be read");
    assert_eq!((sum(part.samples()), sum(part.all_samples())), (20, 80));
}

/// Polls from 10 to 30 that were inside for 10 of these 20 ns: half of any piece is theirs.
#[test]
fn polls_lie_evenly() {
    let mut run = MadeUp::new(1);
    let rank = LocationId(0);
    let outer = run.path(None, ("source", "solve", Role::Work), &[]);
    let poll = run.path(Some(outer), ("mpi", "MPI_Test", Role::Transfer), &[]);
    run.enter(rank, outer);
    run.pause(rank, 10);
    run.polls_with_gaps(rank, poll, (20, 10), 4);
    run.pause(rank, 5);
    run.leave(rank);
    let rows = |from: i64, to: i64| {
        let span = Span { from: Nanos(from), to: Nanos(to) };
        let part = Excerpt::new(&run, &run, &of_span(span)).expect("all can be read");
        let row = |row: &ProfileRow| (row.call_path, row.visits, row.inclusive.0, row.exclusive.0);
        part.profile().iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows(0, 14), [(outer, 1, 14, 12), (poll, 4, 2, 2)]);
    assert_eq!(rows(14, 22), [(outer, 0, 8, 4), (poll, 0, 4, 4)]);
    assert_eq!(rows(22, 35), [(outer, 0, 13, 9), (poll, 0, 4, 4)]);
}

/// A communicator is its name, or its number where no name is meant; calls are those that act on it.
#[test]
fn a_communicator_is_meant_by_name_or_number() {
    let (run, sent) = random_run(1, false);
    for name in ["WORLD", "0"] {
        let communicators = on_communicator(&run, name);
        assert_eq!(communicators, [true]);
        let selection = Selection { communicators: Some(communicators), ..Selection::default() };
        let part = Excerpt::new(&run, &run, &selection).expect("all can be read");
        let messages: u64 = part.communication().iter().map(|row| row.messages).sum();
        assert_eq!(messages, sent.len() as u64);
        // Calls are those that send, receive and take part, and nothing that the program does by itself.
        let regions: std::collections::BTreeSet<&str> = part
            .profile()
            .iter()
            .map(|row| run.regions()[run.call_paths()[row.call_path.idx()].region.idx()].verb.as_str())
            .collect();
        assert_eq!(regions.into_iter().collect::<Vec<_>>(), ["MPI_Barrier", "MPI_Recv", "MPI_Send"]);
        let visits: u64 = part.profile().iter().map(|row| row.visits).sum();
        let acting = |visit: &Visit| {
            let region = run.call_paths()[visit.interval.call_path.idx()].region;
            run.regions()[region.idx()].level == "mpi"
        };
        assert_eq!(visits, all_visits(&run).iter().filter(|visit| acting(visit)).count() as u64);
    }
    assert_eq!(on_communicator(&run, "1"), [false]);
    let none = Selection { communicators: Some(vec![false]), ..Selection::default() };
    assert!(Excerpt::new(&run, &run, &none).expect("all can be read").profile().is_empty());
}
