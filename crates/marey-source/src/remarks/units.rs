//! Which sources a module was made of, by which compiler, and where the compiler ran.
//!
//! The one idea: the heads of compilation units and of their line tables say that; nothing else of the debug information is
//! read, so a large program takes no longer than its list of files.

use std::path::{Component, Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::row::Compiler;
use crate::dwarf::{SECTIONS, guarded};
use crate::elf::Sections;
use crate::module::Files;
use crate::problem::{BuildId, Problem, Problems};
use crate::symbolizer::{ModuleRef, SymbolizerConfig};

/// What is known of the making of a module.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Where compilers ran.
    pub(super) directories: Vec<PathBuf>,
    /// Which compilers.
    pub(super) compilers: FxHashSet<Compiler>,
    /// Sources without detours, and as debug information spells them.
    pub(super) files: FxHashMap<PathBuf, String>,
    /// Sources that units are named after, and who compiled them.
    pub(super) units: FxHashMap<PathBuf, Compiler>,
    /// How many units each of those has, if it has several.
    several: FxHashMap<PathBuf, usize>,
    /// Names of those, without directories, of units that have none of the sources which were asked for.
    idle: FxHashSet<String>,
    /// Names of all others.
    busy: FxHashSet<String>,
}

/// Files of a module at most; programs of ten million lines have 100 000.
const MOST_FILES: usize = 1 << 20;

impl Made {
    /// `asked` are the sources that matter; without any all do.
    pub(super) fn of(
        module: &ModuleRef<'_>,
        asked: &FxHashSet<&str>,
        config: &SymbolizerConfig,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut found = Problems::default();
        let recorded = module.build_id.filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let files = Files::of(module.path, recorded.as_ref(), config, &mut found);
        let mut made = Self::default();
        if let Some((path, _)) = files.with_dwarf(module.path) {
            match Sections::read(path, &SECTIONS, config.max_bytes) {
                Ok(sections) => {
                    // What is behind damage is left out.
                    if guarded(|| made.read(&sections, asked)).is_none() {
                        found.report(Problem::ReaderFailed { path: path.to_owned() });
                    }
                }
                Err(problem) => found.report(problem),
            }
        }
        problems.extend(found.list().iter().cloned());
        made
    }

    /// Of sources whose full paths are known, whoever compiled them.
    pub(super) fn of_files(files: &[String]) -> Self {
        let mut made = Self::default();
        made.compilers.extend([Compiler::Gcc, Compiler::Clang, Compiler::Rustc]);
        for file in files.iter().filter(|file| file.starts_with('/')) {
            made.files.insert(plain(Path::new(file)), file.clone());
        }
        made
    }

