//! Calls in machine code.
//!
//! The one idea: a call is an instruction, whatever language it was written in. An instruction that names an address calls
//! what lies there; one that reads a cell which the dynamic linker fills calls what that is filled with; of others nobody
//! knows before the program runs.
//!
//! What is deliberately absent: other machines than x86-64.

use std::ops::Range;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

/// Where an instruction leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// To an address.
    Address(u64),
    /// To what a cell holds that the dynamic linker fills.
    Cell(u64),
    /// Nobody knows.
    Unknown,
}

/// An instruction that calls, or jumps out of its function, which is how a last call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leading {
    pub(super) at: u64,
    pub(super) to: Target,
    pub(super) is_jump: bool,
}

/// A piece of code: where it lies when it runs.
pub(super) struct Section<'d> {
    pub(super) address: u64,
    pub(super) bytes: &'d [u8],
}

impl<'d> Section<'d> {
    /// The bytes from an address on; `None` = it lies in another section.
    pub(super) fn at(&self, address: u64) -> Option<&'d [u8]> {
        let offset = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
    }
}

/// What cells are filled with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filled {
    /// The address of something in the same file.
    Address(u64),
    /// Whatever has this name.
    Named(String),
}

/// All calls, and jumps that leave the functions they lie in, by address. Functions are ascending.
pub(super) fn calls(sections: &[Section<'_>], functions: &[Range<u64>]) -> Vec<Leading> {
    let found: Vec<Vec<Leading>> = functions
        .par_iter()
        .map(|function| {
            let section = sections.iter().find_map(|section| section.at(function.start));
            section.map_or_else(Vec::new, |bytes| calls_of(bytes, function))
        })
        .collect();
    let mut found = found.concat();
    found.sort_by_key(|leading| leading.at);
    found.dedup_by_key(|leading| leading.at);
    found
}

fn calls_of(bytes: &[u8], function: &Range<u64>) -> Vec<Leading> {
    let length = usize::try_from(function.end - function.start).unwrap_or(usize::MAX).min(bytes.len());
    let mut decoder = Decoder::with_ip(64, &bytes[..length], function.start, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut found = Vec::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let at = instruction.ip();
        match instruction.flow_control() {
            FlowControl::Call if is_near(&instruction) => {
                let to = Target::Address(instruction.near_branch_target());
                found.push(Leading { at, to, is_jump: false });
            }
            FlowControl::IndirectCall => {
                found.push(Leading { at, to: read(&instruction), is_jump: false });
            }
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch if is_near(&instruction) => {
                let target = instruction.near_branch_target();
                if !function.contains(&target) {
                    found.push(Leading { at, to: Target::Address(target), is_jump: true });
                }
            }
            // A jump through a table stays in its function; one through a cell of the linker does not.
            FlowControl::IndirectBranch => {
                if let to @ Target::Cell(_) = read(&instruction) {
                    found.push(Leading { at, to, is_jump: true });
                }
            }
            _ => {}
        }
    }
    found
}

/// Where an instruction leads that calls or jumps; `None` = it does neither, or nobody knows where.
pub(super) fn leads_to(instruction: &Instruction) -> Option<Target> {
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            is_near(instruction).then(|| Target::Address(instruction.near_branch_target()))
        }
        FlowControl::IndirectCall | FlowControl::IndirectBranch => {
            Some(read(instruction)).filter(|target| *target != Target::Unknown)
        }
        _ => None,
    }
}

fn is_near(instruction: &Instruction) -> bool {
    matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
}

/// The cell that an instruction reads, if its address is known.
fn read(instruction: &Instruction) -> Target {
    let is_cell = instruction.op0_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RIP
        && instruction.memory_index() == Register::None;
    if is_cell { Target::Cell(instruction.ip_rel_memory_address()) } else { Target::Unknown }
}

/// What linkers put between a caller and a function of another file: a jump through a cell. `None` = it is something else.
pub(super) fn cell_of_stub(sections: &[Section<'_>], address: u64) -> Option<u64> {
    let bytes = sections.iter().find_map(|section| section.at(address))?;
    let length = bytes.len().min(32);
    let mut decoder = Decoder::with_ip(64, &bytes[..length], address, DecoderOptions::NONE);
    // A mark of where jumps may lead to, perhaps, then the jump.
    for _ in 0..2 {
        let instruction = decoder.decode();
        match instruction.code() {
            Code::Endbr64 => {}
            Code::Jmp_rm64 => {
                return match read(&instruction) {
                    Target::Cell(cell) => Some(cell),
                    Target::Address(_) | Target::Unknown => None,
                };
            }
            _ => return None,
        }
    }
    None
}

/// What the dynamic linker fills cells with, by their addresses.
pub(super) type Cells = FxHashMap<u64, Filled>;
