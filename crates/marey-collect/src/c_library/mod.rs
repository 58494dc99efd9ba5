//! Calls of the C library: what those on files ([`crate::files`]) and those that wait ([`crate::system`]) have in
//! common.
//!
//! The one idea: a level of such calls is a table of functions and what is done before and after each. How calls come
//! in, whom they are passed on to, which of them are recorded and how one ends that never returns is the same for all.
//!
//! What calls what is counted once: what the C library calls by itself is not seen, and what others call for it (a
//! module of the name service within `getaddrinfo`) is left out.
//!
//! * [`wrapper`]: how calls come in. * [`functions`]: whom they are passed on to. * [`inside`]: the call that a thread is
//!   in. * [`leaving`]: calls that are left by a jump, an exception or a cancellation. * [`ours`]: our own calls.
//!
//! What is deliberately absent: what any function's arguments mean.

pub(crate) mod functions;
pub(crate) mod inside;
pub(crate) mod leaving;
pub(crate) mod ours;
pub(crate) mod wrapper;

use core::sync::atomic::{AtomicBool, Ordering};

/// To be called before calls of any level are recorded.
pub(crate) fn begin() {
    static IS_BEGUN: AtomicBool = AtomicBool::new(false);
    if !IS_BEGUN.swap(true, Ordering::Relaxed) {
        ours::find();
        leaving::resolve_all();
    }
}

/// To be called when the process ends.
pub(crate) fn ends(runtime: &marey_measure::Runtime) {
    ours::tell(runtime);
}
