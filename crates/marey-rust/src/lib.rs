//! Adapters for Rust programs: what they say of themselves through `tracing`, and what pools of `rayon` and tasks of
//! `tokio` do, in the words of marey.
//!
//! The one idea: a piece of work is a region on the thread that does it, so that its calls of MPI, files and the system
//! lie beneath it, and its time is a thread's time once. What outlives a piece, a task or a span that is suspended, has
//! a lane beside the threads, which says where it was when it was not being worked on.
//!
//! Only stable interfaces are used. While nothing records, each call costs a load and a comparison more than without.
//!
//! What is deliberately absent: reading runs, and any change of what the libraries do. `docs/rust.md` says how to use
//! it, and what cannot be seen from here.

#[cfg(any(feature = "tracing", feature = "tokio"))]
mod lanes;
#[cfg(any(feature = "tracing", feature = "tokio", feature = "rayon"))]
mod places;
#[cfg(feature = "rayon")]
pub mod rayon;
#[cfg(feature = "tokio")]
mod task;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tracing")]
pub mod tracing;
