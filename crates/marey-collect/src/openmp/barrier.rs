//! Barriers, and what threads do in them: wait for the last, execute tasks, or wait for another parallel region.
//!
//! The one idea: at the end of a parallel region all threads but the first stay in the runtime, and when they could have
//! left its barrier is known only from the others. So that is written down when the thread does something again: the
//! barrier was over when the last thread had arrived or the last task had ended, and since then the thread was *idle*.
//!
//! A thread that executes tasks in a barrier waits before, between and after them: these are visits of *wait for tasks*
//! in it, of which those before a task end when it was created.

use marey_measure::{Mode, Runtime, Thread, existing_thread, now};
use marey_model::EdgeKind;
use marey_model::spool::Definition;

use super::here::{Here, here};
use super::real::address;
use super::region::{Construct, Named, begin_call, enter, leave_because, passed, site_of_call};
use super::share;
use super::tables::tables;
use super::wrapper::{Frame, export, nothing};
use crate::own::Own;
use crate::process;
use crate::threads::Note;

static IDLE: Named = Named::new("", "");
static WAITING: Named = Named::new("", "");
static NONE: Named = Named::new("", "");
static END_OF_LOOP: Named = Named::new("construct", "end of loop");
static END_OF_SECTIONS: Named = Named::new("construct", "end of sections");

export! {
    GOMP_barrier = before::<0>, after;
    GOMP_barrier_cancel = before::<0>, after_cancellable;
    GOMP_loop_end = before::<1>, after;
    GOMP_loop_end_cancel = before::<1>, after_cancellable;
    GOMP_sections_end = before::<2>, after;
    GOMP_sections_end_cancel = before::<2>, after_cancellable;
    GOMP_loop_end_nowait = before_end, nothing;
    GOMP_sections_end_nowait = before_end, nothing;
    GOMP_single_copy_start = before_copy, after_copy;
    GOMP_single_copy_end = before::<0>, after;
}

/// Which barrier: by itself, or the end of a loop or of sections.
static NOUNS: [&Named; 3] = [&NONE, &END_OF_LOOP, &END_OF_SECTIONS];

unsafe extern "C" fn before<const NOUN: usize>(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let region = (*frame).room::<u32>();
        *region = 0;
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            if NOUN != 0 {
                share::end(thread);
            }
            let site = site_of_call(thread, Construct::Barrier, NOUNS[NOUN].noun(), (*frame).entry());
            *region = enter(thread, site);
            arrive(thread);
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after(frame: *mut Frame, _: usize) {
    // SAFETY: `before` has filled the frame.
    unsafe {
        let thread = existing_thread();
        if (*here()).idle_since != 0 && !thread.is_null() && process::running().is_some() {
            let _own = Own::begin();
            end(thread, *(*frame).room::<u32>());
        }
    }
}

unsafe extern "C" fn after_cancellable(frame: *mut Frame, index: usize) {
    // SAFETY: as above.
    unsafe {
        if (*frame).result as u8 != 0
            && let Some(team) = (*here()).team
        {
            team.cancelled();
        }
        after(frame, index);
    }
}

/// Ends a loop or sections without a barrier.
unsafe extern "C" fn before_end(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            share::end(thread);
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

/// Who comes first executes a `single`, and all others wait in this call for what it has for them.
unsafe extern "C" fn before_copy(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let began = (*frame).room::<u64>();
        *began = 0;
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            *began = now(thread);
            // The first one arrives again when it is through; this is its own round until then.
            arrive(thread);
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after_copy(frame: *mut Frame, _: usize) {
    // SAFETY: `before_copy` has filled the frame.
    unsafe {
        let began = *(*frame).room::<u64>();
        let thread = existing_thread();
        if began == 0 || thread.is_null() || process::running().is_none() {
            return;
        }
        let _own = Own::begin();
        if (*frame).result == 0 {
            (*here()).idle_since = 0;
            let region = enter(thread, site_of_call(thread, Construct::Single, u32::MAX, (*frame).entry()));
            super::region::leave(thread, region);
            return;
        }
        let site = site_of_call(thread, Construct::Barrier, u32::MAX, (*frame).entry());
        let round = (*here()).round;
        let last = (*here()).team.and_then(|team| team.end(round));
        ((*here()).round, (*here()).idle_since) = (round.wrapping_add(1), 0);
        if (*here()).tasks == 0 {
            passed(thread, site, (began, now(thread)), EdgeKind::Barrier, last);
        }
    }
}

/// The calling thread arrives at a barrier of its team.
///
/// # Safety
/// `thread` is its descriptor.
pub(super) unsafe fn arrive(thread: *mut Thread) {
    // SAFETY: the caller's promise; the rest is the thread's own.
    unsafe {
        let ticks = now(thread);
        let Here { team, round, .. } = *here();
        if let Some(team) = team {
            team.arrive(round, Note { thread: (*thread).serial, ticks });
        }
        waits(ticks);
    }
}

/// The calling thread may execute tasks from now on.
pub(super) fn waits(since: u64) {
    // SAFETY: the thread's own memory.
    unsafe { ((*here()).idle_since, (*here()).tasks) = (since.max(1), 0) };
}

/// Ends the barrier that the thread is in, at which it has arrived, as region `region`.
unsafe fn end(thread: *mut Thread, region: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let Here { team, round, .. } = *here();
        let last = team.and_then(|team| team.end(round));
        (*here()).round = round.wrapping_add(1);
        end_wait(thread, region, u64::MAX, EdgeKind::Barrier, last);
    }
}

/// Ends a call in which tasks may have been executed: `region`, which was over at `at` (`u64::MAX`: now) because of what
/// another thread did.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
pub(super) unsafe fn end_wait(thread: *mut Thread, region: u32, at: u64, kind: EdgeKind, note: Option<Note>) {
    // SAFETY: the caller's promise.
    unsafe {
        let Here { idle_since, tasks, .. } = *here();
        ((*here()).idle_since, (*here()).tasks) = (0, 0);
        if tasks == 0 {
            return leave_because(thread, region, at, kind, note);
        }
        wait_until(thread, (idle_since, at.min(now(thread))), kind, note);
        leave_because(thread, region, at, kind, None);
    }
}

/// The thread had nothing to do for so long, in a call that executes tasks.
unsafe fn wait_until(thread: *mut Thread, span: (u64, u64), kind: EdgeKind, note: Option<Note>) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(runtime) = Thread::runtime(thread) {
            passed(thread, WAITING.site(runtime, Construct::WaitForTasks), span, kind, note);
        }
    }
}

