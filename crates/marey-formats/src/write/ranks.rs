//! Ranks and threads for formats that know no other names of locations.

use marey_analyze::Trace;
use marey_model::{LocationId, ProcessId};

pub(super) struct Ranks {
    /// Of each process.
    processes: Vec<u32>,
    /// Of each location its process's, and its number in that.
    places: Vec<(u32, u32)>,
    /// Whether those are ranks in the first world; else processes are numbered in their order.
    pub(super) are_real: bool,
}

impl Ranks {
    pub(super) fn new(trace: &dyn Trace) -> Self {
        let real: Option<Vec<u32>> =
            trace.processes().iter().map(marey_analyze::Process::first_rank).collect();
        let are_real = real.is_some();
        let numbers = || (0..).zip(trace.processes()).map(|it| it.0).collect();
        let processes: Vec<u32> = real.unwrap_or_else(numbers);
        let mut threads = vec![0_u32; processes.len()];
        let place = |location: &marey_analyze::Location| {
            let process = location.process.idx();
            let thread = threads.get_mut(process).map_or(0, |next| {
                *next += 1;
                *next - 1
            });
            (processes.get(process).copied().unwrap_or(0), thread)
        };
        let places = trace.locations().iter().map(place).collect();
        Self { processes, places, are_real }
    }

    /// Rank and thread of a location.
    pub(super) fn place(&self, location: LocationId) -> (u32, u32) {
        self.places.get(location.idx()).copied().unwrap_or((0, 0))
    }

    /// The rank of a process.
    pub(super) fn process(&self, id: ProcessId) -> Option<u32> {
        self.processes.get(id.idx()).copied()
    }

    /// How many threads the process with most has.
    pub(super) fn most_threads(&self) -> u32 {
        self.places.iter().map(|place| place.1 + 1).max().unwrap_or(1)
    }
}
