//! The debug information of one module: from an address to its chain of inlined functions and lines.
//!
//! The sections are owned by reference-counted buffers instead of being borrowed: that costs a counter per
//! attribute read and spares a self-referential structure. Units are parsed at their first address.
//! Split debug information (`.dwo` beside the object, `.dwp` beside the module) is loaded when met.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{EndianArcSlice, Reader, RunTimeEndian};

use crate::elf::Sections;
use crate::names::{Language, Names, is_mangled};
use crate::problem::{Problem, Problems};
use crate::symbolizer::Frame;

type Bytes = EndianArcSlice<RunTimeEndian>;

/// The sections that functions and lines are read from.
pub(crate) const SECTIONS: [&str; 10] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
    ".debug_str_offsets",
];

/// The same in a `.dwo` file.
pub(crate) const DWO_SECTIONS: [&str; 6] = [
    ".debug_abbrev.dwo",
    ".debug_info.dwo",
    ".debug_line.dwo",
    ".debug_rnglists.dwo",
    ".debug_str.dwo",
    ".debug_str_offsets.dwo",
];

/// And in a `.dwp` file, which packs many `.dwo`. Its index refers to all of them, so all must be there.
pub(crate) const DWP_SECTIONS: [&str; 7] = [
    ".debug_cu_index",
    ".debug_tu_index",
    ".debug_loc.dwo",
    ".debug_loclists.dwo",
    ".debug_macinfo.dwo",
    ".debug_macro.dwo",
    ".debug_types.dwo",
];

/// The debug information of one module.
pub(crate) struct Dwarf {
    context: Context<Bytes>,
    package: Option<gimli::DwarfPackage<Bytes>>,
    /// The file that the information comes from.
    path: PathBuf,
    /// The module's own directory, where `.dwo` files may have been moved to.
    module_dir: PathBuf,
    bytes: u64,
    limit_bytes: u64,
}

/// One function of a chain.
pub(crate) struct NamedFrame {
    pub(crate) frame: Frame,
    pub(crate) name: NameKind,
}

/// What kind of name debug information has for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// None; `frame.function` is empty.
    Missing,
    /// That of its declaration, without what surrounds it: of one `next` it is not said whose it is. C and
    /// Fortran have no others; C++ and Rust where names would be all that debug information is read for.
    Short,
    /// The one that linkers know, which says everything.
    Linkage,
}

impl Dwarf {
    /// Opens the debug information in `path`, with its supplementary file if it needs one.
    pub(crate) fn open(
        path: &Path,
        supplementary: Option<&Path>,
        module: &Path,
        limit_bytes: u64,
        problems: &mut Problems,
    ) -> Result<Self, Problem> {
        let mut sections = Sections::read(path, &SECTIONS, limit_bytes)?;
        let mut bytes = sections.bytes;
        let mut dwarf = load(&mut sections, |id| Some(id.name()));
        if let Some(supplementary) = supplementary {
            match Sections::read(supplementary, &SECTIONS, limit_bytes.saturating_sub(bytes)) {
                Ok(mut sections) => {
                    bytes += sections.bytes;
                    dwarf.set_sup(load(&mut sections, |id| Some(id.name())));
                }
                Err(problem) => problems.report(problem),
            }
        }
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let context = guarded(|| Context::from_dwarf(dwarf))
            .ok_or_else(|| Problem::ReaderFailed { path: path.to_owned() })?
            .map_err(|error| Problem::DamagedDwarf { path: path.to_owned(), error })?;
        let (package, package_bytes) = open_package(module, limit_bytes.saturating_sub(bytes), problems);
        Ok(Self {
            context,
            package,
            path: path.to_owned(),
            module_dir: module.parent().unwrap_or(Path::new("/")).to_owned(),
            bytes: bytes + package_bytes,
            limit_bytes,
        })
    }

    /// Raw debug sections held, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The functions at `probe`, innermost first; empty when nothing is known about it. An error means
    /// that a reader failed for good and this object is not to be used again.
    pub(crate) fn frames(
        &mut self,
        probe: u64,
        names: &mut Names,
        problems: &mut Problems,
    ) -> Result<Vec<NamedFrame>, Problem> {
        // Readers of damaged input are fuzzed by their authors, but not free of panics: arithmetic that
        // overflows, states that "cannot happen". One of them must not end a merge.
        guarded(|| self.read_frames(probe, names, problems))
            .ok_or_else(|| Problem::ReaderFailed { path: self.path.clone() })
    }

    fn read_frames(&mut self, probe: u64, names: &mut Names, problems: &mut Problems) -> Vec<NamedFrame> {
        let mut found = Vec::new();
        let mut parts_bytes = 0;
        let mut lookup = self.context.find_frames(probe);
        let frames = loop {
            match lookup {
                LookupResult::Output(frames) => break frames,
                LookupResult::Load { load, continuation } => {
                    let room_bytes = self.limit_bytes.saturating_sub(self.bytes + parts_bytes);
                    let part = self.load_part(&load, room_bytes, problems);
                    parts_bytes += part.as_ref().map_or(0, |(_, bytes)| *bytes);
                    lookup = continuation.resume(part.map(|(dwarf, _)| dwarf));
                }
            }
        };
        let result = frames.and_then(|mut frames| {
            while let Some(frame) = frames.next()? {
                found.push(named_frame(&frame, names));
            }
            Ok(())
        });
        if let Err(error) = result {
            problems.report(Problem::DamagedDwarf { path: self.path.clone(), error });
        }
        self.bytes += parts_bytes;
        found
    }

