//! The definitions of a location: what its numbers are in the whole archive, and how wrong its clock is.
//!
//! Source of the correction: the clock offsets of OTF2, between two of which the clock is taken to drift evenly.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::chunks::{Chunks, Content, Packed};
use crate::Error;
use crate::bytes::Bytes;

/// What is numbered by itself in a location, by the codes of OTF2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Numbered {
    String = 0,
    Attribute = 1,
    Region = 3,
    Group = 4,
    Metric = 5,
    Communicator = 6,
    Parameter = 7,
    Window = 8,
    SourceLocation = 9,
    Context = 10,
    Generator = 11,
    File = 12,
    Handle = 13,
    LocationGroup = 14,
}

/// Kinds of numbers there are.
const KINDS: usize = 15;

#[derive(Clone, Debug)]
enum Map {
    /// The number is the place.
    Dense(Vec<u64>),
    Sparse(FxHashMap<u64, u64>),
}

/// What a location's own definitions say.
#[derive(Debug, Default)]
pub(super) struct Local {
    maps: [Option<Map>; KINDS],
    /// Time and what has to be added to it.
    offsets: Vec<(u64, i64)>,
    /// Definitions that could not be read.
    pub damaged: u64,
}

mod record {
    pub(super) const MAP: u8 = 5;
    pub(super) const CLOCK_OFFSET: u8 = 6;
}

impl Local {
    /// Reads them; nothing is known if there are none.
    pub(super) fn read(path: &Path, chunk_len: u64) -> Result<Self, Error> {
        let mut local = Self::default();
        let Some(mut chunks) = Chunks::open(path, Content::Definitions, chunk_len)? else { return Ok(local) };
        while let Some(raw) = chunks.next()? {
            let body = raw.body;
            let known = match raw.kind {
                record::MAP => local.map(body),
                record::CLOCK_OFFSET => local.offset(body),
                _ => Some(()),
            };
            local.damaged += u64::from(known.is_none());
        }
        local.damaged += chunks.n_damaged;
        local.offsets.sort_unstable();
        local.offsets.dedup_by_key(|it| it.0);
        Ok(local)
    }

    fn map(&mut self, mut body: Bytes<'_>) -> Option<()> {
        let kind = body.u8()?;
        let (len, is_sparse) = (usize::try_from(body.packed64()?).ok()?, body.u8()? == 1);
        // Each takes a byte at least.
        if body.left() < len {
            return None;
        }
        let map = if is_sparse {
            let pairs = (0..len).map(|_| Some((body.packed64()?, body.packed64()?)));
            Map::Sparse(pairs.collect::<Option<_>>()?)
        } else {
            Map::Dense((0..len).map(|_| body.packed64()).collect::<Option<_>>()?)
        };
        *self.maps.get_mut(usize::from(kind))? = Some(map);
        Some(())
    }

    fn offset(&mut self, mut body: Bytes<'_>) -> Option<()> {
        self.offsets.push((body.u64()?, body.packed64()?.cast_signed()));
        Some(())
    }

    /// The number in the archive of what is numbered here.
    pub(super) fn global(&self, kind: Numbered, number: u32) -> u32 {
        if number == u32::MAX {
            return number;
        }
        let wide = u64::from(number);
        let found = match self.maps.get(kind as usize).and_then(Option::as_ref) {
            Some(Map::Dense(map)) => map.get(number as usize).copied(),
            Some(Map::Sparse(map)) => map.get(&wide).copied(),
            None => None,
        };
        found.and_then(|found| u32::try_from(found).ok()).unwrap_or(number)
    }

    /// A time as the clock of the whole archive has it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "an offset of some ms, by a share"
    )]
    pub(super) fn corrected(&self, ticks: u64) -> u64 {
        let offset = match self.offsets.as_slice() {
            // One says nothing of how the clock goes, and OTF2 takes it for none.
            [] | [_] => return ticks,
            offsets => {
                // Beyond the last the drift is that of the last two.
                let next = offsets.partition_point(|it| it.0 <= ticks).clamp(1, offsets.len() - 1);
                let ((t1, o1), (t2, o2)) = (offsets[next - 1], offsets[next]);
                // Differences first: times themselves are too large for a number with a fraction.
                let slope = o2.saturating_sub(o1) as f64 / (t2 - t1) as f64;
                let since = ticks.abs_diff(t1) as f64 * if ticks < t1 { -1.0 } else { 1.0 };
                o1.saturating_add((slope * since).round() as i64)
            }
        };
        ticks.saturating_add_signed(offset)
    }
}
