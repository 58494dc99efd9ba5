//! What a replay did, in the order in which it did it, to be gone through backwards.
//!
//! The one idea: a replay knows two numbers of each location, when it is where it is, and the same if its wait keeps its
//! length; all that it does to them is to add, and to take the larger. So the latest that each may be follows backwards, by
//! subtracting and taking the smaller, in exactly the opposite order.

use marey_model::Nanos;

/// What a replay does to a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A wait begins, perhaps right after another.
    Waits {
        after_wait: bool,
    },
    /// Work goes on behind a wait.
    Works,
    /// It arrives where somebody waits for it, perhaps as the first.
    Arrives {
        slot: u32,
        is_first: bool,
    },
    /// A gate opens.
    Opens {
        slot: u32,
    },
    /// The same, before the location has begun.
    OpensEarly {
        slot: u32,
    },
    /// A created location begins.
    Begins {
        slot: u32,
    },
    /// A created location awaits its beginning.
    Awaits,
    /// A wait keeps its length so far.
    Keeps,
    Ends,
}

/// A step, and when and where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: Nanos,
    pub(super) location: u32,
    pub(super) step: Step,
}

#[derive(Debug)]
pub(super) struct Tape {
    pub(super) entries: Vec<Entry>,
    /// Whether each location waits.
    pub(super) waits: Vec<bool>,
    most: usize,
    /// Whether it did not have room for all.
    pub(super) is_full: bool,
}

impl Tape {
    pub(super) fn new(n_locations: usize, most: usize) -> Self {
        Self { entries: Vec::new(), waits: vec![false; n_locations], most, is_full: false }
    }

    pub(super) fn write(&mut self, location: usize, at: Nanos, step: Step) {
        let was_waiting = self.waits[location];
        let step = match step {
            Step::Works if !was_waiting => return,
            Step::Works => {
                self.waits[location] = false;
                step
            }
            Step::Waits { .. } => {
                self.waits[location] = true;
                Step::Waits { after_wait: was_waiting }
            }
            _ => step,
        };
        if self.entries.len() >= self.most {
            self.is_full = true;
            self.entries = Vec::new();
        }
        let Ok(location) = u32::try_from(location) else { return };
        if !self.is_full {
            self.entries.push(Entry { at, location, step });
        }
    }
}
