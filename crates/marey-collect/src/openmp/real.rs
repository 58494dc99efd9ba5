//! Whom a call is passed on to: the next function of its name, or where there is none that of the runtime library which the
//! caller has loaded with itself.
//!
//! The one idea: it is looked up by the first call of each, for a program may load its runtime at any time. A program
//! without one may ask whether there is such a function, and find ours: it gets the answers of a serial runtime.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use marey_measure::Lock;

use super::wrapper::Frame;
use super::{ompt, parallel, task};
use crate::next::next;

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

/// The address that a call is passed on to if its runtime tells of its constructs; 0 = it is to be looked at.
///
/// # Safety
/// The frame is that of the call, which is under way.
pub(super) unsafe extern "C" fn told(frame: *mut Frame, index: usize) -> usize {
    // SAFETY: the caller's promise.
    let (real, caller) = unsafe { (address(index, frame), caller_at((*frame).sp)) };
    if !ompt::tells() {
        return 0;
    }
    let library = match REAL[index].load(Ordering::Relaxed) {
        0 => private(index, caller).map_or(0, |(_, library)| library),
        _ => LIBRARIES[index].load(Ordering::Relaxed),
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
        0 => resolve(index, unsafe { caller_at((*frame).sp) }),
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

#[cold]
fn resolve(index: usize, caller: usize) -> usize {
    if let Some((address, _)) = private(index, caller) {
        return address;
    }
    let Ok(name) = CStr::from_bytes_with_nul(NAMES[index].as_bytes()) else { return serial(index) };
    let found = next(name);
    if found != 0 {
        LIBRARIES[index].store(learn(found), Ordering::Relaxed);
        REAL[index].store(found, Ordering::Release);
        return found;
    }
    let found = match in_library_of(caller, name) {
        0 => in_any_runtime(name),
        found => found,
    };
    if found == 0 {
        // There may be one later.
        return serial(index);
    }
    keep_private(index, caller, found, learn(found));
    found
}

/// The library of a function that calls are passed on to; 0 for none.
fn learn(function: usize) -> usize {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the name of a library ends with a zero byte.
    let (library, tells) = unsafe {
        if libc::dladdr(function as *const c_void, info.as_mut_ptr()) == 0 {
            return 0;
        }
        let info = info.assume_init();
        let path = CStr::from_ptr(info.dli_fname);
        // A runtime of LLVM's tells of its constructs, but only once it has begun.
        let is_llvm = in_library(path, c"__kmpc_fork_call") != 0;
        (info.dli_fbase as usize, is_llvm.then(|| in_library(path, c"omp_get_max_threads")))
    };
    if let Some(begin) = tells.filter(|begin| *begin != 0 && !ompt::tells_of(library)) {
        // SAFETY: the function of this name has this type, and whoever calls for a construct would have it begin now.
        unsafe { core::mem::transmute::<usize, unsafe extern "C" fn() -> core::ffi::c_int>(begin)() };
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
    /// Where it is called from, with the number of the function in the upper bits; 0 for none.
    key: AtomicUsize,
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

fn keep_private(index: usize, caller: usize, address: usize, library: usize) {
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

/// The function in the first runtime library that is loaded: who calls for its last deed returns to where its caller is, which may
/// be a library that knows nothing of OpenMP.
fn in_any_runtime(name: &CStr) -> usize {
    struct Search {
        path: [u8; libc::PATH_MAX as usize],
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
            if path.len() <= search.path.len() && is_runtime(path) {
                search.path[..path.len()].copy_from_slice(path);
                search.is_found = true;
            }
            i32::from(search.is_found)
        }
    }
    let mut search = Search { path: [0; libc::PATH_MAX as usize], is_found: false };
    // SAFETY: `visit` gets what it knows.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    match CStr::from_bytes_until_nul(&search.path) {
        Ok(path) if search.is_found => in_library(path, name),
        _ => 0,
    }
}

/// Whether the file is a runtime library of OpenMP.
pub(crate) fn is_runtime(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    [&b"libgomp"[..], b"libomp.", b"libomp-", b"libiomp5"].iter().any(|prefix| name.starts_with(prefix))
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
