//! A run of which the later events of somebody were only added up is explained until then.
//!
//! The one idea: the same run with all events is there, too, so it is known what should be told of its beginning. What
//! differs is what follows from events after the cut: waits that were under way then, and so the critical path, which is
//! followed from there.

use std::collections::BTreeMap;

use marey_analyze::{
    Activity, Edge, Happenings, Interval, Member, Message, Selection, Span, Trace, Unread, Until, Wait,
    causes_of,
};
use marey_model::{LocationId, Nanos};
use marey_testkit::{Drawing, random_drawing};

/// A run in which one location has no events from an instant on: regions that are open then are cut there, and messages
/// have no end there, operations no member.
struct CutOff<'d> {
    run: &'d Drawing,
    who: LocationId,
    at: Nanos,
}

impl CutOff<'_> {
    fn is_kept(&self, location: LocationId, time: Nanos) -> bool {
        location != self.who || time < self.at
    }
}

impl Happenings for CutOff<'_> {
    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        self.run.intervals(slab, &mut |batch| {
            let cut = |it: &Interval| {
                let end = if it.location == self.who { it.end.min(self.at) } else { it.end };
                Interval { end, ..*it }
            };
            let kept: Vec<Interval> =
                batch.iter().filter(|it| self.is_kept(it.location, it.start)).map(cut).collect();
            each(&kept);
        })
    }

    fn slabs(&self) -> Vec<Nanos> {
        self.run.slabs()
    }

    fn messages(&self, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        self.run.messages(&mut |batch| {
            let cut = |it: &Message| {
                let sending = it.sending.filter(|end| self.is_kept(end.location, end.send)).map(|mut end| {
                    end.done = end.done.filter(|done| self.is_kept(end.location, done.end));
                    end
                });
                let receiving = it.receiving.filter(|end| self.is_kept(end.location, end.done.end));
                Message { sending, receiving, ..*it }
            };
            each(&batch.iter().map(cut).collect::<Vec<_>>());
        })
    }

    fn members(&self, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        self.run.members(&mut |batch| {
            let cut = |it: &Member| {
                let done = it.done.filter(|done| self.is_kept(it.location, done.end));
                Member { done, ..*it }
            };
            let kept: Vec<Member> =
                batch.iter().filter(|it| self.is_kept(it.location, it.enter)).map(cut).collect();
            each(&kept);
        })
    }

    fn edges(&self, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        self.run.edges(&mut |batch| {
            let is_kept = |it: &&Edge| self.is_kept(it.from.0, it.from.1) && self.is_kept(it.to.0, it.to.1);
            each(&batch.iter().filter(is_kept).copied().collect::<Vec<_>>());
        })
    }
}

/// Whether a message, an operation or an edge of somebody has begun before the cut and is known only behind it.
fn reaches_across(cut: &CutOff<'_>) -> bool {
    let (run, who, at) = (cut.run, cut.who, cut.at);
    let mut is_across = false;
    run.messages(&mut |batch| {
        for it in batch {
            let sending =
                it.sending.map(|end| (end.location, end.send, end.done.map_or(end.send, |done| done.end)));
            let receiving = it.receiving.map(|end| (end.location, end.post, end.done.end));
            let ends = || sending.into_iter().chain(receiving);
            let first = ends().map(|end| end.1).min();
            is_across |=
                ends().any(|end| end.0 == who && at <= end.2) && first.is_some_and(|first| first < at);
        }
    })
    .expect("all can be read");
    let mut operations: BTreeMap<_, (bool, bool)> = BTreeMap::new();
    run.members(&mut |batch| {
        for it in batch {
            let known = operations.entry((it.communicator, it.instance)).or_default();
            known.0 |= it.enter < at;
            known.1 |= it.location == who && it.done.is_none_or(|done| at <= done.end);
        }
    })
    .expect("all can be read");
    is_across |= operations.values().any(|(before, behind)| *before && *behind);
    run.edges(&mut |batch| {
        let is_late = |it: &Edge| !cut.is_kept(it.from.0, it.from.1) || !cut.is_kept(it.to.0, it.to.1);
        is_across |= batch.iter().any(|it| is_late(it) && it.from.1.min(it.to.1) < at);
    })
    .expect("all can be read");
    is_across
}

