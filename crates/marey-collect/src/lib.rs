//! `libmarey.so`: the library that `marey record` loads into measured programs.
//!
//! The one idea: it exports the functions that programs call — `MPI_Send`, `pthread_create`, … —
//! notes when they are entered and left, and passes every call on to whoever would have got it. It
//! is linked with no MPI; which one there is, it finds out when the first call arrives.
//!
//! With the feature `linked` the same is an object that is linked into programs that cannot be preloaded
//! (`linked.rs`).
//!
//! It stays passive until the process does something that is to be measured, prints nothing, and
//! when in doubt passes a call on unrecorded.
//!
//! What is deliberately absent: the files that it writes (that is `marey-measure`), places in the source, analysis.
#![expect(
    unsafe_code,
    clippy::cast_possible_truncation,
    reason = "interposes C functions, whose arguments arrive as machine words of which the low half counts"
)]

mod absent;
#[cfg(not(feature = "system-allocator"))]
mod alloc;
#[cfg(not(feature = "linked"))]
mod c_library;
#[cfg(not(feature = "linked"))]
mod coarray;
#[cfg(not(feature = "linked"))]
mod data;
mod entry;
#[cfg(not(feature = "linked"))]
mod files;
mod filter;
#[cfg(not(feature = "linked"))]
mod functions;
#[cfg(not(feature = "linked"))]
mod heap;
#[cfg(not(feature = "linked"))]
mod kokkos;
#[cfg(feature = "linked")]
mod linked;
#[cfg(not(feature = "linked"))]
mod mpe;
mod mpi;
mod next;
#[cfg(not(feature = "linked"))]
mod openmp;
mod own;
mod process;
mod sample;
#[cfg(not(feature = "linked"))]
mod sampler;
mod site;
mod spin;
mod stack_cache;
#[cfg(not(feature = "linked"))]
mod system;
mod threads;
mod unwind;
mod variable;

#[cfg(feature = "system-allocator")]
use absent::alloc;
#[cfg(feature = "linked")]
use absent::{coarray, data, files, heap, kokkos, openmp, system};

#[cfg(not(feature = "system-allocator"))]
#[global_allocator]
static ALLOCATOR: alloc::Mapped = alloc::Mapped;
