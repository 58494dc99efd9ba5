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
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Serialize)]
struct Entry {
    name: &'static str,
    r#type: &'static str,
    /// From the beginning of the columns, while they are made.
    at: usize,
    length: usize,
}

#[derive(Serialize)]
struct Head<'h, H> {
    kind: &'static str,
    head: &'h H,
    columns: &'h [Entry],
}

impl Columns {
    /// Adds a column of unsigned numbers.
    pub fn u32(&mut self, name: &'static str, values: impl IntoIterator<Item = u32>) {
        self.column(name, "u32", values.into_iter().map(u32::to_le_bytes));
    }

    /// Adds a column of times or sizes.
    pub fn f64(&mut self, name: &'static str, values: impl IntoIterator<Item = f64>) {
        self.column(name, "f64", values.into_iter().map(f64::to_le_bytes));
    }

    /// Adds a column of shares.
    pub fn f32(&mut self, name: &'static str, values: impl IntoIterator<Item = f32>) {
        self.column(name, "f32", values.into_iter().map(f32::to_le_bytes));
    }

    fn column<const N: usize>(
        &mut self,
        name: &'static str,
        r#type: &'static str,
        values: impl Iterator<Item = [u8; N]>,
    ) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len();
        values.for_each(|value| self.bytes.extend_from_slice(&value));
        let length = (self.bytes.len() - at) / N;
        self.entries.push(Entry { name, r#type, at, length });
    }

    /// The frame with its head.
    pub fn frame(mut self, kind: &'static str, head: &impl Serialize) -> Vec<u8> {
        // Where columns lie depends on how long the head is, and that on where they lie: room is left for that.
        let draft = text(kind, head, &self.entries);
        let begin = (4 + draft.len() + 20 * self.entries.len()).next_multiple_of(8);
        self.entries.iter_mut().for_each(|entry| entry.at += begin);
        let mut json = text(kind, head, &self.entries);
        json.resize(begin - 4, b' ');
        let len = u32::try_from(json.len()).unwrap_or(u32::MAX);
        let mut frame = Vec::with_capacity(begin + self.bytes.len());
        frame.extend_from_slice(&len.to_le_bytes());
        frame.extend_from_slice(&json);
        frame.extend_from_slice(&self.bytes);
        frame
    }
}

fn text(kind: &'static str, head: &impl Serialize, columns: &[Entry]) -> Vec<u8> {
    // Names of fields are texts and numbers are finite or null, so nothing can fail.
    serde_json::to_vec(&Head { kind, head, columns }).unwrap_or_default()
}
