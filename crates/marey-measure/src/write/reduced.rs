//! Visits of regions that are reduced: recording each would cost more than the budget, so each is counted, and a few
//! are timed.
//!
//! The one idea: the number of visits of a call path is one word of the process's file, which each visit adds 1 to,
//! so that it is exact whatever ends the process. Which word that is, is known as long as nothing has been recorded
//! since the last visit: then the same regions are open. So a visit costs two loads, two comparisons and two
//! additions, and it is not on the stack of open regions.
//!
//! Every so many visits, at random, a *stretch* follows: visits one after the other that are timed, on the stack and
//! not in the stream, as those of [`super::beside`]. The first [`WARM`] are counted as any other, for the code that
//! times them is not in the processor's caches yet; the others become records like those of any visit, less what the
//! clock takes.
//!
//! The open regions may be others though nothing was recorded: visits that are not in the stream begin and end, and the
//! address of a window comes again. Then it is no longer known which words are meant ([`forget_words`]).
//!
//! Deliberately absent: which regions these are, and when ([`crate::govern`]); how a visit is timed
//! ([`super::timing`]).

#![expect(clippy::cast_possible_truncation, reason = "sites are 32 bits")]

use core::sync::atomic::{Ordering, compiler_fence};

use marey_model::spool::Open;

use super::beside::{self, claim, release};
use super::tally::{Place, add_one, forget_words, tally};
use super::{ROOM, Scratch, commit, now, random, slow, timing};
use crate::thread::Thread;

/// Visits of a stretch that are not timed, and those that are.
const WARM: u32 = 8;
const TIMED: u32 = 8;

/// Whether a signal handler has interrupted a record of the thread's, and the innermost region that such a handler has
/// entered is `site`: no visit of a region that is reduced can be told then, and so it is recorded.
///
/// # Safety
/// As for [`visit`].
pub unsafe fn is_open_beside(thread: *const Thread, site: u32) -> bool {
    // SAFETY: the caller's promise; a second descriptor, once made, lives as long as the first, and entries below
    // `depth` are filled.
    unsafe {
        // This first: hardly any program has handlers that are recorded.
        let second = (*thread).second.load(Ordering::Acquire);
        if second.is_null() || second.cast_const() == thread || (*second).depth == 0 {
            return false;
        }
        if (*thread).ready != 0 || (*thread).is_pending || super::announced(thread).is_some() {
            return false;
        }
        (*(*second).stack.add((*second).depth as usize - 1)).site == site
    }
}

/// What has become of a visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// It is counted. It will not be left.
    Counted,
    /// It is open and will be left; `mark` is what [`super::enter_marked`] keeps.
    Open,
    /// It can only be recorded, and has not been entered.
    Not,
}

/// Counts a visit of `site`, or begins to time it.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
#[cold]
#[inline(never)]
pub unsafe fn visit(thread: *mut Thread, site: u32) -> Told {
    // SAFETY: the caller's promise; a claimed thread has sums, and its stack `max_depth` entries.
    unsafe {
        let Some(place) = Thread::reduced(thread, site) else { return Told::Not };
        if tally(thread, site, place) {
            return Told::Counted;
        }
        if !claim(thread) {
            return Told::Not;
        }
        let Some(beside) = (*thread).beside.as_mut() else {
            release(thread);
            return Told::Not;
        };
        let Some(runtime) = (*thread).runtime else {
            release(thread);
            return Told::Not;
        };
        (*thread).tally = beside.places();
        let place = (*thread).tally.add(place);
        if (*place).site != site + 1 {
            let random = (*place).random | ((*thread).last as u32 ^ site << 16) | 1;
            (*place).cursor = 0;
            compiler_fence(Ordering::SeqCst);
            *place = Place {
                counter: core::ptr::null_mut(),
                cursor: 0,
                site: site + 1,
                left: 0,
                stretch: 0,
                random,
            };
            (*place).left = random::interval(&mut (*place).random, runtime.gap(site));
        }
        if (*place).left == 0 && (*place).stretch == 0 {
            (*place).stretch = WARM + TIMED + 1;
        }
        // The last one is there to draw when the next stretch is.
        if (*place).left == 0 && (*place).stretch == 1 {
            (*place).stretch = 0;
            (*place).left = random::interval(&mut (*place).random, runtime.gap(site));
        }
        let can_time = (*thread).depth < (*thread).max_depth && (*thread).timing == 0;
        if (*place).left == 0 && can_time {
            (*place).stretch -= 1;
            (*thread).is_warm = (*place).stretch > TIMED;
            (*thread).is_to_learn = (*place).stretch == TIMED + WARM / 2;
            (*thread).is_learning = false;
            *(*thread).stack.add((*thread).depth as usize) = Open { ticks: now(thread), site, reserved: 0 };
            (*thread).depth += 1;
            (*thread).pending += 1;
            (*thread).timing = site + 1;
            (*thread).ended = 0;
            forget_words(thread);
            release(thread);
            return Told::Open;
        }
        let told = match counter(thread, site) {
            Some(counter) => {
                (*place).left = (*place).left.saturating_sub(1);
                // A handler that comes in between finds no word, or the right one.
                (*place).counter = counter;
                compiler_fence(Ordering::SeqCst);
                (*place).cursor = (*thread).cursor;
                add_one(counter);
                Told::Counted
            }
            // Deeper than regions can be told to be open: it would not be left.
            None if (*thread).depth >= (*thread).max_depth => {
                beside::add_counted(thread, site);
                Told::Counted
            }
            None => Told::Not,
        };
        release(thread);
        told
    }
}

/// Whether the innermost open region, whose visit is pending and of `site`, is one that is being timed.
///
/// # Safety
/// As for [`visit`].
#[inline(always)]
pub(super) unsafe fn is_timed(thread: *const Thread, site: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*thread).timing == site + 1 }
}

/// Leaves the visit that is being timed, which is the innermost and pending. The thread is claimed.
///
/// # Safety
/// As for [`visit`].
pub(super) unsafe fn leave(thread: *mut Thread) {
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        let ended = core::mem::take(&mut (*thread).ended);
        (*thread).timing = 0;
        (*thread).depth -= 1;
        (*thread).pending -= 1;
        let Open { ticks: began, site, .. } = *(*thread).stack.add((*thread).depth as usize);
        forget_words(thread);
        let ended = if ended == 0 { now(thread) } else { ended };
        if (*thread).is_warm {
            match counter(thread, site) {
                Some(counter) => add_one(counter),
                None => beside::add_counted(thread, site),
            }
            return release(thread);
        }
        let took = timing::less_cost(thread, ended.saturating_sub(began));
        if (*thread).pending != 0 {
            // What is around it is not in the stream either.
            beside::add_timed(thread, site, took);
            return release(thread);
        }
        if (*thread).cursor >= (*thread).brim && slow::make_room(thread, ROOM).is_none() {
            return;
        }
        let began = began.max((*thread).last);
        let mut scratch = Scratch((*thread).cursor as *mut u8);
        slow::put_call(thread, &mut scratch, site, (began, began + took), |_, _| ());
        commit(thread, scratch.0 as u64);
        release(thread);
    }
}

/// The word that has the number of visits of a site beneath the regions that are open.
unsafe fn counter(thread: *mut Thread, site: u32) -> Option<*mut u64> {
    // SAFETY: the caller's promise: the thread is claimed, and entries below `depth` are filled.
    unsafe {
        let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
        let (runtime, beside) = ((*thread).runtime?, (*thread).beside.as_mut()?);
        beside.counter((runtime, (*thread).serial), open, site)
    }
}
