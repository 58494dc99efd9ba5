//! What is read from the sources of other people is what ctags and clang read there.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

mod peers;

use std::collections::BTreeSet;
use std::path::PathBuf;

use marey_source::text::{CallKind, Language, LoopKind, Sources, TextConfig};
use peers::clang::{Span, clang};
use peers::{Difference, Row, crate_directory, ctags, functions, members, row, types};

/// Whether a row is a signature in a trait, which ctags takes for a method, and we for a member.
fn only_members(it: &Sources, difference: Difference) -> Difference {
    let members = members(it);
    let missing = difference.missing.into_iter().filter(|row| !members.contains(row)).collect();
    Difference { missing, ..difference }
}

/// ctags does not tell where functions of Rust end. Crates that rustfmt has formatted do: at the first brace that is set
/// in as far as the line that a function begins with.
fn ends_are_indented(it: &Sources) {
    let texts: Vec<String> =
        (0..).zip(&it.files).map(|(file, _)| std::fs::read_to_string(it.path(file)).unwrap()).collect();
    let mut compared = 0;
    for of in it.functions.iter().filter(|of| of.lines.first != of.lines.last) {
        let lines: Vec<&str> = texts[of.file as usize].lines().collect();
        let first = lines[of.lines.first as usize - 1];
        let end = format!("{}}}", &first[..first.len() - first.trim_start().len()]);
        let begun = lines.iter().enumerate().skip(of.lines.first as usize);
        let ended = begun.clone().find(|(_, line)| line.starts_with(&end)).map(|(place, _)| place + 1);
        assert_eq!(ended, Some(of.lines.last as usize), "{} {}", it.path(of.file), it.text(of.name));
        compared += 1;
    }
    assert!(1000 <= compared, "{compared}");
}

#[test]
fn rust_is_read_as_ctags_reads_it() {
    for name in ["rayon", "clap_builder", "regex-automata"] {
        // Not all of them need be dependencies for ever; those that are must agree.
        let directory = crate_directory(name).join("src");
        let Some(tags) = ctags(&directory, Language::Rust) else { return };
        let it = Sources::of(&directory, &TextConfig::system());
        // A macro's body is a pattern to us; and so is what it makes.
        only_members(&it, Difference::of(&functions(&it), &tags.functions)).check(1000, 5);
        Difference::of(&types(&it), &tags.types).check(100, 5);
        ends_are_indented(&it);
        let ours = members(&it);
        let missing: Vec<&Row> = tags.members.difference(&ours).collect();
        assert!(200 < tags.members.len() && missing.len() * 200 <= tags.members.len(), "{name}: {missing:?}");
    }
}

/// A program, not a library: what it is made of is in modules of one package.
#[test]
fn ripgrep_is_read_as_ctags_reads_it() {
    let beside = crate_directory("tree-sitter").parent().unwrap().to_owned();
    let versions = std::fs::read_dir(beside).unwrap().flatten().map(|it| it.path());
    let is_ripgrep = |it: &PathBuf| it.file_name().unwrap().to_string_lossy().starts_with("ripgrep-");
    let Some(directory) = versions.filter(|it| is_ripgrep(it)).max() else {
        return marey_testkit::skip("sources of ripgrep");
    };
    let Some(tags) = ctags(&directory, Language::Rust) else { return };
    let it = Sources::of(&directory, &TextConfig::system());
    only_members(&it, Difference::of(&functions(&it), &tags.functions)).check(1000, 5);
    Difference::of(&types(&it), &tags.types).check(150, 5);
    let ours = members(&it);
    let missing: Vec<&Row> = tags.members.difference(&ours).collect();
    assert!(200 < tags.members.len() && missing.len() * 200 <= tags.members.len(), "{missing:?}");
}

#[test]
fn c_is_read_as_ctags_reads_it() {
    let directory = crate_directory("tree-sitter").join("src");
    let Some(tags) = ctags(&directory, Language::C) else { return };
    let it = Sources::of(&directory, &TextConfig::system());
    // Macros that stand for attributes with arguments, and alternatives of one function.
    Difference::of(&functions(&it), &tags.functions).check(500, 30).check_ends(500, 5);
    // One structure is written in three ways under conditions, one of them in parts.
    Difference::of(&types(&it), &tags.types).check(5, 100).check_ends(5, 0);
    let ours = members(&it);
    let missing: Vec<&Row> = tags.members.difference(&ours).collect();
    assert!(200 < tags.members.len() && missing.len() * 100 <= tags.members.len(), "{missing:?}");
}

#[test]
fn cpp_is_read_as_ctags_reads_it() {
    let Some(directory) = libstdcxx() else { return marey_testkit::skip("g++") };
    let Some(tags) = ctags(&directory, Language::Cpp) else { return };
    let it = Sources::of(&directory, &TextConfig::system());
    // The hardest C++ that there is, for it is full of macros in place of words of the language. Ends differ at
    // constraints, where ctags ends too early, and in classes whose parts stand under conditions.
    Difference::of(&functions(&it), &tags.functions).check(5000, 20).check_ends(5000, 5);
    Difference::of(&types(&it), &tags.types).check(1000, 10).check_ends(1000, 10);
}

fn libstdcxx() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/include/c++")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("bits"))
        .collect();
    versions.sort();
    versions.pop().filter(|path| path.is_dir())
}

#[test]
fn loops_and_calls_of_c_are_those_of_clang() {
    let directory = crate_directory("tree-sitter");
    let include = |of: &str| format!("-I{}", directory.join(of).display());
    let flags = [include("src"), include("include"), "-D_DEFAULT_SOURCE".to_owned(), "-std=c11".to_owned()];
    let (mut n_loops, mut n_calls) = (0, 0);
    for name in
        ["parser.c", "query.c", "subtree.c", "lexer.c", "stack.c", "get_changed_ranges.c", "tree_cursor.c"]
    {
        let path = directory.join("src").join(name);
        let Some(mut theirs) = clang(&path, &flags) else { return };
        theirs.retain(&BTreeSet::from([path.display().to_string()]));
        let it = Sources::of(&path, &TextConfig::system());
        let whole = |kind| !matches!(kind, LoopKind::Iterator);
        let loops: BTreeSet<Span> = it
            .loops
            .iter()
            .filter(|it| whole(it.kind))
            .map(|of| (it.path(of.file).to_owned(), of.lines.first, of.lines.last))
            .collect();
        let calls: BTreeSet<Row> = it
            .calls
            .iter()
            .filter(|it| it.kind != CallKind::Unknown)
            .map(|call| row(it.path(call.file), call.line, it.text(call.name)))
            .collect();
        let missing: Vec<_> = theirs.loops.difference(&loops).collect();
        assert!(missing.is_empty(), "{name}: loops that only clang knows: {missing:?}");
        // What clang does not know stands under conditions that are not met.
        let more = loops.difference(&theirs.loops).count();
        assert!(more * 10 <= loops.len(), "{name}: {:?}", loops.difference(&theirs.loops));
        // What a macro is given is called where the macro stands.
        let missing: Vec<_> = theirs.calls.difference(&calls).collect();
        assert!(missing.len() * 50 <= theirs.calls.len(), "{name}: calls that only clang knows: {missing:?}");
        n_loops += theirs.loops.len();
        n_calls += theirs.calls.len();
    }
    assert!(200 <= n_loops + n_calls && 100 <= n_calls && 50 <= n_loops, "{n_loops} loops, {n_calls} calls");
}
