//! Naming the addresses of a run that is being merged: functions, files and lines.
//!
//! The one idea: names are looked up once, beside the merge, while the program that ran is still there,
//! and become the `frames` table. Later readers need no binaries.
//!
//! It is the command line's work, not the merge's: the archive knows nothing of ELF and DWARF.

use std::path::Path;
use std::sync::OnceLock;

use marey_archive::merge::{Namer, Names};
use marey_archive::schema::{self, NONE};
use marey_archive::{Columns, Value};

use crate::words;
use marey_source::{Address, ModuleRef, Quality, Resolved, Symbolizer, SymbolizerConfig};

/// Names by what the system has of the programs.
#[derive(Default)]
pub(crate) struct SystemNames {
    failed: OnceLock<anyhow::Error>,
}

impl SystemNames {
    /// Why there are no names, if there are none: a run without them is still a run.
    pub(crate) fn failure(&self) -> Option<&anyhow::Error> {
        self.failed.get()
    }
}

impl Namer for SystemNames {
    fn name(&self, stacks: &Columns, modules: &Columns) -> Option<Names> {
        match names(stacks, modules) {
            Ok(names) => Some(names),
            Err(error) => {
                self.failed.get_or_init(|| error);
                None
            }
        }
    }
}

fn names(stacks: &Columns, modules: &Columns) -> anyhow::Result<Names> {
    let mut symbolizer = Symbolizer::new(SymbolizerConfig::system());
    let frames = resolve(&addresses(stacks, modules)?, modules, &mut symbolizer)?;
    let problems = symbolizer.problems().iter().map(ToString::to_string).collect();
    Ok(Names { frames, problems })
}

/// Every address once, those of a module together. What the recorder does inside is nobody's matter, and its file is
/// gone by now.
fn addresses(stacks: &Columns, modules: &Columns) -> anyhow::Result<Vec<(u32, i64)>> {
    let is_ours = |path: &str| path.rsplit('/').next().is_some_and(words::is_ours);
    let named = modules.u32("id")?.iter().zip(modules.text("path")?);
    let ours: Vec<u32> = named.filter(|(_, path)| is_ours(path)).map(|(id, _)| *id).collect();
    let mut addresses: Vec<_> =
        stacks.u32("module")?.iter().copied().zip(stacks.i64("vaddr")?.iter().copied()).collect();
    addresses.retain(|&(module, _)| module != NONE && !ours.contains(&module));
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

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex =
        !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|c| c.is_ascii_hexdigit());
    if !is_hex {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
