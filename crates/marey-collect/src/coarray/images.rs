//! Which process an image is.
//!
//! The one idea: images of the first team are the ranks of `MPI_COMM_WORLD` in their order; those of another are what MPI
//! says of its communicator, which is asked once, when the team is entered. (What the library itself says of the current
//! one, `_gfortran_caf_get_communicator`, is that of the team that was formed last.)

use core::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use marey_measure::Lock;

use crate::mpi::translate_to_world;

/// For each team that was entered and not left, ranks in the world of its images; none as long as it is the first.
static TEAMS: Lock<Vec<Vec<i64>>> = Lock::new(Vec::new());
/// Whether there is any.
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
    let of_team = |teams: &mut Vec<Vec<i64>>| match teams.last() {
        None => image - 1,
        Some(ranks) => usize::try_from(image - 1).ok().and_then(|at| ranks.get(at)).copied().unwrap_or(-1),
    };
    TEAMS.with_or_renew(Vec::new, of_team).unwrap_or(-1)
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

/// The beginning of `caf_teams_list`, which a team variable points to.
#[repr(C)]
struct Team {
    /// Where the handle of its communicator lies.
    communicator: usize,
}

/// To be called when the team of a variable has become the current one.
///
/// # Safety
/// `variable` is 0 or the argument of `_gfortran_caf_change_team`, which has returned.
pub(super) unsafe fn entered(variable: usize) {
    // SAFETY: the caller's promise.
    let team = unsafe { (variable as *const *const Team).as_ref().and_then(|team| team.as_ref()) };
    let known = team.map(|team| team.communicator).filter(|at| *at != 0);
    // SAFETY: the library keeps the handle there for as long as there is the team.
    let ranks = known.and_then(|at| unsafe { translate_to_world(at) }).unwrap_or_default();
    TEAMS.with_or_renew(Vec::new, |teams| teams.push(ranks));
    IS_OTHER.store(true, Ordering::Release);
}

/// To be called when the current team has been left.
pub(super) fn left() {
    let is_other = TEAMS.with_or_renew(Vec::new, |teams| {
        teams.pop();
        !teams.is_empty()
    });
    IS_OTHER.store(is_other.unwrap_or(false), Ordering::Release);
}
