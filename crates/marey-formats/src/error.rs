//! What makes an import impossible: what, where, and what to do.

use std::io;
use std::path::PathBuf;

/// Why nothing can be imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The spool cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which file of it.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The content is that of no known format.
    #[error("{}: {what}", path.display())]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// What it looks like, and what could be imported instead.
        what: String,
    },
    /// The file is of the format, and cannot be made sense of.
    #[error("{} is {format}, but {what}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// What is wrong, at which byte, and what to do.
        what: String,
    },
}
