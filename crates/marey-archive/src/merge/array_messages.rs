//! Which arrays messages come from and go to, added up.
//!
//! The one idea: as for the sums by pair of processes; what a reader wants first need not be asked of each message.
//!
//! Deliberately absent: messages of which one end is unknown, and those that were only added up, of which nobody knows the
//! buffers.

use rustc_hash::FxHashMap;

use super::input::Input;
use super::rows::columns;
use super::shards::Shards;
use super::writing::Writing;
use crate::schema::{ARRAY_MESSAGES, NONE};
use crate::{Column, Columns, Error};

/// What was sent, what was received, by whom and to whom.
type Key = (u32, u32, u32, u32);

/// Messages and bytes.
#[derive(Default)]
pub(crate) struct ArrayMessages {
    sums: FxHashMap<Key, (i64, i64)>,
}

impl ArrayMessages {
    /// Adds the messages of a slab.
    pub(crate) fn count(&mut self, input: &Input, shards: &Shards) {
        let locations = &input.globals.locations;
        let noun = |array: u32| input.globals.arrays.get(array as usize).map_or(NONE, |row| row.noun);
        // Messages come channel by channel, so the sum of the one before is nearly always the next's.
        let mut last = ((NONE, NONE, NONE, NONE), (0, 0));
        for row in shards.rows().filter(|row| row.send_location != NONE && row.recv_location != NONE) {
            let from = locations[row.send_location as usize].process;
            let to = locations[row.recv_location as usize].process;
            let key = (row.send_array, row.recv_array, from, to);
            if last.0 != key {
                let ((sent, received, from, to), sum) = std::mem::replace(&mut last, (key, (0, 0)));
                self.add((noun(sent), noun(received), from, to), sum);
            }
            last.1 = (last.1.0 + 1, last.1.1.saturating_add(row.bytes));
        }
        let ((sent, received, from, to), sum) = last;
        self.add((noun(sent), noun(received), from, to), sum);
    }

    fn add(&mut self, key: Key, (messages, bytes): (i64, i64)) {
        if 0 < messages {
            let sum = self.sums.entry(key).or_default();
            *sum = (sum.0.saturating_add(messages), sum.1.saturating_add(bytes));
        }
    }
}

pub(super) fn table(writing: &Writing) -> Result<Columns, Error> {
    let mut rows: Vec<_> = writing.array_messages.sums.iter().collect();
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.0.0,
        U32 |row| row.0.1,
        U32 |row| row.0.2,
        U32 |row| row.0.3,
        I64 |row| row.1.0,
        I64 |row| row.1.1,
    ];
    Columns::from_columns(&ARRAY_MESSAGES, columns)
}
