//! MPI calls from Rust: a function, a closure, a method of a trait. Marks and rules as in c_sites.c.
//! Built by `rustc` alone, as a shared library or as a part of rust_main.rs, for Open MPI: what is used
//! of it is declared by hand.

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn MPI_Barrier(comm: *mut c_void) -> c_int;
    fn MPI_Comm_size(comm: *mut c_void, size: *mut c_int) -> c_int;
    fn MPI_Comm_rank(comm: *mut c_void, rank: *mut c_int) -> c_int;
    static mut ompi_mpi_comm_world: u8;
}

fn world() -> *mut c_void {
    (&raw mut ompi_mpi_comm_world).cast()
}

trait Size {
    fn size(&self) -> c_int;
}

struct World;

impl Size for World {
    fn size(&self) -> c_int {
        let mut size = 0;
        unsafe { MPI_Comm_size(world(), &mut size) }; // SITE size
        size
    }
}

fn barrier() -> c_int {
    let code = unsafe { MPI_Barrier(world()) }; // SITE barrier
    std::hint::black_box(code + 1)
}

#[unsafe(no_mangle)]
pub extern "C" fn work() {
    let shape: Box<dyn Size> = std::hint::black_box(Box::new(World));
    let ask = |mut rank: c_int| {
        unsafe { MPI_Comm_rank(world(), &mut rank) }; // SITE {{closure}}
        rank
    };
    std::hint::black_box(ask(0) + barrier() + shape.size());
}
