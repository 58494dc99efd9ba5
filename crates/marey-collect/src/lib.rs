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

#[cfg(not(feature = "system-allocator"))]
mod alloc;
/// In its place, what is asked of it.
#[cfg(feature = "system-allocator")]
mod alloc {
    pub(crate) fn is_exhausted() -> bool {
        false
    }

    pub(crate) fn prepare() -> bool {
        true
    }
}
#[cfg(not(feature = "linked"))]
mod c_library;
mod entry;
#[cfg(not(feature = "linked"))]
mod files;
/// Not in programs that the recorder is linked into.
#[cfg(feature = "linked")]
mod files {
    pub(crate) fn name(_: u32) -> Option<String> {
        None
    }

    pub(crate) fn verb(_: u32) -> Option<&'static str> {
        None
    }

    pub(crate) fn begin() {}

    pub(crate) static FORKS: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

    pub(crate) fn by_number(
        _: core::ffi::c_long,
        _: [usize; 3],
        pass_on: impl FnOnce() -> core::ffi::c_long,
    ) -> core::ffi::c_long {
        pass_on()
    }
}
mod filter;
#[cfg(not(feature = "linked"))]
mod functions;
#[cfg(not(feature = "linked"))]
mod heap;
/// Not in programs that the recorder is linked into.
#[cfg(feature = "linked")]
mod heap {
    pub(crate) fn verb(_: u32) -> Option<&'static str> {
        None
    }
}
#[cfg(feature = "linked")]
mod linked;
#[cfg(not(feature = "linked"))]
mod mpe;
mod mpi;
mod process;
mod sample;
#[cfg(not(feature = "linked"))]
mod sampler;
mod site;
mod spin;
mod stack_cache;
#[cfg(not(feature = "linked"))]
mod system;
/// Not in programs that the recorder is linked into.
#[cfg(feature = "linked")]
mod system {
    pub(crate) fn verb(_: u32) -> Option<(&'static str, marey_model::Role)> {
        None
    }
}
mod threads;
mod unwind;

#[cfg(not(feature = "system-allocator"))]
#[global_allocator]
static ALLOCATOR: alloc::Mapped = alloc::Mapped;
