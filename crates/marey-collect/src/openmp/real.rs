//! Whom a call is passed on to: the next function of its name, or where there is none that of the runtime library which the
//! caller has loaded with itself.
//!
//! The one idea: it is looked up by the first call of each, for a program may load its runtime at any time. A program
//! without one may ask whether there is such a function, and find ours: it gets the answers of a serial runtime.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering, fence};

use marey_measure::Lock;

use super::tables::tables;
use super::wrapper::Frame;
use super::{library, ompt, parallel, task};
use crate::next::next;
use crate::variable::thread_variable;

macro_rules! functions {
    ($($name:ident)*) => {
        /// The functions that are passed on, and those that we call ourselves.
        #[expect(non_camel_case_types, reason = "the names are those of the functions")]
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub(super) enum Function { $($name,)* }

        const NAMES: &[&str] = &[$(concat!(stringify!($name), "\0"),)*];
    };
}

functions! {
    GOMP_parallel GOMP_parallel_reductions GOMP_parallel_sections
    GOMP_parallel_loop_static GOMP_parallel_loop_dynamic GOMP_parallel_loop_guided GOMP_parallel_loop_runtime
    GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided
    GOMP_parallel_loop_nonmonotonic_runtime GOMP_parallel_loop_maybe_nonmonotonic_runtime
    GOMP_teams_reg GOMP_barrier GOMP_barrier_cancel GOMP_cancel
    GOMP_loop_static_start GOMP_loop_dynamic_start GOMP_loop_guided_start GOMP_loop_runtime_start
    GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_guided_start GOMP_loop_nonmonotonic_runtime_start
    GOMP_loop_maybe_nonmonotonic_runtime_start GOMP_loop_ordered_static_start GOMP_loop_ordered_dynamic_start
    GOMP_loop_ordered_guided_start GOMP_loop_ordered_runtime_start GOMP_loop_start GOMP_loop_ordered_start
    GOMP_loop_doacross_static_start GOMP_loop_doacross_dynamic_start GOMP_loop_doacross_guided_start
    GOMP_loop_doacross_runtime_start GOMP_loop_doacross_start
    GOMP_loop_ull_static_start GOMP_loop_ull_dynamic_start GOMP_loop_ull_guided_start GOMP_loop_ull_runtime_start
    GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_guided_start
    GOMP_loop_ull_nonmonotonic_runtime_start GOMP_loop_ull_maybe_nonmonotonic_runtime_start
    GOMP_loop_ull_ordered_static_start GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_ordered_guided_start
    GOMP_loop_ull_ordered_runtime_start GOMP_loop_ull_start GOMP_loop_ull_ordered_start
    GOMP_loop_ull_doacross_static_start GOMP_loop_ull_doacross_dynamic_start GOMP_loop_ull_doacross_guided_start
    GOMP_loop_ull_doacross_runtime_start GOMP_loop_ull_doacross_start
    GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
    GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next GOMP_loop_nonmonotonic_runtime_next
    GOMP_loop_maybe_nonmonotonic_runtime_next GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next
    GOMP_loop_ordered_guided_next GOMP_loop_ordered_runtime_next
    GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next
    GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
    GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next
    GOMP_loop_ull_ordered_static_next GOMP_loop_ull_ordered_dynamic_next GOMP_loop_ull_ordered_guided_next
    GOMP_loop_ull_ordered_runtime_next
    GOMP_loop_end GOMP_loop_end_nowait GOMP_loop_end_cancel
    GOMP_sections_start GOMP_sections2_start GOMP_sections_next GOMP_sections_end GOMP_sections_end_nowait
    GOMP_sections_end_cancel GOMP_single_start GOMP_single_copy_start GOMP_single_copy_end
    GOMP_critical_start GOMP_critical_end GOMP_critical_name_start GOMP_critical_name_end
    GOMP_atomic_start GOMP_atomic_end GOMP_ordered_start GOMP_ordered_end GOMP_doacross_wait GOMP_doacross_ull_wait
    GOMP_task GOMP_taskloop GOMP_taskloop_ull GOMP_taskwait GOMP_taskwait_depend GOMP_taskyield
    GOMP_taskgroup_start GOMP_taskgroup_end
    GOMP_target_ext GOMP_target_data_ext GOMP_target_end_data GOMP_target_update_ext GOMP_target_enter_exit_data
    omp_set_lock omp_set_lock_ omp_unset_lock omp_unset_lock_
    omp_set_nest_lock omp_set_nest_lock_ omp_unset_nest_lock omp_unset_nest_lock_
    omp_test_lock omp_test_nest_lock omp_test_nest_lock_
}

/// Addresses of the next functions of these names; 0 before they are known.
pub(super) static REAL: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

/// Where the libraries begin that they lie in; 0 = it is not known.
static LIBRARIES: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

thread_variable! {
    /// The library that the calling thread's last call to one that is loaded privately was passed on to; 0 for none. It may have
    /// been closed since: what is found by it is a function of whatever lies there now, or none.
    fn last -> usize; "marey_openmp_last", 8 bytes, aligned 3
}

