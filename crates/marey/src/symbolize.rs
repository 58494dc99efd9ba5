//! Naming the addresses of a merged run: functions, files and lines.
//!
//! The one idea: names are looked up once, right after the merge, while the program that ran is
//! still there, and become the `frames` table. Later readers need no binaries.
//!
//! It is the command line's work, not the merge's: the archive knows nothing of ELF and DWARF.

use std::path::Path;

use anyhow::Context;
use marey_archive::schema::{self, NONE};
use marey_archive::{Archive, Columns, Meta, Part, Value, write_table};
use marey_source::{Address, ModuleRef, Quality, Resolved, Symbolizer, SymbolizerConfig};

/// The kind of problem under which missing names are told.
const PROBLEM: &str = "symbols";

/// Writes the `frames` table of the run in `dir`.
pub(crate) fn symbolize(dir: &Path) -> anyhow::Result<()> {
    let archive = Archive::open(dir)?;
    let addresses = addresses(&archive.table("stacks")?)?;
    let modules = archive.table("modules")?;
    let mut symbolizer = Symbolizer::new(SymbolizerConfig::system());
    let frames = resolve(&addresses, &modules, &mut symbolizer)?;
    let problems = with_problems(&archive.table("problems")?, &symbolizer)?;

    let mut meta = Meta::load(dir)?;
    for rows in [&frames, &problems] {
        let stats = write_table(dir, rows)?;
        meta.add(rows.spec(), Part::new(rows.spec(), 0, 0, stats));
    }
    meta.save(dir).context("cannot finish the run")
}

/// Every address once, those of a module together.
fn addresses(stacks: &Columns) -> anyhow::Result<Vec<(u32, i64)>> {
    let mut addresses: Vec<_> =
        stacks.u32("module")?.iter().copied().zip(stacks.i64("vaddr")?.iter().copied()).collect();
    addresses.retain(|&(module, _)| module != NONE);
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

fn resolve(
    addresses: &[(u32, i64)],
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Columns> {
    let (ids, paths, build_ids) = (modules.u32("id")?, modules.text("path")?, modules.text("build_id")?);
    let mut frames = Columns::new(&schema::FRAMES);
    for &(module, vaddr) in addresses {
        let Some(row) = ids.iter().position(|&id| id == module) else { continue };
        let build_id = bytes_of_hex(&build_ids[row]);
        let path = Path::new(&paths[row]);
        let named = ModuleRef { path, build_id: build_id.as_deref() };
        let resolved = symbolizer.resolve(&named, Address::Return(vaddr.cast_unsigned()));
        push(&mut frames, module, vaddr, &resolved)?;
    }
    Ok(frames)
}

fn push(frames: &mut Columns, module: u32, vaddr: i64, resolved: &Resolved) -> anyhow::Result<()> {
    let quality = match resolved.quality {
        Quality::Lines => "lines",
        Quality::Symbols => "symbol",
        Quality::ModuleOffset => "none",
    };
    for (depth, frame) in (0..).zip(&resolved.frames) {
        frames.push(&[
            Value::U32(module),
            Value::I64(vaddr),
            Value::U32(depth),
            Value::Text(&frame.function),
            Value::Text(frame.file.as_deref().unwrap_or_default()),
            Value::U32(frame.line.unwrap_or(0)),
            Value::Text(quality),
        ])?;
    }
    Ok(())
}

/// The problems of the run without those of an earlier attempt, with those of this one.
fn with_problems(known: &Columns, symbolizer: &Symbolizer) -> anyhow::Result<Columns> {
    let mut problems = Columns::new(&schema::PROBLEMS);
    let (kind, count, detail) = (known.text("kind")?, known.i64("count")?, known.text("detail")?);
    let (process, location) = (known.u32("process")?, known.u32("location")?);
    for row in (0..known.len()).filter(|&row| kind[row] != PROBLEM) {
        problems.push(&[
            Value::Text(&kind[row]),
            Value::U32(process[row]),
            Value::U32(location[row]),
            Value::I64(count[row]),
            Value::Text(&detail[row]),
        ])?;
    }
    for problem in symbolizer.problems() {
        problems.push(&[
            Value::Text(PROBLEM),
            Value::U32(NONE),
            Value::U32(NONE),
            Value::I64(1),
            Value::Text(&problem.to_string()),
        ])?;
    }
    Ok(problems)
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex =
        !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|c| c.is_ascii_hexdigit());
    if !is_hex {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
