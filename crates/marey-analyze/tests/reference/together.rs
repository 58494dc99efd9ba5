//! The section "From coming and going together".
//!
//! The one idea: candidates are listed, and the page's conditions are asked one by one.

use std::collections::BTreeSet;

use marey_analyze::Interval;
use marey_model::{Level, LocationId, RegionId, Role};

use super::Record;

/// Calls of all ranks of a world, and what whoever waits in them waits at.
pub(crate) struct Calls {
    pub(crate) pattern: &'static str,
    pub(crate) calls: Vec<Interval>,
}

impl Calls {
    /// Who entered last; of several, the one with the smallest location id.
    pub(crate) fn last(&self) -> &Interval {
        let enter = self.calls.iter().map(|call| call.start).max();
        let last = self.calls.iter().filter(|call| Some(call.start) == enter);
        last.min_by_key(|call| call.location).expect("there are several")
    }
}

pub(crate) fn comings_and_goings(record: &Record) -> Vec<Calls> {
    let worlds: BTreeSet<u32> = record.processes.iter().map(|process| process.world).collect();
    worlds.into_iter().flat_map(|world| of_world(record, world)).collect()
}

fn region(record: &Record, call: &Interval) -> RegionId {
    record.call_paths[call.call_path.idx()].region
}

fn of_world(record: &Record, world: u32) -> Vec<Calls> {
    let is_first_thread = |location: &usize| {
        let location = &record.locations[*location];
        let process = &record.processes[location.process.idx()];
        process.world == world && process.rank.is_some() && location.thread.0 == 0
    };
    let ranks = (0..record.locations.len()).filter(is_first_thread);
    let ranks: Vec<LocationId> = ranks.filter_map(LocationId::from_idx).collect();
    if ranks.len() < 2 {
        return Vec::new();
    }
    let calls_of = |rank: LocationId| -> Vec<Interval> {
        let own = record.intervals.iter().filter(|call| call.location == rank);
        let is_mpi = |call: &&Interval| record.regions[region(record, call).idx()].level == Level::MPI;
        let mut calls: Vec<Interval> = own.filter(is_mpi).copied().collect();
        calls.sort_by_key(|call| (call.start, call.depth));
        calls
    };
    let all: Vec<Vec<Interval>> = ranks.iter().map(|rank| calls_of(*rank)).collect();
    let is_manage = |call: &Interval| record.role(call.call_path) == Role::Manage;
    // "None of them ends before the last of them begins."
    let are_together =
        |calls: &[Interval]| calls.iter().all(|call| calls.iter().all(|other| other.start <= call.end));

    let acts_on_nothing = |region: RegionId| record.regions[region.idx()].noun.is_empty();

    let mut coming: Option<Vec<Interval>> = None;
    for number in 0..record.regions.len() {
        if !record.regions[number].noun.is_empty() {
            continue;
        }
        let first_visit = |calls: &Vec<Interval>| {
            let before = calls.iter().take_while(|call| is_manage(call));
            before.into_iter().find(|call| region(record, call).idx() == number).copied()
        };
        let Some(visits) = all.iter().map(first_visit).collect::<Option<Vec<Interval>>>() else { continue };
        let begins = |calls: &[Interval]| calls.iter().map(|call| call.start).min();
        let is_first = coming.as_ref().is_none_or(|known| begins(&visits) < begins(known));
        if are_together(&visits) && is_first {
            coming = Some(visits);
        }
    }
    let last: Option<Vec<Interval>> = all.iter().map(|calls| calls.last().copied()).collect();
    let is_going = |calls: &Vec<Interval>| {
        calls.iter().all(|call| region(record, call) == region(record, &calls[0]))
            && is_manage(&calls[0])
            && acts_on_nothing(region(record, &calls[0]))
            && are_together(calls)
            && Some(calls) != coming.as_ref()
    };
    let going = last.filter(is_going);
    let coming = coming.map(|calls| Calls { pattern: "wait at init", calls });
    coming.into_iter().chain(going.map(|calls| Calls { pattern: "wait at exit", calls })).collect()
}
