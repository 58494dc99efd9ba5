//! Fortran in fixed form as free form, line by line.
//!
//! The one idea: no line is added or taken, so that all lines stay what they are. A line that continues another one (a sign
//! in its sixth column) makes that one end with `&`.
//!
//! Blanks inside names and keywords, which fixed form allows, are left as they are; nobody has written them for decades.

/// Where text ends and comments begin, as standards say. Compilers are often told another number, so that only what cannot
/// be text is taken for a comment.
const COLUMNS: usize = 72;

/// The same text in free form.
pub(super) fn to_free(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    // The last line that says something; what continues it may come behind comments.
    let mut said: Option<usize> = None;
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let row = lines.len();
        match kind(line) {
            Kind::Comment => {
                let mut line = line.to_vec();
                if let Some(first) = line.first_mut().filter(|first| !matches!(first, b'#' | b' ' | b'\t')) {
                    *first = b'!';
                }
                // A directive is continued by a sign in its sixth column, like a statement.
                if is_directive(&line) && line.get(5).is_some_and(|sign| !matches!(sign, b' ' | b'0')) {
                    line[5] = b' ';
                    if let Some(before) = lines.last_mut().filter(|before| is_directive(before)) {
                        before.extend_from_slice(b" &");
                    }
                }
                lines.push(line);
            }
            Kind::Empty => lines.push(line.to_vec()),
            Kind::Continued => {
                let mut line = cut(line).to_vec();
                if let Some(sign) = line.get_mut(5) {
                    *sign = b' ';
                }
                if let Some(before) = said {
                    let text = without_comment(&lines[before]).len();
                    lines[before].truncate(text);
                    lines[before].extend_from_slice(b" &");
                    said = Some(row);
                }
                lines.push(line);
            }
            Kind::Said => {
                said = Some(row);
                lines.push(cut(line).to_vec());
            }
        }
    }
    lines.join(&b'\n')
}

enum Kind {
    Empty,
    Comment,
    Continued,
    Said,
}

fn kind(line: &[u8]) -> Kind {
    match line.first() {
        _ if line.trim_ascii().is_empty() => Kind::Empty,
        Some(b'c' | b'C' | b'*' | b'!' | b'#') => Kind::Comment,
        Some(b'd' | b'D') if is_comment(line) => Kind::Comment,
        _ if line.trim_ascii_start().starts_with(b"!") && line.get(5) != Some(&b'!') => Kind::Comment,
        // A tab stands for the first six columns; a digit behind it continues.
        Some(b'\t') if line.get(1).is_some_and(|byte| (b'1'..=b'9').contains(byte)) => Kind::Said,
        _ => {
            let is_blank = line.iter().take(5).all(|byte| *byte == b' ');
            let sign = line.get(5).is_some_and(|byte| !matches!(byte, b' ' | b'0' | b'\t'));
            if is_blank && 5 < line.len() && sign { Kind::Continued } else { Kind::Said }
        }
    }
}

/// Whether a line that begins with `d` is one for debugging, which is a comment, or a statement out of place.
fn is_comment(line: &[u8]) -> bool {
    line.get(1).is_none_or(|byte| matches!(byte, b' ' | b'\t'))
}

fn is_directive(line: &[u8]) -> bool {
    let sign = line.get(..5).unwrap_or_default();
    sign.eq_ignore_ascii_case(b"!$omp") || sign.eq_ignore_ascii_case(b"!$acc")
}

/// A line up to the comment at its end.
pub(super) fn without_comment(line: &[u8]) -> &[u8] {
    let mut quote = None;
    for (place, byte) in line.iter().enumerate() {
        match quote {
            Some(sign) if sign == *byte => quote = None,
            Some(_) => {}
            None if matches!(byte, b'\'' | b'"') => quote = Some(*byte),
            None if *byte == b'!' => return line[..place].trim_ascii_end(),
            None => {}
        }
    }
    line
}

/// What is behind the last column of text is a number of the card, if it looks like one.
fn cut(line: &[u8]) -> &[u8] {
    let Some(behind) = line.get(COLUMNS..) else { return line };
    let is_number = behind.trim_ascii().iter().all(|byte| byte.is_ascii_alphanumeric());
    let is_apart = line.get(COLUMNS - 1).is_some_and(|byte| *byte == b' ');
    if is_number && is_apart { &line[..COLUMNS] } else { line }
}
