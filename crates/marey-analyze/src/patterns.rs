//! Who moves data to whom: patterns of communication.
//!
//! The one idea: ranks stand in a row, so most of what programs do is told by how far data goes: by one rank to the right, to
//! both neighbours, from one to all. What is seen is between which ranks data went, not how much and when.
//! Source of the names: Hiranandani, Kennedy and Tseng, *Compiling Fortran D for MIMD Distributed-Memory Machines* (1992):
//! shift, broadcast, gather, transpose.
//!
//! Deliberately absent: pipelines, which are shifts in an order of time; grids of several dimensions, which are neighbours at
//! several distances here.

use std::collections::BTreeSet;
use std::fmt;

use marey_model::ProcessId;

use crate::trace::Trace;

/// So many distances are told; more of them are no pattern.
const MOST_DISTANCES: usize = 8;
/// On average so many go each distance, or they have it by chance.
const EACH: usize = 2;

/// Between which ranks data goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowPattern {
    /// From one to another.
    OneToOne {
        /// The rank that has it.
        from: u32,
        /// The rank that it comes to.
        to: u32,
    },
    /// Between two, to and fro.
    Exchange(u32, u32),
    /// From each by this distance, beyond the last to the first.
    Shift(i64),
    /// From each to several by these distances, in their order.
    Neighbours(Vec<i64>),
    /// From one to others: broadcast or scatter.
    OneToMany {
        /// The one.
        from: u32,
        /// How many others.
        to: usize,
    },
    /// From others to one: gather.
    ManyToOne {
        /// How many others.
        from: usize,
        /// The one.
        to: u32,
    },
    /// From each to each other: transpose.
    AllToAll,
    /// None of these.
    Irregular,
}

impl FlowPattern {
    /// The pattern of flows from one of so many ranks to another; those that stay where they are do not matter. `None` = there
    /// are no others. Time: flows times the logarithm of their number.
    pub fn of(flows: &BTreeSet<(u32, u32)>, ranks: u32) -> Option<Self> {
        let flows: BTreeSet<(u32, u32)> = flows.iter().copied().filter(|(from, to)| from != to).collect();
        let from: BTreeSet<u32> = flows.iter().map(|flow| flow.0).collect();
        let to: BTreeSet<u32> = flows.iter().map(|flow| flow.1).collect();
        let (&first, &last) = (flows.first()?, flows.last()?);
        if flows.len() == 1 {
            return Some(Self::OneToOne { from: first.0, to: first.1 });
        }
        if flows.len() == 2 && first == (last.1, last.0) {
            return Some(Self::Exchange(first.0, first.1));
        }
        if from.len() == 1 {
            return Some(Self::OneToMany { from: first.0, to: to.len() });
        }
        if to.len() == 1 {
            return Some(Self::ManyToOne { from: from.len(), to: first.1 });
        }
        let all = from.union(&to).max().map_or(0, |&most| i64::from(most) + 1).max(i64::from(ranks));
        let plain = |&(from, to): &(u32, u32)| i64::from(to) - i64::from(from);
        let around = |flow: &(u32, u32)| {
            let distance = plain(flow).rem_euclid(all);
            if 2 * distance > all { distance - all } else { distance }
        };
        let mut distances: BTreeSet<i64> = flows.iter().map(plain).collect();
        // Where the last is beside the first, half of the distances lead around.
        let around: BTreeSet<i64> = flows.iter().map(around).collect();
        if 2 * around.len() <= distances.len() {
            distances = around;
        }
        let every = u64::try_from(all * (all - 1)).unwrap_or(u64::MAX);
        Some(match distances.len() {
            // Few of many ranks do not move data from each by a distance.
            1 if distances.first().is_some_and(|by| EACH as i64 * flows.len() as i64 >= all - by.abs()) => {
                Self::Shift(distances.first().copied()?)
            }
            _ if flows.len() as u64 == every => Self::AllToAll,
            2..=MOST_DISTANCES if EACH * distances.len() <= flows.len() => {
                Self::Neighbours(distances.into_iter().collect())
            }
            _ => Self::Irregular,
        })
    }

    /// The same of processes of a run, each by its rank, or by its number if it has none.
    pub fn of_processes(
        trace: &dyn Trace,
        flows: impl Iterator<Item = (ProcessId, ProcessId)>,
    ) -> Option<Self> {
        let flows = flows.map(|(from, to)| (rank_of(trace, from), rank_of(trace, to)));
        Self::of(&flows.collect(), ranks(trace))
    }

    /// The name for other programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::OneToOne { .. } => "one-to-one",
            Self::Exchange(..) => "exchange",
            Self::Shift(_) => "shift",
            Self::Neighbours(_) => "neighbours",
            Self::OneToMany { .. } => "one-to-many",
            Self::ManyToOne { .. } => "many-to-one",
            Self::AllToAll => "all-to-all",
            Self::Irregular => "irregular",
        }
    }
}

