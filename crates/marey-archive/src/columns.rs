//! Rows of a table in memory, column by column: what is handed to a writer and what a reader
//! hands out.
//!
//! What is deliberately absent: nulls, and any knowledge of files.

use std::ops::Range;

use crate::Error;
use crate::schema::{Kind, NONE, TableSpec};

/// Some rows of a table: all of its columns or some of them, equally long.
#[derive(Clone, Debug)]
pub struct Columns {
    spec: &'static TableSpec,
    /// Which column of the table each of `columns` is.
    places: Vec<usize>,
    columns: Vec<Column>,
}

/// The values of one column.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Unsigned integers.
    U32(Vec<u32>),
    /// Signed integers.
    I64(Vec<i64>),
    /// Floats.
    F64(Vec<f64>),
    /// Texts.
    Text(Vec<String>),
}

/// One value of a row; see [`Columns::push`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// An unsigned integer.
    U32(u32),
    /// A signed integer.
    I64(i64),
    /// A float.
    F64(f64),
    /// A text.
    Text(&'a str),
}

impl Columns {
    /// No rows yet, of all columns of a table.
    pub fn new(spec: &'static TableSpec) -> Self {
        let columns = spec.columns.iter().map(|column| Column::new(column.kind)).collect();
        Self { spec, places: (0..spec.columns.len()).collect(), columns }
    }

    /// All columns of a table, in its order.
    pub fn from_columns(spec: &'static TableSpec, columns: Vec<Column>) -> Result<Self, Error> {
        Self::with_places(spec, (0..spec.columns.len()).collect(), columns)
    }

    /// The columns of a table at some places.
    pub(crate) fn with_places(
        spec: &'static TableSpec,
        places: Vec<usize>,
        columns: Vec<Column>,
    ) -> Result<Self, Error> {
        if columns.len() != places.len() {
            return Err(Error::WrongWidth { table: spec.name, expected: places.len(), found: columns.len() });
        }
        let expected = columns.first().map_or(0, Column::len);
        for (&place, column) in places.iter().zip(&columns) {
            let named = &spec.columns[place];
            if column.kind() != named.kind {
                return Err(wrong_kind(spec, place, column.kind()));
            }
            if column.len() != expected {
                let (table, column, found) = (spec.name, named.name, column.len());
                return Err(Error::UnequalLengths { table, column, expected, found });
            }
        }
        Ok(Self { spec, places, columns })
    }

    /// Appends one row: a value for each column, in the order of the table.
    pub fn push(&mut self, row: &[Value<'_>]) -> Result<(), Error> {
        if row.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), row.len());
            return Err(Error::WrongWidth { table: self.spec.name, expected, found });
        }
        // Checked before the first value is stored, so that a refused row leaves nothing behind.
        for (idx, value) in row.iter().enumerate() {
            if value.kind() != self.columns[idx].kind() {
                return Err(wrong_kind(self.spec, self.places[idx], value.kind()));
            }
        }
        for (column, value) in self.columns.iter_mut().zip(row) {
            match (column, value) {
                (Column::U32(values), Value::U32(value)) => values.push(*value),
                (Column::I64(values), Value::I64(value)) => values.push(*value),
                (Column::F64(values), Value::F64(value)) => values.push(*value),
                (Column::Text(values), Value::Text(value)) => values.push((*value).to_owned()),
                _ => unreachable!("kinds were compared above"),
            }
        }
        Ok(())
    }

    /// The table that the rows belong to.
    pub fn spec(&self) -> &'static TableSpec {
        self.spec
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
    }

    /// The columns that are there, in the order in which they were asked for.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// An unsigned column by name.
    pub fn u32(&self, name: &str) -> Result<&[u32], Error> {
        match self.named(name)? {
            (_, Column::U32(values)) => Ok(values),
            (place, other) => Err(self.not(place, other, Kind::U32)),
        }
    }

    /// A signed column by name.
    pub fn i64(&self, name: &str) -> Result<&[i64], Error> {
        match self.named(name)? {
            (_, Column::I64(values)) => Ok(values),
            (place, other) => Err(self.not(place, other, Kind::I64)),
        }
    }

    /// A column of floats by name.
    pub fn f64(&self, name: &str) -> Result<&[f64], Error> {
        match self.named(name)? {
            (_, Column::F64(values)) => Ok(values),
            (place, other) => Err(self.not(place, other, Kind::F64)),
        }
    }

    /// A column of texts by name.
    pub fn text(&self, name: &str) -> Result<&[String], Error> {
        match self.named(name)? {
            (_, Column::Text(values)) => Ok(values),
            (place, other) => Err(self.not(place, other, Kind::Text)),
        }
    }

    /// Keeps the rows for which `keep` holds, in their order.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        if keep.iter().all(|keep| *keep) && keep.len() == self.len() {
            return;
        }
        self.columns.iter_mut().for_each(|column| column.retain(keep));
    }

    /// Drops the columns behind the first `count`.
    pub(crate) fn keep_first(&mut self, count: usize) {
        self.columns.truncate(count);
        self.places.truncate(count);
    }

    /// Appends rows with the same columns.
    pub(crate) fn append(&mut self, other: &mut Self) {
        for (column, more) in self.columns.iter_mut().zip(&mut other.columns) {
            match (column, more) {
                (Column::U32(values), Column::U32(more)) => values.append(more),
                (Column::I64(values), Column::I64(more)) => values.append(more),
                (Column::F64(values), Column::F64(more)) => values.append(more),
                (Column::Text(values), Column::Text(more)) => values.append(more),
                _ => unreachable!("both follow the same table"),
            }
        }
    }

    /// Which columns of the table are there.
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }

    fn named(&self, name: &str) -> Result<(usize, &Column), Error> {
        let idx = self.places.iter().position(|&place| self.spec.columns[place].name == name);
        match idx {
            Some(idx) => Ok((self.places[idx], &self.columns[idx])),
            None => Err(Error::NoSuchColumn { table: self.spec.name, column: name.into() }),
        }
    }

    /// A column to be changed, if it is there.
    pub(crate) fn named_mut(&mut self, name: &str) -> Option<&mut Column> {
        let idx = self.places.iter().position(|&place| self.spec.columns[place].name == name)?;
        self.columns.get_mut(idx)
    }

    fn not(&self, place: usize, column: &Column, expected: Kind) -> Error {
        let (table, name) = (self.spec.name, self.spec.columns[place].name);
        Error::WrongKind { table, column: name, expected, found: column.kind() }
    }
}

