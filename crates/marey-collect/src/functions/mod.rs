//! Functions of programs that were compiled with `-finstrument-functions`: each calls us when it is entered and
//! when it is left.
//!
//! The one idea: all that a function tells is its address, and that is looked up in one table of the process,
//! without a lock ([`sites`]). What is not there yet is defined by the module that it lies in ([`learn`]); its
//! name is found when the run is merged, unless rules ask for it earlier ([`names`]).
//!
//! Exceptions and `longjmp` skip leaves. Which visits are over then, their names do not tell: a function may be
//! open many times. So the stack pointer goes with each visit, and a visit whose frame the stack has shrunk past
//! is left at the next thing that happens ([`gone`]).
//!
//! Deliberately absent: where a function was called from, which its call path says; and programs that the
//! recorder is linked into.

mod gone;
mod learn;
mod names;
mod sites;

use marey_measure::{Leaving, Mode, TABLE, Thread, Told, current_thread, existing_thread};

pub(crate) use learn::place_of;
pub(crate) use names::{name_of, object_at};
pub(crate) use sites::forget;

use self::gone::Call;
use crate::own::Own;
use crate::process;
use crate::threads;

unsafe extern "C" {
    static environ: *const *const core::ffi::c_char;
}

/// An address, which is 0 until the loader has relocated the library. A resolver of another one, which it calls
/// before, may be instrumented as well, and would find our tables and thread-local memory at wrong places.
static RELOCATED: &u8 = &0;

/// The instructions of an exported function that hand on the stack pointer, as a third argument; it points to the
/// return address into the function that calls us.
macro_rules! hand_on {
    ($body:path) => {
        core::arch::naked_asm!(
            "cmp qword ptr [rip + {relocated}], 0",
            "je 2f",
            "mov rdx, rsp",
            "jmp {body}",
            "2:",
            "ret",
            relocated = sym RELOCATED,
            body = sym $body,
        )
    };
}

/// Called by each function when it begins, with its address and that which it returns to.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __cyg_profile_func_enter(_function: usize, _caller: usize) {
    hand_on!(entered)
}

/// The same when it ends.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __cyg_profile_func_exit(_function: usize, _caller: usize) {
    hand_on!(left)
}

unsafe extern "C" fn entered(function: usize, caller: usize, sp: usize) {
    let thread = existing_thread();
    // What is rare is a jump out of here, so that nothing need be saved for what comes after a call.
    if thread.is_null() {
        return enter_rarely(function, caller, sp);
    }
    let Some(site) = sites::find_at_once(function) else { return enter_further_on(function, caller, sp) };
    // SAFETY: the descriptor is the calling thread's.
    unsafe { enter_known(thread, Call { function, sp, caller }, site) };
}

/// Enters a function that the search does not find at once.
#[inline(never)]
extern "C" fn enter_further_on(function: usize, caller: usize, sp: usize) {
    let (thread, Some(site)) = (existing_thread(), sites::find(function)) else {
        return enter_rarely(function, caller, sp);
    };
    // SAFETY: the descriptor is the calling thread's, and there is one.
    unsafe { enter_known(thread, Call { function, sp, caller }, site) };
}

/// Enters a function that is not called for the first time.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
#[inline(always)]
unsafe fn enter_known(thread: *mut Thread, call: Call, site: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(place) = Thread::reduced(thread, site) {
            // What is around it may be over and not left yet; that is found out when something is recorded.
            if !marey_measure::tally(thread, site, place) {
                enter_reduced(thread, site, call.function, call.caller, call.sp);
            }
            return;
        }
        if Thread::mode(thread, site) != Mode::Trace || !Thread::is_ready(thread) {
            if !Thread::is_left_out(thread, site) {
                enter_rarely(call.function, call.caller, call.sp);
            }
            return;
        }
        if gone::is_beside_innermost(thread, call) {
            return enter_beside(thread, site, call.function, call.caller, call.sp);
        }
        enter(thread, call, site);
    }
}

/// Enters a function that is reduced and cannot be counted at once: it is timed, or the first one here.
#[cold]
#[inline(never)]
unsafe extern "C" fn enter_reduced(
    thread: *mut Thread,
    site: u32,
    function: usize,
    caller: usize,
    sp: usize,
) {
    let call = Call { function, sp, caller };
    // SAFETY: the caller's promise; entries below `depth` are filled.
    unsafe {
        gone::leave_all(thread, call);
        match marey_measure::visit(thread, site) {
            Told::Counted => {}
            Told::Not => enter_rarely(function, caller, sp),
            Told::Open => {
                let innermost = (*thread).depth - 1;
                (*(*thread).stack.add(innermost as usize)).reserved = call.mark();
                *Thread::frame(thread, innermost) = call.frame();
                let leaving = Leaving { function: __cyg_profile_func_exit, arguments: [function, caller] };
                let open = (*thread).stack.add(innermost as usize);
                // Each leave is to be the one of this visit.
                marey_measure::learn_cost(thread, leaving, |sp| (*open).reserved = gone::mark(sp));
                (*open).reserved = call.mark();
                marey_measure::begin_timing(thread);
            }
        }
    }
}

