//! One module of the user's, and its sources that may be read.

use std::path::Path;
use std::time::SystemTime;

use marey_source::ModuleRef;
use marey_source::text::Sources;

use super::is_of_system;
use crate::source::witness::Witnesses;

/// What is known of it.
pub(super) struct Module {
    pub(super) id: u32,
    pub(super) it: Witnesses,
    made: Option<SystemTime>,
}

impl Module {
    /// Asks both witnesses; `made` is when the module was.
    pub(super) fn read(id: u32, module: &ModuleRef<'_>, made: Option<SystemTime>) -> Self {
        let may_be_read = |path: &Path| {
            Sources::has_source_name(path) && !is_of_system(&path.to_string_lossy()) && !is_newer(path, made)
        };
        Self { id, it: Witnesses::of_module(module, may_be_read), made }
    }

    /// Why a source was not read.
    pub(super) fn why_not(&self, path: &str) -> &'static str {
        let file = Path::new(path);
        if is_of_system(path) {
            "left out"
        } else if file.is_file() && is_newer(file, self.made) {
            "newer"
        } else {
            "missing"
        }
    }
}

fn is_newer(path: &Path, made: Option<SystemTime>) -> bool {
    let changed = std::fs::metadata(path).and_then(|it| it.modified());
    changed.is_ok_and(|changed| made.is_some_and(|made| made < changed))
}
