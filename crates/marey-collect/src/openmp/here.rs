//! What a thread is in: its team, its task, and the constructs of that which are open.
//!
//! The one idea: all of it belongs to the task that the thread executes, so it is put aside as a whole when the thread
//! begins another one, and comes back when that is over.

use super::tables::TeamRef;
use crate::variable::thread_variable;

/// What belongs to a task. Zeros are a thread that is in nothing. Numbers of regions are those that
/// [`super::region::enter`] gives.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Here {
    pub(super) team: Option<TeamRef>,
    /// The number of the task; 0 for none. Tasks that it creates know it.
    pub(super) task: u64,
    /// Groups of tasks that are open, the innermost last; those beyond are not told apart.
    groups: [u64; 3],
    n_groups: u32,
    n_held: u32,
    /// Regions that are open of what one thread at a time can have.
    held: [u32; 4],
    /// Barriers that the thread has passed in its team.
    pub(super) round: u32,
    /// The region of the implicit task.
    pub(super) implicit: u32,
    /// That of the loop or of the sections.
    pub(super) shared: u32,
    /// The site of a part of that plus 1, and the region if it is open.
    pub(super) part: u32,
    pub(super) open_part: u32,
    /// That of the barrier at the end of a parallel region.
    pub(super) barrier: u32,
    /// Since when the thread has nothing to do in a call that executes tasks meanwhile; 0 outside of one.
    pub(super) idle_since: u64,
    /// Tasks that it has executed in that call.
    pub(super) tasks: u32,
    /// 1 if it is in the barrier at the end of a parallel region and may stay there until another one begins.
    pub(super) is_parked: u32,
    /// Of a runtime that tells of its constructs: whether it is the first thread of its team, and in sections, not a loop.
    pub(super) is_first: u32,
    pub(super) is_sections: u32,
}

impl Here {
    /// A thread that is in nothing.
    pub(super) const NOTHING: Self = Self {
        team: None,
        task: 0,
        groups: [0; 3],
        n_groups: 0,
        n_held: 0,
        held: [0; 4],
        round: 0,
        implicit: 0,
        shared: 0,
        part: 0,
        open_part: 0,
        barrier: 0,
        idle_since: 0,
        tasks: 0,
        is_parked: 0,
        is_first: 0,
        is_sections: 0,
    };

    /// A thread that begins a task, of which this is the number.
    pub(super) fn of_task(team: Option<TeamRef>, task: u64) -> Self {
        Self { team, task, ..Self::NOTHING }
    }

    /// The innermost group of tasks; 0 for none.
    pub(super) fn group(&self) -> u64 {
        let innermost = (self.n_groups as usize).min(self.groups.len());
        innermost.checked_sub(1).map_or(0, |at| self.groups[at])
    }

    pub(super) fn push_group(&mut self, group: u64) {
        if let Some(place) = self.groups.get_mut(self.n_groups as usize) {
            *place = group;
        }
        self.n_groups += 1;
    }

    /// The group that ends; 0 if it is not known.
    pub(super) fn pop_group(&mut self) -> u64 {
        self.n_groups = self.n_groups.saturating_sub(1);
        self.groups.get(self.n_groups as usize).copied().unwrap_or(0)
    }

    pub(super) fn push_held(&mut self, region: u32) {
        if let Some(place) = self.held.get_mut(self.n_held as usize) {
            *place = region;
        }
        self.n_held += 1;
    }

    /// The region that ends, and whether it is known which.
    pub(super) fn pop_held(&mut self) -> u32 {
        self.n_held = self.n_held.saturating_sub(1);
        self.held.get(self.n_held as usize).copied().unwrap_or(0)
    }

    /// Whether there is room for one more that is held.
    pub(super) fn can_hold(&self) -> bool {
        (self.n_held as usize) < self.held.len()
    }
}

/// All that is known of a thread.
#[repr(C)]
pub(super) struct Local {
    pub(super) here: Here,
    /// Tasks and groups that the thread has given numbers to.
    numbers: u64,
}

thread_variable! {
    /// The calling thread's own.
    fn local -> Local; "marey_openmp", 128 bytes, aligned 6
}

/// What the calling thread is in.
#[inline(always)]
pub(super) fn here() -> *mut Here {
    // SAFETY: an address in the thread's own memory.
    unsafe { &raw mut (*local()).here }
}

/// A number that no other task or group of the process has, on thread number `serial`. It is none of an address that
/// somebody could wait at.
pub(super) fn number(serial: u32) -> u64 {
    // SAFETY: the thread's own memory.
    let count = unsafe {
        (*local()).numbers += 1;
        (*local()).numbers
    };
    1 << 63 | u64::from(serial) << 40 | count & ((1 << 40) - 1)
}
