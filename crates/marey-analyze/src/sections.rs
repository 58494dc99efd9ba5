//! Where in an array's index space accesses fall: how often each part of it was referred to, by whom it lies with.
//!
//! The one idea: an access means a set of elements that is a product of sequences of subscripts, one for each dimension; so
//! its part in a cell of a picture of two axes is a product, too, and no element is looked at by itself. Source: Irvin and
//! Miller (1996) and the remote references that Fortran D handed to pictures.
//!
//! Deliberately absent: guesses. Elements whose subscripts are not told one by one, of a vector of subscripts or beyond the
//! bounds, are counted as being nowhere.

/// What an axis of the picture is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// A dimension of the array, by its place.
    Dimension(usize),
    /// The process with which the elements lie.
    Process,
}

/// One dimension of what an access means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// From the offset of the access on, so many elements of memory apart.
    Elements {
        /// How far apart.
        stride: i64,
        /// How many.
        count: u64,
    },
    /// By subscripts as the source has them.
    Subscripts {
        /// The first.
        start: i64,
        /// How far apart.
        stride: i64,
        /// How many.
        count: u64,
    },
    /// By a list of subscripts, which is not told.
    Vector {
        /// How many.
        count: u64,
    },
}

impl Range {
    const fn count(self) -> u64 {
        match self {
            Self::Elements { count, .. } | Self::Subscripts { count, .. } | Self::Vector { count } => count,
        }
    }
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'r> {
    /// Bounds of the part of the array that it goes to.
    pub bounds: &'r [(i64, i64)],
    /// Size of an element, bytes.
    pub element_bytes: u64,
    /// Distance of the first element from the beginning, bytes.
    pub offset: i64,
    /// Which elements; none = the one.
    pub ranges: &'r [Range],
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
    /// Elements that may still be looked at one by one.
    left: u64,
}

