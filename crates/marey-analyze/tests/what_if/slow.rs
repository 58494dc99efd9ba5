//! A slow replay, which the fast one is compared with.
//!
//! The one idea: it is `docs/what-if.md` read aloud. Every gate has a list of its arrivals, every location a table of
//! when it gets in the replay to each nanosecond of the run, filled nanosecond by nanosecond; at each instant gates are
//! looked at again and again until nothing changes.
//!
//! What is deliberately absent: any thought of speed or memory; the path.

use std::collections::{BTreeMap, BTreeSet};

use marey_analyze::{Edge, Happenings, Interval, Member, Message, Region, Trace};
use marey_model::{CallPathId, EdgeKind, LocationId, Role};
use marey_testkit::{Drawing, ExpectedWait};

use crate::reference;
use crate::statement::Deed;

/// An instant of a location.
type Place = (usize, usize);

#[derive(Debug)]
struct Gate {
    at: Place,
    /// Whether its call began before.
    waited: bool,
    arrivals: Vec<Place>,
    kind: Kind,
    bytes: u64,
    members: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Message,
    Barrier,
    Collective,
    Edge,
    /// The beginning of a location, so much later than its arrival.
    Start(usize),
}

pub(crate) struct Slow<'d> {
    run: &'d Drawing,
    intervals: Vec<Interval>,
    waits: Vec<(usize, usize, usize)>,
    gates: Vec<Gate>,
    /// Sets of members, and when each of them entered each operation.
    synchronisations: Vec<BTreeMap<usize, usize>>,
    compared: BTreeSet<usize>,
    joined: BTreeSet<usize>,
    end: usize,
}

fn time(ns: marey_model::Nanos) -> usize {
    usize::try_from(ns.0).expect("drawn times are not negative")
}

impl<'d> Slow<'d> {
    pub(crate) fn new(run: &'d Drawing) -> Self {
        let mut intervals = Vec::new();
        for slab in 0..run.slabs().len() {
            run.intervals(slab, &mut |some| intervals.extend_from_slice(some)).expect("all can be read");
        }
        let found: Vec<ExpectedWait> = reference::waits(run);
        let compared = found.iter().flat_map(|wait| [wait.location.idx(), wait.cause.idx()]).collect();
        let waits = found.iter().map(|wait| (wait.location.idx(), time(wait.from), time(wait.to))).collect();
        let mut slow = Self {
            run,
            intervals,
            waits,
            gates: Vec::new(),
            synchronisations: Vec::new(),
            compared,
            joined: BTreeSet::new(),
            end: time(run.duration()),
        };
        if slow.compared.is_empty() {
            slow.compared = (0..run.locations().len()).collect();
        }
        slow.messages();
        slow.polls();
        slow.operations();
        slow.edges();
        slow.coming_and_going();
        slow
    }

    fn gate(
        &mut self,
        location: LocationId,
        call: (usize, usize),
        from: &[Place],
        kind: Kind,
        size: (u64, usize),
    ) {
        let (a, e) = call;
        let latest = from.iter().map(|arrival| arrival.1).max().expect("something arrives");
        let at = a.max(latest.min(e));
        let arrivals: Vec<Place> = if e < latest {
            let last = from.iter().filter(|arrival| arrival.1 == latest).map(|arrival| arrival.0).min();
            vec![(last.expect("there is one"), e)]
        } else {
            from.to_vec()
        };
        // Nobody waits for oneself.
        if arrivals.iter().all(|arrival| arrival.0 == location.idx())
            && kind != Kind::Collective
            && kind != Kind::Barrier
        {
            return;
        }
        let (bytes, members) = size;
        self.gates.push(Gate { at: (location.idx(), at), waited: a < at, arrivals, kind, bytes, members });
    }

    fn messages(&mut self) {
        let mut messages: Vec<Message> = Vec::new();
        self.run.messages(&mut |some| messages.extend_from_slice(some)).expect("all can be read");
        for message in messages {
            let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { continue };
            let call = (time(receiving.done.start), time(receiving.done.end));
            let from = (sending.location.idx(), time(sending.send));
            self.gate(receiving.location, call, &[from], Kind::Message, (message.bytes, 2));
            let Some(done) = sending.done else { continue };
            let post = time(receiving.post);
            if time(done.start) < post && post < time(done.end) {
                let call = (time(done.start), time(done.end));
                let from = (receiving.location.idx(), post);
                self.gate(sending.location, call, &[from], Kind::Message, (message.bytes, 2));
            }
        }
    }

