//! Names of data from symbol tables, for where debug information is silent.
//!
//! The one idea: a symbol has a place, a size and a name, and nothing else is made of it.

use std::ops::Range;
use std::path::Path;

use object::Object as _;

use super::{Holder, Variable};
use crate::elf::with_elf;
use crate::module::Files;
use crate::names::{Language, Names};
use crate::problem::Problems;
use crate::symbolizer::Quality;
use crate::symbols::SymbolTable;

/// The symbols of data.
#[derive(Default)]
pub(super) struct Objects {
    table: SymbolTable,
}

impl Objects {
    /// The fullest table: the module's own, else its debug file's, else the dynamic one.
    pub(super) fn read(files: &Files, module: &Path, problems: &mut Problems) -> Self {
        let mut dynamic = SymbolTable::default();
        let own = files.head.as_ref().map(|_| module);
        let separate = files.separate.as_ref().map(|(path, _)| path.as_path());
        for path in own.into_iter().chain(separate) {
            let read = with_elf(path, |elf, _| {
                Ok((SymbolTable::objects(elf.symbols()), SymbolTable::objects(elf.dynamic_symbols())))
            });
            match read {
                Ok((table, _)) if !table.is_empty() => return Self { table },
                Ok((_, table)) if dynamic.is_empty() => dynamic = table,
                Ok(_) => {}
                Err(problem) => problems.report(problem),
            }
        }
        Self { table: dynamic }
    }

    /// The size of what begins at an address.
    pub(super) fn size_at(&self, vaddr: u64) -> Option<u64> {
        let (range, _) = self.table.holding(vaddr)?;
        (range.start == vaddr).then(|| range.end - range.start)
    }

    /// What a symbol says of an address.
    pub(super) fn variable(&self, vaddr: u64) -> Option<Variable> {
        let (range, name) = self.table.holding(vaddr)?;
        let name = Names::default().readable(name, Language::Unknown);
        let (scope, name) = split(&name);
        Some(Variable {
            name: name.to_owned(),
            scope: scope.to_owned(),
            file: String::new(),
            line: 0,
            offset: vaddr - range.start,
            bytes: range.end - range.start,
            holder: Holder::Storage,
            is_parameter: false,
            element: String::new(),
            element_bytes: 0,
            bounds: Vec::new(),
            quality: Quality::Symbols,
        })
    }

    /// All of them, by address.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<u64>, &str)> {
        self.table.iter()
    }
}

/// A name, and what it lies in: `a::b` of `a::b::c`. Arguments of templates have such names as well, so they are not looked
/// into.
fn split(name: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut at = None;
    for (place, c) in name.char_indices() {
        match c {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && name[place..].starts_with("::") => at = Some(place),
            _ => {}
        }
    }
    at.map_or(("", name), |at| (&name[..at], &name[at + 2..]))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_are_split_from_what_they_lie_in() {
        assert_eq!(split("grid"), ("", "grid"));
        assert_eq!(split("sim::field"), ("sim", "field"));
        assert_eq!(split("sim::Box<a::b>::pool"), ("sim::Box<a::b>", "pool"));
        assert_eq!(split("(anonymous namespace)::x"), ("(anonymous namespace)", "x"));
        assert_eq!(split("<a::b as c::d>::E"), ("<a::b as c::d>", "E"));
    }
}
