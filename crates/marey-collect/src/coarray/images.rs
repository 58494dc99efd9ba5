//! Which process an image is.
//!
//! The one idea: images of the first team are the ranks of `MPI_COMM_WORLD` in their order; in another team the library
//! is asked for its communicator once, when the team is entered or left.

use core::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use marey_measure::Lock;

use crate::mpi::translate_to_world;

/// Ranks in the world of the images of the current team; `None` as long as it is the first.
static TEAM: Lock<Option<Vec<i64>>> = Lock::new(None);
/// Whether it has ever been another.
static IS_OTHER: AtomicBool = AtomicBool::new(false);
/// The rank of this process in the world; −1 as long as it is not known.
static OWN: AtomicI64 = AtomicI64::new(-1);

/// The rank in the world of an image of the current team, 1 for the first; 0 is this one. −1 if it is not known.
pub(super) fn rank_of(image: usize) -> i64 {
    let image = i64::from(image as i32);
    if image == 0 {
        return own();
    }
    if !IS_OTHER.load(Ordering::Acquire) {
        return image - 1;
    }
    let of_team = |team: &mut Option<Vec<i64>>| match team {
        None => image - 1,
        Some(ranks) => usize::try_from(image - 1).ok().and_then(|at| ranks.get(at)).copied().unwrap_or(-1),
    };
    TEAM.with(of_team).unwrap_or(-1)
}

/// The rank of this process in the world; −1 if it is not known.
pub(super) fn own() -> i64 {
    match OWN.load(Ordering::Relaxed) {
        -1 => {
            let rank = crate::mpi::world_rank().unwrap_or(-1);
            OWN.store(rank, Ordering::Relaxed);
            rank
        }
        rank => rank,
    }
}

/// To be called when another team has become the current one.
pub(super) fn team_changed() {
    let ranks = current_communicator().and_then(translate_to_world);
    TEAM.with(|team| *team = Some(ranks.unwrap_or_default()));
    IS_OTHER.store(true, Ordering::Release);
}

/// The number in Fortran of the communicator of the current team.
fn current_communicator() -> Option<i32> {
    let address = crate::next::next(c"_gfortran_caf_get_communicator");
    if address == 0 {
        return None;
    }
    // SAFETY: the function of this name has this type; nothing stands for the current team.
    unsafe {
        let ask: unsafe extern "C-unwind" fn(usize) -> i32 = core::mem::transmute(address);
        Some(ask(0))
    }
}
