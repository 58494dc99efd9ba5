//! Cuts the text into the objects of its list of events, without understanding them.
//!
//! The one idea: braces outside of strings are counted. Where that leads nowhere, the next event is where a brace, a comma and
//! a brace follow each other.

use std::cell::Cell;
use std::io::{BufRead, Read};
use std::path::Path;
use std::rc::Rc;

use crate::Error;
use crate::input::is_of_content;

/// Bytes of an object or a string; what is longer has no end.
const MOST: usize = 64 << 20;
/// Bytes that are looked through in vain before the rest is given up: otherwise the work would be the square of the text.
const MOST_IN_VAIN: usize = 4 * MOST;
/// Bytes that are read at a time.
const READ: usize = 256 << 10;
/// Bytes of a member beside the list that are kept.
pub(super) const MOST_MEMBER: usize = 64 << 10;

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// An object of the list, and at which byte of the text it begins.
    Event { text: &'a [u8], at: u64 },
    /// A member beside the list: its name, and its value if that is short enough.
    Member { name: String, value: Option<&'a [u8]> },
    /// Something that is not what should stand there.
    Damage { at: u64, what: &'static str },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Start,
    /// Within the list, which is a member of an object or all there is.
    List {
        is_member: bool,
    },
    Object,
    End,
}

#[derive(Debug)]
pub(super) struct Splitter {
    data: Vec<u8>,
    /// What has been given out already ends here.
    at: usize,
    /// Bytes of the text before the data.
    before: u64,
    mode: Mode,
    is_all: bool,
    has_list: bool,
    /// Bytes that were looked through for ends that are not there.
    in_vain: usize,
    /// Whether the bytes could not be unpacked any further.
    is_broken: Rc<Cell<bool>>,
}

impl Splitter {
    pub(super) fn new() -> Self {
        Self {
            data: Vec::new(),
            at: 0,
            before: 0,
            mode: Mode::Start,
            is_all: false,
            has_list: false,
            in_vain: 0,
            is_broken: Rc::default(),
        }
    }

    /// The next part; `None` at the end.
    pub(super) fn next(&mut self, input: &mut impl BufRead, path: &Path) -> Result<Option<Piece<'_>>, Error> {
        let is_broken = Rc::clone(&self.is_broken);
        let mut input = |data: &mut Vec<u8>| {
            let before = data.len();
            match input.by_ref().take(READ as u64).read_to_end(data) {
                Err(error) if is_of_content(&error) => {
                    is_broken.set(true);
                    Ok(data.len() - before)
                }
                read => read.map_err(|source| Error::Read { path: path.to_owned(), source }),
            }
        };
        loop {
            let Some(byte) = self.skip_blanks(&mut input)? else {
                if self.mode == Mode::Start || !self.has_list {
                    return Err(no_list(path));
                }
                let is_cut = matches!(self.mode, Mode::List { is_member: true } | Mode::Object);
                self.mode = Mode::End;
                let at = self.position();
                return Ok(match self.is_broken.take() {
                    true => Some(Piece::Damage { at, what: "the compressed bytes make no sense" }),
                    false => is_cut.then_some(Piece::Damage { at, what: "the text ends before its end" }),
                });
            };
            match (self.mode, byte) {
                (Mode::Start, b'[') => {
                    self.at += 1;
                    self.has_list = true;
                    self.mode = Mode::List { is_member: false };
                }
                (Mode::Start, b'{') => {
                    self.at += 1;
                    self.mode = Mode::Object;
                }
                (Mode::Start, 0xef | 0xbb | 0xbf) | (Mode::List { .. } | Mode::Object, b',') => self.at += 1,
                (Mode::Start, _) => return Err(no_list(path)),
                (Mode::List { is_member }, b']') => {
                    self.at += 1;
                    self.mode = if is_member { Mode::Object } else { Mode::End };
                }
                (Mode::List { .. }, b'{') => return self.event(&mut input).map(Some),
                (Mode::List { .. }, _) => return self.skip_damage(&mut input).map(Some),
                (Mode::Object, b'"') => {
                    if let Some(end) = self.member(&mut input)? {
                        return self.as_member(end).map(Some);
                    }
                }
                (Mode::Object, b'}') => {
                    self.at += 1;
                    if !self.has_list {
                        return Err(no_list(path));
                    }
                    self.mode = Mode::End;
                }
                (Mode::Object, _) => {
                    if !self.has_list {
                        return Err(no_list(path));
                    }
                    self.mode = Mode::End;
                    let at = self.position();
                    return Ok(Some(Piece::Damage {
                        at,
                        what: "no member of the object, and the rest is left out",
                    }));
                }
                (Mode::End, _) => {
                    self.is_all = true;
                    self.at = self.data.len();
                    return Ok(None);
                }
            }
        }
    }

    const fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Goes on to the next byte that is not blank.
    fn skip_blanks(
        &mut self,
        input: &mut impl FnMut(&mut Vec<u8>) -> Result<usize, Error>,
    ) -> Result<Option<u8>, Error> {
        loop {
            while let Some(byte) = self.data.get(self.at) {
                if !byte.is_ascii_whitespace() {
                    return Ok(Some(*byte));
                }
                self.at += 1;
            }
            if !self.more(input)? {
                return Ok(None);
            }
        }
    }

    /// Reads more behind the data. False if there is none.
    fn more(&mut self, input: &mut impl FnMut(&mut Vec<u8>) -> Result<usize, Error>) -> Result<bool, Error> {
        if self.is_all {
            return Ok(false);
        }
        self.data.drain(..self.at);
        self.before += self.at as u64;
        self.at = 0;
        self.is_all = input(&mut self.data)? == 0;
        Ok(!self.is_all)
    }

    /// Length of the value that begins here; `None` if it has no end. Lists and objects within it are in balance, which
    /// is all that is asked of them.
    fn length(
        &mut self,
        input: &mut impl FnMut(&mut Vec<u8>) -> Result<usize, Error>,
    ) -> Result<Option<usize>, Error> {
        let (mut len, mut depth) = (0, 0_u64);
        let (mut is_text, mut is_escaped) = (false, false);
        loop {
            let Some(byte) = self.data.get(self.at + len).copied() else {
                if MOST < len || !self.more(input)? {
                    // A number ends where the text does.
                    return Ok((depth == 0 && !is_text && len > 0 && len <= MOST).then_some(len));
                }
                continue;
            };
            len += 1;
            match (is_text, byte) {
                (true, _) if is_escaped => is_escaped = false,
                (true, b'\\') => is_escaped = true,
                // A text has no line breaks: its end is missing.
                (true, b'\n') => return Ok(None),
                (true, b'"') => {
                    is_text = false;
                    if depth == 0 {
                        return Ok(Some(len));
                    }
                }
                (true, _) => {}
                (false, b'"') => is_text = true,
                (false, b'{' | b'[') => depth += 1,
                (false, b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(Some(len));
                    }
                }
                (false, b',' | b'}' | b']') if depth == 0 => return Ok(Some(len - 1)),
                _ => {}
            }
        }
    }

    fn event(
        &mut self,
        input: &mut impl FnMut(&mut Vec<u8>) -> Result<usize, Error>,
    ) -> Result<Piece<'_>, Error> {
        match self.length(input)? {
            Some(len) => {
                let (text, at) = (self.at..self.at + len, self.position());
                self.at += len;
                Ok(Piece::Event { text: &self.data[text], at })
            }
            None => {
                let at = self.position();
                self.in_vain += self.data.len() - self.at;
                if MOST_IN_VAIN < self.in_vain {
                    self.mode = Mode::End;
                    return Ok(Piece::Damage {
                        at,
                        what: "so many events have no end that the rest is left out",
                    });
                }
                self.at += next_event(&self.data[self.at..]);
                Ok(Piece::Damage { at, what: "an event that has no end" })
            }
        }
    }

    /// Says that the last event, of so many bytes, was none. If there seem to be several in it, those behind the first are
    /// looked at anew.
    pub(super) fn retry(&mut self, len: usize) {
        let begin = self.at.saturating_sub(len);
        let next = next_event(&self.data[begin..self.at]);
        if self.in_vain <= MOST_IN_VAIN {
            self.in_vain += self.at - begin - next;
            self.at = begin + next;
        }
    }

    /// Passes over what is no event.
    fn skip_damage(
        &mut self,
        input: &mut impl FnMut(&mut Vec<u8>) -> Result<usize, Error>,
    ) -> Result<Piece<'_>, Error> {
        let at = self.position();
        loop {
            let rest = &self.data[self.at..];
            if let Some(place) = rest.iter().position(|byte| *byte == b'{' || *byte == b']') {
                self.at += place;
                break;
            }
            self.at = self.data.len();
            if !self.more(input)? {
                break;
            }
        }
        Ok(Piece::Damage { at, what: "no event" })
    }

    /// Goes to the value of a member, and says where that ends; `None` if it is the list.
    fn member(
        &mut self,
        input: &mut impl FnMut(&mut Vec<u8>) -> Result<usize, Error>,
    ) -> Result<Option<(String, Option<usize>)>, Error> {
        let Some(len) = self.length(input)? else {
            let len = self.data.len() - self.at;
            self.at += len;
            return Ok(Some((String::new(), None)));
        };
        let text = &self.data[self.at..self.at + len];
        let name: String = serde_json::from_slice(text)
            .unwrap_or_else(|_| String::from_utf8_lossy(text).trim_matches('"').to_owned());
        self.at += len;
        while self.skip_blanks(input)? == Some(b':') {
            self.at += 1;
        }
        if name == "traceEvents" && self.data.get(self.at) == Some(&b'[') && !self.has_list {
            self.at += 1;
            self.has_list = true;
            self.mode = Mode::List { is_member: true };
            return Ok(None);
        }
        let len = self.length(input)?;
        Ok(Some((name, len)))
    }

    fn as_member(&mut self, (name, len): (String, Option<usize>)) -> Result<Piece<'_>, Error> {
        let at = self.position();
        let Some(len) = len.filter(|len| *len > 0) else {
            self.at = self.data.len();
            return Ok(Piece::Damage { at, what: "a member that has no end" });
        };
        let value = self.at..self.at + len;
        self.at += len;
        Ok(Piece::Member { name, value: (len <= MOST_MEMBER).then(|| &self.data[value]) })
    }
}

