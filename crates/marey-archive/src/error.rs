//! What can go wrong with an archive: one flat list, values instead of texts.

use std::path::PathBuf;

use parquet::errors::ParquetError;

use crate::meta::META_FILE;
use crate::schema::Kind;

/// Why an archive could not be written or read. Paths come last in the messages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{source}: {}", path.display())]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// A Parquet file could not be written or read.
    #[error("{source}: {}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the Parquet library said.
        source: ParquetError,
    },
    /// `meta.json` does not have the checksum that it begins with.
    #[error(
        "changed since it was written, by its checksum (whoever changes it on purpose leaves out its line \"crc32\"): {}",
        path.display()
    )]
    ChangedMeta {
        /// The file.
        path: PathBuf,
    },
    /// The end of a file does not have the checksum that `meta.json` has of it.
    #[error("changed since it was written, by its checksum: {}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The content of a file made the Parquet library give up in the middle.
    #[error("damaged beyond reading: {}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// What explains a run could not be found, or what was found before makes no sense.
    #[error("the run cannot be explained: {why}")]
    Unexplained {
        /// What was in the way.
        why: String,
    },
    /// A row says that something happened when the run was not there, or where nothing of it was.
    #[error("times or locations outside of the run ({number} rows of {table}), so they are damaged")]
    OutsideOfRun {
        /// The table.
        table: &'static str,
        /// How many rows.
        number: u64,
    },
    /// A file has fewer rows than it claims.
    #[error("{found} rows where {expected} were announced: {}", path.display())]
    MissingRows {
        /// The file.
        path: PathBuf,
        /// Rows that were announced.
        expected: u64,
        /// Rows that are there.
        found: u64,
    },
    /// A file is not the one that `meta.json` is about.
    #[error("{found} {what} where {META_FILE} says {expected}, so it is another file: {}", path.display())]
    NotAsListed {
        /// The file.
        path: PathBuf,
        /// What differs, `bytes` or `rows`.
        what: &'static str,
        /// How many `meta.json` says.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A table has more rows than may be read at once.
    #[error("table {table} has {rows} rows, more than can be read at once")]
    TooManyRows {
        /// The table.
        table: &'static str,
        /// How many it claims to have.
        rows: u64,
    },
    /// `meta.json` is no such thing.
    #[error("{source}: {}", path.display())]
    Meta {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The archive was written by a later version.
    #[error("schema version {found}, but only versions up to {known} are known: {}", path.display())]
    UnknownSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The latest version known here.
        known: u32,
    },
    /// `meta.json` names a file outside the archive.
    #[error("a part lies outside the archive: {}", path.display())]
    OutsideArchive {
        /// The path as it is written there.
        path: PathBuf,
    },
    /// A file is larger than it may sensibly be.
    #[error("{bytes} bytes, at most {limit} are accepted: {}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// What lies in memory is no packed archive, or not all of it.
    #[error("no packed archive, or not all of it: {}", path.display())]
    NotPacked {
        /// What it is called.
        path: PathBuf,
    },
    /// A packed archive could not be written or read.
    #[cfg(unix)]
    #[error("{source}: {}", path.display())]
    Pack {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: zip::result::ZipError,
    },
    /// A packed archive holds a compressed file, which cannot be read in place.
    #[error("compressed entry in a packed archive: {}", path.display())]
    CompressedEntry {
        /// The entry.
        path: PathBuf,
    },
    /// There is no such table.
    #[error("no table has this name: {}", name)]
    NoSuchTable {
        /// The name asked for.
        name: Box<str>,
    },
    /// A table, or a file of it, lacks a column.
    #[error("table {table} has no column {column}")]
    NoSuchColumn {
        /// The table.
        table: &'static str,
        /// The column asked for.
        column: Box<str>,
    },
    /// A column has another type than expected.
    #[error("column {table}.{column} is {found:?}, not {expected:?}")]
    WrongKind {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The type expected.
        expected: Kind,
        /// The type found.
        found: Kind,
    },
    /// The columns of a file are not those of its table.
    #[error("column {column} is missing or of another type: {}", path.display())]
    ForeignColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// Columns of one table differ in length.
    #[error("column {table}.{column} has {found} rows where the first has {expected}")]
    UnequalLengths {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// Rows of the first column.
        expected: usize,
        /// Rows of this one.
        found: usize,
    },
    /// A row or a set of columns has too few or too many entries.
    #[error("table {table} has {expected} columns, not {found}")]
    WrongWidth {
        /// The table.
        table: &'static str,
        /// Columns of the table.
        expected: usize,
        /// Columns given.
        found: usize,
    },
    /// The ids of a table are not the numbers of its rows.
    #[error("row {row} of table {table} has the id {found}")]
    WrongId {
        /// The table.
        table: &'static str,
        /// The row, from 0.
        row: u64,
        /// Its id.
        found: u32,
    },
    /// Threads for the merge could not be started.
    #[error("{source}")]
    Threads {
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
    /// Only numbers can be compared with a range.
    #[error("column {table}.{column} cannot be filtered by a range")]
    NoRange {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn parquet(path: impl Into<PathBuf>) -> impl FnOnce(ParquetError) -> Self {
        let path = path.into();
        move |source| Self::Parquet { path, source }
    }
}
