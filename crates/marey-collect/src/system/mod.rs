//! Calls of the C library that wait: for time to pass, for descriptors, sockets and queues, for children, for signals,
//! for locks on files and for names.
//!
//! The one idea: time in which a program is blocked, outside of MPI and of threads, is spent in one of these calls; as
//! regions of a level of their own, `system`, they give it a name, a call path and a duration.
//!
//! A call that only asks (a time of 0, `WNOHANG`, `MSG_DONTWAIT`) is recorded too; those in vain, one after the other
//! and from one call site, are one record.
//!
//! A call takes 85 to 105 ns more (`cargo xtask bench --only calls`: `poll` that finds something 351 → 448, `recv` in vain
//! 180 → 282), and nothing where these calls are left out.
//!
//! * [`table`]: which functions there are. * [`call`]: a call from its beginning to its end. How calls come in, and what
//!   becomes of those that never return, is told in [`crate::c_library`].
//!
//! What is deliberately absent: what MPI calls, what these functions call themselves, what threads wait for
//! ([`crate::threads`]), `read` and `write` on what is no file ([`crate::files`]), `fcntl` with a lock, `sched_yield`,
//! which does not wait, and the bare system calls.

mod call;
mod table;

pub(crate) use call::{after, before};
pub(crate) use table::{CALLS, Calls, Function};

use core::sync::atomic::{AtomicBool, Ordering};

use marey_model::Role;

use crate::c_library;
use table::{Also, FUNCTIONS};

/// What the functions of this level are called and what they do, by their numbers in [`crate::site::What::function`].
pub(crate) fn verb(number: u32) -> Option<(&'static str, Role)> {
    let index = number.checked_sub(crate::site::SYSTEM_FUNCTIONS)?;
    FUNCTIONS.get(index as usize).map(|function| (function.verb, function.role))
}

static IS_RECORDED: AtomicBool = AtomicBool::new(false);

fn is_recorded() -> bool {
    IS_RECORDED.load(Ordering::Relaxed)
}

/// To be called when the process begins to be recorded: from then on these calls are.
pub(crate) fn begin() {
    c_library::begin();
    CALLS.resolve_all();
    let is_recorded = !crate::process::is_off(c"MAREY_SYSTEM");
    IS_RECORDED.store(is_recorded, Ordering::Relaxed);
    for (index, function) in FUNCTIONS.iter().enumerate() {
        if is_recorded || function.also != Also::Nothing {
            CALLS.activate(index);
        }
    }
}
