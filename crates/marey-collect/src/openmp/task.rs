//! Explicit tasks: who created them, who executes them, and who waits for them.
//!
//! The one idea: the runtime copies the data of a task to where it will be executed, and gets ours instead, which have a
//! head before them that says where the task was created and as part of what. So each task is known when it begins,
//! whichever thread executes it.
//!
//! Of some tasks the runtime itself writes the first words of the data, or reads them; these stand at the beginning of
//! the head too, and go on from there to the program's data before those are used.

use marey_measure::{Thread, existing_thread, now};
use marey_model::EdgeKind;

use super::here::{Here, here, number};
use super::parallel::Call;
use super::real::address;
use super::region::{self, Construct, begin_call, enter, leave, site_of_call, site_of_task};
use super::tables::tables;
use super::wrapper::{Frame, export, export_long};
use super::{barrier, depend, place};
use crate::own::Own;
use crate::process;
use crate::threads::Note;

export! {
    GOMP_taskwait = before_wait::<TASKWAIT>, after_wait;
    GOMP_taskwait_depend = before_wait::<TASKWAIT>, after_wait;
    GOMP_taskyield = before_wait::<YIELD>, after_wait;
    GOMP_taskgroup_start = before_group, super::wrapper::nothing;
    GOMP_taskgroup_end = before_wait::<GROUP>, after_wait;
}

export_long! {
    GOMP_task = before_create::<false>, after_create;
    GOMP_taskloop = before_create::<true>, after_create;
    GOMP_taskloop_ull = before_create::<true>, after_create;
}

/// A task depends on others.
const DEPEND: usize = 1 << 3;
/// A task's data get an event as their first word.
const DETACH: usize = 1 << 13;
/// The runtime reads the third word of a loop's data: its reductions.
const REDUCTION: usize = 1 << 12;

/// What stands before the data of a task.
#[derive(Clone, Copy)]
#[repr(C)]
struct Head {
    /// The first words of the data, as the runtime writes and reads them.
    words: [usize; 3],
    /// How many of them it writes.
    n_written: u32,
    noun: u32,
    function: usize,
    /// Where the data are; once they have been copied, behind the copy of this.
    data: usize,
    len: usize,
    align: usize,
    copy: usize,
    /// The task that created this one, and the group that it is part of.
    parent: u64,
    group: u64,
    /// That of [`depend`], if it is said what it depends on; else 0.
    ticket: u64,
    /// When it was created, and by which thread.
    ticks: u64,
    thread: u32,
}

/// What is pending while a task is created.
#[repr(C)]
struct Creation {
    head: Head,
    region: u32,
    is_recorded: u32,
}

