//! The tables of what the program consists of, read.
//!
//! The one idea: a row's number is its place, and a number that leads nowhere is none; so whatever a damaged archive says,
//! everything is found or is not.

use std::collections::{BTreeMap, BTreeSet};

use marey_analyze::{LoopLines, Nests};
use marey_archive::schema::{NONE, SOURCE_TEXTS, SOURCE_VERSION};
use marey_archive::{Archive, Error};

use super::Program;
use crate::wire::WireWorth;

/// A module of the user's.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) path: String,
    pub(crate) has_debug_information: bool,
    pub(crate) has_calls: bool,
    pub(crate) problem: String,
}

/// A source.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) state: String,
    pub(crate) language: String,
    pub(crate) lines: u32,
    pub(crate) unclear: u32,
    pub(crate) is_of_system: bool,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) attributes: String,
    pub(crate) known_to: String,
    pub(crate) of: Option<u32>,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// A type.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) known_to: String,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) last: u32,
    pub(crate) bytes: Option<i64>,
    /// How many members it has.
    pub(crate) members: u32,
}

/// A member of a type.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) of: u32,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) access: String,
    pub(crate) is_virtual: bool,
    pub(crate) is_inline: bool,
    pub(crate) of_type: String,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) function: Option<u32>,
}

/// A base of a type.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) derived: u32,
    pub(crate) base: Option<u32>,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) access: String,
    pub(crate) is_virtual: bool,
}

/// A loop.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) kind: String,
    pub(crate) file: Option<u32>,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) depth: u32,
    pub(crate) function: Option<u32>,
}

/// A construct.
#[derive(Debug)]
pub(crate) struct Construct {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) file: Option<u32>,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) function: Option<u32>,
}

/// A reference to elements that another image has.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) array: String,
    pub(crate) text: String,
    pub(crate) image: String,
    pub(crate) does: String,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) within: Option<u32>,
    pub(crate) moved_by: Option<u32>,
    pub(crate) turned_by: Option<u32>,
    pub(crate) ends: Vec<End>,
    pub(crate) symbols: Vec<Symbol>,
}

/// An expression of a reference.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) text: String,
    pub(crate) end: String,
    pub(crate) subscript: u32,
    pub(crate) value: String,
    pub(crate) worth: Option<WireWorth>,
}

/// Where elements of a reference are written or read.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) end: String,
    pub(crate) text: String,
    pub(crate) line: u32,
    pub(crate) carried: Option<u32>,
    pub(crate) distance: i64,
}

/// A call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) caller: Option<u32>,
    pub(crate) callee: Option<u32>,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) known_to: String,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) times: u32,
}

/// Reads them.
pub(super) fn read(archive: &Archive) -> Result<Program, Error> {
    let mut it = Program::default();
    let rows = archive.table("source_modules")?;
    if rows.u32("version")?.iter().any(|version| *version != SOURCE_VERSION) {
        it.why_not = Some(
            "What the program consists of was kept by another version of marey, which understood it otherwise. \
             Record the program again, or look at the run with that version."
                .to_owned(),
        );
        return Ok(it);
    }
    let modules = archive.table("modules")?;
    let (ids, paths) = (modules.u32("id")?, modules.text("path")?);
    for row in 0..rows.len() {
        let module = rows.u32("module")?[row];
        let place = ids.iter().position(|id| *id == module);
        it.modules.push(Module {
            path: place.map_or_else(String::new, |place| paths[place].clone()),
            has_debug_information: rows.u32("has_debug_information")?[row] == 1,
            has_calls: rows.u32("has_calls")?[row] == 1,
            problem: rows.text("problem")?[row].clone(),
        });
    }
    files(archive, &mut it)?;
    let n_files = it.files.len();
    let rows = archive.table("source_functions")?;
    let types = archive.table("source_types")?;
    let (n_functions, n_types) = (rows.len(), types.len());
    for row in 0..rows.len() {
        it.functions.push(Function {
            name: rows.text("name")?[row].clone(),
            kind: rows.text("kind")?[row].clone(),
            attributes: rows.text("attributes")?[row].clone(),
            known_to: rows.text("known_to")?[row].clone(),
            of: known(rows.u32("type")?[row], n_types),
            file: known(rows.u32("file")?[row], n_files),
            line: rows.u32("line")?[row],
            first: rows.u32("first")?[row],
            last: rows.u32("last")?[row],
        });
    }
    for row in 0..types.len() {
        it.types.push(Type {
            name: types.text("name")?[row].clone(),
            kind: types.text("kind")?[row].clone(),
            known_to: types.text("known_to")?[row].clone(),
            file: known(types.u32("file")?[row], n_files),
            line: types.u32("line")?[row],
            last: types.u32("last")?[row],
            bytes: Some(types.i64("size")?[row]).filter(|bytes| *bytes >= 0),
            members: 0,
        });
    }
    of_types(archive, &mut it)?;
    of_text(archive, &mut it)?;
    let rows = archive.table("source_calls")?;
    for row in 0..rows.len() {
        it.calls.push(Call {
            caller: known(rows.u32("caller")?[row], n_functions),
            callee: known(rows.u32("callee")?[row], n_functions),
            name: rows.text("name")?[row].clone(),
            kind: rows.text("kind")?[row].clone(),
            known_to: rows.text("known_to")?[row].clone(),
            file: known(rows.u32("file")?[row], n_files),
            line: rows.u32("line")?[row],
            times: rows.u32("times")?[row],
        });
    }
    Ok(it)
}

