//! Fields of one message that fills a file.
//!
//! The one idea: one field is in memory at a time, whatever the file unpacks to.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::input::{Input, is_of_content};
use crate::protobuf::{Value, varint};
use crate::{Error, Progress};

/// Bytes of a field; what says it is longer is none.
const MOST: u64 = 16 << 20;

/// The fields of a file.
pub(super) struct Stream {
    input: Input,
    path: PathBuf,
    /// Bytes that were read, after gzip.
    at: u64,
    field: Vec<u8>,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next<'a> {
    Field(u32, Value<'a>),
    /// What is no field, and where it stands.
    Damage(u64, &'static str),
    End,
}

const CUT: &str = "the file ends within a field, or cannot be unpacked further";

impl Stream {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { input: Input::open(path)?, path: path.to_owned(), at: 0, field: Vec::new() })
    }

    pub(super) const fn len(&self) -> u64 {
        self.input.len()
    }

    pub(super) fn tell(&mut self, progress: &dyn Progress) {
        self.input.tell(progress);
    }

    /// The next field. Not to be asked again behind damage or the end.
    pub(super) fn next(&mut self) -> Result<Next<'_>, Error> {
        let begin = self.at;
        let tag = match self.number()? {
            Ok(tag) => tag,
            Err(0) => return Ok(Next::End),
            Err(_) => return Ok(Next::Damage(begin, CUT)),
        };
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        let len = match tag & 7 {
            0 => {
                let Ok(value) = self.number()? else { return Ok(Next::Damage(begin, CUT)) };
                return Ok(Next::Field(number, Value::Varint(value)));
            }
            1 => 8,
            2 => match self.number()? {
                Ok(len) if len <= MOST => len,
                Ok(_) => {
                    return Ok(Next::Damage(
                        begin,
                        "a field of an impossible length, and the rest is left out",
                    ));
                }
                Err(_) => return Ok(Next::Damage(begin, CUT)),
            },
            5 => 4,
            _ => return Ok(Next::Damage(begin, "what is no field, and the rest is left out")),
        };
        self.field.clear();
        match self.input.by_ref().take(len).read_to_end(&mut self.field) {
            Ok(_) => {}
            Err(error) if is_of_content(&error) => return Ok(Next::Damage(begin, CUT)),
            Err(source) => return Err(Error::Read { path: self.path.clone(), source }),
        }
        self.at += len;
        if (self.field.len() as u64) < len {
            return Ok(Next::Damage(begin, CUT));
        }
        Ok(Next::Field(number, Value::Bytes(&self.field)))
    }

    /// A number; or how many bytes there were of it.
    fn number(&mut self) -> Result<Result<u64, usize>, Error> {
        let (mut bytes, mut len) = ([0; 10], 0);
        while let Some(slot) = bytes.get_mut(len) {
            let byte = match self.input.fill_buf() {
                Ok(buffer) => buffer.first().copied(),
                // Something is there and cannot be read.
                Err(error) if is_of_content(&error) => return Ok(Err(len.max(1))),
                Err(source) => return Err(Error::Read { path: self.path.clone(), source }),
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
}
