//! Coarray Fortran: what a program does across images, by array.
//!
//! The one idea: gfortran turns every access to another image into a call of a library (`-fcoarray=lib`), and that
//! library of OpenCoarrays is loaded; so these calls are regions of a level of their own, `coarray`, whose noun is the
//! array. What the library does to serve them, calls of MPI mostly, lies beneath.
//!
//! A call of the library's by itself, such as the barrier that is part of `allocate`, is recorded under a verb of its
//! own that says so: it is implied, and not in the source.
//!
//! * [`table`]: which functions there are. * [`call`]: a call from its beginning to its end. * [`descriptor`]: arrays as
//!   gfortran describes them. * [`section`]: which elements a call means. * [`arrays`]: what has been made.
//! * [`images`]: which process an image is. * [`cache`]: what a thread remembers. * [`stubs`]: programs that have the library
//!   inside.
//!
//! What is deliberately absent: accesses to the part that an image has itself, which are plain loads and stores; programs
//! into which the library is linked statically without stubs, whose calls nobody can come between (`marey doctor` says so).
//! Source of the layouts: `libcaf.h` and `libcaf-gfortran-descriptor.h` of OpenCoarrays 2.10, for gcc 8 to 14.

mod arrays;
mod cache;
mod call;
mod descriptor;
mod images;
mod reference;
mod section;
mod stubs;
mod table;

pub(crate) use cache::thread_ends;

use core::sync::atomic::{AtomicBool, Ordering};

use marey_model::Role;

/// Whether operations are left out.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// To be called once the process is recorded.
pub(crate) fn begin() {
    IS_OFF.store(crate::process::is_off(c"MAREY_COARRAYS"), Ordering::Relaxed);
}

/// To be called when the recorder is loaded: static coarrays are made before `main`, and the first of them is what recording
/// begins with.
pub(crate) fn loaded() {
    if !crate::process::is_off(c"MAREY_COARRAYS") {
        stubs::activate();
    }
}

/// What the functions of this level are called and what they do, by their numbers in [`crate::site::What::function`].
pub(crate) fn verb(number: u32) -> Option<(&'static str, Role)> {
    let number = number.checked_sub(crate::site::COARRAY_FUNCTIONS)?;
    let row = table::FUNCTIONS.get(number as usize / 2)?;
    Some((if number % 2 == 0 { row.verb } else { row.implied }, row.role))
}

/// Whether a call is one by which the library of coarrays serves a call that is recorded.
pub(crate) fn is_serving(entry: crate::entry::Entry) -> bool {
    // SAFETY: the variable is the calling thread's own.
    let outer = unsafe { (*cache::known()).sp };
    // A call that was left without returning lies further in.
    entry.sp < outer && !IS_OFF.load(Ordering::Relaxed)
}
