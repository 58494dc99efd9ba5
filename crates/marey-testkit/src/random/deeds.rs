//! What random programs do: one function a deed.
//!
//! The one idea: a deed reads the clocks of all who take part before it moves any.

use super::text::{
    AWAIT, BEAT, CLOSE, COLLECTIVES, COMPLETE, CREATE, IRECV, ISEND, JOIN, LOCK, NONBLOCKING, PASS, POST,
    PROBE, RECV, SEND, SENDRECV, SET_UP, SIGNAL, SORT, START, TEST, UNLOCK, WAIT, WORK,
};
use super::{Begun, Call, Completion, Part, Program, Statement};

/// Places in the tables of collective operations.
const ONE_TO_ALL: usize = 2;
const ALL_TO_ONE: usize = 3;

const MAX_LOCATIONS: usize = 5;
/// Regions that may be open around a call.
const MAX_OPEN: usize = 2;

impl Program {
    pub(super) fn deed(&mut self) {
        let Some(one) = self.choose(&[]) else { return };
        let other = self.choose(&[one]);
        match (self.below(if self.has_windows { 25 } else { 22 }), other) {
            (0..4, _) => self.work(one),
            (4, _) => self.locations[one].now += 1 + self.time(6),
            (5..9, Some(other)) => self.message(one, other),
            (9 | 10, _) => self.complete(one),
            (11, Some(other)) => self.exchange(one, other),
            (12 | 13, _) => self.collective(),
            (14, _) => self.locked(one),
            (15, Some(other)) => self.wake(one, other),
            (16, _) if self.locations.len() < MAX_LOCATIONS => self.create(one),
            (17, Some(other)) if 0 < self.locations[other].thread => self.join(one, other),
            (18, _) => self.beat(),
            (20 | 21, _) => self.set_up(),
            (22.., Some(other)) => self.access(one, other),
            (19, _) if self.locations[one].open.len() < MAX_OPEN => {
                let region = [WORK, PASS, AWAIT][self.below(3)];
                self.enter(one, region);
            }
            (_, other) => self.leave_outer(one, other),
        }
    }

    /// A location that has not ended and is none of these.
    fn choose(&mut self, but: &[usize]) -> Option<usize> {
        let alive = |location: &usize| !self.locations[*location].has_ended && !but.contains(location);
        let candidates: Vec<usize> = (0..self.locations.len()).filter(alive).collect();
        let which = self.below(candidates.len());
        candidates.get(which).copied()
    }

    /// At least one of those that have not ended, most of the time several.
    fn choose_several(&mut self) -> Vec<usize> {
        let mut chosen = Vec::new();
        while let Some(location) = self.choose(&chosen) {
            chosen.push(location);
            if 2 <= chosen.len() && self.one_in(3) || self.one_in(20) {
                break;
            }
        }
        chosen
    }

    fn work(&mut self, location: usize) {
        let region = if self.one_in(3) { SORT } else { WORK };
        let end = self.now(location) + 1 + self.time(16);
        self.visit(location, region, end);
    }

    fn message(&mut self, sender: usize, receiver: usize) {
        if self.one_in(4) {
            let sent = self.now(sender);
            self.polls(receiver, PROBE);
            let end = sent.max(self.now(receiver)) + self.time(3);
            self.visit(receiver, PROBE, end);
        }
        let (send, post) = (self.now(sender), self.now(receiver));
        // A send that waits for its receiver, or one that is buffered.
        let sent_from = if self.one_in(2) { post } else { send };
        let (send_later, receive_later) = (self.one_in(2), self.one_in(2));
        let statement = self.statements.len();

        let end = if send_later { send + 1 } else { sent_from.max(send) };
        let end = end + self.time(4);
        let (from, _) = self.visit(sender, if send_later { ISEND } else { SEND }, end);
        let mut completed = Completion::Itself;
        if send_later {
            completed = Completion::NotKnown;
            let begun = Begun { statement, part: Part::Send, not_before: sent_from };
            self.locations[sender].begun.push(begun);
        }

        let end = if receive_later { post + 1 } else { send.max(post) };
        let end = end + self.time(4);
        let (to, _) = self.visit(receiver, if receive_later { IRECV } else { RECV }, end);
        let posted = receive_later.then_some(to);
        if receive_later {
            let begun = Begun { statement, part: Part::Receive, not_before: send };
            self.locations[receiver].begun.push(begun);
        }
        // Until it is completed, nothing is known of the end of a receiver that only posted.
        let to = if receive_later { None } else { Some(to) };
        let from = if self.one_in(20) { None } else { Some(from) };
        self.statements.push(Statement::Message { from, to, posted, completed });
    }

