//! Efficiencies of several runs: what more ranks and threads are worth.
//!
//! The one idea: the parallel efficiency of a run says what of its time was useful; whether the useful time itself grew
//! only another run can tell. The factors are those of the POP project.
//!
//! What is deliberately absent: why useful time grows; counters say that.

use crate::digest::Digest;
use crate::efficiency::Efficiency;
use crate::paths::float;
use crate::profile::count;

/// What all runs have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// The work of all ranks together: strong scaling.
    OfAll,
    /// The work of each rank: weak scaling.
    OfEach,
}

/// Efficiencies of a run beside another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScaledEfficiency {
    /// Which run.
    pub run: usize,
    /// Its own efficiencies.
    pub own: Efficiency,
    /// Useful time of the reference over its own; `None` = all runs have equally many ranks and threads.
    pub scalability: Option<f64>,
    /// Parallel efficiency times that.
    pub global: Option<f64>,
    /// How much faster than the reference.
    pub speed_up: f64,
    /// Whether it is the reference.
    pub is_reference: bool,
}

/// Efficiencies of the runs, one for each size, from small to large; empty if one of them has none.
pub fn efficiencies(runs: &[(f64, &Digest)], work: Work) -> Vec<ScaledEfficiency> {
    let mut known: Vec<(usize, f64, Efficiency)> = Vec::new();
    for (at, (size, run)) in runs.iter().enumerate() {
        let own = super::explained(run).and_then(|explained| explained.efficiency_even_alone);
        match own.filter(|own| own.run_time.0 > 0 && own.mean > 0.0) {
            Some(own) => known.push((at, *size, own)),
            None => return Vec::new(),
        }
    }
    known.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.run_time.cmp(&b.2.run_time)).then(a.0.cmp(&b.0)));
    let of_sizes: Vec<(usize, f64, Efficiency)> =
        known.chunk_by(|a, b| a.1 == b.1).map(|repeats| repeats[(repeats.len() - 1) / 2]).collect();
    let Some(reference) = of_sizes.iter().min_by_key(|it| it.2.locations) else { return Vec::new() };
    let differ = of_sizes.iter().any(|it| it.2.locations != reference.2.locations);
    let row = |(run, _, own): &(usize, f64, Efficiency)| {
        let more = match work {
            Work::OfAll => 1.0,
            Work::OfEach => locations(own) / locations(&reference.2),
        };
        let scalability = differ.then(|| more * useful(&reference.2) / useful(own));
        ScaledEfficiency {
            run: *run,
            own: *own,
            scalability,
            global: scalability.map(|it| it * own.parallel),
            speed_up: more * float(reference.2.run_time) / float(own.run_time),
            is_reference: *run == reference.0,
        }
    };
    of_sizes.iter().map(row).collect()
}

fn locations(own: &Efficiency) -> f64 {
    count(own.locations as u64)
}

/// The useful time of all.
fn useful(own: &Efficiency) -> f64 {
    own.mean * locations(own)
}