    fn read(&mut self, sections: &Sections, asked: &FxHashSet<&str>) {
        let endian =
            if sections.little_endian { gimli::RunTimeEndian::Little } else { gimli::RunTimeEndian::Big };
        let section = |id: gimli::SectionId| {
            Ok::<_, std::convert::Infallible>(gimli::EndianSlice::new(sections.get(id.name()), endian))
        };
        let dwarf = match gimli::Dwarf::load(section) {
            Ok(dwarf) => dwarf,
            Err(never) => match never {},
        };
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if let Ok(unit) = dwarf.unit(header)
                && self.files.len() < MOST_FILES
            {
                self.add(&dwarf, &unit, asked);
            }
        }
        self.directories.sort_unstable();
        self.directories.dedup();
    }

    fn add<R: gimli::Reader>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
        asked: &FxHashSet<&str>,
    ) {
        let text = |value: R| value.to_string_lossy().map(|text| text.into_owned()).ok();
        let directory = unit.comp_dir.clone().and_then(text).unwrap_or_default();
        if directory.starts_with('/') {
            self.directories.push(PathBuf::from(&directory));
        }
        let compiler = producer(dwarf, unit).and_then(|producer| compiler(&producer));
        self.compilers.extend(compiler);
        let source = unit.name.clone().and_then(text).map(|name| plain(&Path::new(&directory).join(name)));
        if let (Some(source), Some(compiler)) = (&source, compiler)
            && self.units.insert(source.clone(), compiler).is_some()
        {
            *self.several.entry(source.clone()).or_insert(1) += 1;
        }
        let mut is_asked = asked.is_empty();
        let Some(program) = &unit.line_program else { return };
        let header = program.header();
        for file in header.file_names() {
            let part = |value| dwarf.attr_string(unit, value).ok().and_then(text);
            let Some(name) = part(file.path_name()) else { continue };
            let mut path = directory.clone();
            // As addresses are made lines: only what is no full path stands behind what is around it.
            let within = (file.directory_index() != 0).then(|| file.directory(header)).flatten();
            within.and_then(part).into_iter().chain([name]).for_each(|part| push(&mut path, &part));
            is_asked |= asked.contains(path.as_str());
            self.files.entry(plain(Path::new(&path))).or_insert(path);
        }
        let name = source.as_ref().and_then(|source| source.file_name()).map(|name| name.to_string_lossy());
        if let Some(name) = name {
            let names = if is_asked { &mut self.busy } else { &mut self.idle };
            names.insert(name.into_owned());
        }
    }

    /// Whether a record, by its name, is that of a source in which nothing was asked for: `app-k.c.opt-record.json.gz`,
    /// `k.opt.yaml`. Where that is not clear it may matter.
    pub(super) fn is_idle(&self, record: &Path) -> bool {
        let name = name_of(record);
        self.idle.iter().any(|it| is_named_after(&name, it))
            && !self.busy.iter().any(|it| is_named_after(&name, it))
    }

    /// Names of sources, of which one has a record by its name.
    pub(super) fn named_by(&self, record: &Path) -> Vec<&str> {
        let name = name_of(record);
        let known = self.idle.iter().chain(&self.busy).map(String::as_str);
        known.filter(|source| is_named_after(&name, source)).collect()
    }

    /// How many units are made of a source.
    pub(super) fn times(&self, unit: &Path) -> usize {
        self.several.get(unit).copied().unwrap_or(1)
    }

    /// The source that a remark means, as debug information spells it. Relative names are meant from where the compiler
    /// ran; if several fit, that of the record is nearest.
    pub(super) fn resolve(&self, file: &str, record: &Path) -> Option<&str> {
        if file.starts_with('/') {
            return self.files.get(&plain(Path::new(file))).map(String::as_str);
        }
        let of = |directory: &PathBuf| self.files.get(&plain(&directory.join(file)));
        let mut found: Vec<(&PathBuf, &String)> = self
            .directories
            .iter()
            .filter_map(|directory| of(directory).map(|path| (directory, path)))
            .collect();
        found.dedup_by_key(|(_, path)| path.as_str());
        if let [(_, path)] = found[..] {
            return Some(path);
        }
        if self.directories.is_empty() {
            return self.nearest(Path::new(file), record);
        }
        let around = found.iter().filter(|(directory, _)| record.starts_with(directory));
        around.max_by_key(|(directory, _)| directory.components().count()).map(|(_, path)| path.as_str())
    }

    /// Where it is not known where the compiler ran: the source that lies in a directory around the record; if none lies
    /// there, the only one whose path ends so.
    fn nearest(&self, file: &Path, record: &Path) -> Option<&str> {
        let record = std::fs::canonicalize(record).unwrap_or_else(|_| record.to_owned());
        for directory in record.ancestors().skip(1) {
            let path = plain(&directory.join(file));
            match self.files.get(&path) {
                Some(spelled) => return Some(spelled),
                // It is of another program.
                None if path.is_file() => return None,
                None => {}
            }
        }
        let file = plain(file);
        let mut ends = self.files.iter().filter(|(path, _)| path.ends_with(&file));
        let first = ends.next();
        first.filter(|_| ends.next().is_none()).map(|(_, path)| path.as_str())
    }
}

/// `app-k.c` of `app-k.c.opt-record.json.gz`
fn name_of(record: &Path) -> String {
    let name = record.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".opt-record.json.gz").trim_end_matches(".opt.yaml").to_owned()
}

/// Whether `app-k.c` or `k` is the name of a record of `k.c`.
fn is_named_after(record: &str, source: &str) -> bool {
    let stem = source.rsplit_once('.').map_or(source, |(stem, _)| stem);
    let is_whole =
        |end: &str| record.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'));
    is_whole(source) || is_whole(stem)
}

fn producer<R: gimli::Reader>(dwarf: &gimli::Dwarf<R>, unit: &gimli::Unit<R>) -> Option<String> {
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    let value = root.attr_value(gimli::DW_AT_producer)?;
    let text = dwarf.attr_string(unit, value).ok()?;
    text.to_string_lossy().map(|text| text.into_owned()).ok()
}

fn compiler(producer: &str) -> Option<Compiler> {
    if producer.contains("rustc") {
        Some(Compiler::Rustc)
    } else if producer.starts_with("GNU ") {
        // The assembler of GNU says so, too.
        (!producer.starts_with("GNU AS")).then_some(Compiler::Gcc)
    } else if ["clang", "flang", "LLVM"].iter().any(|name| producer.contains(name)) {
        Some(Compiler::Clang)
    } else {
        None
    }
}

/// Appends a path to another, as debug information means it.
fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    *path += part;
}

/// A path without detours.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
