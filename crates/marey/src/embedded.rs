//! The shared library that is loaded into measured programs, and the object that is linked into those
//! that cannot be preloaded, carried inside this executable.
//!
//! `build.rs` builds both. Unpacking the library safely and preloading it is the business of `record`,
//! linking that of `link`.

/// The whole of `libmarey.so`, always built with the profile `preload`.
pub(crate) static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libmarey.so"));

/// Sixteen hexadecimal digits that change with the content of [`LIBRARY`]: a name for the file it
/// is unpacked to, so that two versions of marey never overwrite each other's.
pub(crate) const LIBRARY_HASH: &str = env!("MAREY_LIBRARY_HASH");

/// The whole of `marey.o`: the recorder without the names that programs call.
pub(crate) static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/marey.o"));

/// The same as [`LIBRARY_HASH`] for [`OBJECT`].
pub(crate) const OBJECT_HASH: &str = env!("MAREY_LINKED_HASH");
