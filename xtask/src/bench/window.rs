//! What a one-sided operation of MPI costs, recorded and not.
//!
//! The one idea: one rank of two reaches into the memory of the other by the hundred thousand, one element at a time. What is
//! left out is in which variables the memory of both lies.

use super::adapter::Adapter;
use super::build::{self, Tools};
use super::goal::Goals;
use super::{MPI_ENVIRONMENT, Plan, Section};
use crate::shell::which;
use anyhow::{Result, bail};

const ADAPTER: Adapter = Adapter {
    title: "One-sided operations",
    text: "\
Time of one operation on 8 bytes of a window, in ns, of two ranks with Open MPI, alone and recorded; *added* is the difference \
in the same round; of the vector it is four elements that lie apart. The first four have one buffer; in the others, to the rank \
itself, 512 take turns, more than a thread remembers at first. *Left out* is `marey record --buffers off`, by which operations do \
not say from which variable they come.",
    operation: "operation",
    name: "window",
    option: "--buffers",
    figures: &[
        ("local_ns", "get from the rank itself"),
        ("get_ns", "get from the other rank"),
        ("put_ns", "put to the other rank"),
        ("vector_ns", "get of a vector"),
        ("variable_ns", "put of elements of a variable"),
        ("block_ns", "put of elements of a block"),
        ("stack_ns", "put of elements of an array on the stack"),
        ("blocks_ns", "put of blocks"),
    ],
};

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    ADAPTER.measure(plan, tools, goals, &MPI_ENVIRONMENT, || {
        let compiler = "mpicc.openmpi";
        if which(compiler).is_none() {
            bail!("there is no {compiler}");
        }
        let program = build::compile(compiler, "window.c", "window", &[])?;
        let launcher = ["mpirun.openmpi", "-n", "2", "--oversubscribe"].map(str::to_owned);
        Ok(launcher.into_iter().chain([program, (plan.messages / 5).to_string()]).collect())
    })
}
