//! Merging: from the spool that measured processes left to the archive's tables.
//!
//! The one idea: heads of windows say where everything lies, so the run can be cut into slabs of
//! time and each slab decoded by all cores, written, and forgotten. While one slab is written the
//! next is decoded. What must last — open regions, sums, unmatched halves — is small.
//!
//! Nothing depends on the number of threads: the same spool gives the same bytes. Damage is
//! counted in `problems` and never stops the merge.

#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of things that are in memory fit 32 bits, and times are clamped by the clock"
)]

use std::path::Path;

pub use self::arrays::DataPlace;
use crate::{Columns, Error};

pub(crate) use bend::Knot as TieKnot;
pub(crate) use bounds::Bounds;
pub(crate) use tie::Tie;

mod accessed;
mod added_up;
mod alive;
mod array_messages;
mod arrays;
mod bend;
mod bins;
mod bounds;
mod build;
mod cells;
mod channels;
mod clock;
mod clocks;
mod cost;
mod counted;
mod counting;
mod decode;
mod definitions;
mod end;
mod finish;
mod folded;
mod functions;
mod gatherings;
mod globals;
mod halves;
mod happen;
mod heap;
mod identity;
mod index;
mod input;
mod launch;
mod lines;
mod lod;
mod mapped;
mod mappings;
mod messages;
mod outcome;
mod overlaps;
mod passed;
mod paths;
mod places;
mod problems;
mod reduced;
mod region;
mod rows;
mod samples;
mod sets;
mod shards;
mod sides;
mod slabs;
mod slots;
mod stream;
mod sums;
mod tables;
pub(crate) mod tie;
mod tighten;
mod undefined;
mod windows;
mod write;
mod writing;

/// How to merge.
#[derive(Clone, Debug)]
pub struct Config {
    /// Threads to use; `None` = one for each core.
    pub threads: Option<usize>,
    /// Memory that slabs may take on their way, roughly, bytes. Less makes more and smaller parts.
    pub memory_bytes: usize,
    /// Leave the spool where it is. Otherwise it is removed when the archive has been verified.
    pub keep_spool: bool,
}

impl Config {
    /// Enough for parts of full size, a million intervals on their way.
    pub const DEFAULT_MEMORY_BYTES: usize = 256 << 20;
}

/// Told how far the work is. Called from several threads.
pub trait Progress {
    /// A step of `total` bytes of records begins.
    fn begin(&self, what: &str, total: u64);
    /// So many more are done.
    fn advance(&self, n: u64);
}

/// Nobody watches.
impl Progress for () {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}

/// Finds the names of the places that call stacks lead through. What files of programs look like is no
/// business of the archive's, so somebody else does it; beside the merge, since it can take seconds,
/// and no slab needs names.
pub trait Namer {
    /// Rows of the table `frames` for the addresses of a table `stacks`, which lie in those `modules`.
    /// `None` if they cannot be found at all.
    fn name(&self, stacks: &Columns, modules: &Columns) -> Option<Names>;

    /// The names of functions, each by the row of its module and the virtual address of its first instruction,
    /// in the same order; `None` for one that is not known. Asked before anything else.
    fn functions(&self, functions: &[(u32, u64)], modules: &Columns) -> Vec<Option<Function>>;

    /// The names of data by their places, in the same order; `None` for one that is not known. Asked along with
    /// [`Self::functions`].
    fn data(&self, places: &[DataPlace], modules: &Columns) -> Vec<Option<Datum>> {
        _ = modules;
        vec![None; places.len()]
    }

    /// What a kernel is called that has the name of a type as compilers have it at run time; `None` for another name.
    fn kernel(&self, name: &str) -> Option<String> {
        _ = name;
        None
    }
}

/// A datum of the program: array, variable or block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datum {
    /// Its name.
    pub name: String,
    /// Source file of its declaration, or of the call that made it; empty where unknown.
    pub file: String,
    /// Line in it, 0 where unknown.
    pub line: u32,
    /// Type of its elements, empty where unknown.
    pub element: String,
    /// Bytes of an element, 0 where unknown.
    pub element_bytes: u64,
    /// Lower bound and extent of each dimension, none where unknown.
    pub bounds: Vec<(i64, u64)>,
    /// Distance of the place from the beginning of the datum.
    pub offset: u64,
    /// Its size, 0 where unknown.
    pub bytes: u64,
}

/// A function of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Source file, empty where unknown.
    pub file: String,
    /// Line in it, 0 where unknown.
    pub line: u32,
}

/// What a [`Namer`] found.
#[derive(Debug)]
pub struct Names {
    /// Rows of the table `frames`.
    pub frames: Columns,
    /// What could not be named and why, a text for each problem.
    pub problems: Vec<String>,
}

/// What a merge made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Measured processes.
    pub processes: u64,
    /// Threads and lanes.
    pub locations: u64,
    /// Rows of `intervals`.
    pub intervals: u64,
    /// Rows of `messages`.
    pub messages: u64,
    /// Timed records in the spool.
    pub events: u64,
    /// Totals of the `problems` table by kind, sorted.
    pub problems: Vec<(String, u64)>,
    /// Length of the run, ns.
    pub duration_ns: i64,
}

/// Merges the spool in directory `spool` into the archive `run`, which gets no table `frames`.
///
/// # Errors
/// If the spool cannot be read, or the run not be written. Damaged records are no error.
pub fn merge(
    spool: &Path,
    run: &Path,
    config: &Config,
    progress: &(dyn Progress + Sync),
) -> Result<Summary, Error> {
    in_pool(config, || stream::merge(spool, run, config, progress, None))
}

/// The same, with names for call sites by `namer`.
///
/// # Errors
/// As for [`merge`].
pub fn merge_with_names(
    spool: &Path,
    run: &Path,
    config: &Config,
    progress: &(dyn Progress + Sync),
    namer: &(dyn Namer + Sync),
) -> Result<Summary, Error> {
    in_pool(config, || stream::merge(spool, run, config, progress, Some(namer)))
}

fn in_pool<T: Send>(config: &Config, f: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = config.threads {
        pool = pool.num_threads(threads.max(1));
    }
    pool.build().map_err(|source| Error::Threads { source })?.install(f)
}
