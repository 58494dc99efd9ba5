//! What went wrong while addresses were turned into names, as values that a report can count and show.
//!
//! Nothing here stops a resolution: each problem says why some frames are poorer than they could be.

use std::fmt;
use std::io;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

/// Why frames of a module are less exact than its source would allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file at this path is not the one that ran; it was not used.
    #[error("module changed since it ran: recorded build id {recorded}, found {found}: {}", path.display())]
    BuildIdMismatch {
        /// Path of the module as recorded.
        path: PathBuf,
        /// Build id of the file that ran.
        recorded: BuildId,
        /// Build id of the file that is there now; empty when it has none.
        found: BuildId,
    },
    /// The file could not be opened or read, or is not a regular file.
    #[error("cannot read module ({kind}): {}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// What the operating system said.
        kind: io::ErrorKind,
    },
    /// The file is not an ELF file, or its headers or sections are damaged.
    #[error("damaged ELF file ({error}): {}", path.display())]
    DamagedElf {
        /// Path of the file.
        path: PathBuf,
        /// What was wrong with it.
        error: object::read::Error,
    },
    /// The debug information is damaged; names come from the symbol table where it fails.
    #[error("damaged debug information ({error}): {}", path.display())]
    DamagedDwarf {
        /// Path of the file that holds the debug information.
        path: PathBuf,
        /// What was wrong with it.
        error: gimli::Error,
    },
    /// A reader gave up on this file; its debug information was dropped.
    #[error("debug information of this file cannot be read: {}", path.display())]
    ReaderFailed {
        /// Path of the file that holds the debug information.
        path: PathBuf,
    },
    /// A debug file of the right name belongs to another build; it was not used.
    #[error("debug file belongs to another build: {}", path.display())]
    DebugFileMismatch {
        /// Path of the debug file.
        path: PathBuf,
    },
    /// The debug information names a file that holds part of it, and that file is missing or another one.
    #[error("part of the debug information is missing: {}", path.display())]
    DebugPartMissing {
        /// Path of the `.dwo` or supplementary file.
        path: PathBuf,
    },
    /// Files that debug information was split into are missing, or other ones.
    #[error("{number} of the files that -gsplit-dwarf has put debug information into cannot be found (.dwo, .dwp), so functions \
             have the names of symbols, and types are missing; keep these files where they were made, or compile without \
             -gsplit-dwarf: {}", path.display())]
    DebugPartsMissing {
        /// Path of the first of them.
        path: PathBuf,
        /// How many they are.
        number: usize,
    },
    /// The debug information is larger than the memory limit; names come from the symbol table.
    #[error("debug information needs {needed_bytes} bytes, limit {limit_bytes}: {}", path.display())]
    TooLarge {
        /// Path of the file that holds the debug information.
        path: PathBuf,
        /// Size of its sections in bytes, uncompressed.
        needed_bytes: u64,
        /// The limit in bytes, see [`SymbolizerConfig::max_bytes`](crate::SymbolizerConfig::max_bytes).
        limit_bytes: u64,
    },
    /// Machine code of another machine cannot be told.
    #[error("machine code can be told of x86-64 only, and this is for another machine: {}", path.display())]
    OtherMachine {
        /// Path of the module.
        path: PathBuf,
    },
    /// Code that is not linked has no addresses yet.
    #[error("this object is not linked, so its code has no addresses yet; give the program or library that it goes into: {}",
            path.display())]
    NotLinked {
        /// Path of the object.
        path: PathBuf,
    },
    /// A source could not be read.
    #[error("cannot read source ({kind}): {}", path.display())]
    UnreadableSource {
        /// Path of the source or directory.
        path: PathBuf,
        /// What the operating system said.
        kind: io::ErrorKind,
    },
    /// A source is larger than the limit.
    #[error("source has {bytes} bytes, limit {limit_bytes}: {}", path.display())]
    SourceTooLarge {
        /// Path of the source.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes, see [`TextConfig::max_file_bytes`](crate::text::TextConfig::max_file_bytes).
        limit_bytes: u64,
    },
    /// A file with the name of a source is none.
    #[error("source is no text: {}", path.display())]
    NotText {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file is in no language that is known.
    #[error("source is neither C, C++, Fortran nor Rust: {}", path.display())]
    UnknownLanguage {
        /// Path of the file.
        path: PathBuf,
    },
    /// The parser was given up on a source.
    #[error("source takes too long to parse: {}", path.display())]
    SourceTooHard {
        /// Path of the source.
        path: PathBuf,
    },
    /// A compiler's record ends early, or something in it is not as compilers write it.
    #[error("record of a compiler is damaged ({what}); {rows} of its remarks were read: {}", path.display())]
    DamagedRemarks {
        /// Path of the record.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// Remarks that were read all the same.
        rows: usize,
    },
    /// A record was written after the program was made.
    #[error("record of a compiler is younger than the program, so it may tell of another one and counts only if it is named with --remarks: {}", path.display())]
    YoungRemarks {
        /// Path of the record.
        path: PathBuf,
    },
    /// No source that a record tells of is one that was asked for.
    #[error("record of a compiler tells of no source that call stacks of the run name: {}", path.display())]
    ForeignRemarks {
        /// Path of the record.
        path: PathBuf,
    },
    /// A source was changed after its record was written, and the program was made after that.
    #[error("record of a compiler is older than the source that the program was made of, so it was left out; compile with \
             records again: {}", path.display())]
    OldRemarks {
        /// Path of the source.
        path: PathBuf,
    },
    /// A source was changed after the program was made.
    #[error("source was changed after the compiler spoke of it, so lines may be others: {}", path.display())]
    ChangedSince {
        /// Path of the source.
        path: PathBuf,
    },
    /// There are more records than can be read in reasonable time.
    #[error("{number} records of compilers were left out, for there are many; name those of hot sources with --remarks: {}", path.display())]
    ManyRemarks {
        /// Path of the first of them.
        path: PathBuf,
        /// How many they are.
        number: usize,
    },
    /// Several records tell of one source.
    #[error("another record of a compiler tells of the same source and is younger, so this one was left out: {}", path.display())]
    RivalRemarks {
        /// Path of the record.
        path: PathBuf,
    },
}

