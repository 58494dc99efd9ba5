//! From a byte of a variable to the member that it belongs to.
//!
//! The one idea: who names a place in memory with a length means the smallest thing that holds all of it. What types of a
//! library are made of is nobody's to read, so a name ends at the variable of such a type. Members of a union share their
//! place, so of them nothing is said.

use gimli::UnitOffset;

use super::debug::{Die, Language, View};
use super::scope::{declared, type_of};
use super::shape::{self, Shape};
use super::{Holder, MOST_HOLDERS, Variable};
use crate::symbolizer::Quality;

/// Members in members: more than somebody writes.
const MOST_DEPTH: usize = 16;

/// Elements of an array that are gone through for what they hold, at most: tables of pointers can be long.
const MOST_ELEMENTS: u64 = 256;

/// A variable, as an entry and what is known of its place.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) die: Die,
    /// What lies in its place is where it lies.
    pub(super) is_indirect: bool,
    pub(super) bytes: u64,
}

/// A member of a structure.
struct Member {
    name: String,
    start: u64,
    of: Die,
    shape: Shape,
}

/// What lies `offset` bytes behind the beginning of a variable, and goes on for so many bytes.
pub(super) fn variable(view: &View<'_>, part: Part, offset: u64, bytes: u64) -> Option<Variable> {
    let (mut variable, mut shape) = whole(view, part)?;
    variable.offset = offset;
    if !part.is_indirect {
        descend(view, part, bytes, &mut variable, &mut shape);
    }
    Some(finish(part, variable, shape))
}

/// What a variable holds elsewhere, `offsets[0]` bytes behind its beginning; what that holds, `offsets[1]` behind the
/// beginning of that; and so on.
pub(super) fn held(view: &View<'_>, part: Part, offsets: &[u64]) -> Option<Variable> {
    let (mut variable, mut shape) = whole(view, part)?;
    for offset in offsets {
        shape.holder = None;
        (variable.offset, variable.bytes) = (*offset, u64::MAX);
        descend(view, part, 1, &mut variable, &mut shape);
    }
    Some(finish(Part { is_indirect: false, ..part }, variable, shape))
}

/// All of a variable, and the shape of its type.
fn whole(view: &View<'_>, part: Part) -> Option<(Variable, Shape)> {
    let declared = declared(view, part.die)?;
    let shape = type_of(view, part.die).map(|of| shape::of(view, of)).unwrap_or_default();
    let variable = Variable {
        name: declared.name,
        scope: declared.scope,
        file: declared.file,
        line: declared.line,
        offset: 0,
        bytes: part.bytes,
        holder: Holder::Storage,
        is_parameter: view.entry(part.die).is_some_and(|entry| entry.tag() == gimli::DW_TAG_formal_parameter),
        element: String::new(),
        element_bytes: 0,
        bounds: Vec::new(),
        quality: Quality::Lines,
    };
    Some((variable, shape))
}

/// Goes to the smallest member that holds `bytes` from the variable's offset on, as far as data lie here.
fn descend(view: &View<'_>, part: Part, bytes: u64, variable: &mut Variable, shape: &mut Shape) {
    let separator = if view.language(part.die.unit) == Language::Fortran { "%" } else { "." };
    let mut is_named = true;
    for _ in 0..MOST_DEPTH {
        if shape.holder.is_some() {
            break;
        }
        let Some(structure) = shape.members.filter(|_| shape.element_bytes != 0) else { break };
        let wanted = bytes.clamp(1, variable.bytes.saturating_sub(variable.offset).max(1));
        let within = variable.offset % shape.element_bytes;
        let holds = |member: &Member| {
            member.start <= within && wanted <= member.shape.bytes.saturating_sub(within - member.start)
        };
        let Some(member) = members(view, structure).into_iter().find(holds) else { break };
        is_named &= is_readable(&shape.element) && !is_reserved(&member.name);
        if is_named && !member.name.is_empty() {
            variable.name.push_str(separator);
            variable.name.push_str(&member.name);
        }
        variable.offset = within - member.start;
        variable.bytes = member.shape.bytes;
        *shape = member.shape;
    }
}

