//! Lines of a record, none of them longer than what is of use.
//!
//! The one idea: a file without line breaks, or with blanks to its end, is read like any other, and takes no memory for it.

use std::io::{BufRead, BufReader, Read, Result};

/// Bytes of a line that are kept; names of C++ with templates have some thousands.
const MOST_BYTES: usize = 64 << 10;

/// Reads lines, one after the other.
pub(super) struct Lines<R> {
    bytes: BufReader<R>,
    /// How many lines were longer.
    pub(super) cut: usize,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(bytes: R) -> Self {
        Self { bytes: BufReader::new(bytes), cut: 0 }
    }

    /// The next line without its end, or the first part of one that is too long; `None` = there are no more.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let (mut is_there, mut is_cut) = (false, false);
        loop {
            let part = match self.bytes.fill_buf() {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                part => part?,
            };
            is_there |= !part.is_empty();
            let end = part.iter().position(|byte| *byte == b'\n');
            let of_line = &part[..end.unwrap_or(part.len())];
            let kept = of_line.len().min(MOST_BYTES - line.len());
            line.extend_from_slice(&of_line[..kept]);
            is_cut |= kept < of_line.len();
            let (read, is_last) = (end.map_or(part.len(), |end| end + 1), end.is_some() || part.is_empty());
            self.bytes.consume(read);
            if is_last {
                self.cut += usize::from(is_cut);
                return Ok(is_there.then_some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, MOST_BYTES};

    #[test]
    fn lines_are_those_of_the_text_and_none_is_too_long() {
        let long = "x".repeat(MOST_BYTES + 1);
        let text = format!("a\n\nb\r\n{long}\nc");
        let mut lines = Lines::new(text.as_bytes());
        let mut read = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            read.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(read, ["a", "", "b\r", &long[1..], "c"]);
        assert_eq!(lines.cut, 1);
        assert_eq!(Lines::new(&b""[..]).next().unwrap(), None);
    }

    #[test]
    fn a_line_without_end_takes_little_memory() {
        let endless = std::io::Read::take(std::io::repeat(b' '), 64 << 20);
        let line = Lines::new(endless).next().unwrap().unwrap();
        assert!(line.len() == MOST_BYTES && line.capacity() <= 2 * MOST_BYTES, "{}", line.capacity());
    }
}
