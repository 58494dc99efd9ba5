//! The functions that a name stands for, in the modules that are asked.
//!
//! The one idea: the program comes before libraries, with all that is known of it: its symbols, what a run kept of it, its
//! debug information. The first that has the name is meant; if none has, it is said what there is instead.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::bail;
use marey_archive::Archive;
use marey_model::is_recorder;
use marey_source::database::{Assembly, CallKind, Callee, Code, Database, Function, may_name};
use marey_source::text::Sources;
use marey_source::{Problem, SymbolizerConfig};

use super::super::kept::{is_of_system, users_modules};
use super::name::Wanted;
use super::{Asked, Found, MOST, MOST_CODE_BYTES, MOST_LETTERS, Module, kept};
use crate::busy::Busy;
use crate::exit::Usage;
use crate::explain::what_if::place::mistakes;
use crate::paint::{harmless, shorten};
use crate::symbolize::bytes_of_hex;
use crate::words;

/// More modules are not opened.
const MOST_MODULES: usize = 64;
/// Names that are told beside one that is not there.
const MOST_NAMES: usize = 5;
/// So many letters may be wrong, missing or too many in a name that was meant.
const MOST_MISTAKES: usize = 2;

/// Modules of a run: those with lines of the user's, others that no system brings, then libraries of the system.
pub(super) fn modules(archive: &Archive) -> anyhow::Result<Vec<Module>> {
    let users = users_modules(archive)?;
    let ids: BTreeSet<u32> = users.iter().map(|(id, ..)| *id).collect();
    let table = archive.table("modules")?;
    let rows = table.u32("id")?.iter().zip(table.text("path")?).zip(table.text("build_id")?);
    let others =
        rows.filter(|((id, path), _)| !ids.contains(id) && !is_recorder(path) && path.starts_with('/'));
    let others = others.map(|((id, path), build_id)| Module {
        id: *id,
        is_users: !is_of_system(path),
        path: path.into(),
        build_id: bytes_of_hex(build_id),
    });
    let (mine, systems): (Vec<_>, Vec<_>) = others.partition(|module| module.is_users);
    let users = users.into_iter().map(|(id, path, build_id)| Module { id, is_users: true, path, build_id });
    Ok(users.chain(mine).chain(systems).take(MOST_MODULES).collect())
}

/// The functions of a name; of a run also those whose code it kept.
pub(super) fn find(
    asked: &Path,
    modules: &[Module],
    run: Option<&Archive>,
    name: &str,
) -> anyhow::Result<Found> {
    let _busy = Busy::with("reading machine code");
    let wanted = Wanted::new(name);
    let mut search = Search { names: Vec::new(), failed: Vec::new() };
    let (users, systems): (Vec<&Module>, Vec<&Module>) = modules.iter().partition(|it| it.is_users);
    let mut opened = Vec::new();
    for module in users {
        match search.open(module) {
            Some(mut assembly) => {
                if let Some(found) = search.by_symbol(module, &mut assembly, &wanted) {
                    return Ok(found);
                }
                opened.push((module, assembly));
            }
            // The program may be gone, or another one by now.
            None => {
                if let Some(found) = run.map(|run| kept::find(run, module, &wanted)).transpose()?.flatten() {
                    return Ok(found);
                }
            }
        }
    }
    // Debug information knows more names, and what has no code of its own.
    for (module, assembly) in &mut opened {
        if let Some(found) = by_debug_information(module, assembly, &wanted, name)? {
            return Ok(found);
        }
    }
    drop(opened);
    // Only then: a library's function of the same name is another one.
    for module in systems {
        let Some(mut assembly) = search.open(module) else { continue };
        if let Some(mut found) = search.by_symbol(module, &mut assembly, &wanted) {
            let file = module.path.file_name().unwrap_or_default().to_string_lossy();
            found
                .problems
                .extend(search.failed.iter().filter(|(is_users, _)| *is_users).map(|(_, problem)| {
                format!(
                    "this is a function of {file}; where it may have been meant was not looked at: {problem}"
                )
            }));
            return Ok(found);
        }
    }
    Err(search.not_found(asked, &wanted, name))
}

/// What was looked at in vain.
struct Search {
    /// Names of functions, the user's first.
    names: Vec<String>,
    /// What could not be opened, and whether it is the user's.
    failed: Vec<(bool, Problem)>,
}

impl Search {
    fn open(&mut self, module: &Module) -> Option<Assembly> {
        match Assembly::open(&module.reference(), &SymbolizerConfig::system()) {
            Ok(assembly) => Some(assembly),
            Err(problem) => {
                self.failed.push((module.is_users, problem));
                None
            }
        }
    }

    fn by_symbol(&mut self, module: &Module, assembly: &mut Assembly, wanted: &Wanted) -> Option<Found> {
        let codes = assembly.codes().iter().filter(|code| wanted.is(&code.name, &code.linkage));
        let codes: Vec<Code> = codes.cloned().collect();
        if codes.is_empty() {
            self.names.extend(assembly.codes().iter().map(|code| code.name.clone()));
        }
        listed(module, assembly, codes)
    }