/// Waits that were over before an instant: what comes later says nothing of them.
fn over(list: &[Wait], at: Nanos) -> Vec<Wait> {
    list.iter().filter(|wait| wait.to < at).copied().collect()
}

#[test]
fn the_beginning_is_told_as_if_all_were_there() {
    let (mut n_waits, mut n_same, mut n_under_way, mut n_ends) = (0, 0, 0, 0);
    for seed in 1..=300 {
        let run =
            Drawing::parse(&random_drawing(seed)).expect("a random run is a drawing").cut_every(Nanos(25));
        for (who, percent) in [(0, 40), (1, 60), (1, 85)] {
            if run.locations().len() <= who {
                continue;
            }
            let at = Nanos(run.duration().0 * percent / 100);
            let who = LocationId::from_idx(who).expect("there are few");
            let cut_off = CutOff { run: &run, who, at };
            let span = Span { to: at, ..Span::ALL };
            let selection = Selection { span, ..Selection::default() };
            let told = causes_of(&Until::new(&run, at), &cut_off, &selection).expect("all can be read");
            let expected = causes_of(&run, &run, &selection).expect("all can be read");
            assert_eq!((told.span.from, told.span.to), (Nanos(0), at), "run {seed}, {who:?}");
            // What was under way is known only by what came after the cut.
            // So are polls in vain: of what they asked for.
            let under_way = |list: &[Wait]| list.iter().any(|wait| wait.to >= at || wait.in_vain);
            if reaches_across(&cut_off) || under_way(&expected.waits.list) || under_way(&told.waits.list) {
                n_under_way += 1;
                assert!(told.waits.list.iter().all(|wait| wait.to <= at), "run {seed}, {who:?}");
            } else {
                assert_eq!(told.waits.list, expected.waits.list, "run {seed}, {who:?}");
                assert_eq!(told.delays.rows, expected.delays.rows, "run {seed}, {who:?}");
                n_same += 1;
            }
            n_waits += over(&told.waits.list, at).len();
            // What everybody did is what all did: nobody is anywhere else for want of events.
            let times = |rows: &[marey_analyze::TimeRow]| {
                let mut sums: BTreeMap<(LocationId, Activity), i64> = BTreeMap::new();
                for row in rows {
                    *sums.entry((row.location, row.activity)).or_default() += (row.time + row.waiting).0;
                }
                sums
            };
            assert_eq!(times(&told.times), times(&expected.times), "run {seed}, {who:?}");
            let on_path: i64 = told.path.spans.iter().map(|piece| (piece.to - piece.from).0).sum();
            assert_eq!(on_path + told.path.before.0, at.0, "run {seed}, {who:?}");
            // It is followed from the cut: from the first of those who are there until then, or have gone last.
            let there = |it: &&(usize, Nanos)| it.1 > Nanos(0);
            let ends = run.locations().iter().map(|it| if it.start < at { it.end.min(at) } else { Nanos(0) });
            let ends: Vec<(usize, Nanos)> = ends.enumerate().collect();
            let last = ends.iter().filter(there).max_by_key(|(id, end)| (*end, std::cmp::Reverse(*id)));
            let last = last.map(|(id, _)| LocationId::from_idx(*id).expect("there are few"));
            let waits_until_then = |id: LocationId| told.waits.of(id).iter().any(|wait| wait.to == at);
            if last.is_some_and(|last| !waits_until_then(last)) {
                assert_eq!(told.path.spans.last().map(|piece| piece.location), last, "run {seed}, {who:?}");
                n_ends += 1;
            }
        }
    }
    assert!(200 < n_ends, "{n_ends}");
    assert!(500 < n_waits && 30 < n_same && 50 < n_under_way, "{n_waits} {n_same} {n_under_way}");
}

/// A run that is cut where it ends is the run.
#[test]
fn a_cut_at_the_end_is_none() {
    for seed in 1..=100 {
        let run = Drawing::parse(&random_drawing(seed)).expect("a random run is a drawing");
        let until = Until::new(&run, run.duration());
        let all = Selection::default();
        let whole = causes_of(&run, &run, &all).expect("all can be read");
        assert_eq!(causes_of(&until, &run, &all).expect("all can be read"), whole, "run {seed}");
    }
}
