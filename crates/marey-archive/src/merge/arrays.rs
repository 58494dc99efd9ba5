//! Arrays, variables and blocks that calls act on: what they are called, and when each was there.
//!
//! The one idea: a *noun* is what the source speaks of, such as the array `u`; a row of `arrays` is one instance of it in
//! one process, with its place, size and geometry, from when it was made until it was given back. Processes that run the
//! same program mean the same noun by the same place; so does one that makes an array anew in every step.
//!
//! Deliberately absent: how names are found, which is a [`Namer`]'s matter; what has none is called after its place.

use std::collections::BTreeMap;

use marey_model::{DataKind, USED_BEFORE, type_code};
use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::definitions::{DataDef, ProcessDefs};
use super::globals::{All, Context, Globals, NounRow, Numbers, Part};
use super::input::Input;
use super::rows::columns;
use super::{Datum, Namer, tables};
use crate::schema::{ARRAYS, NONE, SHAPES};
use crate::{Column, Columns, Error};

/// An instance of a datum.
#[derive(Debug, Clone)]
pub(crate) struct ArrayRow {
    pub noun: u32,
    pub process: u32,
    pub def: DataDef,
    /// Where it was made; [`NONE`] if not known.
    pub stack: u32,
}

/// Where a datum has its name from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataPlace {
    /// What it is.
    pub kind: DataKind,
    /// Of a window what its memory is, of which the rest is told.
    pub memory: Option<DataKind>,
    /// Row of the module, and virtual address of the variable or of what describes it; with `from_frame` the return
    /// address into the function whose frame it lies in.
    pub place: Option<(u32, u64)>,
    /// Distance of the variable from the frame's canonical address.
    pub from_frame: Option<i64>,
    /// Distances within that variable, from the outermost to the innermost, where it is part of what others hold.
    pub within: Vec<u64>,
    /// Return addresses of the call that made it and of those around it, innermost first: row of the module and virtual
    /// address.
    pub made: Vec<(u32, u64)>,
    /// Whether a block lies there of which it is only known that the variable holds its address, which it may have kept of
    /// another block that lay there before.
    pub may_be_stale: bool,
}

/// Data that lie in each other beyond this depth are not believed.
const MAX_DEPTH: usize = 16;

impl Globals {
    /// Adds the data of a process. For each the row and the noun.
    pub(crate) fn process_data(
        &mut self,
        idx: usize,
        all: All<'_>,
        clock: &Clock,
    ) -> FxHashMap<u32, (u32, Part)> {
        let mut found = FxHashMap::default();
        let process = &all.processes[idx];
        for (&id, def) in &process.data {
            let noun = self.data_noun(all, self.windows.called_after(idx, id));
            let set = self.participants.id(noun);
            let row = self.arrays.len() as u32;
            found.insert(id, (row, Part { noun, set }));
            self.windows.add(idx, process, id, row, clock);
            let stack = stack_of(process, def.site, &all.numbers[idx]);
            let mut def = def.clone();
            if def.kind == DataKind::Block as u8 {
                // Its code is none of a type.
                def.code = 0;
            }
            self.arrays.push(ArrayRow { noun, process: idx as u32, def, stack });
        }
        found
    }

    /// The noun of a datum of a process.
    fn data_noun(&mut self, all: All<'_>, (idx, id): (usize, u32)) -> u32 {
        let (process, numbers) = (&all.processes[idx], &all.numbers[idx]);
        let Some(def) = process.data.get(&id) else { return NONE };
        let kind = DataKind::from_code(def.kind).unwrap_or(DataKind::Other);
        let place = match kind {
            DataKind::Window => self.window_place(process, def, numbers),
            _ => self.data_place(process, def, kind, numbers),
        };
        let name = if def.name.is_empty() { label(&place, &self.modules.rows) } else { def.name.clone() };
        let level = self.level(match kind {
            DataKind::Coarray => marey_model::Level::COARRAY,
            DataKind::View => marey_model::Level::KOKKOS,
            DataKind::Window => marey_model::Level::MPI,
            _ => marey_model::Level::SOURCE,
        });
        // The same label may stand for several places: blocks of one function, say.
        // Where one of them is certain to be held by the variable, the others are as well.
        let key = DataPlace { may_be_stale: false, ..place.clone() };
        if def.name.is_empty()
            && let Some(noun) = self.known_data.get(&key)
        {
            if let Some(known) = self.data.get_mut(noun).filter(|_| !place.may_be_stale) {
                known.may_be_stale = false;
            }
            return *noun;
        }
        let distinct = if def.name.is_empty() { self.data.len() as u64 + 1 } else { 0 };
        let kind = kind.name().to_owned();
        let noun = self.nouns.id(NounRow { level, kind, name, file: String::new(), line: 0, distinct });
        if def.name.is_empty() {
            self.known_data.insert(key, noun);
            self.data.insert(noun, place);
        }
        noun
    }

