//! Going from one window of a stream to the next.
//!
//! The one idea: the new window is there, with all that it takes to decode it alone, before the old one
//! is sealed; so at no instant is a thread without a place for its counters.
//!
//! Where windows lie in the file is told in [`crate::spool`]. A thread for which there is no further one
//! goes on in one last, which is added up whenever it is full ([`crate::sums`]).

#![expect(
    clippy::cast_possible_truncation,
    reason = "lengths of windows fit any pointer, and codes their bytes"
)]

use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

use marey_model::spool::{Head, Open, SLACK, Stream, at, blank};

use super::{Runtime, current};
use crate::channel;
use crate::clock;
use crate::govern;
use crate::spool::window_len;
use crate::sums::{self, Summing};
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
        let opened = current().is_some_and(|runtime| sys::undisturbed(|| runtime.open_window(thread, room)));
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
            govern::look(self, thread);
            let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
            let keeps = self.keeps.load(Ordering::Relaxed);
            if (*thread).is_summing {
                if keeps && (*thread).is_paused {
                    return self.keep_again(thread, open) || self.begin_anew(thread, open, room);
                }
                return self.begin_anew(thread, open, room);
            }
            let mut head = self.head(thread);
            let is_short = self.config.is_profile && head.bytes_before < sums::PROFILE_FROM;
            if keeps || is_short || (*thread).stream != Stream::Events as u32 {
                let room = if room == 0 { 0 } else { room + 2 * SLACK + Head::records_at(open.len()) };
                let len = window_len(head.bytes_before - (*thread).anew_from).max(room);
                if let Some(window) = self.events.window(&mut head, open, len) {
                    go_on(thread, &head, window);
                    if head.bytes_before >= PREPARE_FROM && (*thread).stream == Stream::Events as u32 {
                        // Without it the thread counts when the disk is full.
                        self.prepare(thread);
                    }
                    return true;
                }
            }
            self.hand_over(thread, open, room)
        }
    }

    /// Reserves, beyond any limit, the window that a descriptor adds up, and the room for its sums. False if
    /// either is not to be had.
    unsafe fn prepare(&self, thread: *mut Thread) -> bool {
        // SAFETY: as in `open_window`.
        unsafe {
            if (*thread).again == 0 {
                let mut head = Head { is_summing: true, ..self.head(thread) };
                let window = self.window_beyond_limit(&mut head, &[], sums::WINDOW);
                let Some(window) = window else { return false };
                blank(core::slice::from_raw_parts_mut(window, 8));
                ((*thread).again, (*thread).again_len) = (window as u64, head.size.into());
            }
            if (*thread).summing.is_null() {
                (*thread).summing = Summing::begin(self, (*thread).serial, (*thread).last);
            }
            !(*thread).summing.is_null()
        }
    }

    /// Goes on in the window that is added up. False if there is none, or no room in it for a record of
    /// `room` bytes.
    unsafe fn hand_over(&self, thread: *mut Thread, open: &[Open], room: usize) -> bool {
        // SAFETY: as in `open_window`.
        unsafe {
            if (*thread).stream != Stream::Events as u32 || !fits(open, room) || !self.prepare(thread) {
                return false;
            }
            let (window, len) = ((*thread).again as *mut u8, (*thread).again_len as usize);
            let head = Head { size: len as u32, is_summing: true, ..self.head(thread) };
            head.encode_into(open, core::slice::from_raw_parts_mut(window, len));
            go_on(thread, &head, window);
            (*(*thread).summing).go_on(self, (*thread).serial, open);
            (*thread).is_summing = true;
            (*thread).is_paused = !self.keeps.load(Ordering::Relaxed);
            true
        }
    }

    /// Adds up the records of a descriptor's window and begins it anew.
    unsafe fn begin_anew(&self, thread: *mut Thread, open: &[Open], room: usize) -> bool {
        // SAFETY: as in `open_window`.
        unsafe {
            if !fits(open, room) {
                return false;
            }
            self.add_up(thread);
            (*thread).sequence -= 1;
            let (window, len) = ((*thread).window as *mut u8, (*thread).window_len as usize);
            let head = Head { size: len as u32, is_summing: true, ..self.head(thread) };
            let counters = COUNTERS.map(|offset| counter((*thread).window, offset).load(Ordering::Relaxed));
            head.encode_into(open, core::slice::from_raw_parts_mut(window, len));
            for (offset, value) in COUNTERS.into_iter().zip(counters) {
                counter((*thread).window, offset).store(value, Ordering::Relaxed);
            }
            (*thread).window = 0;
            go_on(thread, &head, window);
            true
        }
    }

    /// Adds up the records of a descriptor's window, which has none then.
    unsafe fn add_up(&self, thread: *mut Thread) {
        // SAFETY: as in `open_window`; the bytes from the first record to the cursor are records.
        unsafe {
            let used = ((*thread).cursor - (*thread).first) as usize;
            let records = core::slice::from_raw_parts((*thread).first as *const u8, used);
            let place = ((*thread).rounds, (*thread).window_ticks);
            (*(*thread).summing).add(self, (*thread).serial, records, place);
            (*thread).rounds += 1;
        }
    }

    /// Goes from a window that is added up to one that is kept. False if there is none to be had.
    unsafe fn keep_again(&self, thread: *mut Thread, open: &[Open]) -> bool {
        // SAFETY: as in `open_window`.
        unsafe {
            let len = window_len(0).max(2 * SLACK + Head::records_at(open.len()));
            // What is not added up yet is of the round that ends now.
            let head = self.head(thread);
            let mut head = Head { sequence: head.sequence - 1, round: head.round + 1, ..head };
            let Some(window) = self.events.window(&mut head, open, len) else { return false };
            self.add_up(thread);
            let again = (*thread).window;
            blank(core::slice::from_raw_parts_mut(again as *mut u8, 8));
            ((*thread).is_summing, (*thread).anew_from) = (false, head.bytes_before);
            (*thread).window = 0;
            go_on(thread, &head, window);
            carry_counters(again, window as u64);
            true
        }
    }

    /// The head of the window that a descriptor goes on to.
    unsafe fn head(&self, thread: *mut Thread) -> Head {
        // SAFETY: the caller's promise (see `open_window`).
        unsafe {
            Head {
                size: 0,
                process: self.key,
                thread: (*thread).serial,
                stream: Stream::from_code((*thread).stream as u8).unwrap_or(Stream::Events),
                sequence: (*thread).sequence,
                ticks: (*thread).last,
                triple: clock::triple(self.clock),
                bytes_before: (*thread).bytes_before + (*thread).cursor - (*thread).first,
                serial: (*thread).serial_seen,
                buffer: (*thread).buffer,
                round: (*thread).rounds,
                is_summing: false,
            }
        }
    }

    /// A window of the process's events for what is kept beside them, as long as they are.
    pub(crate) fn window_within_limit(&self, head: &mut Head, len: usize) -> Option<*mut u8> {
        self.events.window(head, &[], len)
    }

    /// Whether events are to be kept; else they are added up.
    pub(crate) fn keeps_events(&self) -> bool {
        self.keeps.load(Ordering::Relaxed)
    }

    /// A window of the process's events that no limit is for.
    pub(crate) fn window_beyond_limit(&self, head: &mut Head, open: &[Open], len: usize) -> Option<*mut u8> {
        self.events.window_beyond_limit(head, open, len)
    }
}

