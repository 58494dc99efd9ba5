//! The loops around statements that access arrays.
//!
//! The one idea: an access within a nest of loops is repeated by each of them, so the loop to move it out of is the first
//! thing to look for; sources say where loops are, and only those that statements and their callers name are read.
//!
//! What is deliberately absent: sources that are not there any more; then no loop is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use marey_analyze::{ArrayRow, CallerLoop, LoopLines, Nests as Found, Statement, Trace, callers};
use marey_source::text::{Sources, TextConfig};

use crate::words;

/// Loops of callers that are told in words.
const MOST_IN_WORDS: usize = 2;

/// Loops of the sources of statements.
pub(super) struct Nests(Found);

impl Nests {
    /// Reads them.
    pub(super) fn of(trace: &dyn Trace, rows: &[ArrayRow]) -> Self {
        let mut files: BTreeSet<&str> = BTreeSet::new();
        for statement in rows.iter().flat_map(|row| &row.statements) {
            files.extend((statement.line != 0).then_some(statement.file.as_str()));
            for path in &statement.call_paths {
                files.extend(callers(trace, *path).iter().map(|frame| frame.file.as_str()));
            }
        }
        let is_there = |file: &&str| Sources::has_source_name(Path::new(file)) && Path::new(file).is_file();
        let files: Vec<PathBuf> = files.into_iter().filter(is_there).map(PathBuf::from).collect();
        let sources = Sources::of_files(&files, &TextConfig::system());
        let lines = |it: &marey_source::text::Loop| LoopLines {
            first: it.lines.first,
            last: it.lines.last,
            depth: it.depth,
        };
        Self(sources.loops.iter().map(|it| (sources.path(it.file), lines(it))).collect())
    }

    /// The loops around a statement, the innermost first.
    pub(super) fn around(&self, statement: &Statement) -> Vec<LoopLines> {
        self.0.around(&statement.file, statement.line)
    }

    /// Those around the calls that lead to it, the nearest first.
    pub(super) fn of_callers<'t>(&self, trace: &'t dyn Trace, statement: &Statement) -> Vec<CallerLoop<'t>> {
        self.0.of_callers(trace, statement.call_paths.iter().copied())
    }

    /// `28–32 in 25–35 in 40–60 of main`; empty = in none.
    pub(super) fn in_words(&self, trace: &dyn Trace, statement: &Statement) -> String {
        let lines = |it: &LoopLines| format!("{}–{}", it.first, it.last);
        let of_callers = self.of_callers(trace, statement);
        let mut all: Vec<String> = self.around(statement).iter().map(lines).collect();
        let of_caller =
            |it: &CallerLoop<'_>| format!("{} of {}", lines(&it.lines), words::function(it.function));
        all.extend(of_callers.iter().take(MOST_IN_WORDS).map(of_caller));
        all.extend((MOST_IN_WORDS < of_callers.len()).then(|| "…".to_owned()));
        all.join(" in ")
    }
}
