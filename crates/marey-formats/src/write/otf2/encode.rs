//! Numbers, records and chunks, as OTF2 has them.
//!
//! The one idea: what may be any number is written with as many bytes as it needs, behind their number; a record that has more
//! than one field has its length before them.

/// What begins each buffer, and the byte order.
const HEADER: [u8; 2] = [3, 0x42];
/// What ends a file: the end of all records, and of the buffer.
const END: [u8; 2] = [2, 1];
const TIME: u8 = 5;
const ATTRIBUTES: u8 = 6;
/// Bytes of a chunk's header.
const HEAD: usize = 18;
/// Bytes of a chunk of events: as small as the format allows, for each location has one.
pub(super) const EVENT_CHUNK: usize = 256 << 10;
/// Bytes of a chunk of definitions.
pub(super) const DEFINITION_CHUNK: usize = 4 << 20;
/// The longest text; one record must fit into a chunk.
pub(super) const MOST_TEXT: usize = 1 << 20;

/// A record on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Record {
    code: u8,
    has_length: bool,
    fields: Vec<u8>,
}

impl Record {
    pub(super) const fn new(code: u8) -> Self {
        Self { code, has_length: true, fields: Vec::new() }
    }

    /// One that has a single field, and no length.
    pub(super) const fn single(code: u8) -> Self {
        Self { code, has_length: false, fields: Vec::new() }
    }

    pub(super) fn byte(mut self, value: u8) -> Self {
        self.fields.push(value);
        self
    }

    pub(super) fn word(mut self, value: u32) -> Self {
        packed(&mut self.fields, value.into(), u32::MAX.into());
        self
    }

    pub(super) fn long(mut self, value: u64) -> Self {
        packed(&mut self.fields, value, u64::MAX);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        let cut = text.floor_char_boundary(MOST_TEXT);
        for byte in text.as_bytes().iter().take(cut) {
            if *byte == 0 { self.fields.extend(b"\\0") } else { self.fields.push(*byte) }
        }
        self.fields.push(0);
        self
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.code);
        if self.has_length {
            put_length(out, self.fields.len());
        }
        out.extend(&self.fields);
    }

    /// Bytes that it takes at most.
    pub(super) fn most_len(&self) -> usize {
        10 + self.fields.len()
    }
}

fn put_length(out: &mut Vec<u8>, len: usize) {
    match u8::try_from(len) {
        Ok(len) if len < 255 => out.push(len),
        _ => {
            out.push(255);
            out.extend((len as u64).to_le_bytes());
        }
    }
}

/// A number behind the number of its bytes; all ones, which is what is not there, is one byte.
fn packed(out: &mut Vec<u8>, value: u64, none: u64) {
    if value == none {
        return out.push(255);
    }
    let n_bytes = 8 - value.leading_zeros() / 8;
    let bytes = value.to_le_bytes();
    out.push(n_bytes.to_le_bytes()[0]);
    out.extend(bytes.iter().take(usize::try_from(n_bytes).unwrap_or(8)));
}

/// A chunk that is being filled.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    len: usize,
    /// Numbers of the first event and the last, from 1.
    first: u64,
    last: u64,
    has_numbers: bool,
    time: Option<u64>,
}

impl Chunk {
    pub(super) const fn of_events() -> Self {
        Self { bytes: Vec::new(), len: EVENT_CHUNK, first: 1, last: 0, has_numbers: true, time: None }
    }

    pub(super) const fn of_definitions() -> Self {
        Self { bytes: Vec::new(), len: DEFINITION_CHUNK, first: 0, last: 0, has_numbers: false, time: None }
    }

    /// Records so far.
    pub(super) const fn number(&self) -> u64 {
        self.last
    }

