//! Naming the data of a run that is being merged: arrays, variables and blocks.
//!
//! The one idea: a variable has the name that debug information has for its place; what has no place of its own is called
//! after the line that made it.

use std::path::Path;

use marey_archive::Columns;
use marey_archive::merge::{DataPlace, Datum};
use marey_model::DataKind;
use marey_source::variables::{Variable, Variables};
use marey_source::{Address, ModuleRef, Symbolizer, SymbolizerConfig};

use super::{buffers, bytes_of_hex, resolve_one};

/// The names of data, by the rows of the table `modules`.
pub(super) fn named(
    places: &[DataPlace],
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Vec<Option<Datum>>> {
    let mut opened = Opened { modules, known: Vec::new() };
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let variable = match place.place {
            Some((module, vaddr)) => opened.variables(module)?.and_then(|it| look_up(it, vaddr, place)),
            None => None,
        };
        // A window is called as its memory would be.
        let kind = place.memory.unwrap_or(place.kind);
        let buffer = match kind {
            DataKind::Variable | DataKind::Frame if place.kind == DataKind::Window && variable.is_none() => {
                None
            }
            DataKind::Block | DataKind::Variable | DataKind::Frame => {
                buffers::named(kind, place, variable.clone(), modules, symbolizer)?
            }
            _ => None,
        };
        found.push(match (place.kind, variable) {
            (DataKind::Block | DataKind::Variable | DataKind::Frame, _) => buffer,
            (DataKind::Window, _) => match buffer {
                Some(buffer) => Some(buffer),
                None => made(place, modules, symbolizer)?,
            },
            (_, Some(variable)) => Some(of_variable(variable)),
            (_, None) => made(place, modules, symbolizer)?,
        });
    }
    Ok(found)
}

fn look_up(variables: &Variables, vaddr: u64, place: &DataPlace) -> Option<Variable> {
    match (place.from_frame, place.within.as_slice()) {
        (Some(from_cfa), _) => variables.in_frame(vaddr, from_cfa, 1),
        (None, []) => variables.at(vaddr, 1),
        (None, within) => variables.member(vaddr, within),
    }
}

fn of_variable(variable: Variable) -> Datum {
    let known = |bound: &(i64, Option<u64>)| Some((bound.0, bound.1?));
    let bounds: Option<Vec<(i64, u64)>> = variable.bounds.iter().map(known).collect();
    Datum {
        name: variable.name,
        file: variable.file,
        line: variable.line,
        element: variable.element,
        element_bytes: variable.element_bytes,
        bounds: bounds.unwrap_or_default(),
        offset: 0,
        bytes: 0,
    }
}

/// Whether a function is the program's own, and not one that makes Views for it.
fn is_own(frame: &marey_source::Frame) -> bool {
    let file = frame.file.as_deref().unwrap_or_default();
    !marey_analyze::is_of_kokkos(&frame.function, file) && !crate::words::is_of_library(&frame.function)
}

/// What has no variable of its own, by the line that made it. Views are made by way of functions of Kokkos, windows perhaps by
/// a library that tells no lines.
fn made(place: &DataPlace, modules: &Columns, symbolizer: &mut Symbolizer) -> anyhow::Result<Option<Datum>> {
    let is_view = place.kind == DataKind::View;
    let is_searched = is_view || place.kind == DataKind::Window;
    let mut frame = None;
    for &(module, vaddr) in place.made.iter().take(if is_searched { usize::MAX } else { 1 }) {
        let resolved = resolve_one(module, Address::Return(vaddr), modules, symbolizer)?;
        let mut frames = resolved.into_iter().flat_map(|resolved| resolved.frames);
        frame = frames.find(|frame| !is_searched || frame.line.is_some() && (!is_view || is_own(frame)));
        if frame.is_some() {
            break;
        }
    }
    Ok(frame.filter(|frame| frame.line.is_some()).map(|frame| {
        let (file, line) = (frame.file.unwrap_or_default(), frame.line.unwrap_or(0));
        let short = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
        Datum {
            name: format!("made at {short}:{line}"),
            element: String::new(),
            element_bytes: 0,
            bounds: Vec::new(),
            offset: 0,
            bytes: 0,
            file,
            line,
        }
    }))
}

/// Modules whose variables have been asked for: each is read once.
struct Opened<'m> {
    modules: &'m Columns,
    known: Vec<(u32, Option<Variables>)>,
}

impl Opened<'_> {
    fn variables(&mut self, module: u32) -> anyhow::Result<Option<&Variables>> {
        let known = self.known.iter().position(|(number, _)| *number == module);
        let at = match known {
            Some(at) => at,
            None => {
                let (ids, paths, build_ids) =
                    (self.modules.u32("id")?, self.modules.text("path")?, self.modules.text("build_id")?);
                let row = ids.iter().position(|id| *id == module);
                let variables = row.map(|row| {
                    let build_id = bytes_of_hex(&build_ids[row]);
                    let module = ModuleRef { path: Path::new(&paths[row]), build_id: build_id.as_deref() };
                    Variables::open(&module, &SymbolizerConfig::system()).0
                });
                self.known.push((module, variables));
                self.known.len() - 1
            }
        };
        Ok(self.known[at].1.as_ref())
    }
}
