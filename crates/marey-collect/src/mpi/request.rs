//! Requests: what each stands for, from the call that made it to the one that finds it complete.
//!
//! A request's handle may be given out again as soon as it is complete, and Open MPI returns one
//! and the same handle for all sends that are complete at once; those queue up behind each other.
//! With several threads the new owner can be noted before the old one is found complete: another
//! thread has got the handle while `MPI_Wait` was on its way out. So a completion says when its
//! call began, and what was noted later is not meant.

use core::sync::atomic::{AtomicU64, Ordering};

use marey_measure::message::{Half, Part};
use marey_model::spool::Direction;
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
    /// A send beside a receive, as it was posted, which is an operation of its own with this serial number.
    Both(Half, u64),
    /// A part in a collective operation.
    Collective(Part),
}

impl Kind {
    /// A send or a receive.
    pub(crate) fn of(half: Half) -> Self {
        match half.direction {
            Direction::Send => Self::Send(half),
            Direction::Receive => Self::Receive(half),
        }
    }

    /// The number of the communicator.
    pub(crate) fn communicator(&self) -> u32 {
        match self {
            Self::Send(half) | Self::Receive(half) | Self::Both(half, _) => half.communicator,
            Self::Collective(part) => part.communicator,
        }
    }
}

#[derive(Default)]
struct Requests {
    first: FxHashMap<usize, Noted>,
    more: Vec<(usize, Noted)>,
}

/// A request, and its place in the order in which they were noted, from 1.
#[derive(Clone, Copy)]
struct Noted {
    at: u64,
    request: Request,
}

/// Requests noted so far; written by who holds the table.
static NOTED: AtomicU64 = AtomicU64::new(0);

/// To be asked before a call that may complete requests.
#[inline(always)]
pub(crate) fn now() -> u64 {
    NOTED.load(Ordering::Relaxed)
}

static REQUESTS: Spin<Option<Requests>> = Spin::new(None);

fn with<R>(f: impl FnOnce(&mut Requests) -> R) -> R {
    REQUESTS.with(|requests| f(requests.get_or_insert_default()))
}

/// `handle` stands for `request` from now on.
pub(crate) fn insert(handle: usize, request: Request) {
    if crate::alloc::is_exhausted() {
        return;
    }
    with(|requests| {
        let at = now() + 1;
        NOTED.store(at, Ordering::Relaxed);
        if let Some(old) = requests.first.insert(handle, Noted { at, request })
            && !old.request.persistent
        {
            requests.more.push((handle, old));
        }
    });
}

/// The operation of `handle` is complete, by a call that began at `began`. What it was; `None` if it
/// was not active or is unknown.
pub(crate) fn complete(handle: usize, began: u64) -> Option<Request> {
    with(|requests| {
        let found = requests.first.get_mut(&handle)?;
        let last = requests.more.iter().rposition(|(other, noted)| *other == handle && noted.at <= began);
        if found.at > began {
            return last.map(|at| requests.more.remove(at).1.request);
        }
        let request = found.request;
        if request.persistent {
            found.request.serial = 0;
            return (request.serial != 0).then_some(request);
        }
        match last {
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
        let found = requests.first.get_mut(&handle).filter(|found| found.request.persistent)?;
        found.request.serial = serial;
        Some(found.request.kind)
    })
}

/// The request is no more. What it was, if it was active.
pub(crate) fn free(handle: usize) -> Option<Request> {
    let found = with(|requests| requests.first.remove(&handle))?;
    (found.request.serial != 0).then_some(found.request)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn collective(serial: u64) -> Request {
        let part = Part { communicator: 0, root: -1, bytes_out: 0, bytes_in: 0 };
        Request { kind: Kind::Collective(part), serial, persistent: false }
    }

    /// Seen with MPICH and `MPI_THREAD_MULTIPLE`.
    #[test]
    fn a_handle_that_another_thread_has_got_meanwhile_is_not_taken_from_it() {
        insert(77, collective(1));
        let began = now();
        insert(77, collective(2));
        let serial = |request: Option<Request>| request.map(|request| request.serial);
        assert_eq!(serial(complete(77, began)), Some(1));
        assert_eq!(serial(complete(77, began)), None);
        assert_eq!(serial(complete(77, now())), Some(2));
        assert_eq!(serial(complete(77, now())), None);
    }
}