unsafe extern "C" fn before_create<const IS_LOOP: bool>(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way; its arguments are those of a task.
    unsafe {
        let creation = (*frame).room::<Creation>();
        (*creation).is_recorded = 0;
        if let Some((_own, (runtime, thread))) = begin_call((*frame).sp) {
            let [function, data, copy, len, align, _] = (*frame).args;
            let noun = place::noun(runtime, function);
            let construct = if IS_LOOP { Construct::Taskloop } else { Construct::TaskCreate };
            let region = enter(thread, site_of_call(thread, construct, noun, (*frame).entry()));
            let flags = if IS_LOOP { (*frame).args[5] } else { (*frame).argument(6) };
            let n_written = if IS_LOOP { 2 } else { u32::from(flags & DETACH != 0 && data != 0) };
            let mut words = [0; 3];
            if IS_LOOP && flags & REDUCTION != 0 && 24 <= len {
                words[2] = *(data as *const usize).add(2);
            }
            let mut ticket = 0;
            // Outside of a team each is executed at once.
            if !IS_LOOP && flags & DEPEND != 0 && (*here()).team.is_some() {
                ticket = depend::ticket();
                depend::declared((*here()).task, ticket, (*frame).argument(7));
            }
            let head = Head {
                words,
                n_written,
                noun,
                function,
                data,
                len,
                align,
                copy,
                parent: (*here()).task,
                group: (*here()).group(),
                ticket,
                ticks: now(thread),
                thread: (*thread).serial,
            };
            creation.write(Creation { head, region, is_recorded: 1 });
            (*frame).args[0] = starts as *const () as usize;
            (*frame).args[1] = &raw const (*creation).head as usize;
            (*frame).args[2] = copies as *const () as usize;
            (*frame).args[3] = offset(align) + len;
            (*frame).args[4] = align.max(align_of::<Head>());
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after_create(frame: *mut Frame, _: usize) {
    // SAFETY: `before_create` has filled the frame.
    unsafe {
        let creation = (*frame).room::<Creation>();
        let thread = existing_thread();
        if (*creation).is_recorded != 0 && !thread.is_null() && process::running().is_some() {
            let _own = Own::begin();
            leave(thread, (*creation).region);
        }
    }
}

/// Where data of this alignment begin behind a head.
fn offset(align: usize) -> usize {
    size_of::<Head>().next_multiple_of(align.max(1).next_power_of_two())
}

/// Copies a head and the data that it speaks of. The program's own copying, which may throw, is jumped to.
#[unsafe(naked)]
unsafe extern "C" fn copies(_: *mut Head, _: *const Head) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "call {prepare}",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "mov rdi, rdx",
        "mov rsi, qword ptr [rsi + {data}]",
        "jmp rax",
        ".cfi_endproc",
        prepare = sym prepare,
        data = const core::mem::offset_of!(Head, data),
    )
}

/// Copies all but what the program copies by itself. What is to be called then, with the place of the copy.
unsafe extern "C" fn prepare(copy: *mut Head, head: *const Head) -> Call {
    extern "C" fn done() {}
    // SAFETY: the runtime gives room for a head and the data behind it.
    unsafe {
        give_words(head, (*head).data);
        let data = copy as usize + offset((*head).align);
        copy.write(Head { data, ..*head });
        if (*head).copy != 0 {
            return Call { function: (*head).copy, data };
        }
        if (*head).len != 0 {
            core::ptr::copy_nonoverlapping((*head).data as *const u8, data as *mut u8, (*head).len);
        }
        Call { function: done as *const () as usize, data }
    }
}

/// Writes the words to the data that the runtime has written to the head.
unsafe fn give_words(head: *const Head, data: usize) {
    // SAFETY: there are so many words where the runtime writes them.
    unsafe {
        let words = (*head).words;
        core::ptr::copy_nonoverlapping(words.as_ptr(), data as *mut usize, (*head).n_written as usize);
    }
}

/// What the thread that executes a task was in before.
#[repr(C)]
struct Outer {
    here: Here,
    region: u32,
    is_recorded: u32,
    parent: u64,
    group: u64,
    /// 0 if nobody depends on the end of its body.
    ticket: u64,
}
const _: () = assert!(size_of::<Outer>() <= 160);

/// Bytes of stack between where the body of a task returns to and where [`starts`] does.
const STARTS_ROOM: usize = 168;

/// Where that function begins, and that room.
pub(super) fn starts_at() -> (usize, usize) {
    (starts as *const () as usize, STARTS_ROOM)
}

/// What the runtime calls to execute a task.
#[unsafe(naked)]
unsafe extern "C" fn starts(_: *const Head) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, {room}",
        ".cfi_adjust_cfa_offset {room}",
        "mov rsi, rsp",
        "call {begins}",
        "mov rdi, rdx",
        "call rax",
        "mov rdi, rsp",
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

unsafe extern "C" fn begins(head: *const Head, outer: *mut Outer) -> Call {
    // SAFETY: the head lies before the data or has their address, and `outer` is room on the stack.
    unsafe {
        (*outer).is_recorded = 0;
        let Head { function, data, .. } = *head;
        give_words(head, data);
        if let Some((_own, (runtime, thread))) = begin_call(outer as usize) {
            let Head { noun, parent, group, ticket, ticks, thread: creator, n_written, .. } = *head;
            let (kind, cause) = depend::cause(ticket, Some(Note { thread: creator, ticks }));
            barrier::task_begins(thread, cause);
            let region = enter(thread, site_of_task(runtime, Construct::Task, noun));
            if region != 0 {
                region::because(thread, kind, cause);
            }
            // A detached one is over when somebody says so.
            let ticket = if n_written == 0 { ticket } else { 0 };
            outer.write(Outer { here: *here(), region, is_recorded: 1, parent, group, ticket });
            *here() = Here::of_task((*here()).team, number((*thread).serial));
            if group != 0 {
                (*here()).push_group(group);
            }
        }
        Call { function, data }
    }
}

unsafe extern "C" fn ends(outer: *const Outer) {
    // SAFETY: `begins` has filled it, on this thread.
    unsafe {
        if (*outer).is_recorded == 0 {
            return;
        }
        let thread = existing_thread();
        if !thread.is_null() && process::running().is_some() {
            let _own = Own::begin();
            leave(thread, (*outer).region);
            if (*outer).ticket != 0 {
                depend::ended((*outer).ticket, Note { thread: (*thread).serial, ticks: now(thread) });
            }
            depend::parent_is_over((*here()).task);
            barrier::task_is_over(thread, (*outer).parent, (*outer).group);
            *here() = (*outer).here;
            barrier::task_ended(thread);
            return;
        }
        *here() = (*outer).here;
    }
}

const TASKWAIT: usize = 0;
const GROUP: usize = 1;
const YIELD: usize = 2;

/// What is pending while a thread waits for tasks, and may execute some.
#[repr(C)]
struct Wait {
    region: u32,
    is_recorded: u32,
    place: usize,
    what: u64,
    began: u64,
}

unsafe extern "C" fn before_group(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            (*here()).push_group(number((*thread).serial));
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn before_wait<const KIND: usize>(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let wait = (*frame).room::<Wait>();
        (*wait).is_recorded = 0;
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            let (construct, what) = match KIND {
                GROUP => (Construct::Taskgroup, (*here()).pop_group()),
                YIELD => (Construct::Taskyield, 0),
                _ => (Construct::Taskwait, (*here()).task),
            };
            let region = enter(thread, site_of_call(thread, construct, u32::MAX, (*frame).entry()));
            let began = now(thread);
            barrier::waits(began);
            let tables = tables().filter(|_| what != 0);
            let place = tables.map_or(0, |tables| tables.notes.register(what as usize));
            wait.write(Wait { region, is_recorded: 1, place, what, began });
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after_wait(frame: *mut Frame, _: usize) {
    // SAFETY: `before_wait` has filled the frame.
    unsafe {
        let Wait { region, is_recorded, place, what, began } = (*frame).room::<Wait>().read();
        let thread: *mut Thread = existing_thread();
        if is_recorded == 0 || thread.is_null() || process::running().is_none() {
            return;
        }
        let _own = Own::begin();
        let mut note = None;
        if let Some(tables) = tables().filter(|_| place != 0) {
            tables.notes.unregister(place);
            note = tables.notes.find(what as usize).filter(|note| began <= note.ticks);
        }
        barrier::end_wait(thread, region, u64::MAX, EdgeKind::Join, note);
    }
}
