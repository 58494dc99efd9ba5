//! Which part of a run an analysis is about.
//!
//! The one idea: a selection says which waits are meant, by who waited when in which call; who caused them may be anybody,
//! and did so in the span that is looked at. Of what lies across its ends only the part within counts.
//!
//! What is deliberately absent: how a user names it.

use std::collections::BTreeSet;

use marey_model::{CallPathId, Level, LocationId, StackId};

use crate::caller::caller;
use crate::happenings::{Happenings, Span, Unread};
use crate::names::is_named;
use crate::trace::{CommunicatorId, Trace};
use crate::waits::Wait;

/// A part of a run; [`Self::default`] is all of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// When.
    pub span: Span,
    /// For each location whether its waits are meant; `None` = all are.
    pub locations: Option<Vec<bool>>,
    /// For each call path whether waits in it are meant; `None` = all are.
    pub call_paths: Option<Vec<bool>>,
    /// For each communicator whether it is meant; `None` = all are, and what has none.
    pub communicators: Option<Vec<bool>>,
    /// User call stacks with which samples are meant though they were taken in no call that is.
    pub stacks: BTreeSet<StackId>,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            span: Span::ALL,
            locations: None,
            call_paths: None,
            communicators: None,
            stacks: BTreeSet::new(),
        }
    }
}

impl Selection {
    /// Whether a wait is meant.
    pub fn has(&self, wait: &Wait) -> bool {
        self.has_location(wait.location)
            && is_in(&self.call_paths, wait.call_path)
            && self.has_communicator(wait.communicator.get())
    }

    /// Whether calls of a path are meant; of one that is not known only if all are. On which communicator a call acts, its
    /// path does not say.
    pub fn has_call(&self, path: Option<CallPathId>) -> bool {
        is_in(&self.call_paths, path)
    }

    /// Whether a message or an operation is meant, that was made in one of these calls.
    pub(crate) fn has_operation(
        &self,
        communicator: Option<CommunicatorId>,
        paths: &[Option<CallPathId>],
    ) -> bool {
        self.has_communicator(communicator) && paths.iter().any(|path| is_in(&self.call_paths, *path))
    }

    /// Whether what has this communicator is meant.
    pub(crate) fn has_communicator(&self, id: Option<CommunicatorId>) -> bool {
        self.communicators.as_ref().is_none_or(|set| {
            let place = id.and_then(|id| usize::try_from(id.0).ok());
            place.is_some_and(|place| set.get(place).copied().unwrap_or(false))
        })
    }

    /// Whether a location is meant.
    pub fn has_location(&self, location: LocationId) -> bool {
        self.locations.as_ref().is_none_or(|set| set.get(location.idx()).copied().unwrap_or(false))
    }
}

fn is_in(set: &Option<Vec<bool>>, path: Option<CallPathId>) -> bool {
    match (set, path) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(set), Some(path)) => set.get(path.idx()).copied().unwrap_or(false),
    }
}

/// For each communicator whether it has this name; if none has, whether it has this number.
pub fn on_communicator(run: &dyn Trace, name: &str) -> Vec<bool> {
    let all = run.communicators();
    let is_name = all.iter().any(|communicator| communicator.name == name);
    let number = name.parse::<usize>().ok().filter(|_| !is_name);
    all.iter()
        .enumerate()
        .map(|(id, it)| if is_name { it.name == name } else { number == Some(id) })
        .collect()
}

/// For each communicator whether collective operations on it are calls of a region with this noun, with or without what all
/// names of MPI begin with: so tables call communicators to which the program has given another name. One pass over the
/// members of operations.
///
/// # Errors
/// What of the run could not be read.
pub fn on_noun(run: &impl Trace, events: &impl Happenings, noun: &str) -> Result<Vec<bool>, Unread> {
    let mut found = vec![false; run.communicators().len()];
    let is_it = |path: &crate::trace::CallPath| {
        run.regions().get(path.region.idx()).is_some_and(|region| {
            let own = &region.noun;
            let short = || own.strip_prefix("MPI_COMM_").unwrap_or(own);
            region.level == Level::MPI && !own.is_empty() && (own == noun || short() == noun)
        })
    };
    let acts: Vec<bool> = run.call_paths().iter().map(is_it).collect();
    if acts.contains(&true) {
        events.members(&mut |batch| {
            for member in batch {
                let is_it = member.call_path.is_some_and(|path| acts.get(path.idx()) == Some(&true));
                let place = usize::try_from(member.communicator.0).ok();
                if let Some(found) = place.filter(|_| is_it).and_then(|place| found.get_mut(place)) {
                    *found = true;
                }
            }
        })?;
    }
    Ok(found)
}

/// For each call path whether it lies in a context: in a region of this name, or called, however deep, by a function of this
/// name, as [`is_named`] says.
pub fn in_context(run: &dyn Trace, name: &str) -> Vec<bool> {
    let mut is_in: Vec<bool> = Vec::with_capacity(run.call_paths().len());
    for (path, id) in run.call_paths().iter().zip(0..) {
        let above = path.parent.and_then(|parent| is_in.get(parent.idx()).copied()).unwrap_or(false);
        let region = || run.regions().get(path.region.idx()).is_some_and(|region| region.name() == name);
        let stack =
            || path.stack.is_some_and(|stack| run.stack(stack).iter().any(|it| is_named(&it.function, name)));
        let called = || caller(run, CallPathId(id)).is_some_and(|frame| is_named(&frame.function, name));
        is_in.push(above || region() || stack() || called());
    }
    is_in
}

/// The call stacks of samples that lie in a context: a function of this name is on them.
pub fn stacks_in_context(run: &dyn Trace, name: &str) -> BTreeSet<StackId> {
    let all: BTreeSet<StackId> = run.samples().iter().filter_map(|row| row.stack).collect();
    let is_in = |stack: &StackId| run.stack(*stack).iter().any(|frame| is_named(&frame.function, name));
    all.into_iter().filter(is_in).collect()
}

/// For each call path whether its region is on a level.
pub fn on_level(run: &dyn Trace, level: &str) -> Vec<bool> {
    let is_on = |path: &crate::trace::CallPath| {
        run.regions().get(path.region.idx()).is_some_and(|region| region.level == level)
    };
    run.call_paths().iter().map(is_on).collect()
}
