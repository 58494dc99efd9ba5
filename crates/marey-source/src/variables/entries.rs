//! Which variables a module has a fixed place for, by address.
//!
//! The one idea: of each variable only its place, its size and where its entry lies are kept; the rest is read when it is
//! asked for.

use gimli::DebuggingInformationEntry;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::debug::{Debug, Die, Entry, View};
use super::location::{self, Place};
use super::objects::Objects;
use super::{Holder, Static};
use super::{scope, shape};

/// What compilers of Fortran make for types: nobody's data.
const MADE: [&str; 3] = ["__def_init_", "__vtab_", "__vtype_"];

/// Variables with a fixed place.
#[derive(Default)]
pub(super) struct Statics {
    /// By start, then by size.
    list: Vec<Static>,
    /// `reach[i]` is the largest end among `list[..=i]`: it bounds the search.
    reach: Vec<u64>,
}

impl Statics {
    fn new(mut list: Vec<Static>) -> Self {
        list.sort_unstable_by_key(|it| (it.start, it.bytes, it.die));
        // What many units say of one variable is the same.
        list.dedup_by_key(|it| (it.start, it.bytes));
        let mut reach = Vec::with_capacity(list.len());
        let mut end = 0;
        for it in &list {
            end = it.start.saturating_add(it.bytes).max(end);
            reach.push(end);
        }
        Self { list, reach }
    }

    /// The variable that begins last of those that hold an address; the largest of those that begin there.
    pub(super) fn find(&self, vaddr: u64) -> Option<Static> {
        let after = self.list.partition_point(|it| it.start <= vaddr);
        for (it, reach) in self.list[..after].iter().zip(&self.reach).rev() {
            if *reach <= vaddr {
                return None;
            }
            if vaddr - it.start < it.bytes {
                return Some(*it);
            }
        }
        None
    }

    pub(super) fn list(&self) -> &[Static] {
        &self.list
    }
}

/// Reads all units, and why some could not be read to their ends.
pub(super) fn read(debug: &Debug, objects: &Objects) -> (Statics, Vec<gimli::Error>) {
    let read = |number| {
        let view = View::new(debug);
        let mut found = Vec::new();
        let error = of_unit(&view, number, objects, &mut found).err();
        (found, error)
    };
    let units: Vec<_> = debug.own_units().into_par_iter().map(read).collect();
    let mut list = Vec::new();
    let mut errors = Vec::new();
    for (found, error) in units {
        list.extend(found);
        errors.extend(error);
    }
    (Statics::new(list), errors)
}

fn of_unit(view: &View<'_>, number: u32, objects: &Objects, found: &mut Vec<Static>) -> gimli::Result<()> {
    let Some(unit) = view.unit(number) else { return Ok(()) };
    let (_, whole) = view.pair(&unit);
    let mut raw = whole.entries_raw(None)?;
    let mut entry = DebuggingInformationEntry::null();
    while !raw.is_empty() {
        if !raw.read_entry(&mut entry)? || entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some((Place::Fixed(start), is_indirect)) = location::place(view, &unit, &entry, None) else {
            continue;
        };
        let die = Die { unit: number, at: entry.offset().0 };
        if is_made(view, number, &entry) {
            continue;
        }
        let (bytes, is_descriptor) = bytes(view, die, is_indirect, whole.encoding().address_size);
        // The linker knows how much there is where the type does not say: codimensions have room in descriptors, too.
        let linked = objects.size_at(start).filter(|linked| bytes == 0 || is_descriptor && bytes < *linked);
        let bytes = linked.unwrap_or(bytes);
        if bytes != 0 {
            found.push(Static { start, bytes, die, is_indirect });
        }
    }
    Ok(())
}

/// The size of what lies in the place of a variable, and whether that is a descriptor.
pub(super) fn bytes(view: &View<'_>, die: Die, is_indirect: bool, address_size: u8) -> (u64, bool) {
    if is_indirect {
        return (address_size.into(), false);
    }
    let shape = scope::type_of(view, die).map(|of| shape::of(view, of)).unwrap_or_default();
    (shape.bytes, matches!(shape.holder, Some(Holder::Descriptor | Holder::Allocatable)))
}

fn is_made<'d>(view: &View<'d>, number: u32, entry: &Entry<'d>) -> bool {
    let is_artificial =
        matches!(entry.attr_value(gimli::DW_AT_artificial), Some(gimli::AttributeValue::Flag(true)));
    is_artificial && {
        let name = view.text(number, entry, gimli::DW_AT_name);
        name.is_empty() || MADE.iter().any(|begin| name.starts_with(begin))
    }
}
