//! Ranks in the world, for levels above that number processes in ways of their own.
//!
//! The one idea: MPI is asked once, and only while it is there. Deliberately absent: communicators that were not made
//! from the world.

use super::flavour::flavour;
use super::real::ask;

/// Whether MPI can be asked.
fn is_there() -> bool {
    let (mut begun, mut over) = (0_i32, 0_i32);
    ask!(PMPI_Initialized(&raw mut begun)) && begun != 0 && ask!(PMPI_Finalized(&raw mut over)) && over == 0
}

/// The rank of this process in the world.
pub(crate) fn world_rank() -> Option<i64> {
    let mut rank = 0_i32;
    (is_there() && ask!(PMPI_Comm_rank(flavour().comm_world, &raw mut rank))).then(|| rank.into())
}

/// Ranks in the world of the members of a communicator, by the address of its handle; −1 for one of another world.
///
/// # Safety
/// A handle lies at the address.
pub(crate) unsafe fn translate_to_world(comm_at: usize) -> Option<Vec<i64>> {
    if !is_there() {
        return None;
    }
    // SAFETY: the caller's promise.
    let comm = unsafe { flavour().handle_at(comm_at) };
    let (mut size, mut own, mut all) = (0_i32, 0_usize, 0_usize);
    let known = ask!(PMPI_Comm_size(comm, &raw mut size))
        && ask!(PMPI_Comm_group(comm, &raw mut own))
        && ask!(PMPI_Comm_group(flavour().comm_world, &raw mut all));
    if !known {
        return None;
    }
    let ranks: Vec<i32> = (0..size).collect();
    let mut there = vec![-1_i32; ranks.len()];
    let (group, world) = (flavour().handle(own), flavour().handle(all));
    let is_translated =
        ask!(PMPI_Group_translate_ranks(group, size, ranks.as_ptr(), world, there.as_mut_ptr()));
    ask!(PMPI_Group_free(&raw mut own));
    ask!(PMPI_Group_free(&raw mut all));
    // What is no rank there is a negative number of the library's.
    is_translated.then(|| there.into_iter().map(|rank| i64::from(rank).max(-1)).collect())
}
