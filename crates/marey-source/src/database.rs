//! The program database: what a program consists of, as its binary tells it.
//!
//! The one idea: two witnesses are asked. Debug information knows functions, types, their members and what the compiler has
//! put into what; machine code knows who calls whom. Entries that many compilation units repeat are one row here.
//!
//! What is deliberately absent: the text of sources, and whatever happens when the program runs.

mod assembly;
pub(crate) mod binary;
mod build;
mod calls;
mod code;
mod facts;
mod named;
mod names;
pub(crate) mod parts;
pub(crate) mod unit;
mod units;

use std::path::Path;

use gimli::Section as _;
use rayon::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};

use self::binary::Binary;
use self::build::Build;
use self::parts::Parts;
use self::unit::{Bytes, Key, UnitFacts};
use self::units::Units;
use crate::dwarf::{SECTIONS, guarded};
use crate::elf::Sections;
use crate::module::{Files, best_symbols};
use crate::problem::{BuildId, Problem, Problems};
use crate::symbolizer::{ModuleRef, SymbolizerConfig};
use crate::texts::Texts;

pub use assembly::{Assembly, Code, Instruction, Listing};
pub use facts::{
    Access, Base, Call, CallKind, Callee, Function, Member, MemberKind, Place, Text, Type, TypeKind,
};
pub use named::may_name;

/// What a module of a program consists of. Rows are in the order of their names and places; equal input gives equal rows.
#[derive(Debug, Default)]
pub struct Database {
    pub(crate) texts: Texts,
    /// Paths of sources, as the compiler wrote them, made absolute with its directory.
    pub files: Vec<Text>,
    /// Functions and methods.
    pub functions: Vec<Function>,
    /// Types that the author made.
    pub types: Vec<Type>,
    /// Their members.
    pub members: Vec<Member>,
    /// Which are derived from which.
    pub bases: Vec<Base>,
    /// Lines that call functions.
    pub calls: Vec<Call>,
    /// Why something is missing.
    pub problems: Vec<Problem>,
    /// Whether debug information was there; without it functions are the symbols of the file.
    pub has_debug_information: bool,
    /// Whether calls in machine code can be told; it is so for x86-64 only.
    pub has_calls: bool,
}

impl Database {
    /// Reads a module. Takes time and memory that grow with its debug information: two seconds and 0.6 GiB on two
    /// processors for a binary of 13 MiB of code with 94 MiB of debug information.
    pub fn of(module: &ModuleRef<'_>, config: &SymbolizerConfig) -> Self {
        let mut problems = Problems::default();
        let recorded = module.build_id.filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let files = Files::of(module.path, recorded.as_ref(), config, &mut problems);
        // A file that is another one now has other code.
        let code = files.head.as_ref().map(|_| Binary::read(module.path, config.max_bytes));
        let binary = match code {
            Some(Ok(binary)) => binary,
            Some(Err(problem)) => {
                problems.report(problem);
                Binary::default()
            }
            None => Binary::default(),
        };
        let sections = sections(&files, module.path, &SECTIONS, config, &mut problems);
        let symbols = best_symbols(files);
        let sections = sections.as_ref();
        let read = guarded(|| {
            let dwarf = sections.map(|(own, shared)| dwarf(own, shared.as_ref()));
            let room_bytes = config.max_bytes.saturating_sub(sections.map_or(0, |(own, _)| own.bytes));
            let parts = dwarf.as_ref().map_or_else(Parts::default, |dwarf| {
                // Without such addresses nothing is split.
                let is_split = sections.is_some_and(|(own, _)| !own.get(".debug_addr").is_empty());
                if is_split {
                    Parts::open(dwarf, module.path, room_bytes, &mut problems)
                } else {
                    Parts::default()
                }
            });
            let leading = calls::leading(&binary, &symbols);
            let addresses = calls::addresses(&leading, &symbols);
            let units = dwarf.as_ref().map_or_else(Vec::new, |dwarf| units(dwarf, &parts, &addresses));
            let is_told = units.is_empty() || units.iter().any(|unit| !unit.is_bare);
            let damaged = units.iter().filter_map(|unit| unit.error);
            damaged.for_each(|error| {
                problems.report(Problem::DamagedDwarf { path: module.path.to_owned(), error })
            });
            (Build::new(&Units::new(units), &binary, &symbols, &leading, &addresses).finish(), is_told)
        });
        let (mut database, is_told) = read.unwrap_or_else(|| {
            problems.report(Problem::ReaderFailed { path: module.path.to_owned() });
            (Self::default(), true)
        });
        database.problems = problems.list().to_vec();
        database.has_debug_information = sections.is_some() && is_told;
        database.has_calls = binary.is_known_machine;
        database
    }

