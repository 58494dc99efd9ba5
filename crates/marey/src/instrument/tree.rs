//! What a source tree consists of, and what of it a copy needs.
//!
//! The one idea: the tree is walked once, in the order of names, and everything that is to be written is a row; so what
//! cannot be copied is known before anything is. Links are not followed.
//!
//! It writes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};

use super::built;
use crate::format;

/// More levels than a source tree has.
const MOST_LEVELS: usize = 256;
/// More files than a source tree has: five times those of the largest kernels and browsers.
const MOST_ENTRIES: usize = 2_000_000;
/// More bytes than a source tree has; what is larger holds data that a copy would double.
const MOST_BYTES: u64 = 32 << 30;

/// Directories that tools of version control keep.
const HISTORY: [&str; 3] = [".git", ".hg", ".svn"];
/// Something that is to be in the copy.
#[derive(Debug)]
pub(super) struct Entry {
    /// Below the source tree.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Directory,
    File,
    /// With the place that the copy of the link leads to.
    Link(PathBuf),
}

/// Something that is not in the copy.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) path: PathBuf,
    pub(super) reason: &'static str,
}

/// A source tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Directories before what lies in them.
    pub(super) entries: Vec<Entry>,
    pub(super) left_out: Vec<LeftOut>,
    /// What is in the copy and may not do there what it does here.
    pub(super) problems: Vec<String>,
    bytes: u64,
}

impl Tree {
    /// Walks through a directory; of a single file, the tree is that file with what it includes from beside it. Paths are below `root`.
    pub(super) fn of(root: &Path, source: &Path) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        if root != source {
            tree.single(root, source.strip_prefix(root).unwrap_or(source));
            return Ok(tree);
        }
        let mut left = vec![PathBuf::new()];
        while let Some(directory) = left.pop() {
            tree.directory(root, &directory, &mut left)?;
        }
        tree.entries.sort_by(|one, other| one.path.cmp(&other.path));
        tree.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(tree)
    }

    /// A source, and what lies beside it or below and is included by `"…"`.
    fn single(&mut self, root: &Path, source: &Path) {
        let mut left = vec![source.to_owned()];
        let mut seen: BTreeSet<PathBuf> = left.iter().cloned().collect();
        while let Some(path) = left.pop() {
            let text = fs::read(root.join(&path)).unwrap_or_default();
            let directory = path.parent().unwrap_or(Path::new(""));
            for name in included(&text) {
                let included = directory.join(&name);
                if !root.join(&included).is_file() {
                    // It may lie where the compiler is told to look.
                    continue;
                }
                match below(&included) {
                    Some(included) if seen.len() < MOST_ENTRIES => {
                        if seen.insert(included.clone()) {
                            left.push(included);
                        }
                    }
                    _ => self.problems.push(format!(
                        "{} includes {name}, which is not in the copy; give the directory that has both",
                        path.display()
                    )),
                }
            }
        }
        let mut directories = BTreeSet::new();
        for path in &seen {
            let above = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
            directories.extend(above.map(Path::to_owned));
        }
        let directories = directories.into_iter().map(|path| Entry { path, kind: Kind::Directory });
        self.entries.extend(directories);
        self.entries.extend(seen.into_iter().map(|path| Entry { path, kind: Kind::File }));
        self.entries.sort_by(|one, other| one.path.cmp(&other.path));
    }

    fn directory(&mut self, root: &Path, directory: &Path, left: &mut Vec<PathBuf>) -> anyhow::Result<()> {
        let shown = || format!("cannot read {}", root.join(directory).display());
        for entry in fs::read_dir(root.join(directory)).with_context(shown)? {
            let entry = entry.with_context(shown)?;
            let path = directory.join(entry.file_name());
            if self.entries.len() == MOST_ENTRIES || MOST_LEVELS < path.components().count() {
                bail!(
                    "{} has more than {MOST_ENTRIES} files or {MOST_LEVELS} levels: give the directory of the sources",
                    root.display()
                );
            }
            let kind = entry.file_type().with_context(shown)?;
            if kind.is_dir() {
                match built(&entry.path()) {
                    Some(reason) => self.left_out.push(LeftOut { path, reason }),
                    None => {
                        left.push(path.clone());
                        self.entries.push(Entry { path, kind: Kind::Directory });
                    }
                }
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).with_context(shown)?;
                let target = led(root, directory, &target);
                self.entries.push(Entry { path, kind: Kind::Link(target) });
            } else if !kind.is_file() {
                self.left_out.push(LeftOut { path, reason: "it is no file: a pipe, a socket or a device" });
            } else if built::is_object(&entry.path()) {
                self.left_out
                    .push(LeftOut { path, reason: "a compiler has made it, of sources without guards" });
            } else if let Some(built::Build::OfCmake) = built::build(&entry.path(), root) {
                self.left_out.push(LeftOut {
                    path,
                    reason: "CMake has made it for this directory: run cmake in the copy",
                });
            } else {
                self.bytes = self.bytes.saturating_add(entry.metadata().with_context(shown)?.len());
                if MOST_BYTES < self.bytes {
                    bail!(
                        "{} has more than {}: give the directory of the sources",
                        root.display(),
                        format::bytes(MOST_BYTES)
                    );
                }
                if built::build(&entry.path(), root) == Some(built::Build::NamesRoot) {
                    self.problems.push(format!(
                        "{} names the directory {}: what is built by it may be the original; configure the copy anew",
                        path.display(),
                        root.display()
                    ));
                }
                self.entries.push(Entry { path, kind: Kind::File });
            }
        }
        Ok(())
    }
}

/// What a text includes by `"…"`.
fn included(text: &[u8]) -> Vec<String> {
    let name = |line: &[u8]| {
        let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"include")?;
        let name = rest.trim_ascii_start().strip_prefix(b"\"")?.split(|byte| *byte == b'"').next()?;
        String::from_utf8(name.to_vec()).ok().filter(|name| !name.starts_with('/'))
    };
    text.split(|byte| *byte == b'\n').filter_map(name).collect()
}

/// A path without dots; `None` = it leads above where it begins.
fn below(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => plain.pop().then_some(())?,
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    Some(plain)
}

/// Why a directory is no part of the sources.
fn built(directory: &Path) -> Option<&'static str> {
    let name = directory.file_name()?;
    if HISTORY.iter().any(|history| name == *history) {
        return Some("history");
    }
    // Cargo, and others, say by this file that a directory can be made again.
    let is_cache = directory.join("CACHEDIR.TAG").exists();
    let is_of_cmake = directory.join("CMakeCache.txt").exists()
        || name == "CMakeFiles" && directory.with_file_name("CMakeCache.txt").exists();
    let is_of_cargo = name == "target" && directory.with_file_name("Cargo.toml").exists();
    (is_cache || is_of_cmake || is_of_cargo).then_some("it was built, and can be built again")
}

/// Where the copy of a link must lead: to the copy of what it leads to, or to the same place if that is outside.
fn led(root: &Path, directory: &Path, target: &Path) -> PathBuf {
    if target.is_absolute() {
        return match target.strip_prefix(root) {
            Ok(inside) => {
                directory.components().map(|_| Component::ParentDir).collect::<PathBuf>().join(inside)
            }
            Err(_) => target.to_owned(),
        };
    }
    let mut depth = directory.components().count();
    for component in target.components() {
        match component {
            Component::ParentDir if depth == 0 => return root.join(directory).join(target),
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            _ => depth += 1,
        }
    }
    target.to_owned()
}
