//! What is packed into an event, by the format that its definition gives.
//!
//! The one idea: the format is a text for viewers, such as `bytes = %d, from %s`; what stands before each sign names the
//! field. SLOG-2 has such a text in pieces. What does not fit its format is kept as a text, whole.
//!
//! Source: `MPE_Log_pack`, which packs big-endian on all machines.

use marey_model::spool::{FieldType, get, get_bytes, get_signed, put, put_bytes, put_signed};

use crate::bytes::{Bytes, Order};

/// Fields of an event; MPE's own formats have room for less.
const MOST_FIELDS: usize = 256;

/// How a value is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packed {
    /// Two bytes that say how many follow, and those.
    Text,
    /// So many bytes, with a sign.
    Signed(usize),
    Unsigned(usize),
    Single,
    Double,
}

impl Packed {
    const fn of(letter: char) -> Option<Self> {
        Some(match letter {
            's' => Self::Text,
            'h' => Self::Signed(2),
            'd' => Self::Signed(4),
            'l' => Self::Signed(8),
            'x' => Self::Unsigned(4),
            'X' => Self::Unsigned(8),
            'e' => Self::Single,
            'E' => Self::Double,
            _ => return None,
        })
    }

    const fn field(self) -> FieldType {
        match self {
            Self::Text => FieldType::Text,
            Self::Signed(_) => FieldType::Signed,
            Self::Unsigned(_) => FieldType::Unsigned,
            Self::Single | Self::Double => FieldType::Real,
        }
    }
}

/// Names of fields, and how they are packed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Format(Vec<(String, Packed)>);

/// Fields of an event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fields<'a> {
    pub kinds: Vec<(&'a str, FieldType)>,
    pub bytes: Vec<u8>,
}

impl Format {
    pub(crate) fn of(text: &str) -> Self {
        let mut format = Self::default();
        let mut before = String::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let packed = letters.peek().copied().filter(|_| letter == '%').and_then(Packed::of);
            let Some(packed) = packed else {
                before.push(letter);
                continue;
            };
            letters.next();
            format.push(&before, packed);
            before.clear();
        }
        format
    }

    /// The format of texts and the letters that stand behind each; none if there is another letter, or too many.
    pub(crate) fn of_pieces<'a>(pieces: impl Iterator<Item = (&'a str, char)>) -> Option<Self> {
        let mut format = Self::default();
        for (before, letter) in pieces {
            if format.0.len() == MOST_FIELDS {
                return None;
            }
            format.push(before, Packed::of(letter)?);
        }
        Some(format)
    }

    fn push(&mut self, before: &str, packed: Packed) {
        let name = before.trim_matches(|letter: char| !letter.is_alphanumeric());
        let name = if name.is_empty() { "value" } else { name };
        let n_same = self.0.iter().filter(|it| it.0 == name || it.0.starts_with(&format!("{name} "))).count();
        let name = if n_same == 0 { name.to_owned() } else { format!("{name} {}", n_same + 1) };
        self.0.push((name, packed));
    }

    /// Names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|it| it.0.as_str())
    }

    /// What an event carries. Nothing, if its format has no field and all of it is zero.
    pub(crate) fn unpack(&self, cargo: &[u8]) -> Fields<'_> {
        let mut bytes = Bytes::new(cargo, Order::Big);
        let mut out = Vec::new();
        let fits = self.0.iter().all(|(_, packed)| value(*packed, &mut bytes, &mut out).is_some());
        if fits && !self.0.is_empty() {
            let kinds = self.0.iter().map(|(name, packed)| (name.as_str(), packed.field())).collect();
            return Fields { kinds, bytes: out };
        }
        let len = cargo.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let Some(cargo) = cargo.get(..len).filter(|cargo| !cargo.is_empty()) else {
            return Fields::default();
        };
        out.clear();
        put_bytes(&mut out, String::from_utf8_lossy(cargo).as_bytes());
        Fields { kinds: vec![("bytes", FieldType::Text)], bytes: out }
    }
}

impl Fields<'_> {
    /// The whole numbers among the fields, with their names.
    pub(crate) fn numbers(&self) -> Vec<(&str, i64)> {
        let (bytes, mut at) = (&self.bytes, 0);
        let mut numbers = Vec::new();
        for (name, kind) in &self.kinds {
            let at = &mut at;
            let number = match kind {
                FieldType::Signed => get_signed(bytes, at),
                FieldType::Unsigned => get(bytes, at).and_then(|number| i64::try_from(number).ok()),
                FieldType::Text => get_bytes(bytes, at).and(None),
                FieldType::Real => {
                    *at += size_of::<f64>();
                    None
                }
                FieldType::Bool => {
                    *at += 1;
                    None
                }
            };
            numbers.extend(number.map(|number| (*name, number)));
        }
        numbers
    }
}

/// Moves a value from what is packed to where fields of an event stand.
fn value(packed: Packed, bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Option<()> {
    match packed {
        Packed::Text => {
            let len = usize::try_from(bytes.short(2)?).ok()?;
            put_bytes(out, String::from_utf8_lossy(bytes.take(len)?).as_bytes());
        }
        Packed::Signed(len) => {
            // What is above its own bytes is its sign.
            let above = 64_usize.checked_sub(8 * len)?;
            put_signed(out, (bytes.short(len)? << above).cast_signed() >> above);
        }
        Packed::Unsigned(len) => put(out, bytes.short(len)?),
        Packed::Single => out.extend(f64::from(f32::from_bits(bytes.u32()?)).to_le_bytes()),
        Packed::Double => out.extend(f64::from_bits(bytes.u64()?).to_le_bytes()),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, expected: &[(&str, FieldType)]) {
        let format = Format::of(format);
        let cargo: Vec<(&str, FieldType)> = format.0.iter().map(|it| (it.0.as_str(), it.1.field())).collect();
        assert_eq!(cargo, expected);
    }

    #[test]
    fn fields_are_named_by_what_stands_before_them() {
        check("", &[]);
        check("100%, no field", &[]);
        check("bytes = %d, from %s", &[("bytes", FieldType::Signed), ("from", FieldType::Text)]);
        check("%d %E", &[("value", FieldType::Signed), ("value 2", FieldType::Real)]);
        check("at %x", &[("at", FieldType::Unsigned)]);
    }

    #[test]
    fn what_does_not_fit_is_a_text() {
        let format = Format::of("%s");
        let fields = format.unpack(b"\0\x09abc");
        let mut expected = Vec::new();
        put_bytes(&mut expected, b"\0\x09abc");
        assert_eq!((fields.kinds, fields.bytes), (vec![("bytes", FieldType::Text)], expected));
        assert_eq!(Format::default().unpack(&[0; 32]), Fields::default());
    }

    #[test]
    fn short_numbers_keep_their_sign() {
        let mut expected = Vec::new();
        put_signed(&mut expected, -2);
        assert_eq!(Format::of("%h").unpack(&[0xff, 0xfe]).bytes, expected);
    }
}
