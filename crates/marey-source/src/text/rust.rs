//! What nodes of a tree of Rust mean.
//!
//! The one idea: an `impl` opens the scope of its type, and which type that is, is asked when all files are known. What
//! stands in the arguments of a macro is tokens only; calls and loops are recognised in them by their shape.

use tree_sitter::Node;

use super::constructs;
use super::facts::{
    Access, Attribute, Attributes, Base, BaseKind, Bytes, CallKind, Function, FunctionKind, Lines, LoopKind,
    MarkKind, Member, MemberKind, TypeKind,
};
use super::rust_macro::{definitions, token_loop, tokens};
use super::walk::{Context, Walk, bytes_of, line};

/// Kinds of nodes that [`enter`] looks at.
pub(super) const KINDS: &[&str] = &[
    "mod_item",
    "impl_item",
    "trait_item",
    "struct_item",
    "union_item",
    "enum_item",
    "field_declaration",
    "enum_variant",
    "ordered_field_declaration_list",
    "attribute_item",
    "function_item",
    "function_signature_item",
    "for_expression",
    "while_expression",
    "loop_expression",
    "call_expression",
    "macro_invocation",
    "macro_definition",
    "const_item",
    "static_item",
    "const_block",
    "array_type",
    "array_expression",
    "type_arguments",
    "await_expression",
    "yield_expression",
    "token_tree",
    "arguments",
];

/// Takes what a node says.
pub(super) fn enter(walk: &mut Walk<'_>, node: Node<'_>) {
    if walk.context().is_pattern {
        if node.kind() == "token_tree" {
            definitions(walk, node);
        }
        return;
    }
    let whole = |walk: &mut Walk<'_>, kind| {
        let lines = walk.lines(node);
        walk.loop_(kind, lines, Some(bytes_of(node)));
    };
    match node.kind() {
        "mod_item" => {
            let name = node.child_by_field_name("name").map_or("".into(), |name| walk.str(name));
            let scope = walk.full(&name);
            let context = walk.context();
            walk.enter(Context { scope, ..context });
        }
        "impl_item" => implementation(walk, node),
        "trait_item" => type_(walk, node, TypeKind::Trait),
        "struct_item" => type_(walk, node, TypeKind::Struct),
        "union_item" => type_(walk, node, TypeKind::Union),
        "enum_item" => type_(walk, node, TypeKind::Enum),
        "enum_variant" => {
            if let Some(value) = node.child_by_field_name("value") {
                constant(walk, value);
            }
            if let (Some(of), Some(at)) = (walk.context().of, node.child_by_field_name("name")) {
                let name = walk.str(at);
                member(walk, of, &name, MemberKind::Value, Access::Public, Attributes::default(), "", at);
                // Fields of a variant are none of the type.
                let context = walk.context();
                walk.enter(Context { of: None, ..context });
            }
        }
        "field_declaration" => {
            if let (Some(of), Some(at)) = (walk.context().of, node.child_by_field_name("name")) {
                let name = walk.str(at);
                let of_type = node.child_by_field_name("type").map_or("".into(), |of| walk.str(of));
                let access = access(walk, node);
                member(walk, of, &name, MemberKind::Field, access, Attributes::default(), &of_type, at);
            }
        }
        "ordered_field_declaration_list" => numbered_fields(walk, node),
        "attribute_item" => {
            if walk.str(node).trim_start_matches(['#', '[', ' ']).starts_with("inline") {
                walk.marked = Some(walk.depth());
            }
        }
        "function_item" => function(walk, node),
        "function_signature_item" => {
            if let (Some(of), Some(at)) = (walk.context().of, node.child_by_field_name("name")) {
                let name = walk.str(at);
                let attributes = attributes(walk, node);
                member(walk, of, &name, MemberKind::Method, Access::Public, attributes, "", at);
            }
        }
        "for_expression" => whole(walk, LoopKind::ForEach),
        "while_expression" => whole(walk, LoopKind::While),
        "loop_expression" => whole(walk, LoopKind::Endless),
        "call_expression" => call(walk, node),
        "macro_invocation" => {
            if let Some(at) = node.child_by_field_name("macro") {
                let name = without_arguments(&walk.str(at));
                walk.call(&name, CallKind::Macro, line(at));
                if let Some(model) = constructs::of_call(&name) {
                    let lines = walk.lines(node);
                    walk.construct(model, &name, lines);
                }
            }
        }
        "arguments" => token_loop(walk, node),
        "const_item" | "static_item" | "const_block" => constant(walk, node),
        "array_type" | "array_expression" => {
            if let Some(length) = node.child_by_field_name("length") {
                constant(walk, length);
            }
        }
        // What stands in braces there is a constant.
        "type_arguments" => {
            let mut cursor = node.walk();
            let blocks = node.named_children(&mut cursor).filter(|child| child.kind() == "block");
            blocks.for_each(|block| constant(walk, block));
        }
        "await_expression" | "yield_expression" => {
            walk.mark(MarkKind::Pause, node.start_byte(), line(node));
        }
        "macro_definition" => {
            let context = walk.context();
            walk.enter(Context { is_pattern: true, ..context });
        }
        _ => {
            token_loop(walk, node);
            tokens(walk, node);
            definitions(walk, node);
        }
    }
}

