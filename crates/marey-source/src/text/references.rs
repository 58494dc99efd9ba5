//! References to elements that other images have, and to the same arrays where an image has them itself.
//!
//! The one idea: `u(i)[p]` says in the text what no run can say: that these elements lie elsewhere, and which expressions
//! decide which and where. All references to coarrays of a file are kept until it has been read, since only then it is
//! known which arrays are asked of other images.
//!
//! Deliberately absent: arrays of files without such a reference; whole arrays that are named in conditions and
//! input or output.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::dependences::{self, Around, Place};
use super::facts::Reference;
use super::subscripts::{Counter, Linear, Subscript, Variables};
use super::symbols::{self, Written};
use super::walk::{Walk, line, number};
use crate::texts::Text;

/// A reference of which it is not known yet whether somebody wants to know it.
pub(super) struct Found {
    place: Place,
    /// Variables that its subscripts name.
    names: Vec<String>,
    /// What says which image, and which variables stand in that; `None` = it names none.
    image: Option<(Text, Vec<String>)>,
    /// What its subscripts and its image are written as; none if it names no image.
    symbols: Vec<Written>,
}

/// Expressions that are deeper are not looked into: trees are as deep as the text has it.
const DEEPEST: u32 = 200;

/// So many references to the same array before and behind one are asked for being its other end.
const NEAR: usize = 256;

/// What is done with a reference.
#[derive(Clone, Copy)]
struct Done {
    reads: bool,
    writes: bool,
}

const READ: Done = Done { reads: true, writes: false };
const WRITTEN: Done = Done { reads: false, writes: true };
/// What a procedure does with an argument, the call does not say.
const PASSED: Done = Done { reads: true, writes: true };

/// Whether a text can have coarrays at all: most have none, and are not to pay for it.
pub(super) fn may_have_any(text: &[u8]) -> bool {
    text.contains(&b'[')
}

/// Notes that a variable is given a value, or may be, in all loops around and in the procedure.
fn set(walk: &mut Walk<'_>, name: &str, is_passed: bool) {
    let context = walk.context();
    let mut at = context.within;
    let add = |variables: &mut Variables| {
        let names = if is_passed { &mut variables.passed } else { &mut variables.assigned };
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    };
    add(walk.of_functions.entry(context.function).or_default());
    while let Some(row) = at {
        add(walk.variables.entry(row).or_default());
        at = walk.out.loops.get(row as usize).and_then(|it| it.parent).filter(|parent| *parent < row);
    }
}

/// Takes the variables of a `read`.
pub(super) fn input(walk: &mut Walk<'_>, node: Node<'_>) {
    let mut names = Vec::new();
    identifiers(walk, node, &mut names, 0);
    names.iter().for_each(|name| set(walk, name, false));
}

/// Takes the references of an assignment.
pub(super) fn assignment(walk: &mut Walk<'_>, node: Node<'_>) {
    walk.statement = node.start_byte();
    if let Some(left) = node.child_by_field_name("left") {
        if left.kind() == "identifier" {
            let name = walk.str(left).to_ascii_lowercase();
            set(walk, &name, false);
        }
        reference(walk, left, WRITTEN, 0);
    }
    if let Some(right) = node.child_by_field_name("right") {
        within(walk, right, READ, 0);
    }
}

/// Takes the references of a call's arguments.
pub(super) fn call(walk: &mut Walk<'_>, node: Node<'_>) {
    walk.statement = node.start_byte();
    let mut cursor = node.walk();
    for list in node.named_children(&mut cursor).filter(|it| it.kind() == "argument_list") {
        arguments(walk, list, PASSED, 0);
    }
}

/// Takes the references of an expression that stands somewhere else, if it names an image: nobody else has told of it.
pub(super) fn elsewhere(walk: &mut Walk<'_>, node: Node<'_>) {
    if walk.told_images.contains(&node.end_byte()) {
        return;
    }
    let begins_with = |it: &Node<'_>, of: &Node<'_>| is_part(*it) && it.named_child(0) == Some(*of);
    let whole = std::iter::successors(Some(node), |of| of.parent().filter(|it| begins_with(it, of))).last();
    walk.statement = node.start_byte();
    reference(walk, whole.unwrap_or(node), READ, 0);
}

