//! Machine code that a run kept, for when the program is gone.
//!
//! The one idea: it reads like what is decoded from a file, so that all that is shown of it is the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use marey_archive::Archive;
use marey_source::Frame;
use marey_source::database::{Code, Instruction, Listing};

use super::super::kept::words_of_limits;
use super::name::Wanted;
use super::{Asked, Found, MOST, Module};

/// The functions of a name that the run kept of a module; `None` = none.
pub(super) fn find(archive: &Archive, module: &Module, wanted: &Wanted) -> anyhow::Result<Option<Found>> {
    if archive.meta().rows("source_codes") == 0 {
        return Ok(None);
    }
    let codes = archive.table("source_codes")?;
    let (names, modules) = (codes.text("name")?, codes.u32("module")?);
    let rows: Vec<usize> =
        (0..codes.len()).filter(|row| modules[*row] == module.id && wanted.is(&names[*row], "")).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut found = Found { left_out: rows.len().saturating_sub(MOST), ..Found::default() };
    for row in rows.into_iter().take(MOST) {
        let begin = codes.i64("vaddr")?[row].cast_unsigned();
        let length = codes.i64("size")?[row].max(0).cast_unsigned();
        let range = begin..begin.saturating_add(length);
        let code = Code { name: names[row].clone(), linkage: String::new(), range };
        let left_out_bytes = codes.i64("left_out")?[row].max(0).cast_unsigned();
        let listing = Listing { left_out_bytes, ..listing(archive, codes.u32("id")?[row], &names[row])? };
        let (module, path) = (module.id, module.path.clone());
        let why_left_out = words_of_limits();
        found.codes.push(Asked { module, path, code, listing, why_left_out });
    }
    let file = module.path.file_name().unwrap_or_default().to_string_lossy();
    found.problems.push(format!(
        "{file} that ran is not there any more, so this is what the run kept of it (--embed-code)"
    ));
    Ok(Some(found))
}

/// The text of sources that a run kept, by path (`--embed-sources`).
pub(super) fn texts(archive: &Archive) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    if archive.meta().rows("source_texts") == 0 {
        return Ok(BTreeMap::new());
    }
    let (texts, files) = (archive.table("source_texts")?, archive.table("source_files")?);
    let paths = files.text("path")?;
    let rows = texts.u32("file")?.iter().zip(texts.text("text")?);
    Ok(rows.filter_map(|(file, text)| Some((paths.get(*file as usize)?.into(), text.clone()))).collect())
}

/// The instructions of a stretch of code.
fn listing(archive: &Archive, code: u32, name: &str) -> anyhow::Result<Listing> {
    let files = archive.table("source_files")?;
    let paths = files.text("path")?;
    let rows = archive.table("source_instructions")?;
    let (of, addresses, sizes) = (rows.u32("code")?, rows.i64("vaddr")?, rows.u32("size")?);
    let (texts, leads, inlined) = (rows.text("text")?, rows.text("leads_to")?, rows.text("inlined")?);
    let (of_file, lines) = (rows.u32("file")?, rows.u32("line")?);
    let mut listing = Listing::default();
    for row in (0..rows.len()).filter(|row| of[*row] == code) {
        let (file, line) =
            (paths.get(of_file[row] as usize).cloned(), Some(lines[row]).filter(|line| *line != 0));
        let mut place = None;
        if line.is_some() {
            let frame = |function: &str| Frame {
                function: function.to_owned(),
                file: None,
                line: None,
                column: None,
            };
            let inner = if inlined[row].is_empty() { name } else { &inlined[row] };
            let mut frames = vec![Frame { file, line, ..frame(inner) }];
            if !inlined[row].is_empty() {
                frames.push(frame(name));
            }
            if listing.places.last() != Some(&frames) {
                listing.places.push(frames);
            }
            place = u32::try_from(listing.places.len() - 1).ok();
        }
        listing.instructions.push(Instruction {
            address: addresses[row].cast_unsigned(),
            bytes: Vec::new(),
            length: sizes[row].into(),
            text: texts[row].clone(),
            leads_to: Some(leads[row].clone()).filter(|name| !name.is_empty()),
            place,
        });
    }
    Ok(listing)
}
