//! A drawn run with other definitions.

use marey_analyze::{
    AllocationRow, BinRow, CallPath, CommunicationRow, Communicator, CountedRow, Counter, Frame, HeapRow,
    Location, OpenRegion, Problem, Process, ProfileRow, Region, SampledRow, Trace,
};
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
    fn communicators(&self) -> &[Communicator] {
        self.run.communicators()
    }
    fn profile(&self) -> &[ProfileRow] {
        self.run.profile()
    }
    fn durations(&self) -> &[BinRow] {
        self.run.durations()
    }
    fn sizes(&self) -> &[BinRow] {
        self.run.sizes()
    }
    fn communication(&self) -> &[CommunicationRow] {
        self.run.communication()
    }
    fn samples(&self) -> &[SampledRow] {
        self.run.samples()
    }
    fn counters(&self) -> &[Counter] {
        self.run.counters()
    }
    fn counted(&self) -> &[CountedRow] {
        self.run.counted()
    }
    fn allocations(&self) -> &[AllocationRow] {
        self.run.allocations()
    }
    fn heaps(&self) -> &[HeapRow] {
        self.run.heaps()
    }
    fn problems(&self) -> &[Problem] {
        self.run.problems()
    }
    fn open_at_end(&self) -> Option<&[OpenRegion]> {
        self.run.open_at_end()
    }
}
