//! Functions that are called for the first time: what lies at their addresses.
//!
//! The one idea: a place is a module and a virtual address in it, so that a region means the same in all
//! processes, wherever their modules lie.
//!
//! The table of modules is taken out while it is used, not locked: looking what is loaded takes the loader's lock,
//! which a thread may hold that waits for ours.

use marey_measure::{Lock, Runtime};

use super::{names, sites};
use crate::site;
use crate::unwind::Modules;

static MODULES: Lock<Option<Modules>> = Lock::new(None);

/// The site of the function that begins at an address, as a new definition or a known one.
#[cold]
pub(super) fn site(runtime: &Runtime, function: usize) -> Option<u32> {
    if crate::alloc::is_exhausted() {
        return None;
    }
    let place = place_of(runtime, function);
    let site = runtime.define(|definitions| {
        let region = definitions.function(place.module, place.vaddr, &place.name);
        definitions.site(region, None).0
    })?;
    sites::insert(function, site);
    Some(site)
}

/// Where a function lies, or something else that modules have.
pub(crate) struct Place {
    /// Number of the module; `u32::MAX` for code that lies in none.
    pub(crate) module: u32,
    pub(crate) vaddr: u64,
    /// `libx.so+0x1234`.
    pub(crate) name: String,
}

pub(crate) fn place_of(runtime: &Runtime, function: usize) -> Place {
    let taken = MODULES.with_or_renew(|| None, Option::take).flatten();
    let mut modules = taken.unwrap_or_default();
    for closed in &modules.refresh().removed {
        site::unmapped(runtime, closed);
    }
    let place = match modules.find(function) {
        Some(module) => {
            let number = site::number_of(runtime, module);
            names::know(number, &module.path);
            let vaddr = (function - module.bias) as u64;
            let file = module.path.file_name().unwrap_or_default().to_string_lossy();
            Place { module: number, vaddr, name: format!("{file}+{vaddr:#x}") }
        }
        None => Place { module: u32::MAX, vaddr: function as u64, name: format!("{function:#x}") },
    };
    MODULES.with_or_renew(|| None, |kept| *kept = Some(modules));
    place
}
