//! Debug information that lies in files of its own: `.dwo` beside each object (`-gsplit-dwarf`), `.dwp` beside the module.
//!
//! The one idea: a unit of the module that only names such a file is read there instead; its addresses and lines are still
//! those of the module. A file is taken only if it says that it is of that unit.
//!
//! What is deliberately absent: units of types, as for debug information in one file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gimli::{DwoId, Section, UnitType};
use rustc_hash::FxHashMap;

use super::unit::{self, Bytes, UnitFacts};
use crate::dwarf::{DWO_SECTIONS, DWP_SECTIONS};
use crate::elf::Sections;
use crate::problem::{Problem, Problems};

/// The files, opened.
#[derive(Default)]
pub(crate) struct Parts {
    package: Option<Sections>,
    files: FxHashMap<u64, Sections>,
}

impl Parts {
    /// Opens what units of a module name; all together have at most so many bytes.
    pub(crate) fn open(
        dwarf: &gimli::Dwarf<Bytes<'_>>,
        module: &Path,
        limit_bytes: u64,
        problems: &mut Problems,
    ) -> Self {
        let named = named(dwarf);
        let mut parts = Self::default();
        if named.is_empty() {
            return parts;
        }
        let mut path = module.as_os_str().to_owned();
        path.push(".dwp");
        let sections: Vec<&'static str> = DWO_SECTIONS.into_iter().chain(DWP_SECTIONS).collect();
        parts.package = read(Path::new(&path), &sections, limit_bytes, problems);
        let mut bytes = parts.package.as_ref().map_or(0, |it| it.bytes);
        let mut missing: Option<(PathBuf, usize)> = None;
        for (id, path) in named {
            if parts.of(id, dwarf).is_some() {
                continue;
            }
            let moved = path.file_name().map(|name| module.with_file_name(name));
            let found = std::iter::once(&path).chain(&moved).find_map(|path| {
                let room_bytes = limit_bytes.saturating_sub(bytes);
                let sections = read(path, &DWO_SECTIONS, room_bytes, problems)?;
                let is_it = unit_of(&load(&sections), id).is_some();
                is_it.then_some(sections)
            });
            match found {
                Some(sections) => {
                    bytes += sections.bytes;
                    parts.files.insert(id.0, sections);
                }
                None => missing.get_or_insert((path, 0)).1 += 1,
            }
        }
        if let Some((path, number)) = missing {
            problems.report(Problem::DebugPartsMissing { path, number });
        }
        parts
    }

    /// What is said of a unit elsewhere, if it names a file and that is there.
    pub(crate) fn of_unit<'d>(
        &'d self,
        dwarf: &gimli::Dwarf<Bytes<'d>>,
        header: gimli::UnitHeader<Bytes<'d>>,
    ) -> Option<Part<'d>> {
        if self.package.is_none() && self.files.is_empty() {
            return None;
        }
        let skeleton = dwarf.unit(header).ok()?;
        let id = skeleton.dwo_id?;
        let dwarf = self.of(id, dwarf)?;
        let unit = unit_of(&dwarf, id)?;
        Some(Part { dwarf, unit, skeleton })
    }

    fn of<'d>(&'d self, id: DwoId, parent: &gimli::Dwarf<Bytes<'d>>) -> Option<gimli::Dwarf<Bytes<'d>>> {
        if let Some(sections) = self.files.get(&id.0) {
            let mut part = load(sections);
            part.make_dwo(parent);
            return Some(part);
        }
        let sections = self.package.as_ref()?;
        let section = |id: gimli::SectionId| Ok::<_, gimli::Error>(slice(sections, id.dwo_name()));
        let package = gimli::DwarfPackage::load(section, slice(sections, None)).ok()?;
        package.find_cu(id, parent).ok().flatten()
    }
}

/// A unit that lies in a file of its own.
pub(crate) struct Part<'d> {
    dwarf: gimli::Dwarf<Bytes<'d>>,
    unit: gimli::Unit<Bytes<'d>>,
    /// The one that names the file.
    skeleton: gimli::Unit<Bytes<'d>>,
}

impl<'d> Part<'d> {
    /// How long the file's information is, which no entry lies behind.
    pub(super) fn bytes(&self) -> u64 {
        self.dwarf.debug_info.reader().len() as u64
    }

    /// The same, with the addresses that stand with what names it.
    pub(crate) fn with_addresses(mut self) -> Self {
        self.unit.copy_relocated_attributes(&self.skeleton);
        self
    }

    pub(crate) fn pair(&self) -> (&gimli::Dwarf<Bytes<'d>>, &gimli::Unit<Bytes<'d>>) {
        (&self.dwarf, &self.unit)
    }

    /// What names it, whose lines and files are its own.
    pub(crate) fn skeleton(&self) -> &gimli::Unit<Bytes<'d>> {
        &self.skeleton
    }

    /// Reads it, and the lines of addresses.
    pub(super) fn read(
        mut self,
        parent: &gimli::Dwarf<Bytes<'d>>,
        from: u64,
        addresses: &[u64],
    ) -> UnitFacts<'d> {
        unit::read_part((&self.dwarf, &mut self.unit), (parent, &self.skeleton), from, addresses)
    }
}

/// The units that name a file, and its path.
fn named(dwarf: &gimli::Dwarf<Bytes<'_>>) -> Vec<(DwoId, PathBuf)> {
    let mut named = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        if 5 <= header.version() && !matches!(header.type_(), UnitType::Skeleton(_)) {
            continue;
        }
        let Ok(unit) = dwarf.unit(header) else { continue };
        let name = unit.dwo_name().ok().flatten().and_then(|name| dwarf.attr_string(&unit, name).ok());
        if let Some((id, name)) = unit.dwo_id.zip(name) {
            let text = |bytes: Bytes<'_>| PathBuf::from(OsStr::from_bytes(bytes.slice()));
            named.push((id, unit.comp_dir.map_or_else(PathBuf::new, text).join(text(name))));
        }
    }
    named
}

fn read(path: &Path, names: &[&'static str], limit_bytes: u64, problems: &mut Problems) -> Option<Sections> {
    match Sections::read(path, names, limit_bytes) {
        Ok(sections) => Some(sections),
        Err(Problem::Unreadable { kind: std::io::ErrorKind::NotFound, .. }) => None,
        Err(problem) => {
            problems.report(problem);
            None
        }
    }
}

fn load(sections: &Sections) -> gimli::Dwarf<Bytes<'_>> {
    let section = |id: gimli::SectionId| Ok::<_, std::convert::Infallible>(slice(sections, id.dwo_name()));
    match gimli::Dwarf::load(section) {
        Ok(dwarf) => dwarf,
        Err(never) => match never {},
    }
}

fn slice<'d>(sections: &'d Sections, name: Option<&str>) -> Bytes<'d> {
    let endian =
        if sections.little_endian { gimli::RunTimeEndian::Little } else { gimli::RunTimeEndian::Big };
    gimli::EndianSlice::new(name.map_or(&[], |name| sections.get(name)), endian)
}

/// The unit of a file.
fn unit_of<'d>(part: &gimli::Dwarf<Bytes<'d>>, id: DwoId) -> Option<gimli::Unit<Bytes<'d>>> {
    let mut headers = part.units();
    while let Ok(Some(header)) = headers.next() {
        let unit = part.unit(header).ok().filter(|unit| unit.dwo_id == Some(id));
        if unit.is_some() {
            return unit;
        }
    }
    None
}
