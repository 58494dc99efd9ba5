//! Files of an archive that were opened lately.
//!
//! The one idea: who looks at a picture asks for the next one at once, and of a long run hundreds of files may have a
//! part of it. To open one takes as long as to read a page or two, so the last ones stay open.
//!
//! What is deliberately absent: rows that were read from them. A file keeps the bounds of its pages, for as long as it is open.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::file::PartFile;

/// More files than this are not kept: each has a descriptor, of which a process has some thousand.
const MOST: usize = 256;

/// Open files by name, and whether the index of their pages was read.
#[derive(Debug, Default)]
pub(super) struct Opened {
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    kept: FxHashMap<(Box<str>, bool), Kept>,
    /// Counts what was asked for.
    now: u64,
}

#[derive(Debug)]
struct Kept {
    file: Arc<PartFile>,
    used: u64,
}

impl Opened {
    /// A file, if it is open.
    pub(super) fn get(&self, name: &str, indexed: bool) -> Option<Arc<PartFile>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.now += 1;
        let now = files.now;
        let kept = files.kept.get_mut(&(name.into(), indexed))?;
        kept.used = now;
        Some(Arc::clone(&kept.file))
    }

    /// Keeps none any more.
    pub(super) fn clear(&self) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).kept.clear();
    }

    /// Keeps a file, for which the one may go that was used least lately.
    pub(super) fn put(&self, name: &str, indexed: bool, file: &Arc<PartFile>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.kept.len() >= MOST {
            let oldest = files.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(name, _)| name.clone());
            oldest.map(|name| files.kept.remove(&name));
        }
        let used = files.now;
        files.kept.insert((name.into(), indexed), Kept { file: Arc::clone(file), used });
    }
}
