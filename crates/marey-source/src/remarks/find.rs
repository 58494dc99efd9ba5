//! Where records of compilers lie, and whether they are those of a program.
//!
//! The one idea: compilers write records beside what they make, so they are looked for below the directories where the
//! compiler ran and beside the program; a record is one of the program if it tells of sources that debug information names, by
//! the compiler that it names. A record that is younger than the program tells of another one and is left out.
//!
//! Directories are looked through from above, up to a number of entries; links are not followed.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::row::{Compiler, Remark};
use super::units::Made;
use super::{Format, RemarkConfig, Remarks};
use crate::problem::Problem;
use crate::symbolizer::{ModuleRef, SymbolizerConfig};

/// Levels below a directory that are looked through: object files lie deep in the trees of CMake.
const MOST_LEVELS: usize = 8;
/// Entries that are looked at, some 0.1 s.
const MOST_ENTRIES: usize = 30_000;
/// Records that are found from one module.
const MOST_RECORDS: usize = 20_000;
/// Bytes of records, unpacked, that are read of one run.
const MOST_BYTES: u64 = 3 << 30;
/// By how much a record may be younger than the program: file systems round times.
const ROUNDING: Duration = Duration::from_secs(2);
/// What is printed is complete when the linker is done.
const LINKING: Duration = Duration::from_secs(60);

/// A file that may hold remarks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemarkFiles {
    /// Where it is.
    pub path: PathBuf,
    /// What it should hold.
    pub format: Format,
}

/// Remarks about a program.
#[derive(Debug, Default)]
pub struct Found {
    /// With sources as debug information spells them.
    pub rows: Vec<Remark>,
    /// What was read.
    pub files: Vec<PathBuf>,
    /// Why something is missing or doubtful.
    pub problems: Vec<Problem>,
}

/// What a file holds, by its name.
fn format_of(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    if name.ends_with(".opt-record.json.gz") {
        Some(Format::Gcc)
    } else if name.ends_with(".opt.yaml") || name.ends_with(".opt.yml") {
        Some(Format::Llvm)
    } else if name.ends_with(".remarks") {
        Some(Format::Printed)
    } else {
        None
    }
}

/// Files that a user names, and those below directories that he names.
pub fn of_paths(paths: &[PathBuf]) -> Vec<RemarkFiles> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(below([(path.clone(), MOST_LEVELS)]));
        } else {
            // Whoever names a file may call it as he likes.
            let format = format_of(path).unwrap_or_else(|| sniffed(path));
            files.push(RemarkFiles { path: path.clone(), format });
        }
    }
    files.sort();
    files.dedup();
    files
}

/// What a file begins with says what it is.
fn sniffed(path: &Path) -> Format {
    use std::io::Read;
    let mut start = [0; 3];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match (read, &start) {
        (Ok(()), [0x1f, 0x8b, _]) => Format::Gcc,
        (Ok(()), b"---") => Format::Llvm,
        _ => Format::Printed,
    }
}

