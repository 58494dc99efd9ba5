//! What a variable is called, what it lies in, and where it is declared.
//!
//! The one idea: an entry says of itself only what its declaration does not say, or what it is a copy of. So names, types and
//! places are asked of one after the other, and what is around is asked of the last.

use gimli::{AttributeValue, DwAt};

use super::debug::{Die, Entry, View};

/// A copy of a copy of a declaration: more than compilers write.
const MOST_STEPS: usize = 8;

/// What is nested deeper than this, nobody wrote.
const MOST_DEPTH: usize = 64;

/// Where a variable is declared.
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) scope: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// The declaration of a variable.
pub(super) fn declared(view: &View<'_>, die: Die) -> Option<Declared> {
    let chain = chain(view, die);
    let name = name(view, &chain);
    if name.is_empty() {
        return None;
    }
    let (mut file, mut line) = (String::new(), 0);
    for (die, entry) in &chain {
        if line == 0 {
            line = number(entry, gimli::DW_AT_decl_line).unwrap_or(0);
        }
        if file.is_empty()
            && let Some(number) = number(entry, gimli::DW_AT_decl_file)
        {
            file = view.file(die.unit, number);
        }
    }
    let root = chain.last()?.0;
    Some(Declared { name, scope: around(view, root, MOST_STEPS), file, line })
}

/// The type of a variable or member.
pub(super) fn type_of(view: &View<'_>, die: Die) -> Option<Die> {
    chain(view, die).iter().find_map(|(die, entry)| view.reference(die.unit, entry, gimli::DW_AT_type))
}

/// The name of a type or function with all that is around it.
pub(super) fn qualified(view: &View<'_>, die: Die) -> String {
    named(view, die, MOST_STEPS)
}

fn named(view: &View<'_>, die: Die, steps: usize) -> String {
    let chain = chain(view, die);
    let name = name(view, &chain);
    let Some((root, entry)) = chain.last().filter(|_| steps != 0) else { return name };
    let name = match entry.tag() {
        _ if !name.is_empty() => name,
        gimli::DW_TAG_namespace => "(anonymous namespace)".to_owned(),
        gimli::DW_TAG_structure_type => "(anonymous struct)".to_owned(),
        gimli::DW_TAG_class_type => "(anonymous class)".to_owned(),
        gimli::DW_TAG_union_type => "(anonymous union)".to_owned(),
        gimli::DW_TAG_enumeration_type => "(anonymous enum)".to_owned(),
        _ => return String::new(),
    };
    let around = around(view, *root, steps - 1);
    if around.is_empty() { name } else { format!("{around}::{name}") }
}

/// What is around an entry.
fn around(view: &View<'_>, die: Die, steps: usize) -> String {
    let Some(outer) = ancestors(view, die) else { return String::new() };
    for (at, entry) in outer.into_iter().rev() {
        match entry.tag() {
            gimli::DW_TAG_common_block => {
                let name = view.text(die.unit, &entry, gimli::DW_AT_name);
                // All procedures that name a block mean the same one. That without a name is called by the compiler.
                return format!("/{}/", if name == "__BLNK__" { "" } else { &name });
            }
            gimli::DW_TAG_namespace
            | gimli::DW_TAG_module
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_subprogram
            | gimli::DW_TAG_inlined_subroutine => {
                return named(view, Die { unit: die.unit, at }, steps);
            }
            _ => {}
        }
    }
    String::new()
}

/// The entries around an entry, outermost first.
fn ancestors<'d>(view: &View<'d>, die: Die) -> Option<Vec<(usize, Entry<'d>)>> {
    let unit = view.unit(die.unit)?;
    let (_, unit) = view.pair(&unit);
    let mut cursor = unit.entries();
    if !cursor.next_entry().ok()? {
        return None;
    }
    let mut around = Vec::new();
    loop {
        let current = cursor.current()?;
        let at = current.offset().0;
        if at == die.at {
            return Some(around);
        }
        if die.at < at || MOST_DEPTH < around.len() {
            return None;
        }
        let mut next = cursor.clone();
        if next.next_sibling().ok()?.is_some_and(|next| next.offset().0 <= die.at) {
            cursor = next;
            continue;
        }
        if !current.has_children() {
            return None;
        }
        around.push((at, current.clone()));
        cursor.next_entry().ok()?;
    }
}

/// An entry, what it is a copy or the definition of, and so on.
fn chain<'d>(view: &View<'d>, die: Die) -> Vec<(Die, Entry<'d>)> {
    let mut chain = Vec::new();
    let mut next = Some(die);
    while let Some(die) = next.filter(|_| chain.len() < MOST_STEPS) {
        let Some(entry) = view.entry(die) else { break };
        next = view
            .reference(die.unit, &entry, gimli::DW_AT_specification)
            .or_else(|| view.reference(die.unit, &entry, gimli::DW_AT_abstract_origin));
        chain.push((die, entry));
    }
    chain
}

fn name<'d>(view: &View<'d>, chain: &[(Die, Entry<'d>)]) -> String {
    let names = chain.iter().map(|(die, entry)| view.text(die.unit, entry, gimli::DW_AT_name));
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

fn number(entry: &Entry<'_>, name: DwAt) -> Option<u32> {
    match entry.attr_value(name)? {
        AttributeValue::FileIndex(file) => u32::try_from(file).ok(),
        value => u32::try_from(value.udata_value()?).ok(),
    }
}
