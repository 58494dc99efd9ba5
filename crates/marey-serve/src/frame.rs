//! Frames: how answers lie in memory and on the wire.
//!
//! The one idea: what is small is JSON, what is large are columns of numbers that a browser uses where they lie. A frame
//! is the length of the head (u32, little-endian), the head, and the columns, each aligned to 8 bytes from the
//! beginning. The head is `{"kind": …, "head": …, "columns": [{"name", "type", "at", "length"}]}` with `at` in bytes from
//! the beginning and `length` in numbers, all little-endian.

use serde::Serialize;

/// A frame in the making.
#[derive(Debug, Default)]
pub struct Columns {
    columns: Vec<Column>,
}

/// A column; its values are written once, where they will lie.
#[derive(Debug)]
struct Column {
    name: &'static str,
    values: Values,
}

/// In pieces that follow each other, so that what several threads have made is copied once.
#[derive(Debug)]
enum Values {
    U32(Vec<Vec<u32>>),
    F64(Vec<Vec<f64>>),
    F32(Vec<Vec<f32>>),
}

#[derive(Debug, Serialize)]
struct Entry {
    name: &'static str,
    r#type: &'static str,
    at: usize,
    length: usize,
}

#[derive(Serialize)]
struct Head<'h, H> {
    kind: &'static str,
    head: &'h H,
    columns: &'h [Entry],
}

impl Values {
    /// Its type as the wire calls it, the bytes of one, and how many there are.
    fn shape(&self) -> (&'static str, usize, usize) {
        match self {
            Self::U32(pieces) => ("u32", 4, pieces.iter().map(Vec::len).sum()),
            Self::F64(pieces) => ("f64", 8, pieces.iter().map(Vec::len).sum()),
            Self::F32(pieces) => ("f32", 4, pieces.iter().map(Vec::len).sum()),
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::U32(pieces) => pieces.iter().for_each(|it| write(it, bytes, |value| value.to_le_bytes())),
            Self::F64(pieces) => pieces.iter().for_each(|it| write(it, bytes, |value| value.to_le_bytes())),
            Self::F32(pieces) => pieces.iter().for_each(|it| write(it, bytes, |value| value.to_le_bytes())),
        }
    }
}

fn write<T: Copy, const N: usize>(values: &[T], bytes: &mut Vec<u8>, to_bytes: impl Fn(T) -> [u8; N]) {
    // Piece by piece, so that no byte is written twice: zeros first would be as many again.
    const AT_ONCE: usize = 1 << 9;
    for some in values.chunks(AT_ONCE) {
        let mut written = [[0; N]; AT_ONCE];
        written.iter_mut().zip(some).for_each(|(place, value)| *place = to_bytes(*value));
        bytes.extend_from_slice(written[..some.len()].as_flattened());
    }
}

impl Columns {
    /// Adds a column of unsigned numbers.
    pub fn u32(&mut self, name: &'static str, values: impl IntoIterator<Item = u32>) {
        self.u32_pieces(name, vec![values.into_iter().collect()]);
    }

    /// Adds a column of times or sizes.
    pub fn f64(&mut self, name: &'static str, values: impl IntoIterator<Item = f64>) {
        self.f64_pieces(name, vec![values.into_iter().collect()]);
    }

    /// Adds a column of shares.
    pub fn f32(&mut self, name: &'static str, values: impl IntoIterator<Item = f32>) {
        self.f32_pieces(name, vec![values.into_iter().collect()]);
    }

    /// The same in pieces.
    pub fn u32_pieces(&mut self, name: &'static str, pieces: Vec<Vec<u32>>) {
        self.columns.push(Column { name, values: Values::U32(pieces) });
    }

    /// The same in pieces.
    pub fn f64_pieces(&mut self, name: &'static str, pieces: Vec<Vec<f64>>) {
        self.columns.push(Column { name, values: Values::F64(pieces) });
    }

    /// The same in pieces.
    pub fn f32_pieces(&mut self, name: &'static str, pieces: Vec<Vec<f32>>) {
        self.columns.push(Column { name, values: Values::F32(pieces) });
    }

    /// Where columns lie, beginning at a place, and where the last ends.
    fn entries(&self, begin: usize) -> (Vec<Entry>, usize) {
        let mut behind = begin;
        let mut entry = |column: &Column| {
            let (r#type, size, length) = column.values.shape();
            let at = behind.next_multiple_of(8);
            behind = at + size * length;
            Entry { name: column.name, r#type, at, length }
        };
        (self.columns.iter().map(&mut entry).collect(), behind)
    }

    /// The frame with its head.
    pub fn frame(self, kind: &'static str, head: &impl Serialize) -> Vec<u8> {
        // Where columns lie depends on how long the head is, and that on where they lie: room is left for that.
        let draft = text(kind, head, &self.entries(0).0);
        let begin = (4 + draft.len() + 20 * self.columns.len()).next_multiple_of(8);
        let (entries, end) = self.entries(begin);
        let mut json = text(kind, head, &entries);
        json.resize(begin - 4, b' ');
        let len = u32::try_from(json.len()).unwrap_or(u32::MAX);
        let mut frame = Vec::with_capacity(end);
        frame.extend_from_slice(&len.to_le_bytes());
        frame.extend_from_slice(&json);
        for (column, entry) in self.columns.iter().zip(&entries) {
            frame.resize(entry.at, 0);
            column.values.write(&mut frame);
        }
        frame
    }
}

fn text(kind: &'static str, head: &impl Serialize, columns: &[Entry]) -> Vec<u8> {
    // Names of fields are texts and numbers are finite or null, so nothing can fail.
    serde_json::to_vec(&Head { kind, head, columns }).unwrap_or_default()
}
