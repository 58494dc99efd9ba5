//! Parts of runs: what a selection finds is what lies in it of what the whole run has.
//!
//! The one idea: the whole is known to be right (`wait_states.rs`), so a part is right if it is a part of that. Runs are made
//! at random and cut into many slabs, so that most begin in the midst of intervals.

use marey_analyze::{
    Activity, Causes, CommunicatorId, Happenings, Interval, Pattern, Selection, Span, Trace, Wait, causes,
    causes_of, in_context, waits, waits_in,
};
use marey_model::{Asking, LocationId, Nanos, Role};
use marey_testkit::{Drawing, MadeUp, random_drawing};

fn runs() -> impl Iterator<Item = (u32, Drawing)> {
    (1..=200).map(|seed| {
        let drawing = Drawing::parse(&random_drawing(seed)).expect("a random run is a drawing");
        (seed, drawing.cut_every(Nanos(25)))
    })
}

/// Spans of a run of this length: halves, the middle, little, and more than there is.
fn spans(length: Nanos) -> [Span; 5] {
    let at = |percent: i64| Nanos(length.0 * percent / 100);
    [(0, 50), (50, 100), (30, 70), (41, 43), (20, 300)].map(|(from, to)| Span { from: at(from), to: at(to) })
}

fn clipped(list: &[Wait], span: Span) -> Vec<Wait> {
    let clip = |wait: &Wait| span.clip(wait.from, wait.to).map(|(from, to)| Wait { from, to, ..*wait });
    list.iter().filter_map(clip).collect()
}

/// The interval that a wait lies in: the call that waited.
fn call_of(run: &impl Happenings, wait: &Wait) -> (Nanos, Nanos) {
    let mut found = None;
    for slab in 0..run.slabs().len() {
        run.intervals(slab, &mut |batch| {
            let is_it = |it: &&Interval| {
                it.location == wait.location
                    && Some(it.call_path) == wait.call_path
                    && it.start <= wait.from
                    && wait.to <= it.end
            };
            found = found.or(batch.iter().find(is_it).map(|it| (it.start, it.end)));
        })
        .expect("all can be read");
    }
    found.expect("waits lie in calls")
}

/// Of two waits that overlap the inner one tells more; if that lies outside of the span, the outer one is all there is.
#[test]
fn waits_of_a_span_are_what_lies_in_it() {
    let (mut n_waits, mut n_outer) = (0, 0);
    for (seed, run) in runs() {
        let all = waits(&run, &run).expect("all can be read");
        for span in spans(run.duration()) {
            let some = waits_in(&run, &run, span).expect("all can be read").list;
            let expected = clipped(&all.list, span);
            for wait in &expected {
                assert!(some.contains(wait), "run {seed}, {span:?}: {wait:?}, but {some:#?}");
            }
            for outer in some.iter().filter(|wait| !expected.contains(wait)) {
                let (start, end) = call_of(&run, outer);
                let is_outside = |wait: &&Wait| wait.to <= span.from || span.to <= wait.from;
                let mut inner = all.of(outer.location).iter().filter(is_outside);
                assert!(
                    inner.any(|wait| start <= wait.from && wait.to <= end),
                    "run {seed}, {span:?}: {outer:?}"
                );
                n_outer += 1;
            }
            n_waits += expected.len();
        }
    }
    assert!(1000 < n_waits && n_outer < n_waits / 50, "{n_waits} waits, {n_outer} around others");
}

/// Time of each location and activity, instant by instant.
fn time_at(run: &(impl Trace + Happenings), location: LocationId, at: Nanos) -> Activity {
    let life = &run.locations()[location.idx()];
    let mut innermost: Option<(u32, Activity)> = None;
    for slab in 0..run.slabs().len() {
        run.intervals(slab, &mut |batch| {
            for it in batch.iter().filter(|it| it.location == location && it.start <= at && at < it.end) {
                if innermost.is_none_or(|(depth, _)| depth <= it.depth) {
                    innermost = Some((it.depth, Activity::Path(it.call_path)));
                }
            }
        })
        .expect("all can be read");
    }
    let is_there = life.start <= at && at < life.end;
    innermost
        .map_or(if is_there { Activity::Outside } else { Activity::NotStarted }, |(_, activity)| activity)
}

