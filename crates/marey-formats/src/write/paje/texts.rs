//! Texts as the format has them: in one line, between quotes, of which there are none within.

use super::super::names;

/// Bytes of a text; readers have bounds.
const LONGEST: usize = 32_000;

/// A text that is one word of a line, and not nothing, which readers count as no word.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(text))
}

/// A text in one line without quotes.
pub(super) fn plain(text: &str) -> String {
    if text.trim().is_empty() {
        return "-".to_owned();
    }
    let mut plain = names::one_line(text).replace('"', "'");
    if LONGEST < plain.len() {
        plain.truncate(plain.floor_char_boundary(LONGEST));
        plain.push('…');
    }
    plain
}

#[cfg(test)]
mod tests {
    #[test]
    fn texts_are_one_word() {
        assert_eq!(super::quoted("a \"b\"\n\u{1b}é"), "\"a 'b'\\n\\u{1b}é\"");
        assert_eq!(super::quoted("  "), "\"-\"");
        let long = super::plain(&"é".repeat(20_000));
        assert_eq!((long.chars().count(), long.ends_with("é…")), (16_001, true));
    }
}
