//! The entry point: one object that turns (module, address) into source frames.
//!
//! Its one idea: a module is opened at its first address and kept, so that the cost of a run's symbols is
//! that of its modules, not of its addresses. It does not cache addresses; callers intern those anyway.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::module::Module;
use crate::problem::{BuildId, Problem, Problems};

/// Turns recorded addresses into functions, files and lines.
pub struct Symbolizer {
    config: SymbolizerConfig,
    modules: FxHashMap<ModuleKey, Entry>,
    problems: Problems,
    /// Counts resolutions; tells which module was used longest ago.
    clock: u64,
}

/// A loaded module as the run recorded it.
#[derive(Debug, Clone, Copy)]
pub struct ModuleRef<'a> {
    /// Path of the file, as the dynamic loader knew it.
    pub path: &'a Path,
    /// Build id of what was mapped, if it had one. Without it the file is taken as it is.
    pub build_id: Option<&'a [u8]>,
}

/// An address in a module's file: run-time address − load bias (`dlpi_addr`), for PIE and non-PIE alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// Where a call returns to: the call itself lies before it, often on another line.
    Return(u64),
    /// The instruction itself, such as a sampled program counter or the start of a function.
    Exact(u64),
}

/// What an address stands for in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Innermost inlined function first, the physical function last; never empty.
    pub frames: Vec<Frame>,
    /// How much is known.
    pub quality: Quality,
}

/// One function of the source at an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Readable name; `file+0xoffset` when nothing names the address.
    pub function: String,
    /// Source file as the compiler wrote it, made absolute with its directory.
    pub file: Option<String>,
    /// Line in `file`, from 1.
    pub line: Option<u32>,
    /// Column in `line`, from 1.
    pub column: Option<u32>,
}

/// How much is known about an address, poorest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quality {
    /// Only the module and the address inside it.
    ModuleOffset,
    /// The function, from a symbol table or from debug information without lines.
    Symbols,
    /// Function, file and line.
    Lines,
}

/// Settings of a [`Symbolizer`].
#[derive(Debug, Clone)]
pub struct SymbolizerConfig {
    /// Directories that hold separate debug files; distributions use `/usr/lib/debug`.
    pub debug_roots: Vec<PathBuf>,
    /// Bound for the raw debug sections and symbol tables held at once, in bytes. Beyond it the module
    /// used longest ago is dropped and read again when needed; a module larger than this alone falls back
    /// to its symbol table. Parsed tables come on top, in practice about as much again.
    pub max_bytes: u64,
    /// What the file names of modules begin with of which only the symbols are read, not the debug
    /// information.
    pub only_symbols: Vec<String>,
}

impl SymbolizerConfig {
    /// The system's debug files, and 2 GiB: the largest debug files of common packages (browsers,
    /// compilers) stay below. The C library is known by its symbols alone: every call stack begins in it
    /// and nobody looks for its lines, but where they are installed, they take longer to read than those
    /// of most programs.
    pub fn system() -> Self {
        Self {
            debug_roots: vec![PathBuf::from("/usr/lib/debug")],
            max_bytes: 2 << 30,
            only_symbols: ["libc.so.", "ld-linux", "libpthread.so."].map(str::to_owned).to_vec(),
        }
    }

    /// Whether only the symbols of the module with this file name are read.
    pub(crate) fn is_only_symbols(&self, name: &str) -> bool {
        self.only_symbols.iter().any(|begin| name.starts_with(begin.as_str()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ModuleKey {
    path: PathBuf,
    build_id: Option<BuildId>,
}

struct Entry {
    module: Module,
    used: u64,
}

impl Symbolizer {
    /// A symbolizer that has opened nothing yet.
    pub fn new(config: SymbolizerConfig) -> Self {
        Self { config, modules: FxHashMap::default(), problems: Problems::default(), clock: 0 }
    }

    /// The source frames at `address` of `module`. The first address of a module costs opening it, the
    /// first of each compilation unit parsing that; later ones a few microseconds. Resolve the addresses
    /// of one module after the other, so that the memory limit never makes it open a module twice.
    pub fn resolve(&mut self, module: &ModuleRef<'_>, address: Address) -> Resolved {
        self.clock += 1;
        let build_id = module.build_id.filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let key = ModuleKey { path: module.path.to_owned(), build_id };
        let (config, problems) = (&self.config, &mut self.problems);
        let entry = self.modules.entry(key).or_insert_with_key(|key| Entry {
            module: Module::open(&key.path, key.build_id.as_ref(), config, problems),
            used: 0,
        });
        entry.used = self.clock;
        let resolved = entry.module.resolve(address, problems);
        self.drop_oldest_beyond_limit();
        resolved
    }

    /// What kept frames from being exact so far: the first problem of each kind for each file, in order of
    /// appearance.
    pub fn problems(&self) -> &[Problem] {
        self.problems.list()
    }

    fn drop_oldest_beyond_limit(&mut self) {
        while self.modules.len() > 1 {
            let held_bytes: u64 = self.modules.values().map(|entry| entry.module.bytes()).sum();
            if held_bytes <= self.config.max_bytes {
                return;
            }
            // `used` differs between entries, so the choice does not depend on the order of the map.
            let oldest = self.modules.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            self.modules.remove(&oldest.expect("the map holds at least two entries"));
        }
    }
}

impl Address {
    /// The address to look up, inside the instruction that is meant.
    pub(crate) fn probe(self) -> u64 {
        match self {
            Address::Return(vaddr) => vaddr.saturating_sub(1),
            Address::Exact(vaddr) => vaddr,
        }
    }

    /// The address as it was recorded.
    pub(crate) fn vaddr(self) -> u64 {
        match self {
            Address::Return(vaddr) | Address::Exact(vaddr) => vaddr,
        }
    }
}
