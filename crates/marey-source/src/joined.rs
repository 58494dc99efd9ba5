//! What the binary and the text of a program know of each other.
//!
//! The one idea: file, line and name. A row of the binary and one of the text are one thing if they stand in the same
//! file, the line that the compiler tells is one of those that the text says, and the last parts of their names are equal.
//! Many rows of the binary may be one of the text: instances of a template are.
//!
//! Nothing is guessed: where lines or names differ, because the text was changed or a macro has made the function, each
//! row stays alone, and says who knows it.

mod fortran;

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::database::{Callee, Database, Place};
use crate::text::{Sources, TextConfig};

/// Rows of a text by rows of a binary.
#[derive(Debug, Default)]
pub struct Joined {
    /// By function of the binary: the function of the text that it is.
    pub functions: Vec<Option<u32>>,
    /// By type of the binary: the type of the text.
    pub types: Vec<Option<u32>>,
    /// By call of the binary: the first call of the text that it is.
    pub calls: Vec<Option<u32>>,
    /// By call of the text: whether the binary knows it. One line may call a function twice.
    pub known_calls: Vec<bool>,
}

/// Sources that a binary names and that are there, and how many are not.
pub fn sources_of(binary: &Database) -> (Vec<PathBuf>, usize) {
    let mut is_used = vec![false; binary.files.len()];
    let functions = binary.functions.iter().filter_map(|it| it.place);
    let places = functions.chain(binary.types.iter().filter_map(|it| it.place));
    for place in places.chain(binary.calls.iter().filter_map(|it| it.place)) {
        if let Some(used) = is_used.get_mut(place.file as usize) {
            *used = true;
        }
    }
    let used = binary.files.iter().zip(is_used).filter(|(_, used)| *used);
    let paths: Vec<PathBuf> = used.map(|(path, _)| PathBuf::from(binary.text(*path))).collect();
    let all = paths.len();
    let there: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_file()).collect();
    let missing = all - there.len();
    (there, missing)
}

/// Reads the sources that a binary names.
pub fn read_sources(binary: &Database, config: &TextConfig) -> (Sources, usize) {
    let (paths, missing) = sources_of(binary);
    (Sources::of_files(&paths, config), missing)
}

impl Joined {
    /// Finds rows that are one thing.
    pub fn new(binary: &Database, text: &Sources) -> Self {
        let of_path: FxHashMap<&Path, u32> =
            (0..).zip(&text.files).map(|(file, it)| (Path::new(text.text(it.path)), file)).collect();
        let files: Vec<Option<u32>> =
            binary.files.iter().map(|path| of_path.get(Path::new(binary.text(*path))).copied()).collect();
        let at = |place: Option<Place>| {
            let place = place?;
            Some((files.get(place.file as usize).copied().flatten()?, place.line))
        };

        let mut functions: FxHashMap<(u32, String), Vec<u32>> = FxHashMap::default();
        for (row, it) in (0..).zip(&text.functions) {
            functions.entry((it.file, key(text.text(it.name)))).or_default().push(row);
        }
        let function = |(file, line): (u32, u32), name: &str| {
            let rows = functions.get(&(file, key(name)))?;
            // One that lies in another of its name begins later.
            let has = |row: &&u32| text.functions[**row as usize].lines.has(line);
            rows.iter().filter(has).max_by_key(|row| text.functions[**row as usize].lines.first).copied()
        };
        let of_function = |it: &crate::database::Function| function(at(it.place)?, binary.text(it.name));

        let mut types: FxHashMap<(u32, u32, String), u32> = FxHashMap::default();
        for (row, it) in (0..).zip(&text.types) {
            types.entry((it.file, it.line, key(text.text(it.name)))).or_insert(row);
        }
        let of_type = |it: &crate::database::Type| {
            let (file, line) = at(it.place)?;
            types.get(&(file, line, key(binary.text(it.name)))).copied()
        };

        let mut calls: FxHashMap<(u32, u32, String), u32> = FxHashMap::default();
        for (row, it) in (0..).zip(&text.calls) {
            calls.entry((it.file, it.line, key(text.text(it.name)))).or_insert(row);
        }
        let of_call = |it: &crate::database::Call| {
            let (file, line) = at(it.place)?;
            let name = match it.callee {
                Callee::Function(row) => key(binary.text(binary.functions.get(row as usize)?.name)),
                Callee::Named(name) => key(&binary.readable(name)),
                Callee::Unknown => return None,
            };
            calls.get(&(file, line, name)).copied()
        };
        let of_calls: Vec<Option<u32>> = binary.calls.iter().map(of_call).collect();
        let is_known: rustc_hash::FxHashSet<u32> = of_calls.iter().copied().flatten().collect();
        let is_known = |it: &crate::text::Call| {
            let first = calls.get(&(it.file, it.line, key(text.text(it.name))));
            first.is_some_and(|first| is_known.contains(first))
        };
        Self {
            known_calls: text.calls.iter().map(is_known).collect(),
            functions: binary.functions.iter().map(of_function).collect(),
            types: binary.types.iter().map(of_type).collect(),
            calls: of_calls,
        }
    }

    /// Adds to the types of Fortran that both know what no compiler writes: bases, bindings, and lines of components.
    pub fn complete(&self, binary: &mut Database, text: &Sources) {
        fortran::complete(binary, text, self);
    }
}

/// The last part of a name as it is compared: without arguments, in small letters, for Fortran has no others, and without
/// the underscore that compilers of Fortran append for linkers.
pub(crate) fn key(name: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(name.len());
    // What of the sign of an operator was read.
    let mut sign: Option<String> = None;
    for c in name.chars() {
        if depth == 0 && is_sign(sign.as_deref(), c) {
            plain.push(c);
            sign.get_or_insert_default().push(c);
            continue;
        }
        sign = None;
        match c {
            '<' => depth = depth.saturating_add(1),
            '>' if depth != 0 => depth -= 1,
            '(' if depth == 0
                && !plain.ends_with("operator")
                && !plain.is_empty()
                && !plain.ends_with("::") =>
            {
                break;
            }
            _ if depth == 0 && !c.is_whitespace() => plain.push(c.to_ascii_lowercase()),
            _ => {}
        }
        if depth == 0 && plain.ends_with("operator") {
            sign = Some(String::new());
        }
    }
    plain.rsplit("::").next().unwrap_or(&plain).trim_end_matches('_').to_owned()
}

/// Whether a character goes on with the sign of an operator that may be taken for a bracket.
fn is_sign(sign: Option<&str>, c: char) -> bool {
    const SIGNS: [&str; 11] = ["<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "<", ">"];
    sign.is_some_and(|sign| {
        let sign = format!("{sign}{c}");
        SIGNS.iter().any(|known| known.starts_with(&sign))
    })
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn the_last_part_of_a_name_is_compared() {
        for (name, expected) in [
            ("a::b::step", "step"),
            ("ns::twice<a::b<int>>", "twice"),
            ("Vec<T>::push", "push"),
            ("a::operator<", "operator<"),
            ("a::operator<<(int)", "operator<<"),
            ("a::operator()", "operator()"),
            ("a::operator-><int>", "operator->"),
            ("operator-<double*, std::vector<double> >", "operator-"),
            ("operator< <int>", "operator<"),
            ("a::operator<=><int>", "operator<=>"),
            ("f(a::b, int)", "f"),
            ("MPI_Send", "mpi_send"),
            ("mpi_send_", "mpi_send"),
        ] {
            assert_eq!(key(name), expected, "{name}");
        }
    }
}
