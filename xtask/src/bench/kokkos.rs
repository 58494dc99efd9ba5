//! What a call of Kokkos costs, recorded and not.
//!
//! The one idea: calls with next to nothing in them are made by the hundred thousand, alone, recorded and left out.

use super::adapter::Adapter;
use super::build::{self, Tools};
use super::goal::Goals;
use super::{Plan, Section};
use anyhow::Result;

const ADAPTER: Adapter = Adapter {
    title: "Calls of Kokkos",
    text: "\
Time of one call with next to nothing in it, in ns, of a program with Debian's Kokkos (3.4, serial), alone and recorded; \
*added* is the difference in the same round. A View is made and given back, and a kernel in between sets it to zero.
*Left out* is `marey record --kokkos off`.",
    operation: "call",
    name: "kokkos",
    option: "--kokkos",
    figures: &[
    ("kernel_ns", "kernel"),
    ("copy_ns", "deep_copy"),
    ("view_ns", "View"),
    ("region_ns", "region of Kokkos"),
],
};

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    ADAPTER.measure(plan, tools, goals, &[], || {
        let words = ["-std=c++17", "-isystem", "/usr/include/trilinos", "-ltrilinos_kokkoscore"];
        let program = build::compile("g++", "kokkos.cpp", "kokkos", &words)?;
        Ok(vec![program, (plan.pairs / 100).to_string()])
    })
}
