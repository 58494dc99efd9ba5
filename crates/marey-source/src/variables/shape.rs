//! What a type looks like in memory: elements, dimensions, and whether data lie there or elsewhere.
//!
//! The one idea: an array of arrays is one array, and a pointer to an array has the dimensions of what it points to, for that
//! is how the source speaks of both. What is only known when the program runs is left open.

use gimli::{AttributeValue, UnitOffset};

use super::Holder;
use super::debug::{Die, Entry, Language, View};
use super::{location, scope};

/// Types that are made of types that are made of types: more than somebody writes.
const MOST_STEPS: usize = 16;

/// No language has more.
const MOST_DIMENSIONS: usize = 15;

/// Of a descriptor of gfortran: what comes before its dimensions, and each of them.
const DESCRIPTOR_BYTES: (u64, u64) = (40, 24);

/// A type.
#[derive(Default)]
pub(super) struct Shape {
    /// Size of what lies in its place; 0 when it is not known.
    pub(super) bytes: u64,
    pub(super) holder: Option<Holder>,
    pub(super) element: String,
    pub(super) element_bytes: u64,
    pub(super) bounds: Vec<(i64, Option<u64>)>,
    /// The structure that its elements are, wherever they lie.
    pub(super) members: Option<Die>,
    /// Whether elements are themselves pointers to data.
    pub(super) are_pointers: bool,
}

/// What is learned on the way to the element.
#[derive(Default)]
struct Way {
    bounds: Vec<(i64, Option<u64>)>,
    holder: Option<Holder>,
    address_size: u64,
    /// The name that the source gave to the type.
    alias: String,
}

/// The shape of a type.
pub(super) fn of(view: &View<'_>, die: Die) -> Shape {
    let mut way = Way { address_size: 8, ..Way::default() };
    let mut next = Some(die);
    for _ in 0..MOST_STEPS {
        let Some(die) = next else { return way.end(("void".to_owned(), 0), None) };
        let Some(entry) = view.entry(die) else { return way.end((String::new(), 0), None) };
        let to = view.reference(die.unit, &entry, gimli::DW_AT_type);
        match entry.tag() {
            gimli::DW_TAG_typedef => {
                if way.alias.is_empty() {
                    way.alias = scope::qualified(view, die);
                }
            }
            gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_immutable_type => {}
            gimli::DW_TAG_array_type => {
                way.alias.clear();
                way.array(view, die, &entry);
            }
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => {
                let is_to_code = to
                    .and_then(|to| view.entry(to))
                    .is_some_and(|entry| entry.tag() == gimli::DW_TAG_subroutine_type);
                way.address_size = size(&entry).unwrap_or(8);
                if is_to_code || way.holder.is_some() || !way.bounds.is_empty() {
                    let element = way.pointer(view, to, is_to_code);
                    let bytes = way.address_size;
                    let mut shape = way.end((element, bytes), None);
                    shape.are_pointers = !is_to_code;
                    return shape;
                }
                way.alias.clear();
                way.holder = Some(Holder::Pointer);
            }
            tag => {
                let is_structure = tag == gimli::DW_TAG_structure_type || tag == gimli::DW_TAG_class_type;
                let bytes = size(&entry).unwrap_or(0);
                let name = way.name(view, die, &entry);
                return way.end((name, bytes), is_structure.then_some(die));
            }
        }
        next = to;
    }
    way.end(("…".to_owned(), 0), None)
}

