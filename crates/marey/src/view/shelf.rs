//! The runs that `marey view` was given, or those that it offers where none is named.
//!
//! The one idea: what is offered are those beneath the working directory, and those of the list of recent ones. A page names one by the number
//! that it has here, and by nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use marey_archive::{META_FILE, State};
use marey_serve::Opened;
use marey_serve::host::{Again, Mark, Progress, Shelf};
use marey_serve::wire::{WireOpening, WireRun, WireRuns, WireShift};

use super::again::Shared;
use super::mark::{is_still, mark};
use super::{beside, open_run, opened};
use crate::clocks;
use crate::compare::names;
use crate::doctor::quote;
use crate::exit;
use crate::paint::harmless;
use crate::recent;
use crate::record::SPOOL;
use crate::run::open_archive;

/// Directories deeper than this are not looked into.
const DEPTH: usize = 4;

/// Nor more entries than this at all.
const ENTRIES: usize = 20_000;

/// More runs are not listed.
const RUNS: usize = 1000;

/// Runs beneath a directory, and recent ones.
pub(super) struct Found {
    directory: PathBuf,
    /// By number; what is gone keeps its own.
    known: Mutex<Vec<PathBuf>>,
}

impl Found {
    pub(super) fn beneath(directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Self { directory, known: Mutex::default() }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    fn number(&self, path: &Path) -> usize {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|it| it == path);
        place.unwrap_or_else(|| {
            known.push(path.to_owned());
            known.len() - 1
        })
    }

    fn path(&self, number: usize) -> Result<PathBuf, String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(number).cloned().ok_or_else(|| "there is no such run; look at the list again".to_owned())
    }

    fn told(&self, path: &Path) -> WireRun {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let place = path.parent().unwrap_or(path);
        let place = place.strip_prefix(&self.directory).unwrap_or(place);
        let mut told = WireRun {
            number: self.number(path),
            name: harmless(&name),
            place: harmless(&place.to_string_lossy()),
            title: String::new(),
            command: String::new(),
            started_ms: None,
            duration_ns: 0.0,
            processes: 0,
            hosts: 0,
            visits: 0.0,
            bytes: 0.0,
            why_not: None,
        };
        match open_archive(path) {
            Ok(archive) => {
                let meta = archive.meta();
                let facts = &meta.run;
                told.title.clone_from(&facts.title);
                told.command = facts.command.join(" ");
                told.started_ms = (facts.start_realtime_ns > 0).then(|| float(facts.start_realtime_ns) / 1e6);
                told.duration_ns = float(facts.duration_ns);
                told.processes = u32::try_from(meta.rows("processes")).unwrap_or(u32::MAX);
                told.hosts = u32::try_from(facts.hosts.len()).unwrap_or(u32::MAX);
                told.visits = size(meta.rows("intervals"));
                told.bytes = size(meta.tables.values().flatten().map(|part| part.bytes).sum());
                debug_assert!(meta.state == State::Finished, "others are not opened");
            }
            Err(error) => told.why_not = Some(exit::text_of(&error)),
        }
        told
    }
}

#[expect(clippy::cast_precision_loss, reason = "for showing")]
fn float(number: i64) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "for showing")]
fn size(number: u64) -> f64 {
    number as f64
}

impl Shelf for Found {
    fn list(&self) -> WireRuns {
        let mut search = Search::default();
        search.look(&self.directory, 0);
        for path in recent::paths() {
            if looks_like_a_run(&path) {
                search.found.entry(path).or_default();
            }
        }
        let mut runs: Vec<WireRun> = search.found.keys().map(|path| self.told(path)).collect();
        runs.sort_by(|a, b| {
            let started = |run: &WireRun| run.started_ms.unwrap_or(0.0);
            started(b).total_cmp(&started(a)).then_with(|| (&a.place, &a.name).cmp(&(&b.place, &b.name)))
        });
        let is_cut = search.is_cut || runs.len() > RUNS;
        runs.truncate(RUNS);
        WireRuns { directory: harmless(&self.directory.to_string_lossy()), is_cut, runs }
    }

