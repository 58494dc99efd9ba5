//! What was done in each iteration, by whom.
//!
//! The one idea: iterations have common borders, so one pass over the pieces of all locations' time, cut at these, gives
//! for each iteration a vector of times by activity; vectors are compared by their distance.
//!
//! What is deliberately absent: activities that are too many to be told apart; the most expensive are.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Level, LocationId, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Different, Figures, Loop, Shares};
use crate::activities::{Activity, Piece, pieces};
use crate::efficiency::is_useful;
use crate::happenings::{Happenings, Span, Unread};
use crate::paths::float;
use crate::statistics::median;
use crate::trace::Trace;
use crate::waits::Waits;

/// Numbers that are kept at most.
const MOST_NUMBERS: usize = 1 << 22;
/// Activities that are told apart at least, and at most.
const ACTIVITIES: std::ops::RangeInclusive<usize> = 8..=512;
/// Kinds of which it is told what only they do.
const MOST_KINDS: usize = 64;
/// Outliers of which it is told what was different.
const MOST_TOLD: usize = 64;

pub(super) fn shares(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    of: &Loop,
) -> Result<Shares, Unread> {
    let mut cutting = Cutting::new(run, of);
    pieces(run, events, waits, Span::ALL, |location, piece| cutting.add(location, &piece), |_| {})?;
    Ok(cutting.finish())
}

/// Sums in the making.
struct Cutting<'a> {
    of: &'a Loop,
    /// Of each location whether it takes part.
    takes_part: Vec<bool>,
    /// Of each location the iteration that it is in, or comes to next.
    at: Vec<usize>,
    /// By call path: whether it is useful, and whether it is MPI.
    classes: Vec<(bool, bool)>,
    /// useful, waiting, MPI.
    sums: Vec<[i64; 3]>,
    /// The column of each activity that has one.
    columns: BTreeMap<Activity, usize>,
    most: usize,
    /// By iteration and column; the last column is waiting.
    table: Vec<i64>,
    /// Outliers of which it is told what was different, by iteration.
    told: FxHashMap<usize, usize>,
    is_outlier: FxHashSet<usize>,
    /// Times in outliers, by outlier, and in all other iterations.
    odd: Vec<BTreeMap<(LocationId, Activity), i64>>,
    usual: BTreeMap<(LocationId, Activity), i64>,
}

impl<'a> Cutting<'a> {
    fn new(run: &impl Trace, of: &'a Loop) -> Self {
        let rows = of.iterations.len().max(1);
        let most = (MOST_NUMBERS / rows).clamp(*ACTIVITIES.start(), *ACTIVITIES.end());
        let n_paths = run.call_paths().len();
        let class = |path: usize| {
            let id = CallPathId(u32::try_from(path).unwrap_or(u32::MAX));
            let region = run.call_paths().get(path).and_then(|path| run.regions().get(path.region.idx()));
            let is_mpi = region.is_some_and(|region| region.level == Level::MPI);
            (is_useful(run, Activity::Path(id)), is_mpi)
        };
        let mut columns = BTreeMap::from([(Activity::Outside, 0)]);
        // The most expensive first, where sums tell which these are.
        let mut costs: FxHashMap<CallPathId, Nanos> = FxHashMap::default();
        for row in run.profile() {
            let cost = costs.entry(row.call_path).or_default();
            *cost = *cost + row.exclusive;
        }
        let mut costs: Vec<(CallPathId, Nanos)> = costs.into_iter().collect();
        costs.sort_unstable_by_key(|&(path, cost)| (std::cmp::Reverse(cost), path));
        for (path, _) in costs.into_iter().take(most - 1) {
            let next = columns.len();
            columns.insert(Activity::Path(path), next);
        }
        let told = of.outliers.iter().take(MOST_TOLD).map(|outlier| outlier.iteration);
        let told: FxHashMap<usize, usize> = told.zip(0..).collect();
        // Helpers that never do what is repeated have no part in it.
        let mut takes_part = vec![false; run.locations().len()];
        of.locations.iter().for_each(|location| takes_part[location.idx()] = true);
        Self {
            of,
            takes_part,
            at: vec![0; run.locations().len()],
            classes: (0..n_paths).map(class).collect(),
            sums: vec![[0; 3]; of.iterations.len()],
            columns,
            most,
            table: vec![0; (most + 1) * of.iterations.len()],
            odd: vec![BTreeMap::new(); told.len()],
            told,
            is_outlier: of.outliers.iter().map(|outlier| outlier.iteration).collect(),
            usual: BTreeMap::new(),
        }
    }

    fn add(&mut self, location: LocationId, piece: &Piece) {
        if !self.takes_part[location.idx()] {
            return;
        }
        let at = &mut self.at[location.idx()];
        while self.of.iterations.get(*at).is_some_and(|iteration| iteration.to <= piece.start) {
            *at += 1;
        }
        let mut here = *at;
        while let Some(iteration) = self.of.iterations.get(here).filter(|it| it.from < piece.end) {
            let length = (piece.end.min(iteration.to) - piece.start.max(iteration.from)).0;
            if length > 0 {
                self.add_to(here, location, piece, length);
            }
            here += 1;
        }
    }

