//! Ids that lead nowhere are skipped, and nothing is out of bounds for them.
//!
//! The one idea: a run to which rows are added that name a location which is not there is explained as the run itself;
//! where such rows stand in the place of others, it is explained somehow.

use marey_analyze::what_if::{Change, Limits};
use marey_analyze::{
    Digest, Edge, Excerpt, Happenings, Interval, Member, Message, Method, Selection, SituationRules, Span,
    Trace, Unread, anomalies, causes, causes_of, compare, granularity, phases, scaling, shares, situations,
    slack, what_if, what_if_each,
};
use marey_model::{CallPathId, LocationId, Nanos, RegionId, StackId};
use marey_testkit::{Drawing, random_drawing};

mod altered;

use altered::Altered;

/// Nobody.
const LOST: LocationId = LocationId(1_000_000_000);

/// Which rows name nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lost {
    /// Others, beside all that the run has.
    Added,
    /// Of these the n-th, (n + 7)-th …
    Replaced(usize),
}

struct WithLost<'d> {
    run: &'d Drawing,
    lost: Lost,
}

impl WithLost<'_> {
    /// The rows of a batch, and what each becomes without one of the locations that it names.
    fn rows<T: Copy>(&self, batch: &[T], lose: impl Fn(T) -> Vec<T>) -> Vec<T> {
        match self.lost {
            Lost::Added => batch.iter().copied().chain(batch.iter().flat_map(|row| lose(*row))).collect(),
            Lost::Replaced(n) => {
                let replaced = |(at, row): (usize, &T)| {
                    let others = lose(*row);
                    if at % 7 == n { others[at / 7 % others.len()] } else { *row }
                };
                batch.iter().enumerate().map(replaced).collect()
            }
        }
    }
}

impl Happenings for WithLost<'_> {
    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        let mut all = Vec::new();
        self.run.intervals(slab, &mut |batch| all.extend_from_slice(batch))?;
        let lose = |it: Interval| {
            vec![Interval { location: LOST, ..it }, Interval { call_path: CallPathId(LOST.0), ..it }]
        };
        let mut all = self.rows(&all, lose);
        all.sort_by_key(|it| (it.location, it.start, it.depth));
        each(&all);
        Ok(())
    }

    fn slabs(&self) -> Vec<Nanos> {
        self.run.slabs()
    }

    fn messages(&self, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        let lose = |it: Message| {
            let (mut unsent, mut unreceived) = (it, it);
            unsent.sending.iter_mut().for_each(|end| end.location = LOST);
            unreceived.receiving.iter_mut().for_each(|end| end.location = LOST);
            vec![unsent, unreceived]
        };
        self.run.messages(&mut |batch| each(&self.rows(batch, lose)))
    }

    fn members(&self, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        let mut all = Vec::new();
        self.run.members(&mut |batch| all.extend_from_slice(batch))?;
        // Operations of their own, if they are added.
        let apart = if self.lost == Lost::Added { 1 << 20 } else { 0 };
        let lose = |it: Member| {
            let instance = it.instance + apart;
            vec![Member { location: LOST, root: Some(LOST), instance, ..it }]
        };
        let mut all = self.rows(&all, lose);
        all.sort_by_key(|it| (it.communicator, it.instance));
        each(&all);
        Ok(())
    }

    fn edges(&self, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        let lose =
            |it: Edge| vec![Edge { from: (LOST, it.from.1), ..it }, Edge { to: (LOST, it.to.1), ..it }];
        self.run.edges(&mut |batch| each(&self.rows(batch, lose)))
    }
}

fn drawing(seed: u32) -> Drawing {
    Drawing::parse(&random_drawing(seed)).expect("a random run is a drawing").cut_every(Nanos(25))
}

#[test]
fn rows_of_nobody_change_nothing() {
    let mut n_waits = 0;
    for seed in 1..=150 {
        let run = drawing(seed);
        let with_lost = WithLost { run: &run, lost: Lost::Added };
        let expected = causes(&run, &run).expect("all can be read");
        n_waits += expected.waits.list.len();
        let found = causes(&run, &with_lost).expect("all can be read");
        assert_eq!(found.waits, expected.waits, "run {seed}");
        assert_eq!(found.path, expected.path, "run {seed}");
        assert!(found.times == expected.times && found.delays == expected.delays, "run {seed}");
        assert_eq!((found.ideal, found.bare), (expected.ideal, expected.bare), "run {seed}");
    }
    assert!(1000 < n_waits, "{n_waits}");
}

#[test]
fn nobody_in_the_place_of_others_is_not_looked_up() {
    let limits = Limits::default();
    for seed in 1..=100 {
        let run = drawing(seed);
        for n in 0..7 {
            let events = WithLost { run: &run, lost: Lost::Replaced(n) };
            let known = |id: LocationId| id.idx() < run.locations().len();
            let found = causes(&run, &events).expect("all can be read");
            let waits = &found.waits;
            assert!(waits.list.iter().all(|wait| known(wait.location) && known(wait.cause)), "run {seed}");
            assert!(waits.completion.iter().all(|row| known(row.1)), "run {seed}");
            assert!(found.path.spans.iter().all(|span| known(span.location)), "run {seed}");
            let span = Span { from: Nanos(0), to: Nanos(run.duration().0 / 2) };
            let selection = Selection { span, ..Selection::default() };
            causes_of(&run, &events, &selection).expect("all can be read");
            Excerpt::new(&run, &events, &selection).expect("all can be read");
            let phases = phases(&run, &events).expect("all can be read");
            for method in [Method::Normal, Method::Robust] {
                anomalies(&run, &events, waits, phases.loops.first(), (method, 1.0))
                    .expect("all can be read");
            }
            granularity(&run, &events, &found, 1.0).expect("all can be read");
            situations(&run, &events, &found, &SituationRules::default()).expect("all can be read");
            slack(&run, &events, &found, &limits).expect("all can be read");
            what_if(&run, &events, &found, &Change::default(), &limits).expect("all can be read");
        }
    }
}

