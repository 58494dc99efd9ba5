//! Parallel regions and the implicit tasks of their threads.
//!
//! The one idea: the function that the runtime gets for the body of a region is one of ours, with a closure on the stack
//! of whoever begins the region, which does not return before all others have left it. So each thread is known when it
//! begins and ends its implicit task, and where it belongs.
//!
//! At the end of the region is a barrier, which for all but the first thread has no end that could be seen: they stay in
//! the runtime until the next region ([`super::barrier`]).

use marey_measure::{Thread, existing_thread, now};
use marey_model::EdgeKind;

use super::here::{Here, here, number};
use super::real::{Function, address, name};
use super::region::{self, Construct, begin_call, enter, leave, site_of_call, site_of_task};
use super::tables::{TeamRef, tables};
use super::wrapper::{Frame, export, export_long};
use super::{barrier, depend, place, share};
use crate::own::Own;
use crate::process;
use crate::threads::Note;

export! {
    GOMP_parallel = before, after;
    GOMP_parallel_reductions = before, after;
    GOMP_parallel_sections = before, after;
    GOMP_teams_reg = before_teams, after_teams;
    GOMP_cancel = nothing_before, after_cancel;
}

export_long! {
    GOMP_parallel_loop_static = before, after;
    GOMP_parallel_loop_dynamic = before, after;
    GOMP_parallel_loop_guided = before, after;
    GOMP_parallel_loop_runtime = before, after;
    GOMP_parallel_loop_nonmonotonic_dynamic = before, after;
    GOMP_parallel_loop_nonmonotonic_guided = before, after;
    GOMP_parallel_loop_nonmonotonic_runtime = before, after;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime = before, after;
}

/// What the threads of a region begin with.
#[repr(C)]
struct Closure {
    /// The first word of the program's own, which the runtime reads of a region in which tasks reduce.
    reductions: usize,
    function: usize,
    data: usize,
    team: Option<TeamRef>,
    /// When the region began, in ticks.
    began: u64,
    /// The thread that began it.
    first: *mut Thread,
    noun: u32,
    /// The number of the function that was called.
    index: u32,
}

/// What is pending while a region lasts.
#[repr(C)]
struct Pending {
    closure: Closure,
    /// What its first thread was in before.
    outer: Here,
    region: u32,
    is_recorded: u32,
}

unsafe extern "C" fn before(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        // Whom it is passed on to says whether it is looked at.
        let real = address(index, frame);
        let pending = (*frame).room::<Pending>();
        (*pending).is_recorded = 0;
        if let Some((_own, (runtime, thread))) = begin_call((*frame).sp) {
            let noun = place::noun(runtime, (*frame).args[0]);
            let site = site_of_call(thread, Construct::Parallel, noun, (*frame).entry());
            let region = enter(thread, site);
            let began = now(thread);
            let [function, data, ..] = (*frame).args;
            let reductions = match index == Function::GOMP_parallel_reductions as usize {
                true => *(data as *const usize),
                false => 0,
            };
            let team = tables().and_then(|tables| tables.team(began));
            let index = index as u32;
            let closure = Closure { reductions, function, data, team, began, first: thread, noun, index };
            pending.write(Pending { closure, outer: *here(), region, is_recorded: 1 });
            (*frame).args[0] = starts as *const () as usize;
            (*frame).args[1] = &raw const (*pending).closure as usize;
        }
        real
    }
}

unsafe extern "C" fn after(frame: *mut Frame, _: usize) {
    // SAFETY: `before` has filled the frame.
    unsafe {
        let pending = (*frame).room::<Pending>();
        if (*pending).is_recorded == 0 {
            return;
        }
        let _own = Own::begin();
        if let Some(team) = (*pending).closure.team {
            team.over();
        }
        let thread = existing_thread();
        // Otherwise the region was left by a fork, or the recorder is gone.
        if thread == (*pending).closure.first && process::running().is_some() {
            if (*here()).task != (*pending).outer.task {
                barrier::close(thread);
                leave(thread, (*here()).implicit);
            }
            leave(thread, (*pending).region);
        }
        *here() = (*pending).outer;
    }
}

