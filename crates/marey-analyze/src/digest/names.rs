//! Names by which things of different runs are the same.
//!
//! The one idea: of a file the name counts and not its directories, for versions of a program are built in different
//! places.

use crate::trace::{Frame, Region};
use marey_model::Role;

/// A region by its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct RegionName {
    /// Name of its level.
    pub level: String,
    /// Name of its verb.
    pub verb: String,
    /// Name of its noun; empty = none.
    pub noun: String,
    /// Source file without directories; empty = unknown.
    pub file: String,
    /// Whether it is work of the program's own, which is called as its noun.
    pub is_work: bool,
}

impl RegionName {
    /// The name of a region of a run.
    pub fn of(region: &Region) -> Self {
        Self {
            level: region.level.clone(),
            verb: region.verb.clone(),
            noun: region.noun.clone(),
            file: file_name(&region.file).to_owned(),
            is_work: region.role == Role::Work,
        }
    }

    /// What it is called, as [`Region::name`] says.
    pub fn name(&self) -> &str {
        if self.is_work && !self.noun.is_empty() { &self.noun } else { &self.verb }
    }

    /// The function that it stands for, if it is one of the program's.
    pub(crate) fn function(&self) -> Option<FunctionName> {
        let is_function = self.is_work && !self.noun.is_empty();
        is_function.then(|| FunctionName { name: self.noun.clone(), file: self.file.clone() })
    }
}

/// A function by its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FunctionName {
    /// Its name; empty = unknown.
    pub name: String,
    /// Its source file without directories; empty = unknown.
    pub file: String,
}

impl FunctionName {
    /// The name of the function of a frame.
    pub fn of(frame: &Frame) -> Self {
        Self { name: frame.function.clone(), file: file_name(&frame.file).to_owned() }
    }
}

/// What was done in a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PlaceKind {
    /// A region was visited.
    Call,
    /// Nothing that is recorded: computation.
    Outside,
    /// The location had not begun, or had ended.
    NotStarted,
}

/// A place in the program: a region and the function that called it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// What is done there.
    pub kind: PlaceKind,
    /// The region, if it is one.
    pub region: RegionName,
    /// The function that called it; empty = unknown.
    pub caller: FunctionName,
}

impl Place {
    pub(crate) fn without_region(kind: PlaceKind) -> Self {
        Self { kind, region: RegionName::default(), caller: FunctionName::default() }
    }
}

/// The name of a file without its directories.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
