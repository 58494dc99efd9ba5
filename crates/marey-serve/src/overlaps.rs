//! States that need not nest, each in a lane in which no two overlap.
//!
//! The one idea: lanes are given out in one pass over the whole run, when somebody asks for the first time, so that a state
//! stays in its lane whatever window is looked at.
//!
//! What is deliberately absent: pictures of them (`answers/overlaps.rs`).

use std::collections::BTreeMap;

use marey_analyze::Trace;
use marey_archive::{Columns, Error, Part, schema};

use crate::run::Opened;

/// A state that ended, ns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct State {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) region: u32,
}

/// States of a location.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Each in the order of time.
    pub(crate) lanes: Vec<Vec<State>>,
    pub(crate) number: u64,
    /// Of them, for how many there was no lane left.
    pub(crate) left_out: u64,
}

/// All of them, by location.
#[derive(Debug, Default)]
pub(crate) struct Overlapping {
    pub(crate) locations: BTreeMap<u32, Lanes>,
    /// Whether there are so many that none was read.
    pub(crate) is_too_much: bool,
    /// What could not be read.
    pub(crate) damage: Vec<String>,
}

impl Overlapping {
    /// One pass over all of them.
    pub(crate) fn of(run: &Opened<'_>) -> Self {
        /// More are not held in memory.
        const MOST_READ: u64 = 2_000_000;
        let parts = run.archive.parts("overlaps");
        let mut found = Self::default();
        if parts.iter().map(|part| part.rows).sum::<u64>() > MOST_READ {
            found.is_too_much = true;
            return found;
        }
        let mut all: BTreeMap<u32, Vec<State>> = BTreeMap::new();
        for part in parts {
            let failed = read(run, part, &mut |location, state| all.entry(location).or_default().push(state));
            found.damage.extend(failed.map(|error| error.to_string()));
        }
        found.locations = all.into_iter().map(|(location, states)| (location, Lanes::new(states))).collect();
        found
    }
}

impl Lanes {
    /// Each state goes into the first lane in which the one before has ended; so there are as many lanes as states overlap.
    fn new(mut states: Vec<State>) -> Self {
        /// More have no room beneath a row.
        const MOST_LANES: usize = 8;
        // Of those that begin at one instant one that ends then is first, and leaves its lane to the next.
        states.sort_unstable();
        let mut found = Self { number: states.len() as u64, ..Self::default() };
        for state in states {
            let is_free = |lane: &&mut Vec<State>| lane.last().is_none_or(|last| last.end <= state.start);
            if let Some(lane) = found.lanes.iter_mut().find(is_free) {
                lane.push(state);
            } else if found.lanes.len() < MOST_LANES {
                found.lanes.push(vec![state]);
            } else {
                found.left_out += 1;
            }
        }
        found
    }
}

/// Hands out the states of a part that can be right; what could not be read.
fn read(run: &Opened<'_>, part: &Part, each: &mut dyn FnMut(u32, State)) -> Option<Error> {
    let spec = schema::table("overlaps")?;
    let (regions, locations) = (run.head.regions.len(), run.trace.locations().len());
    let mut wrong = None;
    let mut rows = |batch: &Columns| -> Result<(), Error> {
        let (at, of) = (batch.u32("location")?, batch.u32("region")?);
        let (starts, durations) = (batch.i64("start")?, batch.i64("duration")?);
        for row in 0..batch.len() {
            let is_known = (of[row] as usize) < regions && (at[row] as usize) < locations;
            if is_known && 0 <= starts[row] && 0 <= durations[row] {
                let end = starts[row].saturating_add(durations[row]);
                each(at[row], State { start: starts[row], end, region: of[row] });
            }
        }
        Ok(())
    };
    let columns = ["location", "start", "duration", "region"];
    let done =
        run.archive.scan_part(spec, part, &columns, &[], |batch| wrong = wrong.take().or(rows(batch).err()));
    done.err().or(wrong)
}