/// Marks what the compiler evaluates, if there may be a loop in it.
fn constant(walk: &mut Walk<'_>, node: Node<'_>) {
    if walk.bytes(node).contains(&b'{') {
        walk.mark(MarkKind::Constant(bytes_of(node).end), node.start_byte(), line(node));
    }
}

/// A path as it is written without what stands in angle brackets.
pub(super) fn without_arguments(path: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(path.len());
    for c in path.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '<' => depth = depth.saturating_add(1),
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let parts: Vec<&str> = plain.split("::").filter(|part| !part.is_empty()).collect();
    parts.join("::")
}

/// The name of a type that stands behind `impl` or `for`.
fn type_name<'t>(walk: &Walk<'_>, node: Node<'t>) -> (String, Node<'t>) {
    let mut node = node;
    // References to slices of pointers: more than can be written.
    for _ in 0..16 {
        let inner = match node.kind() {
            "generic_type" | "reference_type" => node.child_by_field_name("type"),
            "dynamic_type" => node.child_by_field_name("trait"),
            "scoped_type_identifier" => node.child_by_field_name("name"),
            "bounded_type" => node.named_child(0),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    (walk.str(node).split_whitespace().collect::<Vec<_>>().join(" "), node)
}

fn implementation(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(of) = node.child_by_field_name("type") else { return };
    let (name, _) = type_name(walk, of);
    let scope = walk.full(&name);
    if let Some(of) = node.child_by_field_name("trait") {
        base(walk, scope, None, of, BaseKind::Implements);
    }
    let context = walk.context();
    let is_of_trait = node.child_by_field_name("trait").is_some();
    walk.enter(Context { scope, of: None, is_of_trait, ..context });
}

fn base(
    walk: &mut Walk<'_>,
    derived_name: crate::texts::Text,
    derived: Option<u32>,
    of: Node<'_>,
    kind: BaseKind,
) {
    let (name, at) = type_name(walk, of);
    let base_name = walk.add(&name);
    walk.out.bases.push(Base {
        derived_name,
        derived,
        base_name,
        base: None,
        kind,
        access: Access::Public,
        is_virtual: false,
        file: 0,
        line: line(at),
    });
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>, kind: TypeKind) {
    let Some(at) = node.child_by_field_name("name") else { return };
    let name = walk.str(at);
    let name = walk.full(&name);
    let row = walk.type_(name, kind, at, node);
    let Some(bounds) = node.child_by_field_name("bounds").filter(|_| kind == TypeKind::Trait) else { return };
    let mut cursor = bounds.walk();
    for of in bounds.named_children(&mut cursor) {
        if matches!(of.kind(), "type_identifier" | "scoped_type_identifier" | "generic_type") {
            base(walk, name, Some(row), of, BaseKind::Derived);
        }
    }
}

/// Who can name an item: as rustc tells debuggers, `pub(…)` is protected.
fn access(walk: &Walk<'_>, node: Node<'_>) -> Access {
    let mut cursor = node.walk();
    let said = node.named_children(&mut cursor).find(|child| child.kind() == "visibility_modifier");
    said.map_or(Access::Private, |said| visibility(walk, said))
}

fn visibility(walk: &Walk<'_>, said: Node<'_>) -> Access {
    if walk.str(said).contains('(') { Access::Protected } else { Access::Public }
}

/// Fields that have numbers for names.
fn numbered_fields(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(of) = walk.context().of else { return };
    let (mut place, mut access) = (0_u32, Access::Private);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor).collect::<Vec<_>>() {
        match child.kind() {
            "visibility_modifier" => access = visibility(walk, child),
            "," | "(" | ")" | "attribute_item" | "line_comment" | "block_comment" => {}
            _ => {
                let of_type = walk.str(child);
                let name = place.to_string();
                member(walk, of, &name, MemberKind::Field, access, Attributes::default(), &of_type, child);
                (place, access) = (place.saturating_add(1), Access::Private);
            }
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "each is a column")]
fn member(
    walk: &mut Walk<'_>,
    of: u32,
    name: &str,
    kind: MemberKind,
    access: Access,
    attributes: Attributes,
    type_name: &str,
    at: Node<'_>,
) {
    let (name, type_name) = (walk.add(name), walk.add(type_name));
    walk.out.members.push(Member {
        of,
        name,
        kind,
        access,
        attributes,
        type_name,
        file: 0,
        line: line(at),
        function: None,
    });
}

fn attributes(walk: &Walk<'_>, node: Node<'_>) -> Attributes {
    let mut attributes = Attributes::default();
    let mut cursor = node.walk();
    for modifiers in node.named_children(&mut cursor).filter(|child| child.kind() == "function_modifiers") {
        walk.str(modifiers).split_whitespace().for_each(|word| attributes.add_word(word));
    }
    attributes
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let is_inline = walk.marked.take() == Some(walk.depth());
    let Some(at) = node.child_by_field_name("name") else { return };
    let context = walk.context();
    let short = walk.str(at);
    let mut attributes = attributes(walk, node);
    if is_inline {
        attributes.add(Attribute::Inline);
    }
    let has_self = node.child_by_field_name("parameters").is_some_and(|parameters| {
        let mut cursor = parameters.walk();
        parameters.named_children(&mut cursor).any(|child| child.kind() == "self_parameter")
    });
    let kind = if has_self { FunctionKind::Method } else { FunctionKind::Function };
    // Methods of traits are as public as the trait.
    let access =
        if context.of.is_some() || context.is_of_trait { Access::Public } else { access(walk, node) };
    if let Some(of) = context.of {
        member(walk, of, &short, MemberKind::Method, access, attributes, "", at);
        let row = super::walk::number(walk.out.functions.len());
        if let Some(member) = walk.out.members.last_mut() {
            member.function = Some(row);
        }
    }
    let name = walk.full(&short);
    let lines = walk.lines(node);
    walk.function(
        name,
        Function {
            name,
            kind,
            file: 0,
            line: line(at),
            lines,
            bytes: bytes_of(node),
            body: node.child_by_field_name("body").and_then(body),
            of: context.of,
            access,
            attributes,
        },
    );
}

/// What stands within the braces of a block, behind inner attributes, which must be first.
fn body(block: Node<'_>) -> Option<Bytes> {
    let Bytes { first, end } = bytes_of(block);
    let mut cursor = block.walk();
    let is_inner = |child: &Node<'_>| match child.kind() {
        "inner_attribute_item" => true,
        "line_comment" | "block_comment" => child.child_by_field_name("inner").is_some(),
        _ => false,
    };
    // What stands behind a comment of a line would be part of it.
    let behind = |child: Node<'_>| {
        let is_open = child.kind() == "line_comment" && child.end_position().column != 0;
        bytes_of(child).end.saturating_add(is_open.into())
    };
    let behind = block.named_children(&mut cursor).filter(is_inner).map(behind).last();
    (first + 2 <= end).then_some(Bytes { first: behind.unwrap_or(first + 1), end: end - 1 })
}

