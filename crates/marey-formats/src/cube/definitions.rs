//! Call paths and threads, out of the anchor.
//!
//! The one idea: rows know nothing but numbers, so for each node of the call tree and for each location the one that a run
//! has in its place is found beforehand.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::anchor::Anchor;
use super::names;
use crate::draft::Owner;
use crate::otf2::paradigm::region_of;
use crate::problems::kind::MISSING;
use crate::profile::Profile;

/// The call path of each node of the call tree.
pub(super) fn paths(profile: &mut Profile, anchor: &Anchor) -> Vec<u32> {
    let mut regions = FxHashMap::default();
    for region in &anchor.regions {
        let codes = (names::paradigm(&region.paradigm), names::role(&region.role));
        let id = profile.region(&region_of(&region.name, codes, (&region.file, region.line)));
        regions.insert(region.id, id);
    }
    let mut paths: Vec<u32> = Vec::with_capacity(anchor.cnodes.len());
    for cnode in &anchor.cnodes {
        let region = match regions.get(&cnode.region) {
            Some(region) => *region,
            None => {
                profile.problems.add(MISSING, "regions that call paths speak of", 1);
                profile.region(&region_of("", (0, 0), ("", 0)))
            }
        };
        let above = cnode.parent.map(|parent| paths[parent as usize]);
        paths.push(profile.path(above, region));
    }
    paths
}

/// Ranks beyond this are none of any machine.
const MOST_RANKS: u32 = 1 << 24;

/// Processes and threads; the thread of each location in the order of rows, which is that of their numbers.
pub(super) fn threads(profile: &mut Profile, anchor: &Anchor) -> Vec<u32> {
    let has_mpi = anchor.regions.iter().any(|region| region.paradigm == "mpi");
    let has_ranks = has_mpi || anchor.groups.len() > 1;
    let mut ranks = BTreeSet::new();
    let mut processes = Vec::with_capacity(anchor.groups.len());
    for group in &anchor.groups {
        let is_process = group.kind.is_empty() || group.kind == "process";
        let rank = group.rank.filter(|rank| has_ranks && is_process && *rank < MOST_RANKS);
        if rank.is_some_and(|rank| !ranks.insert(rank)) {
            profile.trouble("processes of the same rank");
        }
        let host = anchor.host(group).to_owned();
        // Accelerators and the like have no rank, and a name.
        let command = if is_process { Vec::new() } else { vec![group.name.clone()] };
        processes.push(profile.process(Owner { rank, host, command, ..Owner::default() }));
    }
    let mut threads = Vec::with_capacity(anchor.locations.len());
    for location in &anchor.locations {
        threads.push((location.id, profile.thread(processes[location.group], &location.name)));
    }
    threads.sort_by_key(|it| it.0);
    threads.into_iter().map(|it| it.1).collect()
}