/// Elements of sections that are no product are looked at one by one, so many in all.
const MOST_ONE_BY_ONE: u64 = 1 << 24;

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
        Self { axes, spans, size, local, remote, nowhere: 0, left: MOST_ONE_BY_ONE }
    }

    /// Least and greatest value of each axis.
    pub const fn spans(&self) -> [(i64, i64); 2] {
        self.spans
    }

    /// Adds an access.
    pub fn add(&mut self, it: &Reference<'_>) {
        let number = it.ranges.iter().map(|range| range.count()).fold(1, u64::saturating_mul);
        let placed = match Sequences::of(it) {
            Some(Sequences::Product(all)) => self.add_product(it, &all),
            Some(Sequences::Offsets(first)) if number <= self.left => {
                self.left -= number;
                self.add_one_by_one(it, first)
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

    fn add_one_by_one(&mut self, it: &Reference<'_>, first: i64) -> u64 {
        let mut at = vec![0_u64; it.ranges.len()];
        let mut placed = 0;
        loop {
            let steps = at.iter().zip(it.ranges).map(|(number, range)| match range {
                Range::Elements { stride, .. } => {
                    stride.saturating_mul(i64::try_from(*number).unwrap_or(i64::MAX))
                }
                _ => 0,
            });
            let element = steps.fold(first, i64::saturating_add);
            if let Some(subscripts) = subscripts(it.bounds, element) {
                let one = |start: &i64| Sequence { start: *start, step: 1, count: 1 };
                placed += self.add_product(it, &subscripts.iter().map(one).collect::<Vec<_>>());
            }
            // Counts on like a mileage counter.
            let Some(next) = (0..at.len()).find(|place| at[*place] + 1 < it.ranges[*place].count()) else {
                return placed;
            };
            at[next] += 1;
            at[..next].fill(0);
        }
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
        // How many are less than a value: then the difference of two is what lies between.
        let upwards = sequence.upwards();
        let below = |value: i128| {
            let (start, step) = (i128::from(upwards.start), i128::from(upwards.step.max(1)));
            let number = (value - start + step - 1).div_euclid(step);
            number.clamp(0, i128::from(upwards.count))
        };
        let (least, most) = self.spans[at];
        let extent = i128::from(most) - i128::from(least) + 1;
        let edge = |cell: usize| {
            let cells = cells as i128;
            i128::from(least) + (cell as i128 * extent + cells - 1).div_euclid(cells)
        };
        for cell in 0..cells {
            let number = below(edge(cell + 1)) - below(edge(cell));
            if let Some(number) = u64::try_from(number).ok().filter(|number| *number > 0) {
                found.push((cell, number));
            }
        }
        found
    }
}

/// Subscripts of one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sequence {
    start: i64,
    step: i64,
    count: u64,
}

impl Sequence {
    fn at(self, number: u64) -> Option<i64> {
        self.start.checked_add(self.step.checked_mul(i64::try_from(number).ok()?)?)
    }

    /// The same ones, the least first.
    fn upwards(self) -> Self {
        match self.at(self.count.saturating_sub(1)) {
            Some(last) if self.step < 0 => Self { start: last, step: self.step.saturating_neg(), ..self },
            _ => self,
        }
    }
}

/// The elements of an access.
enum Sequences {
    /// All combinations of these, one for each dimension of the array.
    Product(Vec<Sequence>),
    /// From an element on, in steps of memory.
    Offsets(i64),
}

impl Sequences {
    /// `None` = they are not told.
    fn of(it: &Reference<'_>) -> Option<Self> {
        let is_by_subscripts = it.ranges.iter().any(|range| !matches!(range, Range::Elements { .. }));
        if is_by_subscripts {
            if it.ranges.len() != it.bounds.len() {
                return None;
            }
            let told = |range: &Range| match *range {
                Range::Subscripts { start, stride, count } => Some(Sequence { start, step: stride, count }),
                _ => None,
            };
            return it.ranges.iter().map(told).collect::<Option<Vec<_>>>().map(Self::Product);
        }
        let size = i64::try_from(it.element_bytes).ok().filter(|size| *size > 0)?;
        let first = it.offset.checked_div(size)?;
        let starts = subscripts(it.bounds, first)?;
        let mut all: Vec<Sequence> =
            starts.iter().map(|start| Sequence { start: *start, step: 1, count: 1 }).collect();
        for range in it.ranges {
            let Range::Elements { stride, count } = *range else { continue };
            if count == 1 {
                continue;
            }
            let strides = strides(it.bounds);
            // The slowest dimension that such steps are whole steps of.
            let fits = |place: &usize| stride != 0 && strides[*place] != 0 && stride % strides[*place] == 0;
            let Some(place) = (0..all.len()).rev().find(fits) else { return Some(Self::Offsets(first)) };
            let next = Sequence { step: stride / strides[place], count, ..all[place] };
            let ends = [next.at(0), next.at(count.saturating_sub(1))];
            let (lower, upper) = it.bounds[place];
            let is_inside = ends.iter().all(|end| end.is_some_and(|end| lower <= end && end <= upper));
            // One that goes on in the next column is no product.
            if !is_inside || all[place].count > 1 {
                return Some(Self::Offsets(first));
            }
            all[place] = next;
        }
        Some(Self::Product(all))
    }
}

/// Elements of memory from one to the next of each dimension.
fn strides(bounds: &[(i64, i64)]) -> Vec<i64> {
    let mut stride = 1_i64;
    let next = |(lower, upper): &(i64, i64)| {
        let own = stride;
        stride = stride.saturating_mul(upper.saturating_sub(*lower).saturating_add(1).max(0));
        own
    };
    bounds.iter().map(next).collect()
}

/// The subscripts of an element, by its place in memory; `None` = it is not inside.
fn subscripts(bounds: &[(i64, i64)], element: i64) -> Option<Vec<i64>> {
    let mut rest = element;
    if element < 0 {
        return None;
    }
    let mut found = Vec::with_capacity(bounds.len());
    for (lower, upper) in bounds {
        let extent = upper.checked_sub(*lower)?.checked_add(1).filter(|extent| *extent > 0)?;
        found.push(lower.checked_add(rest % extent)?);
        rest /= extent;
    }
    (rest == 0).then_some(found)
}