fn files(archive: &Archive, it: &mut Program) -> Result<(), Error> {
    let rows = archive.table("source_files")?;
    for row in 0..rows.len() {
        it.files.push(File {
            path: rows.text("path")?[row].clone(),
            state: rows.text("state")?[row].clone(),
            language: rows.text("language")?[row].clone(),
            lines: rows.u32("lines")?[row],
            unclear: rows.u32("unclear")?[row],
            is_of_system: rows.u32("system")?[row] == 1,
        });
    }
    if archive.meta().rows("source_texts") > 0 {
        for part in archive.parts("source_texts") {
            archive.scan_part(&SOURCE_TEXTS, part, &["file"], &[], |rows| {
                // A file has one text.
                let room = it.files.len().saturating_sub(it.texts.len());
                it.texts.extend(rows.u32("file").unwrap_or_default().iter().take(room));
            })?;
        }
        if !it.texts.is_sorted() {
            // Whoever made this was not us; no text is better than that of another file.
            it.texts.clear();
            it.damage.push("texts of sources are not in their order".to_owned());
        }
    }
    Ok(())
}

fn of_types(archive: &Archive, it: &mut Program) -> Result<(), Error> {
    let (n_types, n_files, n_functions) = (it.types.len(), it.files.len(), it.functions.len());
    let rows = archive.table("source_members")?;
    for row in 0..rows.len() {
        let Some(of) = known(rows.u32("type")?[row], n_types) else { continue };
        it.types[of as usize].members += 1;
        it.members.push(Member {
            of,
            name: rows.text("name")?[row].clone(),
            kind: rows.text("kind")?[row].clone(),
            access: rows.text("access")?[row].clone(),
            is_virtual: rows.u32("virtual")?[row] == 1,
            is_inline: rows.u32("inline")?[row] == 1,
            of_type: rows.text("of_type")?[row].clone(),
            file: known(rows.u32("file")?[row], n_files),
            line: rows.u32("line")?[row],
            function: known(rows.u32("function")?[row], n_functions),
        });
    }
    let rows = archive.table("source_bases")?;
    for row in 0..rows.len() {
        let Some(derived) = known(rows.u32("type")?[row], n_types) else { continue };
        it.bases.push(Base {
            derived,
            base: known(rows.u32("base")?[row], n_types),
            name: rows.text("name")?[row].clone(),
            kind: rows.text("kind")?[row].clone(),
            access: rows.text("access")?[row].clone(),
            is_virtual: rows.u32("virtual")?[row] == 1,
        });
    }
    Ok(())
}

/// Where loops stand, and nothing else.
pub(crate) fn nests(archive: &Archive) -> Result<Nests, Error> {
    let (files, loops) = (archive.table("source_files")?, archive.table("source_loops")?);
    let paths = files.text("path")?;
    let columns = [loops.u32("file")?, loops.u32("first")?, loops.u32("last")?, loops.u32("depth")?];
    let of_row = |row: usize| {
        let [file, first, last, depth] = columns.map(|column| column[row]);
        Some((paths.get(file as usize)?.as_str(), LoopLines { first, last, depth }))
    };
    Ok((0..loops.len()).filter_map(of_row).collect())
}

