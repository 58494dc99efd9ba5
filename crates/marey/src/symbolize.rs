//! Naming the addresses of a run that is being merged: functions, files and lines.
//!
//! The one idea: names are looked up once, beside the merge, while the program that ran is still there,
//! and become the `frames` table. Later readers need no binaries.
//!
//! Functions that were recorded by their addresses get their names the same way, and before the merge.
//!
//! It is the command line's work, not the merge's: the archive knows nothing of ELF and DWARF.

mod buffers;
mod data;

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use marey_archive::merge::{DataPlace, Datum, Function, Namer, Names};
use marey_archive::schema::{self, NONE};
use marey_archive::{Columns, Value};
use marey_model::is_recorder;
use marey_source::{Address, ModuleRef, Quality, Resolved, Symbolizer, SymbolizerConfig};

/// Names by what the system has of the programs.
pub(crate) struct SystemNames {
    failed: OnceLock<anyhow::Error>,
    /// Kept from one question to the next: what it has opened costs most.
    symbolizer: Mutex<Symbolizer>,
}

impl Default for SystemNames {
    fn default() -> Self {
        let symbolizer = Mutex::new(Symbolizer::new(SymbolizerConfig::system()));
        Self { failed: OnceLock::new(), symbolizer }
    }
}

impl SystemNames {
    /// Why there are no names, if there are none: a run without them is still a run.
    pub(crate) fn failure(&self) -> Option<&anyhow::Error> {
        self.failed.get()
    }

    fn unless_failed<T>(&self, f: impl FnOnce(&mut Symbolizer) -> anyhow::Result<T>) -> Option<T> {
        let mut symbolizer = self.symbolizer.lock().unwrap_or_else(PoisonError::into_inner);
        f(&mut symbolizer).map_err(|error| self.failed.get_or_init(|| error)).ok()
    }
}

impl Namer for SystemNames {
    fn name(&self, stacks: &Columns, modules: &Columns) -> Option<Names> {
        self.unless_failed(|symbolizer| names(stacks, modules, symbolizer))
    }

    fn functions(&self, functions: &[(u32, u64)], modules: &Columns) -> Vec<Option<Function>> {
        self.unless_failed(|symbolizer| named(functions, modules, symbolizer)).unwrap_or_default()
    }

    fn data(&self, places: &[DataPlace], modules: &Columns) -> Vec<Option<Datum>> {
        self.unless_failed(|symbolizer| data::named(places, modules, symbolizer)).unwrap_or_default()
    }

    fn kernel(&self, name: &str) -> Option<String> {
        marey_source::type_name(name)
    }
}

fn names(stacks: &Columns, modules: &Columns, symbolizer: &mut Symbolizer) -> anyhow::Result<Names> {
    let frames = resolve(&addresses(stacks, modules)?, modules, symbolizer)?;
    let problems = symbolizer.problems().iter().map(ToString::to_string).collect();
    Ok(Names { frames, problems })
}

/// Every address once, those of a module together. What the recorder does inside is nobody's matter, and its file is
/// gone by now.
fn addresses(stacks: &Columns, modules: &Columns) -> anyhow::Result<Vec<(u32, i64)>> {
    let named = modules.u32("id")?.iter().zip(modules.text("path")?);
    let ours: Vec<u32> = named.filter(|(_, path)| is_recorder(path)).map(|(id, _)| *id).collect();
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
    let mut frames = Columns::new(&schema::FRAMES);
    for &(module, vaddr) in addresses {
        let address = Address::Return(vaddr.cast_unsigned());
        if let Some(resolved) = resolve_one(module, address, modules, symbolizer)? {
            push(&mut frames, module, vaddr, &resolved)?;
        }
    }
    Ok(frames)
}

/// What lies at an address of a module; `None` if there is no such module.
fn resolve_one(
    module: u32,
    address: Address,
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Option<Resolved>> {
    let (ids, paths, build_ids) = (modules.u32("id")?, modules.text("path")?, modules.text("build_id")?);
    let Some(row) = ids.iter().position(|&id| id == module) else { return Ok(None) };
    let build_id = bytes_of_hex(&build_ids[row]);
    let module = ModuleRef { path: Path::new(&paths[row]), build_id: build_id.as_deref() };
    Ok(Some(symbolizer.resolve(&module, address)))
}

/// The functions that begin at addresses. Those of a module are looked up one after the other, as the
/// symbolizer wants it.
fn named(
    functions: &[(u32, u64)],
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Vec<Option<Function>>> {
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_unstable_by_key(|&idx| functions[idx]);
    let mut found = vec![None; functions.len()];
    for idx in order {
        let (module, vaddr) = functions[idx];
        let resolved = resolve_one(module, Address::Exact(vaddr), modules, symbolizer)?;
        let Some(resolved) = resolved.filter(|resolved| resolved.quality != Quality::ModuleOffset) else {
            continue;
        };
        // Where something has been inlined into a function at its very beginning, it is the function that is meant; elsewhere
        // the code is that of a construct, in the function that has it in the source.
        let is_within = resolved.frames.len() > 1 && {
            let before = resolve_one(module, Address::Exact(vaddr.wrapping_sub(1)), modules, symbolizer)?;
            let physical = |of: &Resolved| of.frames.last().map(|frame| frame.function.clone());
            before.is_some_and(|before| physical(&before) == physical(&resolved))
        };
        let mut frames = resolved.frames.into_iter();
        found[idx] = if is_within { frames.next() } else { frames.next_back() }.map(function);
    }
    Ok(found)
}

fn function(frame: marey_source::Frame) -> Function {
    let (file, line) = (frame.file.unwrap_or_default(), frame.line.unwrap_or(0));
    Function { name: frame.function, file, line }
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

/// The bytes of a build id.
pub(crate) fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex =
        !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|c| c.is_ascii_hexdigit());
    if !is_hex {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
