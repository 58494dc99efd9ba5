//! Text that a preprocessor would change before a compiler reads it.
//!
//! The one idea: nothing is preprocessed, but where a file cannot be parsed as it stands, a text of the same length with
//! blanks instead of what a preprocessor would take away is tried: all but one branch of each condition, and words that stand where the
//! language has no word. What is blanked keeps all other lines and columns where they are.

use std::ops::Range;

use tree_sitter::{Node, Tree};

/// A branch that is so many times as long as the first is what the file is about: headers of LAMMPS register a class in
/// their first branch and define it in the second. Alternatives of one thing differ less.
const MUCH_LONGER: usize = 4;

/// The text with only the first branch of each condition, or one that is much longer; `None` = it has no conditions.
pub(super) fn main_branches(text: &[u8]) -> Option<Vec<u8>> {
    let branches = branches(text);
    let mut main: Vec<(u32, usize)> = Vec::new();
    for (number, branch) in branches.iter().enumerate() {
        let condition = branch.condition as usize;
        main.resize(main.len().max(condition + 1), (u32::MAX, 0));
        let (best, bytes) = &mut main[condition];
        if *best == u32::MAX || bytes.saturating_mul(MUCH_LONGER) < branch.bytes {
            (*best, *bytes) = (super::walk::number(number), branch.bytes);
        }
    }
    if branches.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut next = 0_u32;
    // Whether each branch that is open is kept, with all that it lies in.
    let mut open: Vec<bool> = Vec::new();
    let mut is_kept = |open: &mut Vec<bool>| {
        let branch = &branches[next as usize];
        let is_outer_kept = open.last().copied().unwrap_or(true);
        open.push(is_outer_kept && !branch.is_never && main[branch.condition as usize].0 == next);
        next += 1;
    };
    lines(text, |line, directive| match directive {
        Some(Directive::If { .. }) => {
            is_kept(&mut open);
            push(&mut out, line, false);
        }
        Some(Directive::Else) => {
            if open.pop().is_some() {
                is_kept(&mut open);
            }
            push(&mut out, line, false);
        }
        // Without its conditions a function that one of them cuts is whole.
        Some(Directive::End) => {
            open.pop();
            push(&mut out, line, false);
        }
        None => push(&mut out, line, open.last().copied().unwrap_or(true)),
    });
    Some(out)
}

/// What stands under one condition, or under its opposite.
struct Branch {
    condition: u32,
    bytes: usize,
    /// Whether it is switched off for good.
    is_never: bool,
}

/// Branches in the order in which they begin.
fn branches(text: &[u8]) -> Vec<Branch> {
    let mut branches: Vec<Branch> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut conditions = 0;
    lines(text, |line, directive| match directive {
        Some(Directive::If { is_never }) => {
            open.push(branches.len());
            branches.push(Branch { condition: conditions, bytes: 0, is_never });
            conditions += 1;
        }
        Some(Directive::Else) => {
            if let Some(before) = open.last_mut() {
                let condition = branches[*before].condition;
                *before = branches.len();
                branches.push(Branch { condition, bytes: 0, is_never: false });
            }
        }
        Some(Directive::End) => {
            open.pop();
        }
        None => {
            if let Some(inner) = open.last().filter(|inner| !branches[**inner].is_never) {
                branches[*inner].bytes += line.trim_ascii().len();
            }
        }
    });
    branches
}

/// A line that conditions something.
enum Directive {
    If { is_never: bool },
    Else,
    End,
}

/// Goes through the lines of a text.
fn lines(text: &[u8], mut take: impl FnMut(&[u8], Option<Directive>)) {
    let mut is_continued = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii();
        let directive = trimmed.strip_prefix(b"#").filter(|_| !is_continued).map(<[u8]>::trim_ascii_start);
        is_continued = trimmed.ends_with(b"\\");
        let directive = directive.and_then(|directive| {
            let word_len = directive.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let (word, rest) = directive.split_at(word_len);
            match word {
                b"if" => Some(Directive::If { is_never: rest.trim_ascii() == b"0" }),
                b"ifdef" | b"ifndef" => Some(Directive::If { is_never: false }),
                b"elif" | b"else" | b"elifdef" | b"elifndef" => Some(Directive::Else),
                b"endif" => Some(Directive::End),
                _ => None,
            }
        });
        take(line, directive);
    }
}

/// Which lines of a text are blank in another one of it, by their numbers less one.
pub(super) fn blanked(text: &[u8], other: &[u8]) -> Vec<bool> {
    let lines = text.split(|byte| *byte == b'\n').zip(other.split(|byte| *byte == b'\n'));
    lines.map(|(line, other)| other.trim_ascii().is_empty() && !line.trim_ascii().is_empty()).collect()
}

