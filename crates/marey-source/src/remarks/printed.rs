//! What `rustc -Cremark=…` prints, as its user has saved it.
//!
//! The one idea: a remark is a line `note: FILE:LINE:COLUMN PASS (STATE): TEXT`, and those set in behind it belong to it.
//! All else that a compiler prints is passed over.

use std::io::Read;
use std::path::Path;

use super::lines::Lines;
use super::llvm::{Said, State};
use super::{MAX_TEXT, RemarkConfig, Remarks, damaged};

/// Reads a file.
pub(super) fn read(bytes: impl Read, path: &Path, config: &RemarkConfig) -> Remarks {
    let mut remarks = Remarks::default();
    let mut open: Option<Said> = None;
    let mut problem = None;
    let mut lines = Lines::new(bytes.take(config.max_file_bytes));
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                problem = Some(error.to_string());
                break;
            }
        };
        if config.max_rows <= remarks.rows.len() {
            problem = Some("it has more remarks than are read".to_owned());
            break;
        }
        let line = without_colour(&String::from_utf8_lossy(&line));
        match (&mut open, line.starts_with([' ', '\t'])) {
            (Some(said), true) if said.text.len() < MAX_TEXT => {
                said.text.push('\n');
                said.text += line.trim();
            }
            (_, true) => {}
            _ => {
                remarks.rows.extend(open.take().and_then(super::llvm::row));
                open = said_in(&line);
            }
        }
    }
    remarks.rows.extend(open.and_then(super::llvm::row));
    if lines.cut != 0 {
        problem.get_or_insert_with(|| format!("{} of its lines are too long, and were cut", lines.cut));
    }
    let rows = remarks.rows.len();
    remarks.problems.extend(problem.map(|what| damaged(path, &what, rows)));
    remarks
}

/// `note: k.rs:7:9 loop-vectorize (analysis): loop not vectorized: …`
pub(super) fn said_in(line: &str) -> Option<Said> {
    let rest = line.trim_end().strip_prefix("note: ")?;
    let (head, text) = rest.split_once("): ")?;
    let (head, state) = head.rsplit_once(" (")?;
    // The name of a file may have blanks in it, that of a pass has none.
    let (place, pass) = head.rsplit_once(' ')?;
    let (place, column) = place.rsplit_once(':')?;
    let (file, line) = place.rsplit_once(':')?;
    let mut said = Said {
        state: Some(State::of_word(state)?),
        pass: pass.to_owned(),
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        text: text.to_owned(),
        ..Said::default()
    };
    said.names_from_text();
    Some(said)
}

/// A line without what makes terminals colour it.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut parts = line.split('\u{1b}');
    plain += parts.next().unwrap_or("");
    for part in parts {
        plain += part.split_once('m').map_or(part, |(_, rest)| rest);
    }
    plain
}
