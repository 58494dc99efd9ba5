//! Index and data of a metric: rows of values, one for each location.
//!
//! The one idea: a row is read where it stands when it is asked for, so one or two are in memory. In data that are compressed
//! each row is compressed by itself, and a table says where.
//!
//! Deliberately absent: values of several numbers, which are told apart here and handed on as they are.

use std::fs::File;
use std::io::Read;
use std::ops::Range;

use flate2::read::ZlibDecoder;

use super::tar::{Archive, Part, Section};
use crate::bytes::{Bytes, Order};

/// Of which kind the values of a metric are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Values {
    Unsigned(usize),
    Signed(usize),
    Real,
    /// So many real numbers.
    Reals(usize),
    /// How many, least, greatest, sum, and sum of squares.
    Atomic,
}

/// Numbers of one value.
const MOST_REALS: usize = 4096;

impl Values {
    /// What the anchor's name for it means; `None` of what cannot be read.
    pub(super) fn of(name: &str) -> Option<Self> {
        if let Some((name, rest)) = name.split_once('(') {
            let number: usize = rest.trim_end_matches(')').trim().parse().ok()?;
            let more = match name.trim() {
                "NDOUBLES" => 0,
                // The least and the greatest stand before the counts.
                "HISTOGRAM" => 2,
                _ => return None,
            };
            return (number <= MOST_REALS).then(|| Self::Reals(number + more));
        }
        Some(match name {
            "UINT8" | "CHAR" => Self::Unsigned(1),
            "UINT16" | "UNSIGNED SHORT INT" => Self::Unsigned(2),
            "UINT32" | "UNSIGNED INT" => Self::Unsigned(4),
            "UINT64" | "UNSIGNED INTEGER" => Self::Unsigned(8),
            "INT8" => Self::Signed(1),
            "INT16" | "SHORT INT" | "SIGNED SHORT INT" => Self::Signed(2),
            "INT32" | "INT" | "SIGNED INT" => Self::Signed(4),
            "INT64" | "INTEGER" | "SIGNED INTEGER" => Self::Signed(8),
            // Of 8 bytes, whatever the name says.
            "FLOAT" | "DOUBLE" | "MINDOUBLE" | "MAXDOUBLE" => Self::Real,
            "RATE" | "COMPLEX" => Self::Reals(2),
            "TAU_ATOMIC" => Self::Atomic,
            _ => return None,
        })
    }

    const fn size(self) -> usize {
        match self {
            Self::Unsigned(size) | Self::Signed(size) => size,
            Self::Real => 8,
            Self::Reals(number) => 8 * number,
            Self::Atomic => 4 + 4 * 8,
        }
    }
}

/// A value that is one number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Whole(i128),
    Real(f64),
}

/// The rows of a metric.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    file: &'a File,
    data: Range<u64>,
    values: Values,
    order: Order,
    locations: usize,
    /// Of data that are compressed: where a row would begin, where it does, and how long it is; sorted.
    packed: Option<Vec<[u64; 3]>>,
}

const INDEX: &[u8] = b"CUBEX.INDEX";
const DATA: &[u8] = b"CUBEX.DATA";
const PACKED: &[u8] = b"ZCUBEX.DATA";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
/// Bytes of the index that are read: a row of so many call paths.
const MOST_INDEX: u64 = 256 << 20;

