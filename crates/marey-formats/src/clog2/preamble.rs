//! The first 1024 bytes of a log: texts that say how the rest is written.

use std::path::Path;

use super::unreadable;
use crate::Error;
use crate::bytes::Order;
use crate::mpe::MOST_RANKS;
use crate::problems::{Problems, kind};

/// Bytes of a preamble.
pub(super) const LEN: u64 = super::PREAMBLE as u64;
/// The version that is read.
pub(crate) const VERSION: &str = "CLOG-02.44";
/// Bytes of a block: MPE's own is 65536, and each is in memory at a time.
const BLOCK: std::ops::RangeInclusive<u64> = 256..=64 << 20;

/// What a preamble says.
#[derive(Clone, Debug)]
pub(super) struct Preamble {
    pub version: String,
    pub order: Order,
    /// Whether a program has got to the end of its log.
    is_finished: bool,
    /// Bytes of a block.
    pub block: u64,
    pub world_size: Option<u32>,
    /// Where the blocks end and the table of communicators begins, if it says so and that can be.
    pub table: Option<u64>,
    /// Whether it says in which order bytes stand.
    says_order: bool,
    /// Whether it says where a table is, and that cannot be.
    lacks_table: bool,
}

impl Preamble {
    /// Reads the beginning of a file that is `len` bytes long.
    ///
    /// # Errors
    /// If it is of another version, or does not say what is needed to read on.
    pub(super) fn read(path: &Path, beginning: &[u8], len: u64) -> Result<Self, Error> {
        let texts: Vec<String> = beginning
            .split(|byte| *byte == 0)
            .map(|text| String::from_utf8_lossy(text).trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect();
        let version = texts.first().cloned().unwrap_or_default();
        if version != VERSION {
            let what = format!("its version is {version:?}, and only {VERSION} can be read");
            return Err(unreadable(path, what));
        }
        let values = |title: &str| {
            let at = texts.iter().position(|text| text == title);
            at.and_then(|at| texts.get(at + 1..)).unwrap_or_default()
        };
        let number = |title: &str| values(title).first().and_then(|text| text.parse::<u64>().ok());
        let is = |title: &str, word: &str| values(title).first().is_some_and(|text| text.starts_with(word));
        let block = number("block_size=").filter(|block| BLOCK.contains(block));
        let Some(block) = block else {
            let (least, most) = (BLOCK.start(), BLOCK.end());
            let what = format!("its preamble says no block_size between {least} and {most}");
            return Err(unreadable(path, what));
        };
        let world_size = number("max_comm_world_size=").and_then(|size| u32::try_from(size).ok());
        let is_little = is("is_big_endian=", "FALSE");
        let said = table(values("commtable_fptr="));
        let table = said.filter(|at| (LEN..=len).contains(at) && (at - LEN).is_multiple_of(block));
        Ok(Self {
            version,
            order: if is_little { Order::Little } else { Order::Big },
            is_finished: is("is_finalzed=", "TRUE"),
            block,
            world_size: world_size.filter(|size| (1..=MOST_RANKS).contains(size)),
            table,
            lacks_table: said.is_some_and(|at| at > 0) && table.is_none(),
            says_order: is_little || is("is_big_endian=", "TRUE"),
        })
    }

    /// Ranks are less than this; what says more is damaged.
    pub(super) fn most_ranks(&self) -> u32 {
        self.world_size.unwrap_or(MOST_RANKS)
    }

    /// What is wrong with it, yet not so that nothing could be read.
    pub(super) fn tell(&self, problems: &mut Problems) {
        if !self.says_order {
            let what = "the preamble does not say in which order bytes stand: taken for big-endian";
            problems.add(kind::DAMAGED, what, 1);
        }
        if self.lacks_table {
            let what =
                "the table of communicators is not where the preamble says: perhaps the file is cut off";
            problems.add(kind::MISSING, what, 1);
        }
        if !self.is_finished {
            problems.add(kind::MISSING, "the program did not finish this log: is_finalzed is not TRUE", 1);
        }
    }
}

/// The place that three numbers say: the first times the second, and the third.
fn table(values: &[String]) -> Option<u64> {
    let mut numbers = values.iter().map(|text| text.parse::<u64>().ok());
    let (units, unit, rest) = (numbers.next()??, numbers.next()??, numbers.next()??);
    units.checked_mul(unit)?.checked_add(rest)
}
