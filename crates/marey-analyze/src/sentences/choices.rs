//! What a sentence can be asked for: levels, verbs and nouns that there are, and what each costs.
//!
//! The one idea: each of the three is told under what is chosen of the other two and under the contexts, so nothing is
//! offered that would find nothing. What lies in another one of the same level, verb or noun counts once.
//!
//! Deliberately absent: arrays that a call acts on beside the one that its region names; where that names none, those that are
//! not always the same.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Nanos, RegionId};

use super::{Sentence, Tree, acted_on};
use crate::paths::{add, first_of_region};
use crate::trace::{CallPath, Region, Trace};

/// A level, verb or noun that there is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What it is called.
    pub name: String,
    /// How often it was visited.
    pub visits: u64,
    /// Its time with what lies beneath, all threads together.
    pub time: Nanos,
}

/// What can be chosen, each list with most time first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// Levels that have what is asked for.
    pub levels: Vec<Choice>,
    /// Verbs.
    pub verbs: Vec<Choice>,
    /// Nouns; regions without one are in no row.
    pub nouns: Vec<Choice>,
}

/// The choices beside what is asked for. Time: linear in call paths and the profile.
pub fn choices(trace: &dyn Trace, asked: &Sentence, contexts: &[Sentence]) -> Choices {
    let beside = |without: Sentence, of: Of<'_>| values(trace, &without, contexts, of);
    let arrays = acted_on(trace);
    // What makes an array does not know its name yet.
    let noun = |at: usize, region: &Region| match CallPathId::from_idx(at).and_then(|path| arrays.get(&path))
    {
        Some(name) if region.noun.is_empty() => (*name).to_owned(),
        _ => region.noun.clone(),
    };
    Choices {
        levels: beside(Sentence { level: None, ..asked.clone() }, &|_, region| region.level.clone()),
        verbs: beside(Sentence { verb: None, ..asked.clone() }, &|_, region| region.verb.clone()),
        nouns: beside(Sentence { noun: None, ..asked.clone() }, &noun),
    }
}

/// What a call path, by its place, and its region are called.
type Of<'o> = &'o dyn Fn(usize, &Region) -> String;

fn values(trace: &dyn Trace, asked: &Sentence, contexts: &[Sentence], of: Of<'_>) -> Vec<Choice> {
    let tree = Tree::new(trace, asked, contexts);
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    // The tree of call paths with values in the place of regions; what is not meant has one that none is.
    const NONE: RegionId = RegionId(u32::MAX);
    let mut paths: Vec<CallPath> = trace.call_paths().to_vec();
    for (at, (path, place)) in paths.iter_mut().zip(&tree.places).enumerate() {
        let region = trace.regions().get(path.region.idx()).filter(|_| place.is_meant);
        path.region = region.map_or(NONE, |region| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX - 1);
            RegionId(*numbers.entry(of(at, region)).or_insert(next))
        });
    }
    let parent = |idx: usize| paths[idx].parent.map(CallPathId::idx).filter(|parent| *parent < idx);
    let is_first = first_of_region(&paths, parent);
    let mut rows = vec![(0_u64, Nanos(0)); numbers.len()];
    for row in trace.profile() {
        let at = row.call_path.idx();
        let Some(sum) = paths.get(at).and_then(|path| rows.get_mut(path.region.idx())) else { continue };
        sum.0 = sum.0.saturating_add(row.visits);
        if is_first[at] {
            add(&mut sum.1, row.inclusive);
        }
    }
    let told = numbers.into_iter().filter(|(name, _)| !name.is_empty());
    let choice = |(name, number): (String, u32)| {
        let (visits, time) = rows[number as usize];
        Choice { name, visits, time }
    };
    let mut found: Vec<Choice> = told.map(choice).filter(|it| it.visits > 0).collect();
    found.sort_by_key(|it| std::cmp::Reverse(it.time));
    found
}
