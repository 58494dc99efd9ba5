//! One module: which files describe it, and what they say about an address.
//!
//! Its one idea is the order of trust: debug information first, then a symbol that holds the address, then
//! module+offset. Each step down is visible in the result's quality.

use std::path::{Path, PathBuf};

use crate::debug_file::{find, find_supplementary};
use crate::dwarf::{Dwarf, NameKind, NamedFrame};
use crate::elf::{Head, read_head};
use crate::names::{Language, Names, is_mangled};
use crate::problem::{BuildId, Problem, Problems};
use crate::symbolizer::{Address, Frame, Quality, Resolved, SymbolizerConfig};
use crate::symbols::SymbolTable;

/// What is known about one module of a run.
pub(crate) struct Module {
    name: String,
    dwarf: Option<Dwarf>,
    symbols: SymbolTable,
    names: Names,
}

impl Module {
    /// Opens the files of the module at `path`; `recorded` is the build id of what ran.
    pub(crate) fn open(
        path: &Path,
        recorded: Option<&BuildId>,
        config: &SymbolizerConfig,
        problems: &mut Problems,
    ) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut module = Self { name, dwarf: None, symbols: SymbolTable::default(), names: Names::default() };
        if is_pseudo_file(path) {
            return module;
        }
        let files = Files::of(path, recorded, config, problems);
        if let Some((file, file_head)) = files.with_dwarf(path)
            && !config.is_only_symbols(&module.name)
        {
            module.dwarf = open_dwarf(file, file_head, path, config, problems);
        }
        module.symbols = best_symbols(files);
        module
    }

    /// The source frames at `address`.
    pub(crate) fn resolve(&mut self, address: Address, problems: &mut Problems) -> Resolved {
        let mut found = Vec::new();
        if let Some(dwarf) = &mut self.dwarf {
            match dwarf.frames(address.probe(), &mut self.names, problems) {
                Ok(frames) => found = frames,
                Err(problem) => {
                    problems.report(problem);
                    self.dwarf = None;
                }
            }
        }
        if found.is_empty() {
            return self.without_lines(address);
        }
        // Assembler files have lines but no functions; only the physical function may take the symbol's
        // name, inlined ones have none of their own.
        let has_lines = found.iter().any(|named| named.frame.line.is_some());
        let physical = found.len() - 1;
        let mut is_named = false;
        let mut frames = Vec::with_capacity(found.len());
        for (i, NamedFrame { mut frame, name }) in found.into_iter().enumerate() {
            let symbol = if i == physical { self.symbol_for(&frame.function, name, address) } else { None };
            is_named |= name != NameKind::Missing || symbol.is_some();
            match (symbol, name) {
                (Some(symbol), _) => frame.function = symbol,
                (None, NameKind::Missing) => frame.function = self.offset_name(address),
                (None, NameKind::Short | NameKind::Linkage) => {}
            }
            frames.push(frame);
        }
        let quality = match (has_lines, is_named) {
            (true, _) => Quality::Lines,
            (false, true) => Quality::Symbols,
            (false, false) => Quality::ModuleOffset,
        };
        Resolved { frames, quality }
    }

    /// Raw debug sections and symbols held, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.symbols.bytes() + self.dwarf.as_ref().map_or(0, Dwarf::bytes)
    }

    /// The name of the symbol at `address` where it says more than debug information does of the physical
    /// function there, whose name it has as `function`.
    fn symbol_for(&mut self, function: &str, name: NameKind, address: Address) -> Option<String> {
        if name == NameKind::Linkage {
            return None;
        }
        let symbol = self.symbols.find(address.probe())?;
        match name {
            NameKind::Missing => Some(self.names.readable(symbol, Language::Unknown)),
            NameKind::Short | NameKind::Linkage => fuller_name(function, symbol, &mut self.names),
        }
    }

    fn without_lines(&mut self, address: Address) -> Resolved {
        let (function, quality) = match self.symbols.find(address.probe()) {
            Some(symbol) => (self.names.readable(symbol, Language::Unknown), Quality::Symbols),
            None => (self.offset_name(address), Quality::ModuleOffset),
        };
        Resolved { frames: vec![Frame { function, file: None, line: None, column: None }], quality }
    }

    fn offset_name(&self, address: Address) -> String {
        format!("{}+{:#x}", self.name, address.vaddr())
    }
}

