//! Whether a function that a compiler names is one that the text has.
//!
//! The one idea: names are compared with all that they lie in. In C, C++ and Fortran the text knows all of that; in Rust
//! modules are files, and what is around them is the crate. Its name stands in no source, so it is learnt: from the
//! directory of the package, and from what a compiler says at lines of the file itself.
//!
//! Deliberately absent: a guess. A function of a file that was not read may have the same last name.

use std::ffi::OsStr;
use std::path::Path;

use rustc_hash::FxHashSet;

use super::row::Remark;
use crate::text::{Function, Sources};

/// Types in names of types.
const MOST_DEPTH: usize = 8;

/// Names of crates that files are the roots of.
pub(super) struct Crates(FxHashSet<(u32, String)>);

impl Crates {
    /// Learns them from remarks at lines of functions; `files` says which file of the text each is about.
    pub(super) fn of(remarks: &[Remark], files: &[Option<u32>], text: &Sources) -> Self {
        let mut known = FxHashSet::default();
        for (remark, file) in remarks.iter().zip(files) {
            let Some(file) = file.filter(|file| is_root(text.path(*file))) else { continue };
            let around = enclosing(&text.functions, file, remark.line).map(|it| parts(text.text(it.name)));
            let told = parts(&remark.function);
            if let [name] = around.and_then(|around| told.strip_suffix(&around[..])).unwrap_or_default() {
                known.insert((file, name.clone()));
            }
        }
        Self(known)
    }

    /// Whether `told` by a compiler is this function.
    pub(super) fn is_same(&self, told: &str, it: &Function, text: &Sources) -> bool {
        let (told, written) = (parts(told), parts(text.text(it.name)));
        let path = Path::new(text.path(it.file));
        let Some(around) = told.strip_suffix(&written[..]).filter(|_| !written.is_empty()) else {
            return false;
        };
        if path.extension().is_none_or(|it| it != "rs") {
            return around.is_empty();
        }
        let spelled = |name: Option<&OsStr>| {
            let name = name.map(|it| it.to_string_lossy().replace('-', "_").to_lowercase());
            name.unwrap_or_default()
        };
        let name = |directory: Option<&Path>| spelled(directory.and_then(Path::file_name));
        let directory = path.parent();
        match (around, spelled(path.file_stem()).as_str()) {
            ([of], "main" | "lib") => {
                let package = directory.filter(|it| it.ends_with("src")).and_then(Path::parent);
                self.0.contains(&(it.file, of.clone())) || *of == name(package)
            }
            ([.., of], "mod") => *of == name(directory),
            ([.., of], stem) => of == stem,
            ([], _) => false,
        }
    }
}

/// Whether a file of Rust is the first of a crate by its name.
fn is_root(path: &str) -> bool {
    path.ends_with("/main.rs") || path.ends_with("/lib.rs")
}

/// Functions are in the order of files and lines, those within others behind them.
fn enclosing(functions: &[Function], file: u32, line: u32) -> Option<&Function> {
    let end = functions.partition_point(|it| (it.file, it.lines.first) <= (file, line));
    let before = functions[..end].iter().rev().take_while(|it| it.file == file);
    before.take(MOST_DEPTH).find(|it| it.lines.has(line))
}

/// `p::<impl p::Grid<T>>::step::{closure#0}` → `p`, `grid`, `step`.
fn parts(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    add(name, MOST_DEPTH, &mut found);
    if let Some(last) = found.last_mut() {
        // For linkers, of Fortran.
        last.truncate(last.trim_end_matches('_').len());
    }
    found
}

fn add(name: &str, depth: usize, found: &mut Vec<String>) {
    for part in split(name) {
        if let Some(inner) = part.strip_prefix('<').and_then(|it| it.strip_suffix('>')) {
            // The type counts, wherever its methods stand.
            let inner = inner.strip_prefix("impl ").unwrap_or(inner);
            let of = inner.split_once(" for ").map_or(inner, |(_, of)| of);
            let of = of.split_once(" as ").map_or(of, |(of, _)| of);
            found.clear();
            if depth != 0 {
                add(of, depth - 1, found);
            }
            continue;
        }
        let plain = match part.find(['<', '(']) {
            Some(end) if !part.starts_with("operator") => &part[..end],
            _ => part,
        };
        if !plain.is_empty() && !plain.starts_with('{') {
            found.push(plain.trim().to_lowercase());
        }
    }
}

/// Parts between `::` that lie in no brackets.
fn split(name: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_u32);
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'{' => depth = depth.saturating_add(1),
            b'>' | b')' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') && begin <= at => {
                parts.push(&name[begin..at]);
                begin = at + 2;
            }
            _ => {}
        }
    }
    parts.push(name.get(begin..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn names_are_what_they_lie_in() {
        for (name, expected) in [
            ("p::outer", "p outer"),
            ("p::grid::<impl p::grid::Grid<T>>::step::{closure#0}", "p grid grid step"),
            ("<p::Grid as core::ops::Add<p::Grid>>::add", "p grid add"),
            ("solver::step<double, std::pair<int, int> >(int)", "solver step"),
            ("(anonymous namespace)::f", "f"),
            ("solve_", "solve"),
            ("", ""),
            ("<<<<<<<<<<<<<<<<<<", ""),
        ] {
            assert_eq!(parts(name).join(" "), expected, "{name}");
        }
    }
}
