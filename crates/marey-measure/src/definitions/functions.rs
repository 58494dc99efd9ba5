//! Regions of functions that are known by their addresses only, because the program was compiled so that it
//! says where it enters and leaves one.
//!
//! The one idea: such a region is defined by a place, a module and an address in it, and called after that
//! place; its name is found when the run is merged, where there are debug information and time. Only rules want
//! a name at once. Without rules nobody looks for one.
//!
//! Deliberately absent: what a symbol table is. Whoever knows, says so ([`know_names`]).

use core::sync::atomic::{AtomicPtr, Ordering};

use marey_model::spool::Definition;
use marey_model::{Detail, RegionId, Role};

use super::{Definitions, KEPT, Reducible, RegionKey};
use crate::runtime::{Mode, level};

type NameOf = fn(u32, u64) -> Option<String>;

static NAME_OF: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Lets rules fit functions by their names: what `name_of` says of the function that begins at an address of a
/// module, given by its number. It is called while definitions are made, so it must make none.
pub fn know_names(name_of: fn(u32, u64) -> Option<String>) {
    NAME_OF.store(name_of as *mut (), Ordering::Release);
}

impl Definitions {
    /// The number of the region of the function at `vaddr` of module number `module` (`u32::MAX` for none), which
    /// is called `noun` as long as nobody knows its name. `None` without memory for it.
    pub fn function(&mut self, module: u32, vaddr: u64, noun: &str) -> Option<RegionId> {
        let place = (module, vaddr);
        if let Some(&(id, _)) = self.functions.get(&place) {
            return Some(RegionId(id));
        }
        self.functions.try_reserve(1).ok()?;
        let key = RegionKey {
            level: level::SOURCE,
            verb: "execute".to_owned(),
            role: Role::Work,
            noun_kind: "function",
            noun: noun.to_owned(),
            file: String::new(),
            line: 0,
        };
        let id = self.define_region(&key, KEPT)?;
        let rule = self.rule_for_function(place, noun);
        if let Some(known) = self.region_modes.get_mut(id as usize) {
            *known = rule.map_or(Mode::Trace, Mode::from) as u8;
        }
        self.note_reducible(id, if rule.is_some() { Reducible::Not } else { Reducible::Function });
        if !self.define(&Definition::Function { region: id, module, vaddr }) {
            return None;
        }
        self.functions.insert(place, (id, noun.into()));
        Some(RegionId(id))
    }

    /// The number of a region of which the noun is code at a place: its name is found when the run is merged, and until
    /// then it is called as the key says. `None` without memory for it.
    pub fn region_at(&mut self, key: &RegionKey, module: u32, vaddr: u64) -> Option<RegionId> {
        if let Some(&id) = self.regions.get(key) {
            return Some(RegionId(id));
        }
        let region = self.region(key)?;
        self.define(&Definition::Function { region: region.0, module, vaddr }).then_some(region)
    }

    /// What rules say of a function: by its name, or by its place if it has none.
    pub(super) fn rule_for_function(&self, (module, vaddr): (u32, u64), noun: &str) -> Option<Detail> {
        if self.rules.is_empty() {
            return None;
        }
        let name_of = NAME_OF.load(Ordering::Acquire);
        let mut name = None;
        if !name_of.is_null() {
            // SAFETY: only `know_names` stores there.
            let name_of = unsafe { core::mem::transmute::<*mut (), NameOf>(name_of) };
            name = name_of(module, vaddr);
        }
        let level = marey_model::Level::SOURCE;
        self.rules.detail(level, name.as_deref().unwrap_or(noun), "")
    }
}
