//! Expressions whose values say which elements, and which image, a reference means.
//!
//! The one idea: what the text says of such a value, a run need not be asked for: a number, a named constant, and sums and
//! products of these. All else is a symbol, of which runs tell. Source: the symbolic records of Fortran D and Pablo.
//!
//! Deliberately absent: named constants of other files, and of the procedure that an internal one lies in; and selectors of
//! images with several subscripts, a team or a status.

use tree_sitter::Node;

use super::facts::{Symbol, SymbolEnd};
use super::subscripts::Linear;
use super::walk::{Walk, number};

/// An expression, and what it says if constants have been looked up.
pub(super) struct Written {
    symbol: Symbol,
    linear: Option<Linear>,
}

/// Notes which names a declaration declares, and which of them are constants.
pub(super) fn declaration(walk: &mut Walk<'_>, node: Node<'_>) {
    let function = walk.context().function;
    let mut cursor = node.walk();
    let is_constant = node
        .named_children(&mut cursor)
        .any(|it| it.kind() == "type_qualifier" && walk.str(it).eq_ignore_ascii_case("parameter"));
    let mut cursor = node.walk();
    for declared in node.children_by_field_name("declarator", &mut cursor) {
        let (name, value) = match declared.kind() {
            "init_declarator" => {
                let value = declared.child_by_field_name("right").and_then(|it| Linear::of(it, walk.text));
                (declared.child_by_field_name("left"), value.filter(|_| is_constant))
            }
            "identifier" => (Some(declared), None),
            _ => (declared.named_child(0), None),
        };
        let Some(name) = name.filter(|it| it.kind() == "identifier") else { continue };
        let value = value.and_then(|it| worth(walk, function, &it));
        let name = walk.str(name).to_ascii_lowercase();
        walk.constants.insert((function, name), value);
    }
}

/// What an expression is worth in a procedure, if the text says so.
fn worth(walk: &Walk<'_>, function: Option<u32>, linear: &Linear) -> Option<i64> {
    linear.worth(&|name| {
        let of = |function| walk.constants.get(&(function, name.to_owned()));
        *of(function).or_else(|| of(None))?
    })
}

/// The expressions of a reference, as written.
pub(super) fn of(walk: &mut Walk<'_>, subscripts: &[Node<'_>], image: Option<Node<'_>>) -> Vec<Written> {
    let mut found = Vec::new();
    for (place, node) in subscripts.iter().enumerate() {
        let place = number(place);
        if node.kind() != "extent_specifier" {
            found.push(written(walk, *node, SymbolEnd::Subscript, place));
            continue;
        }
        let mut colons = 0_usize;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.kind() == ":" {
                colons += 1;
                continue;
            }
            let ends = [SymbolEnd::Lower, SymbolEnd::Upper, SymbolEnd::Step];
            if let Some(end) = ends.get(colons).filter(|_| child.is_named()) {
                found.push(written(walk, child, *end, place));
            }
        }
    }
    if let Some(image) = image.filter(|it| it.named_child_count() == 1)
        && let Some(one) = image.named_child(0).filter(|it| it.kind() != "keyword_argument")
    {
        found.push(written(walk, one, SymbolEnd::Image, 0));
    }
    found
}

fn written(walk: &mut Walk<'_>, node: Node<'_>, end: SymbolEnd, subscript: u32) -> Written {
    let text = walk.str(node);
    let text = super::references::on_one_line(&text);
    let linear = Linear::of(node, walk.text);
    Written { symbol: Symbol { end, subscript, text: walk.add(&text), value: None }, linear }
}

/// The same with what constants make of them, once all of a file are known.
pub(super) fn worked_out(walk: &Walk<'_>, function: Option<u32>, all: &[Written]) -> Vec<Symbol> {
    let value = |it: &Written| it.linear.as_ref().and_then(|it| worth(walk, function, it));
    all.iter().map(|it| Symbol { value: value(it), ..it.symbol.clone() }).collect()
}
