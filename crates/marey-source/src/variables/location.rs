//! Where a variable lies, as far as an expression says it without a process to ask.
//!
//! The one idea: an expression that is no more than an address, or a distance from the frame, with constants added. All else
//! (registers, storage of each thread, pieces, values that are computed) has no place that could be compared with an address.

use gimli::{AttributeValue, Expression, Operation, Reader as _};

use super::debug::{Entry, Unit, View};
use crate::database::unit::Bytes;

/// A place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the module.
    Fixed(u64),
    /// So many bytes from the base of the frame.
    Frame(i64),
}

/// The base that places in a frame count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The canonical frame address itself.
    Cfa,
    /// A register.
    Register(gimli::Register),
}

/// Where the variable of an entry lies while the instruction at `pc` runs, which only matters for those that move; and
/// whether it is its address that lies there.
pub(super) fn place<'d>(
    view: &View<'d>,
    unit: &Unit<'d>,
    entry: &Entry<'d>,
    pc: Option<u64>,
) -> Option<(Place, bool)> {
    let (dwarf, whole) = view.pair(unit);
    let expression = match entry.attr_value(gimli::DW_AT_location)? {
        AttributeValue::Exprloc(expression) => expression,
        value => {
            let pc = pc?;
            let mut list = dwarf.attr_locations(whole, value).ok()??;
            loop {
                let entry = list.next().ok()??;
                if (entry.range.begin..entry.range.end).contains(&pc) {
                    break entry.data;
                }
            }
        }
    };
    told(dwarf, whole, expression)
}

fn told<'d>(
    dwarf: &gimli::Dwarf<Bytes<'d>>,
    unit: &gimli::Unit<Bytes<'d>>,
    expression: Expression<Bytes<'d>>,
) -> Option<(Place, bool)> {
    let mut operations = expression.operations(unit.encoding());
    let mut place = match operations.next().ok()?? {
        Operation::Address { address } => Place::Fixed(address),
        Operation::AddressIndex { index } => Place::Fixed(dwarf.address(unit, index).ok()?),
        Operation::FrameOffset { offset } => Place::Frame(offset),
        _ => return None,
    };
    while let Some(operation) = operations.next().ok()? {
        place = match (operation, place) {
            (Operation::PlusConstant { value }, Place::Fixed(at)) => Place::Fixed(at.checked_add(value)?),
            (Operation::PlusConstant { value }, Place::Frame(at)) => {
                Place::Frame(at.checked_add(i64::try_from(value).ok()?)?)
            }
            // The last one: what lies there is where the variable lies.
            (Operation::Deref { size, space: false, .. }, place) if size == unit.encoding().address_size => {
                return operations.next().ok()?.is_none().then_some((place, true));
            }
            _ => return None,
        };
    }
    // Nothing lies at 0: the linker has dropped it.
    (place != Place::Fixed(0)).then_some((place, false))
}

/// What places in the frame of a function count from.
pub(super) fn base<'d>(view: &View<'d>, unit: &Unit<'d>, function: &Entry<'d>) -> Option<Base> {
    let (_, unit) = view.pair(unit);
    let AttributeValue::Exprloc(expression) = function.attr_value(gimli::DW_AT_frame_base)? else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    let base = match operations.next().ok()?? {
        Operation::CallFrameCFA => Base::Cfa,
        Operation::Register { register } => Base::Register(register),
        Operation::RegisterOffset { register, offset: 0, .. } => Base::Register(register),
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(base)
}

/// The constant that a simple expression, or a plain number, means.
pub(super) fn constant<'d>(unit: &gimli::Unit<Bytes<'d>>, value: &AttributeValue<Bytes<'d>>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = value else { return value.udata_value() };
    let is_short = expression.0.len() <= 16;
    let mut operations = expression.operations(unit.encoding());
    let value = match operations.next().ok()?? {
        Operation::PlusConstant { value } | Operation::UnsignedConstant { value } => value,
        _ => return None,
    };
    (is_short && operations.next().ok()?.is_none()).then_some(value)
}
