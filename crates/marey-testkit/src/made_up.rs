//! Runs made up visit by visit, of any length, with call stacks, sizes and messages.
//!
//! The one idea: each location has a clock, and what is done on it moves that on; so a test writes a program as loops
//! of its own, and knows to the nanosecond what happened. For timelines that people look at there are drawings
//! ([`crate::Drawing`]); this is for runs of thousands of visits.
//!
//! What is deliberately absent: edges, and sums but for samples and visits.

mod run;

use marey_analyze::{
    CallPath, Communicator, CommunicatorId, Done, Frame, Interval, Location, LocationKind, Member, Message,
    Process, ProfileRow, Receiving, Region, SampledRow, Sending, Tick, Visit,
};
use marey_model::{CallPathId, LocationId, Nanos, ProcessId, RegionId, Role, StackId, ThreadSerial, Tier};

/// A run in the making.
#[derive(Clone, Debug)]
pub struct MadeUp {
    regions: Vec<Region>,
    call_paths: Vec<CallPath>,
    stacks: Vec<Vec<Frame>>,
    processes: Vec<Process>,
    locations: Vec<Location>,
    communicators: Vec<Communicator>,
    /// By location.
    visits: Vec<Vec<Visit>>,
    messages: Vec<Message>,
    members: Vec<Member>,
    /// Regions that each location is in: the places of their visits.
    open: Vec<Vec<usize>>,
    slabs: Vec<Nanos>,
    /// The period of samples, ns; 0 = none are taken.
    period: i64,
    /// Of each location what it has used of a period.
    used: Vec<i64>,
    ticks: Vec<Tick>,
    /// The call stack of samples outside of regions, of all.
    computes_in: Option<StackId>,
    /// What each of them found.
    sampled: Vec<SampledRow>,
    samples: Vec<SampledRow>,
    profile: Vec<ProfileRow>,
}

impl MadeUp {
    /// So many ranks of one thread each, at time 0.
    pub fn new(ranks: u32) -> Self {
        let mut run = Self {
            regions: Vec::new(),
            call_paths: Vec::new(),
            stacks: Vec::new(),
            processes: Vec::new(),
            locations: Vec::new(),
            communicators: vec![Communicator { name: "WORLD".to_owned(), size: ranks, parent: None }],
            visits: Vec::new(),
            messages: Vec::new(),
            members: Vec::new(),
            open: Vec::new(),
            slabs: vec![Nanos(0)],
            period: 0,
            used: Vec::new(),
            ticks: Vec::new(),
            computes_in: None,
            sampled: Vec::new(),
            samples: Vec::new(),
            profile: Vec::new(),
        };
        for rank in 0..ranks {
            run.processes.push(Process {
                host: "made-up".to_owned(),
                pid: rank + 1,
                world: 0,
                rank: Some(rank),
                start: Nanos(0),
                end: Nanos(0),
                outcome: "finished".to_owned(),
                exit_code: Some(0),
                peak_memory: None,
                processor_time: None,
            });
            run.add_location(rank, 0);
        }
        run
    }

    /// The ranks from this one on are a world of their own, which those before have spawned: ranks from 0 of world 1.
    pub fn spawn_from(&mut self, first: u32) {
        for (process, rank) in self.processes.iter_mut().skip(first as usize).zip(0..) {
            (process.world, process.rank) = (1, Some(rank));
        }
    }

    /// One more thread of a rank, which begins when the first of it is now.
    pub fn thread(&mut self, rank: u32) -> LocationId {
        let process = ProcessId(rank);
        let thread = self.locations.iter().filter(|location| location.process == process).count();
        let id = self.add_location(rank, u32::try_from(thread).expect("there are few threads"));
        let now = self.now(LocationId(rank));
        let location = &mut self.locations[id.idx()];
        (location.start, location.end) = (now, now);
        id
    }

    fn add_location(&mut self, rank: u32, thread: u32) -> LocationId {
        let id = LocationId(u32::try_from(self.locations.len()).expect("there are few locations"));
        self.locations.push(Location {
            process: ProcessId(rank),
            name: format!("rank {rank}.{thread}"),
            kind: LocationKind::Thread,
            thread: ThreadSerial(thread),
            start: Nanos(0),
            end: Nanos(0),
        });
        self.visits.push(Vec::new());
        self.open.push(Vec::new());
        self.used.push(0);
        id
    }

