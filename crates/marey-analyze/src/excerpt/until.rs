//! A run that is over earlier: of what follows there are sums, but no events.
//!
//! The one idea: nobody is there after that instant, and all else is as it is; so what explains a run explains its
//! beginning, and events of those who still had some are left alone.
//!
//! What is deliberately absent: sums of the beginning, which an [`Excerpt`](crate::Excerpt) of it has.

use marey_model::{Nanos, StackId};

use crate::trace::{CallPath, Frame, Location, Process, ProfileRow, Region, Trace};

/// A run until an instant.
pub struct Until<'t> {
    run: &'t dyn Trace,
    end: Nanos,
    processes: Vec<Process>,
    locations: Vec<Location>,
}

impl<'t> Until<'t> {
    /// The run until `end`; as it is if that lies behind it.
    pub fn new(run: &'t dyn Trace, end: Nanos) -> Self {
        let (mut processes, mut locations) = (run.processes().to_vec(), run.locations().to_vec());
        // Who comes later is never there.
        let lived = |start: Nanos, until: Nanos| {
            if start < end { (start, until.min(end)) } else { (Nanos(0), Nanos(0)) }
        };
        for process in &mut processes {
            (process.start, process.end) = lived(process.start, process.end);
        }
        for location in &mut locations {
            (location.start, location.end) = lived(location.start, location.end);
        }
        Self { run, end, processes, locations }
    }
}

impl Trace for Until<'_> {
    fn beneath(&self) -> Option<&dyn Trace> {
        Some(self.run)
    }
    fn duration(&self) -> Nanos {
        self.run.duration().min(self.end)
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
        &self.processes
    }
    fn locations(&self) -> &[Location] {
        &self.locations
    }
    fn profile(&self) -> &[ProfileRow] {
        self.run.profile()
    }
}
