//! From the text of a file to its tree.
//!
//! The one idea: the parser is given so many steps, not so much time, so that equal text gives equal trees on every machine.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::attributes;
use super::continued;
use super::fixed_form;
use super::fortran_macros;
use super::grammar::Grammar;
use super::language::Language;
use super::references;
use super::torn;

/// The parser asks every hundred steps whether to go on. Usual text takes one question for some hundred bytes; what takes
/// fifty times as many is made to be hard.
const BYTES_A_QUESTION: u64 = 8;
/// Small files may be hard.
const LEAST_QUESTIONS: u64 = 20_000;
/// Texts with blanks that are tried at most, beside that with one branch of each condition.
const MOST_TRIES: usize = 3;

/// A tree, and the text that it was made of: as long in lines as the file.
pub(super) struct Parsed<'t> {
    pub(super) tree: Tree,
    pub(super) text: Cow<'t, [u8]>,
    /// The tree of the text as it stands, where another text is better; and which lines have nothing in that.
    pub(super) whole: Option<(Tree, Cow<'t, [u8]>, Vec<bool>)>,
}

/// Parses a text; `None` = that would take too long.
pub(super) fn parse<'t>(parser: &mut Parser, text: &'t [u8], language: Language) -> Option<Parsed<'t>> {
    parser.set_language(&Grammar::of(language).language).ok()?;
    let mut text = Cow::Borrowed(text);
    if language == Language::FixedFortran {
        text = Cow::Owned(fixed_form::to_free(&text));
    }
    // An image may stand in another line than its array.
    if matches!(language, Language::Fortran | Language::FixedFortran)
        && references::may_have_any(&text)
        && let Some(blank) = continued::without_comments(&text)
    {
        text = Cow::Owned(blank);
    }
    if matches!(language, Language::C | Language::Cpp)
        && let Some(ended) = without_endless_comment(&text)
    {
        text = Cow::Owned(ended);
    }
    if language == Language::Cpp && has_endless_arguments(&text) {
        return None;
    }
    let tree = tree(parser, &text)?;
    let mut best = Parsed { tree, text, whole: None };
    if language == Language::Rust || !best.tree.root_node().has_error() {
        return Some(best);
    }
    let mut unclear = torn::count(&best.tree);
    if let Some(text) = torn::main_branches(&best.text) {
        let (whole, whole_text) = (best.tree.clone(), best.text.clone());
        if keep_better(parser, &mut best, &mut unclear, text) {
            let blanked = torn::blanked(&whole_text, &best.text);
            best.whole = Some((whole, whole_text, blanked));
        }
    }
    if matches!(language, Language::Fortran | Language::FixedFortran)
        && let Some(text) = fortran_macros::without(&best.text)
    {
        keep_better(parser, &mut best, &mut unclear, text);
    }
    if matches!(language, Language::C | Language::Cpp)
        && let Some(text) = attributes::without(&best.text).filter(|_| unclear != 0)
    {
        keep_better(parser, &mut best, &mut unclear, text);
    }
    for _ in 0..MOST_TRIES {
        let Some(text) = torn::without_odd_words(&best.text, &best.tree).filter(|_| unclear != 0) else {
            break;
        };
        if !keep_better(parser, &mut best, &mut unclear, text) {
            break;
        }
    }
    Some(best)
}

/// Takes a text if less of it is unclear.
fn keep_better(parser: &mut Parser, best: &mut Parsed<'_>, unclear: &mut usize, text: Vec<u8>) -> bool {
    let Some(tree) = tree(parser, &text) else { return false };
    let count = torn::count(&tree);
    let is_better = count < *unclear;
    if is_better {
        *unclear = count;
        (best.tree, best.text) = (tree, Cow::Owned(text));
    }
    is_better
}

fn tree(parser: &mut Parser, text: &[u8]) -> Option<Tree> {
    let mut questions = LEAST_QUESTIONS.saturating_add(text.len() as u64 / BYTES_A_QUESTION);
    let mut go_on = |_: &tree_sitter::ParseState| {
        questions = questions.saturating_sub(1);
        if questions == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut read = |at: usize, _| text.get(at..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if tree.is_none() {
        // Or else it would go on where it was stopped.
        parser.reset();
    }
    tree
}

/// Beginnings of comments behind the last end of one. The parser looks for the end from each of them anew; people have one
/// such beginning at most, or none but in texts.
const MOST_OPEN_COMMENTS: usize = 64;

/// The text without a comment that never ends, in which there are many beginnings of others.
fn without_endless_comment(text: &[u8]) -> Option<Vec<u8>> {
    let ended = text.windows(2).rposition(|pair| pair == b"*/").map_or(0, |at| at + 2);
    let mut open = text[ended..].windows(2).enumerate().filter(|(_, pair)| *pair == b"/*").map(|(at, _)| at);
    let first = ended + open.next()?;
    (open.count() >= MOST_OPEN_COMMENTS).then(|| {
        let mut kept = text.to_vec();
        kept[first..].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        kept
    })
}

/// Arguments of templates in arguments of templates, as `a<a<a<…`: the parser compares whole trees for each, which takes
/// minutes for ten thousand, and no step is too long for its being asked. People nest some ten.
const MOST_ARGUMENTS: usize = 1000;

fn has_endless_arguments(text: &[u8]) -> bool {
    let (mut nested, mut before) = (0, b' ');
    for byte in text {
        match byte {
            b'<' if before.is_ascii_alphanumeric() || before == b'_' => nested += 1,
            b':' | b'_' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            _ => nested = 0,
        }
        if MOST_ARGUMENTS < nested {
            return true;
        }
        before = *byte;
    }
    false
}