    fn data_place(
        &self,
        process: &ProcessDefs,
        def: &DataDef,
        kind: DataKind,
        numbers: &Numbers,
    ) -> DataPlace {
        let mut within = Vec::new();
        let mut outer = def;
        while let Some((id, offset)) = outer.within.filter(|_| within.len() < MAX_DEPTH) {
            within.insert(0, offset);
            let Some(next) = process.data.get(&id) else { break };
            outer = next;
        }
        let global = |(module, vaddr): (u32, u64)| Some((*numbers.modules.get(&module)?, vaddr));
        let made = self.made(process, def, numbers);
        let place = outer.place.and_then(global);
        // What has a place is the same, wherever it was made. Whether a block has one is not certain.
        let made = if place.is_some() && kind != DataKind::Block { Vec::new() } else { made };
        let may_be_stale =
            def.kind == DataKind::Block as u8 && def.code == USED_BEFORE && outer.from_frame.is_none();
        DataPlace { kind, memory: None, place, from_frame: outer.from_frame, within, made, may_be_stale }
    }

    /// Where a window has its name from: the memory that it was made of, the pointer to it, else the call.
    fn window_place(&self, process: &ProcessDefs, def: &DataDef, numbers: &Numbers) -> DataPlace {
        let memory = def.within.and_then(|(memory, _)| process.data.get(&memory));
        if let Some(memory) = memory {
            let kind = DataKind::from_code(memory.kind).unwrap_or(DataKind::Other);
            let place = self.data_place(process, memory, kind, numbers);
            // A block is called after who allocated it, what has no name after who made the window.
            let made = if kind == DataKind::Block { place.made } else { self.made(process, def, numbers) };
            return DataPlace { kind: DataKind::Window, memory: Some(kind), made, ..place };
        }
        let place = self.data_place(process, def, DataKind::Window, numbers);
        let kind = if place.from_frame.is_some() { DataKind::Frame } else { DataKind::Variable };
        DataPlace { memory: place.place.map(|_| kind), made: self.made(process, def, numbers), ..place }
    }

    /// Return addresses of the call that made a datum.
    fn made(&self, process: &ProcessDefs, def: &DataDef, numbers: &Numbers) -> Vec<(u32, u64)> {
        let stack = stack_of(process, def.site, numbers);
        self.stacks.rows.get(stack as usize).cloned().unwrap_or_default()
    }
}

/// The stack of a site in the run; [`NONE`] if it is not known.
fn stack_of(process: &ProcessDefs, site: Option<u32>, numbers: &Numbers) -> u32 {
    let site = site.and_then(|site| process.sites.get(&site));
    site.and_then(|(_, stack)| numbers.stacks.get(&(*stack)?)).copied().unwrap_or(NONE)
}

/// What stands for a datum without a name.
fn label(place: &DataPlace, modules: &[(Vec<u8>, String)]) -> String {
    let file = |module: u32| {
        let path = modules.get(module as usize).map_or("?", |module| module.1.as_str());
        path.rsplit('/').next().unwrap_or(path).to_owned()
    };
    match (place.place, place.made.first()) {
        (Some((module, vaddr)), _) => format!("{}+{vaddr:#x}", file(module)),
        (None, Some((module, vaddr))) => format!("made at {}+{vaddr:#x}", file(*module)),
        (None, None) => format!("({} without a name)", place.kind.name()),
    }
}

/// Finds the names of all data.
pub(super) fn name(input: &Input, namer: &dyn Namer) -> Result<FxHashMap<u32, Datum>, Error> {
    let (nouns, places): (Vec<u32>, Vec<&DataPlace>) =
        input.globals.data.iter().map(|(&noun, place)| (noun, place)).unzip();
    if nouns.is_empty() {
        return Ok(FxHashMap::default());
    }
    let places: Vec<DataPlace> = places.into_iter().cloned().collect();
    let found = namer.data(&places, &tables::modules(&input.globals)?);
    Ok(nouns.into_iter().zip(found).filter_map(|(noun, datum)| Some((noun, datum?))).collect())
}

/// Whether calls name a datum by any place in it.
fn is_met_inside(kind: u8) -> bool {
    matches!(DataKind::from_code(kind), Some(DataKind::Variable | DataKind::Frame))
}

/// Says where variables begin in which buffers lie, and how large they are.
pub(super) fn measure(globals: &mut Globals, found: &FxHashMap<u32, Datum>) {
    for row in globals.arrays.iter_mut().filter(|row| is_met_inside(row.def.kind)) {
        if let Some(datum) = found.get(&row.noun).filter(|datum| 0 < datum.bytes) {
            row.def.address = row.def.address.wrapping_sub(datum.offset);
            row.def.bytes = datum.bytes;
        }
    }
}

/// Makes instances one that are: of buffers that begin at different places of one variable.
pub(super) fn unite(globals: &mut Globals, contexts: &mut [Context]) {
    let mut first = FxHashMap::default();
    let mut rows: Vec<ArrayRow> = Vec::new();
    let mut now = Vec::with_capacity(globals.arrays.len());
    for row in std::mem::take(&mut globals.arrays) {
        let id = rows.len() as u32;
        // A frame is made anew with each call.
        let address = if row.def.kind == DataKind::Frame as u8 { 0 } else { row.def.address };
        let key = (row.process, row.noun, address);
        let known = if is_met_inside(row.def.kind) { *first.entry(key).or_insert(id) } else { id };
        now.push(known);
        if known == id {
            rows.push(row);
        }
    }
    globals.arrays = rows;
    globals.windows.renumber(&now);
    for context in contexts {
        // The order does not matter: each is changed by itself.
        context.data.values_mut().for_each(|(row, _)| *row = now[*row as usize]);
    }
}

