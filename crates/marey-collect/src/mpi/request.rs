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

struct Requests {
    first: Table,
    more: Vec<(usize, Noted)>,
}

/// A request, and its place in the order in which they were noted, from 1.
#[derive(Clone, Copy)]
struct Noted {
    at: u64,
    request: Request,
}

/// By handles. Most programs have few requests at a time: each has a place that its handle tells, and
/// only one that finds its place taken goes into a map.
struct Table {
    near: [(usize, Noted); 1 << NEAR_BITS],
    far: FxHashMap<usize, Noted>,
}

/// 6 KB. A power of two above the requests of an exchange with all neighbours.
const NEAR_BITS: u32 = 6;
/// The handle of no request.
const FREE: usize = usize::MAX;

impl Table {
    const fn new() -> Self {
        let part = Part { communicator: 0, root: 0, bytes_out: 0, bytes_in: 0, data: [0; 2] };
        let nothing = Request { kind: Kind::Collective(part), serial: 0, persistent: false };
        let free = (FREE, Noted { at: 0, request: nothing });
        Self { near: [free; 1 << NEAR_BITS], far: FxHashMap::with_hasher(rustc_hash::FxBuildHasher) }
    }

    #[inline(always)]
    fn get_mut(&mut self, handle: usize) -> Option<&mut Noted> {
        let idx = place(handle);
        if self.near[idx].0 == handle {
            return Some(&mut self.near[idx].1);
        }
        if self.far.is_empty() { None } else { self.far.get_mut(&handle) }
    }

    /// What the handle stood for before.
    #[inline(always)]
    fn insert(&mut self, handle: usize, noted: Noted) -> Option<Noted> {
        if let Some(known) = self.get_mut(handle) {
            return Some(core::mem::replace(known, noted));
        }
        let place = &mut self.near[place(handle)];
        if place.0 == FREE {
            *place = (handle, noted);
            return None;
        }
        self.far.insert(handle, noted)
    }

    #[inline(always)]
    fn remove(&mut self, handle: usize) -> Option<Noted> {
        let place = &mut self.near[place(handle)];
        if place.0 == handle {
            place.0 = FREE;
            return Some(place.1);
        }
        if self.far.is_empty() { None } else { self.far.remove(&handle) }
    }
}

/// Requests noted so far; written by who holds the table.
static NOTED: AtomicU64 = AtomicU64::new(0);

/// To be asked before a call that may complete requests.
#[inline(always)]
pub(crate) fn now() -> u64 {
    NOTED.load(Ordering::Relaxed)
}

/// Where a request with this handle is, if the place is free.
#[inline(always)]
fn place(handle: usize) -> usize {
    handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - NEAR_BITS)
}

static REQUESTS: Spin<Requests> = Spin::new(Requests { first: Table::new(), more: Vec::new() });

fn with<R>(f: impl FnOnce(&mut Requests) -> R) -> R {
    REQUESTS.with(f)
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
        let found = requests.first.get_mut(handle)?;
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
                requests.first.remove(handle);
            }
        }
        Some(request)
    })
}

/// The persistent request is active from now on, as operation `serial`.
pub(crate) fn activate(handle: usize, serial: u64) -> Option<Kind> {
    with(|requests| {
        let found = requests.first.get_mut(handle).filter(|found| found.request.persistent)?;
        found.request.serial = serial;
        Some(found.request.kind)
    })
}

/// The request is no more. What it was, if it was active.
pub(crate) fn free(handle: usize) -> Option<Request> {
    let found = with(|requests| {
        let found = requests.first.remove(handle)?;
        // Of operations that share a handle another one has it now.
        if let Some(last) = requests.more.iter().rposition(|(other, _)| *other == handle) {
            let (_, noted) = requests.more.remove(last);
            requests.first.insert(handle, noted);
        }
        Some(found)
    })?;
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
        let part = Part { communicator: 0, root: -1, bytes_out: 0, bytes_in: 0, data: [0; 2] };
        Request { kind: Kind::Collective(part), serial, persistent: false }
    }

    /// More than there are places for, handles that are far apart and handles that are not, the last
    /// ones complete first and first ones again.
    #[test]
    fn any_number_of_requests_may_be_active() {
        marey_measure::message::set_concurrent();
        let handle = |idx: u64| 0x5000_0000 + idx as usize * if idx.is_multiple_of(2) { 640 } else { 1 };
        let serial = |idx: u64, began| complete(handle(idx), began).map(|request| request.serial);
        for round in 1..4 {
            (0..1000).for_each(|idx| insert(handle(idx), collective(round * 1000 + idx)));
            (0..1000).filter(|idx: &u64| idx.is_multiple_of(3)).rev().for_each(|idx| {
                assert_eq!(serial(idx, now()), Some(round * 1000 + idx));
                assert_eq!(serial(idx, now()), None);
                insert(handle(idx), collective(idx + 1));
            });
            (0..1000_u64).for_each(|idx| {
                let expected = if idx.is_multiple_of(3) { idx + 1 } else { round * 1000 + idx };
                assert_eq!(serial(idx, now()), Some(expected));
                assert_eq!(serial(idx, now()), None);
            });
        }
        // One and the same handle for all of them, as with Open MPI.
        (1..100).for_each(|number| insert(handle(0), collective(number)));
        (1..100).rev().for_each(|_| assert!(serial(0, now()).is_some()));
        assert_eq!(serial(0, now()), None);
        assert!(free(handle(1)).is_none());
    }

    /// Open MPI gives all sends that are complete at once one and the same handle.
    #[test]
    fn of_operations_that_share_a_handle_the_others_outlive_one_that_is_freed() {
        for number in 1..=3 {
            insert(78, collective(number));
        }
        let serial = |request: Option<Request>| request.map(|request| request.serial);
        let mut seen = [serial(free(78)), serial(complete(78, now())), serial(free(78))];
        seen.sort();
        assert_eq!(seen, [Some(1), Some(2), Some(3)]);
        assert_eq!((serial(free(78)), serial(complete(78, now()))), (None, None));
    }

    /// Seen with MPICH and `MPI_THREAD_MULTIPLE`.
    #[test]
    fn a_handle_that_another_thread_has_got_meanwhile_is_not_taken_from_it() {
        marey_measure::message::set_concurrent();
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