/// See [`crate::keep`].
pub(crate) fn keep(events: bool) {
    let thread = crate::attach::existing_thread();
    let Some(runtime) = current() else { return };
    runtime.keeps.store(events, Ordering::Relaxed);
    // SAFETY: the descriptor is the calling thread's or null, and its open stack has `depth` filled entries.
    unsafe {
        if !thread.is_null() {
            crate::write::write_pending(thread);
        }
        if !Thread::is_ready(thread) || (*thread).stream != Stream::Events as u32 {
            return;
        }
        sys::undisturbed(|| {
            (*thread).ready = 0;
            compiler_fence(Ordering::SeqCst);
            let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
            match ((*thread).is_summing, events) {
                (true, true) if (*thread).is_paused => _ = runtime.keep_again(thread, open),
                (false, false) => _ = runtime.hand_over(thread, open, 0),
                _ => {}
            }
            compiler_fence(Ordering::SeqCst);
            (*thread).ready = 1;
        });
    }
}

/// Bytes of records from which on a thread is worth the room for its sums, in case the disk is full one day.
const PREPARE_FROM: u64 = 128 << 10;

/// Whether a window that is used again has room for a record of `room` bytes.
fn fits(open: &[Open], room: usize) -> bool {
    Head::records_at(open.len()) + room + 2 * SLACK <= sums::WINDOW
}

