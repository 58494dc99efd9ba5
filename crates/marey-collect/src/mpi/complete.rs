//! Calls that find requests complete: `MPI_Wait…`, `MPI_Test…`, `MPI_Request_free`.
//!
//! What a receive got is known from its status alone, so where the program does not care for
//! statuses the library gets ours.

use marey_measure::message;
use marey_model::spool::op;

use smallvec::SmallVec;

use super::flavour::{STATUS_WORDS, UNDEFINED, flavour};
use super::point::{arrived, put_received, status_or};
use super::request::{self, Kind};
use super::wrap::{Call, Open};

/// Notes that the request that had `handle` before the call, which began at `began`, is complete.
unsafe fn completed(open: &Open, handle: usize, began: u64, status: usize) {
    let flavour = flavour();
    if handle == flavour.request_null {
        return;
    }
    let Some(request) = request::complete(handle, began) else { return };
    let (runtime, serial) = (open.runtime, request.serial);
    // SAFETY: `status` is the request's own; the open call writes its records.
    unsafe {
        let cancelled = !matches!(request.kind, Kind::Collective) && flavour.is_cancelled(status);
        open.record(|thread, scratch| {
            let opcode = match request.kind {
                _ if cancelled => op::CANCELLED,
                Kind::Collective => op::COLLECTED,
                Kind::Send(_) => op::SENT,
                Kind::Receive(posted) => match arrived(&posted, status) {
                    Some(half) => return put_received(runtime, thread, scratch, serial, &half),
                    None => op::CANCELLED,
                },
            };
            scratch.byte(opcode);
            message::put_back(thread, scratch, serial);
        });
    }
}

/// `(request, status)`.
pub(crate) unsafe fn wait(call: Call, mut args: [usize; 2], f: impl Fn([usize; 2]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let (handle, began) = (flavour().handle_at(args[0]), request::now());
        let mut own = [0; STATUS_WORDS];
        args[1] = status_or(args[1], &mut own);
        let result = f(args);
        if result as i32 == 0 {
            completed(&open, handle, began, args[1]);
        }
        open.finish_plain();
        result
    }
}

/// `(request, flag, status)`.
pub(crate) unsafe fn test(call: Call, mut args: [usize; 3], f: impl Fn([usize; 3]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let (handle, began) = (flavour().handle_at(args[0]), request::now());
        let mut own = [0; STATUS_WORDS];
        args[2] = status_or(args[2], &mut own);
        let result = f(args);
        if result as i32 == 0 && *(args[1] as *const i32) != 0 {
            completed(&open, handle, began, args[2]);
        }
        open.finish_plain();
        result
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
        let n = (n as i32).max(0) as usize;
        let flavour = flavour();
        // SAFETY: the caller's promise.
        let handles =
            unsafe { (0..n).map(|idx| flavour.handle_at(places + idx * flavour.handle_len())) }.collect();
        let mut own = SmallVec::new();
        if statuses == flavour.status_ignore {
            own.resize(n * STATUS_WORDS, 0);
        }
        Self { handles, began: request::now(), own, theirs: statuses }
    }

    /// Where MPI is to put the statuses. The batch must stay where it is until they have been read.
    fn statuses(&mut self) -> usize {
        if self.own.is_empty() { self.theirs } else { self.own.as_mut_ptr() as usize }
    }

    fn status(&self, idx: usize) -> usize {
        let first = if self.own.is_empty() { self.theirs } else { self.own.as_ptr() as usize };
        first + idx * flavour().status_len
    }

    unsafe fn all_completed(&self, open: &Open) {
        for (idx, &handle) in self.handles.iter().enumerate() {
            // SAFETY: MPI has filled a status for each request.
            unsafe { completed(open, handle, self.began, self.status(idx)) };
        }
    }
}

/// `(count, array_of_requests, array_of_statuses)`.
pub(crate) unsafe fn waitall(call: Call, mut args: [usize; 3], f: impl Fn([usize; 3]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let mut batch = Batch::new(args[0], args[1], args[2]);
        args[2] = batch.statuses();
        let result = f(args);
        if result as i32 == 0 {
            batch.all_completed(&open);
        }
        open.finish_plain();
        result
    }
}

/// `(count, array_of_requests, flag, array_of_statuses)`.
pub(crate) unsafe fn testall(call: Call, mut args: [usize; 4], f: impl Fn([usize; 4]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let mut batch = Batch::new(args[0], args[1], args[3]);
        args[3] = batch.statuses();
        let result = f(args);
        if result as i32 == 0 && *(args[2] as *const i32) != 0 {
            batch.all_completed(&open);
        }
        open.finish_plain();
        result
    }
}

/// `(count, array_of_requests, index, status)`.
pub(crate) unsafe fn waitany(call: Call, args: [usize; 4], f: impl Fn([usize; 4]) -> usize) -> usize {
    let [n, places, index, status] = args;
    // SAFETY: arguments are those of the class.
    unsafe { any(call, n, places, index, 0, status, |status| f([n, places, index, status])) }
}

/// `(count, array_of_requests, index, flag, status)`.
pub(crate) unsafe fn testany(call: Call, args: [usize; 5], f: impl Fn([usize; 5]) -> usize) -> usize {
    let [n, places, index, flag, status] = args;
    // SAFETY: arguments are those of the class.
    unsafe { any(call, n, places, index, flag, status, |status| f([n, places, index, flag, status])) }
}

unsafe fn any(
    call: Call,
    n: usize,
    places: usize,
    index: usize,
    flag: usize,
    status: usize,
    f: impl Fn(usize) -> usize,
) -> usize {
    // SAFETY: the caller passes on the arguments of its class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(status) };
        let batch = Batch::new(n, places, 0);
        let mut own = [0; STATUS_WORDS];
        let status = status_or(status, &mut own);
        let result = f(status);
        let is_done = flag == 0 || *(flag as *const i32) != 0;
        if result as i32 == 0 && is_done {
            let index = *(index as *const i32);
            if index != UNDEFINED
                && let Some(&handle) = batch.handles.get(index.max(0) as usize)
            {
                completed(&open, handle, batch.began, status);
            }
        }
        open.finish_plain();
        result
    }
}

/// `(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)`.
pub(crate) unsafe fn some(call: Call, mut args: [usize; 5], f: impl Fn([usize; 5]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let mut batch = Batch::new(args[0], args[1], args[4]);
        args[4] = batch.statuses();
        let result = f(args);
        let n = *(args[2] as *const i32);
        if result as i32 == 0 && n != UNDEFINED {
            for idx in 0..n.max(0) as usize {
                let at = *((args[3] as *const i32).add(idx));
                if let Some(&handle) = batch.handles.get(at.max(0) as usize) {
                    completed(&open, handle, batch.began, batch.status(idx));
                }
            }
        }
        open.finish_plain();
        result
    }
}

/// `(request)`: nobody will ask for its completion any more.
pub(crate) unsafe fn request_free(call: Call, args: [usize; 1], f: impl Fn([usize; 1]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let freed = request::free(flavour().handle_at(args[0]));
        let result = f(args);
        open.finish(|thread, scratch| {
            if let Some(request) = freed {
                scratch.byte(op::FREED);
                message::put_back(thread, scratch, request.serial);
            }
        });
        result
    }
}