/// The first byte of a reference to another image: in `t + u(i)[p]` the grammar takes the image to be the sum's.
pub(super) fn begins(node: Node<'_>) -> usize {
    fn last_operand(of: Node<'_>) -> Option<Node<'_>> {
        of.named_child(of.named_child_count().checked_sub(1)?.try_into().ok()?)
    }
    let mut at = node;
    for _ in 0..DEEPEST {
        let inside = match at.kind() {
            kind if is_operation(kind) => last_operand(at),
            _ if is_part(at) => at.named_child(0),
            _ => None,
        };
        let Some(inside) = inside else { break };
        at = inside;
    }
    at.start_byte()
}

fn is_operation(kind: &str) -> bool {
    matches!(
        kind,
        "math_expression"
            | "unary_expression"
            | "relational_expression"
            | "logical_expression"
            | "concatenation_expression"
    )
}

/// Whether a node is a variable, or a part of one.
fn is_part(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "identifier" | "call_expression" | "coarray_expression" | "derived_type_member_expression"
    )
}

fn arguments(walk: &mut Walk<'_>, list: Node<'_>, done: Done, depth: u32) {
    let mut cursor = list.walk();
    for argument in list.named_children(&mut cursor) {
        let value = argument.child_by_field_name("value").filter(|_| argument.kind() == "keyword_argument");
        let it = value.unwrap_or(argument);
        if is_part(it) {
            if it.kind() == "identifier" {
                let name = walk.str(it).to_ascii_lowercase();
                set(walk, &name, true);
            }
            reference(walk, it, done, depth);
        } else {
            within(walk, it, READ, depth);
        }
    }
}

/// Takes what an expression refers to.
fn within(walk: &mut Walk<'_>, node: Node<'_>, done: Done, depth: u32) {
    if depth > DEEPEST {
        return;
    }
    if is_part(node) {
        return reference(walk, node, done, depth);
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        within(walk, child, done, depth + 1);
    }
}

/// Takes a reference, and those in its subscripts.
fn reference(walk: &mut Walk<'_>, node: Node<'_>, done: Done, depth: u32) {
    if depth > DEEPEST {
        return;
    }
    let mut parts = Parts { begins: node.start_byte(), line: line(node), ..Parts::default() };
    parts.take(walk, node, 0);
    if !parts.name.is_empty() {
        let text = walk.text.get(parts.begins..node.end_byte()).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        let text = on_one_line(&text);
        let (name, text) = (walk.add(&parts.name.to_ascii_lowercase()), walk.add(&text));
        let symbols = match parts.image {
            Some(_) => symbols::of(walk, &parts.subscripts, parts.image),
            None => Vec::new(),
        };
        let image = parts.image.map(|image| {
            let mut names = Vec::new();
            identifiers(walk, image, &mut names, 0);
            let words = walk.str(image);
            let words = on_one_line(words.trim_start_matches('[').trim_end_matches(']'));
            (walk.add(&words), names)
        });
        let (mut names, mut subscripts) = (Vec::new(), Vec::new());
        for it in &parts.subscripts {
            let mut own = Vec::new();
            identifiers(walk, *it, &mut own, 0);
            names.extend(own.iter().cloned());
            subscripts.push(Subscript::of(*it, walk.text, own));
        }
        let context = walk.context();
        walk.out.elements.push(Found {
            place: Place {
                name,
                text,
                subscripts,
                reads: done.reads,
                writes: done.writes,
                at: parts.begins,
                statement: walk.statement,
                line: parts.line,
                function: context.function,
                within: context.within,
            },
            names,
            image,
            symbols,
        });
    }
    for it in parts.subscripts.into_iter().chain(parts.image).chain(parts.before) {
        within(walk, it, READ, depth + 1);
    }
}

/// A text that may go on in other lines.
pub(super) fn on_one_line(text: &str) -> String {
    text.split(['&', '\n']).map(str::trim).collect()
}

fn identifiers(walk: &Walk<'_>, node: Node<'_>, found: &mut Vec<String>, depth: u32) {
    if node.kind() == "identifier" {
        found.push(walk.str(node).to_ascii_lowercase());
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor).filter(|_| depth < DEEPEST) {
        identifiers(walk, child, found, depth + 1);
    }
}

/// What a reference consists of: `field(k)%values(i)[p]`.
#[derive(Default)]
struct Parts<'t> {
    name: String,
    /// Its first byte.
    begins: usize,
    /// The line of that.
    line: u32,
    subscripts: Vec<Node<'t>>,
    image: Option<Node<'t>>,
    /// What the tree has in it, but stands before it: in `t + u(i)[p]` the grammar takes the image to be the sum's.
    before: Vec<Node<'t>>,
}