/// Bytes of stack between where the body of a region returns to and where [`starts`] does.
const STARTS_ROOM: usize = 24;

/// Where that function begins, and that room.
pub(super) fn starts_at() -> (usize, usize) {
    (starts as *const () as usize, STARTS_ROOM)
}

/// What the runtime calls on each thread of a team.
#[unsafe(naked)]
unsafe extern "C" fn starts(_: *const Closure) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, {room}",
        ".cfi_adjust_cfa_offset {room}",
        "mov qword ptr [rsp + 8], rdi",
        "call {begins}",
        "mov rdi, rdx",
        "call rax",
        "mov rdi, qword ptr [rsp + 8]",
        "call {ends}",
        "add rsp, {room}",
        ".cfi_adjust_cfa_offset -{room}",
        "ret",
        ".cfi_endproc",
        room = const STARTS_ROOM,
        begins = sym begins,
        ends = sym ends,
    )
}

/// A function and its argument, as two words in registers.
#[repr(C)]
pub(super) struct Call {
    pub(super) function: usize,
    pub(super) data: usize,
}

unsafe extern "C" fn begins(closure: *const Closure) -> Call {
    // SAFETY: whoever began the region waits for all that use the closure.
    unsafe {
        let Closure { function, data, .. } = *closure;
        let at = 0_u8;
        if let Some((_own, (runtime, thread))) = begin_call(&raw const at as usize) {
            let Closure { team, began, first, noun, index, .. } = *closure;
            let is_first = thread == first;
            let creation = Note { thread: (*first).serial, ticks: began };
            if !is_first {
                barrier::goes_on(runtime, thread, Some(creation));
            }
            *here() = Here::of_task(team, number((*thread).serial));
            (*here()).implicit = enter(thread, site_of_task(runtime, Construct::ImplicitTask, noun));
            if !is_first && (*here()).implicit != 0 {
                region::because(thread, EdgeKind::Create, Some(creation));
            }
            share::begins_combined(runtime, thread, index as usize);
        }
        Call { function, data }
    }
}

unsafe extern "C" fn ends(closure: *const Closure) {
    let at = 0_u8;
    // SAFETY: as in `begins`; the last who comes to the barrier behind it lets the closure go.
    unsafe {
        if let Some((_own, (runtime, thread))) = begin_call(&raw const at as usize) {
            share::end(thread);
            depend::parent_is_over((*here()).task);
            let is_first = thread == (*closure).first;
            let region = enter(thread, site_of_task(runtime, Construct::Barrier, (*closure).noun));
            barrier::arrive(thread);
            (*here()).barrier = region;
            if !is_first {
                barrier::park(thread);
            }
        }
    }
}

/// A league of teams: each of them is a call of the same function, one after the other, as the runtime does it.
unsafe extern "C" fn before_teams(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let region = (*frame).room::<u32>();
        *region = 0;
        if let Some((_own, (runtime, thread))) = begin_call((*frame).sp) {
            let noun = place::noun(runtime, (*frame).args[0]);
            *region = enter(thread, site_of_call(thread, Construct::Teams, noun, (*frame).entry()));
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after_teams(frame: *mut Frame, _: usize) {
    // SAFETY: `before_teams` has filled the frame.
    unsafe {
        let thread = existing_thread();
        if !thread.is_null() {
            let _own = Own::begin();
            leave(thread, *(*frame).room::<u32>());
        }
    }
}

pub(super) unsafe extern "C" fn nothing_before(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe { address(index, frame) }
}

/// Whoever leaves what is cancelled comes to no barrier in it; but no barrier is in a group of tasks.
unsafe extern "C" fn after_cancel(frame: *mut Frame, _: usize) {
    const TASKGROUP: usize = 8;
    // SAFETY: the frame is that of the call.
    unsafe {
        if (*frame).result as u8 != 0
            && (*frame).args[0] as u32 as usize & TASKGROUP == 0
            && let Some(team) = (*here()).team
        {
            team.cancelled();
        }
    }
}

/// Whether a function begins a parallel region that is a loop, and with which schedule; or sections.
pub(super) fn combined(index: usize) -> Option<&'static str> {
    name(index).strip_prefix("GOMP_parallel_").filter(|rest| *rest != "reductions")
}
