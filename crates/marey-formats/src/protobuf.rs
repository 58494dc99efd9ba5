//! Messages of protobuf, field by field.
//!
//! The one idea: a message is an iterator over its fields that ends where one makes no sense, and says so. Nothing is
//! copied. Deliberately absent: groups, which Perfetto does not have, and any knowledge of what a field means.

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// A number of any width; 0 where there is none.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => number,
            Self::Fixed32(number) => number.into(),
            Self::Bytes(_) => 0,
        }
    }

    /// A number with a sign: those are written as if they were as wide as can be.
    pub(crate) fn signed(self) -> i64 {
        self.number().cast_signed()
    }

    /// A number of 32 bits; `None` if it is wider.
    pub(crate) fn word(self) -> Option<u32> {
        u32::try_from(self.number()).ok()
    }

    pub(crate) fn real(self) -> f64 {
        match self {
            Self::Fixed32(bits) => f32::from_bits(bits).into(),
            _ => f64::from_bits(self.number()),
        }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    pub(crate) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    pub(crate) fn fields(self) -> Fields<'a> {
        Fields::new(self.bytes())
    }

    /// Puts numbers behind others, whether they are packed or not.
    pub(crate) fn numbers(self, is_fixed: bool, out: &mut Vec<u64>) {
        let Self::Bytes(mut rest) = self else {
            out.push(self.number());
            return;
        };
        while let Some((number, left)) = if is_fixed { fixed64(rest) } else { varint(rest) } {
            out.push(number);
            rest = left;
        }
    }
}

/// The fields of a message.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// Something was no field, and the message ends before it.
    pub is_damaged: bool,
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(message: &'a [u8]) -> Self {
        Self { rest: message, is_damaged: false }
    }

    /// What is left of the message, from the field on that made no sense.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn field(&self) -> Option<(u32, Value<'a>, &'a [u8])> {
        let (tag, rest) = varint(self.rest)?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
        let (value, rest) = match tag & 7 {
            0 => varint(rest).map(|(number, rest)| (Value::Varint(number), rest))?,
            1 => fixed64(rest).map(|(number, rest)| (Value::Fixed64(number), rest))?,
            2 => {
                let (len, rest) = varint(rest)?;
                let (bytes, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
                (Value::Bytes(bytes), rest)
            }
            5 => {
                let (four, rest) = rest.split_first_chunk()?;
                (Value::Fixed32(u32::from_le_bytes(*four)), rest)
            }
            _ => return None,
        };
        Some((number, value, rest))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.is_damaged {
            return None;
        }
        let Some((number, value, rest)) = self.field() else {
            self.is_damaged = true;
            return None;
        };
        self.rest = rest;
        Some((number, value))
    }
}

/// A number of seven bits a byte, and what is behind it.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has one bit left.
        if at == 9 && bits > 1 {
            return None;
        }
        number |= bits << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

fn fixed64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (eight, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*eight), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_up_to_what_is_none() {
        // 1: 150, 2: "testing", 3: fixed64, 4: fixed32, and a group.
        let message = b"\x08\x96\x01\x12\x07testing\x19\x01\0\0\0\0\0\0\0\x25\x02\0\0\0\x2b\x08";
        let mut fields = Fields::new(message);
        let all: Vec<_> = fields.by_ref().collect();
        assert_eq!(
            all,
            [
                (1, Value::Varint(150)),
                (2, Value::Bytes(b"testing")),
                (3, Value::Fixed64(1)),
                (4, Value::Fixed32(2))
            ]
        );
        assert!(fields.is_damaged);
        assert_eq!(fields.rest(), b"\x2b\x08");
    }

    #[test]
    fn numbers_have_64_bits_and_no_more() {
        assert_eq!(varint(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"), Some((u64::MAX, &b"x"[..])));
        assert_eq!(varint(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), None);
        assert_eq!(varint(b"\x80"), None);
        assert_eq!(Value::Varint(u64::MAX).signed(), -1);
    }

    #[test]
    fn what_says_it_is_longer_than_the_message_is_no_field() {
        let mut fields = Fields::new(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x");
        assert_eq!(fields.next(), None);
        assert!(fields.is_damaged);
    }

    #[test]
    fn packed_numbers_are_those_that_stand_alone() {
        let mut out = Vec::new();
        Value::Bytes(b"\x01\x96\x01").numbers(false, &mut out);
        Value::Varint(7).numbers(false, &mut out);
        Value::Bytes(b"\x05\0\0\0\0\0\0\0").numbers(true, &mut out);
        assert_eq!(out, [1, 150, 7, 5]);
    }
}
