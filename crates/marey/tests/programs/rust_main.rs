//! The calls of rust_sites.rs in a program of its own. Marks and rules as in c_sites.c. Built by
//! `rustc` with the compiler wrapper of Open MPI as the linker.

use std::ffi::{c_char, c_int};

#[path = "rust_sites.rs"]
mod sites;

unsafe extern "C" {
    fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
    fn MPI_Finalize() -> c_int;
}

fn main() {
    unsafe { MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()) }; // SITE main
    sites::work();
    let code = unsafe { MPI_Finalize() }; // SITE main
    std::process::exit(code);
}
