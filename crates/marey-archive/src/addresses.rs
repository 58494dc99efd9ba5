//! Samples by the address that they were taken at.
//!
//! The one idea: call stacks of samples are kept as addresses, so which instruction a thread was at is known exactly, beside
//! its line. What was done in a call of a library that has a region counts where that was called, as it does for lines.
//!
//! What is deliberately absent: what lies at an address; [`schema::FRAMES`](crate::schema::FRAMES) has its line.

use std::collections::BTreeMap;

use marey_analyze::{Sampled, Trace, library_call};
use marey_model::{Nanos, StackId};

use crate::schema::NONE;
use crate::{Archive, Error};

/// Samples of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressCost {
    /// Taken at the instruction there.
    pub own: Sampled,
    /// These, and those taken in what it called; each once.
    pub with_calls: Sampled,
}

/// Samples by address.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// By module and an address within an instruction: that of the instruction itself, or its last byte where it calls.
    pub costs: BTreeMap<(u32, u64), AddressCost>,
    /// All samples of the run.
    pub whole: Sampled,
}

impl Addresses {
    /// Adds up the samples of a run.
    ///
    /// # Errors
    /// The call stacks cannot be read.
    pub fn of(archive: &Archive, trace: &dyn Trace) -> Result<Self, Error> {
        let mut it = Self::default();
        if trace.samples().is_empty() {
            return Ok(it);
        }
        let stacks = archive.table("stacks")?;
        let (ids, depths) = (stacks.u32("id")?, stacks.u32("frame")?);
        let (modules, places) = (stacks.u32("module")?, stacks.i64("vaddr")?);
        let mut order: Vec<usize> = (0..stacks.len()).collect();
        order.sort_by_key(|row| (ids[*row], depths[*row]));
        let frames = |stack: StackId| {
            let begin = order.partition_point(|row| ids[*row] < stack.0);
            let rows = order[begin..].iter().take_while(move |row| ids[**row] == stack.0);
            // Both what follows a call and what was interrupted stand in the table with 1 more.
            rows.map(|row| (modules[*row], places[*row].cast_unsigned().wrapping_sub(1)))
        };
        for row in trace.samples() {
            add(&mut it.whole, row.samples, row.time);
            let call = row.call_path.and_then(|path| library_call(trace, path));
            let of_call = call.as_ref().and_then(|call| trace.call_paths().get(call.path.idx())?.stack);
            let Some(stack) = of_call.or(row.stack) else { continue };
            let mut seen: Vec<(u32, u64)> = Vec::new();
            for (depth, frame) in frames(stack).enumerate() {
                if frame.0 == NONE {
                    continue;
                }
                let cost = it.costs.entry(frame).or_default();
                if depth == 0 && call.is_none() {
                    add(&mut cost.own, row.samples, row.time);
                }
                if !seen.contains(&frame) {
                    add(&mut cost.with_calls, row.samples, row.time);
                    seen.push(frame);
                }
            }
        }
        Ok(it)
    }

    /// What an instruction of some bytes cost.
    pub fn cost(&self, module: u32, address: u64, bytes: u64) -> AddressCost {
        let mut sum = AddressCost::default();
        for cost in self
            .costs
            .range((module, address)..(module, address.saturating_add(bytes.max(1))))
            .map(|(_, it)| it)
        {
            add(&mut sum.own, cost.own.samples, cost.own.time);
            add(&mut sum.with_calls, cost.with_calls.samples, cost.with_calls.time);
        }
        sum
    }
}

fn add(sum: &mut Sampled, samples: u64, time: Nanos) {
    sum.samples = sum.samples.saturating_add(samples);
    sum.time = sum.time + time;
}
