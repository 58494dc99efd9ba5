//! How what is said on one level is carried out on another: mappings between regions.
//!
//! The one idea: a call path says what was done for what, so the nearest region above on another level is what a region
//! served. It is *explicit* if it does the same, a transfer for a transfer; all else keeps what the sentence above means.
//! Source of the terms: Irvin and Miller, *Mapping Performance Data for High-Level and Data Views of Parallel Program
//! Performance* (1996).
//!
//! Deliberately absent: mappings that are known without a run, which `frames`, `arrays` and the places of nouns are.

use std::collections::BTreeMap;

use super::globals::Globals;
use super::paths::PathRow;
use super::rows::columns;
use super::sums::ProfileRow;
use crate::schema::{MAPPINGS, NONE};
use crate::{Column, Columns, Error};

/// The table of them, from call paths, whose parents have smaller numbers, and their sums.
pub(super) fn table(globals: &Globals, paths: &[PathRow], profile: &[ProfileRow]) -> Result<Columns, Error> {
    // The nearest region above on another level.
    let mut served: Vec<u32> = Vec::with_capacity(paths.len());
    for path in paths {
        let above = paths.get(path.parent as usize).zip(served.get(path.parent as usize));
        served.push(match above {
            Some((parent, &higher)) => {
                if parent.level == path.level {
                    higher
                } else {
                    parent.region
                }
            }
            None => NONE,
        });
    }
    let mut sums: BTreeMap<(u32, u32), (i64, i64)> = BTreeMap::new();
    for (path, _, node) in profile {
        let (Some(row), Some(&upper)) = (paths.get(*path as usize), served.get(*path as usize)) else {
            continue;
        };
        if upper == NONE || node.visits == 0 {
            continue;
        }
        let sum = sums.entry((upper, row.region)).or_default();
        *sum = (sum.0.saturating_add(node.visits), sum.1.saturating_add(node.exclusive.max(0)));
    }
    let role = |region: u32| {
        let region = globals.regions.rows.get(region as usize)?;
        globals.verbs.rows.get(region.verb as usize).map(|verb| verb.role)
    };
    let kind = |upper, lower| if role(upper) == role(lower) { "explicit" } else { "implicit" };
    let rows: Vec<_> = sums.into_iter().collect();
    let columns = columns![rows;
        U32 |row| row.0.0,
        U32 |row| row.0.1,
        Text |row| kind(row.0.0, row.0.1).to_owned(),
        I64 |row| row.1.0,
        I64 |row| row.1.1,
    ];
    Columns::from_columns(&MAPPINGS, columns)
}