    fn add_to(&mut self, iteration: usize, location: LocationId, piece: &Piece, length: i64) {
        let Some(activity) = piece.doing.activity() else { return };
        let waits = piece.waits_until > Nanos(0);
        let (is_useful, is_mpi) = match activity {
            Activity::Path(path) => self.classes.get(path.idx()).copied().unwrap_or_default(),
            Activity::Outside => (true, false),
            Activity::NotStarted => (false, false),
        };
        let sums = &mut self.sums[iteration];
        for (sum, counts) in sums.iter_mut().zip([is_useful && !waits, waits, is_mpi]) {
            *sum += if counts { length } else { 0 };
        }
        let row = iteration * (self.most + 1);
        if waits {
            self.table[row + self.most] += length;
            return;
        }
        let next = self.columns.len();
        let column = if next < self.most {
            Some(*self.columns.entry(activity).or_insert(next))
        } else {
            self.columns.get(&activity).copied()
        };
        if let Some(column) = column {
            self.table[row + column] += length;
        }
        let place = (location, activity);
        if let Some(outlier) = self.told.get(&iteration) {
            *self.odd[*outlier].entry(place).or_default() += length;
        } else if !self.is_outlier.contains(&iteration) {
            *self.usual.entry(place).or_default() += length;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "sums are shorter than 104 days")]
    fn finish(self) -> Shares {
        let number = self.of.locations.len().max(1) as f64;
        let mean = |sum: &i64| *sum as f64 / number;
        let of_each: Vec<[f64; 3]> = self.sums.iter().map(|sums| sums.each_ref().map(mean)).collect();
        let figures = |which: usize| Figures::of(&of_each.iter().map(|it| it[which]).collect::<Vec<_>>());
        let column = |column: usize| -> Vec<f64> {
            self.table.iter().skip(column).step_by(self.most + 1).map(mean).collect()
        };
        let mut activities: Vec<(Activity, Figures)> = self
            .columns
            .iter()
            .map(|(activity, place)| (*activity, Figures::of(&column(*place))))
            .filter(|(_, figures)| figures.max > 0.0)
            .collect();
        activities.sort_by(|a, b| b.1.deviation.total_cmp(&a.1.deviation).then(a.0.cmp(&b.0)));
        Shares {
            useful: figures(0),
            waiting: figures(1),
            mpi: figures(2),
            only_in: self.only_in(),
            typical: self.typical(),
            activities,
            different: self.of.outliers.iter().map(|outlier| self.different(outlier.iteration)).collect(),
            locations: self.of.locations.clone(),
            of_each,
        }
    }

    /// What only iterations of each kind do.
    fn only_in(&self) -> Vec<Option<Activity>> {
        let activities: Vec<(Activity, usize)> =
            self.columns.iter().map(|(activity, column)| (*activity, *column)).collect();
        let mut sums = vec![vec![0_i64; self.most]; self.of.kinds.len().min(MOST_KINDS)];
        for (iteration, row) in self.of.iterations.iter().zip(self.table.chunks_exact(self.most + 1)) {
            if let Some(sums) = sums.get_mut(iteration.kind) {
                sums.iter_mut().zip(row).for_each(|(sum, time)| *sum += time);
            }
        }
        let only = |kind: &Vec<i64>| {
            let is_own = |it: &&(Activity, usize)| sums[0][it.1] == 0 && 0 < kind[it.1];
            let most =
                activities.iter().filter(is_own).max_by_key(|it| (kind[it.1], std::cmp::Reverse(it.0)));
            most.map(|it| it.0)
        };
        sums.iter().map(only).collect()
    }

    /// The iteration of the usual kind that is nearest to the median in all that is told apart.
    #[expect(clippy::cast_precision_loss, reason = "sums are shorter than 104 days")]
    fn typical(&self) -> Option<usize> {
        let usual: Vec<usize> =
            (0..self.of.iterations.len()).filter(|place| self.of.iterations[*place].kind == 0).collect();
        let mut distances = vec![0.0; usual.len()];
        for column in 0..=self.most {
            let value = |place: &usize| self.table[place * (self.most + 1) + column] as f64;
            let values: Vec<f64> = usual.iter().map(value).collect();
            let middle = median(&mut values.clone());
            for (distance, value) in distances.iter_mut().zip(values) {
                *distance += (value - middle).abs();
            }
        }
        let nearest = (0..usual.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b]).then(a.cmp(b)));
        nearest.map(|place| usual[place])
    }

    #[expect(clippy::cast_precision_loss, reason = "sums are shorter than 104 days")]
    fn different(&self, iteration: usize) -> Option<Different> {
        let times = &self.odd[*self.told.get(&iteration)?];
        let others = self.of.iterations.len().saturating_sub(self.is_outlier.len()).max(1) as f64;
        let excess = |(place, time): (&(LocationId, Activity), &i64)| {
            let usual = self.usual.get(place).copied().unwrap_or(0) as f64 / others;
            let (location, activity) = *place;
            Different { location, activity, time: Nanos(*time), excess: float(Nanos(*time)) - usual }
        };
        let most = times.iter().map(excess).max_by(|a, b| {
            a.excess.total_cmp(&b.excess).then((b.location, b.activity).cmp(&(a.location, a.activity)))
        });
        most.filter(|it| it.excess > 0.0)
    }
}
