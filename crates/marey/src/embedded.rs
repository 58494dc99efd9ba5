//! The shared library that is loaded into measured programs, carried inside this executable.
//!
//! `build.rs` builds it. Unpacking it safely and preloading it is the business of `record`.

/// The whole of `libmarey.so`, always built with the profile `preload`.
pub(crate) static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libmarey.so"));

/// Sixteen hexadecimal digits that change with the content of [`LIBRARY`]: a name for the file it
/// is unpacked to, so that two versions of marey never overwrite each other's.
pub(crate) const LIBRARY_HASH: &str = env!("MAREY_LIBRARY_HASH");