/// Where the event behind this one seems to begin, which has no end where one should be.
fn next_event(text: &[u8]) -> usize {
    let mut before = [0; 2];
    for (at, byte) in text.iter().enumerate().skip(1) {
        if byte.is_ascii_whitespace() {
            continue;
        }
        if *byte == b'{' && before == [b'}', b','] {
            return at;
        }
        before = [before[1], *byte];
    }
    text.len()
}

fn no_list(path: &Path) -> Error {
    Error::Unreadable {
        path: path.to_owned(),
        format: "JSON",
        what: "neither a list of events nor an object with one in `traceEvents`: it is no Chrome trace"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        // Byte by byte, so that each place is once where what is read ends.
        let mut input = std::io::BufReader::with_capacity(1, text.as_bytes());
        let mut splitter = Splitter::new();
        let mut all = Vec::new();
        while let Some(piece) = splitter.next(&mut input, Path::new("it")).unwrap() {
            all.push(match piece {
                Piece::Event { text, at } => format!("{at} {}", String::from_utf8_lossy(text)),
                Piece::Member { name, value } => {
                    format!("{name}={}", String::from_utf8_lossy(value.unwrap_or(b"long")))
                }
                Piece::Damage { at, what } => format!("{at}: {what}"),
            });
        }
        all
    }

    #[test]
    fn events_are_found_wherever_the_list_stands() {
        assert_eq!(pieces(r#"[{"a":1},{"b":{"c":[2]}}]"#), [r#"1 {"a":1}"#, r#"9 {"b":{"c":[2]}}"#]);
        assert_eq!(
            pieces(r#"{"x":1.5,"traceEvents": [ {"a":"}\"{"} ],"y":"z","w":[1,{"q":2}]}"#),
            ["x=1.5", r#"26 {"a":"}\"{"}"#, "y=\"z\"", r#"w=[1,{"q":2}]"#]
        );
    }

    #[test]
    fn a_list_may_end_in_the_middle_and_what_is_damaged_costs_one_event() {
        assert_eq!(pieces("[{\"a\":1},\n"), ["1 {\"a\":1}"]);
        assert_eq!(pieces("[{\"a\":\"x},\n{\"b\":2}]"), ["1: an event that has no end", "11 {\"b\":2}"]);
        assert_eq!(pieces("[{\"a\":1},x,{\"c\":3}]"), ["1 {\"a\":1}", "9: no event", "11 {\"c\":3}"]);
        assert_eq!(
            pieces("{\"traceEvents\":[{\"a\":1}"),
            ["16 {\"a\":1}", "23: the text ends before its end"]
        );
    }
}
