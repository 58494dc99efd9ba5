//! Words, texts and signs.
//!
//! The one idea: bytes are looked at one after the other, and of no text or comment more is kept than there is room for, so
//! whatever has no end takes time and no memory.

use std::io::{self, BufRead};

/// Bytes of a text, a word or a comment that are kept.
const MOST: usize = 64 << 10;

/// What texts consist of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// In double quotes.
    Text(String),
    /// A number or a type.
    Word(String),
    /// Any other byte that is not blank.
    Sign(u8),
    /// `;;`
    End,
}

/// A text on its way into tokens.
#[derive(Debug)]
pub(super) struct Tokens<R> {
    pub input: R,
    /// Bytes that are taken.
    pub at: u64,
    /// The last comment, and whether nothing else has come since.
    comment: Vec<u8>,
}

impl<R: BufRead> Tokens<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, at: 0, comment: Vec::new() }
    }

    /// What comments have said since this was last asked for.
    pub(super) fn take_comment(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.comment)).into_owned()
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn skip(&mut self) {
        self.input.consume(1);
        self.at += 1;
    }

    fn take(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.skip();
        }
        Ok(byte)
    }

    /// The next token; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Token>> {
        loop {
            let Some(byte) = self.take()? else { return Ok(None) };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => {}
                b'/' => match self.peek()? {
                    Some(b'*') => self.long_comment()?,
                    Some(b'/') => self.short_comment()?,
                    _ => return Ok(Some(Token::Sign(b'/'))),
                },
                b'"' => return Ok(Some(Token::Text(self.text()?))),
                b';' if self.peek()? == Some(b';') => {
                    self.skip();
                    return Ok(Some(Token::End));
                }
                b'-' | b'+' | b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    return Ok(Some(Token::Word(self.word(byte)?)));
                }
                other => return Ok(Some(Token::Sign(other))),
            }
        }
    }

    /// What is in quotes, behind the first one. A backslash takes the meaning from a quote.
    fn text(&mut self) -> io::Result<String> {
        let mut text = Vec::new();
        while let Some(byte) = self.take()? {
            let byte = match byte {
                b'"' => break,
                b'\\' if matches!(self.peek()?, Some(b'"' | b'\\')) => self.take()?.unwrap_or(byte),
                byte => byte,
            };
            if text.len() < MOST {
                text.push(byte);
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn word(&mut self, first: u8) -> io::Result<String> {
        let mut word = vec![first];
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'+' | b'.' | b'_') {
                break;
            }
            self.skip();
            if word.len() < MOST {
                word.push(byte);
            }
        }
        Ok(String::from_utf8_lossy(&word).into_owned())
    }

    fn long_comment(&mut self) -> io::Result<()> {
        self.skip();
        let mut last = 0;
        while let Some(byte) = self.take()? {
            if (last, byte) == (b'*', b'/') {
                self.comment.pop();
                break;
            }
            self.remember(byte);
            last = byte;
        }
        self.remember(b'\n');
        Ok(())
    }

    fn short_comment(&mut self) -> io::Result<()> {
        self.skip();
        while let Some(byte) = self.take()? {
            self.remember(byte);
            if byte == b'\n' {
                break;
            }
        }
        Ok(())
    }

    fn remember(&mut self, byte: u8) {
        if self.comment.len() < MOST {
            self.comment.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_ends_of_lines_and_quotes_and_comments_are_apart() {
        const TEXT: &[u8] = b"/* \"a\" */ \"x\n\\\"y\" // b\n-1.5e3;; ; long";
        let mut tokens = Tokens::new(TEXT);
        let mut all = Vec::new();
        while let Some(token) = tokens.next().unwrap() {
            all.push(token);
        }
        let word = |word: &str| Token::Word(word.to_owned());
        let text = Token::Text("x\n\"y".to_owned());
        assert_eq!(all, [text, word("-1.5e3"), Token::End, Token::Sign(b';'), word("long")]);
        assert_eq!(tokens.take_comment(), " \"a\" \n b\n");
        assert_eq!(tokens.at, TEXT.len() as u64);
    }
}
