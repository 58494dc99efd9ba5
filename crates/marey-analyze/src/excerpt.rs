//! A part of a run as a run: its definitions, and the sums of what lies in a selection.
//!
//! The one idea: whatever is told of a run's sums can be told of a part, if only the sums are those of the part. They are
//! made from events, in one pass over the slabs of the span, and those of spans behind one another add up to the run's.
//!
//! What lies in a part is defined in `docs/selections.md`.
//!
//! What is deliberately absent: waits and their causes ([`crate::causes_within`]); and sums of what has no time, such as
//! memory.

mod begun;
mod cut;
mod sums;
mod until;

use marey_model::{LocationId, Nanos, ProcessId, StackId};
use rustc_hash::FxHashSet;

use crate::activities::span_of;
use crate::happenings::{Happenings, Message, Span, Unread};
use crate::selection::Selection;
use crate::trace::{
    AllocationRow, BinRow, CallPath, CommunicationRow, Communicator, CountedRow, Counter, Frame, HeapRow,
    Location, OpenRegion, Problem, Process, ProcessClock, ProfileRow, Region, SampledRow, Trace,
};
pub use begun::Begun;
pub use cut::CutOut;
use sums::{Messages, Samples, Visits};
pub use until::Until;

/// A part of a run.
pub struct Excerpt<'t> {
    run: &'t dyn Trace,
    /// What of the span the run has.
    span: Span,
    /// By process: whether somebody in it is meant.
    processes_meant: Vec<bool>,
    processes: Vec<Process>,
    locations: Vec<Location>,
    profile: Vec<ProfileRow>,
    durations: Vec<BinRow>,
    communication: Vec<CommunicationRow>,
    samples: Vec<SampledRow>,
    all_samples: Vec<SampledRow>,
    open_at_end: Option<Vec<OpenRegion>>,
}

impl<'t> Excerpt<'t> {
    /// Adds up what a selection has. Time grows with the events of its span, memory with the call paths and pairs that it
    /// has on each location.
    ///
    /// # Errors
    /// What of the run could not be read.
    pub fn new(run: &'t impl Trace, events: &impl Happenings, selection: &Selection) -> Result<Self, Unread> {
        let span = span_of(run, selection.span);
        let within = with_last_instant(run, span);
        let mut visits = Visits::new(run, selection, within);
        if selection.communicators.is_some() {
            visits.only(calls_on(events, selection, within)?);
        }
        visits.read(events)?;
        let (profile, durations) = visits.finish();
        let mut messages = Messages::default();
        events.messages_in(within, &mut |batch| {
            for message in batch.iter().filter(|message| is_in(run, selection, within, message)) {
                messages.add(run, message);
            }
        })?;
        let (mut samples, mut all_samples) = (Samples::default(), Samples::default());
        events.sampled_in(within, &mut |batch| {
            for row in batch.iter().filter(|row| selection.has_location(row.location)) {
                all_samples.add(row);
                if has_sample(selection, row) {
                    samples.add(row);
                }
            }
        })?;
        // A process of which no thread was recorded is meant, if all are.
        let mut processes_meant = vec![selection.locations.is_none(); run.processes().len()];
        let mut locations = run.locations().to_vec();
        for (location, id) in locations.iter_mut().zip(0..) {
            let is_meant = selection.has_location(LocationId(id));
            (location.start, location.end) = lived((location.start, location.end), span, is_meant);
            if let Some(process) = processes_meant.get_mut(location.process.idx()) {
                *process |= is_meant;
            }
        }
        let mut processes = run.processes().to_vec();
        for (process, is_meant) in processes.iter_mut().zip(&processes_meant) {
            (process.start, process.end) = lived((process.start, process.end), span, *is_meant);
            (process.peak_memory, process.processor_time) = (None, None);
        }
        let ended = |region: &&OpenRegion| {
            let process = run.locations().get(region.location.idx()).map(|location| location.process);
            let process = process.and_then(|process| run.processes().get(process.idx()));
            selection.has_location(region.location)
                && process.is_some_and(|process| span.from <= process.end && process.end <= span.to)
        };
        let open_at_end =
            run.open_at_end().map(|regions| regions.iter().filter(ended).copied().collect::<Vec<_>>());
        Ok(Self {
            run,
            span,
            processes_meant,
            processes,
            locations,
            profile,
            durations,
            communication: messages.finish(),
            samples: samples.finish(),
            all_samples: all_samples.finish(),
            open_at_end,
        })
    }

