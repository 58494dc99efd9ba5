//! The tree of call paths, as the summaries need it.
//!
//! A trace may be damaged: a parent that does not stand before its child is taken for none, so
//! every walk ends.

use marey_model::{CallPathId, Level, LocationId, Nanos, ProcessId, RegionId};

use rustc_hash::FxHashMap;

use crate::caller::caller;
use crate::trace::{CallPath, Frame, ProfileRow, Region, Trace};

/// Call paths with what is known from those above them.
pub(crate) struct Paths<'t> {
    trace: &'t dyn Trace,
    /// For each call path, whether none above it has the same region.
    first_of_region: Vec<bool>,
    /// For each call path, whether it is of level `mpi` and none above it is.
    first_of_mpi: Vec<bool>,
}

impl<'t> Paths<'t> {
    pub(crate) fn new(trace: &'t dyn Trace) -> Self {
        let all = trace.call_paths();
        let parent = |idx: usize| all[idx].parent.map(CallPathId::idx).filter(|parent| *parent < idx);
        let mut paths =
            Self { trace, first_of_region: first_of_region(all, parent), first_of_mpi: Vec::new() };
        // Whether it, or one above it, is of level `mpi`.
        let mut in_mpi: Vec<bool> = Vec::with_capacity(all.len());
        for (idx, path) in all.iter().enumerate() {
            let (is_mpi, is_beneath) =
                (paths.is_mpi(path.region), parent(idx).is_some_and(|above| in_mpi[above]));
            paths.first_of_mpi.push(is_mpi && !is_beneath);
            in_mpi.push(is_mpi || is_beneath);
        }
        paths
    }

    /// Profile rows of which call path, region and location exist.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'t ProfileRow, CallPath, ProcessId)> {
        let trace = self.trace;
        trace.profile().iter().filter_map(move |row| {
            let path = trace.call_paths().get(row.call_path.idx())?;
            let process = process_of(trace, row.location)?;
            trace.regions().get(path.region.idx())?;
            Some((row, *path, process))
        })
    }

    /// Whether time in a call path adds to that of its region: no call path above it has the same
    /// region, so none of its time is counted there already.
    pub(crate) fn counts_for_region(&self, path: CallPathId) -> bool {
        self.first_of_region.get(path.idx()).copied().unwrap_or(false)
    }

    /// Whether a call path is where MPI was called: of level `mpi`, and none above it is.
    pub(crate) fn counts_for_mpi(&self, path: CallPathId) -> bool {
        self.first_of_mpi.get(path.idx()).copied().unwrap_or(false)
    }

    /// Names of the regions of a call path, root first.
    pub(crate) fn names(&self, idx: usize) -> Vec<&'t str> {
        let region = |path: &CallPath| self.region(path.region).map_or("", Region::name);
        let mut names: Vec<&str> = self.above(idx).map(|(_, path)| region(path)).collect();
        names.reverse();
        names.extend(self.trace.call_paths().get(idx).map(region));
        names
    }

    /// Where a call path was entered from: its caller; without a stack the place of its region, whose
    /// function is then unknown.
    pub(crate) fn call_site(&self, id: CallPathId) -> Frame {
        caller(self.trace, id).cloned().unwrap_or_else(|| {
            let region = self.trace.call_paths().get(id.idx()).and_then(|path| self.region(path.region));
            Frame {
                function: String::new(),
                file: region.map_or_else(String::new, |region| region.file.clone()),
                line: region.map_or(0, |region| region.line),
            }
        })
    }

    fn region(&self, region: RegionId) -> Option<&'t Region> {
        self.trace.regions().get(region.idx())
    }

    fn is_mpi(&self, region: RegionId) -> bool {
        self.region(region).is_some_and(|region| region.level == Level::MPI)
    }

    /// The call paths above one, nearest first.
    fn above(&self, idx: usize) -> impl Iterator<Item = (usize, &'t CallPath)> {
        let paths = self.trace.call_paths();
        let parent = move |child: usize| {
            let parent = paths.get(child)?.parent?.idx();
            (parent < child).then(|| (parent, &paths[parent]))
        };
        std::iter::successors(parent(idx), move |&(child, _)| parent(child))
    }
}

/// For each call path, whether none above it has the same region. One walk through the tree, however deep that is: recursion
/// is as deep as there are call paths.
pub(crate) fn first_of_region(paths: &[CallPath], parent: impl Fn(usize) -> Option<usize>) -> Vec<bool> {
    let mut beneath: Vec<Vec<usize>> = vec![Vec::new(); paths.len()];
    // Those to come to, and those to leave.
    let mut ahead: Vec<(usize, bool)> = Vec::new();
    for idx in 0..paths.len() {
        match parent(idx) {
            Some(above) => beneath[above].push(idx),
            None => ahead.push((idx, false)),
        }
    }
    let mut first = vec![false; paths.len()];
    // How many of each region the walk is in.
    let mut open: FxHashMap<RegionId, usize> = FxHashMap::default();
    while let Some((idx, is_over)) = ahead.pop() {
        let number = open.entry(paths[idx].region).or_default();
        if is_over {
            *number -= 1;
            continue;
        }
        first[idx] = *number == 0;
        *number += 1;
        ahead.push((idx, true));
        ahead.extend(beneath[idx].iter().map(|child| (*child, false)));
    }
    first
}

/// The process of a location, if both exist.
pub(crate) fn process_of(trace: &dyn Trace, location: LocationId) -> Option<ProcessId> {
    let process = trace.locations().get(location.idx())?.process;
    trace.processes().get(process.idx()).map(|_| process)
}

/// The sum of two times.
pub(crate) fn add(sum: &mut Nanos, more: Nanos) {
    *sum = *sum + more;
}

/// A time as a float, ns. Exact for sums below 104 days.
#[expect(clippy::cast_precision_loss, reason = "means and shares need no more than 53 bits")]
pub(crate) fn float(time: Nanos) -> f64 {
    time.0 as f64
}
