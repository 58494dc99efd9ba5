//! The bytes that an event may carry: at most 32, packed by `MPE_Log_pack` and read by a format such as
//! `"step = %d, error = %E"`.
//!
//! Numbers are big-endian; text has its length before it, in two bytes. What stands before a `%` names
//! the field. A format that asks for more than there is gets the fields that are there: nothing is
//! made up.

use core::ffi::c_int;

use marey_model::spool::{FieldType, put, put_bytes, put_signed};

/// `sizeof(MPE_LOG_BYTES)`.
pub(super) const LEN: usize = 32;
/// Most fields: each takes at least two bytes.
pub(super) const MAX_FIELDS: usize = LEN / 2;

/// A field of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    token: Token,
}

/// What stands behind a `%`, and may be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Text,
    Int2,
    Int4,
    Int8,
    Hex4,
    Hex8,
    Float4,
    Float8,
}

impl Token {
    const fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b's' => Self::Text,
            b'h' => Self::Int2,
            b'd' => Self::Int4,
            b'l' => Self::Int8,
            b'x' => Self::Hex4,
            b'X' => Self::Hex8,
            b'e' => Self::Float4,
            b'E' => Self::Float8,
            _ => return None,
        })
    }

    /// Bytes of one; of text, of its length.
    const fn len(self) -> usize {
        match self {
            Self::Text | Self::Int2 => 2,
            Self::Int4 | Self::Hex4 | Self::Float4 => 4,
            Self::Int8 | Self::Hex8 | Self::Float8 => 8,
        }
    }
}

impl Field {
    pub(super) const fn field_type(&self) -> FieldType {
        match self.token {
            Token::Text => FieldType::Text,
            Token::Int2 | Token::Int4 | Token::Int8 => FieldType::Signed,
            Token::Hex4 | Token::Hex8 => FieldType::Unsigned,
            Token::Float4 | Token::Float8 => FieldType::Real,
        }
    }
}

/// The fields of a format, at most [`MAX_FIELDS`].
pub(super) fn parse(format: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut before = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        let after = if c == '%' { rest.clone().next() } else { None };
        let token = after.filter(char::is_ascii).and_then(|letter| Token::of(letter as u8));
        match (token, after) {
            (Some(token), _) if fields.len() < MAX_FIELDS => {
                rest.next();
                let name = name_of(&before, &fields);
                fields.push(Field { name, token });
                before.clear();
            }
            (None, Some('%')) => {
                rest.next();
                before.push('%');
            }
            _ => before.push(c),
        }
    }
    fields
}

/// The word before the sign: of `", error = "`, `error`. A field without one has its number.
fn name_of(before: &str, fields: &[Field]) -> String {
    let trimmed = before.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let name = if trimmed.is_empty() { (fields.len() + 1).to_string() } else { trimmed.to_owned() };
    if fields.iter().any(|field| field.name == name) {
        return format!("{name} {}", fields.len() + 1);
    }
    name
}

/// The bytes that come with an event.
#[derive(Clone, Copy)]
pub(super) struct Cargo {
    at: *const u8,
    /// Most bytes that there may be.
    len: usize,
    /// As text it ends at a zero byte; otherwise at the end, without blanks.
    is_c: bool,
}

impl Cargo {
    /// What a C program gives: null, text that ends with a zero byte, or [`LEN`] packed bytes.
    ///
    /// # Safety
    /// `at` is one of these.
    pub(super) unsafe fn of_c(at: *const u8) -> Option<Self> {
        (!at.is_null()).then_some(Self { at, len: LEN, is_c: true })
    }

    /// What a Fortran program gives: characters of a known length. Blanks stand for nothing.
    pub(super) fn of_fortran(characters: &[u8]) -> Option<Self> {
        let is_blank = characters.iter().all(|&byte| byte == b' ');
        let len = characters.len().min(LEN);
        (!is_blank).then_some(Self { at: characters.as_ptr(), len, is_c: false })
    }

