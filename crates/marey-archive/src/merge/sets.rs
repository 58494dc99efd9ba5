//! Sets of nouns that take part in one interval.
//!
//! The one idea: nearly every interval names one noun, whose set is known before anything is
//! decoded. Only an interval that names several gets a set made when it is left, numbered per
//! location at first and for the run between slabs, as call paths are.

use std::sync::Arc;

use super::globals::Interner;
use crate::schema::NONE;

/// Marks a number of [`LocalSets`]; others hold for the run.
const LOCAL: u32 = 1 << 31;

/// Sets of several nouns of one location.
#[derive(Debug, Default)]
pub(crate) struct LocalSets {
    /// Further nouns of open intervals by the depth of the interval, outermost first. A noun
    /// stands for itself by the number of its own set.
    further: Vec<(u32, u32)>,
    rows: Interner<Vec<u32>>,
    /// Numbers of the run of the first sets.
    pub globals: Arc<Vec<u32>>,
}

impl LocalSets {
    /// The open interval at `depth` names a noun besides its first.
    pub(crate) fn add(&mut self, depth: u32, noun: u32) {
        if self.further.last() != Some(&(depth, noun)) {
            self.further.push((depth, noun));
        }
    }

    /// The set of an interval at `depth` that is left: `first` and what was added.
    #[inline(always)]
    pub(crate) fn close(&mut self, depth: u32, first: u32) -> u32 {
        if self.further.is_empty() { first } else { self.close_several(depth, first) }
    }

    #[cold]
    fn close_several(&mut self, depth: u32, first: u32) -> u32 {
        let begin = self.further.partition_point(|entry| entry.0 < depth);
        let mut nouns: Vec<u32> = self.further.drain(begin..).map(|entry| entry.1).collect();
        nouns.push(first);
        nouns.sort_unstable();
        nouns.dedup();
        if nouns.len() > 1 { LOCAL | self.rows.id(nouns) } else { first }
    }
}

/// Sets of several nouns of the run.
#[derive(Debug)]
pub(crate) struct Sets {
    /// The first number: below it are the sets of one noun.
    base: u32,
    pub rows: Interner<Vec<u32>>,
}

impl Sets {
    pub(crate) fn new(base: u32) -> Self {
        Self { base, rows: Interner::default() }
    }

    /// Gives numbers to the sets that are new in a location.
    pub(crate) fn number(&mut self, local: &mut LocalSets) {
        for idx in local.globals.len()..local.rows.rows.len() {
            let id = self.base + self.rows.id(local.rows.rows[idx].clone());
            Arc::make_mut(&mut local.globals).push(id);
        }
    }
}

/// The number of the run of a row's set.
#[inline(always)]
pub(crate) fn global(set: u32, globals: &[u32]) -> u32 {
    if set < LOCAL { set } else { globals.get((set ^ LOCAL) as usize).copied().unwrap_or(NONE) }
}