    /// Adds a record, with its time and attributes. What is in it already goes to `full` if it does not fit.
    pub(super) fn add(
        &mut self,
        time: Option<u64>,
        attributes: &[(u32, u64)],
        record: &Record,
        full: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        // Time, attributes and what ends a file.
        let most = record.most_len() + 9 + 32 + 24 * attributes.len() + END.len();
        if !self.bytes.is_empty() && self.len < self.bytes.len() + most {
            self.close();
            self.bytes.resize(self.len, 0);
            full(&self.bytes)?;
            self.bytes.clear();
            self.first = self.last + 1;
            self.time = None;
        }
        self.begin();
        if let Some(time) = time.filter(|time| self.time != Some(*time)) {
            self.bytes.push(TIME);
            self.bytes.extend(time.to_le_bytes());
            self.time = Some(time);
        }
        if !attributes.is_empty() {
            let mut list = Vec::new();
            packed(&mut list, attributes.len() as u64, u32::MAX.into());
            for (attribute, value) in attributes {
                packed(&mut list, (*attribute).into(), u32::MAX.into());
                list.push(super::definitions::UNSIGNED);
                packed(&mut list, *value, u64::MAX);
            }
            self.bytes.push(ATTRIBUTES);
            put_length(&mut self.bytes, list.len());
            self.bytes.extend(list);
        }
        record.put(&mut self.bytes);
        self.last += 1;
        Ok(())
    }

    fn begin(&mut self) {
        if self.bytes.is_empty() {
            self.bytes.extend(HEADER);
            self.bytes.resize(HEAD, 0);
        }
    }

    /// Says which events are in it.
    fn close(&mut self) {
        if self.has_numbers {
            self.bytes[2..10].copy_from_slice(&self.first.to_le_bytes());
            self.bytes[10..18].copy_from_slice(&self.last.to_le_bytes());
        }
    }

    /// The last of a file.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.begin();
        if self.last < self.first {
            self.has_numbers = false;
        }
        self.close();
        self.bytes.extend(END);
        self.bytes
    }
}

/// The anchor file.
pub(super) fn anchor(creator: &str, n_locations: u64, n_definitions: u64) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    bytes.extend(b"OTF2\0");
    // Format of the anchor and of the trace, and the version of OTF2.
    bytes.extend([3, 2, 3, 0, 0]);
    bytes.extend((EVENT_CHUNK as u64).to_le_bytes());
    bytes.extend((DEFINITION_CHUNK as u64).to_le_bytes());
    // Plain files, which are not compressed.
    bytes.extend([1, 1]);
    bytes.extend(n_locations.to_le_bytes());
    bytes.extend(n_definitions.to_le_bytes());
    // The machine, who wrote it, and a description.
    bytes.push(0);
    bytes.extend(creator.bytes().filter(|byte| *byte != 0));
    bytes.extend([0, 0]);
    // No properties; a number for the archive; no snapshots, no thumbnails.
    bytes.extend([0; 4]);
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.push(2);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        let fields = |record: Record| record.fields;
        assert_eq!(fields(Record::new(1).word(0)), [0]);
        assert_eq!(fields(Record::new(1).word(0x1234)), [2, 0x34, 0x12]);
        assert_eq!(fields(Record::new(1).word(u32::MAX)), [255]);
        assert_eq!(fields(Record::new(1).long(u32::MAX.into())), [4, 255, 255, 255, 255]);
        assert_eq!(fields(Record::new(1).long(u64::MAX - 1)), [8, 254, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(fields(Record::new(1).text("a\0b")), b"a\\0b\0");
        let long = Record::new(10).text(&"x".repeat(300));
        let mut out = Vec::new();
        long.put(&mut out);
        assert_eq!(out[..10], [10, 255, 45, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn chunks_are_of_one_length_and_say_which_events_they_have() {
        let (mut chunk, mut written) = (Chunk::of_events(), Vec::new());
        for time in 0..30_000 {
            let record = Record::single(12).word(7);
            let mut full = |bytes: &[u8]| {
                written.push(bytes.to_vec());
                Ok(())
            };
            chunk.add(Some(time), &[], &record, &mut full).unwrap();
        }
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(chunk.number(), 30_000);
        let (full, last) = (written.remove(0), chunk.end());
        assert!(written.is_empty() && full.len() == EVENT_CHUNK);
        assert_eq!(number(&full[2..10]), 1);
        assert_eq!(number(&last[2..10]), number(&full[10..18]) + 1);
        assert_eq!(number(&last[10..18]), 30_000);
        assert!(last.ends_with(&END));
    }
}
