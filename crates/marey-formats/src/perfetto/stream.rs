//! Packets out of a file.
//!
//! The one idea: one packet is in memory at a time, and compressed ones are opened where they stand, so whoever asks sees
//! one row of packets. Where the row makes no sense it ends: what follows a wrong length is not to be found again.

use std::io::{self, BufRead, Read};
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::Error;
use crate::input::Input;
use crate::protobuf::{Fields, varint};

/// Bytes of a packet; what says it is longer is no packet.
const MOST_PACKET: u64 = 1 << 29;
/// Bytes that a compressed packet may become.
const MOST_OPENED: u64 = 64 << 20;

/// The packets of a file.
pub(super) struct Stream<'a> {
    input: Input,
    path: &'a Path,
    /// Bytes of what is read, after gzip.
    at: u64,
    packet: Vec<u8>,
}

/// What comes next in a file.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A packet, and the byte at which it begins.
    Packet(&'a [u8], u64),
    Damage(u64, &'static str),
    End,
}

impl<'a> Stream<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self, Error> {
        Ok(Self { input: Input::open(path)?, path, at: 0, packet: Vec::new() })
    }

    pub(super) fn take_read(&mut self) -> u64 {
        self.input.take_read()
    }

    /// The next packet. Not to be asked again behind damage or the end.
    pub(super) fn next(&mut self) -> Result<Next<'_>, Error> {
        let begin = self.at;
        let tag = match self.varint()? {
            Ok(tag) => tag,
            Err(0) => return Ok(Next::End),
            Err(_) => return Ok(Next::Damage(begin, CUT)),
        };
        if tag != 10 {
            return Ok(Next::Damage(begin, "no packet, and the rest is left out"));
        }
        let Ok(len) = self.varint()? else { return Ok(Next::Damage(begin, CUT)) };
        if MOST_PACKET < len {
            return Ok(Next::Damage(begin, "a packet of an impossible length, and the rest is left out"));
        }
        self.packet.clear();
        let read = self.input.by_ref().take(len).read_to_end(&mut self.packet);
        if let Err(source) = read {
            self.fail(source)?;
        }
        let n_read = self.packet.len() as u64;
        self.at += n_read;
        Ok(if n_read < len { Next::Damage(begin, CUT) } else { Next::Packet(&self.packet, begin) })
    }

    /// A number; or how many bytes there were of it.
    fn varint(&mut self) -> Result<Result<u64, usize>, Error> {
        let (mut bytes, mut len) = ([0; 10], 0);
        while let Some(slot) = bytes.get_mut(len) {
            let byte = match self.input.fill_buf() {
                Ok(buffer) => buffer.first().copied(),
                Err(source) => {
                    self.fail(source)?;
                    // Something is there and cannot be read.
                    return Ok(Err(len.max(1)));
                }
            };
            let Some(byte) = byte else { return Ok(Err(len)) };
            self.input.consume(1);
            self.at += 1;
            *slot = byte;
            len += 1;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(varint(bytes.get(..len).unwrap_or_default()).map(|it| it.0).ok_or(len))
    }

    /// What gzip cannot open is damage; all else is an error.
    fn fail(&self, source: io::Error) -> Result<(), Error> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match source.kind() {
            InvalidData | InvalidInput | UnexpectedEof => Ok(()),
            _ => Err(Error::Read { path: self.path.to_owned(), source }),
        }
    }
}

const CUT: &str = "the file ends within a packet, or cannot be opened further";

/// The packets that a compressed one holds, and whether that is all of them.
pub(super) fn opened(compressed: &[u8]) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(compressed).take(MOST_OPENED).read_to_end(&mut bytes);
    let is_all = read.is_ok() && (bytes.len() as u64) < MOST_OPENED;
    (bytes, is_all)
}

/// Fields of a packet that are numbers, and those up to 13 that hold bytes.
const NUMBERS: &[u32] = &[3, 8, 10, 13, 41, 42, 58, 79, 87, 98];
/// Fields that tell that something is a packet, if they hold what they should.
const SIGNS: &[u32] = &[6, 8, 10, 11, 33, 36, 50, 60];

/// Whether a file begins with packets: three of them, or as many as are there, of fields that hold what those of
/// packets hold.
pub(crate) fn is_it(beginning: &[u8]) -> bool {
    let mut rest = beginning;
    let mut is_sure = false;
    for _ in 0..3 {
        if rest.is_empty() {
            break;
        }
        let Some(behind) = rest.strip_prefix(&[10]) else { return false };
        let Some((len, behind)) = varint(behind) else { return false };
        if MOST_PACKET < len {
            return false;
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let is_cut = behind.len() < len;
        let (packet, next) = behind.split_at(len.min(behind.len()));
        let mut fields = Fields::new(packet);
        for (number, value) in fields.by_ref() {
            let is_number = matches!(value, crate::protobuf::Value::Varint(_));
            let is_bytes = matches!(value, crate::protobuf::Value::Bytes(_));
            let is_right = if NUMBERS.contains(&number) { is_number } else { is_bytes };
            if !is_right || number == 14 || number == 15 || 2000 < number {
                return false;
            }
            is_sure |= SIGNS.contains(&number);
        }
        if fields.is_damaged {
            // What is cut off at its end says nothing else, as far as its last field can be seen.
            let left = len - (packet.len() - fields.rest().len());
            return is_cut && (is_sure || may_go_on(fields.rest(), left));
        }
        rest = next;
    }
    is_sure
}

/// Whether what is cut off may be one large field of a packet that has so many bytes left.
fn may_go_on(rest: &[u8], left: usize) -> bool {
    let large = |tag: u64| tag & 7 == 2 && [1, 2, 5, 9, 11, 12, 33, 50, 72].contains(&(tag >> 3));
    let Some((_, behind)) = varint(rest).filter(|it| large(it.0)) else { return false };
    let Some((len, behind)) = varint(behind) else { return false };
    let head = rest.len() - behind.len();
    usize::try_from(len).is_ok_and(|len| len <= left.saturating_sub(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_known_from_other_messages_and_texts() {
        // A timestamp and a sequence.
        assert!(is_it(b"\x0a\x04\x40\x05\x50\x01"));
        assert!(is_it(b"\x0a\x09\x40\x05\x50\x01\x5a\x03\x48"), "cut off in its event");
        // sample_type of a profile of pprof.
        assert!(!is_it(b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"));
        assert!(!is_it(b"\nint main() {\n    return 0;\n}\n"));
        assert!(!is_it(b"\n\n\n\n\n\n\n\n"));
        assert!(!is_it(b"\x0a\x00\x0a\x00\x0a\x00"));
        assert!(is_it(b"\x0a\xa0\x1f\x0a\x90\x1f\x08\x01"), "cut off in a large field");
        assert!(!is_it(b"\x0a\xa0\x1f\x0a\xa0\x1f\x08\x01"), "one that is larger than its packet");
        assert!(!is_it(b"\x0a"));
        assert!(!is_it(b""));
    }

    #[test]
    fn what_is_compressed_is_opened_as_far_as_may_be() {
        use std::io::Write;
        let compressed = |bytes: &[u8]| {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        assert_eq!(opened(&compressed(b"abc")), (b"abc".to_vec(), true));
        let large = compressed(&vec![0; 65 << 20]);
        let (bytes, is_all) = opened(&large);
        assert_eq!((bytes.len(), is_all), (64 << 20, false));
        let (_, is_all) = opened(b"\x78\x9cnothing");
        assert!(!is_all);
    }
}
