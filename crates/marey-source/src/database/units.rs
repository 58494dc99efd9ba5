//! All units of a module: from a key to its entity, and from an entity to what it is a copy of.

use rustc_hash::FxHashMap;

use super::unit::{Derived, Entity, Key, UnitFacts, What};

/// An entry that refers to one that refers to one: more than compilers write.
const MOST_STEPS: usize = 8;

/// The place of an entity among those of all units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At(u32);

impl At {
    pub(super) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// Units, one behind the other.
pub(super) struct Units<'d> {
    pub(super) list: Vec<UnitFacts<'d>>,
    /// The place of the first entity of each.
    first: Vec<u32>,
    len: u32,
    /// By key, ascending.
    keys: Vec<(Key, At)>,
    /// Names that were given to types that have none.
    aliases: FxHashMap<Key, &'d [u8]>,
}

impl<'d> Units<'d> {
    /// Units in the order of the file, those that are shared last.
    pub(super) fn new(list: Vec<UnitFacts<'d>>) -> Self {
        let mut units =
            Self { first: Vec::new(), len: 0, keys: Vec::new(), aliases: FxHashMap::default(), list };
        for unit in &units.list {
            units.first.push(units.len);
            for entity in &unit.entities {
                units.keys.push((entity.key, At(units.len)));
                units.len = units.len.saturating_add(1);
                if entity.what == What::Alias
                    && let Some(of) = entity.of_type
                {
                    units.aliases.entry(of).or_insert(entity.name);
                }
            }
        }
        units.keys.sort_unstable();
        units
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// All entities.
    pub(super) fn all(&self) -> impl Iterator<Item = (At, &Entity<'d>)> {
        (0..).map(At).zip(self.list.iter().flat_map(|unit| &unit.entities))
    }

    pub(super) fn get(&self, at: At) -> &Entity<'d> {
        let unit = self.unit(at);
        &self.list[unit].entities[(at.0 - self.first[unit]) as usize]
    }

    /// The number of the unit that an entity lies in.
    pub(super) fn unit(&self, at: At) -> usize {
        // Units without entities begin where the next one does.
        self.first.partition_point(|first| *first <= at.0).saturating_sub(1)
    }

    /// The place of an entity that is known by its place in its unit.
    pub(super) fn at(&self, unit: usize, place: u32) -> At {
        At(self.first[unit] + place)
    }

    pub(super) fn find(&self, key: Key) -> Option<At> {
        let place = self.keys.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(self.keys[place].1)
    }

    pub(super) fn derived(&self, key: Key) -> Option<Derived<'d>> {
        let unit = self.list.partition_point(|unit| unit.base <= key).checked_sub(1)?;
        self.list[unit].derived.get(&key).copied()
    }

    /// The name that was given to a type without one.
    pub(super) fn alias_of(&self, key: Key) -> Option<&'d [u8]> {
        self.aliases.get(&key).copied().filter(|name| !name.is_empty())
    }

    /// What an entity lies in.
    pub(super) fn scope(&self, at: At) -> Option<At> {
        let scope = self.get(at).scope?;
        Some(self.at(self.unit(at), scope))
    }

    /// An entity, what it is a copy or the definition of, and so on.
    pub(super) fn chain(&self, at: At) -> impl Iterator<Item = At> {
        let next = |at: &At| self.get(*at).origin.and_then(|key| self.find(key));
        std::iter::successors(Some(at), next).take(MOST_STEPS)
    }

    /// The last of the chain: the first declaration.
    pub(super) fn root(&self, at: At) -> At {
        self.chain(at).last().unwrap_or(at)
    }

    /// The path and line of an entity; what it does not say, what it is a copy of does.
    pub(super) fn place(&self, at: At) -> Option<(&str, u32)> {
        let mut chain = self.chain(at).map(|at| (self.unit(at), self.get(at)));
        let (mut path, mut line) = (None, None);
        // A file is a number in its own unit.
        chain.find(|(unit, entity)| {
            line = line.or(entity.line);
            path = path.or_else(|| entity.file.and_then(|file| self.path(*unit, file)));
            path.is_some() && line.is_some()
        });
        Some((path?, line.unwrap_or(0)))
    }

    /// The path of a file of a unit.
    pub(super) fn path(&self, unit: usize, file: u32) -> Option<&str> {
        self.list[unit].files.get(&file).map(String::as_str)
    }
}
