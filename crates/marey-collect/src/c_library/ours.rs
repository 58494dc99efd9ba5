//! Whose call it is: ours, or the program's.
//!
//! The one idea: what we call by way of the C library has a return address in this library. All else is the program's;
//! and what comes while our own code runs is that of a handler of signals, and counted as not recorded.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use marey_measure::{Runtime, existing_thread};
use marey_model::spool::Definition;

static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// To be called before calls are recorded, and before threads are sampled.
pub(crate) fn find() {
    // SAFETY: `visit` looks at what it is given.
    unsafe { libc::dl_iterate_phdr(Some(visit), core::ptr::null_mut()) };
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, _: *mut core::ffi::c_void) -> c_int {
    let here = find as *const () as usize;
    // SAFETY: the loader gives a valid record.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr as usize, core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()))
    };
    for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
        let start = base + header.p_vaddr as usize;
        let end = start + header.p_memsz as usize;
        if (start..end).contains(&here) {
            START.store(start, Ordering::Relaxed);
            END.store(end, Ordering::Relaxed);
            return 1;
        }
    }
    0
}

/// Whether a call that returns to `address` is ours.
#[inline(always)]
pub(crate) fn is_ours(address: usize) -> bool {
    (START.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)).contains(&address)
}

/// Calls of handlers of signals that have interrupted our own code.
static MISSED: AtomicU64 = AtomicU64::new(0);

/// Counts a call of a handler of signals that has interrupted our own code.
#[cold]
pub(crate) fn count_missed() {
    if !existing_thread().is_null() && crate::process::running().is_some() {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes down how many there were.
pub(super) fn tell(runtime: &Runtime) {
    let count = MISSED.swap(0, Ordering::Relaxed);
    if count != 0 {
        let detail =
            "calls of the C library that signal handlers made while the recorder was at work".to_owned();
        let trouble = Definition::Trouble { kind: "missed_calls".to_owned(), count, detail };
        runtime.define(|definitions| definitions.define(&trouble));
    }
}
