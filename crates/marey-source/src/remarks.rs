//! What compilers said of a program while they made it: which loops they vectorised, which calls they inlined, and why not.
//!
//! The one idea: whatever a compiler writes, JSON, YAML or lines of text, becomes one kind of row, a [`Remark`] at a line
//! of the source. Reading, finding the files, and laying rows beside the loops of the text are three steps that know nothing
//! of each other.
//!
//! Records come from outside: each is read as far as it can be, and says what is missing. Sizes are bounded.
//!
//! Deliberately absent: whether a loop matters. That is known when the program has run.

mod arrays;
mod find;
mod gcc;
mod lines;
mod llvm;
mod loops;
mod printed;
mod row;
mod units;
mod vect;
mod whose;
mod words;
mod yaml;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::problem::Problem;

pub use arrays::array_of;
pub use find::{Found, RemarkFiles, of_files, of_module, of_modules, of_paths, of_records};
pub use loops::{LoopRemarks, Outcome, join};
pub use row::{Compiler, Dependence, DependenceKind, Remark, RemarkKind, Site};

/// How a file holds remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// `*.opt-record.json.gz` of GCC's `-fsave-optimization-record`.
    Gcc,
    /// `*.opt.yaml` of LLVM: Clang's `-fsave-optimization-record`, `rustc -Zremark-dir`.
    Llvm,
    /// What `rustc -Cremark=…` prints.
    Printed,
}

/// Bounds of what is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemarkConfig {
    /// Of a file, after it was unpacked; what is behind is left out. GCC writes some 4 kB for each line of code with loops.
    pub max_file_bytes: u64,
    /// Rows of a file; what is behind is left out.
    pub max_rows: usize,
}

impl RemarkConfig {
    /// What suits a machine that programs are compiled on.
    pub fn system() -> Self {
        Self { max_file_bytes: 1 << 30, max_rows: 200_000 }
    }
}

/// The longest text of a remark that is kept, in bytes.
const MAX_TEXT: usize = 2048;

/// Remarks of a file, or of what could be read of it.
#[derive(Debug, Default)]
pub struct Remarks {
    /// In the order of the file.
    pub rows: Vec<Remark>,
    /// Why something is missing.
    pub problems: Vec<Problem>,
}

impl Remarks {
    /// Reads a file.
    pub fn of(path: &Path, format: Format, config: &RemarkConfig) -> Self {
        let unreadable = |kind| Problem::Unreadable { path: path.to_owned(), kind };
        let file = match File::open(path) {
            Ok(file) if file.metadata().is_ok_and(|it| it.is_file()) => file,
            Ok(_) => return Self::failed(unreadable(std::io::ErrorKind::InvalidInput)),
            Err(error) => return Self::failed(unreadable(error.kind())),
        };
        Self::read(BufReader::new(file), path, format, config)
    }

    /// Reads bytes; `path` is what problems name.
    pub fn read(bytes: impl Read, path: &Path, format: Format, config: &RemarkConfig) -> Self {
        let mut remarks = match format {
            Format::Gcc => gcc::read(bytes, path, config),
            Format::Llvm => yaml::read(bytes, path, config),
            Format::Printed => printed::read(bytes, path, config),
        };
        remarks.drop_repeated();
        remarks
    }

    fn failed(problem: Problem) -> Self {
        Self { rows: Vec::new(), problems: vec![problem] }
    }

    /// Compilers say the same again for each copy of a loop that they make.
    fn drop_repeated(&mut self) {
        let mut known = rustc_hash::FxHashSet::default();
        self.rows.retain(|row| known.insert(row.clone()));
    }
}

/// The part of a problem that says which file it is of.
fn damaged(path: &Path, what: &str, rows: usize) -> Problem {
    Problem::DamagedRemarks { path: PathBuf::from(path), what: what.to_owned(), rows }
}

/// A text without what is too long of it.
fn bounded(mut text: String) -> String {
    if MAX_TEXT < text.len() {
        let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}