fn push(out: &mut Vec<u8>, line: &[u8], is_kept: bool) {
    if is_kept {
        out.extend_from_slice(line);
    } else {
        out.extend(line.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' }));
    }
}

/// The text without words that the grammar could not place, nor words in capitals near by that seem to stand for
/// attributes, and without lines that are nothing but such a word; `None` = there are none.
pub(super) fn without_odd_words(text: &[u8], tree: &Tree) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    let mut changed = blank_lines(&mut out);
    let mut seen = 0;
    errors(tree, |node| {
        if let Some(range) = odd_word(node, text) {
            out[range].fill(b' ');
            changed = true;
        }
        let near = near(node.start_byte(), text);
        // Errors come in the order of the text; what was looked at is not looked at again.
        let near = near.start.max(seen)..near.end;
        seen = seen.max(near.end);
        changed |= blank_attributes(&mut out, near);
    });
    changed.then_some(out)
}

/// So far from an error the words are that have made it.
const NEAR: usize = 400;

/// The line of a place, with the one before and the one behind.
fn near(at: usize, text: &[u8]) -> Range<usize> {
    let at = at.min(text.len());
    let is_end = |byte: &u8| *byte == b'\n';
    let first = at.saturating_sub(NEAR);
    let before = text[first..at].iter().rev().enumerate().filter(|(_, byte)| is_end(byte)).nth(1);
    let start = before.map_or(first, |(back, _)| at.saturating_sub(back));
    let rest = &text[at..text.len().min(at.saturating_add(NEAR))];
    let behind = rest.iter().enumerate().filter(|(_, byte)| is_end(byte)).nth(1);
    start..behind.map_or(at + rest.len(), |(forth, _)| at + forth)
}

/// Blanks words in capitals where only attributes can stand: before another word, or behind a list of parameters. One that
/// is said to be a lambda becomes one.
fn blank_attributes(text: &mut [u8], range: Range<usize>) -> bool {
    let mut changed = false;
    let mut at = range.start;
    while at < range.end {
        let len = text[at..range.end].iter().take_while(|byte| is_word(**byte)).count();
        if len == 0 {
            at += 1;
            continue;
        }
        let word = at..at + len;
        at += len;
        let is_macro = text[word.clone()].contains(&b'_')
            && !text[word.clone()].iter().any(u8::is_ascii_lowercase)
            && text[word.clone()].iter().any(u8::is_ascii_uppercase);
        if !is_macro {
            continue;
        }
        let behind = text[at..].iter().copied().find(|byte| !byte.is_ascii_whitespace());
        let before = text[..word.start].iter().rev().copied().find(|byte| !byte.is_ascii_whitespace());
        if text[word.clone()].ends_with(b"_LAMBDA") && behind == Some(b'(') {
            text[word.clone()].fill(b' ');
            text[word.start..word.start + 3].copy_from_slice(b"[=]");
            changed = true;
        } else if behind.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            || before == Some(b')') && matches!(behind, Some(b'{' | b';' | b':'))
        {
            text[word].fill(b' ');
            changed = true;
        }
    }
    changed
}

/// How many parts of a tree the grammar does not know.
pub(super) fn count(tree: &Tree) -> usize {
    let mut count = 0;
    errors(tree, |_| count += 1);
    count
}

/// Goes to all that is unclear, passing over what is clear throughout.
fn errors(tree: &Tree, mut found: impl FnMut(Node<'_>)) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            found(node);
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// An error that is one word, or a word with arguments in parentheses.
fn odd_word(node: Node<'_>, text: &[u8]) -> Option<Range<usize>> {
    let bytes = text.get(node.byte_range())?;
    let word = bytes.iter().take_while(|byte| is_word(**byte)).count();
    let is_whole = word == bytes.len() || bytes.ends_with(b")") && bytes.get(word) == Some(&b'(');
    let starts = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    (starts && is_whole && !bytes.contains(&b'\n')).then(|| node.byte_range())
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Blanks lines such as `BEGIN_DECLS`, where no expression or list can be going on.
fn blank_lines(text: &mut [u8]) -> bool {
    let mut changed = false;
    let mut ends_something = true;
    let mut start = 0;
    while start < text.len() {
        let len =
            text[start..].iter().position(|byte| *byte == b'\n').map_or(text.len() - start, |end| end + 1);
        let line = &mut text[start..start + len];
        start += len;
        let trimmed = line.trim_ascii();
        let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        if ends_something
            && 3 < trimmed.len()
            && trimmed.iter().all(is_capital)
            && !trimmed[0].is_ascii_digit()
        {
            line.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
            changed = true;
        } else if let Some(last) = trimmed.last() {
            let is_directive = trimmed.starts_with(b"#") && !trimmed.ends_with(b"\\");
            ends_something = is_directive || matches!(last, b';' | b'}') || trimmed.ends_with(b"*/");
        }
    }
    changed
}
