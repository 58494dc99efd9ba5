//! Whose time lines drawables lie on: line-ID maps.
//!
//! The one idea: each map is a view, a tree of names for the same lines; the columns of one of them are ranks and threads.
//! Lines with the same rank and thread are one track: a rank has a line for each communicator.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{Log, text};
use crate::bytes::{Bytes, Order};
use crate::problems::{Problems, kind};
use crate::{Error, mpe};

/// Lines that are told apart, more than any log has.
const MOST_LINES: usize = 1 << 20;

/// Where a line is in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Line {
    /// The rank, if lines have ranks.
    pub rank: Option<u32>,
    pub thread: i32,
}

/// All lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    of: BTreeMap<i32, Line>,
    /// Whether there is a map, so other lines than its own cannot be.
    is_mapped: bool,
    are_ranks: bool,
    /// How many maps there are.
    pub maps: u64,
}

impl Lines {
    /// `are_ranks` says whether lines are ranks if no map tells.
    pub(super) fn read(log: &mut Log, are_ranks: bool, problems: &mut Problems) -> Result<Self, Error> {
        let mut lines = Self { are_ranks, ..Self::default() };
        let Some((at, bytes)) = log.lines(problems)? else { return Ok(lines) };
        let mut bytes = Bytes::new(&bytes, Order::Big);
        let mut best: Option<Map> = None;
        let number = bytes.u32().unwrap_or(u32::MAX);
        for _ in 0..number {
            let mut ahead = bytes.clone();
            let Some(map) = Map::read(&mut ahead) else { break };
            bytes = ahead;
            lines.maps += 1;
            if best.as_ref().is_none_or(|best| best.worth() < map.worth()) {
                best = Some(map);
            }
        }
        if lines.maps < u64::from(number) {
            let what = format!("line-ID maps make no sense from byte {} on", at + bytes.at as u64);
            problems.add(kind::DAMAGED, what, 1);
        }
        if let Some(map) = best {
            lines.is_mapped = true;
            lines.take(&map, problems);
        }
        Ok(lines)
    }

    fn take(&mut self, map: &Map, problems: &mut Problems) {
        for (number, path) in &map.rows {
            let column = |at: Option<usize>| at.and_then(|at| path.get(at).copied());
            let line = match column(map.rank) {
                Some(rank) => mpe::rank(rank.into())
                    .map(|rank| Line { rank: Some(rank), thread: column(map.thread).unwrap_or(0) }),
                None => self.unmapped(*number),
            };
            match line {
                Some(line) if self.of.len() < MOST_LINES => drop(self.of.entry(*number).or_insert(line)),
                _ => problems.add(kind::DAMAGED, "lines of ranks that cannot be, or too many", 1),
            }
        }
    }

    fn unmapped(&self, number: i32) -> Option<Line> {
        if !self.are_ranks {
            return Some(Line { rank: None, thread: number });
        }
        Some(Line { rank: Some(mpe::rank(number.into())?), thread: 0 })
    }

    pub(super) fn get(&self, number: i32) -> Option<Line> {
        if self.is_mapped { self.of.get(&number).copied() } else { self.unmapped(number) }
    }

    /// Lines that a map names, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Line> {
        self.of.values().copied().collect::<BTreeSet<_>>().into_iter()
    }

    /// Ranks that a map names, in order.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        self.of.values().filter_map(|line| line.rank).collect::<BTreeSet<_>>().into_iter()
    }
}

/// A view.
struct Map {
    /// The columns that are ranks and threads.
    rank: Option<usize>,
    thread: Option<usize>,
    rows: Vec<(i32, Vec<i32>)>,
}

impl Map {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let _title = text(bytes)?;
        let n_columns = usize::try_from(bytes.u32()?).ok()?;
        let mut labels = Vec::new();
        for _ in 0..n_columns {
            labels.push(text(bytes)?.to_ascii_lowercase());
        }
        let n_rows = usize::try_from(bytes.u32()?).ok()?;
        let len = n_columns.checked_add(1)?.checked_mul(4)?;
        if n_rows > bytes.left() / len {
            return None;
        }
        let mut rows = Vec::new();
        for _ in 0..n_rows {
            let number = bytes.u32()?.cast_signed();
            let path: Option<Vec<i32>> = (0..n_columns).map(|_| bytes.u32().map(u32::cast_signed)).collect();
            rows.push((number, path?));
        }
        let n_methods = usize::try_from(bytes.short(2)?).ok()?;
        bytes.take(4 * n_methods)?;
        // A processor is no process.
        let is_rank = |label: &String| {
            label.contains("rank") && !label.contains("comm")
                || label.contains("node")
                || label.contains("process")
        };
        let rank = labels.iter().position(|label| is_rank(label) && !label.contains("processor"));
        let thread = labels.iter().position(|label| label.contains("thread"));
        Some(Self { rank, thread, rows })
    }

    /// How much it tells: threads alone say nothing.
    const fn worth(&self) -> u32 {
        match (self.rank, self.thread) {
            (None, _) => 0,
            (Some(_), None) => 1,
            (Some(_), Some(_)) => 2,
        }
    }
}
