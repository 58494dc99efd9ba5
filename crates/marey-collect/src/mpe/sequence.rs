//! `MPE_Seq_begin` and `MPE_Seq_end`: between them ranks run one after the other, some at a time.
//!
//! These are not for logging; a program that calls them does not do its work without. Turns are told apart
//! by barriers on the program's own communicator: each rank takes part in all of them, in those before
//! its turn when it comes and in the rest when it goes. Between the two no other collective can be
//! under way on the communicator, because not all ranks are there.

use core::ffi::c_int;

use super::next::pass_on;
use crate::mpi::real::ask;

/// This rank's turn and the number of turns.
fn turns(comm: usize, at_once: c_int) -> (c_int, c_int) {
    let (mut rank, mut size) = (0 as c_int, 1 as c_int);
    ask!(PMPI_Comm_rank(comm, &raw mut rank));
    ask!(PMPI_Comm_size(comm, &raw mut size));
    let at_once = at_once.max(1);
    (rank / at_once, (size - 1) / at_once + 1)
}

fn wait(comm: usize, turns: c_int) {
    // By the name that the program would call, so that the waiting is in the recording.
    // SAFETY: the name ends with a zero byte.
    let barrier = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Barrier".as_ptr()) };
    if barrier.is_null() {
        return;
    }
    for _ in 0..turns {
        // SAFETY: the function has this type, and the communicator is the program's.
        unsafe {
            core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn(usize) -> c_int>(barrier)(
                comm,
            );
        }
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Seq_begin(comm: usize, at_once: c_int) {
    if pass_on!(MPE_Seq_begin(comm, at_once)).is_none() {
        wait(comm, turns(comm, at_once).0);
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn MPE_Seq_end(comm: usize, at_once: c_int) {
    if pass_on!(MPE_Seq_end(comm, at_once)).is_none() {
        let (own, all) = turns(comm, at_once);
        wait(comm, all - own);
    }
}
