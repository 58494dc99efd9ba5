//! What other files say that decides about a function: macros that hide a word before it, and directives that name it.
//!
//! The one idea: a head says `FAST_INLINE`, and what that is stands in a header; so what is defined anywhere in the tree is
//! known before anything is judged. Of macros from elsewhere the name must do.
//!
//! It expands nothing: any definition of a name counts, whatever condition it stands under.

use rustc_hash::{FxHashMap, FxHashSet};

use super::head;

/// What all files of C and C++ say.
#[derive(Debug, Default)]
pub(super) struct World {
    /// The words of definitions of macros, of all files that define them.
    macros: FxHashMap<Vec<u8>, Vec<Vec<u8>>>,
    /// Functions that directives name to be compiled for another device.
    devices: FxHashSet<Vec<u8>>,
}

/// More than definitions lie in one another.
const MOST_LEVELS: usize = 16;
/// More words than a macro has that stands before a function; longer ones are code.
const MOST_WORDS: usize = 64;

impl World {
    /// Takes what a file says.
    pub(super) fn add(&mut self, text: &[u8]) {
        let mut lines = text.split(|byte| *byte == b'\n');
        while let Some(line) = lines.next() {
            let Some(rest) = line.trim_ascii_start().strip_prefix(b"#") else { continue };
            let mut whole = rest.trim_ascii().to_vec();
            while whole.last() == Some(&b'\\') && whole.len() < 1 << 16 {
                whole.pop();
                whole.extend_from_slice(b" ");
                whole.extend_from_slice(lines.next().unwrap_or_default().trim_ascii());
            }
            let words = head::words(&whole);
            match words.as_slice() {
                [b"define", name, rest @ ..] => {
                    let known = self.macros.entry(name.to_vec()).or_default();
                    let rest = rest.iter().map(|word| word.to_vec());
                    known.extend(rest.take(MOST_WORDS.saturating_sub(known.len())));
                }
                [b"pragma", b"omp", b"declare", b"target", rest @ ..]
                | [b"pragma", b"omp", b"begin", b"declare", b"target", rest @ ..]
                | [b"pragma", b"acc", b"routine", rest @ ..] => {
                    self.devices.extend(rest.iter().map(|word| word.to_vec()));
                }
                _ => {}
            }
        }
    }

    /// The words of a head with those that its macros stand for.
    pub(super) fn expanded<'w>(&'w self, words: &[&'w [u8]]) -> Vec<&'w [u8]> {
        let mut all = words.to_vec();
        let mut seen: FxHashSet<&[u8]> = all.iter().copied().collect();
        let mut begun = 0;
        for _ in 0..MOST_LEVELS {
            let level: Vec<&[u8]> = all[begun..].to_vec();
            begun = all.len();
            for word in level.iter().filter_map(|word| self.macros.get(*word)).flatten() {
                if seen.insert(word) {
                    all.push(word);
                }
            }
        }
        all
    }

    /// Whether a directive names a function, by the last part of its name.
    pub(super) fn is_of_device(&self, name: &str) -> bool {
        name.rsplit("::").next().is_some_and(|last| self.devices.contains(last.as_bytes()))
    }
}

/// Lines of a text that are compiled for another device: those between `omp declare target` and its end.
pub(super) fn declared(text: &[u8]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    for (number, line) in (1_u32..).zip(text.split(|byte| *byte == b'\n')) {
        let Some(rest) = line.trim_ascii_start().strip_prefix(b"#") else { continue };
        match head::words(rest).as_slice() {
            [b"pragma", b"omp", b"end", b"declare", b"target"] => {
                found.extend(open.pop().map(|first| (first, number)));
            }
            [b"pragma", b"omp", b"begin", b"declare", b"target", ..] => open.push(number),
            [b"pragma", b"omp", b"declare", b"target"] => open.push(number),
            // Of the function that follows.
            [b"pragma", b"acc", b"routine", ..] => found.push((number, number + 3)),
            _ => {}
        }
    }
    found.extend(open.into_iter().map(|first| (first, u32::MAX)));
    found
}
