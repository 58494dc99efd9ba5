//! Sources that somebody else wrote, and what another tool reads in them.
//!
//! The one idea: a row is a file, a line and a name; two sets of rows are compared, and each test says how much they may
//! differ and why.

pub(crate) mod clang;
mod cpp;
mod fortran;
mod million;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_source::text::{Language, Sources};
use serde_json::Value;

/// What both know: a file by its path, the line of the name, the name in small letters and without blanks.
pub(crate) type Row = (String, u32, String);

pub(crate) fn row(path: &str, line: u32, name: &str) -> Row {
    let name = name.rsplit("::").next().unwrap_or(name);
    let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    (path.to_owned(), line, name.to_ascii_lowercase())
}

/// The directory of the sources of a crate that this one depends on.
pub(crate) fn crate_directory(name: &str) -> PathBuf {
    crate_directories().into_iter().find(|(known, _)| known == name).unwrap().1
}

/// Names of all crates that this workspace is made of, with the directories of their sources.
pub(crate) fn crate_directories() -> Vec<(String, PathBuf)> {
    // Crates that only other systems need are not there.
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", host.trim()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |package: &Value, field: &str| package[field].as_str().unwrap().to_owned();
    let directory =
        |package: &Value| PathBuf::from(text(package, "manifest_path")).parent().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(|package| (text(package, "name"), directory(package))).collect()
}

/// Examples of PETSc, of whichever version; `None` = there are none.
pub(crate) fn petsc() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/share/petsc").ok()?.flatten();
    versions.map(|it| it.path().join("share/petsc/examples/src")).find(|path| path.is_dir())
}

/// What ctags reads below a directory.
#[derive(Default)]
pub(crate) struct Tags {
    /// With the last line, where it tells that.
    pub(crate) functions: Vec<(Row, Option<u32>)>,
    pub(crate) types: Vec<(Row, Option<u32>)>,
    pub(crate) members: BTreeSet<Row>,
}

/// Asks ctags; `None`, said aloud, if it is not there.
pub(crate) fn ctags(directory: &Path, language: Language) -> Option<Tags> {
    let (name, functions, types, members) = match language {
        Language::C | Language::Cpp => (
            "C,C++",
            &["function"][..],
            &["class", "struct", "union", "enum"][..],
            &["member", "enumerator"][..],
        ),
        Language::Rust => (
            "Rust",
            &["function", "method"][..],
            &["struct", "enum", "interface", "union"][..],
            &["field", "enumerator"][..],
        ),
        _ => ("Fortran", &["function", "subroutine", "program"][..], &["type"][..], &["component"][..]),
    };
    let output = Command::new("ctags")
        .args(["-R", "--output-format=json", "--fields=+neKs", "--langmap=C++:+.tcc.inl", "-f", "-"])
        .arg(format!("--languages={name}"))
        .arg(directory)
        .output();
    let Ok(output) = output else {
        marey_testkit::skip("ctags");
        return None;
    };
    let mut tags = Tags::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let tag: Value = serde_json::from_str(line).unwrap();
        let (Some(path), Some(at), Some(name)) =
            (tag["path"].as_str(), tag["line"].as_u64(), tag["name"].as_str())
        else {
            continue;
        };
        let row = row(path, u32::try_from(at).unwrap(), name);
        let end = tag["end"].as_u64().map(|end| u32::try_from(end).unwrap());
        let kind = tag["kind"].as_str().unwrap_or_default();
        // What has no name, ctags gives one.
        if name.starts_with("__anon") {
            continue;
        }
        if functions.contains(&kind) {
            tags.functions.push((row, end));
        } else if types.contains(&kind) {
            tags.types.push((row, end));
        } else if members.contains(&kind) {
            tags.members.insert(row);
        }
    }
    Some(tags)
}

/// Rows of ours, with the last lines.
pub(crate) fn functions(it: &Sources) -> Vec<(Row, u32)> {
    it.functions.iter().map(|of| (row(it.path(of.file), of.line, it.text(of.name)), of.lines.last)).collect()
}

pub(crate) fn types(it: &Sources) -> Vec<(Row, u32)> {
    it.types.iter().map(|of| (row(it.path(of.file), of.line, it.text(of.name)), of.lines.last)).collect()
}

pub(crate) fn members(it: &Sources) -> BTreeSet<Row> {
    it.members.iter().map(|of| row(it.path(of.file), of.line, it.text(of.name))).collect()
}

/// How many rows another tool knows, and which of them we do not, or end elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    pub(crate) all: usize,
    pub(crate) missing: Vec<Row>,
    pub(crate) ends: Vec<(Row, u32, u32)>,
    /// How many rows it knows the end of.
    pub(crate) compared: usize,
}

impl Difference {
    pub(crate) fn of(ours: &[(Row, u32)], theirs: &[(Row, Option<u32>)]) -> Self {
        let mut it = Self { all: theirs.len(), ..Self::default() };
        // Of several at one line the first.
        let ours: BTreeMap<&Row, u32> = ours.iter().rev().map(|(row, last)| (row, *last)).collect();
        for (row, end) in theirs {
            match ours.get(row) {
                None => it.missing.push(row.clone()),
                Some(last) => {
                    it.compared += usize::from(end.is_some());
                    if let Some(end) = end.filter(|end| end != last) {
                        it.ends.push((row.clone(), *last, end));
                    }
                }
            }
        }
        it
    }

    /// At least so many rows are known, and at most so many of a thousand are missing.
    pub(crate) fn check(&self, least: usize, per_mille: usize) -> &Self {
        assert!(least <= self.all, "ctags knows {} rows only", self.all);
        let missing = self.missing.len();
        assert!(missing * 1000 <= self.all * per_mille, "{missing} of {}: {:#?}", self.all, self.missing);
        self
    }

    /// Of so many rows the end is known, and at most so many of a thousand end elsewhere.
    pub(crate) fn check_ends(&self, least: usize, per_mille: usize) {
        assert!(least <= self.compared, "ctags knows the end of {} rows only", self.compared);
        let ends = self.ends.len();
        assert!(ends * 1000 <= self.compared * per_mille, "{ends} of {}: {:#?}", self.compared, self.ends);
    }
}