    fn load_part(
        &self,
        load: &SplitDwarfLoad<Bytes>,
        room_bytes: u64,
        problems: &mut Problems,
    ) -> Option<(Arc<gimli::Dwarf<Bytes>>, u64)> {
        let in_package = self
            .package
            .as_ref()
            .and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok().flatten());
        if let Some(part) = in_package {
            return Some((Arc::new(part), 0));
        }
        let name = text_path(load.path.as_ref()?);
        let compiled = load.comp_dir.as_ref().map_or(name.clone(), |dir| text_path(dir).join(&name));
        let moved = name.file_name().map(|file_name| self.module_dir.join(file_name));
        for path in std::iter::once(&compiled).chain(moved.as_ref()) {
            match Sections::read(path, &DWO_SECTIONS, room_bytes) {
                Ok(mut sections) => {
                    let mut part = load_dwo(&mut sections);
                    if has_unit(&part, load.dwo_id) {
                        part.make_dwo(&load.parent);
                        return Some((Arc::new(part), sections.bytes));
                    }
                }
                Err(Problem::Unreadable { kind: std::io::ErrorKind::NotFound, .. }) => {}
                Err(problem) => problems.report(problem),
            }
        }
        problems.report(Problem::DebugPartMissing { path: compiled });
        None
    }
}

fn named_frame(frame: &addr2line::Frame<'_, Bytes>, names: &mut Names) -> NamedFrame {
    let (function, name) = name_of(frame, names).unwrap_or((String::new(), NameKind::Missing));
    let location = frame.location.as_ref();
    NamedFrame {
        name,
        frame: Frame {
            function,
            file: location.and_then(|location| location.file).map(str::to_owned),
            line: location.and_then(|location| location.line).filter(|line| *line != 0),
            column: location.and_then(|location| location.column).filter(|column| *column != 0),
        },
    }
}

fn name_of(frame: &addr2line::Frame<'_, Bytes>, names: &mut Names) -> Option<(String, NameKind)> {
    let function = frame.function.as_ref()?;
    let language = match function.language {
        Some(language) if is_fortran(language) => Language::Fortran,
        Some(_) => Language::Other,
        None => Language::Unknown,
    };
    let raw = function.raw_name().ok().filter(|raw| !raw.is_empty())?;
    let kind = if is_mangled(&raw) { NameKind::Linkage } else { NameKind::Short };
    Some((names.readable(&raw, language), kind))
}

pub(crate) fn is_fortran(language: gimli::DwLang) -> bool {
    [
        gimli::DW_LANG_Fortran77,
        gimli::DW_LANG_Fortran90,
        gimli::DW_LANG_Fortran95,
        gimli::DW_LANG_Fortran03,
        gimli::DW_LANG_Fortran08,
        gimli::DW_LANG_Fortran18,
    ]
    .contains(&language)
}

fn load(
    sections: &mut Sections,
    name: impl Fn(gimli::SectionId) -> Option<&'static str>,
) -> gimli::Dwarf<Bytes> {
    let section = |id| Ok::<_, std::convert::Infallible>(take(sections, name(id)));
    match gimli::Dwarf::load(section) {
        Ok(dwarf) => dwarf,
        Err(never) => match never {},
    }
}

fn load_dwo(sections: &mut Sections) -> gimli::Dwarf<Bytes> {
    load(sections, |id| id.dwo_name())
}

fn take(sections: &mut Sections, name: Option<&'static str>) -> Bytes {
    let endian = if sections.little_endian { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let data = name.map(|name| sections.take(name)).unwrap_or_default();
    Bytes::new(Arc::from(data), endian)
}

fn has_unit(part: &gimli::Dwarf<Bytes>, id: gimli::DwoId) -> bool {
    let first = part.units().next().ok().flatten();
    first.and_then(|header| part.unit(header).ok()).is_some_and(|unit| unit.dwo_id == Some(id))
}

/// Opens `module.dwp` if there is one.
fn open_package(
    module: &Path,
    limit_bytes: u64,
    problems: &mut Problems,
) -> (Option<gimli::DwarfPackage<Bytes>>, u64) {
    let mut path = module.as_os_str().to_owned();
    path.push(".dwp");
    let path = PathBuf::from(path);
    let names: Vec<_> = DWO_SECTIONS.into_iter().chain(DWP_SECTIONS).collect();
    let mut sections = match Sections::read(&path, &names, limit_bytes) {
        Ok(sections) => sections,
        Err(Problem::Unreadable { kind: std::io::ErrorKind::NotFound, .. }) => return (None, 0),
        Err(problem) => {
            problems.report(problem);
            return (None, 0);
        }
    };
    let bytes = sections.bytes;
    let empty = take(&mut sections, None);
    let loaded = guarded(|| {
        gimli::DwarfPackage::load(|id| Ok::<_, gimli::Error>(take(&mut sections, id.dwo_name())), empty)
    });
    match loaded {
        Some(Ok(package)) => (Some(package), bytes),
        Some(Err(error)) => {
            problems.report(Problem::DamagedDwarf { path, error });
            (None, 0)
        }
        None => {
            problems.report(Problem::ReaderFailed { path });
            (None, 0)
        }
    }
}

/// `None` when `read` panicked; what it borrowed must not be used again.
pub(crate) fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).ok()
}

fn text_path(bytes: &Bytes) -> PathBuf {
    bytes.to_slice().map_or_else(|_| PathBuf::new(), |s| PathBuf::from(OsStr::from_bytes(&s)))
}
