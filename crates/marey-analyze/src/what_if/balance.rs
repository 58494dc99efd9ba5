//! Useful time that is evened out between synchronisations.
//!
//! The one idea: those who synchronise most widely take the same steps; in each of them everybody's useful time becomes the
//! mean. What a location must be faster or slower for that is known before the replay begins.

use std::cell::RefCell;
use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::graph::Graph;
use super::variants::{Variant, length};
use crate::activities::pieces;
use crate::causes::Causes;
use crate::efficiency::{compared, is_useful};
use crate::happenings::{Happenings, Span, Unread};
use crate::trace::Trace;
use crate::waits::{Waits, operations, role_of_all};

/// A step of a location.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Step {
    pub(super) until: Nanos,
    /// The new useful time over the old.
    pub(super) factor: f64,
    /// What it gets at the end of the step, ns, if it did nothing useful in it.
    pub(super) extra: f64,
}

/// Of each location its steps; those who are not evened out have none. One pass over collective operations and one over
/// the intervals.
pub(super) fn steps(
    run: &impl Trace,
    events: &impl Happenings,
    graph: &Graph,
    waits: &Waits,
    causes: &Causes,
    variant: &Variant,
) -> Result<Vec<Vec<Step>>, Unread> {
    let n = run.locations().len();
    let mut ends: Vec<Option<Vec<Nanos>>> = vec![None; n];
    match widest(run, events, graph)? {
        Some(set) => {
            each_synchronisation(run, events, graph, |members| {
                if same_members(members, &set) {
                    for (member, at) in members {
                        ends[member.idx()].get_or_insert_default().push(*at);
                    }
                }
            })?;
        }
        None => {
            for location in compared(run, causes).into_iter().filter(|location| location.idx() < n) {
                ends[location.idx()] = Some(Vec::new());
            }
        }
    }
    for ends in ends.iter_mut().flatten() {
        ends.sort_unstable();
        ends.push(Nanos(i64::MAX));
    }
    let sums = RefCell::new(Sums {
        useful: ends.iter().map(|ends| vec![0.0; ends.as_ref().map_or(0, Vec::len)]).collect(),
        step: vec![0; n],
    });
    pieces(
        run,
        events,
        waits,
        Span::ALL,
        |location, piece| {
            let Some(ends) = ends.get(location.idx()).and_then(Option::as_ref) else { return };
            let Some(activity) = piece.doing.activity() else { return };
            if piece.waits_until > Nanos(0) || !is_useful(run, activity) {
                return;
            }
            let factor = variant.factor(run, location, activity);
            sums.borrow_mut().add(location, (piece.start, piece.end), factor, ends);
        },
        |_| {},
    )?;
    let useful = sums.into_inner().useful;
    let n_steps = useful.iter().map(Vec::len).max().unwrap_or(0);
    let mut means = vec![(0.0, 0.0); n_steps];
    for own in useful.iter() {
        for (mean, useful) in means.iter_mut().zip(own) {
            *mean = (mean.0 + useful, mean.1 + 1.0);
        }
    }
    let of_location = |(ends, useful): (Option<Vec<Nanos>>, Vec<f64>)| -> Vec<Step> {
        let ends = ends.unwrap_or_default();
        let step = |((until, own), (sum, number)): ((Nanos, f64), &(f64, f64))| {
            let mean = sum / number;
            let (factor, extra) = if own > 0.0 { (mean / own, 0.0) } else { (1.0, mean) };
            Step { until, factor, extra }
        };
        ends.into_iter().zip(useful).zip(&means).map(step).collect()
    };
    Ok(ends.into_iter().zip(useful).map(of_location).collect())
}

/// Useful time in the making.
struct Sums {
    /// Of each location in each step.
    useful: Vec<Vec<f64>>,
    step: Vec<usize>,
}

impl Sums {
    fn add(&mut self, location: LocationId, (mut from, to): (Nanos, Nanos), factor: f64, ends: &[Nanos]) {
        let step = &mut self.step[location.idx()];
        while from < to {
            while ends.get(*step).is_some_and(|end| *end <= from) {
                *step += 1;
            }
            let until = ends.get(*step).copied().unwrap_or(to).min(to);
            if let Some(sum) = self.useful[location.idx()].get_mut(*step) {
                *sum += factor * length(from, until);
            }
            from = until;
        }
    }
}

/// The largest set of members of a barrier or all-to-all operation; of several the one with most of them.
fn widest(
    run: &impl Trace,
    events: &impl Happenings,
    graph: &Graph,
) -> Result<Option<Vec<LocationId>>, Unread> {
    let mut sets: FxHashMap<Vec<LocationId>, usize> = FxHashMap::default();
    each_synchronisation(run, events, graph, |members| {
        let key: Vec<LocationId> = members.keys().copied().collect();
        *sets.entry(key).or_default() += 1;
    })?;
    let all: BTreeMap<Vec<LocationId>, usize> = sets.into_iter().collect();
    let order = |set: &(Vec<LocationId>, usize)| (set.0.len(), set.1, std::cmp::Reverse(set.0.clone()));
    Ok(all.into_iter().filter(|set| set.0.len() > 1).max_by_key(order).map(|(set, _)| set))
}

fn same_members(members: &BTreeMap<LocationId, Nanos>, set: &[LocationId]) -> bool {
    members.keys().eq(set)
}

/// Hands out when each member entered an operation in which nobody leaves before all have come.
fn each_synchronisation(
    run: &impl Trace,
    events: &impl Happenings,
    graph: &Graph,
    mut each: impl FnMut(&BTreeMap<LocationId, Nanos>),
) -> Result<(), Unread> {
    let n = run.locations().len();
    let mut members_of: BTreeMap<LocationId, Nanos> = BTreeMap::new();
    operations(run, events, Span::ALL, |members| {
        if matches!(role_of_all(run, members), Some(Role::Barrier | Role::AllToAll)) {
            members_of.clear();
            members_of.extend(members.iter().map(|member| (member.location, member.enter)));
            each(&members_of);
        }
    })?;
    for barrier in graph.barriers.iter().filter(|barrier| barrier.iter().all(|place| place.0.idx() < n)) {
        each(&barrier.iter().copied().collect());
    }
    Ok(())
}