/// Bytes of a part, as far as they may be.
fn bytes(archive: &Archive, part: Part, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let stream = archive.stream(part).ok_or("has no index")?;
    stream.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

impl<'a> Rows<'a> {
    /// The rows of a metric and the number of each, in the order of the data; or what is wrong with them.
    pub(super) fn open(
        archive: &'a Archive,
        id: u64,
        values: Values,
        locations: usize,
    ) -> Result<(Self, Vec<u32>), String> {
        let index = bytes(archive, Part::Index(id), MOST_INDEX)?;
        let rest = index.strip_prefix(INDEX).ok_or("its index does not begin as one")?;
        // The number 1 tells the order of bytes, and is at the beginning.
        let order = if rest.starts_with(&[1, 0, 0, 0]) { Order::Little } else { Order::Big };
        let mut rest = Bytes::new(rest, order);
        let ends = "its index ends too early";
        let (Some(1), Some(_version), Some(format)) = (rest.u32(), rest.short(2), rest.u8()) else {
            return Err("its index has no order of bytes".to_owned());
        };
        let data = archive.parts.get(&Part::Data(id)).cloned().ok_or("has no data")?;
        let mut rows = Self { file: &archive.file, data, values, order, locations, packed: None };
        rows.begin()?;
        let numbers = match format {
            SPARSE => {
                let number = rest.u32().ok_or(ends)?;
                if u64::from(number) > rest.left() as u64 / 4 {
                    return Err(ends.to_owned());
                }
                (0..number).map_while(|_| rest.u32()).collect()
            }
            // All rows, from the first on.
            DENSE => {
                let number = match &rows.packed {
                    Some(table) => table.len() as u64,
                    None => (rows.data.end - rows.data.start) / rows.len().max(1),
                };
                (0..u32::try_from(number).unwrap_or(u32::MAX)).collect()
            }
            _ => return Err("its index is of no known format".to_owned()),
        };
        Ok((rows, numbers))
    }

    /// Bytes of a row.
    const fn len(&self) -> u64 {
        (self.locations as u64).saturating_mul(self.values.size() as u64)
    }

    fn begin(&mut self) -> Result<(), String> {
        let mut mark = Vec::new();
        let mut stream = self.section(self.data.start..self.data.end);
        let len = PACKED.len() as u64 + 8;
        stream.by_ref().take(len).read_to_end(&mut mark).map_err(|error| error.to_string())?;
        if mark.starts_with(DATA) {
            self.data.start += DATA.len() as u64;
            return Ok(());
        }
        let rest = mark.strip_prefix(PACKED).ok_or("its data do not begin as such")?;
        let number = Bytes::new(rest, self.order).u64().ok_or("its data end too early")?;
        let table = self.data.start + len;
        let end = number.checked_mul(24).and_then(|len| table.checked_add(len));
        let end =
            end.filter(|end| *end <= self.data.end).ok_or("its table of rows is longer than its data")?;
        let mut bytes = Vec::new();
        self.section(table..end).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        let mut words = Bytes::new(&bytes, self.order);
        let mut packed = Vec::new();
        while let (Some(would), Some(begins), Some(len)) = (words.u64(), words.u64(), words.u64()) {
            packed.push([would, begins, len]);
        }
        packed.sort_unstable();
        self.packed = Some(packed);
        self.data.start = end;
        Ok(())
    }

    fn section(&self, range: Range<u64>) -> Section<'a> {
        Section { file: self.file, range }
    }

    /// The bytes of a row; what is wrong if they are not there.
    pub(super) fn row(&self, place: u32, into: &mut Vec<u8>) -> Result<(), String> {
        into.clear();
        let len = self.len();
        let would = u64::from(place).saturating_mul(len);
        let short = || format!("row {place} is not there");
        let error = match &self.packed {
            None => {
                let begin = self.data.start.saturating_add(would);
                let end = begin.saturating_add(len);
                if end > self.data.end {
                    return Err(short());
                }
                self.section(begin..end).read_to_end(into)
            }
            Some(table) => {
                let found = table.binary_search_by_key(&would, |it| it[0]).ok().and_then(|at| table.get(at));
                let [_, begins, packed] = found.ok_or_else(short)?;
                let begin = self.data.start.saturating_add(*begins);
                let end = begin.saturating_add(*packed);
                if end > self.data.end {
                    return Err(short());
                }
                ZlibDecoder::new(self.section(begin..end)).take(len).read_to_end(into)
            }
        };
        error.map_err(|error| format!("row {place}: {error}"))?;
        if into.len() as u64 == len { Ok(()) } else { Err(short()) }
    }

    /// The value of a location in a row, if it is one number.
    pub(super) fn value(&self, row: &[u8], location: usize) -> Option<Value> {
        let size = self.values.size();
        let mut bytes = Bytes::new(row.get(location * size..(location + 1) * size)?, self.order);
        Some(match self.values {
            Values::Unsigned(size) => Value::Whole(bytes.short(size)?.into()),
            Values::Signed(size) => {
                let shift = 64_usize.saturating_sub(8 * size);
                Value::Whole(((bytes.short(size)? << shift).cast_signed() >> shift).into())
            }
            Values::Real => Value::Real(f64::from_bits(bytes.u64()?)),
            Values::Reals(_) | Values::Atomic => return None,
        })
    }

    /// The numbers of a value that has several: those that are whole come first.
    pub(super) fn numbers(&self, row: &[u8], location: usize) -> Option<(Option<u32>, Vec<f64>)> {
        let size = self.values.size();
        let mut bytes = Bytes::new(row.get(location * size..(location + 1) * size)?, self.order);
        let first = if self.values == Values::Atomic { Some(bytes.u32()?) } else { None };
        let mut numbers = Vec::new();
        while let Some(word) = bytes.u64() {
            numbers.push(f64::from_bits(word));
        }
        Some((first, numbers))
    }
}
