//! Descriptors and records.
//!
//! The one idea: each ends with `;;`; so what makes no sense is passed over to the next one.

use std::io;
use std::path::Path;

use super::MAGIC;
use super::token::{Token, Tokens};
use crate::Error;
use crate::input::{Input, is_of_content};

/// Fields of a record.
const MOST: usize = 1024;
/// Memory of the values of a record; what is beyond that of arrays is not kept.
const ROOM: usize = 64 << 20;

/// A field of a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Field {
    pub name: String,
    /// Words of its type.
    pub kind: String,
    pub dimensions: usize,
    /// What the comments before it say.
    pub comment: String,
}

/// What records of a name are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Descriptor {
    pub name: String,
    pub fields: Vec<Field>,
}

/// A value in a record.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    /// Nothing between two commas.
    None,
    Whole(i64),
    Real(f64),
    Text(String),
    Array(Vec<Value>),
}

impl Value {
    const fn size(&self) -> usize {
        let own = size_of::<Self>();
        match self {
            Self::Text(text) => own + text.len(),
            _ => own,
        }
    }
}

/// What a trace consists of.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    Descriptor(Descriptor),
    Record {
        name: String,
        values: Vec<Value>,
    },
    /// What makes no sense, from this byte on.
    Stray(u64),
    End,
}

/// A trace on its way into items.
pub(super) struct Items {
    tokens: Tokens<Input>,
    /// The first comments, which say who made it.
    first: Option<String>,
}

/// Why there is no item.
enum Failure {
    /// It makes no sense; whether its end has been passed already.
    Stray {
        is_ended: bool,
    },
    /// The text has come to its end, or cannot be unpacked.
    End,
    Read(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if is_of_content(&error) { Self::End } else { Self::Read(error) }
    }
}

impl Items {
    pub(super) fn new(input: Input) -> Self {
        Self { tokens: Tokens::new(input), first: None }
    }

    pub(super) fn input(&mut self) -> &mut Input {
        &mut self.tokens.input
    }

    /// The program that made it, if the first comment says that.
    pub(super) fn creator(&self) -> Option<String> {
        let comment = self.first.as_deref().unwrap_or_default();
        let mut quoted = comment.split('"').skip(1).step_by(2);
        quoted.find(|key| key.eq_ignore_ascii_case("creation program"))?;
        quoted.next().map(str::to_owned)
    }

    /// # Errors
    /// If the file cannot be read.
    pub(super) fn next(&mut self, path: &Path) -> Result<Item, Error> {
        let cannot = |source| Error::Read { path: path.to_owned(), source };
        let begin = self.tokens.at;
        match self.item() {
            Ok(Some(item)) => Ok(item),
            Ok(None) | Err(Failure::Stray { is_ended: true }) => Ok(Item::Stray(begin)),
            Err(Failure::Stray { is_ended: false }) => loop {
                match self.tokens.next() {
                    Ok(Some(Token::End) | None) => return Ok(Item::Stray(begin)),
                    Ok(Some(_)) => {}
                    Err(error) if is_of_content(&error) => return Ok(Item::Stray(begin)),
                    Err(error) => return Err(cannot(error)),
                }
            },
            Err(Failure::End) => Ok(Item::End),
            Err(Failure::Read(error)) => Err(cannot(error)),
        }
    }

    /// The next item. An end within one is a stray; behind it there is [`Failure::End`].
    fn item(&mut self) -> Result<Option<Item>, Failure> {
        loop {
            let Some(token) = self.tokens.next()? else { return Err(Failure::End) };
            if self.first.is_none() {
                self.first = Some(self.tokens.take_comment());
            }
            match token {
                Token::End => self.forget(),
                Token::Word(word) if word == MAGIC => self.forget(),
                Token::Sign(b'#') => return self.descriptor().map(Some),
                Token::Text(name) => return self.record(name).map(Some),
                _ => return Err(Failure::Stray { is_ended: false }),
            }
        }
    }

    /// Comments between items say nothing of the next one's fields.
    fn forget(&mut self) {
        let said = self.tokens.take_comment();
        // That of the header stands behind its first word.
        if self.first.as_ref().is_none_or(String::is_empty) {
            self.first = Some(said);
        }
    }