    /// Completes some of what a location has begun, with one call.
    fn complete(&mut self, location: usize) {
        let n_begun = self.locations[location].begun.len();
        if n_begun == 0 {
            return self.work(location);
        }
        let n_completed = 1 + self.below(n_begun);
        let completed: Vec<Begun> = self.locations[location].begun.drain(..n_completed).collect();
        let after = completed.iter().map(|begun| begun.not_before).max().unwrap_or(0);
        let region = if self.one_in(2) { TEST } else { WAIT };
        if region == TEST || self.one_in(4) {
            self.polls(location, TEST);
        }
        let end = after.max(self.now(location)) + self.time(4);
        let (call, _) = self.visit(location, region, end);
        for begun in completed {
            self.is_completed(begun, call);
        }
    }

    fn is_completed(&mut self, begun: Begun, call: Call) {
        match (&mut self.statements[begun.statement], begun.part) {
            (Statement::Message { completed, .. }, Part::Send) => *completed = Completion::By(call),
            (Statement::Message { to, .. }, Part::Receive) => *to = Some(call),
            (Statement::Collective { members, .. }, Part::Member(number)) => {
                members[number].1 = Completion::By(call);
            }
            _ => unreachable!("a location completes what it has begun"),
        }
    }

    /// Both send to each other and receive, in one call each; or the one sends to another than it receives from.
    fn exchange(&mut self, one: usize, other: usize) {
        let (here, there) = (self.now(one), self.now(other));
        let third = if self.one_in(2) { self.choose(&[one, other]) } else { None };
        let sends_at = third.map_or(here, |third| self.now(third));
        let both = here.max(there).max(sends_at);
        let (end_here, end_there) = (both + self.time(4), both + self.time(4));
        let (call, _) = self.visit(one, SENDRECV, end_here);
        let (of_other, _) = self.visit(other, SENDRECV, end_there);
        let mut say = |from: Call, to: Call| {
            let (from, to) = (Some(from), Some(to));
            self.statements.push(Statement::Message {
                from,
                to,
                posted: None,
                completed: Completion::Itself,
            });
        };
        say(call, of_other);
        match third {
            None => say(of_other, call),
            Some(third) => {
                let end = sends_at + self.time(4);
                let (send, _) = self.visit(third, SEND, end);
                let (from, to) = (Some(send), Some(call));
                self.statements.push(Statement::Message {
                    from,
                    to,
                    posted: None,
                    completed: Completion::Itself,
                });
            }
        }
    }

    fn collective(&mut self) {
        let who = self.choose_several();
        let kind = self.below(COLLECTIVES.len());
        let is_later = self.one_in(3);
        let root = who[self.below(who.len())];
        let enters: Vec<i64> = who.iter().map(|location| self.now(*location)).collect();
        let last = enters.iter().copied().max().unwrap_or(0);
        let root_enters = self.now(root);
        let statement = self.statements.len();
        let mut members = Vec::new();
        for (number, location) in who.iter().copied().enumerate() {
            let after = match kind {
                ONE_TO_ALL if location != root => root_enters,
                ALL_TO_ONE if location == root => last,
                ONE_TO_ALL | ALL_TO_ONE => 0,
                _ => last,
            };
            if is_later {
                let end = self.now(location) + 1 + self.time(3);
                let (call, _) = self.visit(location, NONBLOCKING[kind], end);
                let begun = Begun { statement, part: Part::Member(number), not_before: after };
                self.locations[location].begun.push(begun);
                members.push((call, Completion::NotKnown));
            } else {
                let end = after.max(self.now(location)) + 1 + self.time(4);
                let (call, _) = self.visit(location, COLLECTIVES[kind], end);
                members.push((call, Completion::Itself));
            }
        }
        // The last member was not measured, at times; it has nothing to complete then.
        if self.one_in(8) && 2 <= members.len() {
            let (call, _) = members.pop().expect("there are two");
            self.locations[call.location].begun.retain(|begun| begun.statement != statement);
        }
        let has_root = kind == ONE_TO_ALL || kind == ALL_TO_ONE;
        let root = if has_root && !self.one_in(6) { Some(root) } else { None };
        self.statements.push(Statement::Collective { members, root });
    }

