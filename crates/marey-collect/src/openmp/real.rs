//! Whom a call is passed on to: the next function of its name, or where there is none that of the runtime library which the
//! caller has loaded with itself.
//!
//! The one idea: it is looked up by the first call of each, for a program may load its runtime at any time. A program
//! without one may ask whether there is such a function, and find ours: it gets the answers of a serial runtime.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use marey_measure::Lock;

use super::tables::tables;
use super::wrapper::Frame;
use super::{ompt, parallel, task};
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
    /// The library that the calling thread's last call to one that is loaded privately was passed on to; 0 for none.
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
#[cold]
fn resolve(index: usize, caller: usize) -> (usize, usize) {
    let found = match private(index, caller) {
        Some((0, _)) => None,
        Some(found) => Some(found),
        None => match look_up(index, caller) {
            Ok(found) => return found,
            Err(found) => found,
        },
    };
    // Who calls for its last deed returns to where its caller is, which may be a library that knows nothing of OpenMP: such a
    // call is of the runtime that the thread has called last.
    let found = found.or_else(|| as_last(index)).or_else(|| in_any_runtime(index));
    let Some(found) = found else { return (serial(index), 0) };
    if private(index, caller).is_none() {
        keep_private(index, caller, (0, 0));
    }
    // SAFETY: the thread's own memory.
    unsafe { *last() = found.1 };
    found
}

/// What can be found by name, which is kept for all; else what the library of the caller has.
fn look_up(index: usize, caller: usize) -> Result<(usize, usize), Option<(usize, usize)>> {
    let Ok(name) = CStr::from_bytes_with_nul(NAMES[index].as_bytes()) else { return Err(None) };
    let found = next(name);
    if found != 0 {
        let library = learn(found);
        LIBRARIES[index].store(library, Ordering::Relaxed);
        REAL[index].store(found, Ordering::Release);
        return Ok((found, library));
    }
    let found = in_library_of(caller, name);
    if found == 0 {
        return Err(None);
    }
    let found = (found, learn(found));
    keep_private(index, caller, found);
    Err(Some(found))
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
    let found = in_library_of(library, name);
    if found == 0 {
        return None;
    }
    let found = (found, learn(found));
    keep_private(index, library, found);
    Some(found)
}

/// The library of a function that calls are passed on to; 0 for none.
fn learn(function: usize) -> usize {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the name of a library ends with a zero byte.
    let (library, path) = unsafe {
        if libc::dladdr(function as *const c_void, info.as_mut_ptr()) == 0 {
            return 0;
        }
        let info = info.assume_init();
        (info.dli_fbase as usize, CStr::from_ptr(info.dli_fname))
    };
    if ompt::is_known(library) {
        return library;
    }
    // A runtime of LLVM's tells of its constructs, but only once it has begun. That of gcc is not even asked: what it does not
    // have would be an error of the loader's, which a program may ask for.
    if tables().is_some() && !file_name(path.to_bytes()).starts_with(b"libgomp") {
        let begin = match in_library(path, c"__kmpc_fork_call") {
            0 => 0,
            _ => in_library(path, c"omp_get_max_threads"),
        };
        if begin != 0 {
            // SAFETY: the function of this name has this type, and whoever calls for a construct would have it begin now.
            unsafe { core::mem::transmute::<usize, unsafe extern "C" fn() -> core::ffi::c_int>(begin)() };
        }
    }
    ompt::passed_on_to(library);
    library
}

/// Functions of runtime libraries that cannot be reached by name from here, by their numbers and who calls them: Python,
/// say, loads such libraries privately. There may be several, and whoever calls one must not get another's, whose threads
/// it knows nothing of.
static PRIVATE: Lock<()> = Lock::new(());
static CALLERS: [Caller; 1024] = [const {
    Caller { key: AtomicUsize::new(0), address: AtomicUsize::new(0), library: AtomicUsize::new(0) }
}; 1024];

