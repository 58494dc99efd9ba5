//! Types, values and containers.
//!
//! The one idea: each has a name and perhaps an alias, and events use either; so both lead to the same entry.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::header::{Code, Event};
use crate::mpe;

/// Containers, types and values each.
const MOST: usize = 1 << 20;
/// Bytes of a name that is kept.
pub(super) const LONGEST: usize = 64 << 10;
/// Containers that lie one in the other.
const MOST_DEPTH: usize = 64;

/// A container.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub name: String,
    kind: String,
    parent: Option<usize>,
    /// The rank that it is or lies in, where there are ranks.
    pub rank: Option<u32>,
}

/// All that is defined.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub containers: Vec<Container>,
    by_name: FxHashMap<String, usize>,
    /// Names of types, by name and alias.
    types: FxHashMap<String, String>,
    /// Names of values, by the name of their type, and name and alias.
    values: FxHashMap<(String, String), String>,
    /// Whether there are ranks.
    pub has_ranks: bool,
}

/// Fields that say the type.
pub(super) const TYPE: [&str; 3] = ["Type", "EntityType", "ContainerType"];

impl Known {
    /// Takes what an event defines.
    pub(super) fn learn(&mut self, event: &Event<'_>) {
        let name = event.get(&["Name"]).unwrap_or_default();
        let alias = event.get(&["Alias"]).unwrap_or(name);
        if name.len() + alias.len() > LONGEST {
            return;
        }
        match event.code {
            Code::ContainerType | Code::EventType | Code::StateType | Code::VariableType | Code::LinkType
                if self.types.len() < MOST =>
            {
                // An alias is meant before a name that is the same.
                self.types.insert(alias.to_owned(), name.to_owned());
                self.types.entry(name.to_owned()).or_insert_with(|| name.to_owned());
            }
            Code::Value if self.values.len() < MOST => {
                let of = self.type_name(event.get(&TYPE).unwrap_or_default()).to_owned();
                self.values.insert((of.clone(), alias.to_owned()), name.to_owned());
                self.values.entry((of, name.to_owned())).or_insert_with(|| name.to_owned());
            }
            Code::Create if self.containers.len() < MOST => {
                let kind = self.type_name(event.get(&TYPE).unwrap_or_default()).to_owned();
                let parent = event.get(&["Container"]).and_then(|parent| self.container(parent));
                let place = self.containers.len();
                self.containers.push(Container { name: name.to_owned(), kind, parent, rank: None });
                self.by_name.insert(alias.to_owned(), place);
                self.by_name.entry(name.to_owned()).or_insert(place);
            }
            _ => {}
        }
    }

    /// Finds ranks, once all containers are known.
    pub(super) fn settle(&mut self) {
        let is_process = |container: &Container| {
            let kind = container.kind.to_ascii_lowercase();
            !kind.contains("thread")
                && !kind.contains("processor")
                && ["process", "rank", "mpi"].iter().any(|word| kind.contains(word))
        };
        let places: Vec<usize> = (0..self.containers.len()).collect();
        let processes: BTreeMap<usize, Option<u32>> = places
            .iter()
            .filter_map(|place| Some((*place, self.containers.get(*place)?)))
            .filter(|(_, container)| is_process(container))
            .map(|(place, container)| (place, number(&container.name)))
            .collect();
        let ranks: Option<BTreeSet<u32>> = processes.values().copied().collect();
        self.has_ranks = !processes.is_empty() && ranks.is_some_and(|ranks| ranks.len() == processes.len());
        if !self.has_ranks {
            return;
        }
        for place in places {
            let mut at = Some(place);
            let mut rank = None;
            for _ in 0..MOST_DEPTH {
                let Some(here) = at else { break };
                rank = processes.get(&here).copied().flatten();
                if rank.is_some() {
                    break;
                }
                at = self.containers.get(here).and_then(|container| container.parent);
            }
            if let Some(container) = self.containers.get_mut(place) {
                container.rank = rank;
            }
        }
    }

    /// The place of a container.
    pub(super) fn container(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The name of a type; its alias if it is not defined.
    pub(super) fn type_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.types.get(name).map_or(name, String::as_str)
    }

    /// The name of a value of a type; what stands there if it is not defined.
    pub(super) fn value<'a>(&'a self, of: &str, value: &'a str) -> &'a str {
        let key = (self.type_name(of).to_owned(), value.to_owned());
        self.values.get(&key).map_or(value, String::as_str)
    }

    /// Ranks, in order.
    pub(super) fn ranks(&self) -> BTreeSet<u32> {
        self.containers.iter().filter_map(|container| container.rank).collect()
    }
}

/// The number that a name ends with.
fn number(name: &str) -> Option<u32> {
    let begin = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = name.get(begin..)?.parse::<u32>().ok()?;
    mpe::rank(number.into())
}
