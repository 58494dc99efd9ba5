//! Tasks and messages on one timeline: two ranks, each with a runtime of tokio, a pool of rayon, and messages.
//!
//! The library of MPI is opened when the program runs, so that it can be built where there is none.
#![expect(unsafe_code, reason = "calls C")]

use std::ffi::{CStr, c_int, c_void};

use marey_rust::rayon::{install, join};
use marey_rust::tokio::{block_on, spawn};

use crate::truth::{Count, compute};

type Handle = *mut c_void;

static MESSAGES: Count = Count::new();

fn symbol(name: &CStr) -> Handle {
    // SAFETY: a name that ends.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!found.is_null(), "no {name:?} in the library of MPI");
    found
}

pub(crate) fn all(rounds: u64) {
    // SAFETY: the functions are those of Open MPI, called as its header says.
    unsafe {
        let library = libc::dlopen(c"libmpi.so.40".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        assert!(!library.is_null(), "Open MPI is not installed");
        let init: extern "C" fn(Handle, Handle, c_int, *mut c_int) -> c_int =
            std::mem::transmute(symbol(c"MPI_Init_thread"));
        let rank: extern "C" fn(Handle, *mut c_int) -> c_int = std::mem::transmute(symbol(c"MPI_Comm_rank"));
        let finalize: extern "C" fn() -> c_int = std::mem::transmute(symbol(c"MPI_Finalize"));
        let (mut provided, mut me) = (0, -1);
        init(std::ptr::null_mut(), std::ptr::null_mut(), 3, &mut provided);
        rank(symbol(c"ompi_mpi_comm_world"), &mut me);
        work(me, rounds);
        finalize();
        MESSAGES.say(&format!("messages-{me}"));
    }
}

fn transfer(is_send: bool, other: c_int) {
    // SAFETY: as above; the last argument of a receive is no status, which a send does not look at.
    unsafe {
        let name = if is_send { c"MPI_Send" } else { c"MPI_Recv" };
        let call: extern "C" fn(Handle, c_int, Handle, c_int, c_int, Handle, Handle) -> c_int =
            std::mem::transmute(symbol(name));
        let mut number = 1;
        let (world, int) = (symbol(c"ompi_mpi_comm_world"), symbol(c"ompi_mpi_int"));
        call((&raw mut number).cast(), 1, int, other, 1, world, std::ptr::null_mut());
    }
    MESSAGES.add();
}

fn work(me: c_int, rounds: u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    block_on(&runtime, "main", async {
        for _ in 0..rounds {
            spawn("exchange", async move {
                // A task that sends, then receives, or the other way round.
                transfer(me == 0, 1 - me);
                tokio::task::yield_now().await;
                transfer(me != 0, 1 - me);
            })
            .await
            .expect("no task panics");
            install(&pool, "compute", || join(|| compute(200), || compute(200)));
        }
    });
}
