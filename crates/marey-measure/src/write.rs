//! Writing records: the paths that every event takes.
//!
//! [`enter`] and [`leave`] are written out by hand, because they are what a program does millions
//! of times: six comparisons, one clock reading, one 8-byte store for the record, one for the
//! commit. The clock hides nothing of that: what counts is the number of instructions. Everything else goes
//! through [`write()`], and everything unusual — a full window, a fork, an interrupted record, a clock that ran
//! backwards — through [`slow`]. Calls that others wait for are written down when they are over
//! ([`announce`](mod@announce)).

#![expect(clippy::cast_possible_truncation, reason = "sites below SHORT_SITES fit a byte")]

use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

use marey_model::ClockKind;
use marey_model::spool::{
    MAX_SHORT, Open, SHORT_SITES, at, encode_near, encode_short, op, short_len, zigzag,
};

use crate::clock;
use crate::counting;
use crate::thread::Thread;

mod announce;
mod beside;
mod fold;
mod random;
mod reduced;
mod slow;
mod tally;
mod timing;

pub(crate) use announce::{Announced, announced, while_announced};
pub use announce::{SiteOf, announce, enter_announced, settle, withdraw, write_announced};
pub use beside::{Kept, add_visit, count, enter_timed, leave_timed_with};
pub(crate) use beside::{leave_pending, write_pending};
pub(crate) use fold::Fold;
pub use fold::write_poll;
pub use reduced::{Told, is_open_beside, visit};
pub(crate) use slow::is_open;
pub(crate) use tally::{PLACES, count_cost, forget_words};
pub use tally::{Place, tally};
pub use timing::{Leaving, begin_timing, end_timing, is_learning, learn_cost};

/// A reading of the thread's clock.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn now(thread: *const Thread) -> u64 {
    // SAFETY: the caller's promise.
    match unsafe { (*thread).clock } {
        0 => clock::tsc(),
        code => clock::ticks_of(if code == 1 { ClockKind::Monotonic } else { ClockKind::Skewed }),
    }
}

/// Makes everything up to `end` count.
///
/// # Safety
/// `thread` is recording and the bytes between its cursor and `end` are whole records.
#[inline(always)]
unsafe fn commit(thread: *mut Thread, end: u64) {
    // SAFETY: the window is mapped for as long as the thread is recording.
    unsafe {
        (*thread).cursor = end;
        (*head_counter(thread, at::CURSOR)).store(end - (*thread).window, Ordering::Release);
    }
}

/// Enters `site`. The caller has seen that its mode is [`crate::Mode::Trace`].
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn enter(thread: *mut Thread, site: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        enter_marked(thread, site, 0);
    }
}

/// The same with a mark of the caller's beside the open region ([`Open::reserved`]): the recorder does not look at
/// it. 0 is none.
///
/// # Safety
/// As for [`enter`].
#[inline(always)]
pub unsafe fn enter_marked(thread: *mut Thread, site: u32, mark: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if site >= SHORT_SITES {
            return enter_long(thread, site, mark);
        }
        let open = Open { ticks: 0, site, reserved: mark };
        enter_with(thread, open, u64::from(op::SHORT_ENTER) + u64::from(site), 1, MAX_SHORT);
    }
}

/// Enters a site whose number takes up to three bytes, in which case four are left for the time
/// in an 8-byte store.
#[inline(never)]
unsafe fn enter_long(thread: *mut Thread, site: u32, mark: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if site >= LONG_SITES {
            return slow::enter(thread, site, mark);
        }
        let (prefix, prefix_len) = long_prefix(site);
        let open = Open { ticks: 0, site, reserved: mark };
        enter_with(thread, open, prefix, prefix_len, MAX_BEHIND_LONG);
    }
}

/// Sites below it have numbers of at most three bytes.
const LONG_SITES: u32 = 1 << 21;
/// The largest time that fits the four bytes behind such a number and its opcode.
const MAX_BEHIND_LONG: u64 = (1 << 28) - 1;

/// What the record begins with that enters a site from [`SHORT_SITES`] up, and its bytes.
#[inline(always)]
const fn long_prefix(site: u32) -> (u64, u32) {
    let len = short_len(site as u64);
    (op::ENTER as u64 | encode_short(site as u64, len) << 8, 1 + len)
}

