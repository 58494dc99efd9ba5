//! What is to be drawn of a window.
//!
//! The one idea: a picture is much of little, and what takes time is to move it. So each thread puts the pieces that it reads
//! into columns as they are sent, lines are told apart by counting, and the columns are copied once, in that order.

use crate::fold::{Piece, collect, float};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{StatesHead, Window};

/// Stands for a region that there is not.
const NONE: u32 = u32::MAX;

/// Pieces as they are sent, column by column.
#[derive(Default, Debug)]
struct Pieces {
    lines: Vec<u32>,
    starts: Vec<f64>,
    durations: Vec<f64>,
    regions: [Vec<u32>; 3],
    /// Of these regions, and of all others.
    shares: [Vec<f32>; 4],
    visits: Vec<u32>,
}

pub(super) fn answer(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let (trust, mut found) = collect(run, window, Pieces::with_room, Pieces::push);
    found.retain(|it| !it.lines.is_empty());
    // A viewer names locations in their order; whoever does not gets lines in order all the same.
    if !found.is_sorted_by(|a, b| a.lines.iter().max() <= b.lines.iter().min()) {
        found = vec![joined(found)];
    }
    let number: usize = found.iter().flat_map(|it| &it.visits).map(|it| *it as usize).sum();
    let visits = u32::try_from(number).unwrap_or(u32::MAX);
    columns(found).frame("states", &StatesHead { trust, visits })
}

impl Pieces {
    /// With room for so many.
    fn with_room(number: usize) -> Self {
        Self {
            lines: Vec::with_capacity(number),
            starts: Vec::with_capacity(number),
            durations: Vec::with_capacity(number),
            regions: std::array::from_fn(|_| Vec::with_capacity(number)),
            shares: std::array::from_fn(|_| Vec::with_capacity(number)),
            visits: Vec::with_capacity(number),
        }
    }

    fn push(&mut self, piece: &Piece) {
        let of = |place: usize| piece.regions[place].unwrap_or((NONE, 0));
        let [first, second, third] = [of(0), of(1), of(2)];
        // A division for all of them.
        let one = 1.0 / float(piece.duration.max(1));
        self.lines.push(piece.line);
        self.starts.push(float(piece.start));
        self.durations.push(float(piece.duration * piece.n));
        self.regions.iter_mut().zip([first.0, second.0, third.0]).for_each(|(all, it)| all.push(it));
        let times = [first.1, second.1, third.1, piece.rest];
        self.shares.iter_mut().zip(times).for_each(|(all, time)| all.push(share(float(time) * one)));
        self.visits.push(u32::from(piece.is_visit));
    }

    /// Places by line and start. Pieces of a line come nearly in the order of time, so lines are told apart by counting, and
    /// only those are sorted of which that is not so. `None` = they lie in that order.
    fn order(&self) -> Option<Vec<u32>> {
        let (first, last) = (*self.lines.iter().min()?, *self.lines.iter().max()?);
        let mut ends = vec![0_usize; (last - first) as usize + 1];
        self.lines.iter().for_each(|line| ends[(line - first) as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut order = vec![0; self.lines.len()];
        for (place, line) in (0..).zip(&self.lines) {
            let end = &mut ends[(line - first) as usize];
            order[*end] = place;
            *end += 1;
        }
        let mut begin = 0;
        let start = |place: &u32| self.starts[*place as usize];
        for end in ends {
            let line = &mut order[begin..end];
            if !line.is_sorted_by(|a, b| start(a) <= start(b)) {
                line.sort_by(|a, b| start(a).total_cmp(&start(b)));
            }
            begin = end;
        }
        let is_there = (0..).zip(&order).all(|(place, it): (u32, &u32)| place == *it);
        (!is_there).then_some(order)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share of a pixel")]
fn share(share: f64) -> f32 {
    share as f32
}

/// All of them as if one thread had found them.
fn joined(found: Vec<Pieces>) -> Pieces {
    let mut all = Pieces::default();
    for mut it in found {
        all.lines.append(&mut it.lines);
        all.starts.append(&mut it.starts);
        all.durations.append(&mut it.durations);
        all.regions.iter_mut().zip(&mut it.regions).for_each(|(all, more)| all.append(more));
        all.shares.iter_mut().zip(&mut it.shares).for_each(|(all, more)| all.append(more));
        all.visits.append(&mut it.visits);
    }
    all
}

fn columns(found: Vec<Pieces>) -> Columns {
    let orders: Vec<Option<Vec<u32>>> = found.iter().map(Pieces::order).collect();
    let mut columns = Columns::default();
    let (mut lines, mut starts, mut durations, mut visits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut regions: [Vec<Vec<u32>>; 3] = Default::default();
    let mut shares: [Vec<Vec<f32>>; 4] = Default::default();
    for (it, order) in found.into_iter().zip(orders) {
        let order = order.as_deref();
        lines.push(in_order(it.lines, order));
        starts.push(in_order(it.starts, order));
        durations.push(in_order(it.durations, order));
        visits.push(in_order(it.visits, order));
        regions.iter_mut().zip(it.regions).for_each(|(all, some)| all.push(in_order(some, order)));
        shares.iter_mut().zip(it.shares).for_each(|(all, some)| all.push(in_order(some, order)));
    }
    columns.u32_pieces("line", lines);
    columns.f64_pieces("start", starts);
    columns.f64_pieces("duration", durations);
    for (name, regions) in ["region1", "region2", "region3"].into_iter().zip(regions) {
        columns.u32_pieces(name, regions);
    }
    for (name, shares) in ["share1", "share2", "share3", "rest"].into_iter().zip(shares) {
        columns.f32_pieces(name, shares);
    }
    columns.u32_pieces("visit", visits);
    columns
}

/// A column in an order; without, as it is.
fn in_order<T: Copy>(column: Vec<T>, order: Option<&[u32]>) -> Vec<T> {
    match order {
        Some(order) => order.iter().map(|place| column[*place as usize]).collect(),
        None => column,
    }
}
