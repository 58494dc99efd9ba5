//! Machine code of functions, instruction by instruction.
//!
//! The one idea: a symbol says where a function's code lies, the decoder where each instruction ends, debug information of
//! which line it is. Instructions are written as gdb, objdump and perf write them (AT&T), so that they look the same
//! everywhere.
//!
//! What is deliberately absent: what instructions cost, and other machines than x86-64.

use std::ops::Range;
use std::path::PathBuf;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction as Decoded, Register,
};
use object::{Object, ObjectKind};
use rustc_hash::FxHashMap;

use super::binary::Binary;
use super::calls::sections;
use super::code::{Filled, Target, cell_of_stub, leads_to};
use crate::elf::with_elf;
use crate::module::{Files, best_symbols};
use crate::names::{Language, Names};
use crate::problem::{BuildId, Problem, Problems};
use crate::symbolizer::{Address, Frame, ModuleRef, Quality, Symbolizer, SymbolizerConfig};
use crate::symbols::without_size;

/// The code of a module.
pub struct Assembly {
    path: PathBuf,
    build_id: Option<Vec<u8>>,
    binary: Binary,
    /// By address; what is inside another one stands behind it.
    codes: Vec<Code>,
    names: Names,
    symbolizer: Symbolizer,
}

/// A stretch of code that has a name: a function, or a part of one that compilers have put elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The name that its author knows; parts of one function, and copies of it, have the same.
    pub name: String,
    /// As linkers know it.
    pub linkage: String,
    /// Its bytes.
    pub range: Range<u64>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Where it begins in the file.
    pub address: u64,
    /// Its bytes; none where they were not kept.
    pub bytes: Vec<u8>,
    /// How many bytes it has; a processor knows none that is longer than 15.
    pub length: u64,
    /// As assemblers write it. `(bad)` = no instruction.
    pub text: String,
    /// The function that it calls or jumps to, if that is another one and is known.
    pub leads_to: Option<String>,
    /// Number of the place in the source, among those that come with the instructions; `None` = nobody knows.
    pub place: Option<u32>,
}

/// The instructions of a stretch of code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// In the order of their addresses.
    pub instructions: Vec<Instruction>,
    /// Functions and lines: what was inlined first, the function that has it last.
    pub places: Vec<Vec<Frame>>,
    /// Bytes at the end that were not looked at, for there were too many.
    pub left_out_bytes: u64,
}

impl Code {
    /// Its name, with `.cold` behind it if it is the part of a function that compilers put elsewhere since it hardly ever runs.
    pub fn title(&self) -> String {
        let is_number = |it: &str| it.bytes().all(|digit| digit.is_ascii_digit());
        let is_cold = self
            .linkage
            .rsplit_once(".cold")
            .is_some_and(|(_, rest)| rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number));
        if is_cold { format!("{}.cold", self.name) } else { self.name.clone() }
    }
}

impl Assembly {
    /// Opens a module.
    ///
    /// # Errors
    /// If it is not there, is not the one that ran, or its code cannot be told.
    pub fn open(module: &ModuleRef<'_>, config: &SymbolizerConfig) -> Result<Self, Problem> {
        let path = module.path;
        let recorded = module.build_id.filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let mut problems = Problems::default();
        let files = Files::of(path, recorded.as_ref(), config, &mut problems);
        if files.head.is_none() {
            let first = problems.list().first().cloned();
            let kind = std::io::ErrorKind::NotFound;
            return Err(first.unwrap_or_else(|| Problem::Unreadable { path: path.to_owned(), kind }));
        }
        let (is_linked, bare) = with_elf(path, |elf, _| {
            Ok((elf.kind() != ObjectKind::Relocatable, without_size(elf.symbols())))
        })?;
        if !is_linked {
            return Err(Problem::NotLinked { path: path.to_owned() });
        }
        let binary = Binary::read(path, config.max_bytes)?;
        if !binary.is_known_machine {
            return Err(Problem::OtherMachine { path: path.to_owned() });
        }
        let mut names = Names::default();
        let symbols = best_symbols(files);
        // Symbols of data and of what another file has lie in no code.
        let ranges = binary.ranges();
        let is_code = |range: &Range<u64>| {
            ranges.iter().any(|code| code.contains(&range.start) && range.end <= code.end)
        };
        let codes = symbols.iter().filter(|(range, _)| is_code(range)).map(|(range, linkage)| Code {
            name: names.readable(linkage, Language::Unknown),
            linkage: linkage.to_owned(),
            range,
        });
        let mut codes: Vec<Code> = codes.collect();
        // What has no size ends where the next begins, as debuggers take it.
        let sized: Vec<Range<u64>> = codes.iter().map(|code| code.range.clone()).collect();
        for (at, (start, linkage)) in bare.iter().enumerate() {
            let behind = sized.partition_point(|range| range.start <= *start);
            let is_within = sized[..behind].iter().rev().take(16).any(|range| range.contains(start));
            let section = ranges.iter().find(|range| range.contains(start)).filter(|_| !is_within);
            let Some(section) = section else { continue };
            let next = bare.get(at + 1).map_or(section.end, |(next, _)| *next);
            let next = sized.get(behind).map_or(next, |range| range.start.min(next));
            codes.push(Code {
                name: names.readable(linkage, Language::Unknown),
                linkage: linkage.clone(),
                range: *start..next.min(section.end),
            });
        }
        codes.sort_by_key(|code| (code.range.start, code.range.end));
        let symbolizer = Symbolizer::new(config.clone());
        let build_id = module.build_id.map(<[u8]>::to_vec);
        Ok(Self { path: path.to_owned(), build_id, binary, codes, names, symbolizer })
    }

