//! Communicators: who has which rank in which.
//!
//! The world has the number 0; then come those that each process is alone in, which say its host, then all others with one
//! group.

use marey_model::ProcessId;
use rustc_hash::FxHashMap;

use super::super::Definitions;
use super::super::ranks::Ranks;
use super::blocks::fixed;
use super::{number, small};
use crate::clog2::{event, len};

pub(super) struct Groups {
    /// Number and rank by the run's number of a communicator and process.
    ranks: FxHashMap<(u32, ProcessId), (i32, i32)>,
    /// What COMMEVT says, a member each.
    told: Vec<Vec<u8>>,
    /// Identity and number of each.
    table: Vec<(Vec<u8>, i32)>,
    world_size: u32,
}

impl Groups {
    pub(super) fn new(run: &Definitions<'_>, known: &Ranks) -> Self {
        let processes = run.trace.processes();
        let mut it = Self { ranks: FxHashMap::default(), told: Vec::new(), table: Vec::new(), world_size: 0 };
        let all = || (0..processes.len()).filter_map(ProcessId::from_idx);
        let in_world = |process: ProcessId| known.process(process).unwrap_or(0);
        it.world_size = all().map(|process| in_world(process) + 1).max().unwrap_or(1);
        let world = identity(0, "world");
        for process in all() {
            let rank = number(in_world(process));
            it.tell((event::WORLD, 0), (rank, rank), &world);
        }
        it.table.push((world, 0));
        for (process, alone) in all().zip(1..) {
            let host = processes.get(process.idx()).map_or("", |it| it.host.as_str());
            let own = identity(alone, host);
            it.tell((event::OWN, alone), (0, number(in_world(process))), &own);
            it.table.push((own, alone));
        }
        // Without ranks nobody has communicated.
        let groups = run.members.iter().filter(|_| known.are_real);
        for (communicator, groups) in (0..).zip(groups) {
            let [members] = groups.as_slice() else { continue };
            let is_known = |process: &ProcessId| process.idx() < processes.len();
            if members.is_empty() || !members.iter().all(is_known) {
                continue;
            }
            let is_world =
                members.len() == processes.len() && (0..).zip(members).all(|it| in_world(*it.1) == it.0);
            let id = if is_world { 0 } else { small(it.table.len()) };
            let identity = identity(id, "group");
            for (rank, process) in (0..).zip(members) {
                it.ranks.insert((communicator, *process), (id, rank));
                if !is_world {
                    it.tell((event::INTRA, id), (rank, number(in_world(*process))), &identity);
                }
            }
            if !is_world {
                it.table.push((identity, id));
            }
        }
        it
    }

    fn tell(&mut self, (kind, id): (i32, i32), (rank, in_world): (i32, i32), identity: &[u8]) {
        let mut bytes: Vec<u8> = [kind, id, rank, in_world].into_iter().flat_map(i32::to_be_bytes).collect();
        bytes.extend(identity);
        self.told.push(bytes);
    }

    /// What COMMEVT says, once.
    pub(super) fn told(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.told)
    }

    /// The number of a communicator, and a process's rank in it, if they are known.
    pub(super) fn rank(&self, communicator: u32, process: ProcessId) -> Option<(i32, i32)> {
        self.ranks.get(&(communicator, process)).copied()
    }

    pub(super) const fn world_size(&self) -> u32 {
        self.world_size
    }

    /// The table at the end of a log.
    pub(super) fn table(&self) -> Vec<u8> {
        const INTRA: i32 = 1;
        let mut bytes = Vec::from(small(self.table.len()).to_be_bytes());
        for (identity, id) in &self.table {
            bytes.extend(identity);
            bytes.extend(id.to_be_bytes());
            bytes.extend(INTRA.to_be_bytes());
        }
        bytes
    }
}

/// What tells a communicator from all others: a number, a time, and a host.
fn identity(id: i32, host: &str) -> Vec<u8> {
    let mut bytes = Vec::from(id.to_be_bytes());
    bytes.extend(0_f64.to_be_bytes());
    bytes.extend(fixed(&host.as_bytes()[..host.floor_char_boundary(len::HOST - 1)], len::HOST));
    bytes
}