#[test]
fn times_of_a_span_are_those_of_its_instants() {
    for (seed, run) in runs().take(40) {
        for span in spans(run.duration()).into_iter().take(4) {
            let selection = Selection { span, ..Selection::default() };
            let found = causes_of(&run, &run, &selection).expect("all can be read");
            for location in (0..).map(LocationId).take(run.locations().len()) {
                let mut expected = std::collections::BTreeMap::new();
                for at in span.from.0..span.to.0 {
                    *expected.entry(time_at(&run, location, Nanos(at))).or_insert(0) += 1;
                }
                let own = found.times.iter().filter(|row| row.location == location);
                let sums: std::collections::BTreeMap<Activity, i64> =
                    own.map(|row| (row.activity, (row.time + row.waiting).0)).collect();
                assert_eq!(sums, expected, "run {seed}, {span:?}, {location:?}");
            }
        }
    }
}

fn cost(found: &Causes) -> f64 {
    found.delays.rows.iter().map(|row| row.cost()).sum::<f64>() + found.delays.unexplained
}

#[test]
fn costs_are_the_waits_that_are_meant() {
    for (seed, run) in runs() {
        let whole = causes(&run, &run).expect("all can be read");
        let mut by_location = 0.0;
        for location in 0..run.locations().len() {
            let mut meant = vec![false; run.locations().len()];
            meant[location] = true;
            let selection = Selection { locations: Some(meant), ..Selection::default() };
            let found = causes_of(&run, &run, &selection).expect("all can be read");
            assert!(found.waits.list.iter().all(|wait| wait.location.idx() == location), "run {seed}");
            #[expect(clippy::cast_precision_loss, reason = "made-up times are small")]
            let waited = found.waits.time().0 as f64;
            assert!((cost(&found) - waited).abs() < 1e-6, "run {seed}: {} for {waited}", cost(&found));
            by_location += cost(&found);
        }
        assert!((by_location - cost(&whole)).abs() < 1e-6, "run {seed}");
        for span in spans(run.duration()) {
            let selection = Selection { span, ..Selection::default() };
            let found = causes_of(&run, &run, &selection).expect("all can be read");
            #[expect(clippy::cast_precision_loss, reason = "made-up times are small")]
            let waited = found.waits.time().0 as f64;
            assert!((cost(&found) - waited).abs() < 1e-6, "run {seed}, {span:?}");
            let on_path: i64 = found.path.spans.iter().map(|piece| (piece.to - piece.from).0).sum();
            let length = span.to.min(run.duration()) - span.from;
            assert_eq!(on_path + found.path.before.0, length.0, "run {seed}, {span:?}");
        }
    }
}

#[test]
fn a_context_is_what_lies_beneath_a_name() {
    for (seed, run) in runs() {
        for region in run.regions() {
            let is_in = in_context(&run, region.name());
            for (path, is_in) in run.call_paths().iter().zip(&is_in) {
                let own =
                    std::iter::successors(Some(path), |path| Some(&run.call_paths()[path.parent?.idx()]));
                let expected =
                    own.into_iter().any(|it| run.regions()[it.region.idx()].name() == region.name());
                assert_eq!(*is_in, expected, "run {seed}, {}", region.name());
            }
        }
    }
}