/// The files that tell of a module.
pub(crate) struct Files {
    /// Of the module itself; `None` = it is gone, or not the one that ran.
    pub(crate) head: Option<Head>,
    /// The file that holds its debug information instead.
    pub(crate) separate: Option<(PathBuf, Head)>,
}

impl Files {
    pub(crate) fn of(
        path: &Path,
        recorded: Option<&BuildId>,
        config: &SymbolizerConfig,
        problems: &mut Problems,
    ) -> Self {
        let head = open_recorded(path, recorded, problems);
        let build_id = recorded.cloned().or_else(|| head.as_ref().map(|head| head.build_id.clone()));
        let link = head.as_ref().and_then(|head| head.debug_link.as_ref());
        // A module that is gone or replaced may still have its debug file, named by the recorded build id.
        let separate = match &head {
            Some(head) if head.has_dwarf => None,
            _ => find(path, &build_id.unwrap_or_default(), link, &config.debug_roots, problems),
        };
        Self { head, separate }
    }

    /// The file that has debug information; `None` = neither has.
    pub(crate) fn with_dwarf<'f>(&'f self, path: &'f Path) -> Option<(&'f Path, &'f Head)> {
        match (&self.head, &self.separate) {
            (Some(head), None) if head.has_dwarf => Some((path, head)),
            (_, Some((path, head))) if head.has_dwarf => Some((path.as_path(), head)),
            _ => None,
        }
    }

    /// The file that debug information shares with others, if it does.
    pub(crate) fn shared(
        head: &Head,
        file: &Path,
        config: &SymbolizerConfig,
        problems: &mut Problems,
    ) -> Option<PathBuf> {
        let (name, id) = head.alt_link.as_ref()?;
        find_supplementary(file, name, id, &config.debug_roots, problems)
    }
}

/// What a symbol says of a function of which only a short name is known, if it says more.
pub(crate) fn fuller_name(function: &str, symbol: &str, names: &mut Names) -> Option<String> {
    let fuller = names.readable(symbol, Language::Unknown);
    // Functions of equal code are often one, under the symbols of all: any other name than the one known here would be
    // a guess.
    (is_mangled(symbol) && fuller.contains(identifier(function))).then_some(fuller)
}

/// The first word of a name: `add` of `add<u64>`, `closure` of `{closure#0}`.
fn identifier(name: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = name.trim_start_matches(|c| !is_word(c));
    start.split(|c| !is_word(c)).next().unwrap_or(start)
}

/// The kernel's own modules have no file; that is no problem to report.
fn is_pseudo_file(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.is_empty()
        || name.starts_with('[')
        || name.starts_with("linux-vdso")
        || name.starts_with("linux-gate")
}

/// The head of the file at `path` if that is the file that ran.
fn open_recorded(path: &Path, recorded: Option<&BuildId>, problems: &mut Problems) -> Option<Head> {
    match read_head(path) {
        Ok(head) => match recorded {
            Some(recorded) if *recorded != head.build_id => {
                problems.report(Problem::BuildIdMismatch {
                    path: path.to_owned(),
                    recorded: recorded.clone(),
                    found: head.build_id,
                });
                None
            }
            _ => Some(head),
        },
        Err(problem) => {
            problems.report(problem);
            None
        }
    }
}

fn open_dwarf(
    file: &Path,
    head: &Head,
    module: &Path,
    config: &SymbolizerConfig,
    problems: &mut Problems,
) -> Option<Dwarf> {
    let supplementary = Files::shared(head, file, config, problems);
    match Dwarf::open(file, supplementary.as_deref(), module, config.max_bytes, problems) {
        Ok(dwarf) => Some(dwarf),
        Err(problem) => {
            problems.report(problem);
            None
        }
    }
}

/// The fullest symbol table: the module's own, else its debug file's, else the dynamic one.
pub(crate) fn best_symbols(files: Files) -> SymbolTable {
    let (own, dynamic) = files.head.map(|head| (head.symbols, head.dynamic_symbols)).unwrap_or_default();
    let separate = files.separate.map(|(_, head)| head.symbols).unwrap_or_default();
    [own, separate, dynamic].into_iter().find(|table| !table.is_empty()).unwrap_or_default()
}
