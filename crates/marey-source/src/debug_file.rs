//! Finds the separate debug file of a module, the way gdb does: by build id, then by `.gnu_debuglink`.
//!
//! A file is only used when it proves to belong to the module: same build id, or the CRC of the link.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::elf::{Head, file_crc, read_head};
use crate::problem::{BuildId, Problem, Problems};

/// The path and head of the debug file of a module with `build_id`, whose own file said `link`.
pub(crate) fn find(
    module: &Path,
    build_id: &BuildId,
    link: Option<&(PathBuf, u32)>,
    roots: &[PathBuf],
    problems: &mut Problems,
) -> Option<(PathBuf, Head)> {
    for path in by_build_id(build_id, roots) {
        if let Some(head) = open(&path, problems).filter(|head| head.has_dwarf || !head.symbols.is_empty()) {
            if head.build_id == *build_id {
                return Some((path, head));
            }
            problems.report(Problem::DebugFileMismatch { path });
        }
    }
    let (name, crc) = link?;
    for path in by_link(module, name, roots) {
        // A link may name the file it stands in.
        if path == module {
            continue;
        }
        if let Some(head) = open(&path, problems) {
            if belongs(&path, &head, build_id, *crc) {
                return Some((path, head));
            }
            problems.report(Problem::DebugFileMismatch { path });
        }
    }
    None
}

/// Where the file with `build_id` may lie, named by a link next to `beside`: for supplementary files.
pub(crate) fn find_supplementary(
    beside: &Path,
    name: &Path,
    build_id: &BuildId,
    roots: &[PathBuf],
    problems: &mut Problems,
) -> Option<PathBuf> {
    let beside_dir = beside.parent().unwrap_or(Path::new("/"));
    let candidates = std::iter::once(beside_dir.join(name)).chain(by_build_id(build_id, roots));
    for path in candidates {
        if open(&path, problems).is_some_and(|head| head.build_id == *build_id) {
            return Some(path);
        }
    }
    problems.report(Problem::DebugPartMissing { path: beside_dir.join(name) });
    None
}

fn belongs(path: &Path, head: &Head, build_id: &BuildId, crc: u32) -> bool {
    if !head.build_id.0.is_empty() && !build_id.0.is_empty() {
        // The stronger proof, and it spares reading the whole file.
        return head.build_id == *build_id;
    }
    file_crc(path).is_ok_and(|found| found == crc)
}

fn open(path: &Path, problems: &mut Problems) -> Option<Head> {
    match read_head(path) {
        Ok(head) => Some(head),
        // Most candidates do not exist; that is no problem.
        Err(Problem::Unreadable { kind: std::io::ErrorKind::NotFound, .. }) => None,
        Err(problem) => {
            problems.report(problem);
            None
        }
    }
}

fn by_build_id(build_id: &BuildId, roots: &[PathBuf]) -> Vec<PathBuf> {
    let hex = build_id.to_string();
    // A build id of one byte has no file name.
    if build_id.0.len() < 2 {
        return Vec::new();
    }
    let (dir, file) = hex.split_at(2);
    roots.iter().map(|root| root.join(".build-id").join(dir).join(format!("{file}.debug"))).collect()
}

fn by_link(module: &Path, name: &Path, roots: &[PathBuf]) -> Vec<PathBuf> {
    // Only a plain file name is a link; anything else could lead out of the places below.
    let (Some(dir), Some(file_name)) = (module.parent(), name.file_name()) else { return Vec::new() };
    let mut candidates = vec![dir.join(file_name), dir.join(".debug").join(file_name)];
    for root in roots {
        let mut path = OsString::from(root);
        path.push("/");
        path.push(std::ffi::OsStr::from_bytes(dir.as_os_str().as_bytes()));
        candidates.push(PathBuf::from(path).join(file_name));
    }
    candidates
}
