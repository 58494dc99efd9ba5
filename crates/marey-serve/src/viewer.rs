//! The files of the viewer, carried inside this library.
//!
//! The one idea: `build.rs` takes what `cargo xtask ui` has built in `ui/dist`, if it has; without it everything works but
//! the page, which says how to get it.

/// A file of the viewer.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its path, as a page names it.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its content.
    pub content: &'static [u8],
}

/// All of them; empty if the viewer was not built.
pub static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

/// What is shown where there is no viewer.
pub const MISSING: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>marey</title>\
    <p>This marey was built without its viewer.</p>\
    <p>In its sources, <code>cargo xtask ui</code> builds it, and <code>cargo build</code> puts it in.</p></html>";

/// The file of a path.
pub fn file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}
