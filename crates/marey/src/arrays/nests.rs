//! The loops around statements that access arrays.
//!
//! The one idea: an access within a nest of loops is repeated by each of them, so the loop to move it out of is the first
//! thing to look for; sources say where loops are, and only those that statements name are read.
//!
//! What is deliberately absent: sources that are not there any more; then no loop is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use marey_analyze::{ArrayRow, Statement};
use marey_source::text::{Loop, Sources, TextConfig};

/// Sources of statements.
pub(super) struct Nests(Sources);

impl Nests {
    /// Reads them.
    pub(super) fn of(rows: &[ArrayRow]) -> Self {
        let statements = rows.iter().flat_map(|row| &row.statements);
        let files: BTreeSet<&str> = statements.filter(|it| it.line != 0).map(|it| it.file.as_str()).collect();
        let is_there = |file: &&str| Sources::has_source_name(Path::new(file)) && Path::new(file).is_file();
        let files: Vec<PathBuf> = files.into_iter().filter(is_there).map(PathBuf::from).collect();
        Self(Sources::of_files(&files, &TextConfig::system()))
    }

    /// The loops around a statement, the innermost first.
    pub(super) fn around(&self, statement: &Statement) -> Vec<&Loop> {
        let is_around = |it: &&Loop| {
            (it.lines.first..=it.lines.last).contains(&statement.line)
                && self.0.path(it.file) == statement.file
        };
        let mut around: Vec<&Loop> = self.0.loops.iter().filter(is_around).collect();
        around.sort_by_key(|it| std::cmp::Reverse(it.depth));
        around
    }

    /// `28–32 in 25–35`; empty = in none.
    pub(super) fn in_words(&self, statement: &Statement) -> String {
        let lines = |it: &&Loop| format!("{}–{}", it.lines.first, it.lines.last);
        self.around(statement).iter().map(lines).collect::<Vec<_>>().join(" in ")
    }
}
