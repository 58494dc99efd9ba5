//! Writing the copy.
//!
//! The one idea: whatever is written is a new file in a directory that is none of the sources', so no link can lead a
//! write back to them. What has no guard keeps its time, so that tools which compare times see what they saw; what has one
//! is new, and is compiled again.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use marey_source::text::Language;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cargo::{self, Package};
use super::choose::{self, Choice};
use super::guard;
use super::tree::{Kind, Tree};
use crate::exit::Usage;

/// A directory that a copy can be written to.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    /// Looks whether the copy can be there.
    ///
    /// Beside a single source there may be a copy, for nothing else is copied.
    pub(super) fn find(root: &Path, copy: &Path, is_single: bool, is_forced: bool) -> anyhow::Result<Self> {
        let shown = copy.display();
        let place = absolute(copy).with_context(|| format!("cannot find the directory of {shown}"))?;
        if place == root || !is_single && place.starts_with(root) {
            bail!(Usage(format!(
                "{shown} lies within the sources: give a directory outside of {}",
                root.display()
            )));
        }
        if !is_single && root.starts_with(&place) {
            bail!(Usage(format!("the sources lie within {shown}: give a directory of its own")));
        }
        match fs::read_dir(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot write to {shown}")),
            Ok(mut entries) => {
                if entries.next().is_some() && !is_forced {
                    bail!(Usage(format!(
                        "{shown} is not empty: give another directory, or --force to write into it"
                    )));
                }
            }
        }
        Ok(Self(place))
    }

    /// Writes the copy.
    pub(super) fn write(
        &self,
        root: &Path,
        tree: &Tree,
        choice: &Choice,
        packages: &[Package],
    ) -> anyhow::Result<()> {
        let guarded = choice.files.iter().filter(|file| !file.guards.is_empty());
        let guarded: FxHashMap<&Path, &choose::File> =
            guarded.map(|file| (file.path.as_path(), file)).collect();
        let dependents = dependents(packages, &guarded);
        let crate_ = cargo::crate_of(root);
        if let Some(path) = already_guarded(root, &guarded)? {
            bail!(Usage(format!(
                "{} is instrumented already: give the original of {}",
                path.display(),
                root.display()
            )));
        }
        directory(&self.0)?;
        for entry in &tree.entries {
            let (from, to) = (root.join(&entry.path), self.0.join(&entry.path));
            let shown = || format!("cannot copy {}", from.display());
            match &entry.kind {
                Kind::Directory => directory(&to)?,
                Kind::Link(target) => {
                    make_way(&to).with_context(shown)?;
                    symlink(target, &to).with_context(shown)?;
                }
                Kind::File => {
                    if let Some(file) = guarded.get(entry.path.as_path()) {
                        let text = fs::read(&from).with_context(shown)?;
                        if text.len() != file.len {
                            bail!("{}: it was changed while it was read; try again", from.display());
                        }
                        let text = guard::with_guards(&text, &file.path, file.language, &file.guards);
                        let text = text.map_err(|why| anyhow!("{}: {why}", from.display()))?;
                        write_like(&from, &to, &text).with_context(shown)?;
                    } else if let Some(package) = dependents.get(&entry.path) {
                        let text = fs::read_to_string(&from).with_context(shown)?;
                        let build = package.for_build_script();
                        let text = cargo::with_dependency(&text, &up(&package.directory), &crate_, build);
                        write_like(&from, &to, text.as_bytes()).with_context(shown)?;
                    } else {
                        copy(&from, &to).with_context(shown)?;
                    }
                }
            }
        }
        if !dependents.is_empty() {
            self.write_crate(tree, &crate_)?;
        }
        Ok(())
    }

    /// Writes the crate that guards of Rust come from.
    fn write_crate(&self, tree: &Tree, crate_: &str) -> anyhow::Result<()> {
        if tree.entries.iter().any(|entry| entry.path == Path::new(cargo::CRATE)) {
            bail!("the sources have a directory {} of their own; instrument the original", cargo::CRATE);
        }
        let place = self.0.join(cargo::CRATE);
        directory(&place)?;
        for (name, text) in [("Cargo.toml", &*cargo::manifest(crate_)), ("lib.rs", guard::CRATE)] {
            let path = place.join(name);
            let shown = || format!("cannot write {}", path.display());
            make_way(&path).with_context(shown)?;
            fs::write(&path, text).with_context(shown)?;
        }
        Ok(())
    }
}

/// The first source that is to have guards and has some.
fn already_guarded(
    root: &Path,
    guarded: &FxHashMap<&Path, &choose::File>,
) -> anyhow::Result<Option<PathBuf>> {
    let mut paths: Vec<&Path> = guarded.keys().copied().collect();
    paths.sort_unstable();
    for path in paths {
        let from = root.join(path);
        let text = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        if guard::has_guards(&text) {
            return Ok(Some(from));
        }
    }
    Ok(None)
}

/// Packages that have guards, by their manifests.
fn dependents<'p>(
    packages: &'p [Package],
    guarded: &FxHashMap<&Path, &choose::File>,
) -> FxHashMap<PathBuf, &'p Package> {
    let rust = guarded.iter().filter(|(_, file)| file.language == Language::Rust);
    let rows: FxHashSet<usize> = rust.filter_map(|(path, _)| cargo::around(packages, path)).collect();
    rows.into_iter().map(|row| (packages[row].directory.join("Cargo.toml"), &packages[row])).collect()
}

/// The way from a directory to the root above it.
fn up(directory: &Path) -> String {
    directory.components().map(|_| "../").collect()
}

/// A path without links and dots, of which the last parts may not be there.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let mut whole = std::path::absolute(path)?;
    let mut missing = Vec::new();
    loop {
        match whole.canonicalize() {
            Ok(found) => return Ok(found.join(missing.iter().rev().collect::<PathBuf>())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(error) => match whole.components().next_back() {
                Some(Component::Normal(name)) => {
                    missing.push(PathBuf::from(name));
                    whole.pop();
                }
                _ => return Err(error),
            },
        }
    }
}

/// Makes a directory, if it is not there. A link that is there might lead back to the sources.
fn directory(path: &Path) -> anyhow::Result<()> {
    let shown = || format!("cannot make the directory {}", path.display());
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => bail!("{} is there and no directory; remove it", path.display()),
        Err(_) => fs::create_dir_all(path).with_context(shown),
    }
}

/// Removes what would be written through.
fn make_way(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    make_way(path)?;
    File::options().write(true).create_new(true).mode(mode).open(path)
}

fn write_like(from: &Path, to: &Path, text: &[u8]) -> io::Result<()> {
    let mode = fs::metadata(from)?.permissions().mode();
    create(to, mode | OWNER_WRITES)?.write_all(text)
}

/// Copies may be built in, whatever sources are.
const OWNER_WRITES: u32 = 0o200;

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let metadata = source.metadata()?;
    let mut target = create(to, metadata.permissions().mode() | OWNER_WRITES)?;
    io::copy(&mut (&source).take(metadata.len()), &mut target)?;
    target.set_times(fs::FileTimes::new().set_modified(metadata.modified()?))
}
