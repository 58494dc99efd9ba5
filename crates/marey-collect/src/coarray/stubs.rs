//! Programs that have the library of coarrays inside, and stubs in front of it (`marey link --coarrays`).
//!
//! The one idea: a stub jumps to where its slot points, at first the real function; where a process is recorded, slots are
//! made to point to our wrappers before `main`. The table of slots is the one thing that the program shows of them;
//! `crates/marey/src/link/stubs.rs` writes it.
//!
//! Deliberately absent: calls that the library makes by itself, which are bound within it.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicUsize, Ordering};

use super::table;

/// A function that has a stub.
#[repr(C)]
struct Slot {
    /// What the stub jumps to.
    target: AtomicUsize,
    /// The real function; 0 = the library lacks it.
    real: usize,
    /// Nothing here.
    unused: usize,
    /// Its name; null behind the last.
    name: *const c_char,
}

/// Lets all stubs of the program go to our wrappers, if it has any. To be called before the program has threads.
pub(super) fn activate() {
    // SAFETY: the name ends with a zero byte.
    let table = unsafe { libc::dlsym(libc::RTLD_DEFAULT, marey_model::COARRAY_STUBS.as_ptr()) };
    let mut slot = table.cast::<Slot>().cast_const();
    if slot.is_null() {
        return;
    }
    loop {
        // SAFETY: the table is what `marey link` writes: slots, and one without a name behind them.
        let it = unsafe { &*slot };
        if it.name.is_null() {
            return;
        }
        // SAFETY: names are terminated strings.
        let number = table::number(unsafe { CStr::from_ptr(it.name) });
        if let Some(number) = number.filter(|_| it.real != 0) {
            table::is_at(number, it.real);
            it.target.store(table::WRAPPERS[number] as *const () as usize, Ordering::Relaxed);
        }
        // SAFETY: another one follows one that has a name.
        slot = unsafe { slot.add(1) };
    }
}
