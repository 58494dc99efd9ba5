//! Where in an array's index space accesses fall: how often each part of it was referred to, by whom it lies with.
//!
//! The one idea: an access means a set of elements that is a product of sequences of subscripts, one for each dimension; so
//! its part in a cell of a picture of two axes is a product, too, and no element is looked at by itself. Source: Irvin and
//! Miller (1996) and the remote references that Fortran D handed to pictures.
//!
//! Deliberately absent: guesses. Elements whose subscripts are not told one by one, of a vector of subscripts or beyond the
//! bounds, are counted as being nowhere.

use crate::sequences::{Elements, OneByOne, Sequence, Sequences};

/// What an axis of the picture is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// A dimension of the array, by its place.
    Dimension(usize),
    /// The process with which the elements lie.
    Process,
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'r> {
    /// Which elements.
    pub elements: Elements<'r>,
    /// The place of the process with which they lie among those that the picture has.
    pub process: Option<usize>,
    /// Whether that is another one than who asks.
    pub is_remote: bool,
}

/// A picture of an array's index space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeatMap {
    axes: [Axis; 2],
    /// Least and greatest value of each axis.
    spans: [(i64, i64); 2],
    /// Cells across and down.
    pub size: [usize; 2],
    /// References from the process itself, row by row.
    pub local: Vec<u64>,
    /// References from others.
    pub remote: Vec<u64>,
    /// References that are in no cell.
    pub nowhere: u64,
    one_by_one: OneByOne,
}

impl HeatMap {
    /// An empty picture, across and down, of two axes that are not the same: what each is, the least and greatest value on it, and how many cells at most.
    pub fn new(axes: [Axis; 2], spans: [(i64, i64); 2], most: [usize; 2]) -> Self {
        let cells = |at: usize| {
            let extent = spans[at].1.saturating_sub(spans[at].0).saturating_add(1).max(1);
            usize::try_from(extent).unwrap_or(usize::MAX).min(most[at].max(1))
        };
        let size = [cells(0), cells(1)];
        let number = size[0].saturating_mul(size[1]);
        let (local, remote) = (vec![0; number], vec![0; number]);
        Self { axes, spans, size, local, remote, nowhere: 0, one_by_one: OneByOne::default() }
    }

    /// Least and greatest value of each axis.
    pub const fn spans(&self) -> [(i64, i64); 2] {
        self.spans
    }

    /// Adds an access.
    pub fn add(&mut self, it: &Reference<'_>) {
        let number = it.elements.number();
        let placed = match it.elements.sequences() {
            Some(Sequences::Product(all)) => self.add_product(it, &all),
            Some(Sequences::Offsets(first)) if self.one_by_one.may(number) => {
                let mut placed = 0;
                it.elements.each_from(first, &mut |subscripts| {
                    let one = |start: &i64| Sequence { start: *start, step: 1, count: 1 };
                    placed += self.add_product(it, &subscripts.iter().map(one).collect::<Vec<_>>());
                });
                placed
            }
            _ => 0,
        };
        self.nowhere = self.nowhere.saturating_add(number.saturating_sub(placed));
    }

    fn add_product(&mut self, it: &Reference<'_>, all: &[Sequence]) -> u64 {
        let on = |at: usize| -> Vec<(usize, u64)> {
            match self.axes[at] {
                Axis::Process => self.process_cell(at, it).into_iter().map(|cell| (cell, 1)).collect(),
                Axis::Dimension(place) => match all.get(place) {
                    Some(sequence) => self.cells(at, *sequence),
                    None => Vec::new(),
                },
            }
        };
        let (across, down) = (on(0), on(1));
        let is_shown = |place: usize| self.axes.contains(&Axis::Dimension(place));
        let others = all.iter().enumerate().filter(|(place, _)| !is_shown(*place));
        let others = others.map(|(_, sequence)| sequence.count).fold(1, u64::saturating_mul);
        let width = self.size[0];
        let cells = if it.is_remote { &mut self.remote } else { &mut self.local };
        let mut placed = 0_u64;
        for (row, times) in &down {
            for (column, each) in &across {
                let more = each.saturating_mul(*times).saturating_mul(others);
                if let Some(cell) = cells.get_mut(row * width + column) {
                    *cell = cell.saturating_add(more);
                    placed = placed.saturating_add(more);
                }
            }
        }
        placed
    }

    fn process_cell(&self, at: usize, it: &Reference<'_>) -> Option<usize> {
        let process = i64::try_from(it.process?).ok()?;
        self.cell(at, process)
    }

    fn cell(&self, at: usize, value: i64) -> Option<usize> {
        let (least, most) = self.spans[at];
        if value < least || value > most {
            return None;
        }
        let extent = i128::from(most) - i128::from(least) + 1;
        usize::try_from((i128::from(value) - i128::from(least)) * self.size[at] as i128 / extent).ok()
    }

    /// How many of a sequence fall into which cell of an axis.
    fn cells(&self, at: usize, sequence: Sequence) -> Vec<(usize, u64)> {
        let mut found: Vec<(usize, u64)> = Vec::new();
        let cells = self.size[at];
        if sequence.count <= 2 * cells as u64 {
            for number in 0..sequence.count {
                if let Some(cell) = sequence.at(number).and_then(|value| self.cell(at, value)) {
                    match found.last_mut() {
                        Some(last) if last.0 == cell => last.1 += 1,
                        _ => found.push((cell, 1)),
                    }
                }
            }
            return found;
        }
        let (least, most) = self.spans[at];
        let extent = i128::from(most) - i128::from(least) + 1;
        let edge = |cell: usize| {
            let cells = cells as i128;
            i128::from(least) + (cell as i128 * extent + cells - 1).div_euclid(cells)
        };
        for cell in 0..cells {
            let number = sequence.within(edge(cell), edge(cell + 1) - 1);
            if number > 0 {
                found.push((cell, number));
            }
        }
        found
    }
}
