//! What is to be drawn of a window.

use crate::fold::{Piece, float, pieces};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{StatesHead, Window};

/// Stands for a region that there is not.
const NONE: u32 = u32::MAX;

pub(super) fn answer(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let mut found: Vec<Piece> = Vec::new();
    let trust = pieces(run, window, &mut |piece| found.push(*piece));
    let all = by_line(&found, run.head.lines.len());
    let visits = all.iter().filter(|piece| piece.is_visit).count();
    let head = StatesHead { trust, visits: u32::try_from(visits).unwrap_or(u32::MAX) };
    let mut columns = Columns::default();
    columns.u32("line", all.iter().map(|piece| piece.line));
    columns.f64("start", all.iter().map(|piece| float(piece.start)));
    columns.f64("duration", all.iter().map(|piece| float(piece.duration * piece.n)));
    for (place, name) in [(0, "region1"), (1, "region2"), (2, "region3")] {
        columns.u32(name, all.iter().map(|piece| piece.regions[place].map_or(NONE, |region| region.0)));
    }
    for (place, name) in [(0, "share1"), (1, "share2"), (2, "share3")] {
        columns.f32(
            name,
            all.iter().map(|piece| share(piece, piece.regions[place].map_or(0, |region| region.1))),
        );
    }
    columns.f32("rest", all.iter().map(|piece| share(piece, piece.rest)));
    columns.u32("visit", all.iter().map(|piece| u32::from(piece.is_visit)));
    columns.frame("states", &head)
}

/// Pieces by line and start. Those of a line come nearly in the order of time, so lines are told apart by counting, and
/// only those are sorted of which that is not so.
fn by_line(found: &[Piece], lines: usize) -> Vec<&Piece> {
    let mut behind = vec![0; lines + 1];
    for piece in found {
        behind[(piece.line as usize).min(lines)] += 1;
    }
    let mut sum = 0;
    for first in &mut behind {
        (*first, sum) = (sum, sum + *first);
    }
    let Some(any) = found.first() else { return Vec::new() };
    let mut all = vec![any; found.len()];
    for piece in found {
        let place = &mut behind[(piece.line as usize).min(lines)];
        all[*place] = piece;
        *place += 1;
    }
    let mut first = 0;
    for end in behind {
        let line = &mut all[first..end];
        if !line.is_sorted_by_key(|piece| piece.start) {
            line.sort_by_key(|piece| piece.start);
        }
        first = end;
    }
    all
}

#[expect(clippy::cast_possible_truncation, reason = "a share of a pixel")]
fn share(piece: &Piece, time: i64) -> f32 {
    (float(time) / float(piece.duration.max(1))) as f32
}