    /// All stretches of code that have a name, by address.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The innermost stretch that an address lies in.
    pub fn code_at(&self, address: u64) -> Option<&Code> {
        let behind = self.codes.partition_point(|code| code.range.start <= address);
        // One function may hold another's entry, and more than a few never lie in each other.
        self.codes[..behind].iter().rev().take(16).find(|code| code.range.contains(&address))
    }

    /// What kept lines from being known.
    pub fn problems(&self) -> &[Problem] {
        self.symbolizer.problems()
    }

    /// The instructions of a stretch of code, of no more bytes than `most`.
    pub fn listing(&mut self, code: &Code, most: u64) -> Listing {
        let sections = sections(&self.binary);
        let length = code.range.end.saturating_sub(code.range.start);
        let bytes = sections.iter().find_map(|section| section.at(code.range.start)).unwrap_or_default();
        let room = usize::try_from(length.min(most)).unwrap_or(usize::MAX).min(bytes.len());
        let whole = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
        // What begins before the limit is decoded to its end.
        let mut decoder = Decoder::with_ip(64, &bytes[..whole], code.range.start, DecoderOptions::NONE);
        let mut writer = Writer::new();
        let mut decoded = Vec::new();
        let mut instruction = Decoded::default();
        while decoder.can_decode() && decoder.position() < room {
            let from = decoder.position();
            decoder.decode_out(&mut instruction);
            let target = leads_to(&instruction).filter(|target| !is_inside(target, &code.range));
            decoded.push((
                instruction.ip(),
                bytes[from..decoder.position()].to_vec(),
                writer.text(&instruction),
                target,
            ));
        }
        let left_out_bytes = length.saturating_sub(decoder.position() as u64);
        let mut listing = Listing { left_out_bytes, ..Listing::default() };
        let mut places = FxHashMap::default();
        for (address, bytes, text, target) in decoded {
            let leads_to = target.and_then(|target| self.name_of(target));
            let place = self.place(address).map(|frames| {
                let next = u32::try_from(places.len()).unwrap_or(u32::MAX);
                *places.entry(frames).or_insert(next)
            });
            let length = bytes.len() as u64;
            listing.instructions.push(Instruction { address, bytes, length, text, leads_to, place });
        }
        let mut numbered: Vec<(Vec<Frame>, u32)> = places.into_iter().collect();
        numbered.sort_unstable_by_key(|(_, number)| *number);
        listing.places = numbered.into_iter().map(|(frames, _)| frames).collect();
        listing
    }

    /// The functions and lines of an instruction; `None` where debug information says nothing of it.
    fn place(&mut self, address: u64) -> Option<Vec<Frame>> {
        let module = ModuleRef { path: &self.path, build_id: self.build_id.as_deref() };
        let found = self.symbolizer.resolve(&module, Address::Exact(address));
        (found.quality == Quality::Lines).then_some(found.frames)
    }

    /// The function that something leads to.
    fn name_of(&mut self, target: Target) -> Option<String> {
        let cell = match target {
            Target::Address(address) => {
                // What the linker put between is nobody's matter, whatever it is called.
                let stub = cell_of_stub(&sections(&self.binary), address);
                match stub.filter(|cell| self.binary.cells.contains_key(cell)) {
                    Some(cell) => cell,
                    None => return self.name_at(address),
                }
            }
            Target::Cell(cell) => cell,
            Target::Unknown => return None,
        };
        match self.binary.cells.get(&cell)? {
            Filled::Address(address) => self.name_at(*address),
            Filled::Named(name) => Some(self.names.readable(name, Language::Unknown)),
        }
    }

    fn name_at(&self, address: u64) -> Option<String> {
        let code = self.code_at(address)?;
        let offset = address - code.range.start;
        let title = code.title();
        Some(if offset == 0 { title } else { format!("{title}+{offset:#x}") })
    }
}

/// Whether something leads to the function that it lies in, as jumps do; its own beginning is a call of itself.
fn is_inside(target: &Target, range: &Range<u64>) -> bool {
    matches!(target, Target::Address(address) if range.contains(address) && *address != range.start)
}

/// Writes instructions.
struct Writer(GasFormatter);

impl Writer {
    fn new() -> Self {
        let mut formatter = GasFormatter::new();
        let options = formatter.options_mut();
        options.set_first_operand_char_index(7);
        options.set_uppercase_hex(false);
        options.set_branch_leading_zeros(false);
        options.set_small_hex_numbers_in_decimal(false);
        options.set_rip_relative_addresses(true);
        Self(formatter)
    }

    fn text(&mut self, instruction: &Decoded) -> String {
        let mut text = String::new();
        self.0.format(instruction, &mut text);
        // Displacements say nothing to a reader, the address that comes of it does.
        let has_target =
            !matches!(instruction.flow_control(), FlowControl::IndirectCall | FlowControl::IndirectBranch);
        if instruction.memory_base() == Register::RIP && has_target {
            text.push_str(&format!("  # {:x}", instruction.ip_rel_memory_address()));
        }
        text
    }
}

impl std::fmt::Debug for Assembly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Assembly")
            .field("path", &self.path)
            .field("codes", &self.codes.len())
            .finish_non_exhaustive()
    }
}
