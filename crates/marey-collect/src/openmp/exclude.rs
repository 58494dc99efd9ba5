//! What one thread at a time can have: critical sections, atomic ones, the turn in an ordered loop, locks.
//!
//! The one idea: the time that a thread has it is one region, and the time that it waits for it another one, which is
//! there only where somebody else has it; that ends when the other one gives it back, who leaves a note then if anybody
//! waits.
//!
//! A lock may be given back anywhere, so of locks only the waits are recorded; those that were free are counted.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use marey_measure::{Thread, count_free_lock, existing_thread};
use marey_model::EdgeKind;

use super::IS_ACTIVE;
use super::here::here;
use super::real::{Function, address};
use super::region::{Construct, begin_call, enter, leave, leave_because, site_of_call};
use super::tables::{Tables, tables};
use super::wrapper::{Frame, export, export_lock, export_long, nothing};
use crate::functions;
use crate::own::{Own, local};
use crate::process;
use crate::site;
use crate::threads::Note;

export! {
    GOMP_critical_start = before::<CRITICAL>, after::<CRITICAL>;
    GOMP_critical_end = before_end::<CRITICAL>, nothing;
    GOMP_critical_name_start = before::<NAMED>, after::<NAMED>;
    GOMP_critical_name_end = before_end::<NAMED>, nothing;
    GOMP_atomic_start = before::<ATOMIC>, after::<ATOMIC>;
    GOMP_atomic_end = before_end::<ATOMIC>, nothing;
    GOMP_ordered_start = before::<ORDERED>, after::<ORDERED>;
    GOMP_ordered_end = before_end::<ORDERED>, nothing;
    omp_unset_lock = before_unlock, nothing;
    omp_unset_lock_ = before_unlock, nothing;
    omp_set_nest_lock = before_lock::<NESTS>, after_lock;
    omp_set_nest_lock_ = before_lock::<NESTS_OF_FORTRAN>, after_lock;
    omp_unset_nest_lock = before_unlock, nothing;
    omp_unset_nest_lock_ = before_unlock, nothing;
}

export_lock! {
    omp_set_lock = before_lock::<SIMPLE>, after_lock;
    omp_set_lock_ = before_lock::<SIMPLE>, after_lock;
}

// A word for each dimension of `ordered(n)`: twelve are more than nests of loops have.
export_long! {
    GOMP_doacross_wait = before::<DOACROSS>, after::<DOACROSS>;
    GOMP_doacross_ull_wait = before::<DOACROSS>, after::<DOACROSS>;
}

const CRITICAL: usize = 0;
const NAMED: usize = 1;
const ATOMIC: usize = 2;
const ORDERED: usize = 3;
/// A wait for an earlier iteration, after which nothing is had.
const DOACROSS: usize = 4;

/// Locks, those that nest, and those that nest of Fortran: of these a program has a pointer to the lock, and others the lock.
const SIMPLE: usize = 0;
const NESTS: usize = 1;
const NESTS_OF_FORTRAN: usize = 2;

/// What is pending while a thread waits.
#[derive(Clone, Copy)]
#[repr(C)]
struct Wait {
    region: u32,
    is_recorded: u32,
    /// The place of the note, see [`crate::threads::Notes::register`]; 0 for none.
    place: usize,
    what: usize,
    noun: u32,
    /// When the wait began; a note from before is somebody else's.
    began: u64,
}

impl Wait {
    const NONE: Self = Self { region: 0, is_recorded: 0, place: 0, what: 0, noun: u32::MAX, began: 0 };

    /// Begins to wait for `what`.
    unsafe fn begin(&mut self, tables: &Tables, thread: *mut Thread, construct: Construct, frame: &Frame) {
        // SAFETY: the frame is that of a call of the calling thread, which is under way.
        unsafe {
            self.region = enter(thread, site_of_call(thread, construct, self.noun, frame.entry()));
            self.began = marey_measure::now(thread);
        }
        self.place = tables.notes.register(self.what);
    }

    /// Ends the wait, if there was one.
    unsafe fn end(self, tables: &Tables, thread: *mut Thread, kind: EdgeKind) {
        if self.place == 0 {
            return;
        }
        tables.notes.unregister(self.place);
        let note = tables.notes.find(self.what).filter(|note| self.began <= note.ticks);
        // SAFETY: the descriptor is the calling thread's.
        unsafe { leave_because(thread, self.region, u64::MAX, kind, note) };
    }
}

/// What a thread waits for: an address, or a number that none is.
unsafe fn what<const KIND: usize>(frame: &Frame) -> usize {
    // SAFETY: the thread's own memory.
    let team = || unsafe { (*here()).team }.map_or(0, |team| core::ptr::from_ref(team.team) as usize);
    match KIND {
        NAMED => frame.args[0],
        ORDERED => team(),
        DOACROSS => team() + 4,
        // Of these there is one each in the process.
        CRITICAL => 4,
        _ => 8,
    }
}

