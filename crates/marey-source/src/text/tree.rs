//! Which files of a directory are sources.
//!
//! The one idea: names decide, and order is that of names, so that the same tree is read in the same order everywhere.
//! Links are not followed (they may lead in circles), nor are directories entered whose name begins with a dot.

use std::path::{Path, PathBuf};

use super::language::Language;
use crate::problem::Problem;

/// More levels than a source tree has.
const MOST_LEVELS: usize = 256;

/// Sources below a directory.
pub(super) fn below(directory: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![(directory.to_owned(), 0)];
    while let Some((path, level)) = left.pop() {
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                problems.push(Problem::UnreadableSource { path, kind: error.kind() });
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                if !is_hidden && level < MOST_LEVELS {
                    left.push((path, level + 1));
                }
            } else if kind.is_file() && Language::of_path(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    found
}
