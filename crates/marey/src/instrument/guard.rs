//! The text of a guard, and the text of a file with guards.
//!
//! The one idea: a guard stands on the line of the brace that it follows and has no line of its own, so that every line of a
//! file keeps its number. So it declares what it calls by itself; the definitions stand at the end of the file.

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

/// Whether a text has guards: their numbers begin at 0. Written apart, for this is no text with guards.
pub(super) fn has_guards(text: &[u8]) -> bool {
    let marks = [
        ["unsigned l,i;}marey_s", "0="],
        ["extern crate marey_instrument as marey_i_; marey_i_::guard!(", "\""],
    ];
    marks
        .iter()
        .map(|mark| mark.concat())
        .any(|mark| text.windows(mark.len()).any(|it| it == mark.as_bytes()))
}

/// What comes first of two at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    End,
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
        return format!("{site}{}", object(n));
    }
    // Functions have names of their own in each guard: C++ may include the file with linkage of C and without.
    let (enter, leave) = (format!("marey_e{file:08x}_{n}"), format!("marey_l{file:08x}_{n}"));
    format!(
        "{site}_Pragma(\"GCC diagnostic push\")_Pragma(\"GCC diagnostic ignored \\\"-Wpragmas\\\"\")\
         _Pragma(\"GCC diagnostic ignored \\\"-Wnested-externs\\\"\")\
         extern void*{enter}(void*)__asm__(\"{ENTER}\"){SHARED};extern void {leave}(void*)__asm__(\"{LEAVE}\"){SHARED};\
         _Pragma(\"GCC diagnostic pop\")\
         void*marey_g{n} __attribute__((__cleanup__({leave}),__unused__))={enter}(&marey_s{n});"
    )
}

const ENTER: &str = "marey_instrument_enter";
const LEAVE: &str = "marey_instrument_leave";
const SHARED: &str = "__attribute__((__weak__,__visibility__(\"hidden\")))";

/// An object that enters and leaves. C++ can declare a function of C only outside of all functions, which is a place that
/// text does not show surely; what is declared in a function is lost in templates (GCC) and in namespaces without a name. So
/// the linker is asked for the address.
fn object(n: usize) -> String {
    let address =
        |function: &str, to: &str| format!("__asm__(\"movq {function}@GOTPCREL(%%rip),%0\":\"=r\"({to}));");
    let (enter, leave) = (address(ENTER, "e"), address(LEAVE, "l"));
    format!(
        "struct marey_c{n}{{void*g;static void*a(void*s){{void*(*e)(void*);{enter}return e(s);}}\
         ~marey_c{n}(){{if(g){{void(*l)(void*);{leave}l(&g);}}}}}}marey_g{n}={{marey_c{n}::a(&marey_s{n})}};"
    )
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
pub(super) fn fnv1a(text: &[u8]) -> u32 {
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