/// The noun of a named critical section, by the variable that it is the lock of.
fn named(runtime: &marey_measure::Runtime, variable: usize) -> u32 {
    use core::sync::atomic::AtomicU64;
    // Of an address the noun, which is below 65536: names are looked up once.
    static SEEN: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
    let place = &SEEN[(variable >> 3) % 64];
    let seen = place.load(Ordering::Relaxed);
    if seen >> 16 == variable as u64 {
        return (seen & 0xffff) as u32;
    }
    let at = functions::place_of(runtime, variable);
    let symbol = functions::object_at(at.module, at.vaddr);
    let name = symbol.as_deref().map_or(at.name.as_str(), |symbol| {
        // `.gomp_critical_user_x` of both compilers, with `.var` behind it by one of them, `&` in C++.
        let name = symbol.trim_start_matches('.').trim_start_matches("gomp_critical_user_");
        name.trim_start_matches('&').trim_end_matches(".var")
    });
    // As it is written: where a path names only the noun, it says what it is.
    let noun = site::noun("critical", &format!("critical({name})"));
    if noun < 1 << 16 {
        place.store((variable as u64) << 16 | u64::from(noun), Ordering::Relaxed);
    }
    noun
}

unsafe extern "C" fn before<const KIND: usize>(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let wait = (*frame).room::<Wait>();
        wait.write(Wait::NONE);
        if let Some(tables) = tables()
            && let Some((_own, (runtime, thread))) = begin_call((*frame).sp)
        {
            let noun = if KIND == NAMED { named(runtime, (*frame).args[0]) } else { u32::MAX };
            *wait = Wait { is_recorded: 1, what: what::<KIND>(&*frame), noun, ..Wait::NONE };
            match KIND {
                ORDERED | DOACROSS => (*wait).begin(tables, thread, Construct::OrderedWait, &*frame),
                _ if tables.wants((*wait).what) => {
                    let construct =
                        if KIND == ATOMIC { Construct::AtomicWait } else { Construct::CriticalWait };
                    (*wait).begin(tables, thread, construct, &*frame);
                }
                _ => {}
            }
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after<const KIND: usize>(frame: *mut Frame, _: usize) {
    // SAFETY: `before` has filled the frame.
    unsafe {
        let wait = *(*frame).room::<Wait>();
        let thread = existing_thread();
        if wait.is_recorded == 0 || thread.is_null() || process::running().is_none() {
            return;
        }
        let Some(tables) = tables() else { return };
        let _own = Own::begin();
        let is_turn = KIND == ORDERED || KIND == DOACROSS;
        wait.end(tables, thread, if is_turn { EdgeKind::Wake } else { EdgeKind::LockHandOver });
        let construct = match KIND {
            DOACROSS => return,
            ORDERED => Construct::Ordered,
            ATOMIC => Construct::Atomic,
            _ => Construct::Critical,
        };
        // What could not be left as it should is not entered either.
        let site =
            site_of_call(thread, construct, wait.noun, (*frame).entry()).filter(|_| (*here()).can_hold());
        let region = enter(thread, site);
        (*here()).push_held(region);
    }
}

unsafe extern "C" fn before_end<const KIND: usize>(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        if let Some(tables) = tables()
            && let Some((_own, (_, thread))) = begin_call((*frame).sp)
        {
            leave(thread, (*here()).pop_held());
            let what = what::<KIND>(&*frame);
            if tables.notes.is_awaited(what) {
                tables
                    .notes
                    .leave(what, Note { thread: (*thread).serial, ticks: marey_measure::now(thread) });
            }
            if KIND != ORDERED {
                tables.gives_back(what);
            }
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

/// In place of a real function that need not be called any more.
extern "C" fn done() {}

/// A lock is tried first. If it was free, that is all.
unsafe extern "C" fn before_lock<const KIND: usize>(frame: *mut Frame, index: usize) -> usize {
    let tries = match KIND {
        NESTS_OF_FORTRAN => Function::omp_test_nest_lock_,
        NESTS => Function::omp_test_nest_lock,
        _ => Function::omp_test_lock,
    };
    // SAFETY: the frame is that of the call, which is under way, of a lock of the program's.
    unsafe {
        let wait = (*frame).room::<Wait>();
        wait.write(Wait::NONE);
        let is_looked_at = IS_ACTIVE.load(Ordering::Relaxed) && (*local()).own == 0;
        let Some(tables) = tables().filter(|_| is_looked_at) else { return address(index, frame) };
        let try_it: unsafe extern "C" fn(usize) -> c_int =
            core::mem::transmute(address(tries as usize, frame));
        if try_it((*frame).args[0]) != 0 {
            let thread = existing_thread();
            if !thread.is_null() {
                count_free_lock(thread);
            }
            return done as *const () as usize;
        }
        if let Some((_own, (_, thread))) = begin_call((*frame).sp) {
            *wait = Wait { is_recorded: 1, what: (*frame).args[0], ..Wait::NONE };
            (*wait).begin(tables, thread, Construct::Lock, &*frame);
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after_lock(frame: *mut Frame, _: usize) {
    // SAFETY: `before_lock` has filled the frame.
    unsafe {
        let wait = *(*frame).room::<Wait>();
        let thread = existing_thread();
        if wait.is_recorded != 0
            && let (Some(tables), false) = (tables(), thread.is_null())
        {
            let _own = Own::begin();
            wait.end(tables, thread, EdgeKind::LockHandOver);
        }
    }
}

unsafe extern "C" fn before_unlock(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the frame is that of the call.
    unsafe {
        let (lock, thread) = ((*frame).args[0], existing_thread());
        if let Some(tables) = tables()
            && IS_ACTIVE.load(Ordering::Relaxed)
            && tables.notes.is_awaited(lock)
            && !thread.is_null()
            && process::running().is_some()
        {
            tables.notes.leave(lock, Note { thread: (*thread).serial, ticks: marey_measure::now(thread) });
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}