fn of_text(archive: &Archive, it: &mut Program) -> Result<(), Error> {
    let (n_files, n_functions) = (it.files.len(), it.functions.len());
    let rows = archive.table("source_loops")?;
    for row in 0..rows.len() {
        it.loops.push(Loop {
            kind: rows.text("kind")?[row].clone(),
            file: known(rows.u32("file")?[row], n_files),
            first: rows.u32("first")?[row],
            last: rows.u32("last")?[row],
            depth: rows.u32("depth")?[row],
            function: known(rows.u32("function")?[row], n_functions),
        });
    }
    let rows = archive.table("source_constructs")?;
    for row in 0..rows.len() {
        it.constructs.push(Construct {
            model: rows.text("model")?[row].clone(),
            text: rows.text("text")?[row].clone(),
            file: known(rows.u32("file")?[row], n_files),
            first: rows.u32("first")?[row],
            last: rows.u32("last")?[row],
            function: known(rows.u32("function")?[row], n_functions),
        });
    }
    references(archive, it)
}

fn references(archive: &Archive, it: &mut Program) -> Result<(), Error> {
    let (n_files, n_loops) = (it.files.len(), it.loops.len());
    let rows = archive.table("source_references")?;
    for row in 0..rows.len() {
        it.references.push(Reference {
            array: rows.text("array")?[row].clone(),
            text: rows.text("text")?[row].clone(),
            image: rows.text("image")?[row].clone(),
            does: rows.text("does")?[row].clone(),
            file: known(rows.u32("file")?[row], n_files),
            line: rows.u32("line")?[row],
            within: known(rows.u32("loop")?[row], n_loops),
            moved_by: known(rows.u32("moved_by")?[row], n_loops),
            turned_by: known(rows.u32("turned_by")?[row], n_loops),
            ends: Vec::new(),
            symbols: Vec::new(),
        });
    }
    symbols(archive, it)?;
    let rows = archive.table("source_dependences")?;
    for row in 0..rows.len() {
        let carried = rows.u32("carried")?[row];
        // Without its loop it would be one of the same iteration.
        let is_known = carried == NONE || known(carried, n_loops).is_some();
        if let Some(of) = it.references.get_mut(rows.u32("reference")?[row] as usize).filter(|_| is_known) {
            of.ends.push(End {
                end: rows.text("end")?[row].clone(),
                text: rows.text("text")?[row].clone(),
                line: rows.u32("line")?[row],
                carried: known(carried, n_loops),
                distance: rows.i64("distance")?[row],
            });
        }
    }
    Ok(())
}

/// Expressions, and what they were worth on all locations together.
fn symbols(archive: &Archive, it: &mut Program) -> Result<(), Error> {
    let rows = archive.table("symbols")?;
    let mut worth: BTreeMap<u32, (WireWorth, BTreeSet<u32>)> = BTreeMap::new();
    let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
    for row in 0..rows.len() {
        let (least, greatest) = (rows.i64("least")?[row], rows.i64("greatest")?[row]);
        let none = WireWorth { least, greatest, changes: 0, locations: 0, accesses: 0 };
        let (it, on) = worth.entry(rows.u32("symbol")?[row]).or_insert_with(|| (none, BTreeSet::new()));
        let location = rows.u32("location")?[row];
        // The first value of a location is no change.
        let first = u64::from(on.insert(location));
        (it.least, it.greatest) = (it.least.min(least), it.greatest.max(greatest));
        it.changes = it.changes.saturating_add(unsigned(rows.i64("changes")?[row]).saturating_sub(first));
        it.accesses = it.accesses.saturating_add(unsigned(rows.i64("accesses")?[row]));
        it.locations = u32::try_from(on.len()).unwrap_or(u32::MAX);
    }
    let rows = archive.table("source_symbols")?;
    for row in 0..rows.len() {
        let Some(of) = it.references.get_mut(rows.u32("reference")?[row] as usize) else { continue };
        of.symbols.push(Symbol {
            text: rows.text("text")?[row].clone(),
            end: rows.text("end")?[row].clone(),
            subscript: rows.u32("subscript")?[row],
            value: rows.text("value")?[row].clone(),
            worth: worth.get(&rows.u32("id")?[row]).map(|(worth, _)| *worth),
        });
    }
    Ok(())
}

fn known(id: u32, rows: usize) -> Option<u32> {
    Some(id).filter(|id| *id != NONE && (*id as usize) < rows)
}
