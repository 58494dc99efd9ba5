//! What stands in branches of conditions that were left out to make the rest of a file clear.
//!
//! The one idea: of the tree of the whole text only those rows are taken that begin on lines which the other text has
//! blank; what they lie in is found by the line that it begins on.

use rustc_hash::FxHashMap;

use super::facts::MarkKind;
use super::walk::{FileFacts, number};
use crate::texts::Text;

/// Adds to the rows of a text those of lines that are blank in it.
pub(super) fn add(facts: &mut FileFacts, whole: FileFacts, blanked: &[bool]) {
    let is_blank = |line: u32| blanked.get((line as usize).wrapping_sub(1)).copied().unwrap_or(false);
    let texts: Vec<Text> = whole.texts.list().map(|text| facts.texts.add(text)).collect();
    let text = |text: Text| texts.get(text.0 as usize).copied().unwrap_or_default();

    let known: FxHashMap<u32, u32> =
        (0..).zip(&facts.functions).map(|(row, it)| (it.lines.first, row)).collect();
    let mut functions: Vec<Option<u32>> = Vec::new();
    for mut it in whole.functions {
        let is_new = is_blank(it.lines.first) && is_blank(it.lines.last);
        functions.push(if is_new {
            it.name = text(it.name);
            facts.functions.push(it);
            Some(number(facts.functions.len() - 1))
        } else {
            known.get(&it.lines.first).copied()
        });
    }
    let function = |row: Option<u32>| row.and_then(|row| functions.get(row as usize).copied().flatten());

    let known: FxHashMap<u32, u32> = (0..).zip(&facts.types).map(|(row, it)| (it.lines.first, row)).collect();
    let mut types: Vec<Option<u32>> = Vec::new();
    for mut it in whole.types {
        let is_new = is_blank(it.lines.first) && is_blank(it.lines.last);
        types.push(if is_new {
            it.name = text(it.name);
            facts.types.push(it);
            Some(number(facts.types.len() - 1))
        } else {
            known.get(&it.lines.first).copied()
        });
    }
    let type_ = |row: Option<u32>| row.and_then(|row| types.get(row as usize).copied().flatten());
    for it in &mut facts.functions {
        // Rows of the whole text that were taken still have its numbers.
        if is_blank(it.lines.first) {
            it.of = type_(it.of);
        }
    }
    for mut it in whole.members.into_iter().filter(|it| is_blank(it.line)) {
        let Some(of) = type_(Some(it.of)) else { continue };
        (it.of, it.name, it.type_name) = (of, text(it.name), text(it.type_name));
        it.function = function(it.function);
        facts.members.push(it);
    }
    for mut it in whole.bases.into_iter().filter(|it| is_blank(it.line)) {
        (it.derived_name, it.base_name) = (text(it.derived_name), text(it.base_name));
        it.derived = type_(it.derived);
        facts.bases.push(it);
    }

    let known: FxHashMap<u32, u32> = (0..).zip(&facts.loops).map(|(row, it)| (it.lines.first, row)).collect();
    let mut loops: Vec<Option<u32>> = Vec::new();
    for mut it in whole.loops {
        let parent = it.parent.and_then(|row| loops.get(row as usize).copied().flatten());
        let is_new = is_blank(it.lines.first) && is_blank(it.lines.last);
        loops.push(if is_new {
            let outer = parent.and_then(|row| facts.loops.get(row as usize));
            it.depth = outer.map_or(0, |outer| outer.depth).saturating_add(1);
            (it.parent, it.function) = (parent, function(it.function));
            facts.loops.push(it);
            Some(number(facts.loops.len() - 1))
        } else {
            known.get(&it.lines.first).copied()
        });
    }
    let within = |row: Option<u32>| row.and_then(|row| loops.get(row as usize).copied().flatten());
    for mut it in whole.constructs.into_iter().filter(|it| is_blank(it.lines.first)) {
        it.text = text(it.text);
        (it.function, it.within) = (function(it.function), within(it.within));
        facts.constructs.push(it);
    }
    for mut it in whole.remote.into_iter().filter(|it| is_blank(it.line)) {
        (it.array, it.text, it.image) = (text(it.array), text(it.text), text(it.image));
        (it.function, it.within) = (function(it.function), within(it.within));
        (it.moved_by, it.turned_by) = (within(it.moved_by), within(it.turned_by));
        for symbol in &mut it.symbols {
            symbol.text = text(symbol.text);
        }
        it.dependences.retain_mut(|end| {
            let carried = within(end.carried);
            // Without its loop it would be one of the same iteration.
            let is_kept = carried.is_some() == end.carried.is_some();
            (end.other, end.carried) = (text(end.other), carried);
            is_kept
        });
        facts.remote.push(it);
    }
    for (rows, more) in [(&mut facts.calls, whole.calls), (&mut facts.references, whole.references)] {
        for mut it in more.into_iter().filter(|it| is_blank(it.line)) {
            it.name = text(it.name);
            (it.caller, it.within) = (function(it.caller), within(it.within));
            rows.push(it);
        }
    }
    for mut it in whole.marks.into_iter().filter(|it| is_blank(it.line)) {
        if let MarkKind::Label(name)
        | MarkKind::Jump(name)
        | MarkKind::InMacro(name)
        | MarkKind::InPattern(name) = &mut it.kind
        {
            *name = text(*name);
        }
        facts.marks.push(it);
    }
}
