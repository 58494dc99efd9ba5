//! What compilers said otherwise of loops of two runs.
//!
//! The one idea: each run keeps what was said of the program that it ran, so loops are compared as functions are: by file,
//! function and place in it, with what they cost beside. Where a run has no remarks, nothing is said.

use std::io::{self, Write};

use marey_analyze::{LoopChange, LoopOutcome, Remarked, RemarkedLoop, changed_loops};
use marey_model::Nanos;
use serde::Serialize;

use super::Compared;
use super::json::Json;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title, wrap};
use crate::remarks::{Told, outcome_of};
use crate::run::Run;
use crate::table;
use crate::words;

/// A run with what compilers said of its loops.
#[derive(Debug)]
pub(super) struct Loops {
    /// `None` = nothing was said.
    run: Option<Run>,
    told: Told,
}

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
    pub(super) fn of(run: Run) -> Self {
        let told = Told::without_path(&run);
        Self { run: Some(run).filter(|_| !told.rows.is_empty()), told }
    }

    fn remarked(&self) -> Option<Remarked<'_>> {
        self.run.as_ref().map(|run| self.told.remarked(run))
    }
}

/// What differs between two runs.
fn with_changes<T>(base: &Compared, other: &Compared, f: impl FnOnce(&[LoopChange<'_>]) -> T) -> Option<T> {
    let (old, new) = (base.loops.as_ref()?, other.loops.as_ref()?);
    Some(f(&changed_loops(&old.remarked()?, &new.remarked()?)))
}

/// The same for other programs.
pub(super) fn json(base: &Compared, other: &Compared) -> Vec<JsonLoop> {
    with_changes(base, other, |changes| changes.iter().map(json_loop).collect()).unwrap_or_default()
}

/// The section of `marey diff`.
pub(super) fn print(
    out: &mut dyn Write,
    paint: Paint,
    base: &Compared,
    other: &Compared,
    top: usize,
) -> io::Result<()> {
    let unread = [base, other].into_iter().filter_map(|it| it.loops.as_ref()?.told.unread.as_ref());
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
    with_changes(base, other, print).unwrap_or(Ok(()))
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

fn json_loop(change: &LoopChange<'_>) -> JsonLoop {
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