fn finish(part: Part, mut variable: Variable, shape: Shape) -> Variable {
    variable.holder =
        if part.is_indirect { Holder::Pointer } else { shape.holder.unwrap_or(Holder::Storage) };
    variable.element = shape.element;
    variable.element_bytes = shape.element_bytes;
    variable.bounds = shape.bounds;
    variable
}

/// Where in a variable that begins at `start` it stands where data lie.
pub(super) fn holders(view: &View<'_>, part: Part, start: u64, cells: &mut Vec<u64>) {
    if part.is_indirect {
        cells.push(start);
        return;
    }
    let Some(of) = type_of(view, part.die) else { return };
    cells_of(view, &shape::of(view, of), start, MOST_DEPTH, cells);
}

fn cells_of(view: &View<'_>, shape: &Shape, start: u64, depth: usize, cells: &mut Vec<u64>) {
    if shape.holder.is_some() {
        cells.push(start);
        return;
    }
    if shape.element_bytes == 0 || depth == 0 {
        return;
    }
    let members = match shape.members {
        Some(structure) => members(view, structure),
        None if shape.are_pointers => Vec::new(),
        None => return,
    };
    for place in 0..(shape.bytes / shape.element_bytes).min(MOST_ELEMENTS) {
        let Some(at) = place.checked_mul(shape.element_bytes).and_then(|at| at.checked_add(start)) else {
            return;
        };
        if MOST_HOLDERS <= cells.len() {
            return;
        }
        if shape.are_pointers {
            cells.push(at);
        }
        for member in &members {
            cells_of(view, &member.shape, at.saturating_add(member.start), depth - 1, cells);
        }
    }
}

/// The members of a structure, in their order; those that it has from others, without a name.
fn members(view: &View<'_>, structure: Die) -> Vec<Member> {
    let mut found = Vec::new();
    let Some(unit) = view.unit(structure.unit) else { return found };
    let (_, whole) = view.pair(&unit);
    let Ok(mut cursor) = whole.entries_at_offset(UnitOffset(structure.at)) else { return found };
    let has_children =
        matches!(cursor.next_entry(), Ok(true)) && cursor.current().is_some_and(|entry| entry.has_children());
    let mut is_there = has_children && matches!(cursor.next_entry(), Ok(true));
    while is_there {
        let Some(entry) = cursor.current() else { break };
        let is_member = entry.tag() == gimli::DW_TAG_member || entry.tag() == gimli::DW_TAG_inheritance;
        // What belongs to all objects of a type does not lie in them.
        let is_of_all = entry.has_attr(gimli::DW_AT_external) || entry.has_attr(gimli::DW_AT_declaration);
        if is_member
            && !is_of_all
            && let Some(start) = shape::member_at(whole, entry)
            && let Some(of) = view.reference(structure.unit, entry, gimli::DW_AT_type)
        {
            let name = if entry.tag() == gimli::DW_TAG_member {
                view.text(structure.unit, entry, gimli::DW_AT_name)
            } else {
                String::new()
            };
            found.push(Member { name, start, of, shape: shape::of(view, of) });
        }
        is_there = matches!(cursor.next_sibling(), Ok(Some(_)));
    }
    found.retain(|member| member.of != structure);
    found
}

/// Whether a member's name is the author's own: those of the C++ library begin so.
fn is_reserved(name: &str) -> bool {
    name.starts_with("_M_") || name.starts_with("__")
}

/// Whether the members of a type are the author's own: those of Rust's library have no mark.
fn is_readable(of: &str) -> bool {
    !["alloc::", "core::", "std::"].iter().any(|begin| of.starts_with(begin))
}
