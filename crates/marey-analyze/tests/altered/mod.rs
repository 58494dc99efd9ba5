//! A drawn run with other definitions.

use marey_analyze::{CallPath, Frame, Location, Process, ProfileRow, Region, Trace};
use marey_model::{Nanos, StackId};
use marey_testkit::Drawing;

pub(crate) struct Altered<'d> {
    pub(crate) run: &'d Drawing,
    pub(crate) call_paths: Vec<CallPath>,
}

impl<'d> Altered<'d> {
    /// As it is.
    pub(crate) fn new(run: &'d Drawing) -> Self {
        Self { run, call_paths: run.call_paths().to_vec() }
    }
}

impl Trace for Altered<'_> {
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
        &self.call_paths
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
        self.run.profile()
    }
}
