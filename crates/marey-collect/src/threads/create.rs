//! Threads from their creation to whoever joins them.
//!
//! The one idea: who created a thread, and when, travels with its argument to its first instruction, so
//! the thread's first record has its edge; when it ends it says so in a table, where whoever joins it
//! looks. The handle alone would not do: the C library gives it out again.
//!
//! Threads of MPI's own are passed on and never become locations.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::Ordering;

use marey_measure::{Cause, begin_because, created_thread, existing_thread, sys};
use marey_model::EdgeKind;
use marey_model::spool::Definition;

use super::interval::{Interval, is_watched};
use super::real::{Frame, Function, address, call, export, export_cancellable};
use super::table::{Note, Tables, tables};
use crate::entry::Entry;
use crate::own::{Own, local};
use crate::process;

export! {
    pthread_create = create_posix;
    thrd_create = create_c11;
    pthread_tryjoin_np = try_join;
    pthread_setname_np = set_name;
}

export_cancellable! {
    pthread_join = before_join::<{ Function::pthread_join as usize }>, after_join;
    pthread_timedjoin_np = before_join::<{ Function::pthread_timedjoin_np as usize }>, after_join;
    pthread_clockjoin_np = before_join::<{ Function::pthread_clockjoin_np as usize }>, after_join;
    thrd_join = before_join::<{ Function::thrd_join as usize }>, after_join;
}

/// What a new thread has to do first and then.
struct Start {
    routine: usize,
    argument: usize,
    /// Number of the creating thread and when it began to create; `None` for a thread of MPI's.
    creation: Option<Note>,
}

/// The routine and its argument, as two words in registers.
#[repr(C)]
struct Routine {
    routine: usize,
    argument: usize,
}

/// Where new threads start. It jumps to their routine, so that no frame of ours is ever on their
/// stacks: exceptions, `pthread_exit` and backtraces find what they would find without us.
#[unsafe(naked)]
unsafe extern "C" fn starts(_: *mut Start) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {begin}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "mov rdi, rdx",
        "jmp rax",
        ".cfi_endproc",
        begin = sym begins,
    )
}

unsafe extern "C" fn begins(start: *mut Start) -> Routine {
    let _own = Own::begin();
    // SAFETY: the block was made for this thread alone.
    let start = unsafe { Box::from_raw(start) };
    // SAFETY: asks who we are.
    let me = unsafe { libc::pthread_self() } as usize;
    match (tables(), start.creation) {
        (Some(tables), Some(creation)) => first_instant(tables, me, creation),
        (tables, None) => {
            if let Some(tables) = tables
                && let Some(old) = tables.threads.find(me)
            {
                tables.threads.remove(me, old);
            }
            // SAFETY: the thread's own memory.
            unsafe { (*local()).hidden = 1 };
        }
        (None, Some(_)) => {}
    }
    Routine { routine: start.routine, argument: start.argument }
}

/// Makes the calling thread a location, created by another.
fn first_instant(tables: &Tables, me: usize, creation: Note) {
    let Some(runtime) = process::running() else { return };
    let name = sys::thread_name();
    let thread = created_thread(Some(creation.thread));
    if thread.is_null() {
        return;
    }
    // SAFETY: the descriptor is the calling thread's, and nothing else has been recorded on it.
    unsafe {
        let (serial, begin) = ((*thread).serial, (*thread).last);
        let cause = Cause { kind: EdgeKind::Create, thread: creation.thread, ticks: creation.ticks, noun: 0 };
        begin_because(thread, cause);
        tables.births.of(serial, |birth| {
            birth.begin.store(begin, Ordering::Relaxed);
            birth.os_thread.store(sys::thread_id(), Ordering::Relaxed);
            birth.creator.store(creation.thread, Ordering::Relaxed);
        });
        tables.threads.insert(me, serial);
        // Whoever named us before we were in the table could not know our number.
        let named = sys::thread_name();
        if named != name {
            runtime.define_thread(thread, &text(&named));
        }
    }
    super::prime(runtime);
}

fn text(name: &[u8]) -> String {
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..len]).into_owned()
}

unsafe extern "C-unwind" fn create_posix(
    handle: usize,
    attributes: usize,
    routine: usize,
    argument: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    const CREATE: usize = Function::pthread_create as usize;
    // SAFETY: the program's own arguments, or ours in place of the routine and its argument.
    unsafe {
        create(CREATE, Entry { sp, bp }, Routine { routine, argument }, |routine, argument| {
            call(CREATE, [handle, attributes, routine, argument])
        })
    }
}

unsafe extern "C-unwind" fn create_c11(
    handle: usize,
    routine: usize,
    argument: usize,
    d: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    const CREATE: usize = Function::thrd_create as usize;
    // SAFETY: as above.
    unsafe {
        create(CREATE, Entry { sp, bp }, Routine { routine, argument }, |routine, argument| {
            call(CREATE, [handle, routine, argument, d])
        })
    }
}

