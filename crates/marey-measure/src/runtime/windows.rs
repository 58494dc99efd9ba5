//! Going from one window of a stream to the next.
//!
//! The one idea: the new window is there, with all that it takes to decode it alone, before the old one
//! is sealed; so at no instant is a thread without a place for its counters.
//!
//! Where windows lie in the file, and what becomes of them at a limit, is told in [`crate::spool`].

#![expect(
    clippy::cast_possible_truncation,
    reason = "lengths of windows fit any pointer, and codes their bytes"
)]

use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

use marey_model::spool::{Head, SLACK, Stream, at};

use super::{Runtime, current};
use crate::channel;
use crate::clock;
use crate::spool::window_len;
use crate::sys;
use crate::thread::{Thread, state};
use crate::write;

/// Goes on to a window with room for a record of `room` bytes. False if there is none.
///
/// # Safety
/// `thread` is a recording descriptor of the calling thread, which has made it not ready.
pub(crate) unsafe fn next_window(thread: *mut Thread, room: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let opened = current().is_some_and(|runtime| runtime.open_window(thread, room));
        // A record that is too long for what is left says nothing of those after it.
        if !opened && room <= write::ROOM {
            (*thread).state = state::DROPPING;
        }
        opened
    }
}

impl Runtime {
    /// Opens the next window of a descriptor, with room for `room` bytes.
    ///
    /// # Safety
    /// `thread` is a filled descriptor of the calling thread, and not ready.
    pub(super) unsafe fn open_window(&self, thread: *mut Thread, room: usize) -> bool {
        // SAFETY: the caller's promise; the open stack has `depth` filled entries.
        unsafe {
            let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
            let used = (*thread).cursor - (*thread).first;
            let mut head = Head {
                size: 0,
                process: self.key,
                thread: (*thread).serial,
                stream: Stream::from_code((*thread).stream as u8).unwrap_or(Stream::Events),
                sequence: (*thread).sequence,
                ticks: (*thread).last,
                triple: clock::triple(self.clock),
                bytes_before: (*thread).bytes_before + used,
                serial: (*thread).serial_seen,
                buffer: (*thread).buffer,
            };
            let room = if room == 0 { 0 } else { room + 2 * SLACK + Head::records_at(open.len()) };
            let len = window_len(head.bytes_before).max(room);
            let Some(window) = self.events.window(&mut head, open, len) else { return false };
            let old = ((*thread).window, (*thread).window_len);
            let fresh = window as u64;
            (*thread).bytes_before += used;
            (*thread).sequence += 1;
            (*thread).generation = channel::next_generation();
            (*thread).window = fresh;
            (*thread).window_len = u64::from(head.size);
            (*thread).first = fresh + Head::records_at(open.len()) as u64;
            (*thread).cursor = (*thread).first;
            (*thread).fold.cursor = 0;
            (*thread).limit = fresh + u64::from(head.size) - SLACK as u64;
            if old.0 != 0 {
                leave_window(thread, old);
            }
            true
        }
    }
}

/// Takes the counters of an old window over to the present one, seals and unmaps the old.
///
/// # Safety
/// `old` is the address and length of a mapped window of the calling thread's `thread`, which has
/// gone on to another, so that handlers count there already.
unsafe fn leave_window(thread: *mut Thread, old: (u64, u64)) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's promise; heads are longer than every offset.
    unsafe {
        let counter = |offset: usize| &*((old.0 as *const u8).add(offset).cast::<AtomicU64>());
        for offset in [at::LATE, at::DROPPED, at::LOCKS, at::SAMPLED_TICKS, at::SAMPLED_CALLS] {
            let before = counter(offset).load(Ordering::Relaxed);
            (*write::head_counter(thread, offset)).fetch_add(before, Ordering::Relaxed);
        }
        counter(at::SEALED).store((*thread).last, Ordering::Release);
        sys::unmap(old.0 as *mut u8, old.1 as usize);
    }
}
