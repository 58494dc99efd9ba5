//! What is read from the Fortran of other people is what ctags and gfortran read there.

use std::path::Path;
use std::process::Command;

use super::{Difference, Row, ctags, functions, members, petsc, types};
use marey_source::text::{CallKind, Language, Sources, TextConfig};

/// ctags does not tell where functions of Fortran end; there the last line says so, and most say of what.
fn ends_are_named(it: &Sources) -> usize {
    let mut named = 0;
    for of in it.functions.iter().filter(|of| it.files[of.file as usize].language == Language::Fortran) {
        let text = std::fs::read(it.path(of.file)).unwrap();
        let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
        let last = text.lines().nth(of.lines.last as usize - 1).unwrap().trim().to_owned();
        let words: Vec<&str> = last.split_whitespace().collect();
        let place = || format!("{}:{} {last}", it.path(of.file), of.lines.last);
        assert!(last.starts_with("end"), "{}", place());
        let says = if words[0] == "end" { words.get(2) } else { words.get(1) };
        if let Some(name) = says.filter(|name| !name.starts_with('!')) {
            let full = it.text(of.name).to_ascii_lowercase();
            assert_eq!(Some(*name), full.rsplit("::").next(), "{}", place());
            named += 1;
        }
    }
    named
}

/// Examples of PETSc, in Fortran and in C: macros stand for types and calls in both.
#[test]
fn programs_with_mpi_are_read_as_ctags_reads_them() {
    let Some(directory) = petsc() else { return marey_testkit::skip("examples of PETSc") };
    let Some(tags) = ctags(&directory, Language::C) else { return };
    let it = Sources::of(&directory, &TextConfig::system());
    Difference::of(&functions(&it), &tags.functions).check(3000, 5).check_ends(3000, 5);
    Difference::of(&types(&it), &tags.types).check(80, 5).check_ends(80, 5);
    let ours = members(&it);
    let missing: Vec<&Row> = tags.members.difference(&ours).collect();
    assert!(2000 < tags.members.len() && missing.len() * 200 <= tags.members.len(), "{missing:?}");

    let tags = ctags(&directory, Language::Fortran).unwrap_or_default();
    Difference::of(&functions(&it), &tags.functions).check(300, 5);
    Difference::of(&types(&it), &tags.types).check(5, 0);
    let missing: Vec<&Row> = tags.members.difference(&ours).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let named = ends_are_named(&it);
    assert!(50 <= named, "{named} ends");
}

/// Loops and calls of subroutines by the tree that gfortran makes of a file, in the order of the text. It has no lines.
#[derive(Default, Debug, PartialEq, Eq)]
struct Ordered {
    /// In how many others each loop is.
    loops: Vec<usize>,
    /// Name in small letters, and in how many loops.
    calls: Vec<(String, usize)>,
}

/// Asks gfortran; `None`, if it is not there. Loops that are implied in reading and writing are none of the text's.
fn gfortran(path: &Path) -> Option<Ordered> {
    let output =
        Command::new("gfortran").args(["-fsyntax-only", "-fdump-parse-tree"]).arg(path).output().ok()?;
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    let mut found = Ordered::default();
    // What ends each open loop: a label, or words.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut moves_data = false;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let label: String = line.chars().take_while(char::is_ascii_digit).collect();
        let words: Vec<&str> = line[label.len()..].split_whitespace().collect();
        match words.as_slice() {
            ["READ" | "WRITE", ..] => moves_data = true,
            ["DT_END", ..] => moves_data = false,
            ["DO", next, ..] if !moves_data => {
                found.loops.push(open.len());
                open.push(next.parse::<u32>().is_ok().then(|| (*next).to_owned()));
            }
            ["END", "DO"] if !moves_data => drop(open.pop()),
            ["CALL", name, ..] => found.calls.push(((*name).to_owned(), open.len())),
            _ => {}
        }
        // One statement can be the last of several loops.
        while !label.is_empty() && open.last().is_some_and(|end| end.as_ref() == Some(&label)) {
            open.pop();
        }
    }
    assert!(open.is_empty() && !moves_data, "{}", path.display());
    Some(found)
}

/// Of SLICOT's examples those that compile alone: all of them, in fixed form.
#[test]
fn loops_and_calls_are_those_of_gfortran() {
    let directory = Path::new("/usr/share/doc/libslicot-doc/examples/fortran77");
    let Ok(files) = std::fs::read_dir(directory) else { return marey_testkit::skip("examples of SLICOT") };
    let (mut n_loops, mut n_calls) = (0, 0);
    for path in files.map(|file| file.unwrap().path()) {
        if path.extension().is_none_or(|it| it != "f") {
            continue;
        }
        let Some(theirs) = gfortran(&path) else { return marey_testkit::skip("gfortran") };
        let it = Sources::of(&path, &TextConfig::system());
        let mut loops: Vec<_> = it.loops.iter().map(|of| (of.lines.first, of.depth as usize - 1)).collect();
        loops.sort_unstable();
        let name = |call: &marey_source::text::Call| it.text(call.name).to_ascii_lowercase();
        // Functions are called, too; gfortran names them elsewhere.
        let is_subroutine =
            |call: &marey_source::text::Call| theirs.calls.iter().any(|(it, _)| *it == name(call));
        let mut calls: Vec<_> = it
            .calls
            .iter()
            .filter(|call| call.kind == CallKind::Direct && is_subroutine(call))
            .map(|call| {
                let depth = call.within.map_or(0, |within| it.loops[within as usize].depth as usize);
                (call.line, name(call), depth)
            })
            .collect();
        calls.sort_unstable();
        let ours = Ordered {
            loops: loops.into_iter().map(|(_, depth)| depth).collect(),
            calls: calls.into_iter().map(|(_, name, depth)| (name, depth)).collect(),
        };
        assert_eq!(ours, theirs, "{}", path.display());
        n_loops += theirs.loops.len();
        n_calls += theirs.calls.len();
    }
    assert!(200 <= n_loops && 150 <= n_calls, "{n_loops} loops, {n_calls} calls");
}
