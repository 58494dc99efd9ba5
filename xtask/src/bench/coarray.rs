//! What an operation of coarrays costs, recorded and not.
//!
//! The one idea: two images do the same operation on one element by the hundred thousand, alone, recorded and left out. What
//! is left out is still recorded as the calls of MPI beneath.

use super::adapter::Adapter;
use super::build::{self, Tools};
use super::goal::Goals;
use super::{MPI_ENVIRONMENT, Plan, Section};
use crate::shell::which;
use anyhow::{Result, bail};

const ADAPTER: Adapter = Adapter {
    title: "Operations of coarrays",
    text: "\
Time of one operation on one element of 8 bytes, in ns, of a program of gfortran with OpenCoarrays on two images, alone and \
recorded; *added* is the difference in the same round. Of it the calls of MPI beneath, six of most operations, are the \
larger part: *left out* is `marey record --coarrays off`, which records those alone.",
    operation: "operation",
    name: "coarray",
    option: "--coarrays",
    figures: &[
        ("local_ns", "get from the image itself"),
        ("get_ns", "get from the other image"),
        ("send_ns", "send to the other image"),
        ("sync_ns", "sync all"),
    ],
};

/// Measures all of them.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    ADAPTER.measure(plan, tools, goals, &MPI_ENVIRONMENT, || {
        let compiler = "mpif90.openmpi";
        if which(compiler).is_none() {
            bail!("there is no {compiler}");
        }
        let program = build::coarrays(compiler, "coarray.f90", "coarray", "caf_openmpi")?;
        let launcher = ["mpirun.openmpi", "-n", "2", "--oversubscribe"].map(str::to_owned);
        Ok(launcher.into_iter().chain([program, (plan.messages / 10).to_string()]).collect())
    })
}
