//! Wait states: who could not go on because of whom, for how long, and in what call.
//!
//! The one idea: messages, members of collective operations and edges each say by themselves who waited in which call for
//! what, so waits are found in any order, each in constant time, and put in order afterwards. What is known of an
//! operation is its role, and of an edge its kind; no name of a library is.
//!
//! The definitions are those of `docs/wait-states.md`.
//!
//! What is deliberately absent: what the cause did meanwhile ([`crate::delays`]).

mod asked;
mod collectives;
mod edges;
mod kept;
mod messages;
mod together;

use marey_model::{CallPathId, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use crate::happenings::{Done, Happenings, Span, Unread};
use crate::trace::{CommunicatorId, Trace};
pub(crate) use asked::{Asked, asked, asks};
pub(crate) use collectives::{WhoWaits, first_to_know, operations, role_of_all, who_waits};
pub(crate) use edges::calls_of_edges;
use kept::Kept;
pub(crate) use together::together;

/// What was waited for, in the words of the field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pattern {
    /// A receiver waits for a message that has not been sent.
    LateSender,
    /// The same, though it could have received another message meanwhile.
    WrongOrder,
    /// A sender waits for the receive to be posted.
    LateReceiver,
    /// Nobody leaves a barrier before all have entered.
    Barrier,
    /// Nobody has all data before all have given theirs.
    AllToAll,
    /// Data is awaited from a root that has not entered.
    LateBroadcast,
    /// A root waits for the data of the others.
    EarlyReduce,
    /// The ranks of a world come together, and one is not there.
    Init,
    /// They go together, and one is not done.
    Exit,
    /// Somebody else holds the lock.
    Lock,
    /// A thread that is joined has not ended.
    Join,
    /// A condition has not been signalled.
    Condition,
    /// Memory has not been opened to the accesses of who waits.
    LatePost,
    /// Others are not done with their accesses.
    LateComplete,
}

impl Pattern {
    /// All of them, in the order of their precedence.
    pub const ALL: [Self; 14] = [
        Self::LateSender,
        Self::WrongOrder,
        Self::LateReceiver,
        Self::Barrier,
        Self::AllToAll,
        Self::LateBroadcast,
        Self::EarlyReduce,
        Self::Init,
        Self::Exit,
        Self::Lock,
        Self::Join,
        Self::Condition,
        Self::LatePost,
        Self::LateComplete,
    ];

    /// The pattern of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| pattern.name() == name)
    }

    /// The name that people read, and that files have.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LateSender => "late sender",
            Self::WrongOrder => "late sender, wrong order",
            Self::LateReceiver => "late receiver",
            Self::Barrier => "wait at barrier",
            Self::AllToAll => "wait at N×N",
            Self::LateBroadcast => "late broadcast",
            Self::EarlyReduce => "early reduce",
            Self::Init => "wait at init",
            Self::Exit => "wait at exit",
            Self::Lock => "lock contention",
            Self::Join => "wait at join",
            Self::Condition => "wait for condition",
            Self::LatePost => "late post",
            Self::LateComplete => "late complete",
        }
    }
}

/// A span in which a location could not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Who waited.
    pub location: LocationId,
    /// Who was waited for.
    pub cause: LocationId,
    /// From when on: the enter of the waiting call.
    pub from: Nanos,
    /// Until when: what was waited for happened.
    pub to: Nanos,
    /// The waiting call, if its path is known.
    pub call_path: Option<CallPathId>,
    /// What was waited for.
    pub pattern: Pattern,
    /// It was over before that happened: the location asked for it, went on with something else, and asked again.
    pub in_vain: bool,
    /// That of the message or operation that was waited for.
    pub communicator: InCommunicator,
}

/// A communicator, or none, in no more room than an id: there are millions of waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InCommunicator(u32);

impl InCommunicator {
    /// None, or none that is known.
    pub const NONE: Self = Self(u32::MAX);

    /// Which, if there is one.
    pub fn get(self) -> Option<CommunicatorId> {
        (self != Self::NONE).then_some(CommunicatorId(self.0))
    }
}

impl From<Option<CommunicatorId>> for InCommunicator {
    fn from(id: Option<CommunicatorId>) -> Self {
        id.map_or(Self::NONE, |id| Self(id.0))
    }
}

impl std::fmt::Debug for InCommunicator {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(out)
    }
}

impl Wait {
    /// How long.
    pub fn length(&self) -> Nanos {
        self.to - self.from
    }
}

/// All waits of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// By (location, from); those of one location do not overlap.
    pub list: Vec<Wait>,
    /// Waits that are too many to be listed: the shortest.
    pub unlisted: Unlisted,
    /// Time in calls of barriers and all-to-all operations after the first member had left, by call path and location.
    pub completion: Vec<(Option<CallPathId>, LocationId, Nanos)>,
}

