//! What `marey instrument --json` prints; `--help` says what it means.

use serde::Serialize;

use super::Done;
use super::choose::{Chosen, Row, Verdict};

#[derive(Serialize)]
pub(super) struct Json {
    source: String,
    copy: Option<String>,
    guards: usize,
    files: Vec<File>,
    functions: Vec<Place>,
    loops: Vec<Place>,
    left_out: Vec<LeftOut>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct File {
    path: String,
    language: &'static str,
    guards: usize,
}

/// A function or a loop.
#[derive(Serialize)]
struct Place {
    name: String,
    file: String,
    line: u32,
    guard: bool,
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct LeftOut {
    path: String,
    reason: &'static str,
}

/// What is said of what no rule wants.
pub(super) const NOT_CHOSEN: &str = "no rule wants it";

impl Json {
    pub(super) fn new(done: &Done) -> Self {
        let choice = &done.choice;
        let place = |row: &Row| Place {
            name: row.name.clone(),
            file: choice.files[row.file].path.display().to_string(),
            line: row.line,
            guard: row.verdict == Verdict::Guarded,
            reason: match row.verdict {
                Verdict::Guarded => None,
                Verdict::NotChosen => Some(NOT_CHOSEN),
                Verdict::Refused(reason) => Some(reason),
            },
        };
        let of = |what: Chosen| choice.rows.iter().filter(move |row| row.what == what).map(place).collect();
        let files = choice.files.iter().map(|file| File {
            path: file.path.display().to_string(),
            language: file.language.name(),
            guards: file.guards.len(),
        });
        let left_out = done.tree.left_out.iter();
        let left_out = left_out.map(|it| LeftOut { path: it.path.display().to_string(), reason: it.reason });
        Self {
            source: done.source.display().to_string(),
            copy: done.copy.as_ref().map(|copy| copy.display().to_string()),
            guards: done.guards(),
            files: files.collect(),
            functions: of(Chosen::Function),
            loops: of(Chosen::Loop),
            left_out: left_out.collect(),
            problems: done.problems.clone(),
        }
    }
}
