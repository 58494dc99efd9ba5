//! One file: from its bytes to its rows.
//!
//! The one idea: what cannot be read as text is a problem of that file, and of no other.

use std::io::Read as _;
use std::path::Path;

use tree_sitter::Parser;

use super::TextConfig;
use super::both::{self, Halves};
use super::branches;
use super::constructs;
use super::grammar::Grammar;
use super::language::{Language, is_header};
use super::parse::{Parsed, parse};
use super::walk::{self, FileFacts};
use crate::problem::Problem;

/// What a file is and says.
pub(super) struct Read {
    pub(super) language: Language,
    pub(super) lines: u32,
    pub(super) facts: FileFacts,
}

/// Text has no zeros; so much of a file is looked at for them.
const LOOKED_AT: usize = 8 << 10;

/// Reads a file.
pub(super) fn read(parser: &mut Parser, path: &Path, config: &TextConfig) -> Result<Read, Problem> {
    let text = bytes(path, config)?;
    if text[..text.len().min(LOOKED_AT)].contains(&0) {
        return Err(Problem::NotText { path: path.to_owned() });
    }
    let Some(language) = Language::of(path, &text) else {
        return Err(Problem::UnknownLanguage { path: path.to_owned() });
    };
    let halves = if language == Language::C && is_header(path) { both::halves(&text) } else { None };
    let seen = halves.as_ref().map_or(&text, |halves| &halves.c);
    let mut facts = rows(parser, path, seen, language)?;
    if let Some(Halves { cpp, only_cpp, .. }) = &halves {
        let as_cpp = rows(parser, path, cpp, Language::Cpp)?;
        // Most of these are the same places.
        facts.unclear = facts.unclear.max(as_cpp.unclear);
        let firsts = [facts.first_unclear, as_cpp.first_unclear];
        facts.first_unclear = firsts.into_iter().filter(|line| *line != 0).min().unwrap_or(0);
        branches::add(&mut facts, as_cpp, only_cpp);
    }
    if language.ignores_case() {
        constructs::end_regions(&mut facts);
    }
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    let lines = ends + usize::from(text.last().is_some_and(|byte| *byte != b'\n'));
    Ok(Read { language, lines: walk::number(lines), facts })
}

/// The rows of what one language sees.
fn rows(parser: &mut Parser, path: &Path, text: &[u8], language: Language) -> Result<FileFacts, Problem> {
    let too_hard = || Problem::SourceTooHard { path: path.to_owned() };
    let Parsed { tree, text, whole } = parse(parser, text, language).ok_or_else(too_hard)?;
    let mut facts = walk::walk(&tree, Grammar::of(language), &text);
    if let Some((tree, text, blanked)) = whole {
        branches::add(&mut facts, walk::walk(&tree, Grammar::of(language), &text), &blanked);
    }
    Ok(facts)
}

fn bytes(path: &Path, config: &TextConfig) -> Result<Vec<u8>, Problem> {
    let unreadable =
        |error: std::io::Error| Problem::UnreadableSource { path: path.to_owned(), kind: error.kind() };
    let limit_bytes = config.max_file_bytes;
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    // A pipe or a device may never end.
    if !metadata.is_file() {
        return Err(Problem::NotText { path: path.to_owned() });
    }
    if limit_bytes < metadata.len() {
        return Err(Problem::SourceTooLarge { path: path.to_owned(), bytes: metadata.len(), limit_bytes });
    }
    let mut text = Vec::new();
    // It may be growing.
    std::fs::File::open(path)
        .and_then(|file| file.take(limit_bytes).read_to_end(&mut text))
        .map_err(unreadable)?;
    Ok(text)
}