    /// Asks some times in vain, and works now and then between.
    fn polls(&mut self, location: usize, region: super::RegionIdx) {
        for _ in 0..self.below(4) {
            let end = self.now(location) + 1 + self.time(5);
            self.visit(location, region, end);
            match self.below(6) {
                0 => self.work(location),
                1 => self.locations[location].now += 1,
                _ => {}
            }
        }
    }

    /// Something that all take part in, and of which only times say whether they wait in it.
    fn set_up(&mut self) {
        let who = self.choose_several();
        let last = who.iter().map(|location| self.now(*location)).max().unwrap_or(0);
        let are_apart = self.one_in(3);
        let mut members = Vec::new();
        for location in who {
            let after = if are_apart { self.now(location) } else { last.max(self.now(location)) };
            let end = after + self.time(4);
            let (call, _) = self.visit(location, SET_UP, end);
            members.push((call, Completion::Itself));
        }
        self.statements.push(Statement::Collective { members, root: None });
    }

    /// Takes the lock, works, and gives it back.
    fn locked(&mut self, location: usize) {
        let asked = self.now(location);
        let after = self.lock.map_or(0, |(_, given_back)| given_back);
        let end = asked.max(after) + self.time(4);
        let (_, end) = self.visit(location, LOCK, end);
        if let Some(from) = self.lock.filter(|from| from.0 != location && (asked < from.1 || from.1 % 2 == 0))
        {
            self.edge("lock-hand-over", from, (location, end));
        }
        self.work(location);
        let given_back = self.now(location);
        let end = given_back + 1 + self.time(2);
        self.visit(location, UNLOCK, end);
        self.lock = Some((location, given_back));
    }

    fn wake(&mut self, waiting: usize, waking: usize) {
        let woken = self.now(waking);
        let end = woken.max(self.now(waiting)) + self.time(4);
        let (_, end) = self.visit(waiting, AWAIT, end);
        if self.one_in(2) {
            let end = woken + 1 + self.time(3);
            self.visit(waking, SIGNAL, end);
        }
        self.edge("wake", (waking, woken), (waiting, end));
    }

    /// All ranks set up their library, or take it down: most of the time nobody leaves before all have entered.
    pub(super) fn together(&mut self, region: super::RegionIdx) {
        let ranks: Vec<usize> =
            (0..self.locations.len()).filter(|location| self.locations[*location].thread == 0).collect();
        for location in &ranks {
            if self.one_in(2) {
                self.locations[*location].now += self.time(12);
            }
        }
        let last = ranks.iter().map(|location| self.now(*location)).max().unwrap_or(0);
        let are_apart = self.one_in(4);
        for location in ranks {
            let after = if are_apart { self.now(location) } else { last };
            let end = after + self.time(5);
            self.visit(location, region, end);
        }
    }

    /// An access epoch and its exposure epoch. The origin waits for the post when it starts, or when it completes.
    fn access(&mut self, origin: usize, target: usize) {
        let (posted, is_late) = (self.now(target), self.one_in(3));
        let started = self.now(origin);
        let after = if is_late { started } else { posted.max(started) };
        let end = after + self.time(4);
        let (_, end) = self.visit(origin, START, end);
        if !is_late {
            self.edge("post", (target, posted), (origin, end));
        }
        let end = posted + 1 + self.time(2);
        self.visit(target, POST, end);
        if self.one_in(2) {
            self.work(origin);
        }
        if self.one_in(3) {
            self.work(target);
        }
        let completed = self.now(origin);
        let after = if is_late { posted.max(completed) } else { completed };
        let end = after + self.time(4);
        let (_, end) = self.visit(origin, COMPLETE, end);
        if is_late {
            self.edge("post", (target, posted), (origin, end));
        }
        // Data that are on their way when the origin is done arrive before the target goes on.
        let end = completed.max(self.now(target)) + self.time(4);
        let (_, end) = self.visit(target, CLOSE, end);
        self.edge("complete", (origin, completed), (target, end));
    }

