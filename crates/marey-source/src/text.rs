//! What a program consists of, as its text tells it.
//!
//! The one idea: files are read apart, in parallel, each by the grammar of its language; afterwards names that lead from
//! one file to another are looked up among all of them. Text that a grammar does not know is passed over: the file says how
//! many such parts it has, and everything around them is told.
//!
//! What is deliberately absent: a preprocessor, types of expressions, and names that a library brings. Which function a
//! call reaches, the binary knows ([`crate::database`]).

mod attributes;
mod both;
mod branches;
mod c_family;
mod constructs;
mod continued;
mod declarator;
mod dependences;
mod facts;
mod fixed_form;
mod fortran;
mod fortran_macros;
mod grammar;
mod language;
mod merge;
mod parse;
mod read;
mod references;
mod rust;
mod rust_macro;
mod subscripts;
mod symbols;
mod torn;
mod tree;
mod walk;

use std::path::{Path, PathBuf};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::problem::Problem;
use crate::texts::{Text, Texts};

pub use facts::{
    Access, Attribute, Attributes, Base, BaseKind, Bytes, Call, CallKind, Construct, Dependence, File,
    Function, FunctionKind, Lines, Loop, LoopKind, Mark, MarkKind, Member, MemberKind, Model, Reference,
    Symbol, SymbolEnd, Type, TypeKind,
};
pub use language::Language;

/// What is read, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextConfig {
    /// Larger files are left out. A tree takes up to thirty times the memory of its text; the largest files that people
    /// keep as sources, whole libraries in one, have 10 MB.
    pub max_file_bytes: u64,
}

impl TextConfig {
    /// What suits a machine that programs are compiled on.
    pub fn system() -> Self {
        Self { max_file_bytes: 16 << 20 }
    }
}

/// What the text of a program says. Rows are in the order of files and of lines; equal text gives equal rows.
#[derive(Debug, Default)]
pub struct Sources {
    texts: Texts,
    /// Files that were read.
    pub files: Vec<File>,
    /// Functions that are defined.
    pub functions: Vec<Function>,
    /// Types that are defined.
    pub types: Vec<Type>,
    /// Their members.
    pub members: Vec<Member>,
    /// What they are derived from and implement.
    pub bases: Vec<Base>,
    /// Loops; those that lie in another one come behind it.
    pub loops: Vec<Loop>,
    /// Constructs of parallel programming models.
    pub constructs: Vec<Construct>,
    /// References to other images, in the order of files and lines.
    pub references: Vec<Reference>,
    /// Calls.
    pub calls: Vec<Call>,
    /// How functions and loops can be entered and left, in the order of files.
    pub marks: Vec<Mark>,
    /// Why something is missing.
    pub problems: Vec<Problem>,
}

impl Sources {
    /// Whether a path looks like a source.
    pub fn has_source_name(path: &Path) -> bool {
        Language::of_path(path).is_some()
    }

    /// Reads a file, or all sources below a directory.
    pub fn of(path: &Path, config: &TextConfig) -> Self {
        let mut problems = Vec::new();
        let paths = if path.is_dir() { tree::below(path, &mut problems) } else { vec![path.to_owned()] };
        let mut sources = Self::of_files(&paths, config);
        problems.append(&mut sources.problems);
        sources.problems = problems;
        sources
    }

    /// Reads files.
    pub fn of_files(paths: &[PathBuf], config: &TextConfig) -> Self {
        let read = paths.par_iter().with_max_len(1);
        let read = read.map_init(tree_sitter::Parser::new, |parser, path| read::read(parser, path, config));
        let read: Vec<_> = read.collect();
        merge::merge(paths, read)
    }

    /// The text of a number.
    pub fn text(&self, text: Text) -> &str {
        self.texts.get(text)
    }

    /// The path of a file.
    pub fn path(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |file| self.text(file.path))
    }
}
