//! Records in blocks, with the preamble before them and the table behind them.

use std::path::{Path, PathBuf};

use marey_model::Nanos;

use super::super::aside::Aside;
use super::FIRST;
use crate::Error;
use crate::clog2::{HEAD, PREAMBLE, VERSION, code};

/// Bytes of a block, as MPE has them.
const BLOCK: usize = 1 << 16;

/// When and where something happens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    pub(super) time: Nanos,
    pub(super) communicator: i32,
    pub(super) rank: i32,
    pub(super) thread: i32,
}

/// What a preamble says.
pub(super) struct Facts {
    pub(super) states: usize,
    pub(super) solos: usize,
    pub(super) world: u32,
    pub(super) threads: u32,
}

pub(super) struct Blocks {
    out: Aside,
    block: Vec<u8>,
    last: Nanos,
}

/// Bytes in a field of `len`, zeros behind them.
pub(super) fn fixed(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut field = bytes.to_vec();
    field.resize(len, 0);
    field
}

impl Blocks {
    pub(super) fn create(out: &Path) -> Result<Self, Error> {
        let mut out = Aside::create(out)?;
        out.write(&vec![0; PREAMBLE])?;
        Ok(Self { out, block: Vec::with_capacity(BLOCK), last: Nanos(0) })
    }

    pub(super) fn record(&mut self, head: Head, code: u8, rest: &[u8]) -> Result<(), Error> {
        // Each block has room for its end.
        if BLOCK < self.block.len() + HEAD + rest.len() + HEAD {
            self.end(code::END_BLOCK)?;
        }
        self.last = head.time;
        self.put(head, code);
        self.block.extend(rest);
        Ok(())
    }

    fn put(&mut self, head: Head, code: u8) {
        #[expect(clippy::cast_precision_loss, reason = "times are seconds in this format")]
        let seconds = head.time.0 as f64 / 1e9;
        self.block.extend(seconds.to_be_bytes());
        for value in [head.communicator, head.rank, head.thread, i32::from(code)] {
            self.block.extend(value.to_be_bytes());
        }
    }

    fn end(&mut self, code: u8) -> Result<(), Error> {
        self.put(Head { time: self.last, ..Head::default() }, code);
        self.block.resize(BLOCK, 0);
        self.out.write(&self.block)?;
        self.block.clear();
        Ok(())
    }

    pub(super) fn finish(mut self, table: &[u8], facts: &Facts) -> Result<PathBuf, Error> {
        self.end(code::END_LOG)?;
        let at = self.out.position();
        self.out.write(table)?;
        self.out.patch(0, &preamble(facts, at))?;
        self.out.put()
    }
}

fn preamble(facts: &Facts, table: u64) -> Vec<u8> {
    const UNIT: u64 = 1 << 30;
    let Facts { states, solos, world, threads } = facts;
    let first_solo = FIRST + 2 * states;
    let facts = [
        ("is_big_endian=", "TRUE ".to_owned()),
        ("is_finalzed=", "TRUE ".to_owned()),
        ("block_size=", BLOCK.to_string()),
        ("num_buffered_blocks=", "128".to_owned()),
        ("max_comm_world_size=", world.to_string()),
        ("max_thread_count=", threads.to_string()),
        ("known_eventID_start=", "0".to_owned()),
        ("user_eventID_start=", FIRST.to_string()),
        ("known_solo_eventID_start=", "0".to_owned()),
        ("user_solo_eventID_start=", first_solo.to_string()),
        ("known_stateID_count=", "0".to_owned()),
        ("user_stateID_count=", states.to_string()),
        ("known_solo_eventID_count=", "0".to_owned()),
        ("user_solo_eventID_count=", solos.to_string()),
    ];
    let mut words = vec![VERSION.to_owned()];
    for (title, value) in facts {
        words.extend([title.to_owned(), value]);
    }
    words.push("commtable_fptr=".to_owned());
    words.extend([table / UNIT, UNIT, table % UNIT].map(|it| it.to_string()));
    fixed((words.join("\0") + "\0").as_bytes(), PREAMBLE)
}
