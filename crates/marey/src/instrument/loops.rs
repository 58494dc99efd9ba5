//! Which loops can have a guard around them.
//!
//! The one idea: a guard makes a block of a loop, so nothing may lead into it but its beginning, and nothing before it may
//! be about the loop alone.

use marey_source::text::{Bytes, Language, Lines, Loop, LoopKind, Mark, MarkKind};

use super::before::{before, outer};
use super::head;

/// What a file says that loops must be looked at with.
pub(super) struct Surroundings<'t> {
    pub(super) text: &'t [u8],
    /// Of the file, in the order of the text.
    pub(super) marks: &'t [&'t Mark],
    /// Lines of constructs that may run on another device.
    pub(super) devices: &'t [Lines],
    language: Language,
    /// The bytes of loops that a directive has, or may have, more than one level of.
    nests: Vec<Bytes>,
}

impl<'t> Surroundings<'t> {
    pub(super) fn new(
        text: &'t [u8],
        language: Language,
        marks: &'t [&'t Mark],
        devices: &'t [Lines],
        loops: &[&Loop],
    ) -> Self {
        let mut nests = Vec::new();
        for bytes in loops.iter().filter_map(|it| it.bytes).filter(|_| language != Language::Rust) {
            if begins_nest(text, bytes.first) {
                nests.push(bytes);
            }
        }
        Self { text, marks, devices, language, nests }
    }

    /// Why a loop of a function, whose bytes are given, can have no guard.
    pub(super) fn refusal(&self, it: &Loop, function: Bytes) -> Option<&'static str> {
        let Some(bytes) = it.bytes else {
            return Some(match it.kind {
                LoopKind::Iterator => "it is a method of an iterator, and no statement",
                _ => "it stands within a macro",
            });
        };
        let end = bytes.end.checked_sub(1).and_then(|last| self.text.get(last as usize));
        if !matches!(end, Some(b'}' | b';')) {
            return Some("its end is not clear");
        }
        if self.language != Language::Rust {
            let before = before(self.text, bytes.first);
            if !before.directives.is_empty() {
                return Some("the directive before it is about the loop itself");
            }
            if before.is_unclear {
                return Some("what stands before it may be a macro for a directive");
            }
        }
        let around = |at: &u32| outer(self.text, *at);
        let mut around = std::iter::successors(Some(bytes.first), around).skip(1).take(MOST_LEVELS);
        let is_in_nest = self.language != Language::Rust && around.any(|at| begins_nest(self.text, at));
        if is_in_nest || self.nests.iter().any(|nest| nest.has(bytes.first)) {
            return Some("a directive is about the nest that it is part of");
        }
        let is_around = |lines: &Lines| lines.first < it.lines.first && it.lines.last <= lines.last;
        if self.devices.iter().any(is_around) {
            return Some("it may run on another device");
        }
        if self.language != Language::Rust
            && self.text.get(bytes.first as usize..bytes.end as usize).is_some_and(head::has_tail_call)
        {
            return Some(head::TAIL_CALL);
        }
        self.jump(bytes, function)
    }

    fn jump(&self, bytes: Bytes, function: Bytes) -> Option<&'static str> {
        let from = self.marks.partition_point(|mark| mark.at < function.first);
        let marks = self.marks[from..].iter().take_while(|mark| mark.at < function.end);
        let (inside, outside): (Vec<&Mark>, Vec<&Mark>) = marks.copied().partition(|mark| bytes.has(mark.at));
        let is_constant = |mark: &&Mark| matches!(mark.kind, MarkKind::Constant(end) if mark.at <= bytes.first && bytes.end <= end);
        if outside.iter().any(is_constant) {
            return Some("in a constant: it runs in the compiler");
        }
        let has_label = inside.iter().any(|mark| matches!(mark.kind, MarkKind::Label(_)));
        let text = self.text.get(function.first as usize..function.end as usize).unwrap_or_default();
        if has_label && jumps_anywhere(text) {
            return Some("its function jumps to where an expression says");
        }
        for mark in &inside {
            match mark.kind {
                MarkKind::Pause => return Some("it may pause, and go on in another thread"),
                MarkKind::Case(switch) if !bytes.has(switch) => return Some("a case leads into it"),
                MarkKind::Label(label) if outside.iter().any(|it| it.kind == MarkKind::Jump(label)) => {
                    return Some("a goto leads into it");
                }
                _ => {}
            }
        }
        None
    }
}

/// Words of directives about several loops that lie in one another.
const NESTS: [&[u8]; 4] = [b"collapse", b"ordered", b"tile", b"interchange"];

/// More loops than lie in one another.
const MOST_LEVELS: usize = 32;

/// Whether what stands before a loop is, or may be, about several levels of it.
fn begins_nest(text: &[u8], at: u32) -> bool {
    let before = before(text, at);
    let is_nest = |directive: &&[u8]| NESTS.iter().any(|word| has(directive, word));
    before.is_unclear || before.directives.iter().any(is_nest)
}

/// Whether a function has a `goto *`, which the grammar does not know.
fn jumps_anywhere(text: &[u8]) -> bool {
    const WORD: &[u8] = b"goto";
    let words = text.windows(WORD.len()).enumerate().filter(|(_, word)| *word == WORD);
    words.into_iter().any(|(at, _)| text[at + WORD.len()..].trim_ascii_start().starts_with(b"*"))
}

fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
