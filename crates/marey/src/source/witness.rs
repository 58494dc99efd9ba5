//! The two witnesses of a program, and what each knows alone.
//!
//! The one idea: a binary names its sources, so both are asked by giving the binary; a source or a directory of sources is
//! asked alone.

use std::io::Read;
use std::path::{Path, PathBuf};

use marey_source::database::Database;
use marey_source::joined::{Joined, read_sources, sources_of};
use marey_source::text::{Sources, TextConfig};
use marey_source::{ModuleRef, SymbolizerConfig};

/// What a program consists of.
#[derive(Default)]
pub(super) struct Witnesses {
    pub(super) binary: Database,
    pub(super) text: Sources,
    pub(super) joined: Joined,
    /// Sources of the binary that are not there.
    pub(super) n_missing: usize,
    /// A source that was changed after the binary was made.
    pub(super) newer: Option<PathBuf>,
    has_binary: bool,
}

impl Witnesses {
    /// Asks whoever a path leads to.
    pub(super) fn ask(path: &Path) -> Self {
        if path.is_dir() || !is_elf(path) && Sources::has_source_name(path) {
            let text = Sources::of(path, &TextConfig::system());
            return Self { text, ..Self::default() };
        }
        let module = ModuleRef { path, build_id: None };
        let mut binary = Database::of(&module, &SymbolizerConfig::system());
        let (text, n_missing) = read_sources(&binary, &TextConfig::system());
        let joined = Joined::new(&binary, &text);
        joined.complete(&mut binary, &text);
        let newer = newer(path, &binary);
        Self { binary, text, joined, n_missing, newer, has_binary: true }
    }

    /// Asks a module, and of its sources those that are chosen.
    pub(super) fn of_module(module: &ModuleRef<'_>, choose: impl Fn(&Path) -> bool) -> Self {
        let mut binary = Database::of(module, &SymbolizerConfig::system());
        let (there, n_missing) = sources_of(&binary);
        let chosen: Vec<PathBuf> = there.into_iter().filter(|path| choose(path)).collect();
        let text = Sources::of_files(&chosen, &TextConfig::system());
        let joined = Joined::new(&binary, &text);
        joined.complete(&mut binary, &text);
        Self { binary, text, joined, n_missing, newer: None, has_binary: true }
    }

    pub(super) fn has_binary(&self) -> bool {
        self.has_binary
    }

    pub(super) fn has_both(&self) -> bool {
        self.has_binary && !self.text.files.is_empty()
    }

    /// Functions of the text that the binary does not know.
    pub(super) fn functions_of_text(&self) -> Vec<u32> {
        alone(self.text.functions.len(), &self.joined.functions)
    }

    /// Types of the text that the binary does not know.
    pub(super) fn types_of_text(&self) -> Vec<u32> {
        alone(self.text.types.len(), &self.joined.types)
    }

    /// Calls of the text that the binary does not know.
    pub(super) fn calls_of_text(&self) -> Vec<u32> {
        let is_known = |row: &u32| self.joined.known_calls.get(*row as usize).copied().unwrap_or(false);
        (0..).zip(&self.text.calls).map(|(row, _)| row).filter(|row| !is_known(row)).collect()
    }

    /// Paths of all sources.
    pub(super) fn files(&self) -> Vec<&str> {
        let of_binary = self.binary.files.iter().map(|path| self.binary.text(*path));
        let of_text = self.text.files.iter().map(|file| self.text.text(file.path));
        let mut files: Vec<&str> = of_binary.chain(of_text).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The function of the text that a function of the binary is.
    pub(super) fn written(&self, row: u32) -> Option<u32> {
        self.joined.functions.get(row as usize).copied().flatten()
    }
}

/// Rows that no other row stands for.
fn alone(len: usize, joined: &[Option<u32>]) -> Vec<u32> {
    let mut is_known = vec![false; len];
    for row in joined.iter().flatten() {
        if let Some(known) = is_known.get_mut(*row as usize) {
            *known = true;
        }
    }
    (0..).zip(is_known).filter(|(_, known)| !known).map(|(row, _)| row).collect()
}

/// Whether a file is a program, whatever its name says.
fn is_elf(path: &Path) -> bool {
    let mut start = [0; 4];
    // A pipe may have nobody who writes to it.
    if std::fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        return false;
    }
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"\x7fELF"
}

/// The first source that was changed after the program was made.
fn newer(program: &Path, binary: &Database) -> Option<PathBuf> {
    let made = std::fs::metadata(program).and_then(|it| it.modified()).ok()?;
    let is_newer = |path: &PathBuf| {
        std::fs::metadata(path).and_then(|it| it.modified()).is_ok_and(|changed| made < changed)
    };
    sources_of(binary).0.into_iter().find(is_newer)
}
