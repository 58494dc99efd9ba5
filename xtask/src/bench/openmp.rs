//! What a construct of OpenMP costs, recorded and not.
//!
//! The one idea: constructs with nothing in them are made by the hundred thousand, alone, recorded and left out.

use super::adapter::Adapter;
use super::build::{self, Tools};
use super::goal::Goals;
use super::{Plan, Section};
use anyhow::Result;

const ADAPTER: Adapter = Adapter {
    title: "Constructs of OpenMP",
    text: "\
Time of one construct with nothing in it, in ns, of a program of gcc with libgomp, alone and recorded; *added* is the \
difference in the same round. Regions, chunks and barriers are those of two threads, and change with how these get \
processors.
*Left out* is `marey record --openmp off`.",
    operation: "construct",
    name: "openmp",
    option: "--openmp",
    figures: &[
    ("parallel_ns", "parallel region"),
    ("chunk_ns", "chunk of a dynamic loop"),
    ("critical_ns", "critical section"),
    ("barrier_ns", "barrier"),
    ("task_ns", "task"),
],
};

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    ADAPTER.measure(plan, tools, goals, &[], || {
        let program = build::compile("gcc", "openmp.c", "openmp", &["-fopenmp"])?;
        Ok(vec![program, (plan.pairs / 100).to_string()])
    })
}
