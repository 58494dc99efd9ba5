//! What is to be drawn of a window.
//!
//! The one idea: a picture is much of little. Each piece is made as small as it is sent by the thread that reads it, goes to
//! its line by counting, and then to its columns in one pass over all of them.

use crate::fold::{Piece, collect, float};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{StatesHead, Window};

/// Stands for a region that there is not.
const NONE: u32 = u32::MAX;

/// A piece as it is sent.
#[derive(Clone, Copy, Default, Debug)]
struct Row {
    start: f64,
    duration: f64,
    line: u32,
    regions: [u32; 3],
    /// Of these regions, and of all others.
    shares: [f32; 4],
    visit: u32,
}

pub(super) fn answer(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let (trust, found) =
        collect(run, window, Vec::new, |rows: &mut Vec<Row>, piece| rows.push(Row::of(piece)));
    let mut found: Vec<Vec<Row>> = found.into_iter().map(by_line).collect();
    // A viewer names locations in their order; whoever does not gets lines in order all the same.
    if !found.iter().flatten().is_sorted_by_key(|row| row.line) {
        found = vec![by_line(found.concat())];
    }
    columns(&found).frame("states", &StatesHead { trust, visits: visits(&found) })
}

impl Row {
    fn of(piece: &Piece) -> Self {
        let of = |place: usize| piece.regions[place].unwrap_or((NONE, 0));
        let [first, second, third] = [of(0), of(1), of(2)];
        // A division for all of them.
        let one = 1.0 / float(piece.duration.max(1));
        Self {
            start: float(piece.start),
            duration: float(piece.duration * piece.n),
            line: piece.line,
            regions: [first.0, second.0, third.0],
            shares: [first.1, second.1, third.1, piece.rest].map(|time| share(float(time) * one)),
            visit: u32::from(piece.is_visit),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share of a pixel")]
fn share(share: f64) -> f32 {
    share as f32
}

fn visits(found: &[Vec<Row>]) -> u32 {
    let visits = found.iter().flatten().filter(|row| row.visit != 0).count();
    u32::try_from(visits).unwrap_or(u32::MAX)
}

/// Rows by line and start. Those of a line come nearly in the order of time, so lines are told apart by counting, and
/// only those are sorted of which that is not so.
fn by_line(found: Vec<Row>) -> Vec<Row> {
    let lines = found.iter().map(|row| row.line);
    let (Some(first), Some(last)) = (lines.clone().min(), lines.max()) else { return found };
    let mut ends = vec![0; (last - first) as usize + 1];
    found.iter().for_each(|row| ends[(row.line - first) as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        (*end, sum) = (sum, sum + *end);
    }
    let mut rows = vec![Row::default(); found.len()];
    for row in &found {
        let place = &mut ends[(row.line - first) as usize];
        rows[*place] = *row;
        *place += 1;
    }
    let mut begin = 0;
    for end in ends {
        let line = &mut rows[begin..end];
        if !line.is_sorted_by(|a, b| a.start <= b.start) {
            line.sort_by(|a, b| a.start.total_cmp(&b.start));
        }
        begin = end;
    }
    rows
}

fn columns(found: &[Vec<Row>]) -> Columns {
    let number = found.iter().map(Vec::len).sum();
    let (mut lines, mut visits) = (Vec::with_capacity(number), Vec::with_capacity(number));
    let (mut starts, mut durations) = (Vec::with_capacity(number), Vec::with_capacity(number));
    let mut regions: [Vec<u32>; 3] = std::array::from_fn(|_| Vec::with_capacity(number));
    let mut shares: [Vec<f32>; 4] = std::array::from_fn(|_| Vec::with_capacity(number));
    for row in found.iter().flatten() {
        lines.push(row.line);
        starts.push(row.start);
        durations.push(row.duration);
        regions.iter_mut().zip(row.regions).for_each(|(column, region)| column.push(region));
        shares.iter_mut().zip(row.shares).for_each(|(column, share)| column.push(share));
        visits.push(row.visit);
    }
    let mut columns = Columns::default();
    columns.u32("line", lines);
    columns.f64("start", starts);
    columns.f64("duration", durations);
    ["region1", "region2", "region3"].into_iter().zip(regions).for_each(|(name, it)| columns.u32(name, it));
    ["share1", "share2", "share3", "rest"]
        .into_iter()
        .zip(shares)
        .for_each(|(name, it)| columns.f32(name, it));
    columns.u32("visit", visits);
    columns
}
