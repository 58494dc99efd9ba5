//! What symbols of the source were worth when a program ran: bounds of sections, and images, that its text does not say.
//!
//! The one idea: a recorded access says which elements it meant, and the reference in its line which expressions said so; so
//! values need not be recorded beside accesses. A value is kept when it changes, so many times for each symbol and location;
//! of later ones the least, the greatest and their number. Source: the symbolic records of Fortran D and Pablo (Adve et al.,
//! 1995), which are written when a value changes, and not at all where the text says it.
//!
//! Deliberately absent: guesses. Where a line has several references that an access may belong to, and what the text says
//! does not tell them apart, no value is taken from it.

use std::collections::BTreeMap;

use marey_model::{AccessKind, CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use crate::arrays::Said;
use crate::paths::Paths;
use crate::sequences::{Sequence, Sequences};
use crate::single_access::SingleAccess;
use crate::trace::Trace;

/// So many values of a symbol are kept for each location; what follows is one row.
pub const MOST_VALUES: usize = 32;

/// What an expression says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolEnd {
    /// The one subscript of a dimension.
    Subscript,
    /// The first of a section.
    Lower,
    /// The last of a section.
    Upper,
    /// The distance of one from the next.
    Step,
    /// Which image.
    Image,
}

impl SymbolEnd {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Subscript, Self::Lower, Self::Upper, Self::Step, Self::Image];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Subscript => "subscript",
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::Step => "step",
            Self::Image => "image",
        }
    }

    /// That of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// An expression of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolOf {
    /// What it says.
    pub end: SymbolEnd,
    /// Of which subscript of the reference, from 0.
    pub subscript: usize,
    /// Its value, if the text says that.
    pub value: Option<i64>,
}

/// A reference to elements of other images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceReference {
    /// The array, with components, in small letters.
    pub array: String,
    /// Whether it takes values.
    pub reads: bool,
    /// Whether it gives values.
    pub writes: bool,
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// How many subscripts it has, those of all its components.
    pub subscripts: usize,
    /// Its expressions.
    pub symbols: Vec<SymbolOf>,
}

/// What a symbol was worth at a location from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolRow {
    /// The reference, as a place among those that were given.
    pub reference: usize,
    /// The symbol, as a place among its own.
    pub symbol: usize,
    /// Who made the accesses.
    pub location: LocationId,
    /// When the first of them began.
    pub from: Nanos,
    /// Least and greatest value; the same but where more values are one row.
    pub values: (i64, i64),
    /// How often a value was another one than that before; one for the first.
    pub changes: u64,
    /// How many accesses there were.
    pub accesses: u64,
}

/// Values of one symbol at one location.
#[derive(Debug, Default)]
struct Values {
    rows: Vec<SymbolRow>,
    last: i64,
}

/// Takes values from accesses.
#[expect(missing_debug_implementations, reason = "a trace has none")]
pub struct Symbols<'s> {
    trace: &'s dyn Trace,
    paths: Paths<'s>,
    references: &'s [SourceReference],
    /// By line, then file.
    by_line: BTreeMap<(u32, &'s str), Vec<usize>>,
    /// References of the line of a call path that do what an access does.
    candidates: FxHashMap<(CallPathId, AccessKind), Vec<usize>>,
    found: BTreeMap<(usize, usize, LocationId), Values>,
}

impl<'s> Symbols<'s> {
    /// None yet, of these references.
    pub fn new(trace: &'s dyn Trace, references: &'s [SourceReference]) -> Self {
        let mut by_line: BTreeMap<(u32, &str), Vec<usize>> = BTreeMap::new();
        for (place, it) in references.iter().enumerate() {
            by_line.entry((it.line, &it.file)).or_default().push(place);
        }
        Self {
            trace,
            paths: Paths::new(trace),
            references,
            by_line,
            candidates: FxHashMap::default(),
            found: BTreeMap::new(),
        }
    }

    /// Takes an access; those of a location must come in the order of time.
    pub fn add(&mut self, access: &SingleAccess<'_>) {
        let Some(path) = access.call_path else { return };
        let (trace, paths, by_line) = (self.trace, &self.paths, &self.by_line);
        let references = self.references;
        let candidates = self.candidates.entry((path, access.kind)).or_insert_with(|| {
            let said = Said::of(trace, paths, Some(path), access.kind);
            let (file, line) = said.place();
            let here = by_line.get(&(line, file)).map_or(&[][..], Vec::as_slice);
            here.iter().copied().filter(|it| does(&references[*it], access.kind)).collect()
        });
        if candidates.is_empty() {
            return;
        }
        let Some(Sequences::Product(section)) = access.elements.sequences() else { return };
        let name = self.trace.arrays().get(access.array).map_or("", |it| it.name.as_str());
        let image = image_of(self.trace, access);
        let fits = |it: &usize| is_of(&references[*it], &section, image);
        let mut fitting: Vec<usize> = candidates.iter().copied().filter(fits).collect();
        // A dummy argument has another name than the array.
        if fitting.iter().any(|it| is_called(&references[*it], name)) {
            fitting.retain(|it| is_called(&references[*it], name));
        }
        let [one] = fitting[..] else { return };
        let it = &references[one];
        for (place, symbol) in it.symbols.iter().enumerate().filter(|(_, symbol)| symbol.value.is_none()) {
            if let Some(value) = value(it, symbol, &section, image) {
                let values = self.found.entry((one, place, access.location)).or_default();
                values.add(value, |row| SymbolRow {
                    reference: one,
                    symbol: place,
                    location: access.location,
                    from: access.enter,
                    ..row
                });
            }
        }
    }

