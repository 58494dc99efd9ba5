//! Constructs of OpenMP: what the threads of a team do, and whom they wait for.
//!
//! The one idea: compilers turn constructs into calls of their runtime library, so these calls are exported here, noted
//! and passed on. Functions that the compiler has made of the body of a region or task begin by way of a few
//! instructions of ours, so that begin and end are known on each thread.
//!
//! What has no call is not seen, and nothing is made up for it: a loop with a static schedule is part of its implicit
//! task, of which samples tell the lines (`docs/openmp.md`).
//!
//! * [`wrapper`], [`real`]: how calls come in, and whom they are passed on to. * [`region`], [`place`]: what they are
//!   recorded as. * [`here`]: what a thread is in. * [`tables`]: what threads leave for one another to find.
//! * [`parallel`], [`barrier`], [`share`], [`exclude`], [`task`], [`depend`],
//!   [`target`]: the constructs. * [`ompt`], [`saved`]: runtimes that tell of
//!   them by themselves.
//!
//! What is deliberately absent: what devices do, threadprivate memory, what a runtime does by itself, and the interface of
//! libgomp before GCC 4.9 (`GOMP_parallel_start`).

mod barrier;
mod depend;
mod exclude;
mod here;
mod library;
mod ompt;
mod parallel;
mod place;
mod real;
mod region;
mod saved;
mod share;
mod tables;
mod target;
mod task;
mod wrapper;

pub(crate) use library::is_runtime;
pub(crate) use place::{name, place};
pub(crate) use region::{begin as begin_at, verb};

use core::sync::atomic::AtomicBool;

use marey_measure::Runtime;

/// Whether calls are looked at. As long as they are not, each costs a comparison and a jump.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// To be called when the process begins to be recorded: from then on its constructs are.
pub(crate) fn begin() {
    if !crate::process::is_off(c"MAREY_OPENMP") && tables::open() {
        // A runtime that has asked before MPI began tells of its constructs by itself.
        ompt::decide();
    }
}

/// To be called after the program has closed a library: its addresses may mean something else.
pub(crate) fn forget() {
    place::forget();
    real::forget();
    ompt::forget();
}

/// To be called when a thread ends, before its descriptor is no more.
pub(crate) fn thread_ends() {
    if tables::tables().is_some() {
        barrier::thread_ends();
        saved::thread_ends();
    }
}

/// To be called when the process ends: only now it is known that threads of the last parallel regions begin no other one.
pub(crate) fn ends(runtime: &Runtime) {
    barrier::process_ends(runtime);
}