    /// A call path: a region by its level, name and role, beneath another one or none, called from these functions and
    /// lines, the outermost first. The same words give the same call path.
    pub fn path(
        &mut self,
        parent: Option<CallPathId>,
        (level, name, role): (&str, &str, Role),
        frames: &[(&str, u32)],
    ) -> CallPathId {
        let is_work = role == Role::Work;
        let region = Region {
            level: level.to_owned(),
            tier: Tier::Runtime,
            verb: if is_work { "execute" } else { name }.to_owned(),
            noun: if is_work { name } else { "" }.to_owned(),
            role,
            file: String::new(),
            line: 0,
            label: None,
        };
        let region = RegionId(place(&mut self.regions, region));
        let stack = self.stack_of(frames);
        CallPathId(place(&mut self.call_paths, CallPath { parent, region, stack }))
    }

    /// Functions and lines, the outermost first.
    fn stack_of(&mut self, frames: &[(&str, u32)]) -> Option<StackId> {
        let frame = |&(function, line): &(&str, u32)| Frame {
            function: function.to_owned(),
            file: "made_up.c".to_owned(),
            line,
        };
        let stack: Vec<Frame> = frames.iter().rev().map(frame).collect();
        (!stack.is_empty()).then(|| StackId(place(&mut self.stacks, stack)))
    }

    /// From now on whoever is in no region is in these functions and lines, the outermost first.
    pub fn compute_in(&mut self, frames: &[(&str, u32)]) {
        self.computes_in = self.stack_of(frames);
    }

    /// A call of MPI, by its name and role, from these functions and lines.
    pub fn mpi(&mut self, name: &str, role: Role, frames: &[(&str, u32)]) -> CallPathId {
        self.path(None, ("mpi", name, role), frames)
    }

    /// The time of a location, ns.
    pub fn now(&self, location: LocationId) -> Nanos {
        self.locations[location.idx()].end
    }

    /// From now on everybody is sampled whenever so much processor time is used up, ns.
    pub fn sample(&mut self, period: i64) {
        self.period = period;
    }

    /// A location does something that is in no further region, for so many ns, and uses the processor for it.
    pub fn pause(&mut self, location: LocationId, ns: i64) {
        let (mut left, here) = (ns, location.idx());
        while self.period > 0 && self.used[here] + left >= self.period {
            let until = self.period - self.used[here];
            self.stand_still(location, until);
            (left, self.used[here]) = (left - until, 0);
            self.tick(location);
        }
        self.used[here] += left;
        self.stand_still(location, left);
    }

    fn tick(&mut self, location: LocationId) {
        let innermost = self.open[location.idx()].last().map(|&place| self.visits[location.idx()][place]);
        let call_path = innermost.map(|visit| visit.interval.call_path);
        self.ticks.push(Tick { location, time: self.now(location), periods: 1 });
        let stack = self.computes_in.filter(|_| call_path.is_none());
        let key = (call_path, location, stack);
        let is_it = |row: &&mut SampledRow| (row.call_path, row.location, row.stack) == key;
        let time = Nanos(self.period);
        let one = SampledRow { call_path, location, stack, samples: 1, time, is_complete: true };
        self.sampled.push(one);
        match self.samples.iter_mut().find(is_it) {
            Some(row) => (row.samples, row.time) = (row.samples + 1, row.time + time),
            None => self.samples.push(one),
        }
    }

    /// Time passes for a location that has no processor, ns.
    pub fn stand_still(&mut self, location: LocationId, ns: i64) {
        let life = &mut self.locations[location.idx()];
        life.end = life.end + Nanos(ns);
        let end = life.end;
        let process = &mut self.processes[life.process.idx()];
        process.end = process.end.max(end);
    }

    /// A location enters a region, which it must leave.
    pub fn enter(&mut self, location: LocationId, call_path: CallPathId) {
        let (start, here) = (self.now(location), location.idx());
        let depth = u32::try_from(self.open[here].len()).expect("regions are not nested so deep");
        let interval =
            Interval { location, start, end: start, call_path, depth, computed: Nanos(0), visits: 1 };
        self.open[here].push(self.visits[here].len());
        self.visits[here].push(Visit { interval, bytes: None, between: Nanos(0) });
    }