    fn polls(&mut self) {
        for asked in reference::asked(&reference::Record::of(self.run)) {
            let call = (time(asked.call.start), time(asked.call.end));
            if asked.pattern == "late receiver" && time(asked.at) <= call.0 {
                continue;
            }
            let from = (asked.cause.idx(), time(asked.at));
            self.gate(asked.location, call, &[from], Kind::Edge, (0, 2));
        }
    }

    fn operations(&mut self) {
        let record = reference::Record::of(self.run);
        let mut members: Vec<Member> = Vec::new();
        self.run.members(&mut |some| members.extend_from_slice(some)).expect("all can be read");
        let same = |a: &Member, b: &Member| (a.communicator, a.instance) == (b.communicator, b.instance);
        let operations: Vec<Vec<Member>> = members.chunk_by(same).map(<[Member]>::to_vec).collect();
        for operation in operations {
            let known = operation.iter().filter_map(|member| Some((member.location, member.call_path?)));
            let Some((_, path)) = known.min() else { continue };
            let role = self.region(path).role;
            let root = operation.iter().filter_map(|member| Some((member.location, member.root?))).min();
            let root = root.map(|(_, root)| root);
            let root_is_there = operation.iter().any(|member| Some(member.location) == root);
            let enter = |member: &Member| (member.location.idx(), time(member.enter));
            let all: Vec<Place> = operation.iter().map(enter).collect();
            let bytes =
                operation.iter().map(|member| member.bytes_in.max(member.bytes_out)).max().unwrap_or(0);
            let size = (bytes, operation.len());
            for member in &operation {
                let Some(done) = member.done else { continue };
                let call = (time(done.start), time(done.end));
                let is_root = Some(member.location) == root;
                let (from, kind) = match role {
                    Role::Barrier => (all.clone(), Kind::Barrier),
                    Role::AllToAll => (all.clone(), Kind::Collective),
                    Role::Manage | Role::Io if record.waits_for_all(&operation) => (all.clone(), Kind::Edge),
                    Role::OneToAll if root_is_there && !is_root => {
                        let of_root =
                            operation.iter().filter(|other| Some(other.location) == root).map(enter);
                        (of_root.collect(), Kind::Collective)
                    }
                    Role::AllToOne if root_is_there && is_root => {
                        let of_others =
                            operation.iter().filter(|other| Some(other.location) != root).map(enter);
                        (of_others.collect(), Kind::Collective)
                    }
                    _ => continue,
                };
                if !from.is_empty() {
                    self.gate(member.location, call, &from, kind, size);
                }
            }
            if matches!(role, Role::Barrier | Role::AllToAll) {
                self.synchronisations.push(all.into_iter().collect());
            }
        }
    }