    fn within(&mut self) -> Result<Token, Failure> {
        match self.tokens.next()? {
            Some(Token::End) => Err(Failure::Stray { is_ended: true }),
            Some(token) => Ok(token),
            None => Err(Failure::Stray { is_ended: true }),
        }
    }

    fn sign(&mut self, sign: u8) -> Result<(), Failure> {
        if self.within()? == Token::Sign(sign) { Ok(()) } else { Err(Failure::Stray { is_ended: false }) }
    }

    fn end(&mut self) -> Result<(), Failure> {
        match self.tokens.next()? {
            Some(Token::End) => Ok(()),
            Some(_) => Err(Failure::Stray { is_ended: false }),
            None => Err(Failure::Stray { is_ended: true }),
        }
    }

    /// `# NUMBER : "NAME" { TYPE "NAME" [] ; … } ;;`, behind its sign.
    fn descriptor(&mut self) -> Result<Item, Failure> {
        const STRAY: Failure = Failure::Stray { is_ended: false };
        // The number is of no use: records name their descriptor.
        let Token::Word(_) = self.within()? else { return Err(STRAY) };
        self.sign(b':')?;
        let Token::Text(name) = self.within()? else { return Err(STRAY) };
        self.sign(b'{')?;
        self.forget();
        let mut fields = Vec::new();
        loop {
            let mut kind = match self.within()? {
                Token::Sign(b'}') => break,
                Token::Word(word) => word,
                _ => return Err(STRAY),
            };
            let name = loop {
                match self.within()? {
                    Token::Word(word) if kind.len() < MOST => kind += &format!(" {word}"),
                    Token::Text(name) => break name,
                    _ => return Err(STRAY),
                }
            };
            let mut dimensions = 0;
            loop {
                match self.within()? {
                    Token::Sign(b'[') => dimensions += 1,
                    Token::Sign(b']') => {}
                    Token::Sign(b';') => break,
                    _ => return Err(STRAY),
                }
            }
            if fields.len() == MOST {
                return Err(STRAY);
            }
            let comment = self.tokens.take_comment();
            fields.push(Field { name: name.trim().to_owned(), kind, dimensions, comment });
        }
        self.end()?;
        Ok(Item::Descriptor(Descriptor { name, fields }))
    }

    /// `"NAME" { VALUE , … } ;;`, behind its name.
    fn record(&mut self, name: String) -> Result<Item, Failure> {
        const STRAY: Failure = Failure::Stray { is_ended: false };
        self.sign(b'{')?;
        let mut values = Vec::new();
        let mut value = Value::None;
        let mut room = ROOM;
        loop {
            match self.within()? {
                Token::Sign(b'}') => break,
                Token::Sign(b',') => values.push(std::mem::replace(&mut value, Value::None)),
                Token::Sign(b'[') if value == Value::None => value = self.array(&mut room)?,
                token if value == Value::None => value = scalar(token).ok_or(STRAY)?,
                _ => return Err(STRAY),
            }
            if values.len() > MOST {
                return Err(STRAY);
            }
        }
        if value != Value::None || !values.is_empty() {
            values.push(value);
        }
        self.end()?;
        self.tokens.take_comment();
        Ok(Item::Record { name, values })
    }

    /// `[ LENGTH ] … { VALUE , … }`, behind the first bracket.
    fn array(&mut self, room: &mut usize) -> Result<Value, Failure> {
        const STRAY: Failure = Failure::Stray { is_ended: false };
        loop {
            match self.within()? {
                Token::Sign(b'{') => break,
                Token::Sign(b'[' | b']') | Token::Word(_) => {}
                _ => return Err(STRAY),
            }
        }
        let mut values = Vec::new();
        loop {
            match self.within()? {
                Token::Sign(b'}') => return Ok(Value::Array(values)),
                Token::Sign(b',') => {}
                token => {
                    let value = scalar(token).ok_or(STRAY)?;
                    // Arrays may be larger than what anyone wants to see of them.
                    if let Some(left) = room.checked_sub(value.size()) {
                        *room = left;
                        values.push(value);
                    }
                }
            }
        }
    }
}

fn scalar(token: Token) -> Option<Value> {
    match token {
        Token::Text(text) => Some(Value::Text(text)),
        Token::Word(word) => {
            let whole = word.parse().ok().map(Value::Whole);
            whole.or_else(|| word.parse().ok().map(Value::Real))
        }
        _ => None,
    }
}