    /// It leaves the innermost one.
    pub fn leave(&mut self, location: LocationId) {
        let place = self.open[location.idx()].pop().expect("a region is left that was entered");
        let end = self.now(location);
        let interval = &mut self.visits[location.idx()][place].interval;
        interval.end = end;
        let (call_path, length) = (interval.call_path, end - interval.start);
        let is_it = |row: &&mut ProfileRow| row.call_path == call_path && row.location == location;
        match self.profile.iter_mut().find(is_it) {
            Some(row) => (row.visits, row.inclusive) = (row.visits + 1, row.inclusive + length),
            None => self.profile.push(ProfileRow {
                call_path,
                location,
                visits: 1,
                untimed: 0,
                inclusive: length,
                exclusive: Nanos(0),
                min: None,
                max: None,
                sum_squares: 0.0,
                bytes: 0,
            }),
        }
    }

    /// It is in a region for so many ns; gives its interval.
    pub fn visit(&mut self, location: LocationId, path: CallPathId, ns: i64) -> Interval {
        self.sized_visit(location, path, ns, None)
    }

    /// The same, which moves data.
    pub fn sized_visit(
        &mut self,
        location: LocationId,
        path: CallPathId,
        ns: i64,
        bytes: Option<u64>,
    ) -> Interval {
        self.enter(location, path);
        self.pause(location, ns);
        self.leave(location);
        let visit = self.visits[location.idx()].last_mut().expect("it was visited");
        visit.bytes = bytes;
        visit.interval
    }

    /// So many polls in a row that the recorder has put together.
    pub fn polls(&mut self, location: LocationId, path: CallPathId, ns: i64, number: u32) {
        self.polls_with_gaps(location, path, (ns, 0), number);
    }

    /// The same: from the first to the last so many ns, of which so many lie between them.
    pub fn polls_with_gaps(
        &mut self,
        location: LocationId,
        path: CallPathId,
        (ns, gaps): (i64, i64),
        number: u32,
    ) {
        self.visit(location, path, ns);
        let visit = self.visits[location.idx()].last_mut().expect("it was visited");
        visit.between = Nanos(gaps);
        visit.interval.visits = number;
        visit.interval.computed = Interval::computed_between(visit.between, number);
    }

    /// All first threads take part in an operation that nobody leaves before the last has entered, and leave it so many
    /// ns after that.
    pub fn collective(&mut self, path: CallPathId, ns: i64) {
        let all: Vec<LocationId> = (0..).map(LocationId).take(self.processes.len()).collect();
        let last = all.iter().map(|location| self.now(*location)).max().expect("there are ranks");
        let instance = u32::try_from(self.members.len() / all.len()).expect("there are few operations");
        for location in all {
            let enter = self.now(location);
            let interval = self.visit(location, path, (last - enter).0 + ns);
            self.members.push(Member {
                communicator: CommunicatorId(0),
                instance,
                location,
                enter,
                call_path: Some(path),
                done: Some(done(&interval)),
                root: None,
                bytes_out: 0,
                bytes_in: 0,
            });
        }
    }

    /// A message: the sender is in its call for so many ns, the receiver in its own so long after the later of both
    /// has entered.
    pub fn message(
        &mut self,
        (from, send): (LocationId, CallPathId),
        (to, receive): (LocationId, CallPathId),
        bytes: u64,
        ns: i64,
    ) {
        let sent = self.sized_visit(from, send, ns, Some(bytes));
        let posted = self.now(to);
        let late = (sent.start - posted).0.max(0);
        let received = self.sized_visit(to, receive, late + ns, Some(bytes));
        self.messages.push(Message {
            sending: Some(Sending {
                location: from,
                send: sent.start,
                call_path: Some(send),
                done: Some(done(&sent)),
            }),
            receiving: Some(Receiving { location: to, post: posted, done: done(&received) }),
            bytes,
            communicator: Some(CommunicatorId(0)),
        });
    }

    /// The same run cut into slabs of this length, so that visits come in several parts.
    #[must_use]
    pub fn cut_every(mut self, length: i64) -> Self {
        let end = self.locations.iter().map(|location| location.end.0).max().unwrap_or(0);
        let step = usize::try_from(length.max(1)).unwrap_or(usize::MAX);
        self.slabs = (0..end.max(1)).step_by(step).map(Nanos).collect();
        self
    }
}

fn done(interval: &Interval) -> Done {
    Done { start: interval.start, end: interval.end, call_path: Some(interval.call_path) }
}

/// The place of something in a list, to which it is appended if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> u32 {
    let place = list.iter().position(|it| *it == wanted).unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    });
    u32::try_from(place).expect("tests are small")
}
