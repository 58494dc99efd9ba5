//! Whom a call is passed on to: the next function of its name, or that of a runtime library that was loaded privately.
//!
//! The one idea: it is looked up by the first call of each, for a program may load its runtime at any time. A program
//! without one may ask whether there is such a function, and find ours: it gets the answers of a serial runtime.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

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
    omp_set_lock omp_set_lock_ omp_unset_lock omp_unset_lock_
    omp_set_nest_lock omp_set_nest_lock_ omp_unset_nest_lock omp_unset_nest_lock_
    omp_test_lock omp_test_nest_lock
}

/// Addresses of the next functions of these names; 0 before they are known.
pub(super) static REAL: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

/// The address of the function that a call is passed on to.
#[inline(always)]
pub(super) fn address(index: usize) -> usize {
    match REAL[index].load(Ordering::Relaxed) {
        0 => resolve(index),
        address => address,
    }
}

/// The function's name, without the zero byte behind it.
pub(super) fn name(index: usize) -> &'static str {
    NAMES[index].trim_end_matches('\0')
}

#[cold]
fn resolve(index: usize) -> usize {
    let Ok(name) = CStr::from_bytes_with_nul(NAMES[index].as_bytes()) else { return serial(index) };
    let found = match next(name) {
        0 => in_library(name),
        address => address,
    };
    if found == 0 {
        // There may be one later.
        return serial(index);
    }
    REAL[index].store(found, Ordering::Relaxed);
    found
}

/// The function of a runtime library that cannot be reached by name from here: Python, say, loads it privately.
fn in_library(name: &CStr) -> usize {
    let mut search = (name, 0_usize);
    // SAFETY: `visit` gets a pointer to `search`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.1
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> i32 {
    // SAFETY: the loader gives a valid record with a name that ends with a zero byte; `data` is that of `in_library`.
    unsafe {
        let path = (*info).dlpi_name;
        if path.is_null() || !is_runtime(CStr::from_ptr(path).to_bytes()) {
            return 0;
        }
        let handle = libc::dlopen(path, libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if handle.is_null() {
            return 0;
        }
        let search = &mut *data.cast::<(&CStr, usize)>();
        search.1 = libc::dlsym(handle, search.0.as_ptr()) as usize;
        i32::from(search.1 != 0)
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
    let name = name(index);
    let answer = if name.starts_with("GOMP_parallel") || name == "GOMP_task" || name == "GOMP_teams_reg" {
        at_once as *const ()
    } else if name.starts_with("omp_test") || name == "GOMP_single_start" {
        yes as *const ()
    } else {
        no as *const ()
    };
    answer as usize
}