/// Makes `window`, whose head is `head`, the one that a descriptor writes to.
unsafe fn go_on(thread: *mut Thread, head: &Head, window: *mut u8) {
    // SAFETY: the caller's promise (see `open_window`).
    unsafe {
        let old = ((*thread).window, (*thread).window_len);
        let fresh = window as u64;
        (*thread).bytes_before = head.bytes_before;
        (*thread).sequence = head.sequence + 1;
        (*thread).generation = channel::next_generation();
        (*thread).window = fresh;
        (*thread).window_len = u64::from(head.size);
        (*thread).window_ticks = head.ticks;
        (*thread).first = fresh + Head::records_at((*thread).depth as usize) as u64;
        (*thread).cursor = (*thread).first;
        (*thread).fold.cursor = 0;
        write::forget_words(thread);
        Thread::set_brim(thread, fresh + u64::from(head.size) - SLACK as u64);
        if old.0 != 0 {
            leave_window(thread, old);
        }
    }
}

/// Counters that go from window to window.
const COUNTERS: [usize; 5] = [at::LATE, at::DROPPED, at::LOCKS, at::SAMPLED_TICKS, at::SAMPLED_CALLS];

/// A counter in the head of a mapped window.
unsafe fn counter<'a>(window: u64, offset: usize) -> &'a AtomicU64 {
    // SAFETY: the caller's promise; heads are longer than every offset.
    unsafe { &*((window as *const u8).add(offset).cast::<AtomicU64>()) }
}

/// Takes counters from one mapped window to another.
unsafe fn carry_counters(from: u64, to: u64) {
    for offset in COUNTERS {
        // SAFETY: the caller's promise.
        unsafe {
            let before = counter(from, offset).load(Ordering::Relaxed);
            counter(to, offset).fetch_add(before, Ordering::Relaxed);
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
        carry_counters(old.0, (*thread).window);
        // Where events are no longer kept the window is hardly full.
        give_back_unused(old.0, old.1);
        counter(old.0, at::SEALED).store((*thread).last, Ordering::Release);
        sys::unmap(old.0 as *mut u8, old.1 as usize);
    }
}

/// Less disk space than this at the end of a window is not worth a call: threads that are so short may be many.
const WORTH_GIVING_BACK: u64 = 16 << 10;

/// Gives back the disk space behind the records of a window that nothing more is written to.
///
/// # Safety
/// `window` is mapped, `len` bytes long, and the calling thread's.
pub(super) unsafe fn give_back_unused(window: u64, len: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let end = window + counter(window, at::CURSOR).load(Ordering::Relaxed) + SLACK as u64;
        let unused = end.next_multiple_of(sys::PAGE as u64);
        let len = (window + len).saturating_sub(unused);
        if len >= WORTH_GIVING_BACK {
            sys::give_back(unused as *mut u8, len as usize);
        }
    }
}