/// Enters the site of `open` by a record that begins with the `prefix_len` bytes of `prefix`, unless more
/// than `max` ticks have passed.
#[inline(always)]
unsafe fn enter_with(thread: *mut Thread, open: Open, prefix: u64, prefix_len: u32, max: u64) {
    // SAFETY: the caller's promise; the store stays inside the window because records begin below
    // `limit`, which leaves SLACK bytes behind it.
    unsafe {
        if (*thread).ready == 0 {
            return slow::enter(thread, open.site, open.reserved);
        }
        // From here to the last line a signal handler finds the thread busy.
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        let (cursor, depth) = ((*thread).cursor, (*thread).depth);
        let ticks = clock::tsc();
        let delta = ticks.wrapping_sub((*thread).last);
        // Where `limit` is 0 the clock is another one. Those are slow anyway, and a call in the middle would
        // make us save registers.
        if cursor >= (*thread).limit || depth >= (*thread).max_depth || delta > max {
            (*thread).ready = 1;
            return slow::enter(thread, open.site, open.reserved);
        }
        let (number, len) = encode_near(delta);
        (cursor as *mut u64).write_unaligned(prefix | number << (8 * prefix_len));
        (*thread).last = ticks;
        *(*thread).stack.add(depth as usize) = Open { ticks, ..open };
        (*thread).depth = depth + 1;
        commit(thread, cursor + u64::from(prefix_len + len));
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// Leaves the innermost open region.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn leave(thread: *mut Thread) {
    // SAFETY: as in `enter`.
    unsafe {
        if (*thread).ready == 0 || (*thread).below != 0 {
            return slow::leave(thread);
        }
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        let (cursor, depth) = ((*thread).cursor, (*thread).depth);
        let ticks = clock::tsc();
        let delta = ticks.wrapping_sub((*thread).last);
        if cursor >= (*thread).limit || depth == 0 || delta > MAX_SHORT {
            (*thread).ready = 1;
            return slow::leave(thread);
        }
        let (number, len) = encode_near(delta);
        (cursor as *mut u64).write_unaligned(u64::from(op::LEAVE) | number << 8);
        (*thread).last = ticks;
        (*thread).depth = depth - 1;
        commit(thread, cursor + 1 + u64::from(len));
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// Leaves `site`: the innermost open region if all is well. Otherwise — an exception or `longjmp`
/// skipped some leaves — the regions inside it are left with it, and a leave of a region that is
/// not open at all is ignored.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn leave_site(thread: *mut Thread, site: u32) {
    // SAFETY: as in `enter`; entries below `depth` are filled.
    unsafe {
        let depth = (*thread).depth as usize;
        if depth == 0 || (*(*thread).stack.add(depth - 1)).site != site {
            return slow::leave_site(thread, site);
        }
        leave(thread);
    }
}

/// The site of the innermost open region, if the thread records and one is open.
///
/// # Safety
/// `thread` is a descriptor of the calling thread or null.
pub unsafe fn innermost(thread: *const Thread) -> Option<u32> {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        let is_idle = Thread::is_ready(thread) || !thread.is_null() && (*thread).is_pending;
        let depth = is_idle.then(|| (*thread).depth as usize)?;
        Some((*(*thread).stack.add(depth.checked_sub(1)?)).site)
    }
}

/// Enters `site` and leaves it again, for a call that is over: it took from `began` to `ended`, both
/// readings of [`now`]. What was recorded in between comes before it, not inside it.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[inline(always)]
pub unsafe fn passed(thread: *mut Thread, site: u32, began: u64, ended: u64) {
    // SAFETY: as in `enter`; the two records are shorter than SLACK.
    unsafe {
        if (*thread).ready == 0 {
            return slow::passed(thread, site, began, ended);
        }
        (*thread).ready = 0;
        compiler_fence(Ordering::SeqCst);
        let cursor = (*thread).cursor;
        let (before, inside) = (began.wrapping_sub((*thread).last), ended.wrapping_sub(began));
        let is_short = site < LONG_SITES && before <= MAX_BEHIND_LONG && inside <= MAX_SHORT;
        if cursor >= (*thread).brim || (*thread).depth >= (*thread).max_depth || !is_short {
            (*thread).ready = 1;
            return slow::passed(thread, site, began, ended);
        }
        let (prefix, prefix_len) = if site < SHORT_SITES {
            (u64::from(op::SHORT_ENTER) + u64::from(site), 1)
        } else {
            long_prefix(site)
        };
        let len = short_len(before);
        (cursor as *mut u64).write_unaligned(prefix | (encode_short(before, len) << (8 * prefix_len)));
        let cursor = cursor + u64::from(prefix_len + len);
        let len = short_len(inside);
        (cursor as *mut u64).write_unaligned(u64::from(op::LEAVE) | encode_short(inside, len) << 8);
        (*thread).last = ended;
        commit(thread, cursor + 1 + u64::from(len));
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
}

/// Counts a call that cannot be recorded, because there is no site for it.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
pub unsafe fn count_unrecorded(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe { slow::count_dropped(thread) }
}

/// Where a record's bytes go: into the window, behind the cursor.
pub struct Scratch(*mut u8);

impl Scratch {
    /// Adds a byte.
    #[inline(always)]
    pub fn byte(&mut self, byte: u8) {
        // SAFETY: whoever made the scratch left room for the record (see `write`).
        unsafe {
            self.0.write(byte);
            self.0 = self.0.add(1);
        }
    }

    /// Adds a prefix integer.
    #[inline(always)]
    pub fn number(&mut self, value: u64) {
        if value > MAX_SHORT {
            return self.long_number(value);
        }
        let len = short_len(value);
        // SAFETY: as in `byte`; the eight bytes written may reach seven beyond the record.
        unsafe {
            self.0.cast::<u64>().write_unaligned(encode_short(value, len));
            self.0 = self.0.add(len as usize);
        }
    }

    #[cold]
    fn long_number(&mut self, value: u64) {
        self.byte(0);
        self.bytes(&value.to_le_bytes());
    }

    /// Adds a signed prefix integer.
    #[inline(always)]
    pub fn signed(&mut self, value: i64) {
        self.number(zigzag(value));
    }

    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: as in `byte`.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len());
            self.0 = self.0.add(bytes.len());
        }
    }
}