    fn create(&mut self, creator: usize) {
        let created = self.now(creator);
        let end = created + 1 + self.time(6);
        self.visit(creator, CREATE, end);
        let start = created + self.time(10);
        let rank = self.locations[creator].rank;
        let thread = self.locations.iter().filter(|location| location.rank == rank).count();
        let number = self.locations.len();
        self.add_location(rank, thread, start);
        self.edge("create", (creator, created), (number, start));
    }

    fn join(&mut self, joining: usize, thread: usize) {
        self.end(thread);
        let ended = self.now(thread);
        let end = ended.max(self.now(joining)) + self.time(4);
        let (_, end) = self.visit(joining, JOIN, end);
        self.edge("join", (thread, ended), (joining, end));
    }

    /// A barrier of threads, known by edges only.
    fn beat(&mut self) {
        let who = self.choose_several();
        let last = who.iter().map(|location| (self.now(*location), *location)).max();
        let Some((arrived, last)) = last else { return };
        for location in who {
            let end = arrived + 1 + self.time(4);
            let (_, end) = self.visit(location, BEAT, end);
            if location != last {
                self.edge("barrier", (last, arrived), (location, end));
            }
        }
    }

    /// Leaves a region that calls were made in, perhaps when another location has done something.
    fn leave_outer(&mut self, location: usize, other: Option<usize>) {
        if self.locations[location].open.is_empty() {
            return self.work(location);
        }
        let from = other.filter(|_| !self.one_in(3)).map(|other| (other, self.now(other)));
        let after = from.map_or(0, |from| from.1);
        let end = after.max(self.now(location)) + self.time(4);
        let end = self.leave(location, end);
        if let Some(from) = from {
            self.edge("wake", from, (location, end));
        }
    }

    fn edge(&mut self, kind: &'static str, from: (usize, i64), to: (usize, i64)) {
        self.statements.push(Statement::Edge { kind, from, to });
    }

    /// Completes what has been begun, but for one in a few, leaves all regions, and ends.
    pub(super) fn end(&mut self, location: usize) {
        if self.one_in(6) {
            self.locations[location].begun.clear();
        }
        while !self.locations[location].begun.is_empty() {
            self.complete(location);
        }
        while !self.locations[location].open.is_empty() {
            let end = self.now(location) + self.time(4);
            self.leave(location, end);
        }
        self.work(location);
        self.locations[location].has_ended = true;
    }

    /// Adds edges that make no sense.
    pub(super) fn disturb(&mut self) {
        const KINDS: [&str; 7] = ["create", "join", "lock-hand-over", "wake", "barrier", "post", "complete"];
        let last = self.locations.iter().map(|location| location.now).max().unwrap_or(1);
        for _ in 0..1 + self.below(6) {
            let (one, other) = (self.below(self.locations.len()), self.below(self.locations.len()));
            let (kind, instant) = (KINDS[self.below(KINDS.len())], self.time_before(last));
            if self.one_in(2) {
                let to = self.time_before(last);
                self.edge(kind, (one, instant), (other, to));
            } else {
                // Each to the end of the call in which the next one is, all at one instant: a ring.
                let mut ring = vec![one, other, self.below(self.locations.len())];
                ring.dedup();
                for (place, from) in ring.iter().copied().enumerate() {
                    let to = ring[(place + 1) % ring.len()];
                    self.edge("wake", (from, instant), (to, self.end_of_call(to, instant)));
                }
            }
        }
    }

    fn time_before(&mut self, end: i64) -> i64 {
        self.time(u32::try_from(end).expect("a random run is short"))
    }

    /// The end of the innermost visit at an instant, or the instant itself.
    fn end_of_call(&self, location: usize, instant: i64) -> i64 {
        let visits = &self.locations[location].visits;
        let around = visits.iter().filter(|visit| visit.start < instant && instant <= visit.end);
        around.max_by_key(|visit| visit.depth).map_or(instant, |visit| visit.end)
    }
}
