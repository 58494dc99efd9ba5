//! `*.opt.yaml` of LLVM.
//!
//! The one idea: LLVM writes a small part of YAML, always in the same way, so that part is read and no other: documents
//! that begin with `--- !Kind`, keys at the left, places in braces, a list `Args` of single keys. A general reader would stop
//! at the first byte that a full disk has cut off; here each document stands alone.

use std::io::Read;
use std::path::Path;

use super::lines::Lines;
use super::llvm::{Said, State};
use super::{MAX_TEXT, RemarkConfig, Remarks, damaged};

/// Lines of a document that are kept; LLVM writes some ten.
const MOST_LINES: usize = 4096;
/// And bytes of these.
const MOST_BYTES: usize = 1 << 20;

/// Reads a file.
pub(super) fn read(bytes: impl Read, path: &Path, config: &RemarkConfig) -> Remarks {
    let mut lines = Lines::new(bytes.take(config.max_file_bytes));
    let mut remarks = Remarks::default();
    let (mut document, mut is_open, mut unclear) = (Vec::new(), false, 0_usize);
    let mut bytes = 0;
    let mut failed = None;
    while remarks.rows.len() < config.max_rows {
        let line = match lines.next() {
            Ok(Some(line)) => String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned(),
            Err(error) => {
                failed = Some(error.to_string());
                break;
            }
            Ok(None) => break,
        };
        if line.starts_with("---") {
            if is_open {
                unclear += 1;
            }
            bytes = line.len();
            document = vec![line];
            is_open = true;
        } else if line == "..." {
            match document_of(&document) {
                Some(said) => remarks.rows.extend(super::llvm::row(said)),
                None => unclear += usize::from(is_open),
            }
            is_open = false;
        } else if is_open && document.len() < MOST_LINES && bytes + line.len() <= MOST_BYTES {
            bytes += line.len();
            document.push(line);
        }
    }
    unclear += lines.cut;
    unclear += usize::from(is_open && remarks.rows.len() < config.max_rows);
    let rows = remarks.rows.len();
    if config.max_rows <= rows {
        failed = Some("it has more remarks than are read".to_owned());
    }
    if let Some(what) = failed {
        remarks.problems.push(damaged(path, &what, rows));
    } else if unclear != 0 {
        remarks.problems.push(damaged(path, &format!("{unclear} of its remarks are cut or unclear"), rows));
    }
    remarks
}

/// What a document says; `None` = it is no remark.
fn document_of(lines: &[String]) -> Option<Said> {
    let (head, rest) = lines.split_first()?;
    let state = State::of_tag(head.strip_prefix("---")?.trim())?;
    let mut said = Said { state: Some(state), ..Said::default() };
    let mut at = 0;
    while let Some(line) = rest.get(at) {
        let (line, used) = joined(&rest[at..], line);
        at += used;
        if let Some((key, value)) = key_of(&line) {
            match key {
                "Pass" => said.pass = scalar(value),
                "Function" => said.function = scalar(value),
                "DebugLoc" => place(value, &mut said),
                _ => {}
            }
        } else if let Some(arg) = line.strip_prefix("  - ") {
            let (key, value) = arg.split_once(':')?;
            // A text of several lines stands below, set in.
            let value = match value.trim() {
                "|" | "|-" | ">" | ">-" => {
                    let block = rest[at..].iter().take_while(|line| line.starts_with("      "));
                    let block: Vec<&str> = block.map(|line| line.trim()).collect();
                    at += block.len();
                    block.join("\n")
                }
                value => scalar(value),
            };
            match key {
                "Callee" => said.callee.clone_from(&value),
                "Caller" => said.caller.clone_from(&value),
                _ => {}
            }
            if said.text.len() < MAX_TEXT {
                said.text += &value;
            }
        }
    }
    Some(said)
}

/// A line with those behind it that belong to it, because a brace or a quote is open; and how many that are.
fn joined(rest: &[String], first: &str) -> (String, usize) {
    let mut line = first.to_owned();
    let mut used = 1;
    // Counted as lines come: a text may be long.
    let mut quotes = first.split_once(':').map_or(0, |(_, value)| value.matches('\'').count());
    while is_open(&line, quotes)
        && let Some(next) = rest.get(used)
    {
        // LLVM breaks long lines behind a blank.
        line.truncate(line.trim_end().len());
        line.push(' ');
        line += next.trim();
        quotes += next.matches('\'').count();
        used += 1;
    }
    (line, used)
}

/// Whether a brace or a quote is open; `quotes` are the single ones of the value.
fn is_open(line: &str, quotes: usize) -> bool {
    let value = line.split_once(':').map_or("", |(_, value)| value.trim());
    match value.chars().next() {
        Some('{') => !value.ends_with('}'),
        Some('\'') => quotes % 2 == 1,
        Some('"') => value.len() == 1 || !value.ends_with('"') || value.ends_with("\\\""),
        _ => false,
    }
}

/// `Pass:            inline`
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_key.then_some((key, value.trim()))
}

/// `{ File: k.c, Line: 24, Column: 170 }`
fn place(value: &str, said: &mut Said) {
    let inner = value.trim_start_matches('{').trim_end_matches('}').trim();
    // The name of a file may have commas in it.
    let Some((file, rest)) = inner.rsplit_once(", Line:") else { return };
    let (line, column) = rest.split_once(", ").unwrap_or((rest, ""));
    said.file = scalar(file.trim_start_matches("File:").trim());
    said.line = line.trim().parse().unwrap_or(0);
    said.column = column.trim().trim_start_matches("Column:").trim().parse().unwrap_or(0);
}

/// What a value says without its quotes.
fn scalar(value: &str) -> String {
    let value = value.trim();
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inner) = inside('\'') {
        return inner.replace("''", "'");
    }
    let Some(inner) = inside('"') else { return value.to_owned() };
    let mut text = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}
