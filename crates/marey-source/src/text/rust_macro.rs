//! Calls and loops in the arguments of macros of Rust, which are not parsed.
//!
//! The one idea: `name ( … )` is a call and `for … in … { … }` a loop in nearly every macro, whatever it makes of them.
//! Bodies of `macro_rules!` are left out: they are patterns of code that stands elsewhere.

use tree_sitter::Node;

use super::facts::{CallKind, Lines, LoopKind, MarkKind};
use super::walk::{Walk, line};

/// Opens the loop whose body these tokens are.
pub(super) fn token_loop(walk: &mut Walk<'_>, node: Node<'_>) {
    if let Some((kind, first)) = walk.token_loops.remove(&node.start_byte()) {
        let last = walk.lines(node).last;
        walk.loop_(kind, Lines { first, last }, None);
    }
}

/// Looks for calls and loops among tokens.
pub(super) fn tokens(walk: &mut Walk<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    // What stands before: a name with its path, and the sign before that.
    let mut path = String::new();
    let mut at = None;
    let mut before = Before::Nothing;
    let mut begun: Option<(LoopKind, u32)> = None;
    let mut may_begin = true;
    for token in node.children(&mut cursor).collect::<Vec<_>>() {
        match token.kind() {
            "identifier" | "self" | "super" | "crate" | "type_identifier" => {
                if !path.is_empty() && !path.ends_with("::") {
                    before = Before::Name;
                    path.clear();
                }
                path.push_str(&walk.str(token));
                at = Some(token);
                continue;
            }
            "::" if !path.is_empty() => {
                path.push_str("::");
                continue;
            }
            "token_tree" => {
                let opens = walk.bytes(token).first().copied();
                if let Some(at) = at.filter(|_| opens == Some(b'(')) {
                    called(walk, &path, at, before);
                }
                if opens == Some(b'{')
                    && let Some(begun) = begun.take()
                {
                    walk.token_loops.insert(token.start_byte(), begun);
                }
            }
            "for" => begun = Some((LoopKind::ForEach, line(token))),
            "while" => begun = Some((LoopKind::While, line(token))),
            "loop" => begun = Some((LoopKind::Endless, line(token))),
            // `for<'a>`, `impl T for S {`.
            "<" if may_begin => begun = None,
            _ => {}
        }
        may_begin = token.kind() == "for";
        // A dot is no node of its own in tokens; the text before a name has it.
        before = match token.kind() {
            "fn" => Before::Definition,
            "!" => Before::Bang,
            _ => Before::Nothing,
        };
        if token.kind() == "!" && !path.is_empty() && at.is_some() {
            before = Before::Bang;
            continue;
        }
        path.clear();
        at = None;
    }
}

/// Marks functions with a body among tokens.
pub(super) fn definitions(walk: &mut Walk<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    let (mut is_behind_fn, mut begun) = (false, None);
    for token in node.children(&mut cursor).collect::<Vec<_>>() {
        match token.kind() {
            "identifier" | "metavariable" if is_behind_fn => begun = Some(token),
            "token_tree" if walk.bytes(token).first() == Some(&b'{') => {
                if let Some(at) = begun.take() {
                    let name = walk.str(at);
                    let name = walk.add(&name);
                    let is_pattern = walk.context().is_pattern;
                    let kind = if is_pattern { MarkKind::InPattern(name) } else { MarkKind::InMacro(name) };
                    walk.mark(kind, at.start_byte(), line(at));
                }
            }
            ";" => begun = None,
            _ => {}
        }
        is_behind_fn = token.kind() == "fn";
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Name,
    Definition,
    Bang,
}

fn called(walk: &mut Walk<'_>, path: &str, at: Node<'_>, before: Before) {
    let last = path.rsplit("::").next().unwrap_or(path);
    if last.starts_with(char::is_uppercase)
        || before == Before::Definition
        || matches!(last, "in" | "if" | "match")
    {
        return;
    }
    let kind = match before {
        Before::Bang => CallKind::Macro,
        _ => {
            let start = at.start_byte();
            let is_member =
                walk.text.get(..start).is_some_and(|text| text.ends_with(b".")) && !path.contains("::");
            if is_member { CallKind::Member } else { CallKind::Direct }
        }
    };
    walk.call(path, kind, line(at));
}
