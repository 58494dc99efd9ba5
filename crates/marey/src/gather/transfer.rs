//! One file of a recording on its way home.
//!
//! The one idea: it is copied aside, read back, renamed, and only then removed where it was; on one file
//! system a new name does. Holes stay
//! holes: windows are given back to the disk in part, and a copy could be several times as long.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::Gathered;

/// Bytes that are read at a time; a hole that is as long is one in the copy.
const BLOCK: usize = 64 << 10;

/// Moves one file from `place` to `home`. What is not a file of ours is counted and left.
pub(super) fn bring_file(
    place: &Path,
    home: &Path,
    name: &OsStr,
    gathered: &mut Gathered,
) -> anyhow::Result<()> {
    let (from, to) = (place.join(name), home.join(name));
    let Some(source) = open_ours(&from)? else {
        gathered.strange += 1;
        return Ok(());
    };
    // Asked before the copy: of a process that has ended, all is there.
    let is_live = is_mapped(name);
    let data = source.metadata().with_context(|| cannot_read(&from))?;
    let has_arrived = has_arrived(&source, &to)?;
    remove_half(&aside(&to))?;
    let is_near = fs::metadata(home).is_ok_and(|home| home.dev() == data.dev());
    gathered.files += 1;
    gathered.bytes += data.len();
    if is_near && !is_live && !has_arrived {
        return fs::rename(&from, &to).with_context(|| format!("cannot write {}", to.display()));
    }
    if !has_arrived {
        copy(&source, is_live, &from, &to)?;
    }
    if is_live {
        gathered.recording += 1;
        return Ok(());
    }
    fs::remove_file(&from).with_context(|| format!("cannot remove {}", from.display()))
}

/// Opens a regular file of this user's; never follows a link, and never waits for a pipe.
fn open_ours(path: &Path) -> anyhow::Result<Option<File>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error)
            if error.raw_os_error() == Some(libc::ELOOP) || error.raw_os_error() == Some(libc::ENXIO) =>
        {
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        result => result.with_context(|| cannot_read(path))?,
    };
    let data = file.metadata().with_context(|| cannot_read(path))?;
    let is_ours = data.is_file() && data.uid() == rustix::process::geteuid().as_raw();
    Ok(is_ours.then_some(file))
}

/// Whether the same is at home already, from an earlier try that was cut short.
fn has_arrived(source: &File, to: &Path) -> anyhow::Result<bool> {
    match open_ours(to) {
        Ok(Some(copy)) => is_same(source, &copy).with_context(|| cannot_read(to)),
        Ok(None) => bail!("{} is in the way", to.display()),
        Err(_) if !to.exists() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what an earlier try, cut short, has copied.
fn remove_half(aside: &Path) -> anyhow::Result<()> {
    match fs::remove_file(aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.with_context(|| format!("cannot remove {}", aside.display())),
    }
}

/// Copies aside, reads back, and renames.
fn copy(source: &File, is_live: bool, from: &Path, to: &Path) -> anyhow::Result<()> {
    let aside = aside(to);
    let cannot = || format!("cannot write {}", aside.display());
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create_new(true).mode(0o600).open(&aside).with_context(cannot)?;
    let copied = copy_blocks(source, &file).and_then(|()| file.sync_all()).with_context(cannot);
    let verified = copied.and_then(|()| {
        // A process that goes on recording changes the source, which then comes again.
        if is_live || is_same(source, &file).with_context(cannot)? {
            return fs::rename(&aside, to).with_context(|| format!("cannot write {}", to.display()));
        }
        bail!("{} is not what was written: it differs from {}", aside.display(), from.display())
    });
    if verified.is_err() {
        // What is told is why it could not be copied.
        fs::remove_file(&aside).ok();
    }
    verified
}

/// Where a file lies until it is whole; a merge does not look at it.
fn aside(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".gathering");
    to.with_file_name(name)
}

fn copy_blocks(source: &File, copy: &File) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    loop {
        let len = read_block(source, &mut block, at)?;
        if len == 0 {
            return copy.set_len(at);
        }
        if block[..len].iter().any(|&byte| byte != 0) {
            copy.write_all_at(&block[..len], at)?;
        }
        at += len as u64;
    }
}

fn is_same(one: &File, other: &File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; BLOCK], vec![0; BLOCK]);
    let mut at = 0;
    loop {
        let (len, other_len) = (read_block(one, &mut left, at)?, read_block(other, &mut right, at)?);
        if len != other_len || left[..len] != right[..len] {
            return Ok(false);
        }
        if len == 0 {
            return Ok(true);
        }
        at += len as u64;
    }
}

/// As much as fits, or is there.
fn read_block(file: &File, block: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < block.len() {
        match file.read_at(&mut block[done..], at + done as u64) {
            Ok(0) => break,
            Ok(len) => done += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Whether a process of this machine has the file in its memory, and so still records: its name says which
/// process it would be, and holds a random number.
fn is_mapped(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let Some((stem, _)) = name.rsplit_once('.') else { return false };
    let mut parts = stem.rsplit('-');
    let Some(pid) = parts.nth(1).and_then(|pid| pid.parse::<u32>().ok()) else { return false };
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.windows(stem.len()).any(|part| part == stem.as_bytes())
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}