/// Waits of which only the sum is known. Those of one call that waited for several things count several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unlisted {
    /// How many.
    pub number: u64,
    /// How long together.
    pub time: Nanos,
    /// None of them was longer.
    pub longest: Nanos,
}

impl Waits {
    /// The waits of a location.
    pub fn of(&self, location: LocationId) -> &[Wait] {
        let from = self.list.partition_point(|wait| wait.location < location);
        let len = self.list[from..].partition_point(|wait| wait.location == location);
        &self.list[from..from + len]
    }

    /// How long all of them together.
    pub fn time(&self) -> Nanos {
        self.list.iter().fold(self.unlisted.time, |sum, wait| sum + wait.length())
    }
}

/// Waits that are listed at most; more would need more memory than an analysis should.
const MOST: usize = 1 << 22;

/// Finds all waits: one pass over edges, members of collective operations and intervals, two over messages, a look at
/// the first and the last intervals of each rank, and where there are polls another pass over all but edges; in memory 2²²
/// waits at most (and the edges).
///
/// # Errors
/// What of the run could not be read. Nothing is said of the rest, which would be another run's.
pub fn waits(run: &impl Trace, events: &impl Happenings) -> Result<Waits, Unread> {
    waits_in(run, events, Span::ALL)
}

/// The same of a span of time: of waits that reach out of it only what lies within. Only the part of the events is read that
/// the span needs, as far as whoever hands them out can tell.
///
/// # Errors
/// As for [`waits`].
pub fn waits_in(run: &impl Trace, events: &impl Happenings, span: Span) -> Result<Waits, Unread> {
    let mut found = Kept::new(MOST, span, run.locations().len());
    let mut completion = FxHashMap::default();
    messages::find(events, span, &mut found)?;
    asked::find(run, events, span, &mut found)?;
    collectives::find(run, events, span, &mut found, &mut completion)?;
    for together in together(run, events)? {
        together.waits().for_each(|wait| found.add(wait));
    }
    edges::find(run, events, span, &mut found)?;
    let depths = depths(run);
    let depth = |path: CallPathId| depths.get(path.idx()).copied();
    let (mut list, unlisted) = found.finish(|path| path.and_then(depth).unwrap_or(0));
    messages::mark_wrong_order(run, events, span, &mut list)?;
    list.retain_mut(|wait| match span.clip(wait.from, wait.to) {
        Some(within) => {
            (wait.from, wait.to) = within;
            true
        }
        None => false,
    });
    Ok(Waits { list, unlisted, completion: in_order(completion) })
}

/// Of a span of time alone how long it took to complete barriers and all-to-all operations. One pass over the members of
/// operations.
pub(crate) fn completion_in(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
) -> Result<Vec<(Option<CallPathId>, LocationId, Nanos)>, Unread> {
    let mut completion = FxHashMap::default();
    let mut none = Kept::new(0, Span { to: span.from, ..span }, 0);
    collectives::find(run, events, span, &mut none, &mut completion)?;
    Ok(in_order(completion))
}

fn in_order(completion: collectives::Completion) -> Vec<(Option<CallPathId>, LocationId, Nanos)> {
    let mut rows: Vec<_> =
        completion.into_iter().map(|((path, location), time)| (path, location, time)).collect();
    rows.sort_unstable();
    rows
}

/// The role of a call path's region; none if there is no such path.
pub(crate) fn role_of(run: &impl Trace, path: Option<CallPathId>) -> Option<Role> {
    let region = run.call_paths().get(path?.idx())?.region;
    run.regions().get(region.idx()).map(|region| region.role)
}

/// How long each call path is. A parent that does not stand before its child is taken for none, so that there is an end.
fn depths(run: &impl Trace) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(run.call_paths().len());
    for path in run.call_paths() {
        // Those that stand before are known.
        let above = path.parent.and_then(|parent| depths.get(parent.idx()).copied()).unwrap_or(0);
        depths.push(above.saturating_add(1));
    }
    depths
}

/// A wait, and when its call ended.
#[derive(Clone, Copy, Debug)]
struct Found {
    wait: Wait,
    call_end: Nanos,
}

impl Found {
    /// The same for a message or an operation of a communicator.
    fn on(mut self, communicator: Option<CommunicatorId>) -> Self {
        self.wait.communicator = communicator.into();
        self
    }
}

/// A wait of `location` in a call for what `cause` did at `at`, if there was one.
fn in_call(
    location: LocationId,
    call: Done,
    (cause, at): (LocationId, Nanos),
    pattern: Pattern,
) -> Option<Found> {
    let to = at.min(call.end);
    let (from, call_path, communicator) = (call.start, call.call_path, InCommunicator::NONE);
    let wait = Wait { location, cause, from, to, call_path, pattern, in_vain: false, communicator };
    (to > call.start && cause != location).then_some(Found { wait, call_end: call.end })
}
