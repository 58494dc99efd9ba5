//! Calls that find requests complete: `MPI_Wait…`, `MPI_Test…`, `MPI_Request_free`.
//!
//! The tests among them are polls ([`super::poll`]).
//! What a receive got is known from its status alone, so where the program does not care for
//! statuses the library gets ours.

use marey_measure::{Scratch, message};
use marey_model::spool::{op, short_len};

use smallvec::SmallVec;

use super::call::{Open, Passing, Real};
use super::contents;
use super::flavour::{Family, Outcome, STATUS_WORDS, flavour};
use super::point::{arrived, arrived_beside_send, put_received};
use super::request::{self, Kind, Request};

/// Notes in the records of a call which requests it has found complete.
struct Completed<'a> {
    open: &'a Open,
    /// How many requests had been noted when the call began.
    began: u64,
    /// The communicator that the call's records have named last.
    named: Option<u32>,
}

impl<'a> Completed<'a> {
    fn new(open: &'a Open, began: u64) -> Self {
        Self { open, began, named: None }
    }

    /// The request that had `handle` before the call is complete, by the word of `outcome` or, if
    /// that points there, of its status.
    ///
    /// # Safety
    /// `status` is the request's own; the open call is the calling thread's.
    unsafe fn add(&mut self, handle: usize, status: usize, outcome: Outcome) {
        let flavour = flavour();
        let outcome = match outcome {
            // SAFETY: the caller's promise.
            Outcome::InStatus => unsafe { flavour.outcome_in(status) },
            outcome => outcome,
        };
        if handle == flavour.request_null || matches!(outcome, Outcome::Pending | Outcome::InStatus) {
            return;
        }
        let Some(Request { kind, serial, .. }) = request::complete(handle, self.began) else { return };
        // SAFETY: the caller's promise.
        unsafe {
            // What has failed took its number and is no message.
            let can_be = matches!(kind, Kind::Send(_) | Kind::Receive(_));
            let cancelled = can_be && (outcome == Outcome::Failed || flavour.is_cancelled(status));
            let came = match &kind {
                Kind::Receive(posted) if !cancelled => arrived(posted, status),
                Kind::Both(posted, _) => arrived_beside_send(posted, status),
                _ => None,
            };
            came.iter().for_each(|half| contents::tell(self.open.runtime, half));
            let acts_on = self.acts_on(&kind, came.is_some());
            self.open.record(|runtime, thread, scratch| {
                if let Some(communicator) = acts_on {
                    put_acts_on(scratch, communicator);
                }
                let put = |scratch: &mut Scratch, opcode, serial| {
                    scratch.byte(opcode);
                    message::put_back(thread, scratch, serial);
                };
                let mut received = serial;
                if let Kind::Both(_, receive) = kind {
                    put(scratch, op::SENT, serial);
                    received = receive;
                }
                match (&kind, &came) {
                    (_, Some(half)) => put_received(runtime, thread, scratch, received, half),
                    (Kind::Collective(_), None) => put(scratch, op::COLLECTED, serial),
                    (Kind::Send(_), None) if !cancelled => put(scratch, op::SENT, serial),
                    _ => put(scratch, op::CANCELLED, received),
                }
            });
        }
    }

    /// The communicator, if the call's records do not name it anyway: what came is written down with
    /// all that is known of it.
    fn acts_on(&mut self, kind: &Kind, came: bool) -> Option<u32> {
        let communicator = kind.communicator();
        let is_new = self.named.replace(communicator) != Some(communicator);
        (is_new && !came).then_some(communicator)
    }
}

/// Puts that the call acts on a communicator. The record carries its length.
fn put_acts_on(scratch: &mut Scratch, communicator: u32) {
    scratch.byte(op::ACTS_ON);
    scratch.number(short_len(communicator.into()).into());
    scratch.number(communicator.into());
}

/// Whether a call for several requests has told of them: otherwise it has failed as a whole.
fn is_all(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Done | Outcome::InStatus)
}

/// `(request, status)`.
#[inline(always)]
pub(crate) unsafe fn wait(mut p: Passing<2, impl Real<2>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            if let Some(found) = one(p, None, 1) {
                found.tell(&open);
            }
            open.finish_plain();
        })
    }
}

/// `(request, flag, status)`.
#[inline(always)]
pub(crate) unsafe fn test(mut p: Passing<3, impl Real<3>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { p.poll(0, (), |p, ()| one(p, Some(1), 2), |open, (), found| found.tell(open)) }
}

