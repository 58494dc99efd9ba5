//! Types, what they are derived from, and their members.

use super::none;
use crate::frame::Columns;
use crate::program::Type;
use crate::run::Opened;
use crate::wire::{NumberOf, SourceTypeHead, SourceTypesHead, WireBase, WireMember, WireSourceType};

/// More types are not told.
const MOST_TYPES: usize = 20_000;

/// All of them; those that others are derived from are among the first, for they are what is looked at.
pub(in crate::answers) fn types(run: &Opened<'_>) -> Vec<u8> {
    let it = run.program();
    let mut is_related = vec![false; it.types.len()];
    for base in &it.bases {
        [Some(base.derived), base.base].into_iter().flatten().for_each(|of| is_related[of as usize] = true);
    }
    let all = u32::try_from(it.types.len()).unwrap_or(u32::MAX);
    let mut numbers: Vec<u32> = (0..all).collect();
    numbers.sort_by_key(|number| (!is_related[*number as usize], *number));
    numbers.truncate(MOST_TYPES);
    let mut types: Vec<WireSourceType> =
        numbers.iter().map(|number| wire(*number, &it.types[*number as usize])).collect();
    types.sort_by(|a, b| (&a.name, a.number).cmp(&(&b.name, b.number)));
    let bases = it.bases.iter().map(|base| WireBase {
        derived: base.derived,
        base: base.base,
        name: base.name.clone(),
        kind: base.kind.clone(),
        access: base.access.clone(),
        is_virtual: base.is_virtual,
    });
    let head = SourceTypesHead { types, bases: bases.collect(), number: all };
    Columns::default().frame("source-types", &head)
}

pub(in crate::answers) fn type_(run: &Opened<'_>, asked: &NumberOf) -> Vec<u8> {
    let it = run.program();
    let Some(found) = it.types.get(asked.number as usize) else { return none("type", asked.number) };
    let members = it.members.iter().filter(|member| member.of == asked.number);
    let members = members.map(|it| WireMember {
        name: it.name.clone(),
        kind: it.kind.clone(),
        access: it.access.clone(),
        is_virtual: it.is_virtual,
        is_inline: it.is_inline,
        of_type: it.of_type.clone(),
        file: it.file,
        line: it.line,
        function: it.function,
    });
    let head = SourceTypeHead { it: wire(asked.number, found), members: members.collect() };
    Columns::default().frame("source-type", &head)
}

pub(super) fn wire(number: u32, it: &Type) -> WireSourceType {
    WireSourceType {
        number,
        name: it.name.clone(),
        kind: it.kind.clone(),
        known_to: it.known_to.clone(),
        file: it.file,
        line: it.line,
        last: it.last,
        bytes: it.bytes,
        members: it.members,
    }
}
