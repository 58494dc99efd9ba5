//! What things that two runs have in common are called in each of them.
//!
//! The one idea: a region of the base and one of the other run are the same if their names are, once functions that were
//! renamed are called as before; the page counts regions and locations by their numbers, which say nothing by themselves.

use std::collections::BTreeMap;

use marey_analyze::{Comparison, PlaceKind, RegionName, Trace};

use crate::run::Opened;
use crate::wire::{WireActivity, WirePlace};

/// Stands for a region or a location that there is not.
const NONE: u32 = u32::MAX;

/// Numbers of a region in the base and in the other run; of several that have its name, the one that was visited most.
pub(super) type Both = (Option<u32>, Option<u32>);

/// Regions of both runs by their names in the base.
pub(super) struct Ids<'c> {
    runs: (&'c Opened<'c>, &'c Opened<'c>),
    comparison: &'c Comparison<'c>,
    regions: BTreeMap<RegionName, Both>,
    /// Of each region of the other run its name in the base.
    names_of_other: Vec<RegionName>,
    /// Of each place of both.
    places: Vec<RegionName>,
}

impl<'c> Ids<'c> {
    pub(super) fn new(base: &'c Opened<'c>, other: &'c Opened<'c>, comparison: &'c Comparison<'c>) -> Self {
        let names_of = |run: &Opened<'_>| -> Vec<RegionName> {
            run.trace.regions().iter().map(RegionName::of).collect()
        };
        let names_of_other = comparison.old_regions(&names_of(other));
        let mut regions: BTreeMap<RegionName, Both> = BTreeMap::new();
        for (number, name) in (0..).zip(names_of(base)) {
            let both = regions.entry(name).or_default();
            both.0 = more_visited(base, both.0, number);
        }
        for (number, name) in (0..).zip(&names_of_other) {
            let both = regions.entry(name.clone()).or_default();
            both.1 = more_visited(other, both.1, number);
        }
        let name = |place: usize| comparison.old_name(place).map(|place| place.region.clone());
        let new_names: Vec<&RegionName> =
            (0..comparison.places.len()).map(|place| &comparison.name(place).0.region).collect();
        let translated = comparison.old_regions(new_names);
        let places = translated.into_iter().enumerate().map(|(place, new)| name(place).unwrap_or(new));
        let places = places.collect();
        Self { runs: (base, other), comparison, regions, names_of_other, places }
    }

    /// The name that a region of either run has in the base.
    pub(super) fn of(&self, name: &RegionName) -> Both {
        self.regions.get(name).copied().unwrap_or_default()
    }

    /// The name of a place's region in the base.
    pub(super) fn region_of(&self, place: usize) -> &RegionName {
        &self.places[place]
    }

    /// What a region is called in the page: as in the run that has it.
    pub(super) fn name(&self, both: Both, else_name: &str) -> String {
        let of = |run: &Opened<'_>, number: Option<u32>| {
            number.and_then(|number| run.head.regions.get(number as usize)).map(|region| region.name.clone())
        };
        of(self.runs.0, both.0).or_else(|| of(self.runs.1, both.1)).unwrap_or_else(|| else_name.to_owned())
    }

    pub(super) fn place(&self, place: usize) -> WirePlace {
        let (name, line) = self.comparison.name(place);
        let (base, other) =
            if name.kind == PlaceKind::Call { self.of(&self.places[place]) } else { (None, None) };
        WirePlace {
            activity: match name.kind {
                PlaceKind::Call => WireActivity::Call,
                PlaceKind::Outside => WireActivity::Outside,
                PlaceKind::NotStarted => WireActivity::NotStarted,
            },
            name: self.name((base, other), name.region.name()),
            level: name.region.level.clone(),
            function: name.caller.name.clone(),
            file: if name.caller.name.is_empty() { &name.region.file } else { &name.caller.file }.clone(),
            line,
            base,
            other,
        }
    }

    /// A region by itself, wherever it is called.
    pub(super) fn region(&self, name: &RegionName) -> WirePlace {
        let (base, other) = self.of(name);
        WirePlace {
            activity: WireActivity::Call,
            name: self.name((base, other), name.name()),
            level: name.level.clone(),
            function: String::new(),
            file: name.file.clone(),
            line: 0,
            base,
            other,
        }
    }

    /// Of each region of the other run that of the base.
    pub(super) fn same_regions(&self) -> Vec<u32> {
        self.names_of_other.iter().map(|name| self.of(name).0.unwrap_or(NONE)).collect()
    }

    /// Of each location of the other run that of the base: their names say which rank and which thread they are.
    pub(super) fn same_locations(&self) -> Vec<u32> {
        let (base, other) = (&self.runs.0.head.locations, &self.runs.1.head.locations);
        let numbers: BTreeMap<&str, u32> = base.iter().map(|it| it.name.as_str()).zip(0..).collect();
        other.iter().map(|it| numbers.get(it.name.as_str()).copied().unwrap_or(NONE)).collect()
    }
}

fn more_visited(run: &Opened<'_>, known: Option<u32>, number: u32) -> Option<u32> {
    let visits = |number: u32| run.head.regions.get(number as usize).map_or(0, |region| region.visits);
    match known {
        Some(known) if visits(known) >= visits(number) => Some(known),
        _ => Some(number),
    }
}