impl Way {
    fn array<'d>(&mut self, view: &View<'d>, die: Die, entry: &Entry<'d>) {
        let is_described = [gimli::DW_AT_data_location, gimli::DW_AT_allocated, gimli::DW_AT_associated]
            .iter()
            .any(|name| entry.has_attr(*name));
        if is_described && self.holder.is_none() && self.bounds.is_empty() {
            let is_allocatable = entry.has_attr(gimli::DW_AT_allocated);
            self.holder = Some(if is_allocatable { Holder::Allocatable } else { Holder::Descriptor });
        }
        let default = i64::from(view.language(die.unit) == Language::Fortran);
        let Some(unit) = view.unit(die.unit) else { return };
        let (_, unit) = view.pair(&unit);
        let Ok(mut cursor) = unit.entries_at_offset(UnitOffset(die.at)) else { return };
        if !matches!(cursor.next_entry(), Ok(true)) || !entry.has_children() {
            return;
        }
        let mut is_there = matches!(cursor.next_entry(), Ok(true));
        while is_there && self.bounds.len() < MOST_DIMENSIONS {
            let Some(range) = cursor.current() else { return };
            if range.tag() == gimli::DW_TAG_subrange_type || range.tag() == gimli::DW_TAG_enumeration_type {
                self.bounds.push(bound(range, default));
            }
            is_there = matches!(cursor.next_sibling(), Ok(Some(_)));
        }
    }

    fn pointer(&self, view: &View<'_>, to: Option<Die>, is_to_code: bool) -> String {
        if !self.alias.is_empty() {
            return self.alias.clone();
        }
        if is_to_code {
            return "(function)".to_owned();
        }
        let of = to.map_or_else(|| "void".to_owned(), |to| of(view, to).written());
        format!("{of} *")
    }

    fn name<'d>(&self, view: &View<'d>, die: Die, entry: &Entry<'d>) -> String {
        if !self.alias.is_empty() {
            return self.alias.clone();
        }
        match entry.tag() {
            gimli::DW_TAG_string_type => match size(entry) {
                Some(bytes) => format!("character({bytes})"),
                None => "character(:)".to_owned(),
            },
            gimli::DW_TAG_subroutine_type => "(function)".to_owned(),
            // `real(kind=4)` is what gfortran writes where programmers write `real(4)`.
            gimli::DW_TAG_base_type => view.text(die.unit, entry, gimli::DW_AT_name).replace("(kind=", "("),
            tag => {
                let name = scope::qualified(view, die);
                match (view.language(die.unit), tag) {
                    (Language::Fortran, gimli::DW_TAG_structure_type) => {
                        format!("type({})", unqualified(&name))
                    }
                    (Language::C, gimli::DW_TAG_structure_type) => format!("struct {name}"),
                    (Language::C, gimli::DW_TAG_union_type) => format!("union {name}"),
                    (Language::C, gimli::DW_TAG_enumeration_type) => format!("enum {name}"),
                    _ => name,
                }
            }
        }
    }

    fn end(self, (element, element_bytes): (String, u64), members: Option<Die>) -> Shape {
        let rank = self.bounds.len() as u64;
        let bytes = match self.holder {
            Some(Holder::Pointer) => self.address_size,
            Some(Holder::Descriptor | Holder::Allocatable) => DESCRIPTOR_BYTES.0 + DESCRIPTOR_BYTES.1 * rank,
            Some(Holder::Storage) | None => {
                let extents = self.bounds.iter().map(|(_, extent)| extent.unwrap_or(0));
                extents.fold(element_bytes, u64::saturating_mul)
            }
        };
        Shape {
            bytes,
            holder: self.holder,
            element,
            element_bytes,
            bounds: self.bounds,
            members,
            are_pointers: false,
        }
    }
}

impl Shape {
    /// The type as it would be written where something points to it.
    fn written(&self) -> String {
        if self.holder == Some(Holder::Pointer) {
            format!("{} *", self.element)
        } else {
            self.element.clone()
        }
    }
}

fn bound(range: &Entry<'_>, default: i64) -> (i64, Option<u64>) {
    let plain = |name| match range.attr_value(name)? {
        AttributeValue::Exprloc(_) | AttributeValue::UnitRef(_) | AttributeValue::DebugInfoRef(_) => None,
        // Only forms with a sign can be below 0.
        value => {
            let number = value.udata_value().and_then(|number| i64::try_from(number).ok());
            number.or_else(|| value.sdata_value())
        }
    };
    let is_open = range.has_attr(gimli::DW_AT_lower_bound) && plain(gimli::DW_AT_lower_bound).is_none();
    let lower = plain(gimli::DW_AT_lower_bound).unwrap_or(default);
    let count = plain(gimli::DW_AT_count).and_then(|count| u64::try_from(count).ok());
    let upper = plain(gimli::DW_AT_upper_bound).filter(|_| !is_open);
    // An empty dimension ends before it begins.
    let extent =
        upper.and_then(|upper| upper.checked_sub(lower)?.checked_add(1)).map(|it| it.max(0).unsigned_abs());
    (lower, count.or(extent))
}

fn size(entry: &Entry<'_>) -> Option<u64> {
    entry.attr_value(gimli::DW_AT_byte_size)?.udata_value()
}

/// Types of Fortran are written without their module.
fn unqualified(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Where a member lies in its structure.
pub(super) fn member_at(
    unit: &gimli::Unit<crate::database::unit::Bytes<'_>>,
    entry: &Entry<'_>,
) -> Option<u64> {
    match entry.attr_value(gimli::DW_AT_data_member_location) {
        Some(value) => location::constant(unit, &value),
        // The first one, and all of a union.
        None if entry.has_attr(gimli::DW_AT_data_bit_offset) || entry.has_attr(gimli::DW_AT_bit_size) => None,
        None => Some(0),
    }
}
