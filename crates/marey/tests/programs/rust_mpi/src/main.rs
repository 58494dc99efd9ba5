//! Two ranks that pass numbers in rounds, measured by the user's own regions beside the MPI calls.
//!
//! `step` holds the sends of a round; `prefetch` and `settle` are states that overlap with each
//! other and with everything else. Declared by hand is what little of Open MPI it needs.

use std::ffi::{c_int, c_void};

type Handle = *mut c_void;

unsafe extern "C" {
    fn MPI_Init(argc: *mut c_int, argv: *mut c_void) -> c_int;
    fn MPI_Finalize() -> c_int;
    fn MPI_Comm_rank(comm: Handle, rank: *mut c_int) -> c_int;
    fn MPI_Send(
        buffer: *const c_void,
        n: c_int,
        datatype: Handle,
        to: c_int,
        tag: c_int,
        comm: Handle,
    ) -> c_int;
    fn MPI_Recv(
        buffer: *mut c_void,
        n: c_int,
        datatype: Handle,
        from: c_int,
        tag: c_int,
        comm: Handle,
        status: *mut c_void,
    ) -> c_int;
    static mut ompi_mpi_comm_world: u8;
    static mut ompi_mpi_int: u8;
}

fn world() -> Handle {
    (&raw mut ompi_mpi_comm_world).cast()
}

fn send(x: c_int, to: c_int) {
    unsafe { MPI_Send((&raw const x).cast(), 1, (&raw mut ompi_mpi_int).cast(), to, 1, world()) };
}

fn receive(from: c_int) -> c_int {
    let mut x = -1;
    let (buffer, ignore) = ((&raw mut x).cast(), std::ptr::null_mut());
    unsafe { MPI_Recv(buffer, 1, (&raw mut ompi_mpi_int).cast(), from, 1, world(), ignore) };
    x
}

/// Something that takes time.
fn compute(n: u32) -> u32 {
    marey::region!("compute");
    (0..n).fold(1, |x, i| std::hint::black_box(x ^ (x << 5) ^ i))
}

fn step(rank: c_int, round: c_int) {
    marey::region!("step");
    let other = 1 - rank;
    if rank == 0 {
        send(round, other);
        assert_eq!(receive(other), round);
    } else {
        assert_eq!(receive(other), round);
        send(round, other);
    }
    compute(1000);
}

fn main() {
    let mut rank = -1;
    unsafe { MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
    unsafe { MPI_Comm_rank(world(), &mut rank) };
    {
        marey::region!("rounds");
        for round in 0..100 {
            // Begin inside each other, end crosswise: neither nests in the other, nor in `step`.
            let prefetch = marey::site!("prefetch").begin();
            let settle = marey::site!("settle").begin();
            step(rank, round);
            drop(prefetch);
            compute(100);
            drop(settle);
        }
    }
    unsafe { MPI_Finalize() };
}
