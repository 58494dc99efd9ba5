//! Regions by category, name and place in the source.

use marey_model::{Level, Role, Tier};
use rustc_hash::FxHashMap;

use super::sequence::Location;
use crate::draft::Draft;
use crate::mpi;
use crate::spool::Region;

/// Levels that categories make; those of further ones are the source.
const MOST_LEVELS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Regions {
    /// By category, name, file and line.
    known: FxHashMap<(String, String, String, u32), u32>,
    levels: Vec<String>,
}

impl Regions {
    pub(super) fn of(
        &mut self,
        draft: &mut Draft,
        (category, name): (&str, &str),
        location: &Location,
    ) -> u32 {
        let key = (category.to_owned(), name.to_owned(), location.file.clone(), location.line);
        if let Some(region) = self.known.get(&key) {
            return *region;
        }
        let name = if name.is_empty() { "(no name)" } else { name };
        let is_mpi = name.starts_with("MPI_") || name.starts_with("PMPI_");
        let region = Region {
            level: match is_mpi {
                true => (Level::MPI.into(), Tier::Runtime),
                false => (self.level(category).into(), Tier::Source),
            },
            verb: if is_mpi { name } else { "execute" }.to_owned(),
            role: if is_mpi { mpi::role(name) } else { Role::Work },
            noun: if is_mpi { ("".into(), String::new()) } else { ("function".into(), name.to_owned()) },
            file: location.file.clone(),
            line: location.line,
        };
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