    fn edges(&mut self) {
        let mut edges: Vec<Edge> = Vec::new();
        self.run.edges(&mut |some| edges.extend_from_slice(some)).expect("all can be read");
        let mut barriers: BTreeMap<Place, Vec<(LocationId, usize, usize)>> = BTreeMap::new();
        for edge in &edges {
            let (from, to) = (edge.from, edge.to);
            if edge.kind == EdgeKind::Join {
                self.joined.insert(from.0.idx());
            }
            let around = self.intervals.iter().filter(|interval| {
                interval.location == to.0 && interval.start < to.1 && to.1 <= interval.end
            });
            let Some(call) = around.max_by_key(|interval| interval.depth) else { continue };
            if edge.kind == EdgeKind::Create || self.region(call.call_path).role == Role::Work {
                continue;
            }
            let call = (time(call.start), time(to.1));
            if edge.kind == EdgeKind::Barrier {
                barriers.entry((from.0.idx(), time(from.1))).or_default().push((to.0, call.0, call.1));
            } else if from.0 != to.0 {
                let from = (from.0.idx(), time(from.1).min(call.1));
                self.gate(to.0, call, &[from], Kind::Edge, (0, 2));
            }
        }
        for (from, others) in barriers {
            let others: Vec<_> = others.into_iter().filter(|other| other.0.idx() != from.0).collect();
            if others.is_empty() {
                continue;
            }
            let mut come: BTreeMap<usize, usize> = BTreeMap::new();
            for other in &others {
                let at = come.entry(other.0.idx()).or_default();
                *at = other.1.min(from.1).max(*at);
            }
            let mut all: Vec<Place> = come.into_iter().collect();
            all.push(from);
            for other in &others {
                self.gate(other.0, (other.1, other.2), &all, Kind::Edge, (0, all.len()));
            }
            let last = LocationId::from_idx(from.0).expect("it is one");
            self.gates.push(Gate {
                at: (last.idx(), from.1),
                waited: false,
                arrivals: all.clone(),
                kind: Kind::Edge,
                bytes: 0,
                members: all.len(),
            });
            self.synchronisations.push(all.into_iter().collect());
        }
        let start = |location: LocationId| time(self.run.locations()[location.idx()].start);
        let mut creators: BTreeMap<usize, Edge> = BTreeMap::new();
        for edge in edges.iter().filter(|edge| edge.kind == EdgeKind::Create) {
            let order = |edge: &Edge| (edge.to.1, edge.from.1, edge.from.0);
            if start(edge.from.0) < start(edge.to.0) {
                let first = creators.entry(edge.to.0.idx()).or_insert(*edge);
                if order(edge) < order(first) {
                    *first = *edge;
                }
            }
        }
        for (location, edge) in creators {
            let begin = start(edge.to.0);
            let from = time(edge.from.1).min(begin);
            self.gates.push(Gate {
                at: (location, begin),
                waited: true,
                arrivals: vec![(edge.from.0.idx(), from)],
                kind: Kind::Start(begin - from),
                bytes: 0,
                members: 2,
            });
        }
    }

    fn coming_and_going(&mut self) {
        for together in reference::comings_and_goings(&reference::Record::of(self.run)) {
            let latest = time(together.last().start);
            let is_other = |interval: &Interval| {
                self.waits.iter().any(|wait| {
                    let own = (interval.location.idx(), time(interval.start), latest);
                    *wait != own && wait.0 == own.0 && wait.1 < latest && own.1 < wait.2
                })
            };
            if together.calls.iter().any(is_other) {
                continue;
            }
            let all: Vec<Place> =
                together.calls.iter().map(|it| (it.location.idx(), time(it.start))).collect();
            for interval in &together.calls {
                let call = (time(interval.start), time(interval.end));
                self.gate(interval.location, call, &all, Kind::Edge, (0, all.len()));
            }
        }
    }