struct Caller {
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

/// The function, and the library that it lies in.
fn private(index: usize, caller: usize) -> Option<(usize, usize)> {
    let (key, place) = key(index, caller);
    if place.key.load(Ordering::Acquire) != key {
        return None;
    }
    let found = (place.address.load(Ordering::Acquire), place.library.load(Ordering::Acquire));
    // It may be another one's by now.
    (place.key.load(Ordering::Relaxed) == key).then_some(found)
}

fn keep_private(index: usize, caller: usize, (address, library): (usize, usize)) {
    let (key, place) = key(index, caller);
    PRIVATE.with(|()| {
        place.key.store(0, Ordering::Release);
        place.address.store(address, Ordering::Release);
        place.library.store(library, Ordering::Release);
        place.key.store(key, Ordering::Release);
    });
}

/// After a library was closed: its addresses may mean something else.
pub(super) fn forget() {
    CALLERS
        .iter()
        .filter(|it| it.key.load(Ordering::Relaxed) != 0)
        .for_each(|it| it.key.store(0, Ordering::Release));
}

/// The function as the library that a caller lies in finds it: in the libraries that it needs.
fn in_library_of(caller: usize, name: &CStr) -> usize {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `info` is writable, and zeros are a valid value of it; the name of a library ends with a zero byte.
    unsafe {
        if libc::dladdr(caller as *const c_void, info.as_mut_ptr()) == 0 {
            return 0;
        }
        in_library(CStr::from_ptr(info.assume_init().dli_fname), name)
    }
}

/// The function in a library that is loaded, or those that it needs.
fn in_library(library: &CStr, name: &CStr) -> usize {
    // SAFETY: names end with zero bytes; the handle is given back as it came, and not by our own function, which would say that a
    // library was closed.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if handle.is_null() {
            return 0;
        }
        let found = libc::dlsym(handle, name.as_ptr()) as usize;
        let close = next(c"dlclose");
        if close != 0 {
            core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> i32>(close)(handle);
        }
        // A library that needs none finds ours.
        if ompt::library_of(found) == ompt::library_of(in_library as *const () as usize) { 0 } else { found }
    }
}

/// The function in the first runtime library that is loaded and has it.
fn in_any_runtime(index: usize) -> Option<(usize, usize)> {
    struct Search {
        path: [u8; libc::PATH_MAX as usize],
        /// Runtimes that have been looked at already.
        skip: usize,
        is_found: bool,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> i32 {
        // SAFETY: the loader gives a library's name, and what was given to it is a search.
        unsafe {
            let (name, search) = ((*info).dlpi_name, &mut *search.cast::<Search>());
            if name.is_null() {
                return 0;
            }
            let path = CStr::from_ptr(name).to_bytes_with_nul();
            if search.path.len() < path.len() || !is_runtime(CStr::from_ptr(name).to_bytes()) {
                return 0;
            }
            if let Some(less) = search.skip.checked_sub(1) {
                search.skip = less;
                return 0;
            }
            search.path[..path.len()].copy_from_slice(path);
            search.is_found = true;
            1
        }
    }
    let name = CStr::from_bytes_with_nul(NAMES[index].as_bytes()).ok()?;
    for skip in 0..MOST_RUNTIMES {
        let mut search = Search { path: [0; libc::PATH_MAX as usize], skip, is_found: false };
        // SAFETY: `visit` gets what it knows.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        let path = CStr::from_bytes_until_nul(&search.path).ok().filter(|_| search.is_found)?;
        let found = in_library(path, name);
        if found != 0 {
            return Some((found, learn(found)));
        }
    }
    None
}

/// More are not looked through.
const MOST_RUNTIMES: usize = 16;

/// Whether the file is a runtime library of OpenMP.
pub(crate) fn is_runtime(path: &[u8]) -> bool {
    let name = file_name(path);
    [&b"libgomp"[..], b"libomp.", b"libomp-", b"libiomp5"].iter().any(|prefix| name.starts_with(prefix))
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
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
