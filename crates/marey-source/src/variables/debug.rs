//! The debug information of a module, kept as bytes, and the units in it.
//!
//! The one idea: readers of debug information borrow its bytes, so a view of them is made for each question and dropped with
//! its answer. That costs nothing but the heads of the units that the question leads to.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;

use gimli::{AttributeValue, DebugInfoOffset, DebuggingInformationEntry, DwAt, UnitOffset};
use rustc_hash::FxHashMap;

use crate::database::parts::{Part, Parts};
use crate::database::unit::{Bytes, path};
use crate::dwarf::is_fortran;
use crate::elf::Sections;
use crate::module::Files;
use crate::problem::Problems;
use crate::symbolizer::SymbolizerConfig;

/// What is read: all that functions and lines need, and where variables lie at different times.
const SECTIONS: [&str; 12] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_loc",
    ".debug_loclists",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
    ".debug_str_offsets",
];

pub(super) type Entry<'d> = DebuggingInformationEntry<Bytes<'d>>;

/// An entry: the number of its unit, and where it lies in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Die {
    pub(super) unit: u32,
    pub(super) at: usize,
}

/// Which languages write types differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Fortran,
    Other,
}

/// The bytes.
pub(super) struct Debug {
    own: Sections,
    shared: Option<Sections>,
    parts: Parts,
    /// Where units begin: those of the module, ascending, then those that it shares with others.
    heads: Vec<usize>,
    own_units: usize,
    /// Code, and the unit that it is of.
    code: OnceLock<Vec<(Range<u64>, u32)>>,
}

/// What a question is answered from.
pub(super) struct View<'d> {
    debug: &'d Debug,
    dwarf: gimli::Dwarf<Bytes<'d>>,
    units: RefCell<FxHashMap<u32, Option<Rc<Unit<'d>>>>>,
}

