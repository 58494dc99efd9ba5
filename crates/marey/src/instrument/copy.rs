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

use super::cargo::{self, ForBuildScript, Package};
use super::choose::{self, Choice};
use super::guard;
use super::tree::{Kind, Tree};
use crate::exit::Usage;

/// A directory that a copy can be written to.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    /// Looks whether the copy can be there.
    pub(super) fn find(root: &Path, copy: &Path, is_forced: bool) -> anyhow::Result<Self> {
        let shown = copy.display();
        let place = absolute(copy).with_context(|| format!("cannot find the directory of {shown}"))?;
        if place.starts_with(root) {
            bail!(Usage(format!(
                "{shown} lies within the sources: give a directory outside of {}",
                root.display()
            )));
        }
        if root.starts_with(&place) {
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
                    } else if let Some(package) = dependents.iter().find(|it| is_manifest(it, &entry.path)) {
                        let text = fs::read_to_string(&from).with_context(shown)?;
                        let build = for_build_script(root, tree, package);
                        let text = cargo::with_dependency(&text, &up(&package.directory), build);
                        write_like(&from, &to, text.as_bytes()).with_context(shown)?;
                    } else {
                        copy(&from, &to).with_context(shown)?;
                    }
                }
            }
        }
        if !dependents.is_empty() {
            self.write_crate(tree)?;
        }
        Ok(())
    }

    /// Writes the crate that guards of Rust come from.
    fn write_crate(&self, tree: &Tree) -> anyhow::Result<()> {
        if tree.entries.iter().any(|entry| entry.path == Path::new(cargo::CRATE)) {
            bail!("the sources have a directory {} of their own; instrument the original", cargo::CRATE);
        }
        let place = self.0.join(cargo::CRATE);
        directory(&place)?;
        for (name, text) in [("Cargo.toml", cargo::MANIFEST), ("lib.rs", guard::CRATE)] {
            let path = place.join(name);
            let shown = || format!("cannot write {}", path.display());
            make_way(&path).with_context(shown)?;
            fs::write(&path, text).with_context(shown)?;
        }
        Ok(())
    }
}

/// Packages that have guards.
fn dependents<'p>(packages: &'p [Package], guarded: &FxHashMap<&Path, &choose::File>) -> Vec<&'p Package> {
    let mut found = FxHashSet::default();
    let rust = guarded.iter().filter(|(_, file)| file.language == Language::Rust);
    for (path, _) in rust {
        let around = packages.iter().enumerate().filter(|(_, package)| path.starts_with(&package.directory));
        found.extend(
            around.max_by_key(|(_, package)| package.directory.components().count()).map(|(row, _)| row),
        );
    }
    packages.iter().enumerate().filter(|(row, _)| found.contains(row)).map(|(_, package)| package).collect()
}

fn is_manifest(package: &Package, path: &Path) -> bool {
    path.strip_prefix(&package.directory).is_ok_and(|path| path == Path::new("Cargo.toml"))
}

/// A build script that takes in a file of the package takes in its guards.
fn for_build_script(root: &Path, tree: &Tree, package: &Package) -> ForBuildScript {
    let script = tree.entries.iter().find(|entry| package.is_build_script(&entry.path));
    let text = script.and_then(|entry| fs::read_to_string(root.join(&entry.path)).ok()).unwrap_or_default();
    match text.contains("include!") || text.contains("#[path") {
        true => ForBuildScript::Too,
        false => ForBuildScript::No,
    }
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
