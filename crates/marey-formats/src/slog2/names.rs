//! Categories: what drawables are, by number.
//!
//! The one idea: versions differ in whether a category ends with what share of the time it has; whichever of both layouts
//! fills the section is that of the file.

use std::collections::BTreeMap;

use super::file::{Log, text};
use crate::bytes::{Bytes, Order};
use crate::mpe::cargo::Format;
use crate::problems::{Problems, kind};
use crate::spool::Region;
use crate::{Error, mpe, mpi};

/// What shape drawables of a category have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Event,
    State,
    Arrow,
}

/// A category.
#[derive(Clone, Debug)]
pub(super) struct Category {
    pub name: String,
    pub shape: Shape,
    /// What its drawables carry.
    pub format: Format,
}

/// All categories.
#[derive(Clone, Debug, Default)]
pub(super) struct Categories {
    of: BTreeMap<i32, Category>,
    /// How many there are, and how many of previews.
    pub number: u64,
    pub previews: u64,
    /// Whether shadows say what share of the time each category has, as in 2.0.6.
    pub has_weights: bool,
}

impl Categories {
    pub(super) fn read(log: &mut Log, problems: &mut Problems) -> Result<Self, Error> {
        let is_newest = log.header.version.ends_with("2.0.6");
        let mut categories = Self { has_weights: is_newest, ..Self::default() };
        let Some((at, bytes)) = log.categories(problems)? else { return Ok(categories) };
        let mut rows = Rows::read(&bytes, is_newest);
        if rows.end != bytes.len() {
            let other = Rows::read(&bytes, !is_newest);
            if other.end == bytes.len() && other.is_whole {
                rows = other;
            }
        }
        if !rows.is_whole {
            let what = format!("categories make no sense from byte {} on", at + rows.end as u64);
            problems.add(kind::DAMAGED, what, 1);
        }
        for (number, category) in rows.rows {
            let Some(category) = category else {
                let what = "categories that are neither events, states nor arrows, or carry what has no size";
                problems.add(kind::DAMAGED, what, 1);
                continue;
            };
            if number < 0 {
                categories.previews += 1;
                continue;
            }
            categories.number += 1;
            categories.of.entry(number).or_insert(category);
        }
        Ok(categories)
    }

    pub(super) fn get(&self, number: i32) -> Option<&Category> {
        self.of.get(&number)
    }

    /// Whether there are arrows that are messages of MPI.
    pub(super) fn have_messages(&self) -> bool {
        let has = |category: &Category, what: fn(&str) -> bool| category.format.names().any(what);
        self.of.values().any(|it| it.shape == Shape::Arrow && has(it, is_tag) && has(it, is_size))
    }

    /// The region that a state of this name is.
    pub(super) fn region(&self, name: &str) -> Region {
        if self.have_messages() { mpe::short_region(name) } else { mpi::region(name) }
    }
}

/// Whether a field is the tag of a message.
pub(super) fn is_tag(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("tag")
}

/// Whether a field is the size of a message.
pub(super) fn is_size(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["size", "bytes", "length"].iter().any(|end| name.ends_with(end))
}

/// Categories as they stand in a section.
struct Rows {
    rows: Vec<(i32, Option<Category>)>,
    /// Where they end.
    end: usize,
    /// Whether there are as many as the section says.
    is_whole: bool,
}

impl Rows {
    fn read(bytes: &[u8], has_ratios: bool) -> Self {
        let mut bytes = Bytes::new(bytes, Order::Big);
        let mut rows = Vec::new();
        let number = bytes.u32().unwrap_or(u32::MAX);
        for _ in 0..number {
            let mut ahead = bytes.clone();
            let Some(row) = category(&mut ahead, has_ratios) else { break };
            rows.push(row);
            bytes = ahead;
        }
        let is_whole = u32::try_from(rows.len()).is_ok_and(|there| there == number);
        Self { rows, end: bytes.at, is_whole }
    }
}

/// A category; none behind its number if it is of no shape, or carries what has no size.
fn category(bytes: &mut Bytes<'_>, has_ratios: bool) -> Option<(i32, Option<Category>)> {
    let number = bytes.u32()?.cast_signed();
    let name = text(bytes)?;
    let shape = match bytes.u32()? {
        0 => Some(Shape::Event),
        1 => Some(Shape::State),
        2 => Some(Shape::Arrow),
        _ => None,
    };
    // Colour, whether that may be changed, and width.
    bytes.take(4 + 1 + 1)?;
    let mut keys = Vec::new();
    for _ in 0..bytes.short(2)? {
        keys.push(text(bytes)?);
    }
    let len = usize::try_from(bytes.short(2)?).ok()?;
    let letters = bytes.take(len)?;
    let n_methods = usize::try_from(bytes.short(2)?).ok()?;
    bytes.take(4 * n_methods)?;
    if has_ratios {
        bytes.take(4 + 4 + 8)?;
    }
    // A text stands before each value, and perhaps one behind the last.
    let keys = keys.iter().map(String::as_str).chain(std::iter::repeat(""));
    let pieces = letters.iter().zip(keys).map(|(letter, key)| (key, char::from(*letter)));
    let category = shape.zip(Format::of_pieces(pieces));
    let category = category.map(|(shape, format)| {
        let name = if name.is_empty() { format!("category {number}") } else { name };
        Category { name, shape, format }
    });
    Some((number, category))
}
