//! What compilers said otherwise of loops of two runs.
//!
//! The one idea: each run keeps what was said of the program that it ran, so loops are compared as functions are: by file,
//! function and place in it, with what they cost beside. Where a run has no remarks, nothing is said.

use std::io::{self, Write};
use std::path::PathBuf;

use marey_analyze::{LoopChange, LoopOutcome, RemarkedLoop, changed_loops};
use marey_model::Nanos;
use serde::Serialize;

use super::json::Json;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title, wrap};
use crate::remarks::{Told, outcome_of};
use crate::run::Run;
use crate::table;
use crate::words;

/// Runs with what compilers said.
pub(super) struct Loops(Vec<(Run, Told)>);

/// A comparison for other programs, with loops.
#[derive(Serialize)]
pub(super) struct WithLoops<'d> {
    #[serde(flatten)]
    pub(super) it: Json<'d>,
    pub(super) loops: Vec<JsonLoop>,
}

/// A loop of which something else is said.
#[derive(Serialize)]
pub(super) struct JsonLoop {
    text: String,
    file: String,
    function: String,
    old_line: u32,
    new_line: u32,
    old_outcome: &'static str,
    new_outcome: &'static str,
    old_own_ns: i64,
    new_own_ns: i64,
}

impl Loops {
    pub(super) fn open(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let open = |path: &PathBuf| {
            let run = Run::open(path)?;
            let told = Told::without_path(&run);
            anyhow::Ok((run, told))
        };
        Ok(Self(paths.iter().map(open).collect::<Result<_, _>>()?))
    }

    /// What differs between the first run and another.
    fn with_changes<T>(&self, other: usize, f: impl FnOnce(&[LoopChange<'_>]) -> T) -> Option<T> {
        let (base, old) = self.0.first()?;
        let (run, new) = self.0.get(other)?;
        if old.rows.is_empty() || new.rows.is_empty() {
            return None;
        }
        Some(f(&changed_loops(&old.remarked(base), &new.remarked(run))))
    }

    pub(super) fn json(&self, other: usize) -> Vec<JsonLoop> {
        self.with_changes(other, |changes| changes.iter().map(json).collect()).unwrap_or_default()
    }

    /// The section of `marey diff`.
    pub(super) fn print(
        &self,
        out: &mut dyn Write,
        paint: Paint,
        other: usize,
        top: usize,
    ) -> io::Result<()> {
        let unread = [0, other].into_iter().filter_map(|place| self.0.get(place)?.1.unread.as_ref());
        unread.into_iter().try_for_each(|unread| note(out, paint, unread))?;
        let print = |changes: &[LoopChange<'_>]| {
            if changes.is_empty() {
                return Ok(());
            }
            title(
                out,
                paint,
                "LOOPS",
                "of which the compiler says something else now, and their own processor time",
            )?;
            for change in changes.iter().take(top) {
                for (number, line) in wrap(&sentence(change), paint.prose_width() - 4).iter().enumerate() {
                    let mark = if number == 0 { "·" } else { " " };
                    writeln!(out, "  {} {line}", paint.paint(Look::Bar, mark))?;
                }
            }
            table::more(out, paint, changes.len().saturating_sub(top), "loop", "loops")?;
            note(out, paint, "`marey remarks RUN` tells what the compiler said of each run")
        };
        self.with_changes(other, print).unwrap_or(Ok(()))
    }
}

/// `sweep (k.c:6) is now vectorised: 200 ms instead of 900 ms; before: not vectorised (array grid, distance 1).`
fn sentence(change: &LoopChange<'_>) -> String {
    let LoopChange { old, new } = change;
    let verb = match (old.at.outcome, new.at.outcome) {
        (_, LoopOutcome::Vectorised) => "now vectorised",
        (LoopOutcome::Vectorised, LoopOutcome::NotVectorised | LoopOutcome::Statements) => {
            "no longer vectorised"
        }
        (LoopOutcome::Vectorised, LoopOutcome::Both) => "no longer vectorised in all copies",
        (_, now) => now.name(),
    };
    let place = words::place(&new.at.file, new.at.first_line);
    let function = shorten(&words::function(&new.at.function), 40);
    let loop_ = if function.is_empty() { place } else { format!("{place} in {function}") };
    let time = |it: &RemarkedLoop<'_>| match it.own.samples {
        0 => "no sample".to_owned(),
        _ => format::solid(format::duration(Nanos(it.own.time.0))),
    };
    let side = if change.is_gain() { ("before", outcome_of(old)) } else { ("now", outcome_of(new)) };
    harmless(&format!(
        "Loop at {loop_}: {verb}, {} instead of {}; {} {}.",
        time(new),
        time(old),
        side.0,
        side.1
    ))
}

fn json(change: &LoopChange<'_>) -> JsonLoop {
    let LoopChange { old, new } = change;
    JsonLoop {
        text: format::plain(&sentence(change)),
        file: new.at.file.clone(),
        function: new.at.function.clone(),
        old_line: old.at.first_line,
        new_line: new.at.first_line,
        old_outcome: old.at.outcome.name(),
        new_outcome: new.at.outcome.name(),
        old_own_ns: old.own.time.0,
        new_own_ns: new.own.time.0,
    }
}
