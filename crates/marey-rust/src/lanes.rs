//! Lanes for things of one name that come and go.
//!
//! The one idea: a lane whose owner is gone is the next one's, so a program that makes a million tasks, eight at a time,
//! has eight lanes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use marey_measure::Lane;

/// Lanes that are looked at for one that was free in time.
const LOOKED_AT: usize = 64;

/// The lanes of one name.
pub(crate) struct Lanes {
    name: String,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    made: u32,
    /// By number, with the ticks at which the last owner went.
    lanes: BTreeMap<u32, (Lane, u64)>,
}

/// A lane with its number among those of its name.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    number: u32,
    pub(crate) lane: Lane,
}

impl Lanes {
    pub(crate) fn new(name: String) -> Self {
        Self { name, free: Mutex::default() }
    }

    /// A lane that nobody has had since `ticks`.
    pub(crate) fn take(&self, ticks: u64) -> Taken {
        let mut free = self.free();
        let fits = free.lanes.iter().take(LOOKED_AT).find(|(_, (_, since))| *since <= ticks);
        if let Some((&number, &(lane, _))) = fits {
            free.lanes.remove(&number);
            return Taken { number, lane };
        }
        free.made += 1;
        let number = free.made;
        drop(free);
        Taken { number, lane: Lane::new(&format!("{} {number}", self.name)) }
    }

    /// Gives a lane back whose owner went at `ticks`.
    pub(crate) fn give(&self, taken: Taken, ticks: u64) {
        self.free().lanes.insert(taken.number, (taken.lane, ticks));
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