    fn open(
        &self,
        run: usize,
        other: Option<usize>,
        progress: &Progress<'_>,
    ) -> Result<Opened<'static>, String> {
        let said = |error: anyhow::Error| exit::text_of(&error);
        let (path, other) = (self.path(run)?, other.map(|it| self.path(it)).transpose()?);
        let paths: Vec<&Path> = std::iter::once(&path).chain(&other).map(PathBuf::as_path).collect();
        // As many names as paths.
        let names = names(&paths);
        let open = |place: usize| {
            open_run(paths[place], &names[place], &|what, done, of| {
                progress(WireOpening { what: format!("{} of {}", what, names[place]), done, of });
            })
            .map_err(said)
        };
        let base = open(0)?;
        recent::remember(&path);
        let Some(other) = &other else { return Ok(base) };
        let opened = beside(base, open(1)?, &path, other);
        recent::remember(other);
        Ok(opened)
    }

    fn mark(&self, run: usize) -> Result<Mark, String> {
        mark([&*self.path(run)?]).map_err(|error| exit::text_of(&error))
    }

    fn why_no_shift(&self, run: usize) -> Option<String> {
        self.path(run).map_or_else(Some, |path| clocks::why_no_shift(&path))
    }

    fn shift(&self, run: usize, mark: Mark, shift: WireShift) -> Result<(), String> {
        let path = self.path(run)?;
        let is_meant = || is_still([&*path], mark);
        clocks::shift(&path, shift.process, shift.offset_ns, is_meant).map_err(|error| exit::text_of(&error))
    }
}

/// The runs that were named, of which the first is looked at.
pub(super) struct Named {
    pub(super) run: PathBuf,
    pub(super) other: Option<PathBuf>,
    /// What can record it once more, if the user allows it; that becomes the runs of number 1, 2, ….
    pub(super) again: Option<Shared>,
}

impl Named {
    fn paths(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&*self.run).chain(self.other.as_deref())
    }

    /// A run that was recorded since.
    fn made(&self, number: usize) -> Result<PathBuf, String> {
        let made = self.again.as_ref().and_then(|Shared(runner)| runner.made(number));
        made.ok_or_else(|| "there is no such run".to_owned())
    }
}

impl Shelf for Named {
    fn list(&self) -> WireRuns {
        WireRuns { directory: String::new(), is_cut: false, runs: Vec::new() }
    }

    fn open(
        &self,
        _run: usize,
        beside: Option<usize>,
        _progress: &Progress<'_>,
    ) -> Result<Opened<'static>, String> {
        let made = beside.map(|number| self.made(number)).transpose()?;
        opened(&self.run, made.as_deref().or(self.other.as_deref())).map_err(|error| exit::text_of(&error))
    }

    fn mark(&self, run: usize) -> Result<Mark, String> {
        if run != 0 {
            return mark([&*self.made(run)?]).map_err(|error| exit::text_of(&error));
        }
        mark(self.paths()).map_err(|error| exit::text_of(&error))
    }

    fn why_no_shift(&self, _run: usize) -> Option<String> {
        clocks::why_no_shift(&self.run)
    }

    fn shift(&self, _run: usize, mark: Mark, shift: WireShift) -> Result<(), String> {
        let is_meant = || is_still(self.paths(), mark);
        clocks::shift(&self.run, shift.process, shift.offset_ns, is_meant)
            .map_err(|error| exit::text_of(&error))
    }

    fn again(&self) -> Result<&dyn Again, String> {
        let again = self.again.as_ref().map(|it| -> &dyn Again { it });
        again.ok_or_else(|| {
            format!(
                "this server may start no program; one that you start as `marey view {} --allow-run` may",
                quote(&harmless(&self.run.to_string_lossy()))
            )
        })
    }
}

/// What is found beneath a directory.
#[derive(Default)]
struct Search {
    found: BTreeMap<PathBuf, ()>,
    entries: usize,
    is_cut: bool,
}

impl Search {
    fn look(&mut self, directory: &Path, depth: usize) {
        let Ok(entries) = directory.read_dir() else { return };
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > ENTRIES {
                self.is_cut = true;
                return;
            }
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            // Links are not followed, so that nothing is found twice.
            let Ok(kind) = entry.file_type() else { continue };
            if is_hidden || kind.is_symlink() {
                continue;
            }
            if looks_like_a_run(&path) {
                self.found.insert(path, ());
            } else if kind.is_dir() && depth < DEPTH {
                self.look(&path, depth + 1);
            }
        }
    }
}

/// Whether it could be a run, merged or not, by what lies in it or by its name.
fn looks_like_a_run(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|it| it == "marey");
    let Ok(metadata) = path.metadata() else { return false };
    if metadata.is_dir() {
        path.join(META_FILE).is_file() || (is_named && path.join(SPOOL).is_dir())
    } else {
        is_named && metadata.is_file()
    }
}
