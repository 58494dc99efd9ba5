//! References to other images with the expressions that they are written with, read.
//!
//! The one idea: a row that leads nowhere, or says what nobody knows, is left out with all that belongs to it.

use std::collections::BTreeMap;

use marey_analyze::{SourceReference, SymbolEnd, SymbolOf};

use crate::error::Error;
use crate::read::Archive;

/// References, and the number in `source_symbols` of each expression.
#[derive(Debug, Default)]
pub struct SourceSymbols {
    /// Those that have expressions.
    pub references: Vec<SourceReference>,
    /// As each is written.
    pub texts: Vec<String>,
    /// By reference and expression, its number.
    pub ids: Vec<Vec<u32>>,
    /// By reference and expression, how it is written.
    pub symbols: Vec<Vec<String>>,
}

/// Reads them. Time: linear in references and expressions.
///
/// # Errors
/// If a table cannot be read.
pub fn source_symbols(archive: &Archive) -> Result<SourceSymbols, Error> {
    let (rows, files) = (archive.table("source_symbols")?, archive.table("source_files")?);
    let mut found = SourceSymbols::default();
    if rows.is_empty() {
        return Ok(found);
    }
    let references = archive.table("source_references")?;
    let paths: BTreeMap<u32, &String> = files.u32("id")?.iter().copied().zip(files.text("path")?).collect();
    let places: BTreeMap<u32, usize> = references.u32("id")?.iter().copied().zip(0..).collect();
    let mut known: BTreeMap<u32, usize> = BTreeMap::new();
    for row in 0..rows.len() {
        let reference = rows.u32("reference")?[row];
        let Some(place) = places.get(&reference).copied() else { continue };
        let Some(path) = paths.get(&references.u32("file")?[place]) else { continue };
        let Some(end) = SymbolEnd::from_name(&rows.text("end")?[row]) else { continue };
        let at = *known.entry(reference).or_insert(found.references.len());
        if at == found.references.len() {
            let does = references.text("does")?[place].as_str();
            found.references.push(SourceReference {
                array: references.text("array")?[place].clone(),
                reads: does != "write",
                writes: does != "read",
                file: (*path).clone(),
                line: references.u32("line")?[place],
                subscripts: rows.u32("subscripts")?[row] as usize,
                symbols: Vec::new(),
            });
            found.texts.push(references.text("text")?[place].clone());
            found.ids.push(Vec::new());
            found.symbols.push(Vec::new());
        }
        let symbol = SymbolOf {
            end,
            subscript: rows.u32("subscript")?[row] as usize,
            value: rows.text("value")?[row].parse().ok(),
        };
        found.references[at].symbols.push(symbol);
        found.ids[at].push(rows.u32("id")?[row]);
        found.symbols[at].push(rows.text("text")?[row].clone());
    }
    Ok(found)
}