    /// All values, by reference, symbol, location and time.
    pub fn rows(self) -> Vec<SymbolRow> {
        self.found.into_values().flat_map(|it| it.rows).collect()
    }
}

impl Values {
    fn add(&mut self, value: i64, new: impl FnOnce(SymbolRow) -> SymbolRow) {
        let is_new = self.rows.is_empty() || self.last != value;
        self.last = value;
        if is_new && self.rows.len() < MOST_VALUES {
            let row = SymbolRow {
                reference: 0,
                symbol: 0,
                location: LocationId(0),
                from: Nanos(0),
                values: (value, value),
                changes: 1,
                accesses: 1,
            };
            self.rows.push(new(row));
        } else if let Some(row) = self.rows.last_mut() {
            row.values = (row.values.0.min(value), row.values.1.max(value));
            row.changes = row.changes.saturating_add(is_new.into());
            row.accesses = row.accesses.saturating_add(1);
        }
    }
}

fn does(reference: &SourceReference, kind: AccessKind) -> bool {
    match kind {
        AccessKind::Read => reference.reads,
        AccessKind::Write => reference.writes,
        _ => reference.reads || reference.writes,
    }
}

/// The image with which elements lie, as the first team counts.
fn image_of(trace: &dyn Trace, access: &SingleAccess<'_>) -> Option<i64> {
    let peer = trace.processes().get(access.peer?.idx())?;
    i64::from(peer.rank?).checked_add(1)
}

/// Whether an array's name is that of a reference: `m::field%values` of `field(k)%values(i)[p]`.
fn is_called(reference: &SourceReference, name: &str) -> bool {
    let own = name.rsplit("::").next().unwrap_or(name);
    own.eq_ignore_ascii_case(&reference.array)
}

/// The dimension of a section that a subscript of a reference says: subscripts of components come last.
fn dimension<'r>(
    reference: &SourceReference,
    section: &'r [Sequence],
    subscript: usize,
) -> Option<&'r Sequence> {
    let before = reference.subscripts.checked_sub(section.len())?;
    section.get(subscript.checked_sub(before)?)
}

fn value(it: &SourceReference, symbol: &SymbolOf, section: &[Sequence], image: Option<i64>) -> Option<i64> {
    if symbol.end == SymbolEnd::Image {
        return image;
    }
    let of = dimension(it, section, symbol.subscript)?;
    match symbol.end {
        SymbolEnd::Subscript => (of.count == 1).then_some(of.start),
        SymbolEnd::Lower => (of.count > 0).then_some(of.start),
        SymbolEnd::Upper => last(of).filter(|_| {
            // Where steps are larger, a section ends at its upper bound or before.
            let has_step =
                |other: &SymbolOf| other.end == SymbolEnd::Step && other.subscript == symbol.subscript;
            !it.symbols.iter().any(has_step) || (of.count > 1 && of.step.unsigned_abs() == 1)
        }),
        // Of one element there is no next.
        SymbolEnd::Step => (of.count > 1).then_some(of.step),
        SymbolEnd::Image => None,
    }
}

fn last(of: &Sequence) -> Option<i64> {
    of.at(of.count.checked_sub(1)?)
}

/// Whether a reference may mean these elements, as far as its text says what they are.
fn is_of(it: &SourceReference, section: &[Sequence], image: Option<i64>) -> bool {
    // Without subscripts it is the whole.
    if it.subscripts != 0 && it.subscripts < section.len() {
        return false;
    }
    let fits = |symbol: &SymbolOf| {
        if symbol.end == SymbolEnd::Subscript
            && dimension(it, section, symbol.subscript).is_some_and(|of| of.count > 1)
        {
            // A vector of subscripts, or a part of memory that another subscript means.
            return false;
        }
        let Some(told) = symbol.value else { return true };
        if symbol.end == SymbolEnd::Upper {
            let Some(of) = dimension(it, section, symbol.subscript) else { return true };
            let (Some(last), step) = (last(of), i128::from(of.step)) else { return true };
            let beyond = (i128::from(told) - i128::from(last)) * step.signum();
            return (0..step.abs().max(1)).contains(&beyond);
        }
        value(it, symbol, section, image).is_none_or(|value| value == told)
    };
    it.symbols.iter().all(fits)
}
