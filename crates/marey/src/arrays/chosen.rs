//! Which array `--array` means.
//!
//! The one idea: a name, and where it is declared if several have it: `u@file.f90:12`. All tables go by the same one; those
//! that know arrays by name only (what formulas say, what redistributes) show what all of that name do.

use marey_analyze::ArrayRow;

use crate::words;

/// What was asked for, as the run has it.
pub(super) struct Chosen<'t> {
    pub(super) name: String,
    place: Option<&'t str>,
}

impl<'t> Chosen<'t> {
    pub(super) fn of(rows: &[ArrayRow], text: &'t str) -> Self {
        let is_there = |name: &str| rows.iter().any(|row| row.name == name);
        // Fortran does not care about case, and debug information has it small.
        let as_there = |name: &str| {
            let small = name.to_lowercase();
            if is_there(name) || !is_there(&small) { name.to_owned() } else { small }
        };
        let whole = as_there(text);
        match text.rsplit_once('@') {
            Some((name, place)) if !is_there(&whole) => Self { name: as_there(name), place: Some(place) },
            _ => Self { name: whole, place: None },
        }
    }

    /// Whether one of several of that name is meant.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    pub(super) fn is(&self, row: &ArrayRow) -> bool {
        row.name == self.name && self.place.is_none_or(|place| declared(row) == place)
    }
}

/// Where an array is declared, as `--array` takes it.
pub(super) fn declared(row: &ArrayRow) -> String {
    words::place(&row.file, row.line)
}