    /// The bytes in order; only as many are looked at as are asked for, because a C program's text may
    /// end with its memory.
    unsafe fn bytes(self) -> impl Iterator<Item = u8> {
        // SAFETY: the caller's promise (see `of_c`).
        (0..self.len).map(move |idx| unsafe { *self.at.add(idx) })
    }

    /// As text; `None` if it is empty.
    ///
    /// # Safety
    /// The bytes are still there.
    pub(super) unsafe fn text(self) -> Option<String> {
        // SAFETY: the caller's promise.
        let bytes = unsafe { self.bytes() };
        let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0 || !self.is_c).collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = if self.is_c { &*text } else { text.trim_end_matches([' ', '\0']) };
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Appends the values of `fields`, as an event has them, and says how many there were.
    ///
    /// # Safety
    /// The bytes are still there, as many as `fields` describe.
    pub(super) unsafe fn decode(self, fields: &[Field], out: &mut Vec<u8>) -> usize {
        // SAFETY: the caller's promise.
        let mut bytes = unsafe { self.bytes() };
        for (idx, field) in fields.iter().enumerate() {
            let mut word = 0_u64;
            for _ in 0..field.token.len() {
                let Some(byte) = bytes.next() else { return idx };
                word = word << 8 | u64::from(byte);
            }
            match field.token {
                Token::Text => {
                    let len = word as usize;
                    if len > bytes.size_hint().0 {
                        return idx;
                    }
                    let text: Vec<u8> = bytes.by_ref().take(len).collect();
                    put_bytes(out, String::from_utf8_lossy(&text).as_bytes());
                }
                Token::Int2 => put_signed(out, i64::from(word as i16)),
                Token::Int4 => put_signed(out, i64::from(word as i32)),
                Token::Int8 => put_signed(out, word.cast_signed()),
                Token::Hex4 | Token::Hex8 => put(out, word),
                Token::Float4 => {
                    out.extend_from_slice(&f64::from(f32::from_bits(word as u32)).to_le_bytes());
                }
                Token::Float8 => out.extend_from_slice(&word.to_le_bytes()),
            }
        }
        fields.len()
    }
}

/// `MPE_Log_pack`: adds `count` units of `data` behind `*position`. False, and nothing is changed, if
/// there is no such unit or no room.
///
/// # Safety
/// `buffer` has [`LEN`] bytes, and `data` as many as it takes.
pub(super) unsafe fn pack(
    buffer: *mut u8,
    position: *mut c_int,
    letter: u8,
    count: c_int,
    data: *const u8,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let (Some(token), Ok(count)) = (Token::of(letter), usize::try_from(count)) else { return false };
        let Ok(from) = usize::try_from(*position) else { return false };
        let (unit, head) = if token == Token::Text { (1, token.len()) } else { (token.len(), 0) };
        let Some(end) = count.checked_mul(unit).and_then(|len| len.checked_add(head + from)) else {
            return false;
        };
        if end > LEN {
            return false;
        }
        if token == Token::Text {
            buffer.add(from).cast::<[u8; 2]>().write_unaligned((count as u16).to_be_bytes());
        }
        // The processor is little-endian.
        for idx in 0..count * unit {
            let in_unit = unit - 1 - idx % unit;
            *buffer.add(from + head + idx) = *data.add(idx - idx % unit + in_unit);
        }
        *position = end as c_int;
    }
    true
}

#[cfg(test)]
mod tests {
    use marey_model::spool::{get, get_signed, get_text};

    use super::*;

    fn names(format: &str) -> Vec<String> {
        parse(format).into_iter().map(|field| format!("{}:{:?}", field.name, field.field_type())).collect()
    }

    #[test]
    fn what_stands_before_the_sign_names_the_field() {
        assert_eq!(names("step = %d, error = %E"), ["step:Signed", "error:Real"]);
        assert_eq!(names("i=%d x=%e s=%s"), ["i:Signed", "x:Real", "s:Text"]);
        assert_eq!(names("%h%x"), ["1:Signed", "2:Unsigned"]);
        assert_eq!(names("at %l (%X) at %d"), ["at:Signed", "2:Unsigned", "at 3:Signed"]);
        assert_eq!(names("100 %% of %s"), ["100 % of:Text"]);
        assert_eq!(names("no field, %"), Vec::<String>::new());
        assert_eq!(names("%q %d"), ["q:Signed"]);
        assert_eq!(names(&"%d".repeat(100)).len(), MAX_FIELDS);
    }