impl Column {
    /// No values yet.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::U32 => Self::U32(Vec::new()),
            Kind::I64 => Self::I64(Vec::new()),
            Kind::F64 => Self::F64(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    /// As many values as there are rows, all of them missing.
    pub(crate) fn missing(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::U32 => Self::U32(vec![NONE; rows]),
            Kind::I64 => Self::I64(vec![-1; rows]),
            Kind::F64 => Self::F64(vec![f64::NAN; rows]),
            Kind::Text => Self::Text(vec![String::new(); rows]),
        }
    }

    /// Its type.
    pub fn kind(&self) -> Kind {
        match self {
            Self::U32(_) => Kind::U32,
            Self::I64(_) => Kind::I64,
            Self::F64(_) => Kind::F64,
            Self::Text(_) => Kind::Text,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn clear(&mut self) {
        match self {
            Self::U32(values) => values.clear(),
            Self::I64(values) => values.clear(),
            Self::F64(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }

    /// Keeps the rows in some ranges, which are ascending.
    pub(crate) fn keep(&mut self, runs: &[Range<usize>]) {
        fn cut<T: Copy>(values: &mut Vec<T>, runs: &[Range<usize>]) {
            let mut len = 0;
            for run in runs {
                if len != run.start {
                    values.copy_within(run.clone(), len);
                }
                len += run.len();
            }
            values.truncate(len);
        }
        match self {
            Self::U32(values) => cut(values, runs),
            Self::I64(values) => cut(values, runs),
            Self::F64(values) => cut(values, runs),
            Self::Text(values) => {
                let mut len = 0;
                for row in runs.iter().cloned().flatten() {
                    values.swap(len, row);
                    len += 1;
                }
                values.truncate(len);
            }
        }
    }

    fn retain(&mut self, keep: &[bool]) {
        fn kept<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            values.retain(|_| keep.next().copied().unwrap_or(false));
        }
        match self {
            Self::U32(values) => kept(values, keep),
            Self::I64(values) => kept(values, keep),
            Self::F64(values) => kept(values, keep),
            Self::Text(values) => kept(values, keep),
        }
    }
}

impl Value<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::U32(_) => Kind::U32,
            Self::I64(_) => Kind::I64,
            Self::F64(_) => Kind::F64,
            Self::Text(_) => Kind::Text,
        }
    }
}

impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

fn wrong_kind(spec: &'static TableSpec, place: usize, found: Kind) -> Error {
    let column = &spec.columns[place];
    Error::WrongKind { table: spec.name, column: column.name, expected: column.kind, found }
}