fn call(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(mut callee) = node.child_by_field_name("function") else { return };
    if callee.kind() == "generic_function"
        && let Some(inner) = callee.child_by_field_name("function")
    {
        callee = inner;
    }
    match callee.kind() {
        "identifier" | "scoped_identifier" => {
            let name = without_arguments(&walk.str(callee));
            let last = name.rsplit("::").next().unwrap_or(&name);
            // `Some(x)` makes a value.
            if last.starts_with(char::is_uppercase) {
                return;
            }
            let at = callee.child_by_field_name("name").unwrap_or(callee);
            walk.call(&name, CallKind::Direct, line(at));
            if let Some(model) = constructs::of_call(&name) {
                let lines = walk.lines(node);
                walk.construct(model, &name, lines);
                if last == "scope" {
                    let context = walk.context();
                    walk.enter(Context { tasks: Some(model), ..context });
                }
            }
        }
        "field_expression" => {
            let Some(at) = callee.child_by_field_name("field") else { return };
            method(walk, node, at);
        }
        _ => walk.call("", CallKind::Unknown, line(callee)),
    }
}

/// A call of a method.
fn method(walk: &mut Walk<'_>, node: Node<'_>, at: Node<'_>) {
    let name = walk.str(at);
    if at.kind() == "integer_literal" {
        // A field that is a function.
        return walk.call("", CallKind::Unknown, line(at));
    }
    walk.call(&name, CallKind::Member, line(at));
    let lines = Lines { first: line(at), last: walk.lines(node).last };
    let tasks = walk.context().tasks.filter(|_| name == "spawn");
    if let Some(model) = constructs::of_method(&name).or(tasks) {
        walk.construct(model, &name, lines);
    }
    const ITERATORS: [&str; 6] = [
        "for_each",
        "try_for_each",
        "for_each_with",
        "for_each_init",
        "try_for_each_with",
        "try_for_each_init",
    ];
    // What stands before it is done once.
    if ITERATORS.contains(&name.as_ref())
        && let Some(arguments) = node.child_by_field_name("arguments")
    {
        walk.token_loops.insert(arguments.start_byte(), (LoopKind::Iterator, lines.first));
    }
}