    /// Packs one after the other; the buffer and whether each fitted.
    fn packed(parts: &[(u8, c_int, &[u8])]) -> ([u8; LEN], c_int, Vec<bool>) {
        let (mut buffer, mut position) = ([0xEE_u8; LEN], 0);
        let fits = parts
            .iter()
            .map(|&(letter, count, data)| {
                // SAFETY: the buffer is long enough, and the data as long as the test says.
                unsafe { pack(buffer.as_mut_ptr(), &mut position, letter, count, data.as_ptr()) }
            })
            .collect();
        (buffer, position, fits)
    }

    fn decoded(buffer: &[u8], format: &str) -> (usize, Vec<u8>) {
        let mut out = Vec::new();
        let cargo = Cargo { at: buffer.as_ptr(), len: buffer.len(), is_c: true };
        // SAFETY: the bytes are there.
        let n = unsafe { cargo.decode(&parse(format), &mut out) };
        (n, out)
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let (buffer, position, fits) = packed(&[
            (b'd', 1, &(-7_i32).to_le_bytes()),
            (b'E', 1, &2.5_f64.to_le_bytes()),
            (b's', 3, b"abc"),
            (b'h', 2, &[1, 0, 0xFF, 0xFF]),
            (b'X', 1, &u64::MAX.to_le_bytes()),
        ]);
        assert_eq!((position, fits), (29, vec![true; 5]));
        assert_eq!(buffer[..4], (-7_i32).to_be_bytes());
        let (n, out) = decoded(&buffer, "%d %E %s %h %h %X");
        let at = &mut 0;
        assert_eq!((n, get_signed(&out, at)), (6, Some(-7)));
        assert_eq!(out[*at..*at + 8], 2.5_f64.to_le_bytes());
        *at += 8;
        assert_eq!(get_text(&out, at).as_deref(), Some("abc"));
        assert_eq!((get_signed(&out, at), get_signed(&out, at)), (Some(1), Some(-1)));
        assert_eq!((get(&out, at), *at), (Some(u64::MAX), out.len()));
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let (buffer, position, fits) = packed(&[
            (b'l', 5, &[0; 40]),
            (b's', 31, &[b'x'; 31]),
            (b'?', 1, &[0; 8]),
            (b'd', -1, &[0; 8]),
            (b'd', c_int::MAX, &[0; 8]),
        ]);
        assert_eq!((buffer, position, fits), ([0xEE; LEN], 0, vec![false; 5]));
        assert_eq!(packed(&[(b's', 30, &[b'x'; 30])]).2, [true]);
    }

    #[test]
    fn a_format_that_asks_for_more_gets_what_there_is() {
        let (n, out) = decoded(&[0, 0, 0, 9], "%d %d");
        assert_eq!((n, out), (1, vec![37]));
        // The length of the text is beyond the end.
        assert_eq!(decoded(b"start broadcast", "%s").0, 0);
        assert_eq!(decoded(&[], "%s").0, 0);
    }

    #[test]
    fn bytes_without_a_format_are_text() {
        // SAFETY: literals that end with a zero byte; a null pointer.
        let c = |at: *const u8| unsafe { Cargo::of_c(at).and_then(|cargo| cargo.text()) };
        assert_eq!(c(c"start".as_ptr().cast()).as_deref(), Some("start"));
        assert_eq!(c(c"0123456789012345678901234567890123456789".as_ptr().cast()).unwrap().len(), LEN);
        assert_eq!(c(c"".as_ptr().cast()), None);
        assert_eq!(c(core::ptr::null()), None);
        // SAFETY: the characters are there.
        let fortran = |text: &[u8]| unsafe { Cargo::of_fortran(text).and_then(|cargo| cargo.text()) };
        assert_eq!(fortran(b"start   ").as_deref(), Some("start"));
        assert_eq!(fortran(b" "), None);
        assert_eq!(fortran(b""), None);
    }
}