impl Problem {
    /// The file that the problem lies in.
    pub fn path(&self) -> &Path {
        match self {
            Problem::BuildIdMismatch { path, .. }
            | Problem::Unreadable { path, .. }
            | Problem::DamagedElf { path, .. }
            | Problem::DamagedDwarf { path, .. }
            | Problem::ReaderFailed { path }
            | Problem::DebugFileMismatch { path }
            | Problem::DebugPartMissing { path }
            | Problem::DebugPartsMissing { path, .. }
            | Problem::TooLarge { path, .. }
            | Problem::UnreadableSource { path, .. }
            | Problem::SourceTooLarge { path, .. }
            | Problem::NotText { path }
            | Problem::UnknownLanguage { path }
            | Problem::SourceTooHard { path }
            | Problem::DamagedRemarks { path, .. }
            | Problem::YoungRemarks { path }
            | Problem::ForeignRemarks { path }
            | Problem::ManyRemarks { path, .. }
            | Problem::OldRemarks { path }
            | Problem::ChangedSince { path }
            | Problem::RivalRemarks { path }
            | Problem::OtherMachine { path }
            | Problem::NotLinked { path } => path,
        }
    }
}

/// The identity of one build of a module: the bytes of its `NT_GNU_BUILD_ID` note.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BuildId(pub Vec<u8>);

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("(none)");
        }
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Collects problems: the first of each kind for each file, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    /// Adds `problem` unless its file has one of this kind already: a damaged file would otherwise give
    /// one for every address.
    pub(crate) fn report(&mut self, problem: Problem) {
        let problem = without_pointer(problem);
        let is_known =
            |known: &Problem| discriminant(known) == discriminant(&problem) && known.path() == problem.path();
        if !self.list.iter().any(is_known) {
            self.list.push(problem);
        }
    }

    /// All problems, in order of appearance.
    pub(crate) fn list(&self) -> &[Problem] {
        &self.list
    }
}

/// gimli puts the address of its buffer into this error, which differs from run to run.
fn without_pointer(problem: Problem) -> Problem {
    match problem {
        Problem::DamagedDwarf { path, error: gimli::Error::UnexpectedEof(_) } => {
            Problem::DamagedDwarf { path, error: gimli::Error::UnexpectedEof(gimli::ReaderOffsetId(0)) }
        }
        other => other,
    }
}
