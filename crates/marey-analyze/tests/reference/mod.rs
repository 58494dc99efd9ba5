//! A slow analysis of wait states, delay costs and the critical path, which fast ones are compared with.
//!
//! The one idea: it is `docs/wait-states.md` read aloud, sentence by sentence. What each location does is looked up
//! nanosecond by nanosecond, and every pair is looked at. Runs have hundreds of nanoseconds, so that does not matter.
//!
//! What is deliberately absent: any thought of speed or memory, and code of the crate beside its traits.

mod delays;
mod path;
mod polls;
mod together;
mod waits;

use marey_analyze::{
    CallPath, Communicator, Edge, Happenings, Interval, Location, Member, Message, Process, Region, Trace,
};
use marey_model::{CallPathId, Role};
use marey_testkit::Expected;

pub(crate) use self::delays::delays;
pub(crate) use self::path::critical_path;
pub(crate) use self::polls::{asked, asks, awaited};
pub(crate) use self::together::comings_and_goings;
pub(crate) use self::waits::{completions, waits};

/// All that can be expected of a run.
pub(crate) fn all(run: &(impl Trace + Happenings)) -> Expected {
    let (critical, before) = critical_path(run);
    Expected {
        waits: Some(waits(run)),
        completions: Some(completions(run)),
        delays: Some(delays(run)),
        critical: Some(critical),
        before,
    }
}

/// A run, all of it.
pub(crate) struct Record {
    regions: Vec<Region>,
    call_paths: Vec<CallPath>,
    locations: Vec<Location>,
    processes: Vec<Process>,
    communicators: Vec<Communicator>,
    intervals: Vec<Interval>,
    messages: Vec<Message>,
    operations: Vec<Vec<Member>>,
    edges: Vec<Edge>,
}

impl Record {
    pub(crate) fn of(run: &(impl Trace + Happenings)) -> Self {
        let mut record = Self {
            regions: run.regions().to_vec(),
            call_paths: run.call_paths().to_vec(),
            locations: run.locations().to_vec(),
            processes: run.processes().to_vec(),
            communicators: run.communicators().to_vec(),
            intervals: Vec::new(),
            messages: Vec::new(),
            operations: Vec::new(),
            edges: Vec::new(),
        };
        for slab in 0..run.slabs().len() {
            run.intervals(slab, &mut |some| record.intervals.extend(some)).expect("all can be read");
        }
        run.messages(&mut |some| record.messages.extend(some)).expect("all can be read");
        run.edges(&mut |some| record.edges.extend(some)).expect("all can be read");
        let mut members = Vec::new();
        run.members(&mut |some| members.extend(some.iter().copied())).expect("all can be read");
        let same = |a: &Member, b: &Member| (a.communicator, a.instance) == (b.communicator, b.instance);
        record.operations = members.chunk_by(same).map(<[Member]>::to_vec).collect();
        record
    }

    fn role(&self, path: CallPathId) -> Role {
        self.regions[self.call_paths[path.idx()].region.idx()].role
    }

    /// Whether members of an operation wait for all: a barrier, all-to-all, or set-up that nobody left too early.
    pub(crate) fn waits_for_all(&self, operation: &[Member]) -> bool {
        match self.operation_role(operation) {
            Some(Role::Barrier | Role::AllToAll) => true,
            Some(Role::Manage | Role::Io) => operation.iter().all(|member| {
                member.done.is_none_or(|done| operation.iter().all(|other| other.enter <= done.end))
            }),
            _ => false,
        }
    }

    /// The role of an operation; `None` = it is not known.
    fn operation_role(&self, operation: &[Member]) -> Option<Role> {
        let known = operation.iter().filter_map(|member| Some((member.location, member.call_path?)));
        known.min().map(|(_, path)| self.role(path))
    }
}