    /// What of the run's time it is about.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether somebody in a process is meant.
    fn has_process(&self, process: ProcessId) -> bool {
        self.processes_meant.get(process.idx()).copied().unwrap_or(false)
    }
}

/// The span, and the last instant of the run if it goes to its end: who is over then has not been over before.
fn with_last_instant(run: &impl Trace, span: Span) -> Span {
    let end = span_of(run, Span::ALL).to;
    if span.to < end { span } else { Span { to: Nanos(i64::MAX), ..span } }
}

/// What of a life lies in a span: nothing if it is not meant, or if it was before or after.
fn lived((start, end): (Nanos, Nanos), span: Span, is_meant: bool) -> (Nanos, Nanos) {
    let within = |at: Nanos| at.max(span.from).min(span.to);
    if is_meant { (within(start), within(end)) } else { (within(start), within(start)) }
}

/// Whether the receive of a message was completed in the span, by or from somebody and in a call that is meant.
fn is_in(run: &impl Trace, selection: &Selection, within: Span, message: &Message) -> bool {
    let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { return false };
    let at = receiving.done.end;
    let is_known = |id: LocationId| id.idx() < run.locations().len();
    within.from <= at
        && at < within.to
        && is_known(sending.location)
        && is_known(receiving.location)
        && (selection.has_location(sending.location) || selection.has_location(receiving.location))
        && selection.has_operation(message.communicator, &[sending.call_path, receiving.done.call_path])
}

/// Of samples it is not known which communicator their call acted on.
fn has_sample(selection: &Selection, row: &SampledRow) -> bool {
    let has_stack = || row.stack.is_some_and(|stack| selection.stacks.contains(&stack));
    selection.communicators.is_none() && (selection.has_call(row.call_path) || has_stack())
}

/// The calls that began or completed messages and operations of the communicators that are meant: by whom, and when they
/// were entered.
fn calls_on(
    events: &impl Happenings,
    selection: &Selection,
    span: Span,
) -> Result<FxHashSet<(LocationId, Nanos)>, Unread> {
    let mut calls = FxHashSet::default();
    events.messages_in(span, &mut |batch| {
        for message in batch.iter().filter(|message| selection.has_communicator(message.communicator)) {
            if let Some(sending) = message.sending {
                calls.insert((sending.location, sending.send));
                calls.extend(sending.done.map(|done| (sending.location, done.start)));
            }
            if let Some(receiving) = message.receiving {
                let own = [receiving.post, receiving.done.start];
                calls.extend(own.map(|start| (receiving.location, start)));
            }
        }
    })?;
    events.members_in(span, &mut |batch| {
        for member in batch.iter().filter(|member| selection.has_communicator(Some(member.communicator))) {
            // Nobody asks for those before or after.
            let ends = member.done.map_or(member.enter, |done| done.end);
            if member.enter < span.to && span.from <= ends {
                calls.insert((member.location, member.enter));
                calls.extend(member.done.map(|done| (member.location, done.start)));
            }
        }
    })?;
    Ok(calls)
}

impl Trace for Excerpt<'_> {
    fn duration(&self) -> Nanos {
        self.span.to
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
    fn communicators(&self) -> &[Communicator] {
        self.run.communicators()
    }
    fn profile(&self) -> &[ProfileRow] {
        &self.profile
    }
    fn lanes(&self) -> &[ProfileRow] {
        &[]
    }
    fn durations(&self) -> &[BinRow] {
        &self.durations
    }
    fn sizes(&self) -> &[BinRow] {
        &[]
    }
    fn communication(&self) -> &[CommunicationRow] {
        &self.communication
    }
    fn samples(&self) -> &[SampledRow] {
        &self.samples
    }
    fn all_samples(&self) -> &[SampledRow] {
        &self.all_samples
    }
    fn counters(&self) -> &[Counter] {
        &[]
    }
    fn counted(&self) -> &[CountedRow] {
        &[]
    }
    fn allocations(&self) -> &[AllocationRow] {
        &[]
    }
    fn heaps(&self) -> &[HeapRow] {
        &[]
    }
    fn problems(&self) -> &[Problem] {
        self.run.problems()
    }
    fn clocks(&self) -> &[ProcessClock] {
        self.run.clocks()
    }
    fn open_at_end(&self) -> Option<&[OpenRegion]> {
        self.open_at_end.as_deref()
    }
    fn leaves_out(&self, process: ProcessId) -> bool {
        !self.has_process(process)
    }
}
