//! Whether a source is still the text that a run was of.
//!
//! The one idea: a program that ran was made before it began, and of sources that were made after it. So what was
//! changed after the program was is another text, and numbers stand at lines that were not meant.
//!
//! Deliberately absent: what was changed and compiled anew after the run, beyond when it began; the program that ran is
//! not there any more then.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::kept::users_modules;
use crate::run::Run;

/// The instant since which sources of a run must not have been changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    at: SystemTime,
    /// Whether the program is there, or only known to have begun then.
    by_program: bool,
}

impl Made {
    /// When a program or library that never ran was made.
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        modified(path).map(|at| Self { at, by_program: true })
    }

    /// When the program of a run was made: the last of its modules that the user has, unless they are newer than the run.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let began = u64::try_from(run.archive.meta().run.start_realtime_ns).ok()?;
        let began = SystemTime::UNIX_EPOCH + Duration::from_nanos(began);
        let modules = users_modules(&run.archive).unwrap_or_default();
        let made: Option<Vec<SystemTime>> =
            modules.iter().map(|(_, path, _)| modified(path).filter(|made| *made <= began)).collect();
        let made = made.and_then(|made| made.into_iter().max());
        Some(Self { at: made.unwrap_or(began), by_program: made.is_some() })
    }

    /// Whether a source was changed since.
    pub(crate) fn is_before(self, source: &Path) -> bool {
        modified(source).is_some_and(|changed| self.at < changed)
    }

    /// What that was.
    pub(crate) fn words(self) -> &'static str {
        if self.by_program { "the program was made" } else { "the run began" }
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|it| it.modified()).ok()
}
