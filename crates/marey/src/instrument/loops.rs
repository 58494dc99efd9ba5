//! Which loops can have a guard around them.
//!
//! The one idea: a guard makes a block of a loop, so nothing may lead into it but its beginning, and nothing before it may
//! be about the loop alone.

use marey_source::text::{Bytes, Lines, Loop, LoopKind, Mark, MarkKind};

/// What a file says that loops must be looked at with.
pub(super) struct Surroundings<'t> {
    pub(super) text: &'t [u8],
    /// Of the file, in the order of the text.
    pub(super) marks: &'t [&'t Mark],
    /// Lines of constructs that may run on another device.
    pub(super) devices: &'t [Lines],
    /// The bytes of loops that a directive has more than one level of.
    nests: Vec<Bytes>,
}

impl<'t> Surroundings<'t> {
    pub(super) fn new(text: &'t [u8], marks: &'t [&'t Mark], devices: &'t [Lines], loops: &[&Loop]) -> Self {
        let mut nests = Vec::new();
        for bytes in loops.iter().filter_map(|it| it.bytes) {
            if directive(text, bytes.first)
                .is_some_and(|directive| NESTS.iter().any(|word| has(directive, word)))
            {
                nests.push(bytes);
            }
        }
        Self { text, marks, devices, nests }
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
        if directive(self.text, bytes.first).is_some() {
            return Some("the directive before it is about the loop itself");
        }
        if self.nests.iter().any(|nest| nest.has(bytes.first)) {
            return Some("a directive is about the nest that it is part of");
        }
        let is_around = |lines: &Lines| lines.first < it.lines.first && it.lines.last <= lines.last;
        if self.devices.iter().any(is_around) {
            return Some("it may run on another device");
        }
        self.jump(bytes, function)
    }

    fn jump(&self, bytes: Bytes, function: Bytes) -> Option<&'static str> {
        let from = self.marks.partition_point(|mark| mark.at < function.first);
        let marks = self.marks[from..].iter().take_while(|mark| mark.at < function.end);
        let (inside, outside): (Vec<&Mark>, Vec<&Mark>) = marks.copied().partition(|mark| bytes.has(mark.at));
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
const NESTS: [&[u8]; 3] = [b"collapse", b"ordered", b"tile"];

/// The directive that stands directly before a place, if there is one.
fn directive(text: &[u8], at: u32) -> Option<&[u8]> {
    let before = text.get(..at as usize)?;
    // Only blanks and comments may stand between.
    let mut end = before.trim_ascii_end();
    loop {
        let start = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = end[start..].trim_ascii();
        let comment = if line.starts_with(b"//") {
            Some(start)
        } else if end.ends_with(b"*/") {
            end.windows(2).rposition(|begin| begin == b"/*")
        } else if is_condition(line) {
            // A directive may stand under a condition.
            Some(start)
        } else {
            None
        };
        if let Some(comment) = comment {
            end = end[..comment].trim_ascii_end();
            continue;
        }
        // A directive goes on in the next line behind a backslash.
        let mut first = start;
        while let Some(above) =
            end[..first].strip_suffix(b"\n").filter(|above| above.trim_ascii_end().ends_with(b"\\"))
        {
            first = above.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        }
        let whole = end[first..].trim_ascii();
        let is_directive =
            whole.strip_prefix(b"#").is_some_and(|it| it.trim_ascii_start().starts_with(b"pragma"));
        let is_operator = line.starts_with(b"_Pragma") && line.ends_with(b")");
        return (is_directive || is_operator).then_some(whole);
    }
}

/// Whether a function has a `goto *`, which the grammar does not know.
fn jumps_anywhere(text: &[u8]) -> bool {
    const WORD: &[u8] = b"goto";
    let words = text.windows(WORD.len()).enumerate().filter(|(_, word)| *word == WORD);
    words.into_iter().any(|(at, _)| text[at + WORD.len()..].trim_ascii_start().starts_with(b"*"))
}

fn is_condition(line: &[u8]) -> bool {
    let Some(directive) = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start) else { return false };
    [&b"if"[..], b"el", b"endif"].iter().any(|word| directive.starts_with(word))
}

fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
