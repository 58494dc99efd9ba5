//! Derived types of Fortran: what the text says of them and debug information does not.
//!
//! The one idea: compilers of Fortran write what an object consists of, and leave out what the language says beside it. That
//! a type extends another is a component with its name, bindings are nowhere, and components have the line where their module
//! ends. So the binary keeps what it has laid out, and the text says the rest.
//!
//! What is deliberately absent: components that only the text knows, since a condition of the preprocessor may have removed
//! them, and where a binding leads.

use rustc_hash::FxHashMap;

use super::{Joined, key};
use crate::database::{Base, Database, Member, MemberKind, Place};
use crate::text::{self, Attribute, BaseKind, Sources};

/// Puts what the text knows to the types of Fortran that both know.
pub(super) fn complete(binary: &mut Database, text: &Sources, joined: &Joined) {
    // By type of the text: that of the binary.
    let mut of_text: FxHashMap<u32, u32> = FxHashMap::default();
    for (row, written) in (0..).zip(&joined.types) {
        let is_fortran =
            |row: &u32| text.files[text.types[*row as usize].file as usize].language.ignores_case();
        if let Some(written) = written.filter(is_fortran) {
            of_text.entry(written).or_insert(row);
        }
    }
    let parents = bases(binary, text, &of_text);
    // What stands for a base is told as one.
    binary.members.retain(|it| !parents.contains(&(it.of, key(binary.texts.get(it.name)))));
    members(binary, text, &of_text);
}

/// Adds bases; the types and names of the components that stand for them.
fn bases(binary: &mut Database, text: &Sources, of_text: &FxHashMap<u32, u32>) -> Vec<(u32, String)> {
    let mut parents = Vec::new();
    for it in text.bases.iter().filter(|it| it.kind == BaseKind::Derived) {
        let Some(derived) = it.derived.and_then(|row| of_text.get(&row)).copied() else { continue };
        let name = key(text.text(it.base_name));
        let parent = binary.members.iter().find(|member| {
            member.of == derived && member.kind == MemberKind::Field && key(binary.text(member.name)) == name
        });
        // Without its text the base is the type of that component.
        let told = it.base.and_then(|row| of_text.get(&row)).copied().or_else(|| {
            let of_type = parent?.type_name;
            (0..).zip(&binary.types).find(|(_, it)| it.name == of_type).map(|(row, _)| row)
        });
        if let Some(base) = told {
            binary.bases.push(Base { derived, base, access: it.access, is_virtual: false });
            parents.push((derived, name));
        }
    }
    binary.bases.sort_unstable();
    binary.bases.dedup();
    parents
}

/// Lines of components, and bindings.
fn members(binary: &mut Database, text: &Sources, of_text: &FxHashMap<u32, u32>) {
    let files: FxHashMap<String, u32> =
        (0..).zip(&binary.files).map(|(file, path)| (binary.text(*path).to_owned(), file)).collect();
    let known: FxHashMap<(u32, String), usize> = binary
        .members
        .iter()
        .enumerate()
        .map(|(row, it)| ((it.of, key(binary.text(it.name))), row))
        .collect();
    for it in &text.members {
        let Some(of) = of_text.get(&it.of).copied() else { continue };
        let place = files.get(text.path(it.file)).map(|file| Place { file: *file, line: it.line });
        match known.get(&(of, key(text.text(it.name)))) {
            Some(row) => {
                let member = &mut binary.members[*row];
                (member.place, member.access) = (place, it.access);
            }
            None if it.kind != MemberKind::Field => {
                let member = binding(binary, text, it, of, place);
                binary.members.push(member);
            }
            None => {}
        }
    }
}

fn binding(
    binary: &mut Database,
    text: &Sources,
    it: &text::Member,
    of: u32,
    place: Option<Place>,
) -> Member {
    Member {
        of,
        name: binary.texts.add(text.text(it.name)),
        kind: it.kind,
        access: it.access,
        is_virtual: it.attributes.has(Attribute::Virtual),
        is_inline: false,
        type_name: binary.texts.add(text.text(it.type_name)),
        place,
        function: None,
    }
}
