//! Waits of members of collective operations.

use marey_model::{CallPathId, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::kept::Kept;
use super::{Pattern, in_call, role_of};
use crate::happenings::{Happenings, Member, Span, Unread};
use crate::trace::{CommunicatorId, Trace};

/// By call path and location.
pub(super) type Completion = FxHashMap<(Option<CallPathId>, LocationId), Nanos>;

/// Finds the waits of all members, and how long those of barriers and all-to-all operations took to leave.
pub(super) fn find(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    found: &mut Kept,
    completion: &mut Completion,
) -> Result<(), Unread> {
    operations(run, events, span, |members| match who_waits(run, members) {
        Some(WhoWaits::All(pattern)) => all_wait(run, members, pattern, span, found, completion),
        Some(WhoWaits::Others) => others_wait(run, members, found),
        Some(WhoWaits::Root) => root_waits(run, members, found),
        None => {}
    })
}

/// Who waits for whom in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WhoWaits {
    /// All for all.
    All(Pattern),
    /// All others for the root.
    Others,
    /// The root for all others.
    Root,
}

/// What the role of an operation says, and of set-up by all the times: there nobody waits if somebody could leave before the
/// last had entered.
pub(crate) fn who_waits(run: &impl Trace, members: &[Member]) -> Option<WhoWaits> {
    match role_of_all(run, members)? {
        Role::Barrier => Some(WhoWaits::All(Pattern::Barrier)),
        Role::AllToAll => Some(WhoWaits::All(Pattern::AllToAll)),
        Role::OneToAll => Some(WhoWaits::Others),
        Role::AllToOne => Some(WhoWaits::Root),
        Role::Manage | Role::Io => {
            let (_, last) = last_of(members.iter())?;
            let is_late = |member: &Member| member.done.is_none_or(|done| last <= done.end);
            members.iter().all(is_late).then_some(WhoWaits::All(Pattern::AllToAll))
        }
        _ => None,
    }
}

/// Who is waited for in an operation, and when that entered: found once for all of its members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    who: WhoWaits,
    cause: (LocationId, Nanos),
    root: Option<LocationId>,
}

impl Awaited {
    /// `None` = nobody waits, as far as is known. Time in proportion to the members.
    pub(super) fn of(run: &impl Trace, members: &[Member]) -> Option<Self> {
        let who = who_waits(run, members)?;
        let (cause, root) = match who {
            WhoWaits::All(_) => (last_of(members.iter())?, None),
            WhoWaits::Others => {
                let root = root_of(members)?;
                ((root.location, root.enter), Some(root.location))
            }
            WhoWaits::Root => {
                let root = root_of(members)?.location;
                (last_of(members.iter().filter(|other| other.location != root))?, Some(root))
            }
        };
        Some(Self { who, cause, root })
    }

    /// What one of the members waits for.
    pub(super) fn by(&self, location: LocationId) -> Option<((LocationId, Nanos), Pattern)> {
        let is_root = self.root == Some(location);
        match self.who {
            WhoWaits::All(pattern) => Some((self.cause, pattern)),
            WhoWaits::Others => (!is_root).then_some((self.cause, Pattern::LateBroadcast)),
            WhoWaits::Root => is_root.then_some((self.cause, Pattern::EarlyReduce)),
        }
    }
}

/// Hands out all members of one operation at a time, but for those on locations that are not there.
pub(crate) fn operations(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    mut each: impl FnMut(&[Member]),
) -> Result<(), Unread> {
    let key = |member: &Member| (member.communicator, member.instance);
    let is_known = |member: &&Member| member.location.idx() < run.locations().len();
    let mut pending: Vec<Member> = Vec::new();
    events.members_in(span, &mut |batch| {
        for members in batch.chunk_by(|a, b| key(a) == key(b)) {
            if pending.first().is_some_and(|first| key(first) != key(&members[0])) {
                each(&pending);
                pending.clear();
            }
            pending.extend(members.iter().filter(is_known));
        }
    })?;
    if !pending.is_empty() {
        each(&pending);
    }
    Ok(())
}

/// The role of an operation.
pub(crate) fn role_of_all(run: &impl Trace, members: &[Member]) -> Option<Role> {
    first_to_know(members, |member| role_of(run, member.call_path))
}

/// What the first location says that knows it.
pub(crate) fn first_to_know<T>(members: &[Member], what: impl Fn(&Member) -> Option<T>) -> Option<T> {
    let known = members.iter().filter_map(|member| Some((member.location, what(member)?)));
    known.min_by_key(|(location, _)| *location).map(|(_, what)| what)
}

/// Who entered last: of several at once, the location that comes first.
pub(crate) fn last_of<'a>(members: impl Iterator<Item = &'a Member>) -> Option<(LocationId, Nanos)> {
    let last = members.max_by_key(|member| (member.enter, std::cmp::Reverse(member.location)))?;
    Some((last.location, last.enter))
}

/// The communicator of an operation; none of one that has a number of its own, as those of windows do.
pub(super) fn communicator_of(run: &impl Trace, member: &Member) -> Option<CommunicatorId> {
    let id = member.communicator;
    (usize::try_from(id.0).ok()? < run.communicators().len()).then_some(id)
}

fn all_wait(
    run: &impl Trace,
    members: &[Member],
    pattern: Pattern,
    span: Span,
    found: &mut Kept,
    completion: &mut Completion,
) {
    let Some(last) = last_of(members.iter()) else { return };
    let first_leave = members.iter().filter_map(|member| member.done).map(|done| done.end).min();
    for member in members {
        let Some(done) = member.done else { continue };
        if let Some(wait) = in_call(member.location, done, last, pattern) {
            found.add(wait.on(communicator_of(run, member)));
        }
        let rest = first_leave.and_then(|first| span.clip(first.max(done.start), done.end));
        if let Some((from, to)) = rest {
            let sum = completion.entry((done.call_path, member.location)).or_default();
            *sum = *sum + (to - from);
        }
    }
}

fn others_wait(run: &impl Trace, members: &[Member], found: &mut Kept) {
    let Some(root) = root_of(members) else { return };
    for member in members.iter().filter(|member| member.location != root.location) {
        let wait = member.done.and_then(|done| {
            in_call(member.location, done, (root.location, root.enter), Pattern::LateBroadcast)
        });
        wait.into_iter().for_each(|wait| found.add(wait.on(communicator_of(run, member))));
    }
}

fn root_waits(run: &impl Trace, members: &[Member], found: &mut Kept) {
    let Some(root) = root_of(members) else { return };
    let last = last_of(members.iter().filter(|member| member.location != root.location));
    if let (Some(done), Some(last)) = (root.done, last) {
        let wait = in_call(root.location, done, last, Pattern::EarlyReduce);
        wait.into_iter().for_each(|wait| found.add(wait.on(communicator_of(run, root))));
    }
}

fn root_of(members: &[Member]) -> Option<&Member> {
    let root = first_to_know(members, |member| member.root)?;
    members.iter().find(|member| member.location == root)
}