/// One unit, ready to be read.
pub(super) enum Unit<'d> {
    Whole(gimli::Unit<Bytes<'d>>),
    Shared(gimli::Unit<Bytes<'d>>),
    Split(Box<Part<'d>>),
}

impl Debug {
    pub(super) fn open(
        files: &Files,
        module: &Path,
        config: &SymbolizerConfig,
        problems: &mut Problems,
    ) -> Option<Self> {
        let (own, shared) = crate::database::sections(files, module, &SECTIONS, config, problems)?;
        let room_bytes = config.max_bytes.saturating_sub(own.bytes);
        let mut debug = Self {
            own,
            shared,
            parts: Parts::default(),
            heads: Vec::new(),
            own_units: 0,
            code: OnceLock::new(),
        };
        let read = crate::dwarf::guarded(|| {
            let dwarf = debug.dwarf();
            let mut heads = heads_of(&dwarf);
            let own_units = heads.len();
            heads.extend(dwarf.sup().map(heads_of).unwrap_or_default());
            // Without such addresses nothing is split.
            let is_split = !debug.own.get(".debug_addr").is_empty();
            let parts =
                if is_split { Parts::open(&dwarf, module, room_bytes, problems) } else { Parts::default() };
            (heads, own_units, parts)
        });
        (debug.heads, debug.own_units, debug.parts) = read?;
        Some(debug)
    }

    pub(super) fn units(&self) -> usize {
        self.heads.len()
    }

    /// The units that variables and functions can lie in.
    pub(super) fn own_units(&self) -> Range<u32> {
        0..u32::try_from(self.own_units).unwrap_or(u32::MAX)
    }

    /// The unit that has the code at an address.
    pub(super) fn unit_of(&self, view: &View<'_>, pc: u64) -> Option<u32> {
        let code = self.code.get_or_init(|| {
            let mut code: Vec<(Range<u64>, u32)> = Vec::new();
            for number in self.own_units() {
                let Ok(header) = view.dwarf.unit_header(DebugInfoOffset(self.heads[number as usize])) else {
                    continue;
                };
                // Ranges of a unit that is split stand with what names it.
                let Ok(unit) = view.dwarf.unit(header) else { continue };
                let Ok(mut ranges) = view.dwarf.unit_ranges(&unit) else { continue };
                while let Ok(Some(range)) = ranges.next() {
                    if range.begin != 0 && range.begin < range.end {
                        code.push((range.begin..range.end, number));
                    }
                }
            }
            code.sort_unstable_by_key(|(range, number)| (range.start, *number));
            code
        });
        let before = code.partition_point(|(range, _)| range.start <= pc);
        let (range, number) = code[..before].last()?;
        (pc < range.end).then_some(*number)
    }

    fn dwarf(&self) -> gimli::Dwarf<Bytes<'_>> {
        crate::database::dwarf_of(&self.own, self.shared.as_ref())
    }

    /// The number of the unit that holds an entry of the module's file, or of the one that it shares.
    fn number(&self, offset: usize, is_shared: bool) -> Option<u32> {
        let (from, list) = match is_shared {
            false => (0, &self.heads[..self.own_units]),
            true => (self.own_units, &self.heads[self.own_units..]),
        };
        let place = list.partition_point(|head| *head <= offset).checked_sub(1)?;
        u32::try_from(from + place).ok()
    }
}

fn heads_of(dwarf: &gimli::Dwarf<Bytes<'_>>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut list = dwarf.units();
    // What follows a damaged header cannot be found.
    while let Ok(Some(header)) = list.next() {
        found.extend(header.debug_info_offset().map(|offset| offset.0));
    }
    found
}

impl<'d> View<'d> {
    pub(super) fn new(debug: &'d Debug) -> Self {
        Self { debug, dwarf: debug.dwarf(), units: RefCell::default() }
    }

    /// A unit by its number, if it can be read.
    pub(super) fn unit(&self, number: u32) -> Option<Rc<Unit<'d>>> {
        if let Some(known) = self.units.borrow().get(&number) {
            return known.clone();
        }
        let unit = self.open(number).map(Rc::new);
        self.units.borrow_mut().insert(number, unit.clone());
        unit
    }

    fn open(&self, number: u32) -> Option<Unit<'d>> {
        let place = number as usize;
        let head = DebugInfoOffset(*self.debug.heads.get(place)?);
        if self.debug.own_units <= place {
            let shared = self.dwarf.sup()?;
            return shared.unit_header(head).and_then(|header| shared.unit(header)).ok().map(Unit::Shared);
        }
        let header = self.dwarf.unit_header(head).ok()?;
        match self.debug.parts.of_unit(&self.dwarf, header) {
            Some(part) => Some(Unit::Split(Box::new(part.with_addresses()))),
            None => self.dwarf.unit(header).ok().map(Unit::Whole),
        }
    }

    /// What the unit is read from, and it itself.
    pub(super) fn pair<'a>(
        &'a self,
        unit: &'a Unit<'d>,
    ) -> (&'a gimli::Dwarf<Bytes<'d>>, &'a gimli::Unit<Bytes<'d>>) {
        match unit {
            Unit::Whole(unit) => (&self.dwarf, unit),
            Unit::Shared(unit) => (self.dwarf.sup().unwrap_or(&self.dwarf), unit),
            Unit::Split(part) => part.pair(),
        }
    }

    /// The entry at a place.
    pub(super) fn entry(&self, die: Die) -> Option<Entry<'d>> {
        let unit = self.unit(die.unit)?;
        let (_, unit) = self.pair(&unit);
        unit.entry(UnitOffset(die.at)).ok()
    }

    /// The entry that an attribute of one in `unit` means.
    pub(super) fn reference(&self, unit: u32, entry: &Entry<'d>, name: DwAt) -> Option<Die> {
        let (offset, is_shared) = match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => return Some(Die { unit, at: offset.0 }),
            AttributeValue::DebugInfoRef(offset) => (offset.0, self.debug.own_units <= unit as usize),
            AttributeValue::DebugInfoRefSup(offset) => (offset.0, true),
            _ => return None,
        };
        let number = self.debug.number(offset, is_shared)?;
        let head = self.debug.heads.get(number as usize)?;
        Some(Die { unit: number, at: offset.checked_sub(*head)? })
    }

    /// The text of an attribute; empty when there is none.
    pub(super) fn text(&self, unit: u32, entry: &Entry<'d>, name: DwAt) -> String {
        let Some(unit) = self.unit(unit) else { return String::new() };
        let (dwarf, unit) = self.pair(&unit);
        let text = entry.attr_value(name).and_then(|value| dwarf.attr_string(unit, value).ok());
        text.map_or_else(String::new, |text| String::from_utf8_lossy(text.slice()).into_owned())
    }

    /// The path of a file that a unit numbers.
    pub(super) fn file(&self, number: u32, file: u32) -> String {
        let Some(unit) = self.unit(number) else { return String::new() };
        let found = match &*unit {
            Unit::Split(part) => path(&self.dwarf, part.skeleton(), file),
            unit => {
                let (dwarf, unit) = self.pair(unit);
                path(dwarf, unit, file)
            }
        };
        found.unwrap_or_default()
    }

    /// How the language of a unit writes types and members.
    pub(super) fn language(&self, number: u32) -> Language {
        let Some(unit) = self.unit(number) else { return Language::Other };
        let (_, unit) = self.pair(&unit);
        let root = unit.entry(unit.header.root_offset()).ok();
        match root.and_then(|root| root.attr_value(gimli::DW_AT_language)) {
            Some(AttributeValue::Language(language)) if is_fortran(language) => Language::Fortran,
            Some(AttributeValue::Language(
                gimli::DW_LANG_C
                | gimli::DW_LANG_C89
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17,
            )) => Language::C,
            _ => Language::Other,
        }
    }
}