/// Of each wait there is a message or a member of an operation on its communicator that was waited for in that call.
#[test]
fn waits_know_their_communicator() {
    let (mut of_messages, mut of_operations, mut of_none) = (0, 0, 0);
    for (seed, run) in runs() {
        let all = causes(&run, &run).expect("all can be read");
        let mut calls: Vec<(LocationId, Nanos, CommunicatorId)> = Vec::new();
        run.messages(&mut |batch| {
            for it in batch {
                let done = |end: (LocationId, Nanos)| it.communicator.map(|id| (end.0, end.1, id));
                calls.extend(it.receiving.and_then(|end| done((end.location, end.done.start))));
                calls.extend(it.sending.and_then(|end| done((end.location, end.done?.start))));
            }
        })
        .expect("all can be read");
        let n_messages = calls.len();
        run.members(&mut |batch| {
            calls.extend(batch.iter().filter_map(|it| Some((it.location, it.done?.start, it.communicator))));
        })
        .expect("all can be read");
        for wait in &all.waits.list {
            let asks = || run.call_paths()[wait.call_path.expect("waits lie in calls").idx()].region;
            let asks = || Asking::of_function(&run.regions()[asks().idx()].verb).is_some();
            // Calls that ask come before that which completes what was asked for.
            let own = |place: usize, id: CommunicatorId| {
                let (location, from, on) = calls[place];
                (location, on) == (wait.location, id) && (from == wait.from || (wait.from < from && asks()))
            };
            match (wait.pattern, wait.communicator.get()) {
                (Pattern::LateSender | Pattern::WrongOrder | Pattern::LateReceiver, id) => {
                    let id = id.expect("messages of drawings have one");
                    assert!((0..n_messages).any(|place| own(place, id)), "run {seed}: {wait:?}");
                    of_messages += 1;
                }
                (_, Some(id)) => {
                    assert!((n_messages..calls.len()).any(|place| own(place, id)), "run {seed}: {wait:?}");
                    of_operations += 1;
                }
                (Pattern::AllToAll | Pattern::LateBroadcast | Pattern::EarlyReduce, None) => {
                    panic!("run {seed}: {wait:?}")
                }
                (_, None) => of_none += 1,
            }
        }
        // Whoever asks for one communicator after the other gets all waits that have one.
        let n = run.communicators().len();
        let of_one = |one: usize| {
            let ids = (0..n).map(|id| id == one).collect();
            let selection = Selection { communicators: Some(ids), ..Selection::default() };
            let found = causes_of(&run, &run, &selection).expect("all can be read");
            #[expect(clippy::cast_precision_loss, reason = "made-up times are small")]
            let waited = found.waits.time().0 as f64;
            assert!((cost(&found) - waited).abs() < 1e-6, "run {seed}, communicator {one}");
            found.waits.list.len()
        };
        let with = all.waits.list.iter().filter(|wait| wait.communicator.get().is_some()).count();
        assert_eq!((0..n).map(of_one).sum::<usize>(), with, "run {seed}");
    }
    let numbers = [of_messages, of_operations, of_none];
    assert!(numbers.iter().all(|number| 100 < *number), "{numbers:?}");
}

/// C++ functions that nobody would type as they are written: their parameters may be left out, and what they are in.
#[test]
fn a_context_has_the_names_of_its_function() {
    let cases: [(&str, &[&str], &[&str]); 4] = [
        (
            "(anonymous namespace)::work(int)",
            &["work", "(anonymous namespace)::work", "(anonymous namespace)::work(int)"],
            &["", "(anonymous namespace)", "ork", "work(int)"],
        ),
        (
            "ns::solve<std::vector<a::b> >(c::d)",
            &["solve<std::vector<a::b> >", "ns::solve<std::vector<a::b> >"],
            &["b> >", "d)", "ns", "vector<a::b> >"],
        ),
        ("Grid::operator()(int) const", &["operator()", "Grid::operator()"], &["operator", "Grid"]),
        ("sweep", &["sweep"], &["swee", "main"]),
    ];
    for (function, names, others) in cases {
        let mut run = MadeUp::new(1);
        let send = run.mpi("MPI_Send", Role::Transfer, &[(function, 7)]);
        run.visit(LocationId(0), send, 10);
        for name in names {
            assert_eq!(in_context(&run, name), [true], "{name} of {function}");
        }
        for name in others {
            assert_eq!(in_context(&run, name), [false], "{name} of {function}");
        }
    }
}
