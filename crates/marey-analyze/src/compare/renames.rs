//! Functions whose names were changed.
//!
//! The one idea: a function is known by its neighbours, too. If exactly one function is gone and exactly one is new
//! among those that are called by the same functions and call the same ones, they are one; and what is found makes
//! neighbours of others known.
//!
//! What is deliberately absent: likeness of names, and guesses between several candidates.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::{Digest, FunctionName, FunctionSums, Graph, Node};

/// A function that was taken for renamed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Renamed {
    /// Its name in the base.
    pub old: FunctionName,
    /// Its name in the other.
    pub new: FunctionName,
    /// How that was found.
    pub how: RenamedHow,
}

/// How a renamed function was recognised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RenamedHow {
    /// By its name: only the file is another.
    Moved,
    /// By who calls it and whom it calls.
    Neighbours,
    /// By samples: its file, and who calls it most often.
    Samples,
}

/// Functions of fewer samples may have none by chance: of 20 that are to be expected none comes in one of 5 · 10⁸ runs.
const ENOUGH: u64 = 20;

/// All pairs, by the old name.
pub(super) fn renames(base: &Digest, other: &Digest) -> Vec<Renamed> {
    let (old, new) = (names_of(base), names_of(other));
    let mut search = Search {
        gone: old.difference(&new).copied().collect(),
        new: new.difference(&old).copied().collect(),
        old_of: BTreeMap::new(),
        found: Vec::new(),
    };
    search.moved();
    while search.by_neighbours(&base.graph, &other.graph) {}
    search.by_samples(base, other);
    search.found.sort();
    search.found
}

/// Functions that have a name.
fn names_of(run: &Digest) -> BTreeSet<&FunctionName> {
    let sampled = run.functions.iter().map(|row| &row.function);
    run.graph.functions.keys().chain(sampled).filter(|function| !function.name.is_empty()).collect()
}

struct Search<'d> {
    /// Functions of the base alone that no pair was found for.
    gone: BTreeSet<&'d FunctionName>,
    /// Functions of the other alone.
    new: BTreeSet<&'d FunctionName>,
    /// The pairs.
    old_of: BTreeMap<&'d FunctionName, &'d FunctionName>,
    found: Vec<Renamed>,
}

/// What a function's neighbours are, in the words of the base; those that only one run has are counted.
type Surroundings<'d> = (BTreeSet<&'d FunctionName>, usize, BTreeSet<Neighbour<'d>>, usize);

/// A node in the words of the base.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Neighbour<'d> {
    Function(&'d FunctionName),
    Call(&'d crate::digest::RegionName),
}

impl<'d> Search<'d> {
    fn take(&mut self, old: &'d FunctionName, new: &'d FunctionName, how: RenamedHow) {
        self.gone.remove(old);
        self.new.remove(new);
        self.old_of.insert(new, old);
        self.found.push(Renamed { old: old.clone(), new: new.clone(), how });
    }

    /// Takes those pairs of which the key is that of one function on either side.
    fn take_unique<K: Ord>(
        &mut self,
        old: impl Iterator<Item = (K, &'d FunctionName)>,
        new: impl Iterator<Item = (K, &'d FunctionName)>,
        how: RenamedHow,
    ) -> bool {
        let mut keys: BTreeMap<K, [Vec<&'d FunctionName>; 2]> = BTreeMap::new();
        old.for_each(|(key, function)| keys.entry(key).or_default()[0].push(function));
        new.for_each(|(key, function)| keys.entry(key).or_default()[1].push(function));
        let before = self.found.len();
        for sides in keys.into_values() {
            if let ([old], [new]) = (sides[0].as_slice(), sides[1].as_slice()) {
                self.take(old, new, how);
            }
        }
        before < self.found.len()
    }

    fn moved(&mut self) {
        let (old, new) = (self.gone.clone(), self.new.clone());
        let by_name = |function: &&'d FunctionName| (function.name.as_str(), *function);
        self.take_unique(old.iter().map(by_name), new.iter().map(by_name), RenamedHow::Moved);
    }

    fn by_neighbours(&mut self, base: &'d Graph, other: &'d Graph) -> bool {
        let known = |(callers, _, callees, _): &Surroundings<'_>| !callers.is_empty() || !callees.is_empty();
        let old: Vec<_> = self.gone.iter().filter_map(|f| Some((self.of_base(base, f)?, *f))).collect();
        let new: Vec<_> = self.new.iter().filter_map(|f| Some((self.of_other(other, f)?, *f))).collect();
        let old = old.into_iter().filter(|(key, _)| known(key));
        let new = new.into_iter().filter(|(key, _)| known(key));
        self.take_unique(old, new, RenamedHow::Neighbours)
    }

    fn of_base(&self, graph: &'d Graph, function: &FunctionName) -> Option<Surroundings<'d>> {
        surroundings(graph, function, |function| (!self.gone.contains(function)).then_some(function))
    }

    fn of_other(&self, graph: &'d Graph, function: &FunctionName) -> Option<Surroundings<'d>> {
        surroundings(graph, function, |function| {
            let old = self.old_of.get(function).copied();
            old.or_else(|| (!self.new.contains(function)).then_some(function))
        })
    }

    fn by_samples(&mut self, base: &'d Digest, other: &'d Digest) {
        let is_enough = |row: &&FunctionSums| row.samples >= ENOUGH;
        let old: Vec<_> = base
            .functions
            .iter()
            .filter(|row| {
                self.gone.contains(&row.function) && !base.graph.functions.contains_key(&row.function)
            })
            .filter(is_enough)
            .filter_map(|row| Some(((row.caller.as_ref()?, &row.function.file), &row.function)))
            .collect();
        let in_words_of_base = |function| self.old_of.get(function).copied().unwrap_or(function);
        let new: Vec<_> = other
            .functions
            .iter()
            .filter(|row| {
                self.new.contains(&row.function) && !other.graph.functions.contains_key(&row.function)
            })
            .filter(is_enough)
            .filter_map(|row| {
                Some(((in_words_of_base(row.caller.as_ref()?), &row.function.file), &row.function))
            })
            .collect();
        self.take_unique(old.into_iter(), new.into_iter(), RenamedHow::Samples);
    }
}

/// The neighbours of a function; `known` gives their names in the words of the base.
fn surroundings<'d>(
    graph: &'d Graph,
    function: &FunctionName,
    known: impl Fn(&'d FunctionName) -> Option<&'d FunctionName>,
) -> Option<Surroundings<'d>> {
    let neighbours = graph.functions.get(function)?;
    let callers: BTreeSet<_> = neighbours.callers.iter().filter_map(&known).collect();
    let callee = |node: &'d Node| match node {
        Node::Function(function) => known(function).map(Neighbour::Function),
        Node::Call(region) => Some(Neighbour::Call(region)),
    };
    let callees: BTreeSet<_> = neighbours.callees.iter().filter_map(callee).collect();
    let unknown = (neighbours.callers.len() - callers.len(), neighbours.callees.len() - callees.len());
    Some((callers, unknown.0, callees, unknown.1))
}
