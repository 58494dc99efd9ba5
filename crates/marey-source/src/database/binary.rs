//! What of a binary is read: its code, its symbols, and what the dynamic linker fills cells with.

use std::ops::Range;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SectionKind, elf};

use super::code::{Cells, Filled};
use crate::elf::{Parsed, read_range, with_elf};
use crate::problem::Problem;

/// Code of a file, with its addresses when it runs.
#[derive(Default)]
pub(crate) struct Binary {
    pub(crate) sections: Vec<(u64, Vec<u8>)>,
    pub(super) cells: Cells,
    /// Whether calls in it can be told.
    pub(crate) is_known_machine: bool,
}

impl Binary {
    pub(crate) fn read(path: &Path, limit_bytes: u64) -> Result<Self, Problem> {
        with_elf(path, |elf, file| {
            let mut binary = Self {
                is_known_machine: elf.architecture() == object::Architecture::X86_64,
                cells: cells(elf),
                sections: Vec::new(),
            };
            let mut needed_bytes = 0_u64;
            for section in elf.sections().filter(|section| section.kind() == SectionKind::Text) {
                let damaged = |error| Problem::DamagedElf { path: path.to_owned(), error };
                let range = section.compressed_file_range().map_err(damaged)?;
                needed_bytes = needed_bytes.saturating_add(range.uncompressed_size);
                if limit_bytes < needed_bytes {
                    return Err(Problem::TooLarge { path: path.to_owned(), needed_bytes, limit_bytes });
                }
                binary.sections.push((section.address(), read_range(path, file, &range)?));
            }
            Ok(binary)
        })
    }

    /// Where the code lies.
    pub(super) fn ranges(&self) -> Vec<Range<u64>> {
        let range = |(address, bytes): &(u64, Vec<u8>)| *address..address.saturating_add(bytes.len() as u64);
        self.sections.iter().map(range).collect()
    }
}

/// The cells that hold addresses of functions.
fn cells(elf: &Parsed<'_>) -> Cells {
    let mut cells = Cells::default();
    let symbols = elf.dynamic_symbol_table();
    let Some(relocations) = elf.dynamic_relocations() else { return cells };
    for (cell, relocation) in relocations {
        let filled = match (relocation.flags(), relocation.target()) {
            (object::RelocationFlags::Elf { r_type }, _)
                if r_type == elf::R_X86_64_RELATIVE || r_type == elf::R_X86_64_IRELATIVE =>
            {
                u64::try_from(relocation.addend()).ok().map(Filled::Address)
            }
            (_, RelocationTarget::Symbol(symbol)) => {
                let symbol = symbols.as_ref().and_then(|symbols| symbols.symbol_by_index(symbol).ok());
                let name = symbol.as_ref().and_then(|symbol| symbol.name().ok());
                name.filter(|name| !name.is_empty()).map(|name| Filled::Named(name.to_owned()))
            }
            _ => None,
        };
        if let Some(filled) = filled {
            cells.insert(cell, filled);
        }
    }
    cells
}
