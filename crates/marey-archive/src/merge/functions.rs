//! Names for regions that are functions of which the recorder knew only the addresses.
//!
//! The one idea: they are asked for before the first record is decoded, for names decide what is one region: a
//! function that several modules have a copy of is one, as one that several processes call. So all sums are
//! those of functions as the source has them, and nothing need be put together afterwards.
//!
//! Data get their names in the same moment, and for the same reason.
//!
//! Deliberately absent: how names are found. What has none stays called after its place, `libx.so+0x1234`.

use rustc_hash::FxHashMap;

use super::globals::{Context, Globals, RegionRow};
use super::input::Input;
use super::{Datum, Function, Namer, arrays, tables};
use crate::Error;
use crate::schema::NONE;

/// Kind of the nouns that are kernels of Kokkos.
const KERNEL: &str = "kernel";

/// Names the functions of a run.
pub(crate) fn name(input: &mut Input, namer: &dyn Namer) -> Result<(), Error> {
    let (nouns, places): (Vec<u32>, Vec<(u32, u64)>) = input
        .globals
        .functions
        .iter()
        .filter(|(_, place)| place.0 != NONE)
        .map(|(&noun, &place)| (noun, place))
        .unzip();
    let data = arrays::name(input, namer)?;
    let has_kernels = rename_kernels(&mut input.globals, namer);
    if nouns.is_empty() && data.is_empty() && !has_kernels {
        return Ok(());
    }
    let found = match nouns.is_empty() {
        true => Vec::new(),
        false => namer.functions(&places, &tables::modules(&input.globals)?),
    };
    let found: FxHashMap<u32, Function> =
        nouns.into_iter().zip(found).filter_map(|(noun, function)| Some((noun, function?))).collect();
    rename(&mut input.globals, found);
    rename_data(&mut input.globals, &data);
    arrays::measure(&mut input.globals, &data);
    let nouns = unite(&mut input.globals, &mut input.contexts);
    arrays::unite(&mut input.globals, &mut input.contexts);
    input.data = data.into_iter().map(|(noun, datum)| (nouns[noun as usize], datum)).collect();
    Ok(())
}

/// Gives nouns their names, and regions their places in the source.
fn rename(globals: &mut Globals, mut found: FxHashMap<u32, Function>) {
    for region in &mut globals.regions.rows {
        if let Some(function) = found.get(&region.noun) {
            function.file.clone_into(&mut region.file);
            region.line = function.line;
        }
    }
    for (noun, row) in (0..).zip(&mut globals.nouns.rows) {
        if let Some(function) = found.remove(&noun) {
            (row.name, row.file, row.line, row.distinct) = (function.name, function.file, function.line, 0);
        }
    }
}

/// Gives kernels readable names that had those of types. Whether there are any.
fn rename_kernels(globals: &mut Globals, namer: &dyn Namer) -> bool {
    let mut is_any = false;
    for row in globals.nouns.rows.iter_mut().filter(|row| row.kind == KERNEL) {
        // Behind it may stand where it runs.
        let (name, place) = row.name.split_at(row.name.find(" on ").unwrap_or(row.name.len()));
        if let Some(name) = namer.kernel(name) {
            row.name = name + place;
            is_any = true;
        }
    }
    is_any
}

/// Gives data their names.
fn rename_data(globals: &mut Globals, found: &FxHashMap<u32, Datum>) {
    for (noun, row) in (0..).zip(&mut globals.nouns.rows) {
        if let Some(datum) = found.get(&noun) {
            (row.name, row.file, row.line, row.distinct) =
                (datum.name.clone(), datum.file.clone(), datum.line, 0);
        }
    }
}

/// Makes regions one that are called the same now, and nouns. For each noun the one that it is now.
fn unite(globals: &mut Globals, contexts: &mut [Context]) -> Vec<u32> {
    let mut first = FxHashMap::default();
    let nouns: Vec<u32> =
        (0..).zip(&globals.nouns.rows).map(|(id, row)| *first.entry(row).or_insert(id)).collect();
    let rows = std::mem::take(&mut globals.regions).rows.into_iter();
    let regions: Vec<u32> = rows
        .map(|row| {
            let noun = nouns.get(row.noun as usize).copied().unwrap_or(NONE);
            globals.regions.id(RegionRow { noun, ..row })
        })
        .collect();
    globals.reserve_regions();
    for context in contexts {
        for site in context.sites.iter_mut().flatten() {
            site.region = regions[site.region as usize];
        }
        context.unknown_site.region = globals.unknown_region;
        // The order does not matter: each is changed by itself.
        context.data.values_mut().for_each(|(_, part)| part.noun = nouns[part.noun as usize]);
    }
    globals.arrays.iter_mut().for_each(|array| array.noun = nouns[array.noun as usize]);
    globals.participants.rows.iter_mut().for_each(|noun| *noun = nouns[*noun as usize]);
    nouns
}
