//! Words of a line.

/// The words of a line; what stands in double quotes is one.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let (word, behind) = quoted.split_once('"').unwrap_or((quoted, ""));
            rest = behind;
            return Some(word);
        }
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = behind;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn quotes_hold_words_together() {
        let words: Vec<_> = super::words("12 \"a b\"\t\"\" x\"y  \"open end").collect();
        assert_eq!(words, ["12", "a b", "", "x\"y", "open end"]);
    }
}
