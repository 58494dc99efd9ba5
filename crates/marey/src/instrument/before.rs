//! What stands before a loop, and whether it may be about the loop.
//!
//! The one idea: a guard makes a block of a loop, so whatever is about the next statement would be about the block. The way
//! goes backwards over comments to what ends a statement or begins one; under a condition there are several such ends, and
//! each is looked at. What is neither may be a macro that stands for a directive.
//!
//! It expands no macro.

/// What was found at all ends.
#[derive(Debug, Default)]
pub(super) struct Before<'t> {
    /// `#pragma …` and `_Pragma(…)`.
    pub(super) directives: Vec<&'t [u8]>,
    /// Whether something stands there that may be a directive.
    pub(super) is_unclear: bool,
}

/// What stands directly before a place in a text of C or C++.
pub(super) fn before(text: &[u8], at: u32) -> Before<'_> {
    let mut found = Before::default();
    // Ends that are to be looked at; each leads to earlier ones only.
    let mut ends = vec![at as usize];
    let mut looked_at = rustc_hash::FxHashSet::default();
    while let Some(end) = ends.pop() {
        let end = text.get(..end).unwrap_or_default().trim_ascii_end().len();
        if end != 0 && looked_at.insert(end) {
            one(text, end, &mut found, &mut ends);
        }
    }
    found
}

fn one<'t>(text: &'t [u8], end: usize, found: &mut Before<'t>, ends: &mut Vec<usize>) {
    let before = &text[..end];
    let start = line_start(text, end);
    let line = before[start..].trim_ascii();
    if let Some(comment) = comment(before, start) {
        ends.push(comment);
        return;
    }
    // A directive goes on in the next line behind a backslash.
    let mut first = start;
    while let Some(above) = before[..first].strip_suffix(b"\n")
        && above.trim_ascii_end().ends_with(b"\\")
    {
        first = line_start(text, above.len());
    }
    let whole = before[first..].trim_ascii();
    match directive_word(whole) {
        Some(b"pragma") => found.directives.push(whole),
        Some(b"if" | b"ifdef" | b"ifndef" | b"define" | b"undef" | b"line" | b"error" | b"warning") => {
            ends.push(first);
        }
        // The other branches have no part in this one.
        Some(b"else" | b"elif" | b"elifdef" | b"elifndef") => ends.push(condition(text, first, |_| {})),
        Some(b"endif") => {
            ends.push(first);
            let begin = condition(text, first, |branch| ends.push(branch));
            ends.push(begin);
        }
        // What is included may end with anything.
        Some(_) => found.is_unclear = true,
        None if line.starts_with(b"_Pragma") && line.ends_with(b")") => found.directives.push(line),
        None => found.is_unclear |= !is_end(before),
    }
}

fn line_start(text: &[u8], end: usize) -> usize {
    text[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

/// Where a comment begins with which a text ends, whose last line begins at `start`.
fn comment(text: &[u8], start: usize) -> Option<usize> {
    if text.ends_with(b"*/") && !text[start..].trim_ascii_start().starts_with(b"//") {
        return text[..text.len() - 2].windows(2).rposition(|begin| begin == b"/*");
    }
    // In quotes, two slashes may be part of an address.
    let line = &text[start..];
    let at = line.windows(2).position(|begin| begin == b"//")?;
    (line[..at].iter().filter(|byte| **byte == b'"').count() % 2 == 0).then_some(start + at)
}

/// The word behind `#`, if a line is a directive of the preprocessor.
fn directive_word(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"#")?.trim_ascii_start();
    Some(&rest[..rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()])
}

/// Where the condition begins that a line is part of, and the ends of its branches above that line.
fn condition(text: &[u8], line: usize, mut branch: impl FnMut(usize)) -> usize {
    let (mut depth, mut end) = (0_usize, line);
    while let Some(above) = end.checked_sub(1) {
        let start = line_start(text, above);
        match directive_word(text[start..above].trim_ascii()) {
            Some(b"endif") => depth += 1,
            Some(b"if" | b"ifdef" | b"ifndef") if depth == 0 => return start,
            Some(b"if" | b"ifdef" | b"ifndef") => depth -= 1,
            Some(b"else" | b"elif" | b"elifdef" | b"elifndef") if depth == 0 => branch(start),
            _ => {}
        }
        end = start;
    }
    0
}

/// Where the loop begins whose body, or the first statement of whose body, begins at a place; by the text alone, for what a
/// macro has torn is no loop in a tree.
pub(super) fn outer(text: &[u8], at: u32) -> Option<u32> {
    let before = without_comments(text, at as usize);
    let before = before.strip_suffix(b"{").map_or(before, |before| without_comments(text, before.len()));
    let head = before.ends_with(b")").then(|| head(before)).flatten()?.trim_ascii_end();
    matches!(last_word(head), b"for" | b"while")
        .then(|| u32::try_from(head.len() - last_word(head).len()).ok())
        .flatten()
}

/// A text up to a place without the comments and blanks that it ends with.
fn without_comments(text: &[u8], end: usize) -> &[u8] {
    let mut before = text.get(..end).unwrap_or_default().trim_ascii_end();
    while let Some(end) = comment(before, line_start(before, before.len())) {
        before = before[..end].trim_ascii_end();
    }
    before
}

/// What stands before the parentheses that a text ends with.
fn head(text: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_usize;
    let open = text.iter().rposition(|byte| {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    Some(&text[..open?])
}

fn last_word(text: &[u8]) -> &[u8] {
    let len = text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    &text[text.len() - len..]
}

/// Whether a text ends where a statement may begin.
fn is_end(text: &[u8]) -> bool {
    match text.last() {
        None | Some(b';' | b'{' | b'}' | b':') => true,
        Some(b')') => {
            let head = head(text).unwrap_or_default().trim_ascii_end();
            matches!(last_word(head), b"if" | b"for" | b"while" | b"switch" | b"constexpr")
        }
        _ => matches!(last_word(text), b"else" | b"do"),
    }
}
