//! What is read from the C++ of other people is what clang reads there.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::clang::{Tree, clang, plain};
use super::row;
use marey_source::text::{Access, Attribute, LoopKind, Sources, TextConfig};

/// Headers of the standard library, which is a program of its own: containers, streams, threads, random numbers.
const HEADERS: [&str; 13] = [
    "map",
    "unordered_map",
    "list",
    "deque",
    "regex",
    "random",
    "algorithm",
    "iostream",
    "fstream",
    "thread",
    "future",
    "filesystem",
    "memory_resource",
];

const fn word(access: Access) -> &'static str {
    match access {
        Access::Public => "public",
        Access::Protected => "protected",
        Access::Private => "private",
    }
}

/// The name of a function; where one turns an object into another type, that is written in many ways.
fn short(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name);
    let is_conversion = name.strip_prefix("operator ").is_some_and(|it| it != "new" && it != "delete");
    if is_conversion { "operator" } else { name }
}

/// The same of the text.
fn read(paths: &[PathBuf]) -> Tree {
    let it = Sources::of_files(paths, &TextConfig::system());
    let mut tree = Tree::default();
    for of in &it.functions {
        let function = row(it.path(of.file), of.line, short(it.text(of.name)));
        tree.functions.insert((function, of.lines.last));
    }
    for of in &it.types {
        let name = plain(it.text(of.name));
        // Clang has no name for what has none.
        if !name.starts_with('(') {
            tree.types.insert((row(it.path(of.file), of.line, &name), of.lines.last));
        }
    }
    for of in &it.members {
        let member = row(it.path(of.file), of.line, short(it.text(of.name)));
        tree.members.insert((member, word(of.access).to_owned(), of.attributes.has(Attribute::Virtual)));
    }
    for of in &it.bases {
        let (derived, base) = (plain(it.text(of.derived_name)), plain(it.text(of.base_name)));
        tree.bases.insert((
            it.path(of.file).to_owned(),
            derived,
            base,
            word(of.access).to_owned(),
            of.is_virtual,
        ));
    }
    for of in it.loops.iter().filter(|of| of.kind != LoopKind::Iterator) {
        tree.loops.insert((it.path(of.file).to_owned(), of.lines.first, of.lines.last));
    }
    for of in &it.calls {
        tree.calls.insert(row(it.path(of.file), of.line, it.text(of.name)));
    }
    tree
}

/// Of what clang knows in files that were read, at most so many of a thousand are missing; and of what we know so many are
/// unknown to clang, as conditions that are not met hide it.
struct Bound {
    what: &'static str,
    least: usize,
    missing: usize,
    more: usize,
}

impl Bound {
    fn check<K: Ord + Debug>(&self, ours: &BTreeSet<K>, theirs: &BTreeSet<K>) {
        let missing: Vec<&K> = theirs.difference(ours).collect();
        let more: Vec<&K> = ours.difference(theirs).collect();
        let Self { what, least, .. } = self;
        assert!(*least <= theirs.len(), "clang knows {} {what} only", theirs.len());
        let (n_missing, n_more) = (missing.len(), more.len());
        assert!(
            n_missing * 1000 <= theirs.len() * self.missing,
            "{what}: {n_missing} are missing: {missing:#?}"
        );
        assert!(n_more * 1000 <= ours.len() * self.more, "{what}: {n_more} only we know: {more:#?}");
    }
}

#[test]
fn a_library_of_cpp_is_read_as_clang_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.cpp");
    std::fs::write(&path, HEADERS.map(|it| format!("#include <{it}>\n")).concat()).unwrap();
    let Some(mut theirs) = clang(&path, &["-std=c++17".to_owned()]) else { return };
    let mut files: BTreeSet<String> = theirs.functions.iter().map(|((path, ..), _)| path.clone()).collect();
    files.extend(theirs.types.iter().map(|((path, ..), _)| path.clone()));
    // Those without an ending are no sources to us.
    files.retain(|path| Sources::has_source_name(Path::new(path)));
    let ours = read(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
    theirs.retain(&files);
    // What is missing stands behind words that macros stand for, or where both branches of a condition begin one thing.
    let bound = |what, least, missing, more| Bound { what, least, missing, more };
    bound("functions", 5000, 15, 150).check(&ours.functions, &theirs.functions);
    bound("types", 900, 15, 150).check(&ours.types, &theirs.types);
    bound("members", 5000, 25, 150).check(&ours.members, &theirs.members);
    // Some are derived from what their template is given.
    bound("bases", 250, 20, 80).check(&ours.bases, &theirs.bases);
    bound("loops", 500, 5, 80).check(&ours.loops, &theirs.loops);
    // Objects are made in the words of calls.
    bound("calls", 8000, 8, 500).check(&ours.calls, &theirs.calls);
}