unsafe fn create(
    function: usize,
    entry: Entry,
    Routine { routine, argument }: Routine,
    create: impl FnOnce(usize, usize) -> c_int,
) -> c_int {
    // SAFETY: the thread's own memory; the call is under way; a block that no thread got is ours.
    unsafe {
        if process::running().is_none() || (*local()).own != 0 {
            return create(routine, argument);
        }
        let hidden = !is_watched(entry.sp) || (*local()).hidden != 0;
        // Even where threads are left out, those of MPI are not to become locations by other calls.
        if tables().is_none() && !hidden {
            return create(routine, argument);
        }
        let own = Own::begin();
        let open = if hidden { None } else { Interval::open(function, entry) };
        let creation = open.as_ref().map(|open| Note { thread: (*open.thread).serial, ticks: open.began });
        let start = Box::into_raw(Box::new(Start { routine, argument, creation }));
        drop(own);
        let result = create(starts as *const () as usize, start as usize);
        let _own = Own::begin();
        if result != 0 {
            drop(Box::from_raw(start));
        }
        if let Some(open) = open {
            open.finish(EdgeKind::Create, None, 0);
        }
        result
    }
}

/// What is pending during a join: the interval, the handle, and the thread that it seemed to be.
type Pending = Option<(Interval, usize, Option<u32>)>;
const _: () = assert!(size_of::<Pending>() <= 64);

unsafe extern "C" fn before_join<const JOIN: usize>(frame: *mut Frame) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let Frame { sp, bp, args, .. } = *frame;
        let mut pending: Pending = None;
        if tables().is_some() && is_watched(sp) {
            let _own = Own::begin();
            pending = Interval::open(JOIN, Entry { sp, bp }).map(|open| {
                let before = open.tables.threads.find(args[0]);
                (open, args[0], before)
            });
        }
        (*frame).pending.as_mut_ptr().cast::<Pending>().write(pending);
    }
    address(JOIN)
}

unsafe extern "C" fn after_join(frame: *mut Frame) {
    // SAFETY: `before_join` has filled it, and the result stands where the first argument was.
    unsafe {
        if let Some((open, handle, before)) = (*frame).pending.as_ptr().cast::<Pending>().read() {
            let _own = Own::begin();
            joined(open, handle, before, (*frame).args[0] as c_int);
        }
    }
}

/// A try does not wait; only one that succeeded is recorded, for the sake of its edge.
unsafe extern "C-unwind" fn try_join(
    handle: usize,
    b: usize,
    c: usize,
    d: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    const JOIN: usize = Function::pthread_tryjoin_np as usize;
    // SAFETY: as in `join`.
    unsafe {
        let before = tables().and_then(|tables| tables.threads.find(handle));
        let result = call(JOIN, [handle, b, c, d]);
        if result == 0 && tables().is_some() && is_watched(sp) {
            let _own = Own::begin();
            if let Some(open) = Interval::open(JOIN, Entry { sp, bp }) {
                joined(open, handle, before, result);
            }
        }
        result
    }
}

/// Ends a join. The thread may have entered the table only while we waited; and a new one may have
/// got the handle since: that one began after the join.
unsafe fn joined(open: Interval, handle: usize, before: Option<u32>, result: c_int) {
    let (now, tables) = (open.runtime.ticks(), open.tables);
    let ended = |serial: u32| {
        let times = |birth: &super::table::Birth| {
            (birth.begin.load(Ordering::Acquire), birth.end.load(Ordering::Acquire))
        };
        let (begin, end) = tables.births.of(serial, times)?;
        (end != 0 && begin < now).then_some(Note { thread: serial, ticks: end })
    };
    let note = (result == 0)
        .then(|| tables.threads.find(handle).and_then(ended).or_else(|| before.and_then(ended)))
        .flatten();
    if let Some(note) = note {
        tables.threads.remove(handle, note.thread);
    }
    // SAFETY: the caller's promise.
    unsafe { open.finish(EdgeKind::Join, note, 0) };
}

unsafe extern "C-unwind" fn set_name(handle: usize, name: usize, c: usize, d: usize) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let result = call(Function::pthread_setname_np as usize, [handle, name, c, d]);
        if let (0, Some(tables)) = (result, tables()) {
            let _own = Own::begin();
            named(tables, handle, CStr::from_ptr(name as *const c_char).to_bytes());
        }
        result
    }
}

fn named(tables: &Tables, handle: usize, name: &[u8]) {
    let (Some(runtime), thread) = (process::running(), existing_thread()) else { return };
    // SAFETY: the descriptor is the calling thread's.
    unsafe {
        if libc::pthread_self() as usize == handle {
            if !thread.is_null() {
                runtime.define_thread(thread, &text(name));
            }
            return;
        }
    }
    let Some(serial) = tables.threads.find(handle) else { return };
    let definition = tables.births.of(serial, |birth| Definition::Thread {
        serial,
        os_thread: birth.os_thread.load(Ordering::Relaxed),
        name: text(name),
        ticks: birth.begin.load(Ordering::Relaxed),
        creator: Some(birth.creator.load(Ordering::Relaxed)),
    });
    if let Some(definition) = definition {
        runtime.define(|definitions| definitions.define(&definition));
    }
}
