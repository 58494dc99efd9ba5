//! With how many neighbours a process exchanges data on a communicator that has a topology.
//!
//! The one idea: MPI is asked once for each communicator. At the edge of a grid that is not periodic a neighbour may be nobody;
//! such a one has its place in the program's buffers, and nothing is moved.

use core::sync::atomic::{AtomicPtr, Ordering};

use super::flavour::{Family, flavour};
use super::real::ask;

/// The neighbours of this process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    /// Those that it gets data from.
    pub(super) sources: usize,
    /// Those that it gives data to.
    pub(super) destinations: usize,
    /// Which of them are nobody, a bit each: those of a grid are the same in both.
    absent: u64,
}

impl Neighbours {
    /// The places of those that are there, of so many.
    pub(super) fn present(self, of: usize) -> impl Iterator<Item = usize> {
        (0..of).filter(move |at| {
            u32::try_from(*at).ok().and_then(|at| self.absent.checked_shr(at)).unwrap_or(0) & 1 == 0
        })
    }

    /// How many are there, of so many.
    pub(super) fn number(self, of: usize) -> u64 {
        self.present(of).count() as u64
    }
}

/// What is known of a communicator's topology; empty until it is asked for.
#[derive(Default)]
pub(super) struct Topology(AtomicPtr<Neighbours>);

impl Topology {
    /// The neighbours on the communicator of this handle and rank.
    pub(super) fn neighbours(&self, handle: usize, rank: u32) -> Neighbours {
        // SAFETY: what is stored lives for ever.
        if let Some(known) = unsafe { self.0.load(Ordering::Acquire).as_ref() } {
            return *known;
        }
        let found = asked(handle, rank);
        // As the communicator itself, it is never given back; two threads at once leave one behind.
        self.0.store(Box::leak(Box::new(found)), Ordering::Release);
        found
    }
}

fn asked(handle: usize, rank: u32) -> Neighbours {
    let (grid, graph, distributed) = match flavour().family {
        Family::OpenMpi => (1, 2, 3),
        Family::Mpich => (2, 1, 3),
    };
    let mut kind = 0_i32;
    if !ask!(PMPI_Topo_test(handle, &raw mut kind)) {
        return Neighbours::default();
    }
    let count = |n: i32| usize::try_from(n).unwrap_or(0);
    match kind {
        kind if kind == grid => in_grid(handle),
        kind if kind == graph => {
            let mut n = 0_i32;
            ask!(PMPI_Graph_neighbors_count(handle, rank as usize, &raw mut n));
            Neighbours { sources: count(n), destinations: count(n), absent: 0 }
        }
        kind if kind == distributed => {
            let (mut sources, mut destinations, mut is_weighted) = (0_i32, 0_i32, 0_i32);
            ask!(PMPI_Dist_graph_neighbors_count(
                handle,
                &raw mut sources,
                &raw mut destinations,
                &raw mut is_weighted
            ));
            Neighbours { sources: count(sources), destinations: count(destinations), absent: 0 }
        }
        _ => Neighbours::default(),
    }
}

/// Along each dimension the one before and the one behind.
fn in_grid(handle: usize) -> Neighbours {
    let mut dimensions = 0_i32;
    if !ask!(PMPI_Cartdim_get(handle, &raw mut dimensions)) {
        return Neighbours::default();
    }
    let dimensions = usize::try_from(dimensions).unwrap_or(0);
    let mut absent = 0_u64;
    for dimension in 0..dimensions.min(32) {
        let mut beside = [0_i32; 2];
        ask!(PMPI_Cart_shift(handle, dimension, 1_usize, &raw mut beside[0], &raw mut beside[1]));
        for (at, rank) in beside.into_iter().enumerate() {
            absent |= u64::from(rank < 0) << (2 * dimension + at);
        }
    }
    Neighbours { sources: 2 * dimensions, destinations: 2 * dimensions, absent }
}
