//! Tokens of coarrays: which array each belongs to.
//!
//! The one idea: gfortran keeps beside each coarray with static storage a cell that its library knows it by. That of a
//! module's array has a name which says whose it is. That of a procedure's array says nothing, and its place neither; but the
//! code that registers it first names the cell and then stores where the array lies, so that code is read.

use std::ops::Range;
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

use super::entries::Statics;
use super::objects::Objects;
use crate::database::binary::Binary;

/// What such cells of modules are called, before the name of the array for the linker.
const OF_MODULE: &str = "_F.caf_token";

/// And those of procedures, before a number.
const OF_PROCEDURE: &str = "caf_token.";

/// Code of gfortran for registering arrays is read up to so many bytes.
const MOST_CODE: u64 = 64 << 20;

/// Cells, and the address of the variable that each belongs to.
pub(super) fn pairs(objects: &Objects, statics: &Statics, module: &Path) -> Vec<(Range<u64>, u64)> {
    let mut found = Vec::new();
    let mut unnamed = Vec::new();
    for (cell, name) in objects.iter() {
        if let Some(array) = name.strip_prefix(OF_MODULE) {
            let array = objects.iter().find(|(_, name)| *name == array);
            found.extend(array.map(|(array, _)| (cell, array.start)));
        } else if name.starts_with(OF_PROCEDURE) {
            unnamed.push(cell);
        }
    }
    if !unnamed.is_empty()
        && let Ok(binary) = Binary::read(module, MOST_CODE)
        && binary.is_known_machine
    {
        for (address, code) in &binary.sections {
            registered(*address, code, &unnamed, statics, &mut found);
        }
    }
    found
}

/// What code registers: it names a cell, calls, and stores what the call gave into the variable. Between call and store it may
/// name the next cell.
fn registered(
    address: u64,
    code: &[u8],
    cells: &[Range<u64>],
    statics: &Statics,
    found: &mut Vec<(Range<u64>, u64)>,
) {
    let mut named: Option<&Range<u64>> = None;
    let mut called: Option<&Range<u64>> = None;
    let mut instruction = Instruction::default();
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let memory = instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address());
        match instruction.mnemonic() {
            Mnemonic::Lea => named = cell(cells, memory).or(named),
            Mnemonic::Mov if instruction.op1_kind() == OpKind::Immediate32 => {
                named = cell(cells, Some(instruction.immediate32().into())).or(named);
            }
            Mnemonic::Mov
                if instruction.op0_kind() == OpKind::Memory && instruction.op1_register().is_gpr64() =>
            {
                if let (Some(variable), Some(cell)) = (memory.and_then(|at| statics.find(at)), called) {
                    found.push((cell.clone(), variable.start));
                    called = None;
                }
            }
            // A call without a store behind it has registered nothing.
            Mnemonic::Call => called = named.take(),
            Mnemonic::Ret => (named, called) = (None, None),
            _ => {}
        }
    }
}

fn cell(cells: &[Range<u64>], at: Option<u64>) -> Option<&Range<u64>> {
    cells.iter().find(|cell| Some(cell.start) == at)
}