/// Room that [`write()`] gives without being asked.
pub const ROOM: usize = marey_model::spool::SLACK - 32;

/// Writes whatever records `f` puts into the scratch, at most `room` bytes, and commits them at
/// once. False if there was no place for them; they are counted then.
///
/// # Safety
/// `thread` is a descriptor of the calling thread, and `f` writes whole records of at most `room`
/// bytes together.
#[inline(always)]
pub unsafe fn write(thread: *mut Thread, room: usize, f: impl FnOnce(*mut Thread, &mut Scratch)) -> bool {
    // SAFETY: as in `enter`; the slow path gives a descriptor with `room` bytes behind its cursor.
    unsafe {
        let mut claimed = Some(thread);
        if (*thread).ready == 0 {
            claimed = slow::claim(thread, room);
        } else {
            (*thread).ready = 0;
            compiler_fence(Ordering::SeqCst);
            if (*thread).cursor >= (*thread).brim || room > ROOM {
                claimed = slow::make_room(thread, room);
            }
        }
        let Some(thread) = claimed else { return false };
        let mut scratch = Scratch((*thread).cursor as *mut u8);
        f(thread, &mut scratch);
        commit(thread, scratch.0 as u64);
        compiler_fence(Ordering::SeqCst);
        (*thread).ready = 1;
    }
    true
}

/// Leaves the innermost open region, and before that writes the records that `f` puts into the
/// scratch; both count at once, so that a message is never there without the end of its call.
///
/// # Safety
/// As for [`write()`]; the records take at most 190 bytes.
#[inline(always)]
pub unsafe fn leave_with(thread: *mut Thread, f: impl FnOnce(*mut Thread, &mut Scratch)) {
    // SAFETY: the caller's promise.
    unsafe {
        counting::at_boundary(thread);
        write(thread, ROOM, |thread, scratch| {
            f(thread, scratch);
            if (*thread).below != 0 {
                (*thread).below -= 1;
            } else if (*thread).depth != 0 {
                scratch.byte(op::LEAVE);
                put_delta(thread, scratch);
                (*thread).depth -= 1;
            }
        });
    }
}

/// Adds the time since the last record. A clock that ran backwards gives 0 and is counted.
///
/// # Safety
/// `thread` is a recording descriptor of the calling thread.
#[inline(always)]
pub(crate) unsafe fn put_delta(thread: *mut Thread, scratch: &mut Scratch) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { put_delta_to(thread, scratch, now(thread)) }
}

/// Adds the time from the last record to `ticks`.
#[inline(always)]
pub(crate) unsafe fn put_delta_to(thread: *mut Thread, scratch: &mut Scratch, ticks: u64) -> u64 {
    // SAFETY: the caller's promise (see `put_delta`).
    unsafe {
        let delta = ticks.wrapping_sub((*thread).last);
        if delta.cast_signed() < 0 {
            (*head_counter(thread, at::LATE)).fetch_add(1, Ordering::Relaxed);
            scratch.number(0);
            return (*thread).last;
        }
        scratch.number(delta);
        (*thread).last = ticks;
        ticks
    }
}

/// A counter in the head of the thread's window.
///
/// # Safety
/// `thread` has a window.
pub(crate) unsafe fn head_counter(thread: *mut Thread, offset: usize) -> *const AtomicU64 {
    // SAFETY: heads are longer than every offset in `at`.
    unsafe { ((*thread).window as *const u8).add(offset).cast() }
}
