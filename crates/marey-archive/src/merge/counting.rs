//! Which messages a process has counted without keeping them.
//!
//! The one idea: a recorder that adds up has a cell for each channel into which it sent, and for each communicator
//! in which it received something. So a message of which only one half is there is explained if a cell says that
//! the other side counted such halves, and only then; else it is a problem.
//!
//! Whether there are as many as it counted is not asked.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use marey_model::spool::sums::{Cell, NOBODY};

use super::cells;
use super::halves::Key;
use super::index::SumsIndex;
use super::input::Input;
use crate::Error;

/// Of which halves of messages processes have kept the number only.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    /// Communicator, the sender's group, sender and receiver.
    sends: FxHashSet<(u32, u8, u32, u32)>,
    /// Communicator, the sender's group, sender: of whatever it sent.
    all_sends: FxHashSet<(u32, u8, u32)>,
    /// Communicator, the sender's group, receiver.
    receives: FxHashSet<(u32, u8, u32)>,
}

/// What the sums of a thread say of messages.
#[derive(Default)]
struct Said {
    /// Communicators, in the process's numbers, and ranks.
    sent: Vec<(u32, u32)>,
    /// Communicators.
    received: Vec<u32>,
    /// There are things that found no cell, so anything may have been counted.
    is_more: bool,
}

impl Counting {
    /// Reads what all sums say.
    pub(crate) fn read(input: &Input) -> Result<Self, Error> {
        let said = input.index.sums.par_iter().filter(|sums| sums.summed > 0);
        let said = said.map(|sums| Ok((sums.process, Said::read(input, sums)?)));
        let said: Vec<(u64, Said)> = said.collect::<Result<_, Error>>()?;
        let places: FxHashMap<u64, usize> =
            (0..).zip(&input.processes).map(|(place, process)| (process.key, place)).collect();
        let mut counting = Self::default();
        for (process, said) in said {
            let Some(&place) = places.get(&process) else { continue };
            let communicators = &input.contexts[place].communicators;
            for (communicator, peer) in said.sent {
                let seen = communicators.get(&communicator).map(|(seen, _)| seen);
                counting.sends.extend(seen.map(|seen| (seen.id, seen.side, seen.rank, peer)));
            }
            let received = said.received.iter().filter_map(|number| communicators.get(number));
            let everywhere = communicators.values().filter(|_| said.is_more);
            for (seen, _) in received.chain(everywhere.clone()) {
                counting.receives.insert((seen.id, seen.peer_side, seen.rank));
            }
            counting.all_sends.extend(everywhere.map(|(seen, _)| (seen.id, seen.side, seen.rank)));
        }
        Ok(counting)
    }

    /// Whether the sender has counted sends of a channel.
    pub(crate) fn sends(&self, key: Key) -> bool {
        self.sends.contains(&(key.communicator, key.side, key.from, key.to))
            || self.all_sends.contains(&(key.communicator, key.side, key.from))
    }

    /// Whether the receiver has counted receives that may be of a channel.
    pub(crate) fn receives(&self, key: Key) -> bool {
        self.receives.contains(&(key.communicator, key.side, key.to))
    }
}

impl Said {
    fn read(input: &Input, sums: &SumsIndex) -> Result<Self, Error> {
        let mut said = Self::default();
        cells::each(&input.index, sums, |_, cell| match cell {
            Some(Cell::Path { site: NOBODY, sums, .. } | Cell::Sent { communicator: NOBODY, sums, .. }) => {
                said.is_more |= sums.number > 0;
            }
            Some(Cell::Sent { communicator, peer, sums }) if sums.number > 0 => {
                said.sent.push((communicator, peer));
            }
            Some(Cell::Received { communicator, sums }) if sums.number > 0 => {
                said.received.push(communicator)
            }
            _ => {}
        })?;
        Ok(said)
    }
}