/// Records below directories, the nearest first.
fn below(directories: impl IntoIterator<Item = (PathBuf, usize)>) -> Vec<RemarkFiles> {
    let mut left: VecDeque<(PathBuf, usize, usize)> =
        directories.into_iter().map(|(path, levels)| (path, 0, levels)).collect();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut seen = FxHashSet::default();
    while let Some((directory, level, levels)) = left.pop_front() {
        // Breadth first, so whoever comes first comes with most levels left below.
        if !seen.insert(directory.clone()) {
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        let mut entries: Vec<_> = entries.flatten().take(MOST_ENTRIES).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            looked_at += 1;
            if MOST_ENTRIES < looked_at || MOST_RECORDS <= found.len() {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            // What cargo compiles into is marked as such, and large.
            if kind.is_dir() && !is_hidden && level < levels && !path.join("CACHEDIR.TAG").exists() {
                left.push_back((path, level + 1, levels));
            } else if kind.is_file()
                && let Some(format) = format_of(&path)
            {
                found.push(RemarkFiles { path, format });
            }
        }
    }
    found
}

/// Remarks about a module: of the records that are given, or, if none are, of those that are found where it was made.
///
/// With `asked`, sources that matter, records of compilation units without any of them are not read: GCC writes 100 MB for
/// 20 000 lines.
pub fn of_module(
    module: &ModuleRef<'_>,
    given: Option<&[RemarkFiles]>,
    asked: &[String],
    config: &RemarkConfig,
    system: &SymbolizerConfig,
) -> Found {
    of_modules(std::slice::from_ref(module), given, asked, config, system)
}

/// The same of several modules; each record is read once.
pub fn of_modules(
    modules: &[ModuleRef<'_>],
    given: Option<&[RemarkFiles]>,
    asked: &[String],
    config: &RemarkConfig,
    system: &SymbolizerConfig,
) -> Found {
    let mut found = Found::default();
    let asked = asked.iter().map(String::as_str).collect();
    let mut of_file: FxHashMap<RemarkFiles, Vec<usize>> = FxHashMap::default();
    let mut files: Vec<RemarkFiles> = Vec::new();
    let mut walked: FxHashMap<Vec<(PathBuf, usize)>, Vec<RemarkFiles>> = FxHashMap::default();
    let mut all_made = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        let made = Made::of(module, &asked, system, &mut found.problems);
        let near = match given {
            _ if made.files.is_empty() => &[][..],
            Some(given) => given,
            None => {
                let around = around(module.path, &made);
                walked.entry(around).or_insert_with_key(|around| below(around.iter().cloned()))
            }
        };
        for file in near.iter().filter(|it| may_be_of(it.format, &made) && !made.is_idle(&it.path)) {
            let of = of_file.entry(file.clone()).or_default();
            if of.is_empty() {
                files.push(file.clone());
            }
            of.push(place);
        }
        all_made.push(made);
    }
    let number = affordable(&files);
    if let Some(left_out) = files.get(number) {
        let (number, path) = (files.len() - number, left_out.path.clone());
        found.problems.push(Problem::ManyRemarks { path, number });
    }
    files.truncate(number);
    // What is not of these programs' sources is none of their records, and no problem.
    let read = |it: &RemarkFiles| {
        let of = of_file.get(it).map_or(&[][..], Vec::as_slice);
        let remarks = Remarks::of(&it.path, it.format, config);
        let record = |place: &usize| Some((*place, Record::of(&remarks, &it.path, all_made.get(*place)?)?));
        of.iter().filter_map(record).collect::<Vec<_>>()
    };
    let read: Vec<Vec<(usize, Record)>> = files.par_iter().with_max_len(1).map(read).collect();
    let mut of_module: Vec<Vec<Record>> = modules.iter().map(|_| Vec::new()).collect();
    read.into_iter().flatten().for_each(|(place, record)| of_module[place].push(record));
    for ((module, made), mut records) in modules.iter().zip(&all_made).zip(of_module) {
        let time = modified(module.path);
        let is_too_young = |record: &Record| {
            let slack = if record.compiler == Compiler::Rustc { LINKING } else { ROUNDING };
            time.zip(record.time).is_some_and(|(made, written)| made + slack < written)
        };
        records.retain(|record| {
            let is_younger = is_too_young(record);
            if is_younger {
                found.problems.push(Problem::YoungRemarks { path: record.path.clone() });
            }
            // Whoever names a record wants it.
            !is_younger || given.is_some()
        });
        keep_one_of_each_unit(&mut records, made, module.path, &mut found.problems);
        records.into_iter().for_each(|record| found.take(record, time));
    }
    if modules.len() > 1 {
        // What two of them are made of is told once.
        let mut known = FxHashSet::default();
        found.rows.retain(|row| known.insert(row.clone()));
        found.files.sort_unstable();
        found.files.dedup();
    }
    found
}

/// Remarks of records about sources whose full paths are known, whoever compiled them.
pub fn of_files(files: &[String], records: &[RemarkFiles], config: &RemarkConfig) -> Found {
    let made = Made::of_files(files);
    let mut found = Found::default();
    let mut unused = Vec::new();
    for RemarkFiles { path, format } in records {
        let remarks = Remarks::of(path, *format, config);
        match Record::of(&remarks, path, &made) {
            Some(record) => found.take(record, None),
            // Whose it is, what is damaged at its beginning does not say.
            None if remarks.rows.is_empty() && !remarks.problems.is_empty() => {
                found.problems.extend(remarks.problems);
            }
            None => unused.push(path.clone()),
        }
    }
    // Of a directory there may be many; of files that were named each is missed.
    if found.files.is_empty() {
        found.problems.extend(unused.into_iter().map(|path| Problem::ForeignRemarks { path }));
    }
    found
}

/// Remarks of records, whatever they are of. Sources with relative paths are looked for in the directories around.
pub fn of_records(records: &[RemarkFiles], config: &RemarkConfig) -> Found {
    let mut found = Found::default();
    for RemarkFiles { path, format } in records {
        let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let Remarks { mut rows, problems } = Remarks::of(path, *format, config);
        let mut known: FxHashMap<String, String> = FxHashMap::default();
        for row in &mut rows {
            let around = || full.ancestors().skip(1).map(|directory| directory.join(&row.file));
            let there =
                || around().find(|file| file.is_file()).map(|file| file.to_string_lossy().into_owned());
            let spelled =
                known.entry(row.file.clone()).or_insert_with(|| there().unwrap_or_else(|| row.file.clone()));
            row.file.clone_from(spelled);
        }
        let time = modified(path);
        found.take(
            Record { path: path.clone(), compiler: Compiler::Gcc, time, rows, problems, unit: None },
            None,
        );
    }
    found
}

impl Found {
    fn take(&mut self, record: Record, made: Option<SystemTime>) {
        self.files.push(record.path.clone());
        self.problems.extend(record.problems.iter().cloned());
        let rows = without_outdated(record, made, &mut self.problems);
        self.rows.extend(rows);
    }
}

/// Where to look, and how many levels below: beside the program, and where compilers ran.
fn around(module: &Path, made: &Made) -> Vec<(PathBuf, usize)> {
    let beside = module.parent().filter(|path| path.is_absolute()).map(Path::to_owned);
    let mut all: Vec<(PathBuf, usize)> =
        made.directories.iter().map(|directory| (directory.clone(), MOST_LEVELS)).collect();
    // One that lies in another is found from there, but later than what is nearer.
    all.retain(|(directory, _)| directory.components().count() > 1);
    if let Some(beside) = beside.filter(|beside| all.iter().all(|(directory, _)| directory != beside)) {
        all.insert(0, (beside, 1));
    }
    all
}

/// How many of them can be read in some 20 s of processor time.
fn affordable(files: &[RemarkFiles]) -> usize {
    let mut left = MOST_BYTES;
    let cost = |it: &RemarkFiles| {
        let bytes = std::fs::metadata(&it.path).map_or(0, |it| it.len());
        // What GCC writes is packed, some 36 to 1.
        if it.format == Format::Gcc { bytes.saturating_mul(36) } else { bytes }
    };
    let fits = |it: &&RemarkFiles| {
        let rest = left.checked_sub(cost(it));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    files.iter().take_while(fits).count()
}

fn may_be_of(format: Format, made: &Made) -> bool {
    match format {
        Format::Gcc => made.compilers.contains(&Compiler::Gcc),
        Format::Llvm => {
            made.compilers.contains(&Compiler::Clang) || made.compilers.contains(&Compiler::Rustc)
        }
        Format::Printed => made.compilers.contains(&Compiler::Rustc),
    }
}

/// A record with what it says of the program.
struct Record {
    path: PathBuf,
    compiler: Compiler,
    time: Option<SystemTime>,
    rows: Vec<Remark>,
    problems: Vec<Problem>,
    /// The source that it is the record of; `None` = it is of several, or not known.
    unit: Option<PathBuf>,
}

impl Record {
    /// `None` = it is none of this program.
    fn of(remarks: &Remarks, path: &Path, made: &Made) -> Option<Self> {
        let Remarks { rows, problems } = remarks;
        let compiler = rows.first()?.compiler;
        let mut units: FxHashSet<PathBuf> = FxHashSet::default();
        let mut kept: Vec<Remark> = Vec::new();
        let mut is_ours = false;
        // Sources of others, by name.
        let mut foreign: FxHashSet<String> = FxHashSet::default();
        for row in rows {
            let Some(file) = made.resolve(&row.file, path).map(str::to_owned) else {
                // Of Rust's own library the compiler knows other paths than debug information does.
                if is_of_rust(&row.file) {
                    kept.push(row.clone());
                } else {
                    foreign.insert(row.file.rsplit('/').next().unwrap_or_default().to_owned());
                }
                continue;
            };
            is_ours = true;
            let plain = super::units::plain(Path::new(&file));
            if made.units.get(&plain) == Some(&row.compiler) {
                units.insert(plain);
            }
            kept.push(Remark { file, ..row.clone() });
        }
        // Programs share headers, so of those alone it is not told whose record it is; its name says whose it may be.
        let is_of_unit = || {
            let named = made.named_by(path);
            !named.is_empty() && !named.iter().any(|name| foreign.contains(*name))
        };
        let has_units = compiler != Compiler::Rustc && !made.units.is_empty();
        if !is_ours || has_units && units.is_empty() && !is_of_unit() {
            return None;
        }
        // Link-time optimisation makes one record of several.
        let unit = units.iter().next().filter(|_| units.len() == 1 && compiler != Compiler::Rustc).cloned();
        Some(Self {
            path: path.to_owned(),
            compiler,
            time: modified(path),
            rows: kept,
            problems: problems.clone(),
            unit,
        })
    }
}

/// Whether a source is one of Rust's own library.
fn is_of_rust(file: &str) -> bool {
    let is_part = |part: &str| file.contains(&format!("library/{part}/src/"));
    file.starts_with("/rustc/") || ["core", "alloc", "std"].into_iter().any(is_part)
}

/// Programs that share sources have records side by side: that which bears the program's name counts, else the youngest.
///
/// Of a source that is in the program several times, as one for each of two types is, there are as many.
fn keep_one_of_each_unit(records: &mut Vec<Record>, made: &Made, module: &Path, problems: &mut Vec<Problem>) {
    let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bears_name = |record: &Record| {
        let parts = record.path.components().map(|part| part.as_os_str().to_string_lossy());
        parts.rev().take(3).any(|part| {
            part.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.starts_with(['-', '.']) || rest.is_empty())
        })
    };
    let mut of_unit: BTreeMap<PathBuf, Vec<(bool, Option<SystemTime>, usize)>> = BTreeMap::new();
    for (place, record) in records.iter().enumerate() {
        let Some(unit) = &record.unit else { continue };
        of_unit.entry(unit.clone()).or_default().push((bears_name(record), record.time, place));
    }
    let mut is_kept = vec![true; records.len()];
    for (unit, mut rivals) in of_unit {
        let number = made.times(&unit);
        rivals.sort_by_key(|(bears_name, time, place)| (std::cmp::Reverse((*bears_name, *time)), *place));
        let bears_name = rivals.first().is_some_and(|best| best.0);
        for (.., place) in rivals.into_iter().skip(number) {
            is_kept[place] = false;
            if !bears_name {
                problems.push(Problem::RivalRemarks { path: records[place].path.clone() });
            }
        }
    }
    let mut is_kept = is_kept.into_iter();
    records.retain(|_| is_kept.next().unwrap_or(true));
}

/// Rows of sources that are as they were when the record was written, or that were changed since the program was made.
fn without_outdated(record: Record, made: Option<SystemTime>, problems: &mut Vec<Problem>) -> Vec<Remark> {
    let mut known: FxHashMap<String, bool> = FxHashMap::default();
    let mut rows = record.rows;
    rows.retain(|row| {
        if let Some(is_kept) = known.get(&row.file) {
            return *is_kept;
        }
        let changed = Some(Path::new(&row.file)).filter(|it| it.is_absolute()).and_then(modified);
        let is_changed = changed.zip(record.time).is_some_and(|(changed, written)| written < changed);
        let is_made_since = is_changed && changed < made;
        if is_changed {
            let path = PathBuf::from(&row.file);
            problems.push(match is_made_since {
                true => Problem::OldRemarks { path },
                false => Problem::ChangedSince { path },
            });
        }
        known.insert(row.file.clone(), !is_made_since);
        !is_made_since
    });
    rows
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|it| it.modified()).ok()
}