/// As tables have it: `shift by +1`, `neighbours ±1`, `0 to 3 others`.
impl fmt::Display for FlowPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneToOne { from, to } => write!(out, "{from} to {to}"),
            Self::Exchange(one, other) => write!(out, "{one} and {other}"),
            Self::Shift(by) => write!(out, "shift by {by:+}"),
            Self::Neighbours(distances) => {
                let is_pair = |distance: &i64| distances.contains(&-distance);
                let words =
                    distances.iter().filter(|it| !(**it < 0 && is_pair(it))).map(|it| match is_pair(it) {
                        true => format!("±{it}"),
                        false => format!("{it:+}"),
                    });
                write!(out, "neighbours {}", words.collect::<Vec<_>>().join(", "))
            }
            Self::OneToMany { from, to } => write!(out, "{from} to {to} others"),
            Self::ManyToOne { from, to } => write!(out, "{from} others to {to}"),
            Self::AllToAll => out.write_str("all to all"),
            Self::Irregular => out.write_str("irregular"),
        }
    }
}

/// The rank of a process, or its number if it has none.
fn rank_of(trace: &dyn Trace, process: ProcessId) -> u32 {
    trace.processes().get(process.idx()).and_then(|it| it.first_rank()).unwrap_or(process.0)
}

/// How many ranks there are.
fn ranks(trace: &dyn Trace) -> u32 {
    let ranks = trace.processes().iter().filter(|process| process.rank.is_some()).count();
    u32::try_from(ranks).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranks: u32, flows: &[(u32, u32)]) -> Option<FlowPattern> {
        FlowPattern::of(&flows.iter().copied().collect(), ranks)
    }

    #[test]
    fn patterns_are_those_of_textbooks() {
        assert_eq!(of(4, &[]), None);
        assert_eq!(of(4, &[(1, 1), (2, 2)]), None);
        assert_eq!(of(4, &[(1, 1), (2, 3)]), Some(FlowPattern::OneToOne { from: 2, to: 3 }));
        assert_eq!(of(2, &[(0, 1), (1, 0)]), Some(FlowPattern::Exchange(0, 1)));
        // Around, and with ends.
        assert_eq!(of(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]), Some(FlowPattern::Shift(1)));
        assert_eq!(of(4, &[(1, 0), (2, 1), (3, 2)]), Some(FlowPattern::Shift(-1)));
        let halo = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)];
        assert_eq!(of(4, &halo), Some(FlowPattern::Neighbours(vec![-1, 1])));
        assert_eq!(of(4, &[(2, 0), (2, 1), (2, 3)]), Some(FlowPattern::OneToMany { from: 2, to: 3 }));
        assert_eq!(of(4, &[(0, 2), (1, 2)]), Some(FlowPattern::ManyToOne { from: 2, to: 2 }));
        // Around, and in two dimensions.
        let ring = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)];
        assert_eq!(of(4, &ring), Some(FlowPattern::Neighbours(vec![-1, 1])));
        let bricks = [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (2, 0), (1, 3), (3, 1)];
        assert_eq!(of(4, &bricks), Some(FlowPattern::Neighbours(vec![-2, -1, 1, 2])));
        assert_eq!(of(4, &[(0, 1), (1, 0), (2, 0)]), Some(FlowPattern::Irregular));
        // Two pairs of a hundred ranks are no shift of all.
        assert_eq!(of(100, &[(0, 1), (50, 51)]), Some(FlowPattern::Irregular));
        assert_eq!(of(4, &[(0, 1), (2, 3)]), Some(FlowPattern::Shift(1)));
        let all = |n: u32| (0..n).flat_map(move |a| (0..n).map(move |b| (a, b))).collect::<Vec<_>>();
        assert_eq!(of(3, &all(3)), Some(FlowPattern::AllToAll));
        // Four by four, each with those beside, above and below.
        let grid: Vec<(u32, u32)> = (0..16_u32)
            .flat_map(|at| {
                let (x, y) = (at % 4, at / 4);
                let beside = [(x > 0, at.wrapping_sub(1)), (x < 3, at + 1)];
                let across = [(y > 0, at.wrapping_sub(4)), (y < 3, at + 4)];
                beside.into_iter().chain(across).filter(|it| it.0).map(move |it| (at, it.1))
            })
            .collect();
        assert_eq!(of(16, &grid), Some(FlowPattern::Neighbours(vec![-4, -1, 1, 4])));
        let none = [(0, 1), (1, 3), (2, 5), (3, 7), (4, 2), (5, 11), (6, 0), (7, 15), (8, 3), (9, 1)];
        assert_eq!(of(16, &none), Some(FlowPattern::Irregular));
        // Of half the way around nobody knows the direction: it is told as one.
        assert_eq!(of(4, &[(0, 2), (1, 3), (2, 0), (3, 1)]), Some(FlowPattern::Shift(2)));
    }
}
