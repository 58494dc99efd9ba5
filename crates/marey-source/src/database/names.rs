//! Names of entities with all that they lie in, and of types as the author would write them.

use std::borrow::Cow;

use super::facts::{Text, TypeKind};
use super::unit::{Derived, Entity, Key, What};
use super::units::{At, Units};
use crate::texts::Texts;

/// Types that are made of types that are made of types: more than somebody writes.
const MOST_STEPS: usize = 16;

/// Names that were put together before.
pub(super) struct Names<'u, 'd> {
    units: &'u Units<'d>,
    /// By place among all entities.
    known: Vec<Option<Text>>,
}

impl<'u, 'd> Names<'u, 'd> {
    pub(super) fn new(units: &'u Units<'d>) -> Self {
        Self { units, known: vec![None; units.len()] }
    }

    /// The name of an entity with the namespaces, modules, types and functions that it lies in.
    pub(super) fn of(&mut self, at: At, texts: &mut Texts) -> Text {
        if let Some(known) = self.known[at.idx()] {
            return known;
        }
        // From the inside outwards, as far as names are not known yet.
        let mut inner = Vec::new();
        let mut next = Some(at);
        let mut around = String::new();
        while let Some(at) = next.filter(|_| inner.len() < MOST_STEPS * 4) {
            if let Some(known) = self.known[at.idx()] {
                texts.get(known).clone_into(&mut around);
                break;
            }
            inner.push(at);
            next = self.units.scope(self.units.root(at));
        }
        let mut name = Text(0);
        for at in inner.into_iter().rev() {
            if !around.is_empty() {
                around.push_str("::");
            }
            around.push_str(&self.short(at));
            name = texts.add(&around);
            self.known[at.idx()] = Some(name);
        }
        name
    }

    /// Its name in what it lies in.
    pub(super) fn short(&self, at: At) -> Cow<'u, str> {
        let mut entity = self.units.get(at);
        for _ in 0..MOST_STEPS {
            if !entity.name.is_empty() {
                return String::from_utf8_lossy(entity.name);
            }
            match entity.origin.and_then(|key| self.units.find(key)) {
                Some(origin) => entity = self.units.get(origin),
                None => break,
            }
        }
        match entity.what {
            What::Namespace => "(anonymous namespace)".into(),
            What::Type(kind) => self.units.alias_of(entity.key).map_or_else(
                || match kind {
                    TypeKind::Class => "(anonymous class)".into(),
                    TypeKind::Struct => "(anonymous struct)".into(),
                    TypeKind::Union => "(anonymous union)".into(),
                    TypeKind::Enum => "(anonymous enum)".into(),
                    TypeKind::Derived => "(anonymous type)".into(),
                },
                String::from_utf8_lossy,
            ),
            _ if !entity.linkage.is_empty() => String::from_utf8_lossy(entity.linkage),
            _ => "(anonymous)".into(),
        }
    }

    /// The type that a key means, as it is written.
    pub(super) fn of_type(&mut self, key: Option<Key>, texts: &mut Texts) -> String {
        self.written(key, MOST_STEPS, texts)
    }

    fn written(&mut self, key: Option<Key>, steps: usize, texts: &mut Texts) -> String {
        let Some(key) = key else { return "void".to_owned() };
        if steps == 0 {
            return "…".to_owned();
        }
        if let Some(at) = self.units.find(key) {
            let name = self.of(at, texts);
            return texts.get(name).to_owned();
        }
        let Some(Derived { tag, name, of }) = self.units.derived(key) else { return "?".to_owned() };
        if !name.is_empty() {
            return String::from_utf8_lossy(name).into_owned();
        }
        let of = if tag == gimli::DW_TAG_subroutine_type {
            None
        } else {
            Some(self.written(of, steps - 1, texts))
        };
        let of = of.unwrap_or_default();
        match tag {
            gimli::DW_TAG_pointer_type => format!("{of} *"),
            gimli::DW_TAG_reference_type => format!("{of} &"),
            gimli::DW_TAG_rvalue_reference_type => format!("{of} &&"),
            gimli::DW_TAG_const_type => format!("const {of}"),
            gimli::DW_TAG_volatile_type => format!("volatile {of}"),
            gimli::DW_TAG_array_type => format!("{of} []"),
            gimli::DW_TAG_string_type => "character(*)".to_owned(),
            gimli::DW_TAG_subroutine_type => "(function)".to_owned(),
            _ => of,
        }
    }
}

/// What a method is, by its name and that of its type.
pub(super) fn is_operator(name: &str) -> bool {
    name.strip_prefix("operator")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// A name without the arguments of a template.
pub(super) fn plain(name: &str) -> &str {
    name.split_once('<').map_or(name, |(plain, _)| plain)
}

/// What entity a type is, for who asks whether it is one.
pub(super) fn kind(entity: &Entity<'_>) -> Option<TypeKind> {
    match entity.what {
        What::Type(kind) => Some(kind),
        _ => None,
    }
}
