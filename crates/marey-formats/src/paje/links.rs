//! Links, which are told in two halves.
//!
//! The one idea: halves of one key belong together in the order in which they come, whichever is told first.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::known::LONGEST;

/// Halves that wait for the other one.
const MOST: usize = 1 << 20;

/// An end of a link.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub container: usize,
    pub ns: i64,
    pub tag: i64,
    pub bytes: u64,
}

/// What becomes of an end.
#[derive(Clone, Debug)]
pub(super) enum Meeting {
    /// Both ends are there.
    Of {
        start: End,
        end: End,
    },
    Waits,
    /// Too many wait already.
    Lost,
}

/// Ends that wait, by type, container, value and key of their link.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    starts: FxHashMap<String, VecDeque<End>>,
    ends: FxHashMap<String, VecDeque<End>>,
    pub waiting: usize,
}

impl Links {
    pub(super) fn meet(&mut self, is_start: bool, key: String, own: End) -> Meeting {
        let others = if is_start { &mut self.ends } else { &mut self.starts };
        if let Entry::Occupied(mut waiting) = others.entry(key.clone())
            && let Some(other) = waiting.get_mut().pop_front()
        {
            // Most keys are used once.
            if waiting.get().is_empty() {
                waiting.remove();
            }
            self.waiting -= 1;
            let (start, end) = if is_start { (own, other) } else { (other, own) };
            return Meeting::Of { start, end };
        }
        if self.waiting == MOST || key.len() > LONGEST {
            return Meeting::Lost;
        }
        self.waiting += 1;
        let same = if is_start { &mut self.starts } else { &mut self.ends };
        same.entry(key).or_default().push_back(own);
        Meeting::Waits
    }
}