impl<'t> Parts<'t> {
    fn take(&mut self, walk: &mut Walk<'_>, node: Node<'t>, depth: u32) {
        let Some(first) = node.named_child(0).filter(|_| depth < DEEPEST) else {
            if node.kind() == "identifier" {
                self.name.push_str(&walk.str(node));
                (self.begins, self.line) = (node.start_byte(), line(node));
            }
            return;
        };
        match node.kind() {
            "call_expression" => {
                self.take(walk, first, depth + 1);
                let mut cursor = node.walk();
                for list in node.named_children(&mut cursor).filter(|it| it.kind() == "argument_list") {
                    let mut cursor = list.walk();
                    self.subscripts.extend(list.named_children(&mut cursor));
                }
            }
            "coarray_expression" => {
                self.take(walk, first, depth + 1);
                self.image = node.named_child(1).filter(|it| it.kind() == "coarray_index").or(self.image);
                walk.told_images.insert(node.end_byte());
            }
            "derived_type_member_expression" => {
                self.take(walk, first, depth + 1);
                if let Some(member) = node.named_child(1) {
                    self.name.push('%');
                    self.name.push_str(&walk.str(member));
                }
            }
            kind if is_operation(kind) => {
                let mut cursor = node.walk();
                let mut operands: Vec<_> = node.named_children(&mut cursor).collect();
                if let Some(last) = operands.pop() {
                    self.before.append(&mut operands);
                    self.take(walk, last, depth + 1);
                }
            }
            // No variable begins so.
            _ => {}
        }
    }
}

/// The references of a file to other images, with what stands at their other ends.
pub(super) fn finish(walk: &mut Walk<'_>) {
    let mut found = std::mem::take(&mut walk.out.elements);
    found.sort_by_key(|it| it.place.at);
    let names: FxHashSet<Text> =
        found.iter().filter(|it| it.image.is_some()).map(|it| it.place.name).collect();
    if names.is_empty() {
        return;
    }
    // By procedure and array, in the order of the text.
    let mut places: FxHashMap<_, Vec<&Place>> = FxHashMap::default();
    for it in found.iter().map(|it| &it.place).filter(|it| names.contains(&it.name)) {
        places.entry((it.function, it.name)).or_default().push(it);
    }
    let nothing = Variables::default();
    let around = Around {
        loops: &walk.out.loops,
        of_loops: &walk.variables,
        of_functions: &walk.of_functions,
        nothing: &nothing,
    };
    let mut rows = Vec::new();
    for Found { place, names, image, symbols } in &found {
        let Some((image, in_image)) = image else { continue };
        let moves = |row: &u32| around.variables(*row).change_any(names);
        let all = places.get(&(place.function, place.name)).map_or(&[][..], Vec::as_slice);
        let here = all.partition_point(|it| it.at < place.at);
        let near = &all[here.saturating_sub(NEAR)..(here + NEAR).min(all.len())];
        let turns = |row: &u32| around.variables(*row).change_any(in_image);
        rows.push(Reference {
            array: place.name,
            text: place.text,
            image: *image,
            reads: place.reads,
            writes: place.writes,
            file: 0,
            line: place.line,
            function: place.function,
            within: place.within,
            moved_by: around.inside_out(place.within).find(moves),
            turned_by: around.inside_out(place.within).find(turns),
            subscripts: number(place.subscripts.len()),
            symbols: symbols::worked_out(walk, place.function, symbols),
            dependences: dependences::of(place, near, &around),
        });
    }
    walk.out.remote = rows;
}

/// Keeps the variables of the loop that was entered last.
pub(super) fn variables(walk: &mut Walk<'_>, node: Node<'_>, is_unordered: bool) {
    let mut counters = Vec::new();
    controls(walk, node, &mut counters, 0);
    let row = number(walk.out.loops.len()).saturating_sub(1);
    let of = walk.variables.entry(row).or_default();
    (of.counters, of.is_unordered) = (counters, is_unordered);
}

/// How often a loop goes round from the first to the last value, in steps.
fn iterations(((first, last), step): ((i64, i64), i64)) -> Option<i64> {
    let steps = (i128::from(last) - i128::from(first)).checked_div(step.into())?;
    let is_none = (first < last && step < 0) || (last < first && step > 0);
    if is_none { Some(0) } else { i64::try_from(steps + 1).ok() }
}

fn controls(walk: &Walk<'_>, node: Node<'_>, found: &mut Vec<Counter>, depth: u32) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "loop_control_expression" | "concurrent_control" | "triplet_spec" => {
                let mut cursor = child.walk();
                let mut parts = child.named_children(&mut cursor).filter(|it| !it.is_extra());
                let name = parts.next();
                let number = |it: Node<'_>| Linear::of(it, walk.text).and_then(|it| it.number());
                let (first, last) = (parts.next().and_then(number), parts.next().and_then(number));
                let step = parts.next().map_or(Some(1), number);
                if let Some(name) = name {
                    let name = walk.str(name).to_ascii_lowercase();
                    let iterations = first.zip(last).zip(step).and_then(iterations);
                    found.push(Counter { name, step, iterations });
                }
            }
            "do_statement" | "concurrent_statement" | "concurrent_header" if depth < 4 => {
                controls(walk, child, found, depth + 1);
            }
            _ => {}
        }
    }
}