/// The address that a call is passed on to if its runtime tells of its constructs; 0 = it is to be looked at.
///
/// # Safety
/// The frame is that of the call, which is under way.
pub(super) unsafe extern "C" fn told(frame: *mut Frame, index: usize) -> usize {
    let known = REAL[index].load(Ordering::Acquire);
    // Most programs have one runtime, of gcc's.
    if known != 0 && !ompt::tells() {
        return 0;
    }
    let (real, library) = match known {
        // SAFETY: the caller's promise.
        0 => resolve(index, unsafe { caller_at((*frame).sp) }),
        known => (known, LIBRARIES[index].load(Ordering::Relaxed)),
    };
    if ompt::tells_of(library) { real } else { 0 }
}

/// The address of the function that a call is passed on to.
///
/// # Safety
/// The frame is that of the call, which is under way.
#[inline(always)]
pub(super) unsafe fn address(index: usize, frame: *const Frame) -> usize {
    match REAL[index].load(Ordering::Relaxed) {
        // SAFETY: the caller's promise.
        0 => resolve(index, unsafe { caller_at((*frame).sp) }).0,
        address => address,
    }
}

/// The function's name, without the zero byte behind it.
pub(super) fn name(index: usize) -> &'static str {
    NAMES[index].trim_end_matches('\0')
}

/// Where a call whose return address lies at `sp` comes from. The body of a region or a task may have called for its last deed,
/// and returns to us then, who say who has called us.
///
/// # Safety
/// There is a call of which that is true.
#[inline(always)]
unsafe fn caller_at(sp: usize) -> usize {
    // SAFETY: the caller's promise; our frames have these sizes.
    unsafe {
        let caller = *(sp as *const usize);
        let ours = [parallel::starts_at(), task::starts_at()];
        match ours.into_iter().find(|(function, _)| caller.wrapping_sub(*function) < STARTS_LEN) {
            Some((_, room)) => *((sp + 8 + room) as *const usize),
            None => caller,
        }
    }
}

/// The functions that bodies return to are no longer than this.
const STARTS_LEN: usize = 48;

/// The function, and where the library begins that it lies in; 0 if it lies in none.
///
/// Calls of runtimes that are loaded privately come here each time, twice if they are looked at: what was found is a few loads
/// away then.
fn resolve(index: usize, caller: usize) -> (usize, usize) {
    let found = match private(index, caller) {
        Some(found) => Found::Private(found),
        None => look_up(index, caller),
    };
    let found = match found {
        Found::ByName(found) => return found,
        Found::Private(found) if found.0 != 0 => Some(found),
        // Who calls for its last deed returns to where its caller is, which may be a library that knows nothing of OpenMP: such
        // a call is of the runtime that the thread has called last.
        Found::Private(_) => as_last(index).or_else(|| in_any_runtime(index)),
        Found::Nowhere => {
            let found = as_last(index).or_else(|| in_any_runtime(index));
            if found.is_some() {
                keep_private(index, caller, (0, 0));
            }
            found
        }
    };
    let Some(found) = found else { return (serial(index), 0) };
    // SAFETY: the thread's own memory.
    unsafe { *last() = found.1 };
    found
}

/// A function, and where its library begins.
enum Found {
    /// For all that call it.
    ByName((usize, usize)),
    /// For a caller. 0 = it is known that nothing is found from there.
    Private((usize, usize)),
    Nowhere,
}

/// What can be found by name, which is kept for all; else what the library of the caller has.
#[cold]
fn look_up(index: usize, caller: usize) -> Found {
    let Ok(name) = CStr::from_bytes_with_nul(NAMES[index].as_bytes()) else { return Found::Nowhere };
    let found = next(name);
    if found != 0 {
        let library = learn(found);
        LIBRARIES[index].store(library, Ordering::Relaxed);
        REAL[index].store(found, Ordering::Release);
        return Found::ByName((found, library));
    }
    let found = library::in_library_of(caller, name);
    if found == 0 {
        return Found::Nowhere;
    }
    let found = (found, learn(found));
    keep_private(index, caller, found);
    Found::Private(found)
}

/// The function of the runtime that the calling thread has called last.
fn as_last(index: usize) -> Option<(usize, usize)> {
    // SAFETY: the thread's own memory.
    let library = unsafe { *last() };
    if library == 0 {
        return None;
    }
    // No call returns to where a library begins.
    if let Some(found) = private(index, library) {
        return Some(found);
    }
    let name = CStr::from_bytes_with_nul(NAMES[index].as_bytes()).ok()?;
    let found = library::in_library_of(library, name);
    if found == 0 {
        return None;
    }
    let found = (found, learn(found));
    keep_private(index, library, found);
    Some(found)
}