/// A task begins on the thread, which another thread has created.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn task_begins(thread: *mut Thread, creation: Option<Note>) {
    // SAFETY: the caller's promise.
    unsafe {
        let since = (*here()).idle_since;
        if since != 0 {
            wait_until(thread, (since, now(thread)), EdgeKind::Wake, creation);
        }
    }
}

/// A task is over that another one has created, as part of a group: whoever waits for these finds a note.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn task_is_over(thread: *mut Thread, parent: u64, group: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let note = Note { thread: (*thread).serial, ticks: now(thread) };
        if let Some(team) = (*here()).team {
            team.task_ended(note);
        }
        if let Some(tables) = tables() {
            for awaited in [parent, group] {
                if awaited != 0 && tables.notes.is_awaited(awaited as usize) {
                    tables.notes.leave(awaited as usize, note);
                }
            }
        }
    }
}

/// A task has ended on the thread, which is again in what it was in before.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn task_ended(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*here()).idle_since != 0 {
            (*here()).idle_since = now(thread).max(1);
            (*here()).tasks += 1;
            if (*here()).is_parked != 0
                && let Some(tables) = tables()
            {
                tables.rests((*thread).serial, (*here()).idle_since);
            }
        }
    }
}

/// Ends the barrier at the end of a parallel region on its first thread, which has left it.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn close(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*here()).idle_since != 0 {
            end(thread, (*here()).barrier);
        }
    }
}

/// The thread has come to the end of a parallel region, and may stay there.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn park(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        (*here()).is_parked = 1;
        if let (Some(tables), Some(team)) = (tables(), (*here()).team) {
            tables.park((*thread).serial, team, (*here()).round);
        }
    }
}

/// The barrier that a thread was in was none of those.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn unpark(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if core::mem::take(&mut (*here()).is_parked) != 0
            && let Some(tables) = tables()
        {
            tables.unpark((*thread).serial);
        }
    }
}

/// A thread goes on that has come to the end of a parallel region: another one begins.
///
/// # Safety
/// As for [`end_wait`].
pub(super) unsafe fn goes_on(runtime: &Runtime, thread: *mut Thread, creation: Option<Note>) {
    // SAFETY: the caller's promise.
    unsafe { comes_out(runtime, thread, creation) };
}

/// The calling thread ends.
pub(super) fn thread_ends() {
    let thread = existing_thread();
    if thread.is_null() {
        return;
    }
    if let Some(runtime) = process::running() {
        let _own = Own::begin();
        // SAFETY: the descriptor is the calling thread's.
        unsafe { comes_out(runtime, thread, None) };
    }
}

/// Says of threads that came to the end of a parallel region, and are there still, when it was over: they cannot.
pub(super) fn process_ends(runtime: &Runtime) {
    let Some(tables) = tables() else { return };
    let me = existing_thread();
    // What rules leave out is nowhere.
    let is_wanted = |site: &u32| {
        // SAFETY: the descriptor is the calling thread's.
        me.is_null() || !matches!(unsafe { Thread::mode(me, *site) }, Mode::Off | Mode::Count | Mode::Unknown)
    };
    for (thread, last, since) in tables.idle() {
        let site = IDLE.site(runtime, Construct::Idle).filter(is_wanted).unwrap_or(u32::MAX);
        let wait = match since {
            0 => u32::MAX,
            _ => WAITING.site(runtime, Construct::WaitForTasks).filter(is_wanted).unwrap_or(u32::MAX),
        };
        let (ticks, by, kind) = (last.ticks, last.thread, EdgeKind::Barrier as u8);
        let idle = Definition::Idle { thread, ticks, by, kind, site, since, wait };
        runtime.define(|definitions| definitions.define(&idle));
    }
}

/// Ends the barrier at the end of a parallel region that a thread was in, and the time since in which it was idle.
unsafe fn comes_out(runtime: &Runtime, thread: *mut Thread, creation: Option<Note>) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*here()).is_parked == 0 {
            return;
        }
        if let Some(tables) = tables() {
            tables.unpark((*thread).serial);
        }
        let Here { team, round, barrier, implicit, .. } = *here();
        let last = team.and_then(|team| team.end(round));
        // Not known: then it is idle from when it arrived.
        let over = last.map_or((*here()).idle_since, |last| last.ticks).max((*thread).last);
        end_wait(thread, barrier, over, EdgeKind::Barrier, last);
        leave_because(thread, implicit, over, EdgeKind::Barrier, None);
        *here() = Here::NOTHING;
        let idle = (over.max((*thread).last), now(thread));
        passed(thread, IDLE.site(runtime, Construct::Idle), idle, EdgeKind::Wake, creation);
    }
}