    /// Why there is nothing, and what can be done.
    fn not_found(&self, asked: &Path, wanted: &Wanted, name: &str) -> anyhow::Error {
        let (shown, asked) = (harmless(name), asked.display());
        if self.names.is_empty() {
            return match self.failed.first() {
                Some((_, problem)) => {
                    anyhow::anyhow!("there is no machine code to show of {asked}: {problem}")
                }
                None => anyhow::anyhow!(
                    "{asked} has no symbols, so nobody knows where its functions are; do not strip it, or install its debug file"
                ),
            };
        }
        let like = like(&self.names, wanted, name);
        let hint = if like.is_empty() {
            "`--list functions` of the program has all of them, and those that only the text knows have no code of their own"
                .to_owned()
        } else {
            let like: Vec<String> = like
                .iter()
                .map(|name| format!("`{}`", shorten(&words::function(name), MOST_LETTERS)))
                .collect();
            format!("there is {}", like.join(", "))
        };
        let unread = self
            .failed
            .first()
            .map_or_else(String::new, |(_, problem)| format!("; not looked at: {problem}"));
        anyhow::anyhow!(Usage(format!("no function of {asked} is called `{shown}`; {hint}{unread}")))
    }
}

/// The instructions of stretches of code; `None` = there are none.
fn listed(module: &Module, assembly: &mut Assembly, mut codes: Vec<Code>) -> Option<Found> {
    // One function may have several symbols.
    codes.dedup_by(|a, b| a.range == b.range);
    if codes.is_empty() {
        return None;
    }
    let mut found = Found { left_out: codes.len().saturating_sub(MOST), ..Found::default() };
    for code in codes.into_iter().take(MOST) {
        let listing = assembly.listing(&code, MOST_CODE_BYTES);
        let why_left_out = "it is too long".to_owned();
        found.codes.push(Asked { module: module.id, path: module.path.clone(), code, listing, why_left_out });
    }
    found.problems = assembly.problems().iter().map(ToString::to_string).collect();
    Some(found)
}

/// What is called almost so: with other arguments, with letters that are wrong, or more than was said.
fn like<'n>(names: &'n [String], wanted: &Wanted, name: &str) -> Vec<&'n str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let distance = |full: &str| {
        let last = full.rsplit("::").next().unwrap_or(full);
        // Distances take long; of names that differ this much in length they are known.
        let letters = last.chars().count();
        (3 < letters && letters.abs_diff(length) <= MOST_MISTAKES)
            .then(|| mistakes(&last.to_lowercase(), &name))
            .filter(|mistakes| *mistakes <= MOST_MISTAKES)
    };
    let rank = |full: &str| {
        if wanted.is_but_for_arguments(full) {
            return Some(0);
        }
        let is_part = || 2 < length && full.to_lowercase().contains(&name);
        distance(full).or_else(|| is_part().then_some(MOST_MISTAKES + 1))
    };
    let ranked = names.iter().filter_map(|full| Some((rank(full)?, full.len(), full.as_str())));
    // The shortest of those that are alike: long ones are instances of what nobody types.
    let ranked: BTreeSet<(usize, usize, &str)> = ranked.collect();
    ranked.into_iter().take(MOST_NAMES).map(|(.., name)| name).collect()
}

/// The functions that debug information knows by a name: those with code, else an error that says who has theirs.
fn by_debug_information(
    module: &Module,
    assembly: &mut Assembly,
    wanted: &Wanted,
    name: &str,
) -> anyhow::Result<Option<Found>> {
    let config = SymbolizerConfig::system();
    // All of it takes long to read.
    if !may_name(&module.reference(), &config, wanted.word()) {
        return Ok(None);
    }
    let it = Database::of(&module.reference(), &config);
    let is_meant = |of: &Function| {
        let linkage = it.text(of.linkage);
        let is_likely = linkage.contains(wanted.word());
        wanted.is(it.text(of.name), linkage) || is_likely && wanted.is(&it.readable(of.linkage), "")
    };
    let rows: BTreeSet<u32> =
        (0_u32..).zip(&it.functions).filter(|(_, of)| is_meant(of)).map(|(row, _)| row).collect();
    let functions = rows.iter().filter_map(|row| it.functions.get(*row as usize));
    let mut codes = Vec::new();
    for of in functions {
        let at = of.entries.iter().filter_map(|entry| assembly.code_at(*entry));
        // As it was asked for: a symbol may have the name of another one with the same code.
        codes.extend(at.map(|code| Code { name: it.text(of.name).to_owned(), ..code.clone() }));
    }
    codes.sort_by_key(|code| (code.range.start, code.range.end));
    if let Some(found) = listed(module, assembly, codes) {
        return Ok(Some(found));
    }
    let callers = inlined_into(&it, rows);
    if callers.is_empty() {
        return Ok(None);
    }
    let shown = harmless(name);
    Err(anyhow::anyhow!(Usage(format!(
        "all code of `{shown}` was put into its callers; ask for one of these: {}",
        callers.join(", ")
    ))))
}

/// Who has the code of functions that have none of their own.
fn inlined_into(it: &Database, mut meant: BTreeSet<u32>) -> Vec<String> {
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
    callers.into_iter().take(MOST_NAMES).collect()
}

/// Refuses what has no machine code at all.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!(Usage(format!(
            "{} is a directory: machine code is in programs and libraries, so give one of these, or a run",
            path.display()
        )));
    }
    if Sources::has_source_name(path) {
        bail!(Usage(format!(
            "{} is a source: machine code is in programs and libraries, so give what was compiled of it, or a run",
            path.display()
        )));
    }
    Ok(())
}
