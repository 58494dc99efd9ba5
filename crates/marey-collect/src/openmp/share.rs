//! Loops whose iterations the runtime hands out, sections, and `single`.
//!
//! The one idea: a loop is open on a thread from where it begins to ask for iterations until it is through; each portion
//! that it gets is a *chunk* in it, and each of sections a *section*. What lies between these is what handing out costs.
//!
//! Deliberately absent: loops with a static schedule, which ask nobody; and how long the body of a `single` takes, which
//! only its beginning calls for.

use marey_measure::{Mode, Runtime, Thread, existing_thread};

use super::here::here;
use super::parallel;
use super::real::{address, name};
use super::region::{Construct, Named, begin_call, enter, leave, site_of_call};
use super::wrapper::{Frame, export, export_long};
use crate::entry::Entry;
use crate::own::local;

macro_rules! loops {
    (start: $($start:ident)*; long: $($long:ident)*; next: $($next:ident)*;) => {
        export! {
            $($start = before_start, after_part::<LOOP>;)*
            $($next = before_next, after_part::<LOOP>;)*
        }
        export_long! {
            $($long = before_start, after_part::<LOOP>;)*
        }
    };
}

loops! {
    start:
    GOMP_loop_static_start GOMP_loop_dynamic_start GOMP_loop_guided_start GOMP_loop_runtime_start
    GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_guided_start GOMP_loop_nonmonotonic_runtime_start
    GOMP_loop_maybe_nonmonotonic_runtime_start GOMP_loop_ordered_static_start GOMP_loop_ordered_dynamic_start
    GOMP_loop_ordered_guided_start GOMP_loop_ordered_runtime_start
    GOMP_loop_doacross_static_start GOMP_loop_doacross_dynamic_start GOMP_loop_doacross_guided_start
    GOMP_loop_doacross_runtime_start
    GOMP_loop_ull_doacross_static_start GOMP_loop_ull_doacross_dynamic_start GOMP_loop_ull_doacross_guided_start
    GOMP_loop_ull_doacross_runtime_start;
    long:
    GOMP_loop_start GOMP_loop_ordered_start GOMP_loop_doacross_start
    GOMP_loop_ull_static_start GOMP_loop_ull_dynamic_start GOMP_loop_ull_guided_start GOMP_loop_ull_runtime_start
    GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_guided_start
    GOMP_loop_ull_nonmonotonic_runtime_start GOMP_loop_ull_maybe_nonmonotonic_runtime_start
    GOMP_loop_ull_ordered_static_start GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_ordered_guided_start
    GOMP_loop_ull_ordered_runtime_start GOMP_loop_ull_start GOMP_loop_ull_ordered_start GOMP_loop_ull_doacross_start;
    next:
    GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
    GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next GOMP_loop_nonmonotonic_runtime_next
    GOMP_loop_maybe_nonmonotonic_runtime_next GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next
    GOMP_loop_ordered_guided_next GOMP_loop_ordered_runtime_next
    GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next
    GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
    GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next
    GOMP_loop_ull_ordered_static_next GOMP_loop_ull_ordered_dynamic_next GOMP_loop_ull_ordered_guided_next
    GOMP_loop_ull_ordered_runtime_next;
}

export! {
    GOMP_sections_start = before_sections, after_part::<SECTIONS>;
    GOMP_sections2_start = before_sections, after_part::<SECTIONS>;
    GOMP_sections_next = before_next, after_part::<SECTIONS>;
    GOMP_single_start = parallel::nothing_before, after_single;
}

const LOOP: usize = 0;
const SECTIONS: usize = 1;

static SCHEDULES: [Named; 5] = [
    Named::new("schedule", "static loop"),
    Named::new("schedule", "dynamic loop"),
    Named::new("schedule", "guided loop"),
    Named::new("schedule", "runtime loop"),
    Named::new("schedule", "auto loop"),
];

/// The schedule of a function, by its name; of one that gets it as an argument, by that.
unsafe fn schedule(index: usize, frame: Option<&Frame>) -> u32 {
    let name = name(index);
    let mut place = ["static", "dynamic", "guided", "runtime"].iter().position(|it| name.contains(it));
    if place.is_none()
        && let Some(frame) = frame
    {
        let at = if name.contains("doacross") { 2 } else { 3 + usize::from(name.contains("_ull_")) };
        // The codes of libgomp; the upper bit says that the order is monotonic, 0 that it is the environment's.
        // SAFETY: the function has so many arguments.
        let code = unsafe { frame.argument(at) } & 0x7fff_ffff;
        place = [3, 0, 1, 2, 4].get(code).copied();
    }
    place.map_or(u32::MAX, |place| SCHEDULES[place].noun())
}