    /// The text of a number.
    pub fn text(&self, text: Text) -> &str {
        self.texts.get(text)
    }

    /// The name that an author knows a function by whose name for linkers this is.
    pub fn readable(&self, linkage: Text) -> String {
        crate::names::Names::default().readable(self.text(linkage), crate::names::Language::Unknown)
    }

    /// The path of a place.
    pub fn path(&self, place: Place) -> &str {
        self.files.get(place.file as usize).map_or("", |text| self.text(*text))
    }
}

/// Debug information, and what of it is shared with other files.
pub(crate) fn sections(
    files: &Files,
    module: &Path,
    names: &[&'static str],
    config: &SymbolizerConfig,
    problems: &mut Problems,
) -> Option<(Sections, Option<Sections>)> {
    let (path, head) = files.with_dwarf(module)?;
    let read = |path: &Path, limit_bytes: u64, problems: &mut Problems| {
        Sections::read(path, names, limit_bytes).map_err(|problem| problems.report(problem)).ok()
    };
    let own = read(path, config.max_bytes, problems)?;
    let shared = Files::shared(head, path, config, problems);
    let shared = shared.and_then(|path| read(&path, config.max_bytes.saturating_sub(own.bytes), problems));
    Some((own, shared))
}

fn dwarf<'d>(own: &'d Sections, shared: Option<&'d Sections>) -> gimli::Dwarf<Bytes<'d>> {
    let mut dwarf = dwarf_of(own, shared);
    dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
    dwarf
}

/// Their bytes as what they are.
pub(crate) fn dwarf_of<'d>(own: &'d Sections, shared: Option<&'d Sections>) -> gimli::Dwarf<Bytes<'d>> {
    let load = |sections: &'d Sections| {
        let endian =
            if sections.little_endian { gimli::RunTimeEndian::Little } else { gimli::RunTimeEndian::Big };
        let section = |id: gimli::SectionId| {
            Ok::<_, std::convert::Infallible>(gimli::EndianSlice::new(sections.get(id.name()), endian))
        };
        match gimli::Dwarf::load(section) {
            Ok(dwarf) => dwarf,
            Err(never) => match never {},
        }
    };
    let mut dwarf = load(own);
    if let Some(shared) = shared {
        dwarf.set_sup(load(shared));
    }
    dwarf
}

/// What all units say, in the order of the file, those of parts behind it, and the lines of addresses.
fn units<'d>(dwarf: &gimli::Dwarf<Bytes<'d>>, parts: &'d Parts, addresses: &[u64]) -> Vec<UnitFacts<'d>> {
    let headers = |dwarf: &gimli::Dwarf<Bytes<'d>>| {
        let mut headers = Vec::new();
        let mut list = dwarf.units();
        // What follows a damaged header cannot be found.
        while let Ok(Some(header)) = list.next() {
            headers.push(header);
        }
        headers
    };
    // Each file has numbers of its own, so that keys differ.
    let mut from = dwarf.debug_info.reader().len() as u64;
    let mut own = Vec::new();
    let mut split = Vec::new();
    for header in headers(dwarf) {
        match parts.of_unit(dwarf, header) {
            Some(part) => {
                let at = from;
                from = from.saturating_add(part.bytes());
                split.push((part, at));
            }
            None => own.push(header),
        }
    }
    let mut units: Vec<UnitFacts<'d>> =
        own.into_par_iter().map(|header| unit::read(dwarf, header, 0, addresses)).collect();
    units.par_extend(split.into_par_iter().map(|(part, from)| part.read(dwarf, from, addresses)));
    if let Some(shared) = dwarf.sup() {
        let read = |header| unit::read(shared, header, Key::SHARED, &[]);
        units.extend(headers(shared).into_par_iter().map(read).collect::<Vec<_>>());
    }
    units
}