/// Dimensions as the source writes them: `1:10,0:3`.
fn text_of(bounds: &[(i64, u64)]) -> String {
    let one = |&(lower, extent): &(i64, u64)| {
        let upper = lower.saturating_add(i64::try_from(extent).unwrap_or(i64::MAX)).saturating_sub(1);
        format!("{lower}:{upper}")
    };
    bounds.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Whether elements of a datum are what the declaration says. Those of a window are displacements, which may be others.
fn is_told_by(def: &DataDef, datum: &Datum) -> bool {
    def.kind != DataKind::Window as u8 || def.element == datum.element_bytes
}

/// The displacements that a window's part has, from 0 on. What is declared may begin elsewhere, and be larger.
fn displacements(def: &DataDef) -> Vec<(i64, u64)> {
    def.bytes
        .checked_div(def.element)
        .filter(|number| 0 < *number)
        .map(|number| (0, number))
        .into_iter()
        .collect()
}

/// Whether a coarray is one text, of which gfortran says how long a letter is.
fn is_one_text(def: &DataDef, datum: &Datum) -> bool {
    def.kind == DataKind::Coarray as u8 && def.code == 6 && def.bounds.is_empty() && datum.bounds.is_empty()
}

/// Types in descriptors of gfortran's, by their codes.
fn type_name(code: u8, element: u64) -> String {
    let name = match code {
        1 => "integer",
        2 => "logical",
        3 => "real",
        4 => "complex",
        5 => return "derived type".to_owned(),
        6 => return format!("character({element})"),
        type_code::LOCK => return "lock_type".to_owned(),
        type_code::EVENT => return "event_type".to_owned(),
        type_code::CRITICAL => return "critical".to_owned(),
        _ => return String::new(),
    };
    // Two numbers make one that is complex.
    let kind = if code == 4 { element / 2 } else { element };
    format!("{name}({kind})")
}

pub(super) fn arrays(input: &Input) -> Result<Columns, Error> {
    let rows = &input.globals.arrays;
    let told: &BTreeMap<u32, Datum> = &input.data;
    let ns = |row: &ArrayRow, ticks: u64| input.contexts[row.process as usize].clock.ns(ticks);
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let element = |row: &ArrayRow| match row.def.element {
        0 => told.get(&row.noun).map_or(0, |datum| datum.element_bytes),
        known => known,
    };
    let columns = columns![rows;
        U32 |row| row.noun,
        U32 |row| row.process,
        Text |row| DataKind::from_code(row.def.kind).unwrap_or(DataKind::Other).name().to_owned(),
        I64 |row| row.def.address.cast_signed(),
        I64 |row| signed(row.def.bytes),
        I64 |row| if element(row) == 0 { -1 } else { signed(element(row)) },
        Text |row| {
            if told.get(&row.noun).is_some_and(|datum| is_one_text(&row.def, datum)) {
                return type_name(row.def.code, row.def.bytes);
            }
            let by_code = type_name(row.def.code, row.def.element);
            // For the compiler a lock is a pointer, which no source calls it.
            let datum = told.get(&row.noun).filter(|datum| is_told_by(&row.def, datum));
            let datum = datum.filter(|_| row.def.code < type_code::LOCK);
            datum.map(|datum| datum.element.clone()).filter(|name| !name.is_empty()).unwrap_or(by_code)
        },
        Text |row| match row.def.bounds.is_empty() {
            _ if row.def.kind == DataKind::Window as u8 => text_of(&displacements(&row.def)),
            true => told.get(&row.noun).map_or(String::new(), |datum| text_of(&datum.bounds)),
            false => text_of(&row.def.bounds),
        },
        I64 |row| ns(row, row.def.ticks),
        I64 |row| if row.def.until == 0 { -1 } else { ns(row, row.def.until) },
        U32 |row| row.stack,
    ];
    tables::with_ids(&ARRAYS, rows.len(), columns)
}

pub(super) fn shapes(globals: &Globals) -> Result<Columns, Error> {
    let shapes = (0_u32..).zip(&globals.shapes.rows);
    let rows: Vec<_> = shapes
        .flat_map(|(id, shape)| (0_u32..).zip(shape).map(move |(number, dimension)| (id, number, *dimension)))
        .collect();
    let kind = |code| {
        marey_model::DimensionKind::from_code(code).map_or("unknown", marey_model::DimensionKind::name)
    };
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        Text |row| kind(row.2.0).to_owned(),
        I64 |row| row.2.1.0,
        I64 |row| row.2.1.1.0,
        I64 |row| i64::try_from(row.2.1.1.1).unwrap_or(i64::MAX),
    ];
    Columns::from_columns(&SHAPES, columns)
}
