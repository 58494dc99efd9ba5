//! What recording cost the program, put together from what the recorders measured.
//!
//! The one idea: a call of MPI costs what sampled calls took on average, everything else half as much
//! per event as a pair of enter and leave took when the recording began, and a visit that was only counted what that
//! took then. A run in which no call was
//! sampled (it made too few) counts pairs alone.

use super::decode::Decoder;
use super::input::Input;
use super::stream::Decoding;

/// What recording cost.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    /// Timed records, those that were added up too.
    pub events: u64,
    /// Calls of MPI among them, which are two events each.
    pub calls: u64,
    /// Calls of which the recorders took the time.
    pub sampled_calls: u64,
    /// What those took together, ns.
    pub sampled_ns: f64,
    /// What it cost to count visits that were only counted, ns.
    pub counting_ns: f64,
    /// Everything together, ns.
    pub ns: f64,
}

pub(crate) fn cost(input: &Input, decoding: &Decoding) -> Cost {
    let mut cost = Cost::default();
    // By process: a pair's cost in ns is another where the clock or the processor is.
    let mut events = vec![0_u64; input.processes.len()];
    let (mut calls, mut counted) = (events.clone(), events.clone());
    for location in &decoding.locations {
        let process = location.process as usize;
        // Visits that were added up were two events each, or cost as much.
        let all = |decoder: &Decoder| {
            let timed = decoder.added_up.visits.saturating_sub(decoder.added_up.untimed);
            let visits = timed.saturating_add(decoder.added_up.beside);
            decoder.events.saturating_add(visits.saturating_mul(2))
        };
        let own = location.decoder.as_ref().map_or(0, all);
        events[process] = events[process].saturating_add(own);
        let reduced = location.decoder.as_ref().map_or(0, |decoder| decoder.added_up.reduced);
        counted[process] = counted[process].saturating_add(reduced);
        let nodes = location.builder.nodes.iter();
        let of_mpi = nodes.filter(|node| node.site.level == input.globals.mpi_level);
        let visits = of_mpi.map(|node| node.visits.saturating_sub(node.untimed).cast_unsigned());
        calls[process] = visits.fold(calls[process], u64::saturating_add);
        let stream = input.globals.locations[location.id as usize].stream;
        let last = stream.and_then(|stream| input.index.streams[stream].windows.last());
        if let Some(last) = last {
            let clock = &input.contexts[process].clock;
            cost.sampled_calls = cost.sampled_calls.saturating_add(last.sampled_calls);
            cost.sampled_ns += clock.span_ns(last.sampled_ticks as f64);
        }
    }
    cost.events = events.iter().copied().fold(0, u64::saturating_add);
    cost.calls = calls.iter().copied().fold(0, u64::saturating_add);
    let per_call = (cost.sampled_calls > 0).then(|| cost.sampled_ns / cost.sampled_calls as f64);
    for (process, ((events, calls), counted)) in events.into_iter().zip(calls).zip(counted).enumerate() {
        // In hundredths of a tick.
        let pair = input.processes[process].pair_cost as f64 / 100.0;
        let pair = input.contexts[process].clock.span_ns(pair);
        let others = events.saturating_sub(calls.saturating_mul(2)) as f64 / 2.0;
        let count = input.processes[process].budget.map_or(0, |(_, cost)| cost) as f64 / 100.0;
        cost.ns += others * pair + calls as f64 * per_call.unwrap_or(pair);
        cost.counting_ns += counted as f64 * input.contexts[process].clock.span_ns(count);
    }
    cost.ns += cost.counting_ns;
    cost
}
