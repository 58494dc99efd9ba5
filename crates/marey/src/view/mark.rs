//! What tells a run that is open from another one that takes its place.
//!
//! The one idea: whoever writes a run writes its `meta.json` aside and puts it there when all else is complete, so that file,
//! or the packed one, is another for another run. To ask the file system for it costs some microseconds, so that it is done
//! with each question.
//!
//! What is deliberately absent: its content. The same run, copied over itself, is another one; to open it again is no loss.
//! Corrections of clocks are not of the mark, for they stand beside.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, ensure};
use marey_archive::META_FILE;
use marey_serve::host::Mark;

/// That of runs which are looked at together.
pub(super) fn mark<'p>(paths: impl IntoIterator<Item = &'p Path>) -> anyhow::Result<Mark> {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        let there = path.metadata().and_then(|there| match there.is_dir() {
            true => path.join(META_FILE).metadata(),
            false => Ok(there),
        });
        let there = there.with_context(|| {
            format!(
                "{} is not there any more: it was removed, or is being recorded or merged again",
                path.display()
            )
        })?;
        (there.dev(), there.ino(), there.size(), there.mtime(), there.mtime_nsec()).hash(&mut hasher);
    }
    Ok(Mark(hasher.finish()))
}

/// Refuses what is not what it was.
pub(super) fn is_still<'p>(paths: impl IntoIterator<Item = &'p Path>, before: Mark) -> anyhow::Result<()> {
    ensure!(mark(paths)? == before, "the run was replaced by another one; its clocks were left as they are");
    Ok(())
}