/// Enters a function on a thread that is ready.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
#[inline(always)]
unsafe fn enter(thread: *mut Thread, call: Call, site: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let depth = (*thread).depth;
        if depth < (*thread).max_depth {
            *Thread::frame(thread, depth) = call.frame();
        }
        marey_measure::enter_marked(thread, site, call.mark());
    }
}

/// The same where the innermost open region is over, or shares its frame with the function.
#[inline(never)]
unsafe extern "C" fn enter_beside(thread: *mut Thread, site: u32, function: usize, caller: usize, sp: usize) {
    let call = Call { function, sp, caller };
    // SAFETY: the caller's promise.
    unsafe {
        gone::leave_all(thread, call);
        enter(thread, call, site);
    }
}

unsafe extern "C" fn left(function: usize, caller: usize, sp: usize) {
    let thread = existing_thread();
    if thread.is_null() {
        return;
    }
    // SAFETY: the descriptor is the calling thread's, and the return address lies at the stack pointer.
    unsafe {
        // A function that jumps to us as the last thing it does has given its frame up; that of whoever has
        // called it may end where the stack pointer stands.
        let sp = if *(sp as *const usize) == caller { sp - 8 } else { sp };
        // First this: whatever comes before it is taken for the function's own time.
        if (*thread).timing != 0 && gone::is_innermost(thread, function, sp) {
            marey_measure::end_timing(thread);
            if marey_measure::is_learning(thread) {
                return;
            }
        }
        if gone::is_plain(thread, function, sp) {
            return marey_measure::leave(thread);
        }
        // Nearly all visits of a function that is reduced were not entered, and end here.
        if gone::is_inside_innermost(thread, sp)
            && let Some(site) = sites::find_at_once(function)
            && Thread::is_reduced(thread, site)
            && !marey_measure::is_open_beside(thread, site)
        {
            return;
        }
        leave_rarely(thread, function, sp);
    }
}

/// Enters a function that is called for the first time, by this thread or at all, that rules are for, or that
/// comes in the middle of something else.
#[cold]
#[inline(never)]
extern "C" fn enter_rarely(function: usize, caller: usize, sp: usize) {
    let call = Call { function, sp, caller };
    let mut thread = existing_thread();
    let mut site = sites::find(function);
    if thread.is_null() || site.is_none() {
        (thread, site) = begin(function);
    }
    if thread.is_null() {
        return;
    }
    // SAFETY: the descriptor is the calling thread's; entries below `depth` are filled.
    unsafe {
        let Some(site) = site else { return marey_measure::count_unrecorded(thread) };
        gone::leave_all(thread, call);
        let before = (*thread).depth;
        if (TABLE.enter)(thread, site) == 1 && before < (*thread).depth {
            let innermost = (*thread).depth - 1;
            let open = (*thread).stack.add(innermost as usize);
            if (*open).site == site {
                (*open).reserved = call.mark();
                *Thread::frame(thread, innermost) = call.frame();
            }
        }
    }
}

/// The calling thread's descriptor, null if it cannot be recorded, and the function's site. A call is one that
/// the process is recorded for.
fn begin(function: usize) -> (*mut Thread, Option<u32>) {
    // It may come from anywhere: `errno` and cancellation are the program's.
    let _own = Own::begin();
    // A resolver of the program is called before there is an environment to tell whether to record.
    // SAFETY: reads a pointer of the C library's.
    let has_environment = unsafe { !environ.is_null() };
    let Some(runtime) = has_environment.then(process::runtime_for_mpi).flatten() else {
        return (core::ptr::null_mut(), None);
    };
    let mut thread = existing_thread();
    if thread.is_null() && !threads::is_hidden() {
        thread = current_thread();
    }
    if thread.is_null() && (threads::has_ended() || !threads::is_hidden()) {
        // It is entered and left.
        marey_measure::count_homeless(2);
    }
    (thread, sites::find(function).or_else(|| learn::site(runtime, function)))
}

/// Leaves a function of which the innermost open region is none, or not the one that is meant.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
#[cold]
#[inline(never)]
unsafe fn leave_rarely(thread: *mut Thread, function: usize, sp: usize) {
    // What was never entered is not left either.
    let Some(site) = sites::find(function) else { return };
    // SAFETY: the caller's promise.
    unsafe {
        if !Thread::is_left_out(thread, site)
            && !gone::leave_through(thread, site, sp)
            && (!Thread::is_reduced(thread, site) || marey_measure::is_open_beside(thread, site))
        {
            marey_measure::leave_site(thread, site);
        }
    }
}
