//! Remarks within statements of Fortran in free form, made blank: the grammar takes a statement to end at them.
//!
//! The one idea: `w = u(2) & ! the right one` goes on in the next line, whatever its comment says, and so it does behind lines
//! that are nothing but comments. No byte is added or taken, so that all places stay what they are.
//!
//! Deliberately absent: directives, which are comments that mean something; lines of a statement that are conditional.

/// The text without them; `None` = it has none.
pub(super) fn without_comments(text: &[u8]) -> Option<Vec<u8>> {
    let mut blank: Option<Vec<u8>> = None;
    // Whether the line before goes on, and within which quotes.
    let (mut goes_on, mut quote) = (false, None);
    let mut begin = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let end = begin + line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (code, open) = said(line, quote.filter(|_| goes_on));
        let is_comment = line[..code].trim_ascii().is_empty();
        let is_meant = line[code..].starts_with(b"!$") || line.trim_ascii_start().starts_with(b"#");
        let ends_with_sign = !is_comment && line[..code].trim_ascii_end().ends_with(b"&");
        // A line of comments alone, or none at all, is within a statement as what is before it is.
        if !is_meant && code < line.len() && (ends_with_sign || is_comment && goes_on) {
            let all = blank.get_or_insert_with(|| text.to_vec());
            all[begin + code..begin + line.len()].fill(b' ');
        }
        if !is_comment {
            (goes_on, quote) = (ends_with_sign, open);
        }
        begin = end;
    }
    blank
}

/// Where the comment at the end of a line begins, and which quotes are open there.
fn said(line: &[u8], mut quote: Option<u8>) -> (usize, Option<u8>) {
    for (place, byte) in line.iter().enumerate() {
        match quote {
            Some(sign) if sign == *byte => quote = None,
            Some(_) => {}
            None if matches!(byte, b'\'' | b'"') => quote = Some(*byte),
            None if *byte == b'!' => return (place, None),
            None => {}
        }
    }
    (line.len(), quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_within_statements_are_blank_and_no_others() {
        let rows = [
            (
                "a = b & ! one\n ! two\n\n + c ! three\n! four\n",
                "a = b &      \n      \n\n + c ! three\n! four\n",
            ),
            ("a = 'x & \n &y' & ! z\n // 'q'\n", "a = 'x & \n &y' &    \n // 'q'\n"),
            // What stands in quotes is no comment, in the next line neither.
            ("a = 'x ! &\n & y ! &\n & z'\n", "a = 'x ! &\n & y ! &\n & z'\n"),
            ("a = b &\n!$omp do\n + c & !\r\n + d\n", "a = b &\n!$omp do\n + c &  \r\n + d\n"),
            ("a = b ! no sign &\nc = d\n", "a = b ! no sign &\nc = d\n"),
        ];
        for (text, expected) in rows {
            let found = without_comments(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
            assert_eq!(String::from_utf8_lossy(&found), expected);
        }
    }
}
