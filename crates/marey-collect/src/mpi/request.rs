//! Requests: what each stands for, from the call that made it to the one that finds it complete.
//!
//! A request's handle may be given out again as soon as it is complete, and Open MPI returns one
//! and the same handle for all sends that are complete at once; those queue up behind each other.

use marey_measure::message::Half;
use rustc_hash::FxHashMap;

use crate::spin::Spin;

/// What a request stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    /// The operation's serial number; of a persistent one that is not active, 0.
    pub(crate) serial: u64,
    pub(crate) persistent: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A send; persistent ones need to know of what.
    Send(Half),
    /// A receive, as it was posted.
    Receive(Half),
    /// A collective operation.
    Collective,
}

#[derive(Default)]
struct Requests {
    first: FxHashMap<usize, Request>,
    more: Vec<(usize, Request)>,
}

static REQUESTS: Spin<Option<Requests>> = Spin::new(None);

fn with<R>(f: impl FnOnce(&mut Requests) -> R) -> R {
    REQUESTS.with(|requests| f(requests.get_or_insert_default()))
}

/// `handle` stands for `request` from now on.
pub(crate) fn insert(handle: usize, request: Request) {
    with(|requests| {
        if let Some(old) = requests.first.insert(handle, request)
            && !old.persistent
        {
            requests.more.push((handle, old));
        }
    });
}

/// The operation of `handle` is complete. What it was; `None` if it was not active or is unknown.
pub(crate) fn complete(handle: usize) -> Option<Request> {
    with(|requests| {
        let found = requests.first.get_mut(&handle)?;
        let request = *found;
        if request.persistent {
            found.serial = 0;
            return (request.serial != 0).then_some(request);
        }
        match requests.more.iter().rposition(|(other, _)| *other == handle) {
            Some(at) => *found = requests.more.remove(at).1,
            None => {
                requests.first.remove(&handle);
            }
        }
        Some(request)
    })
}

/// The persistent request is active from now on, as operation `serial`.
pub(crate) fn activate(handle: usize, serial: u64) -> Option<Kind> {
    with(|requests| {
        let request = requests.first.get_mut(&handle).filter(|request| request.persistent)?;
        request.serial = serial;
        Some(request.kind)
    })
}

/// The request is no more. What it was, if it was active.
pub(crate) fn free(handle: usize) -> Option<Request> {
    with(|requests| requests.first.remove(&handle)).filter(|request| request.serial != 0)
}

/// Messages taken out of the queue by a matching probe: serial number and communicator.
static MESSAGES: Spin<Option<FxHashMap<usize, (u64, Half)>>> = Spin::new(None);

/// `message` stands for operation `serial`.
pub(crate) fn probed(message: usize, serial: u64, half: Half) {
    MESSAGES.with(|messages| messages.get_or_insert_default().insert(message, (serial, half)));
}

/// The message is being received.
pub(crate) fn take_message(message: usize) -> Option<(u64, Half)> {
    MESSAGES.with(|messages| messages.as_mut().and_then(|messages| messages.remove(&message)))
}
