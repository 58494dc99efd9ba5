//! A program of a million lines: what marey is made of, as far as others wrote it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::crate_directories;
use marey_source::text::{Language, Sources, TextConfig};

const MILLION: usize = 1_000_000;

fn sources_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources_below(&path, found);
        } else if Sources::has_source_name(&path) {
            found.push(path);
        }
    }
}

fn n_lines(path: &Path) -> usize {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).lines().count()
}

/// Lines that begin a function of Rust as rustfmt sets them, found without a grammar.
fn heads(text: &str) -> impl Iterator<Item = u32> {
    let begins = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("const ").unwrap_or(line);
        // Patterns of macros have dollars.
        line.starts_with("fn ") && line.ends_with('{') && !line.contains('$')
    };
    (1..).zip(text.lines()).filter(move |(_, line)| begins(line)).map(|(number, _)| number)
}

#[test]
fn a_million_lines_are_read_as_one_program() {
    let mut crates = crate_directories();
    // Tables of grammars, which are no code, and what changes with each commit.
    crates.retain(|(name, _)| !name.starts_with("tree-sitter-") && !name.starts_with("marey"));
    crates.sort();
    let (mut paths, mut lines) = (Vec::new(), Vec::new());
    for (_, directory) in &crates {
        let first = paths.len();
        sources_below(directory, &mut paths);
        lines.extend(paths[first..].iter().map(|path| n_lines(path)));
        if MILLION <= lines.iter().sum() {
            break;
        }
    }
    #[expect(clippy::disallowed_methods, reason = "told, and measured nowhere")]
    let begun = Instant::now();
    let it = Sources::of_files(&paths, &TextConfig::system());
    let took = begun.elapsed();
    let told: Vec<usize> = it.files.iter().map(|file| file.lines as usize).collect();
    let n_lines: usize = told.iter().sum();
    println!("{} files, {n_lines} lines: {took:.1?}", it.files.len());
    assert!(MILLION <= n_lines && told == lines, "{n_lines} lines");
    assert_eq!(it.problems, []);
    let known: BTreeSet<(u32, u32)> = it.functions.iter().map(|of| (of.file, of.line)).collect();
    let (mut n_heads, mut missing) = (0, Vec::new());
    for (number, file) in (0..).zip(&it.files) {
        let text = std::fs::read(it.path(number)).unwrap();
        let text = String::from_utf8_lossy(&text);
        for line in heads(&text).filter(|_| file.language == Language::Rust) {
            n_heads += 1;
            if !known.contains(&(number, line)) {
                missing.push(format!("{}:{line}", it.path(number)));
            }
        }
    }
    // Most of them are what macros make functions of.
    assert!(20_000 <= n_heads && missing.len() * 100 <= n_heads * 3, "{} of {n_heads}", missing.len());
}
