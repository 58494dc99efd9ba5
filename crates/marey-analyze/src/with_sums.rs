//! A run with other sums: of some of its threads, or of a span.
//!
//! The one idea: who has added up a part of a run in some way asks of it what can be asked of a run. Definitions stay those
//! of the whole, so numbers mean the same.
//!
//! Deliberately absent: making the sums; [`crate::Excerpt`] makes all that a report needs, from the events.

use marey_model::{Nanos, StackId};

use crate::trace::{AccessRow, Array, CallPath, Frame, Location, Process, ProfileRow, Region, Trace};

/// A run of which some sums are others.
pub struct WithSums<'t> {
    run: &'t dyn Trace,
    profile: Vec<ProfileRow>,
    accessed: Vec<AccessRow>,
}

impl std::fmt::Debug for WithSums<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithSums").field("rows", &self.profile.len()).finish_non_exhaustive()
    }
}

impl<'t> WithSums<'t> {
    /// The run with these rows of its profile and these sums of accesses.
    pub fn new(run: &'t dyn Trace, profile: Vec<ProfileRow>, accessed: Vec<AccessRow>) -> Self {
        Self { run, profile, accessed }
    }
}

impl Trace for WithSums<'_> {
    fn beneath(&self) -> Option<&dyn Trace> {
        Some(self.run)
    }
    fn duration(&self) -> Nanos {
        self.run.duration()
    }
    fn regions(&self) -> &[Region] {
        self.run.regions()
    }
    fn call_paths(&self) -> &[CallPath] {
        self.run.call_paths()
    }
    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        self.run.stack(stack)
    }
    fn processes(&self) -> &[Process] {
        self.run.processes()
    }
    fn locations(&self) -> &[Location] {
        self.run.locations()
    }
    fn profile(&self) -> &[ProfileRow] {
        &self.profile
    }
    fn arrays(&self) -> &[Array] {
        self.run.arrays()
    }
    fn accessed(&self) -> &[AccessRow] {
        &self.accessed
    }
}