/// The library of a function that calls are passed on to; 0 for none.
fn learn(function: usize) -> usize {
    let Some(library) = library::of(function) else { return 0 };
    // A runtime of LLVM's tells of its constructs, but only once it has begun. That of gcc is not even asked: what it does not
    // have would be an error of the loader's, which a program may ask for.
    if tables().is_some() && !ompt::has_begun(library.begin) {
        let begin = match library.is_of_gcc() || library::in_library(library.path, c"__kmpc_fork_call") == 0 {
            true => 0,
            false => library::in_library(library.path, c"omp_get_max_threads"),
        };
        if begin != 0 {
            // SAFETY: the function of this name has this type, and whoever calls for a construct would have it begin now.
            unsafe { core::mem::transmute::<usize, unsafe extern "C" fn() -> core::ffi::c_int>(begin)() };
        }
        ompt::begins(library.begin);
    }
    if !ompt::is_known(library.begin) {
        ompt::passed_on_to(library.begin);
    }
    library.begin
}

/// Functions of runtime libraries that cannot be reached by name from here, by their numbers and who calls them: Python,
/// say, loads such libraries privately. There may be several, and whoever calls one must not get another's, whose threads
/// it knows nothing of.
static PRIVATE: Lock<()> = Lock::new(());
static CALLERS: [Caller; 1024] = [const {
    Caller {
        version: AtomicUsize::new(0),
        key: AtomicUsize::new(0),
        address: AtomicUsize::new(0),
        library: AtomicUsize::new(0),
    }
}; 1024];

struct Caller {
    /// Odd while it is written, and never the same again.
    version: AtomicUsize,
    /// Where it is called from, or where a library begins, with the number of the function in the upper bits; 0 for none.
    key: AtomicUsize,
    /// 0 = nothing is found from there.
    address: AtomicUsize,
    library: AtomicUsize,
}

fn key(index: usize, caller: usize) -> (usize, &'static Caller) {
    let key = caller ^ (index + 1) << 48;
    (key, &CALLERS[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) % CALLERS.len()])
}

/// The function, and the library that it lies in. `None` if that is not kept, or is just being written.
fn private(index: usize, caller: usize) -> Option<(usize, usize)> {
    let (key, place) = key(index, caller);
    let version = place.version.load(Ordering::Acquire);
    if version % 2 != 0 || place.key.load(Ordering::Relaxed) != key {
        return None;
    }
    let found = (place.address.load(Ordering::Relaxed), place.library.load(Ordering::Relaxed));
    // It may be another one's by now.
    fence(Ordering::Acquire);
    (place.version.load(Ordering::Relaxed) == version).then_some(found)
}

fn keep_private(index: usize, caller: usize, (address, library): (usize, usize)) {
    let (key, place) = key(index, caller);
    let write = || {
        // It is odd already in a child that was forked while another thread was here.
        let version = place.version.load(Ordering::Relaxed) | 1;
        place.version.store(version, Ordering::Relaxed);
        fence(Ordering::Release);
        place.key.store(key, Ordering::Relaxed);
        place.address.store(address, Ordering::Relaxed);
        place.library.store(library, Ordering::Relaxed);
        place.version.store(version.wrapping_add(1), Ordering::Release);
    };
    _ = PRIVATE.with_or_renew(|| (), |()| write());
}

/// After a library was closed: its addresses may mean something else.
pub(super) fn forget() {
    for place in CALLERS.iter().filter(|it| it.key.load(Ordering::Relaxed) != 0) {
        place.key.store(0, Ordering::Release);
    }
    // Where the functions lie that were found by name; neighbours are mostly of one library.
    let mut known = None;
    for (real, library) in REAL.iter().zip(&LIBRARIES) {
        let (address, library) = (real.load(Ordering::Acquire), library.load(Ordering::Relaxed));
        if address == 0 || known == Some(library) {
            continue;
        }
        match library::of(address).map(|library| library.begin) {
            Some(begin) if begin == library => known = Some(library),
            _ => real.store(0, Ordering::Release),
        }
    }
}

/// The function in the first runtime library that is loaded and has it.
fn in_any_runtime(index: usize) -> Option<(usize, usize)> {
    let name = CStr::from_bytes_with_nul(NAMES[index].as_bytes()).ok()?;
    let found = library::in_any_runtime(name)?;
    Some((found, learn(found)))
}

/// What a runtime of one thread would answer.
fn serial(index: usize) -> usize {
    extern "C" fn no() -> usize {
        0
    }
    extern "C" fn yes() -> usize {
        1
    }
    /// Calls the first argument with the second.
    #[unsafe(naked)]
    unsafe extern "C" fn at_once() {
        core::arch::naked_asm!("mov rax, rdi", "mov rdi, rsi", "jmp rax")
    }
    /// Calls the second argument with the fourth.
    #[unsafe(naked)]
    unsafe extern "C" fn on_the_host() {
        core::arch::naked_asm!("mov rdi, rcx", "jmp rsi")
    }
    let name = name(index);
    let answer = if name.starts_with("GOMP_parallel") || name == "GOMP_task" || name == "GOMP_teams_reg" {
        at_once as *const ()
    } else if name == "GOMP_target_ext" {
        on_the_host as *const ()
    } else if name.starts_with("omp_test") || name == "GOMP_single_start" {
        yes as *const ()
    } else {
        no as *const ()
    };
    answer as usize
}
