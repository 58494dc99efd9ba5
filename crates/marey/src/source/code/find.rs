//! The functions that a name stands for, in the modules that are asked.
//!
//! The one idea: the first module that has one is the one that is meant; if none has, it is said what there is instead.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::bail;
use marey_archive::Archive;
use marey_model::is_recorder;
use marey_source::database::{Assembly, CallKind, Callee, Database};
use marey_source::{ModuleRef, Problem, SymbolizerConfig};

use super::super::about::is_named;
use super::super::kept::{is_of_system, users_modules};
use super::{Asked, Found, MOST, MOST_CODE_BYTES, Module};
use crate::busy::Busy;
use crate::exit::Usage;
use crate::explain::what_if::place::mistakes;
use crate::paint::harmless;
use crate::symbolize::bytes_of_hex;
use crate::words;

/// More modules are not opened.
const MOST_MODULES: usize = 64;
/// Names that are told beside one that is not there.
const MOST_NAMES: usize = 5;
/// So many letters may be wrong, missing or too many in a name that was meant.
const MOST_MISTAKES: usize = 2;

/// Modules of a run, the user's first.
pub(super) fn modules(archive: &Archive) -> anyhow::Result<Vec<Module>> {
    let users = users_modules(archive)?;
    let ids: BTreeSet<u32> = users.iter().map(|(id, ..)| *id).collect();
    let table = archive.table("modules")?;
    let rows = table.u32("id")?.iter().zip(table.text("path")?).zip(table.text("build_id")?);
    let others =
        rows.filter(|((id, path), _)| !ids.contains(id) && !is_recorder(path) && path.starts_with('/'));
    let others = others.map(|((id, path), build_id)| (*id, path.into(), bytes_of_hex(build_id)));
    let all = users.iter().cloned().chain(others).take(MOST_MODULES);
    Ok(all.map(|(id, path, build_id)| Module { id, path, build_id }).collect())
}

/// The functions of a name.
pub(super) fn find(asked: &Path, modules: &[Module], name: &str) -> anyhow::Result<Found> {
    let _busy = Busy::with("reading machine code");
    let config = SymbolizerConfig::system();
    let mut names = BTreeSet::new();
    let mut failed: Vec<Problem> = Vec::new();
    for module in modules {
        let reference = ModuleRef { path: &module.path, build_id: module.build_id.as_deref() };
        let mut assembly = match Assembly::open(&reference, &config) {
            Ok(assembly) => assembly,
            Err(problem) => {
                failed.push(problem);
                continue;
            }
        };
        let is_meant = |full: &str, linkage: &str| {
            is_named(full, name) || linkage == name || words::function(full) == name
        };
        let codes = assembly.codes().iter().filter(|code| is_meant(&code.name, &code.linkage));
        let mut codes: Vec<_> = codes.cloned().collect();
        // One function may have several symbols.
        codes.dedup_by(|a, b| a.range == b.range);
        if codes.is_empty() {
            names.extend(assembly.codes().iter().map(|code| code.name.clone()));
            continue;
        }
        let left_out = codes.len().saturating_sub(MOST);
        codes.truncate(MOST);
        let mut found = Found { left_out, ..Found::default() };
        for code in codes {
            let listing = assembly.listing(&code, MOST_CODE_BYTES);
            found.codes.push(Asked { module: module.id, path: module.path.clone(), code, listing });
        }
        found.problems = assembly.problems().iter().map(ToString::to_string).collect();
        return Ok(found);
    }
    Err(not_found(asked, modules, name, &names, &failed))
}

/// Why there is nothing, and what can be done.
fn not_found(
    asked: &Path,
    modules: &[Module],
    name: &str,
    names: &BTreeSet<String>,
    failed: &[Problem],
) -> anyhow::Error {
    let (shown, asked) = (harmless(name), asked.display());
    if names.is_empty() {
        return match failed.first() {
            Some(problem) => anyhow::anyhow!("there is no machine code to show of {asked}: {problem}"),
            None => anyhow::anyhow!(
                "{asked} has no symbols, so nobody knows where its functions are; do not strip it, or install its debug file"
            ),
        };
    }
    // Debug information still knows what has no code of its own.
    // Of libraries of the system that would take long, for nothing: they have none.
    let mut asked_for =
        modules.iter().filter(|it| modules.len() == 1 || !is_of_system(&it.path.to_string_lossy()));
    if let Some(callers) = asked_for.find_map(|module| inlined_into(module, name)) {
        return anyhow::anyhow!(Usage(format!(
            "all code of `{shown}` was put into its callers; ask for one of these: {callers}"
        )));
    }
    let wanted = name.to_lowercase();
    let is_like = |full: &&String| {
        let full = full.to_lowercase();
        let last = full.rsplit("::").next().unwrap_or(&full);
        full.contains(&wanted) || 3 < last.len() && mistakes(last, &wanted) <= MOST_MISTAKES
    };
    let like = names.iter().filter(is_like).take(MOST_NAMES);
    let like: Vec<String> = like.map(|name| format!("`{}`", words::function(name))).collect();
    let hint = if like.is_empty() {
        "`--list functions` of the program has all of them".to_owned()
    } else {
        format!("there is {}", like.join(", "))
    };
    let unread = failed.first().map_or_else(String::new, |problem| format!("; not looked at: {problem}"));
    anyhow::anyhow!(Usage(format!("no function of {asked} is called `{shown}`; {hint}{unread}")))
}

/// Who has the code of a function that has none of its own; `None` if there is no such function.
fn inlined_into(module: &Module, name: &str) -> Option<String> {
    let reference = ModuleRef { path: &module.path, build_id: module.build_id.as_deref() };
    let it = Database::of(&reference, &SymbolizerConfig::system());
    let named = (0_u32..).zip(&it.functions);
    let mut meant: BTreeSet<u32> = named
        .filter(|(_, of)| of.entries.is_empty() && is_named(it.text(of.name), name))
        .map(|(row, _)| row)
        .collect();
    let mut known = meant.clone();
    let mut callers = BTreeSet::new();
    // Callers may have gone into theirs.
    while !meant.is_empty() {
        let calls = it.calls.iter().filter(|call| call.kind == CallKind::Inlined);
        let calls = calls.filter(|call| matches!(call.callee, Callee::Function(row) if meant.contains(&row)));
        let around: BTreeSet<u32> =
            calls.map(|call| call.caller).filter(|row| !known.contains(row)).collect();
        known.extend(&around);
        let (with_code, without): (BTreeSet<u32>, BTreeSet<u32>) = around
            .into_iter()
            .partition(|row| it.functions.get(*row as usize).is_some_and(|of| !of.entries.is_empty()));
        let with_code = with_code.iter().filter_map(|row| it.functions.get(*row as usize));
        callers.extend(with_code.map(|of| format!("`{}`", words::function(it.text(of.name)))));
        meant = without;
    }
    let few: Vec<String> = callers.into_iter().take(MOST_NAMES).collect();
    (!few.is_empty()).then(|| few.join(", "))
}

/// Refuses what has no machine code at all.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!(Usage(format!(
            "{} is a directory: machine code is in programs and libraries, so give one of these, or a run",
            path.display()
        )));
    }
    Ok(())
}
