//! Which runs were recorded and looked at lately.
//!
//! The one idea: a list of paths in a file of the user's, so that a run is found again from anywhere. It is a convenience:
//! where it cannot be written or read nothing is said, and nothing else depends on it.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// More are forgotten.
const MOST: usize = 100;

/// Puts a run at the head of the list.
pub(crate) fn remember(run: &Path) {
    // Without a list there is nothing to find later, and that is all.
    try_to(run).ok();
}

fn try_to(run: &Path) -> io::Result<()> {
    let Some(file) = file() else { return Ok(()) };
    let run = run.canonicalize()?;
    // A line is a path.
    if run.as_os_str().as_bytes().contains(&b'\n') {
        return Ok(());
    }
    let mut paths = paths();
    if paths.first() == Some(&run) {
        return Ok(());
    }
    paths.retain(|it| *it != run);
    paths.insert(0, run);
    let mut text = Vec::new();
    for path in paths.iter().take(MOST) {
        text.extend_from_slice(path.as_os_str().as_bytes());
        text.push(b'\n');
    }
    let directory = file.parent().unwrap_or(Path::new("/"));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // Whoever reads meanwhile reads the old list or the new one.
    let (aside, mut new) = marey_archive::Aside::new(&file)?;
    new.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    new.write_all(&text)?;
    aside.put(&file)
}

/// The list, the latest first.
pub(crate) fn paths() -> Vec<PathBuf> {
    // What is no file, a pipe for one, might keep us waiting.
    let text =
        file().filter(|file| file.is_file()).and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"/"));
    lines.take(MOST).map(|line| PathBuf::from(OsString::from_vec(line.to_vec()))).collect()
}

fn file() -> Option<PathBuf> {
    Some(state()?.join("runs"))
}

/// Where what is kept from one time to the next stands, by the XDG Base Directory Specification.
pub(crate) fn state() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local").join("state")))?;
    Some(state.join("marey"))
}