    fn region(&self, path: CallPathId) -> &'d Region {
        &self.run.regions()[self.run.call_paths()[path.idx()].region.idx()]
    }

    fn is_in_wait(&self, place: Place) -> bool {
        self.waits.iter().any(|wait| wait.0 == place.0 && wait.1 <= place.1 && place.1 < wait.2)
    }

    fn path(&self, (location, at): Place) -> Option<CallPathId> {
        let is_there = |interval: &&Interval| {
            interval.location.idx() == location
                && time(interval.start + interval.computed) <= at
                && at < time(interval.end)
        };
        let innermost = self.intervals.iter().filter(is_there).max_by_key(|interval| interval.depth);
        innermost.map(|interval| interval.call_path)
    }

    fn is_alive(&self, (location, at): Place) -> bool {
        let location = &self.run.locations()[location];
        time(location.start) <= at && at < time(location.end)
    }

    fn is_useful(&self, region: &Region) -> bool {
        let is_node = ["system", "files", "memory"].contains(&region.level.as_str());
        let is_own = matches!(region.role, Role::Work | Role::Io | Role::Manage);
        region.level != "mpi" && (is_node || is_own)
    }

    fn does_useful(&self, place: Place) -> bool {
        self.is_alive(place) && self.path(place).is_none_or(|path| self.is_useful(self.region(path)))
    }

    /// How long the nanosecond of the run takes, before balancing.
    fn length(&self, place: Place, deeds: &[Deed]) -> f64 {
        let mut length = 1.0;
        let path = self.path(place).filter(|_| self.is_alive(place));
        for deed in deeds {
            match deed {
                Deed::Faster(name, factor) => {
                    let around = std::iter::successors(path, |path| self.run.call_paths()[path.idx()].parent);
                    let named: Vec<CallPathId> =
                        around.filter(|at| self.region(*at).name() == name).collect();
                    let is_scaled = !named.is_empty()
                        && (self.does_useful(place)
                            || named.iter().any(|at| !self.is_useful(self.region(*at))));
                    if is_scaled {
                        length /= factor;
                    }
                }
                Deed::Rank(rank, factor) => {
                    let process = self.run.locations()[place.0].process;
                    if self.run.processes()[process.idx()].rank == Some(*rank) && self.does_useful(place) {
                        length /= factor;
                    }
                }
                Deed::Balance => {}
                #[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
                Deed::Longer(location, at, by) => {
                    if place == (location.idx(), *at) {
                        length += *by as f64;
                    }
                }
                Deed::Network(..) => {
                    const ROLES: [Role; 7] = [
                        Role::Transfer,
                        Role::Wait,
                        Role::Acquire,
                        Role::Barrier,
                        Role::AllToAll,
                        Role::OneToAll,
                        Role::AllToOne,
                    ];
                    let region = path.map(|path| self.region(path));
                    if region.is_some_and(|region| ROLES.contains(&region.role) && !self.is_useful(region)) {
                        length = 0.0;
                    }
                }
            }
        }
        length
    }

    /// Of each location the ends of its steps, the factor of its useful time in each, and what it gets at the end.
    fn steps(&self, deeds: &[Deed]) -> BTreeMap<usize, Vec<(usize, f64, f64)>> {
        let mut counted: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for operation in &self.synchronisations {
            *counted.entry(operation.keys().copied().collect()).or_default() += 1;
        }
        let order = |set: &(&Vec<usize>, &usize)| (set.0.len(), *set.1, std::cmp::Reverse(set.0.clone()));
        let largest = counted.iter().filter(|set| 2 <= set.0.len()).max_by_key(order);
        let members: Vec<usize> =
            largest.map_or_else(|| self.compared.iter().copied().collect(), |(set, _)| set.clone());
        let meant = |operation: &&BTreeMap<usize, usize>| {
            largest.is_some() && operation.keys().copied().eq(members.iter().copied())
        };
        let mut ends: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &member in &members {
            let mut own: Vec<usize> =
                self.synchronisations.iter().filter(meant).map(|operation| operation[&member]).collect();
            own.sort_unstable();
            own.push(usize::MAX);
            ends.insert(member, own);
        }
        let n_steps = ends.values().map(Vec::len).max().unwrap_or(0);
        let mut steps: BTreeMap<usize, Vec<(usize, f64, f64)>> = BTreeMap::new();
        for step in 0..n_steps {
            let useful = |member: usize| -> f64 {
                let from = if step == 0 { 0 } else { ends[&member][step - 1] };
                let to = ends[&member][step].min(self.end);
                let places = (from..to).map(|at| (member, at));
                places
                    .filter(|place| self.does_useful(*place) && !self.is_in_wait(*place))
                    .map(|place| self.length(place, deeds))
                    .sum()
            };
            #[expect(clippy::cast_precision_loss, reason = "there are few")]
            let mean = members.iter().map(|member| useful(*member)).sum::<f64>() / members.len() as f64;
            for &member in &members {
                let own = useful(member);
                let (factor, extra) = if 0.0 < own { (mean / own, 0.0) } else { (1.0, mean) };
                steps.entry(member).or_default().push((ends[&member][step], factor, extra));
            }
        }
        steps
    }

    fn cost(gate: &Gate, deeds: &[Deed]) -> f64 {
        let mut cost = 0.0;
        #[expect(clippy::cast_precision_loss, reason = "there are few")]
        for deed in deeds {
            let Deed::Network(latency, bandwidth) = deed else { continue };
            let data = gate.bytes as f64 / bandwidth;
            let hops = (gate.members as f64).log2().ceil();
            cost = match gate.kind {
                Kind::Message => latency + data,
                Kind::Barrier => hops * latency,
                Kind::Collective => hops * (latency + data),
                Kind::Edge | Kind::Start(_) => 0.0,
            };
        }
        cost
    }

    /// When each location ends.
    pub(crate) fn ends(&self, deeds: &[Deed]) -> Vec<f64> {
        self.replay(deeds, |place| self.length(place, deeds))
    }

    /// The same where no call of a parallel library costs anything but waits.
    pub(crate) fn ideal_ends(&self) -> Vec<f64> {
        let is_free = |place: Place| self.is_alive(place) && !self.does_useful(place);
        self.replay(&[], |place| if is_free(place) { 0.0 } else { self.length(place, &[]) })
    }

    fn replay(&self, deeds: &[Deed], length: impl Fn(Place) -> f64) -> Vec<f64> {
        let mut ends = self.replay_each(deeds, length);
        let counted = self.counted();
        let locations = self.run.locations();
        for at in (0..locations.len()).filter(|at| !counted.contains(at)) {
            let is_first = |other: &usize| {
                locations[*other].process == locations[at].process && locations[*other].thread.0 == 0
            };
            let first = (0..locations.len()).find(is_first).expect("it was cut off with the first");
            #[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
            let later = (time(locations[at].end) - time(locations[first].end)) as f64;
            ends[at] = ends[first] + later;
        }
        ends
    }

    fn replay_each(&self, deeds: &[Deed], length: impl Fn(Place) -> f64) -> Vec<f64> {
        let n = self.run.locations().len();
        let steps = if deeds.contains(&Deed::Balance) { self.steps(deeds) } else { BTreeMap::new() };
        // Behind the gates at which it waited, and behind all.
        let mut middle = vec![vec![0.0_f64; self.end + 1]; n];
        let mut after = vec![vec![0.0_f64; self.end + 1]; n];
        let mut ends = vec![0.0; n];
        let mut step = vec![0; n];
        // The same if the wait that each is in kept its length.
        let mut kept = vec![0.0_f64; n];
        for at in 0..=self.end {
            let mut come = vec![0.0; n];
            for location in 0..n {
                if 0 < at {
                    let place = (location, at - 1);
                    let mut factor = 1.0;
                    if self.does_useful(place)
                        && let Some(own) = steps.get(&location)
                    {
                        factor = own[step[location]].1;
                    }
                    let spent = length(place) * factor;
                    if self.is_in_wait(place) {
                        if self.waits.iter().any(|wait| (wait.0, wait.1) == place) {
                            kept[location] = after[location][at - 1];
                        }
                        kept[location] += spent;
                        come[location] = after[location][at - 1];
                    } else {
                        come[location] = after[location][at - 1] + spent;
                    }
                }
            }
            let here: Vec<&Gate> = self.gates.iter().filter(|gate| gate.at.1 == at).collect();
            let circles = circles(n, &here, at);
            let mut now = come.clone();
            // Who is held up at this instant comes through when nothing changes any more; the longest way has n parts.
            for _ in 0..=n + 1 {
                let mut next = come.clone();
                for location in 0..n {
                    let is_turning = circles[location].contains(&location);
                    let own: Vec<&&Gate> =
                        here.iter().filter(|gate| gate.waited && gate.at.0 == location).collect();
                    let value_of = |gate: &Gate| -> Option<f64> {
                        let counts = |arrival: &&Place| {
                            arrival.1 != at || !is_turning || !circles[location].contains(&arrival.0)
                        };
                        let value = |arrival: &Place| {
                            if arrival.1 == at {
                                now[arrival.0] + self.extra(&steps, &step, arrival.0, at)
                            } else {
                                middle[arrival.0][arrival.1]
                            }
                        };
                        gate.arrivals.iter().filter(counts).map(value).reduce(f64::max)
                    };
                    for gate in &own {
                        #[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
                        if let (Kind::Start(later), Some(value)) = (gate.kind, value_of(gate)) {
                            next[location] = value + later as f64;
                        }
                    }
                    for gate in own.iter().filter(|gate| !matches!(gate.kind, Kind::Start(_))) {
                        if let Some(value) = value_of(gate) {
                            next[location] = next[location].max(value + Self::cost(gate, deeds));
                        }
                    }
                    // A wait that ends here keeps its length in a circle; one that goes on keeps it so far if
                    // something is done for others in it.
                    let ends = self.waits.iter().any(|wait| wait.0 == location && wait.2 == at);
                    let goes_on =
                        self.waits.iter().any(|wait| wait.0 == location && wait.1 < at && at < wait.2);
                    if is_turning && ends || goes_on && self.arrives((location, at)) {
                        next[location] = next[location].max(kept[location]);
                    }
                }
                now = next;
            }
            for location in 0..n {
                now[location] += self.extra(&steps, &step, location, at);
                if let Some(own) = steps.get(&location) {
                    while own[step[location]].0 == at {
                        step[location] += 1;
                    }
                }
                middle[location][at] = now[location];
            }
            for location in 0..n {
                let mut value = now[location];
                for gate in here.iter().filter(|gate| !gate.waited && gate.at.0 == location) {
                    for arrival in &gate.arrivals {
                        value = value.max(middle[arrival.0][arrival.1] + Self::cost(gate, deeds));
                    }
                }
                after[location][at] = value;
                kept[location] = kept[location].max(value);
                if at == time(self.run.locations()[location].end) {
                    let extra = steps.get(&location).map_or(0.0, |own| own.last().expect("there is one").2);
                    ends[location] = value + extra;
                }
            }
        }
        ends
    }

    fn arrives(&self, place: Place) -> bool {
        self.gates.iter().any(|gate| gate.arrivals.contains(&place))
    }

    /// What a location gets at the ends of its steps at this instant.
    fn extra(
        &self,
        steps: &BTreeMap<usize, Vec<(usize, f64, f64)>>,
        step: &[usize],
        location: usize,
        at: usize,
    ) -> f64 {
        let Some(own) = steps.get(&location) else { return 0.0 };
        own[step[location]..].iter().take_while(|step| step.0 == at).map(|step| step.2).sum()
    }

    /// How long a location waits.
    pub(crate) fn waiting(&self, location: LocationId) -> i64 {
        let own = self.waits.iter().filter(|wait| wait.0 == location.idx());
        own.map(|wait| i64::try_from(wait.2 - wait.1).expect("drawn times are small")).sum()
    }

    pub(crate) fn run_time(&self, deeds: &[Deed]) -> f64 {
        let counted = self.counted();
        let ends = self.ends(deeds);
        let new = counted.iter().map(|location| ends[*location]).fold(0.0, f64::max);
        let old = counted.iter().map(|location| time(self.run.locations()[*location].end)).max().unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
        let rest = self.end.saturating_sub(old) as f64;
        new + rest
    }

    /// Those who are no helpers that were cut off.
    fn counted(&self) -> Vec<usize> {
        let locations = self.run.locations();
        let is_cut_off = |location: &usize| {
            let own = &locations[*location];
            let first = locations.iter().find(|other| other.process == own.process && other.thread.0 == 0);
            own.thread.0 != 0
                && !self.joined.contains(location)
                && first.is_some_and(|first| {
                    first.end <= own.end && 100 * (time(own.end) - time(first.end)) <= self.end
                })
        };
        (0..locations.len()).filter(|location| !is_cut_off(location)).collect()
    }
}

/// Of each location those that it depends on at an instant in a circle, itself among them if there is one.
fn circles(n: usize, here: &[&Gate], at: usize) -> Vec<BTreeSet<usize>> {
    let mut reaches = vec![vec![false; n]; n];
    for gate in here.iter().filter(|gate| gate.waited) {
        for arrival in gate.arrivals.iter().filter(|arrival| arrival.1 == at) {
            reaches[gate.at.0][arrival.0] = true;
        }
    }
    for through in 0..n {
        for from in 0..n {
            for to in 0..n {
                reaches[from][to] |= reaches[from][through] && reaches[through][to];
            }
        }
    }
    (0..n).map(|from| (0..n).filter(|&to| reaches[from][to] && reaches[to][from]).collect()).collect()
}
