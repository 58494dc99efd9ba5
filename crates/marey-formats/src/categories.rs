//! Regions by category, name and place in the source, as Chrome trace events and Perfetto have them.
//!
//! Deliberately absent: categories beyond the first of an event, which are among its facts where the format keeps them.

use marey_model::{Level, Tier};
use rustc_hash::FxHashMap;

use crate::draft::Draft;
use crate::mpi;

/// Levels that categories make; those of further ones are the source.
const MOST_LEVELS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// By category, name, file and line.
    known: FxHashMap<(String, String, String, u32), u32>,
    levels: Vec<String>,
}

impl Regions {
    /// The region of an event; its file is empty where that is not known.
    pub(crate) fn of(
        &mut self,
        draft: &mut Draft,
        (category, name): (&str, &str),
        (file, line): (&str, u32),
    ) -> u32 {
        let key = (category.to_owned(), name.to_owned(), file.to_owned(), line);
        if let Some(region) = self.known.get(&key) {
            return *region;
        }
        let mut region = mpi::region(if name.is_empty() { "(no name)" } else { name });
        if region.level.0 != Level::MPI {
            region.level = (self.level(category).into(), Tier::Source);
        }
        (region.file, region.line) = (file.to_owned(), line);
        let region = draft.region(&region);
        self.known.insert(key, region);
        region
    }

    fn level(&mut self, category: &str) -> String {
        let is_known = self.levels.iter().any(|level| level == category);
        if category.is_empty() || !is_known && self.levels.len() == MOST_LEVELS {
            return Level::SOURCE.to_owned();
        }
        if !is_known {
            self.levels.push(category.to_owned());
        }
        category.to_owned()
    }
}