/// One request that is over.
struct One {
    handle: usize,
    began: u64,
    status: usize,
    outcome: Outcome,
}

impl One {
    unsafe fn tell(self, open: &Open) {
        // SAFETY: the caller's promise.
        unsafe { Completed::new(open, self.began).add(self.handle, self.status, self.outcome) };
    }
}

/// Passes on a call for one request. What it found.
#[inline(always)]
unsafe fn one<const N: usize>(
    p: &mut Passing<N, impl Real<N>>,
    flag: Option<usize>,
    status: usize,
) -> Option<One> {
    // SAFETY: the caller says where a class has what.
    unsafe {
        let (handle, began) = (flavour().handle_at(p.args[0]), request::now());
        let status = p.status(status);
        p.pass();
        let outcome = p.outcome();
        // After an error the flag may never have been set, but a request that is over is gone.
        let is_over = outcome != Outcome::Failed || flavour().handle_at(p.args[0]) != handle;
        (is_over && flag.is_none_or(|at| p.is_set(at))).then_some(One { handle, began, status, outcome })
    }
}

/// Handles before the call, and where the statuses are: ours if the program wants none.
struct Batch {
    handles: SmallVec<[usize; INLINE]>,
    began: u64,
    /// Our own statuses, if the program wants none.
    own: SmallVec<[u64; INLINE * STATUS_WORDS]>,
    theirs: usize,
}

/// Requests that need no memory from the heap.
const INLINE: usize = 8;

impl Batch {
    /// # Safety
    /// `places` points to `n` handles and `statuses` to as many statuses or is the constant.
    unsafe fn new(n: usize, places: usize, statuses: usize) -> Self {
        // SAFETY: the caller's promise.
        let handles = unsafe { handles_at(n, places) };
        let mut own = SmallVec::new();
        if statuses == flavour().status_ignore {
            own.resize(handles.len() * STATUS_WORDS, 0);
        }
        Self { handles, began: request::now(), own, theirs: statuses }
    }

    /// Where MPI is to put the statuses. The batch must stay where it is until they have been read.
    fn statuses(&mut self) -> usize {
        if self.own.is_empty() { self.theirs } else { self.own.as_mut_ptr() as usize }
    }

    fn status(&self, idx: usize) -> usize {
        let first = if self.own.is_empty() { self.theirs } else { self.own.as_ptr() as usize };
        first + idx * usize::from(flavour().status_len)
    }

    /// Notes that all are over.
    unsafe fn tell(&self, open: &Open, outcome: Outcome) {
        let mut completed = Completed::new(open, self.began);
        for (idx, &handle) in self.handles.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { completed.add(handle, self.status(idx), outcome) };
        }
    }
}

/// The handle of request `at`, if that is one of these; 0, which is nobody's, if not.
fn handle_of(handles: &[usize], at: i32) -> usize {
    usize::try_from(at).ok().and_then(|at| handles.get(at)).copied().unwrap_or(0)
}

/// The handles of requests.
///
/// # Safety
/// `places` points to `n` of them, or is null.
#[inline(always)]
unsafe fn handles_at(n: usize, places: usize) -> SmallVec<[usize; INLINE]> {
    let n = if places == 0 { 0 } else { (n as i32).max(0) as usize };
    // SAFETY: the caller's promise; handles are words in Open MPI and 32-bit integers in MPICH.
    unsafe {
        match flavour().family {
            // A copy of bytes: polls come here by the hundred thousand.
            Family::OpenMpi if n > 0 => {
                SmallVec::from_slice(core::slice::from_raw_parts(places as *const usize, n))
            }
            Family::Mpich if n > 0 => {
                let handles = core::slice::from_raw_parts(places as *const u32, n);
                handles.iter().map(|&handle| handle as usize).collect()
            }
            _ => SmallVec::new(),
        }
    }
}

/// `(count, array_of_requests, array_of_statuses)`.
#[inline(always)]
pub(crate) unsafe fn waitall(mut p: Passing<3, impl Real<3>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let mut batch = Batch::new(p.args[0], p.args[1], p.args[2]);
            if let Some(outcome) = all(p, &mut batch, None, 2) {
                batch.tell(&open, outcome);
            }
            open.finish_plain();
        })
    }
}

