//! The text of a guard, and the text of a file with guards.
//!
//! The one idea: a guard stands on the line of the brace that it follows and has no line of its own, so that every line of a
//! file keeps its number. What it calls is declared on a line that is there, and defined at the end of the file: in C in the
//! guard itself, in C++ before the outermost part of the file that it lies in.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use marey_source::text::Language;

use super::choose::{Chosen, Guarded};

/// What stands at the end of each file of C and C++ with guards.
const DEFINITIONS: &str = include_str!("../../../marey-collect/include/marey_instrument.h");

/// The crate whose guards stand in files of Rust.
pub(super) const CRATE: &str = include_str!("../../../marey-collect/include/marey_instrument.rs");

/// What is told where a source is not what it was when it was parsed.
const CHANGED: &str = "it was changed while it was read; try again";

/// The text of a file with its guards.
///
/// # Errors
/// If the text is not the one that the places are of.
pub(super) fn with_guards(
    text: &[u8],
    path: &Path,
    language: Language,
    guards: &[Guarded],
) -> Result<Vec<u8>, &'static str> {
    let mut edits: Vec<(usize, Order, String)> = Vec::new();
    let file = fnv1a(path.as_os_str().as_encoded_bytes());
    for (number, it) in guards.iter().enumerate() {
        let guard = guard(language, file, number, it);
        let (first, end) = (it.bytes.first as usize, it.bytes.end as usize);
        match it.what {
            Chosen::Function => edits.push((first, Order::Function, guard)),
            Chosen::Loop => {
                edits.push((first, Order::Begin, format!("{{{guard}")));
                edits.push((end, Order::End, "}".to_owned()));
            }
        }
    }
    if language == Language::Cpp {
        let items: BTreeSet<usize> = guards.iter().map(|it| before_item(text, it.item as usize)).collect();
        edits.extend(items.into_iter().map(|item| (item, Order::Item, declarations())));
    }
    edits.sort_by_key(|edit| (edit.0, edit.1));
    let mut out = Vec::with_capacity(text.len() + guards.len() * 512 + DEFINITIONS.len());
    let mut at = 0;
    for (place, _, edit) in &edits {
        out.extend_from_slice(text.get(at..*place).ok_or(CHANGED)?);
        out.extend_from_slice(edit.as_bytes());
        at = *place;
    }
    out.extend_from_slice(&text[at..]);
    if language != Language::Rust {
        if out.last() != Some(&b'\n') {
            out.push(b'\n');
        }
        out.extend_from_slice(without_comments(DEFINITIONS).as_bytes());
    }
    Ok(out)
}

/// What comes first of two at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    End,
    Item,
    Function,
    Begin,
}

/// The statements that enter a region which is left with the block around them.
fn guard(language: Language, file: u32, number: usize, it: &Guarded) -> String {
    let line = it.line;
    if language == Language::Rust {
        // In the edition of 2015 a crate is known where it is named.
        return format!(
            " extern crate marey_instrument as marey_i_; marey_i_::guard!({:?}, {line});",
            it.name
        );
    }
    let (name, n) = (as_literal(&it.name), number);
    let site =
        format!("static struct{{const char*n,*f;unsigned l,i;}}marey_s{n}={{{name},__FILE__,{line},0}};");
    if language == Language::Cpp {
        // Not `cleanup` as in C: behind a directive `using` GCC does not find the function there.
        return format!(
            "{site}struct marey_c{n}{{void*g;~marey_c{n}(){{{LEAVE}(&g);}}}}marey_g{n}={{{ENTER}(&marey_s{n})}};"
        );
    }
    // Functions have names of their own in each guard: C++ may include the file with linkage of C and without. (C++ itself
    // would take them for functions of a namespace without a name.)
    let own = format!("{file:08x}_{n}");
    format!(
        "{site}{PUSH}_Pragma(\"GCC diagnostic ignored \\\"-Wpragmas\\\"\")\
         _Pragma(\"GCC diagnostic ignored \\\"-Wnested-externs\\\"\")\
         extern void*marey_e{own}(void*)__asm__(\"{ENTER}\"){SHARED};\
         extern void marey_l{own}(void*)__asm__(\"{LEAVE}\"){SHARED};{POP}\
         void*marey_g{n} __attribute__((__cleanup__(marey_l{own}),__unused__))=marey_e{own}(&marey_s{n});"
    )
}

const ENTER: &str = "marey_instrument_enter";
const LEAVE: &str = "marey_instrument_leave";
const SHARED: &str = "__attribute__((__weak__,__visibility__(\"hidden\")))";
const PUSH: &str = "_Pragma(\"GCC diagnostic push\")";
const POP: &str = "_Pragma(\"GCC diagnostic pop\")";

/// What stands before each outermost part of a file of C++ with guards.
fn declarations() -> String {
    format!(
        "{PUSH}_Pragma(\"GCC diagnostic ignored \\\"-Wredundant-decls\\\"\")\
         extern \"C\"{{void*{ENTER}(void*){SHARED};void {LEAVE}(void*){SHARED};}}{POP}"
    )
}

/// Where something can be declared before a part of a file that begins at `item`: behind what ends something. Words before
/// it that the grammar does not know belong to it.
fn before_item(text: &[u8], item: usize) -> usize {
    /// Lines of such words; more are none.
    const MOST: usize = 8;
    let mut at = item.min(text.len());
    for _ in 0..MOST {
        let before = text[..at].trim_ascii_end();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before[start..].trim_ascii_start();
        // A directive may have gone on behind a backslash.
        let is_continued = before[..start].trim_ascii_end().ends_with(b"\\");
        let ends = line.is_empty()
            || is_continued
            || line.starts_with(b"#")
            || line.starts_with(b"//")
            || matches!(line.last(), Some(b';' | b'}' | b'{'))
            || line.ends_with(b"*/");
        if ends {
            return at;
        }
        at = before.len() - line.len();
    }
    item
}

/// A text as a literal of C.
fn as_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' if byte != b'?' => out.push(char::from(byte)),
            // Three digits end by themselves; question marks may be parts of trigraphs.
            _ => write!(out, "\\{byte:03o}").expect("a string takes everything"),
        }
    }
    out.push('"');
    out
}

/// A number for a text.
fn fnv1a(text: &[u8]) -> u32 {
    text.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The lines of a text of C without comments, of which none stands in a literal there.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("/*") {
        out.push_str(before);
        rest = behind.split_once("*/").map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    let lines = out.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}