/// Enters the loop or the sections that a parallel region consists of.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
pub(super) unsafe fn begins_combined(runtime: &Runtime, thread: *mut Thread, index: usize) {
    static SECTIONS: Named = Named::new("", "");
    let Some(kind) = parallel::combined(index) else { return };
    // SAFETY: the caller's promise.
    unsafe {
        let site = if kind == "sections" {
            SECTIONS.site(runtime, Construct::Sections)
        } else {
            let place = ["static", "dynamic", "guided", "runtime"].iter().position(|it| kind.contains(it));
            place.and_then(|place| SCHEDULES[place].site(runtime, Construct::Loop))
        };
        ((*here()).shared, (*here()).part, (*here()).open_part) = (enter(thread, site), 0, 0);
    }
}

unsafe extern "C" fn before_start(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            end(thread);
            let noun = schedule(index, Some(&*frame));
            (*here()).shared = enter(thread, site_of_call(thread, Construct::Loop, noun, (*frame).entry()));
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn before_sections(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            end(thread);
            let site = site_of_call(thread, Construct::Sections, u32::MAX, (*frame).entry());
            (*here()).shared = enter(thread, site);
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

/// A portion is over. Nothing here needs anything of the C library.
unsafe extern "C" fn before_next(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the thread's own memory.
    unsafe {
        if (*here()).open_part != 0 {
            end_part(existing_thread());
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe fn end_part(thread: *mut Thread) {
    // SAFETY: the descriptor is the calling thread's.
    unsafe {
        let part = core::mem::take(&mut (*here()).open_part);
        if !thread.is_null() {
            leave(thread, part);
        }
    }
}

/// The thread has got a portion, or there is none left: a function says so by 0.
unsafe extern "C" fn after_part<const KIND: usize>(frame: *mut Frame, _: usize) {
    // SAFETY: the frame is that of the call; a result of loops is one byte.
    unsafe {
        let result = (*frame).result;
        let is_none = if KIND == LOOP { result as u8 == 0 } else { result as u32 == 0 };
        if is_none {
            return;
        }
        let thread = existing_thread();
        // Nearly always it is known already what the portion is recorded as.
        if (*here()).part != 0 && Thread::is_ready(thread) && (*local()).own == 0 {
            let site = (*here()).part - 1;
            if Thread::mode(thread, site) == Mode::Trace {
                marey_measure::enter(thread, site);
                (*here()).open_part = site + 1;
                return;
            }
        }
        begin_part(frame, if KIND == LOOP { Construct::Chunk } else { Construct::Section });
    }
}

#[cold]
unsafe fn begin_part(frame: *mut Frame, part: Construct) {
    // SAFETY: as above.
    unsafe {
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            let site = site_of_call(thread, part, u32::MAX, (*frame).entry());
            (*here()).part = site.map_or(0, |site| site + 1);
            (*here()).open_part = enter(thread, site);
        }
    }
}

/// A portion of the loop or sections that the thread is in begins, and the one before is over.
///
/// # Safety
/// `entry` is that of a call which has not returned, of the calling thread, whose descriptor `thread` is.
pub(super) unsafe fn next_part(thread: *mut Thread, part: Construct, entry: Entry) {
    // SAFETY: the caller's promise.
    unsafe {
        end_part(thread);
        if (*here()).part == 0 {
            (*here()).part = site_of_call(thread, part, u32::MAX, entry).map_or(0, |site| site + 1);
        }
        (*here()).open_part = enter(thread, (*here()).part.checked_sub(1));
    }
}

/// Ends the loop or the sections that the thread is in.
///
/// # Safety
/// `thread` is the calling thread's descriptor.
pub(super) unsafe fn end(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        end_part(thread);
        leave(thread, core::mem::take(&mut (*here()).shared));
        (*here()).part = 0;
    }
}

/// The thread executes a `single`.
unsafe extern "C" fn after_single(frame: *mut Frame, _: usize) {
    // SAFETY: the frame is that of the call.
    unsafe {
        if (*frame).result as u8 == 0 {
            return;
        }
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            let site = site_of_call(thread, Construct::Single, u32::MAX, (*frame).entry());
            leave(thread, enter(thread, site));
        }
    }
}