/// Everything that is told of a run; gives how many waits there were.
fn tell_all(run: &Altered<'_>, events: &Drawing) -> usize {
    let (found, limits) = (causes(run, events).expect("all can be read"), Limits::default());
    let told = marey_analyze::findings(run, &found);
    marey_analyze::dominant(run, &found, &told);
    marey_analyze::efficiency(run, &found);
    marey_analyze::headline(run);
    marey_analyze::call_paths(run);
    marey_analyze::regions(run);
    marey_analyze::call_paths_across(run, Some(&found));
    marey_analyze::regions_across(run, Some(&found));
    marey_analyze::short_regions(run, 1.0);
    marey_analyze::files(run);
    marey_analyze::waiting(run);
    marey_analyze::lines(run, &marey_analyze::hot(run));
    let mut digest = Digest::new(run);
    digest.explain(run, &found);
    compare(&digest, &digest);
    scaling(&[(1.0, &digest), (2.0, &digest), (4.0, &digest)]);
    let phases = phases(run, events).expect("all can be read");
    for told in &phases.loops {
        shares(run, events, &found.waits, told).expect("all can be read");
    }
    for method in [Method::Normal, Method::Robust] {
        anomalies(run, events, &found.waits, phases.loops.first(), (method, 1.0)).expect("all can be read");
    }
    granularity(run, events, &found, 1.0).expect("all can be read");
    Excerpt::new(run, events, &Selection::default()).expect("all can be read");
    situations(run, events, &found, &SituationRules::default()).expect("all can be read");
    slack(run, events, &found, &limits).expect("all can be read");
    what_if(run, events, &found, &Change::default(), &limits).expect("all can be read");
    what_if_each(run, events, &found, 4, &limits).expect("all can be read");
    found.waits.list.len()
}

/// A call path that stands beneath itself, or beneath one that comes later, has no end above it: it is taken for a root.
#[test]
fn call_paths_beneath_themselves_are_roots() {
    let mut n_waits = 0;
    for seed in 1..=20 {
        let run = drawing(seed);
        let mut circular = Altered::new(&run);
        let last = CallPathId::from_idx(run.call_paths().len() - 1).expect("there are few");
        circular.call_paths.iter_mut().for_each(|path| path.parent = Some(last));
        n_waits += tell_all(&circular, &run);
    }
    assert!(100 < n_waits, "{n_waits}");
}

/// Call paths that lead to any parent, region and call stack, there or not: nothing is out of bounds, and nothing goes on
/// for ever.
#[test]
fn call_paths_may_lead_anywhere() {
    let mut n_waits = 0;
    for seed in 1..=60_u32 {
        let run = drawing(seed);
        let mut wild = Altered::new(&run);
        let mut state = seed;
        // A linear congruential generator; its upper bits look like chance.
        let mut below = |limit: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % u32::try_from(limit.max(1)).expect("there are few")
        };
        let (n_paths, n_regions) = (run.call_paths().len(), run.regions().len());
        for path in &mut wild.call_paths {
            if below(2) == 0 {
                path.parent = Some(CallPathId(below(2 * n_paths)));
            }
            if below(4) == 0 {
                path.region = RegionId(below(2 * n_regions));
            }
            if below(4) == 0 {
                path.stack = Some(StackId(below(8)));
            }
        }
        n_waits += tell_all(&wild, &run);
    }
    assert!(100 < n_waits, "{n_waits}");
}

/// A call path may be of a region that is not there; the number of that says nothing of how many there are.
#[test]
fn visits_of_no_region_are_not_judged() {
    let mut n_lost = 0;
    for seed in 1..=20 {
        let run = drawing(seed);
        let waits = marey_analyze::waits(&run, &run).expect("all can be read");
        let judged = |run: &Altered<'_>| {
            let found =
                anomalies(run, run.run, &waits, None, (Method::Normal, 1.0)).expect("all can be read");
            (found.groups, found.judged)
        };
        let whole = Altered::new(&run);
        // A group is a region with five visits; those of one of them have no region any more.
        let mut visits = vec![0_u64; run.regions().len()];
        for slab in 0..run.slabs().len() {
            run.intervals(slab, &mut |batch| {
                for visit in batch.iter().filter(|visit| visit.visits == 1) {
                    visits[run.call_paths()[visit.call_path.idx()].region.idx()] += 1;
                }
            })
            .expect("all can be read");
        }
        let Some(lost) = visits.iter().position(|number| 5 <= *number) else { continue };
        let mut less = Altered::new(&run);
        for path in less.call_paths.iter_mut().filter(|path| path.region.idx() == lost) {
            path.region = RegionId(1 << 16);
        }
        let (all, left) = (judged(&whole), judged(&less));
        assert_eq!(left, (all.0 - 1, all.1 - visits[lost]), "run {seed}");
        n_lost += 1;
    }
    assert!(10 < n_lost, "{n_lost}");
}
