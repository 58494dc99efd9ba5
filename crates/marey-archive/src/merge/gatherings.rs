//! Collectives that nobody leaves before all have entered: what they say about clocks.
//!
//! The one idea: of all members that count one clock only the last to enter and the first to leave
//! matter. Members come one by one, in any order and slab; what is known of a collective may be used
//! before all are there, since a part of what is true is true.

use std::collections::BTreeMap;

use marey_model::Role;

use super::bounds::Bounds;
use super::input::Input;
use super::messages::CollectiveRow;
use super::paths::Paths;

/// Collectives that wait for members at most.
const MOST_OPEN: usize = 4096;
/// With more clocks than this only the first of them is compared with each of the others.
const MOST_PAIRED: usize = 16;
/// What takes something from all and gives all of it to all, without `MPI_`, `I` and `_c`. Others of the
/// role may have nothing for some members, who then need not wait.
const FROM_ALL_TO_ALL: [&str; 4] = ["allreduce", "allgather", "alltoall", "reduce_scatter_block"];

/// By clock, the last enter and the first leave.
type Times = BTreeMap<usize, (f64, f64)>;

/// Collectives of which members are still to come.
pub(crate) struct Gatherings<'a> {
    input: &'a Input,
    /// By communicator and number: members so far, and by clock the last enter and the first leave.
    open: BTreeMap<(u32, u32), (u32, Times)>,
    /// Whether regions gather their members.
    regions: Vec<Option<bool>>,
}

impl<'a> Gatherings<'a> {
    pub(crate) fn new(input: &'a Input) -> Self {
        Self { input, open: BTreeMap::new(), regions: Vec::new() }
    }

    /// One member: when it entered and left, on its own clock.
    pub(crate) fn take(
        &mut self,
        row: &CollectiveRow,
        clock: usize,
        (enter, leave): (f64, f64),
        paths: &Paths,
        bounds: &mut Bounds,
    ) {
        let Some(communicator) = self.input.globals.communicators.rows.get(row.communicator as usize) else {
            return;
        };
        let (size, is_inter) = (communicator.size, communicator.inter);
        let Some(path) = paths.rows.get(row.path as usize) else { return };
        let is_empty = row.bytes_out == 0 && row.bytes_in == 0;
        if is_inter || !self.gathers(path.region, is_empty) {
            return;
        }
        let key = (row.communicator, row.instance);
        let (members, times) = self.open.entry(key).or_default();
        *members += 1;
        let time = times.entry(clock).or_insert((f64::NEG_INFINITY, f64::INFINITY));
        *time = (time.0.max(enter), time.1.min(leave));
        if *members >= size {
            self.close(key, bounds);
        } else if self.open.len() > MOST_OPEN {
            let oldest = self.open.keys().min_by_key(|key| key.1).copied();
            oldest.into_iter().for_each(|key| self.close(key, bounds));
        }
    }

    /// Uses what is known of all.
    pub(crate) fn finish(mut self, bounds: &mut Bounds) {
        while let Some(key) = self.open.keys().next().copied() {
            self.close(key, bounds);
        }
    }

    fn close(&mut self, key: (u32, u32), bounds: &mut Bounds) {
        let Some((_, times)) = self.open.remove(&key) else { return };
        let paired = if times.len() > MOST_PAIRED { 1 } else { times.len() };
        for (place, (&one, here)) in times.iter().enumerate().take(paired) {
            for (&other, there) in times.iter().skip(place + 1) {
                bounds.add(one, other, here.0, there.1);
                bounds.add(other, one, there.0, here.1);
            }
        }
    }

    fn gathers(&mut self, region: u32, is_empty: bool) -> bool {
        let globals = &self.input.globals;
        let Some(verb) = globals.regions.rows.get(region as usize).map(|region| region.verb) else {
            return false;
        };
        let Some(verb) = globals.verbs.rows.get(verb as usize) else { return false };
        if verb.role == Role::Barrier as u8 {
            return true;
        }
        let place = region as usize;
        if self.regions.len() <= place {
            self.regions.resize(place + 1, None);
        }
        let is_such = *self.regions[place].get_or_insert_with(|| {
            let name = verb.name.to_ascii_lowercase();
            let name = name.strip_prefix("mpi_").unwrap_or(&name);
            let name = name.strip_suffix("_c").unwrap_or(name);
            let name = name.strip_prefix('i').unwrap_or(name);
            verb.role == Role::AllToAll as u8 && FROM_ALL_TO_ALL.contains(&name)
        });
        is_such && !is_empty
    }
}
