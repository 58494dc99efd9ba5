//! States that need not nest, in a window.
//!
//! The one idea: states that are too short to be seen and begin in the same bucket of their lane are one piece with their
//! number, which has the region of the longest.

use crate::fold::float;
use crate::frame::Columns;
use crate::overlaps::State;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{OverlapPlacesHead, OverlapsHead, Window};

/// Where there are some, and how many at a time.
pub(super) fn places(run: &Opened<'_>) -> Vec<u8> {
    let all = run.overlapping();
    let number = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    let mut columns = Columns::default();
    columns.u32("location", all.locations.keys().copied());
    columns.u32("lanes", all.locations.values().map(|it| number(it.lanes.len() as u64)));
    columns.u32("number", all.locations.values().map(|it| number(it.number)));
    columns.u32("left_out", all.locations.values().map(|it| number(it.left_out)));
    let head = OverlapPlacesHead { is_known: !all.is_too_much, damage: all.damage.clone() };
    columns.frame("overlap-places", &head)
}

/// A state, or several.
struct Piece {
    location: u32,
    lane: u32,
    start: i64,
    end: i64,
    region: u32,
    /// How long the longest of them is, ns.
    longest: i64,
    number: u32,
}

pub(super) fn answer(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let mut pieces: Vec<Piece> = Vec::new();
    let is_meant = |location: u32| ranges::hold(&window.locations, location);
    for (location, lanes) in run.overlapping().locations.iter().filter(|(location, _)| is_meant(**location)) {
        for (lane, states) in (0..).zip(&lanes.lanes) {
            let first = states.partition_point(|state| state.end < window.from_ns);
            let from = pieces.len();
            for state in states[first..].iter().take_while(|state| state.start < window.to_ns) {
                if window.from_ns < state.end || state.start == state.end {
                    add(&mut pieces, from, (*location, lane), state, window.resolution_log2);
                }
            }
        }
    }
    let mut columns = Columns::default();
    columns.u32("location", pieces.iter().map(|piece| piece.location));
    columns.u32("lane", pieces.iter().map(|piece| piece.lane));
    columns.f64("start", pieces.iter().map(|piece| float(piece.start)));
    columns.f64("duration", pieces.iter().map(|piece| float(piece.end - piece.start)));
    columns.u32("region", pieces.iter().map(|piece| piece.region));
    columns.u32("number", pieces.iter().map(|piece| piece.number));
    columns.frame("overlaps", &OverlapsHead { damage: run.overlapping().damage.clone() })
}

/// Adds a state to the pieces of its lane, of which the first stands at `from`.
fn add(pieces: &mut Vec<Piece>, from: usize, (location, lane): (u32, u32), state: &State, log2: u32) {
    let length = state.end - state.start;
    let is_short = length >> log2 == 0;
    if is_short && let Some(last) = pieces[from..].last_mut() {
        let is_same = last.longest >> log2 == 0 && last.start >> log2 == state.start >> log2;
        if is_same {
            if last.longest < length {
                (last.longest, last.region) = (length, state.region);
            }
            last.end = state.end;
            last.number = last.number.saturating_add(1);
            return;
        }
    }
    let (start, end, region) = (state.start, state.end, state.region);
    pieces.push(Piece { location, lane, start, end, region, longest: length, number: 1 });
}