/// `(count, array_of_requests, flag, array_of_statuses)`.
#[inline(always)]
pub(crate) unsafe fn testall(mut p: Passing<4, impl Real<4>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let batch = Batch::new(p.args[0], p.args[1], p.args[3]);
        p.poll(
            0,
            batch,
            |p, batch| all(p, batch, Some(2), 3),
            |open, batch, outcome| batch.tell(open, outcome),
        )
    }
}

#[inline(always)]
unsafe fn all<const N: usize>(
    p: &mut Passing<N, impl Real<N>>,
    batch: &mut Batch,
    flag: Option<usize>,
    statuses: usize,
) -> Option<Outcome> {
    // SAFETY: the caller says where a class has what.
    unsafe {
        p.args[statuses] = batch.statuses();
        p.pass();
        let outcome = p.outcome();
        (is_all(outcome) && flag.is_none_or(|at| p.is_set(at))).then_some(outcome)
    }
}

/// `(count, array_of_requests, index, status)`.
pub(crate) unsafe fn waitany(mut p: Passing<4, impl Real<4>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            if let Some(found) = any(p, None, 3) {
                found.tell(&open);
            }
            open.finish_plain();
        })
    }
}

/// `(count, array_of_requests, index, flag, status)`.
pub(crate) unsafe fn testany(mut p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { p.poll(0, (), |p, ()| any(p, Some(3), 4), |open, (), found| found.tell(open)) }
}

#[inline(always)]
unsafe fn any<const N: usize>(
    p: &mut Passing<N, impl Real<N>>,
    flag: Option<usize>,
    status: usize,
) -> Option<One> {
    // SAFETY: the caller says where a class has what.
    unsafe {
        let (handles, began) = (handles_at(p.args[0], p.args[1]), request::now());
        let status = p.status(status);
        p.pass();
        let outcome = p.outcome();
        if outcome != Outcome::Done || !flag.is_none_or(|at| p.is_set(at)) {
            return None;
        }
        let handle = handle_of(&handles, *(p.args[2] as *const i32));
        Some(One { handle, began, status, outcome })
    }
}

/// `(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)`.
pub(crate) unsafe fn waitsome(mut p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let mut batch = Batch::new(p.args[0], p.args[1], p.args[4]);
            if let Some(several) = some(p, &mut batch) {
                several.tell(&open, &batch);
            }
            open.finish_plain();
        })
    }
}

/// `(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)`.
pub(crate) unsafe fn testsome(mut p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let batch = Batch::new(p.args[0], p.args[1], p.args[4]);
        p.poll(0, batch, |p, batch| some(p, batch), |open, batch, several| several.tell(open, batch))
    }
}

/// Those of a batch that are over.
struct Several {
    number: usize,
    indices: *const i32,
    outcome: Outcome,
}

impl Several {
    unsafe fn tell(self, open: &Open, batch: &Batch) {
        let mut completed = Completed::new(open, batch.began);
        for idx in 0..self.number {
            // SAFETY: the caller's promise: MPI has stored as many indices.
            unsafe {
                let at = *self.indices.add(idx);
                completed.add(handle_of(&batch.handles, at), batch.status(idx), self.outcome);
            }
        }
    }
}

/// Passes on a call for some of a batch. Which are over, if any.
#[inline(always)]
unsafe fn some(p: &mut Passing<5, impl Real<5>>, batch: &mut Batch) -> Option<Several> {
    p.args[4] = batch.statuses();
    p.pass();
    let (outcome, indices) = (p.outcome(), p.args[3] as *const i32);
    // SAFETY: the argument points to how many there are, which may be undefined.
    let number = if is_all(outcome) { unsafe { *(p.args[2] as *const i32) } } else { 0 };
    usize::try_from(number).ok().filter(|&number| number > 0).map(|number| Several {
        number,
        indices,
        outcome,
    })
}

/// `(request)`: nobody will ask for its completion any more.
pub(crate) unsafe fn request_free(mut p: Passing<1, impl Real<1>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let freed = request::free(flavour().handle_at(p.args[0]));
            p.pass();
            open.finish_with(freed, |_, thread, scratch, request| {
                let receive = if let Kind::Both(_, serial) = request.kind { Some(serial) } else { None };
                for serial in [Some(request.serial), receive].into_iter().flatten() {
                    scratch.byte(op::FREED);
                    message::put_back(thread, scratch, serial);
                }
            });
        })
    }
}
