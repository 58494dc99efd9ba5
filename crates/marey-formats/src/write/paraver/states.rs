//! What a thread does at a time, as Extrae names it: by the innermost region that it is in.

use marey_analyze::{Region, Trace};
use marey_model::{Level, LocationId, Nanos, Role};

pub(super) const RUNNING: u8 = 1;

/// Number, name and colour.
pub(super) const ALL: [(u8, &str, &str); 17] = [
    (0, "Idle", "117,195,255"),
    (RUNNING, "Running", "0,0,255"),
    (2, "Not created", "255,255,255"),
    (3, "Waiting a message", "255,0,0"),
    (4, "Blocking Send", "255,0,174"),
    (5, "Synchronization", "179,0,0"),
    (6, "Test/Probe", "0,255,0"),
    (7, "Scheduling and Fork/Join", "255,255,0"),
    (8, "Wait/WaitAll", "235,0,0"),
    (9, "Blocked", "0,162,0"),
    (10, "Immediate Send", "255,0,255"),
    (11, "Immediate Receive", "100,100,177"),
    (12, "I/O", "172,174,41"),
    (13, "Group Communication", "255,144,26"),
    (14, "Tracing Disabled", "2,255,177"),
    (15, "Others", "192,224,0"),
    (16, "Send Receive", "66,66,66"),
];

/// The state of a thread in a region.
pub(super) fn of(region: &Region) -> u8 {
    let name = region.verb.as_str();
    match region.role {
        Role::Barrier | Role::Acquire => 5,
        Role::AllToAll | Role::OneToAll | Role::AllToOne => 13,
        Role::Io => 12,
        Role::Create => 7,
        Role::Work => RUNNING,
        Role::Wait if region.level != Level::MPI => 9,
        _ if region.level != Level::MPI => 15,
        _ if name.contains("Sendrecv") || name.contains("sendrecv") => 16,
        _ if name.contains("Test") || name.contains("robe") => 6,
        _ if name.contains("Wait") => 8,
        _ if name.starts_with("MPI_I") && name.contains("send") => 10,
        _ if name.starts_with("MPI_I") && name.contains("recv") => 11,
        _ if name.contains("send") || name == "MPI_Send" => 4,
        _ if name.contains("recv") || name == "MPI_Recv" => 3,
        _ => 15,
    }
}

/// States that threads are in.
pub(super) struct States {
    /// Of each location: since when it has been in its state, and those around it.
    locations: Vec<(Nanos, Vec<u8>)>,
    /// Until when each is there.
    ends: Vec<Nanos>,
    has_time: Vec<bool>,
}

type Span = (Nanos, Nanos, u8);

impl States {
    pub(super) fn new(trace: &dyn Trace) -> Self {
        Self {
            locations: trace.locations().iter().map(|it| (it.start, Vec::new())).collect(),
            ends: trace.locations().iter().map(|it| it.end).collect(),
            has_time: trace.locations().iter().map(marey_analyze::Location::has_time).collect(),
        }
    }

    /// A region is entered; what was before.
    pub(super) fn enter(&mut self, location: LocationId, time: Nanos, state: u8) -> Option<Span> {
        let span = self.until(location, time);
        self.locations.get_mut(location.idx())?.1.push(state);
        span
    }

    /// A region is left; what was before.
    pub(super) fn leave(&mut self, location: LocationId, time: Nanos) -> Option<Span> {
        let span = self.until(location, time);
        self.locations.get_mut(location.idx())?.1.pop();
        span
    }

    fn until(&mut self, location: LocationId, time: Nanos) -> Option<Span> {
        let (since, open) = self.locations.get_mut(location.idx())?;
        let span = (*since, time, open.last().copied().unwrap_or(RUNNING));
        *since = time;
        self.has_time.get(location.idx()).copied().unwrap_or(false).then_some(span)
    }

    /// What each was in at its end.
    pub(super) fn finish(&self) -> Vec<(LocationId, Span)> {
        let mut spans = Vec::new();
        for (idx, (since, open)) in self.locations.iter().enumerate() {
            let (Some(location), Some(end)) = (LocationId::from_idx(idx), self.ends.get(idx)) else {
                continue;
            };
            if self.has_time.get(idx).copied().unwrap_or(false) {
                spans.push((location, (*since, *end, open.last().copied().unwrap_or(RUNNING))));
            }
        }
        spans
    }
}
