//! Halves of messages that wait until their call has been entered.

use std::collections::BTreeMap;

use crate::Error;
use crate::draft::{Act, Draft};

/// More do not wait; then the first ones are told as they are.
const MOST: usize = 1 << 20;

/// What waits, by time and track.
#[derive(Debug, Default)]
pub(super) struct Halves {
    waiting: BTreeMap<(i64, u32), Vec<Act<'static>>>,
    number: usize,
}

impl Halves {
    /// Lets half a message wait for its call, or for a later time.
    pub(super) fn wait(
        &mut self,
        draft: &mut Draft,
        track: u32,
        ns: i64,
        half: Act<'static>,
    ) -> Result<(), Error> {
        self.waiting.entry((ns, track)).or_default().push(half);
        self.number += 1;
        if self.number > MOST {
            self.release_first(draft)?;
        }
        Ok(())
    }

    /// A call of MPI was entered: what waits for this time is its own.
    pub(super) fn release_of(&mut self, draft: &mut Draft, track: u32, ns: i64) -> Result<(), Error> {
        let due = self.waiting.remove(&(ns, track)).unwrap_or_default();
        self.tell(draft, track, ns, &due)
    }

    /// The time has come for all that is earlier.
    pub(super) fn release(&mut self, draft: &mut Draft, ns: i64) -> Result<(), Error> {
        while self.waiting.first_key_value().is_some_and(|((at, _), _)| *at < ns) {
            self.release_first(draft)?;
        }
        Ok(())
    }

    fn release_first(&mut self, draft: &mut Draft) -> Result<(), Error> {
        let Some(((at, track), due)) = self.waiting.pop_first() else { return Ok(()) };
        self.tell(draft, track, at, &due)
    }

    fn tell(&mut self, draft: &mut Draft, track: u32, ns: i64, due: &[Act<'static>]) -> Result<(), Error> {
        self.number -= due.len();
        due.iter().try_for_each(|half| draft.add(track, ns, half))
    }
}
