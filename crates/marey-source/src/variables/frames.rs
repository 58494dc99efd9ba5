//! From a place in a frame to the variable of its function.
//!
//! The one idea: debug information counts from a base of its own choice. Where that is the canonical frame address there is
//! nothing to do; where it is a register, the unwind table says how far the canonical frame address is from the same register
//! at this instruction, and where it speaks of another one the place is not known.

use std::ops::Range;
use std::path::Path;

use gimli::{DebuggingInformationEntry, UnitOffset, UnwindSection as _};
use object::{Object as _, ObjectSection as _};

use super::debug::{Die, Entry, Unit, View};
use super::entries;
use super::location::{self, Base, Place};
use super::members::Part;
use crate::database::unit::Bytes;
use crate::elf::{read_range, with_elf};
use crate::symbolizer::SymbolizerConfig;

/// The code of a function, and where its entry lies.
pub(super) struct Function {
    ranges: Vec<Range<u64>>,
    die: Die,
}

/// The unwind table of a module.
#[derive(Default)]
pub(super) struct Frames {
    table: Vec<u8>,
    address: u64,
    text: u64,
    is_little: bool,
}

/// All functions of a unit that have code.
pub(super) fn functions(view: &View<'_>, number: u32) -> Vec<Function> {
    let mut found = Vec::new();
    let Some(unit) = view.unit(number) else { return found };
    let Ok(mut raw) = view.pair(&unit).1.entries_raw(None) else { return found };
    let mut entry = DebuggingInformationEntry::null();
    while !raw.is_empty() {
        // What is behind damage in a unit is not known.
        let Ok(is_there) = raw.read_entry(&mut entry) else { break };
        if is_there && entry.tag() == gimli::DW_TAG_subprogram {
            let ranges = ranges(view, &unit, &entry);
            if !ranges.is_empty() {
                found.push(Function { ranges, die: Die { unit: number, at: entry.offset().0 } });
            }
        }
    }
    found
}

fn ranges<'d>(view: &View<'d>, unit: &Unit<'d>, entry: &Entry<'d>) -> Vec<Range<u64>> {
    let (dwarf, unit) = view.pair(unit);
    let mut found = Vec::new();
    let Ok(mut ranges) = dwarf.die_ranges(unit, entry) else { return found };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin != 0 && range.begin < range.end {
            found.push(range.begin..range.end);
        }
    }
    found
}

impl Frames {
    pub(super) fn read(path: &Path, config: &SymbolizerConfig) -> Self {
        let read = with_elf(path, |elf, file| {
            let text = elf.section_by_name(".text").map_or(0, |section| section.address());
            let mut frames = Self { text, is_little: elf.is_little_endian(), ..Self::default() };
            if let Some(section) = elf.section_by_name(".eh_frame")
                && let Ok(range) = section.compressed_file_range()
                && range.uncompressed_size <= config.max_bytes
            {
                frames.address = section.address();
                frames.table = read_range(path, file, &range)?;
            }
            Ok(frames)
        });
        // Whatever is wrong with the file, others have said so.
        read.unwrap_or_default()
    }

    /// The variable that lies at a place of the frame of the function that has the instruction at `pc`, and where it begins.
    pub(super) fn find(
        &self,
        view: &View<'_>,
        functions: &[Function],
        pc: u64,
        from_cfa: i64,
    ) -> Option<(Part, i64)> {
        let function = functions.iter().find(|it| it.ranges.iter().any(|range| range.contains(&pc)))?;
        let number = function.die.unit;
        let unit = view.unit(number)?;
        let base = match location::base(view, &unit, &view.entry(function.die)?)? {
            Base::Cfa => 0,
            Base::Register(register) => self.above_register(pc, register)?.checked_neg()?,
        };
        let (_, whole) = view.pair(&unit);
        let mut raw = whole.entries_raw(Some(UnitOffset(function.die.at))).ok()?;
        let mut entry = DebuggingInformationEntry::null();
        let mut found: Option<(isize, Part, i64)> = None;
        // How deep it is inside of what has no code here.
        let mut skipped: Option<isize> = None;
        while !raw.is_empty() {
            let Ok(is_there) = raw.read_entry(&mut entry) else { break };
            if !is_there {
                continue;
            }
            let depth = entry.depth();
            if depth <= 0 && entry.offset().0 != function.die.at {
                break;
            }
            if skipped.is_some_and(|above| above < depth) {
                continue;
            }
            skipped = None;
            match entry.tag() {
                gimli::DW_TAG_subprogram if entry.offset().0 != function.die.at => skipped = Some(depth),
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    let is_here = ranges(view, &unit, &entry).iter().any(|range| range.contains(&pc));
                    skipped = (!is_here).then_some(depth);
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let Some((Place::Frame(at), is_indirect)) =
                        location::place(view, &unit, &entry, Some(pc))
                    else {
                        continue;
                    };
                    let Some(start) = at.checked_add(base) else { continue };
                    let die = Die { unit: number, at: entry.offset().0 };
                    let (bytes, _) = entries::bytes(view, die, is_indirect, whole.encoding().address_size);
                    let is_hit = start <= from_cfa && start.abs_diff(from_cfa) < bytes;
                    // Blocks inside have the last word: compilers give one place to several blocks.
                    if is_hit && found.is_none_or(|(before, ..)| before < depth) {
                        found = Some((depth, Part { die, is_indirect, bytes }, start));
                    }
                }
                _ => {}
            }
        }
        found.map(|(_, part, start)| (part, start))
    }

    /// How far the canonical frame address is from a register, if the table counts from that.
    fn above_register(&self, pc: u64, register: gimli::Register) -> Option<i64> {
        let endian = if self.is_little { gimli::RunTimeEndian::Little } else { gimli::RunTimeEndian::Big };
        let table = gimli::EhFrame::from(Bytes::new(&self.table, endian));
        let bases = gimli::BaseAddresses::default().set_eh_frame(self.address).set_text(self.text);
        let entry = table.fde_for_address(&bases, pc, gimli::EhFrame::cie_from_offset).ok()?;
        let mut context = gimli::UnwindContext::new();
        let row = entry.unwind_info_for_address(&table, &bases, &mut context, pc).ok()?;
        match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register: from, offset } if *from == register => {
                Some(*offset)
            }
            _ => None,
        }
    }
}
