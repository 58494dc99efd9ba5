//! What nodes of a tree of Fortran mean.
//!
//! The one idea: `f(x)` may be an element of an array; such a reference is a call only if `f` is no array here, and a
//! function of that name is found in some file ([`super::merge`]). What is neither is not told.

use tree_sitter::Node;

use super::constructs;
use super::facts::{
    Access, Attributes, Base, BaseKind, Call, CallKind, Function, FunctionKind, Lines, LoopKind, Member,
    MemberKind, Model, TypeKind,
};
use super::references;
use super::symbols;
use super::walk::{Context, Walk, bytes_of, line};
use crate::texts::Text;

/// Kinds of nodes that [`enter`] looks at.
pub(super) const KINDS: &[&str] = &[
    "program",
    "module",
    "submodule",
    "block_data",
    "function",
    "subroutine",
    "module_procedure",
    "interface",
    "derived_type_definition",
    "derived_type_procedures",
    "private_statement",
    "enum",
    "enumeration_type",
    "variable_declaration",
    "sized_declarator",
    "procedure_statement",
    "generic_statement",
    "final_statement",
    "enumerator_statement",
    "do_loop",
    "forall_statement",
    "where_statement",
    "subroutine_call",
    "assignment_statement",
    "read_statement",
    "call_expression",
    "coarray_expression",
    "coarray_statement",
    "coarray_critical_statement",
    "coarray_team_statement",
    "comment",
];

/// Takes what a node says.
pub(super) fn enter(walk: &mut Walk<'_>, node: Node<'_>) {
    if walk.context().is_pattern {
        return;
    }
    match node.kind() {
        "module" => scope(walk, node, "module_statement"),
        "submodule" => scope(walk, node, "submodule_statement"),
        "block_data" => scope(walk, node, "block_data_statement"),
        "program" => procedure(walk, node, "program_statement", FunctionKind::Program),
        "function" => procedure(walk, node, "function_statement", FunctionKind::Function),
        "subroutine" => procedure(walk, node, "subroutine_statement", FunctionKind::Subroutine),
        "module_procedure" => procedure(walk, node, "module_procedure_statement", FunctionKind::Function),
        "interface" => interface(walk, node),
        "derived_type_definition" => derived_type(walk, node),
        "enum" | "enumeration_type" => enumeration(walk, node),
        // What is said of components is not said of procedures.
        "derived_type_procedures" => {
            let context = walk.context();
            walk.enter(Context { access: Access::Public, ..context });
        }
        "private_statement" if walk.context().of.is_some() => walk.context_mut().access = Access::Private,
        "variable_declaration" => {
            if walk.has_images {
                symbols::declaration(walk, node);
            }
            variables(walk, node);
        }
        "sized_declarator" => {
            if let Some(name) = node.named_child(0) {
                array(walk, name);
            }
        }
        "procedure_statement" | "generic_statement" | "final_statement" | "enumerator_statement" => {
            members(walk, node);
        }
        "do_loop" => {
            let kind = do_kind(node);
            let lines = walk.lines(node);
            walk.loop_(kind, lines, None);
            if walk.has_images {
                references::variables(walk, node, kind == LoopKind::DoConcurrent);
            }
        }
        "forall_statement" => whole(walk, node, LoopKind::Forall),
        "where_statement" => whole(walk, node, LoopKind::Where),
        "subroutine_call" => {
            if let Some(callee) = node.child_by_field_name("subroutine") {
                call(walk, callee);
            }
            if walk.has_images {
                references::call(walk, node);
            }
        }
        "assignment_statement" => {
            walk.marked = u32::try_from(node.start_byte()).ok();
            if walk.has_images {
                references::assignment(walk, node);
            }
        }
        "read_statement" if walk.has_images => references::input(walk, node),
        "call_expression" => reference(walk, node),
        "coarray_expression"
        | "coarray_statement"
        | "coarray_critical_statement"
        | "coarray_team_statement" => {
            coarray(walk, node);
        }
        _ => directive(walk, node),
    }
}

fn child<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}

/// The statement that a node begins with, and its name.
fn head<'t>(node: Node<'t>, statement: &str) -> Option<(Node<'t>, Node<'t>)> {
    let statement = child(node, &[statement])?;
    let name =
        statement.child_by_field_name("name").or_else(|| child(statement, &["name", "module_name"]))?;
    Some((statement, name))
}

fn scope(walk: &mut Walk<'_>, node: Node<'_>, statement: &str) {
    let name = head(node, statement).map_or("(anonymous)".into(), |(_, name)| walk.str(name));
    let scope = walk.full(&name);
    let context = walk.context();
    walk.enter(Context { scope, ..context });
}

fn procedure(walk: &mut Walk<'_>, node: Node<'_>, statement: &str, kind: FunctionKind) {
    let (statement, at) = match head(node, statement) {
        Some((statement, name)) => (Some(statement), Some(name)),
        None => (None, None),
    };
    // What compilers call a main program that has no name.
    let short = at.map_or("MAIN__".into(), |at| walk.str(at));
    let at = at.unwrap_or(node);
    if let Some(of) = walk.context().of {
        // In an interface it is only declared.
        member(walk, of, &short, MemberKind::Method, Access::Public, Attributes::default(), "", at);
        let context = walk.context();
        walk.enter(Context { is_pattern: true, ..context });
        return;
    }
    let mut attributes = Attributes::default();
    if let Some(statement) = statement {
        let mut cursor = statement.walk();
        for word in statement.named_children(&mut cursor).filter(|it| it.kind() == "procedure_qualifier") {
            attributes.add_word(&walk.str(word));
        }
    }
    let name = walk.full(&short);
    let lines = walk.lines(node);
    let function = Function {
        name,
        kind,
        file: 0,
        line: line(at),
        lines,
        bytes: bytes_of(node),
        body: None,
        of: None,
        access: Access::Public,
        attributes,
    };
    walk.function(name, function);
}

fn interface(walk: &mut Walk<'_>, node: Node<'_>) {
    let statement = child(node, &["interface_statement"]);
    match statement.and_then(|statement| child(statement, &["name", "operator", "assignment"])) {
        Some(at) => {
            let name = walk.str(at);
            let name = walk.full(&name);
            walk.type_(name, TypeKind::Interface, at, node);
        }
        // One without a name only declares what is elsewhere.
        None => {
            let context = walk.context();
            walk.enter(Context { is_pattern: true, ..context });
        }
    }
}

fn derived_type(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(statement) = child(node, &["derived_type_statement"]) else { return };
    let Some(at) = child(statement, &["type_name"]) else { return };
    let short = walk.str(at);
    let name = walk.full(&short);
    if let Some(base) = statement.child_by_field_name("base").and_then(|base| child(base, &["identifier"])) {
        let base_name = walk.str(base);
        let base_name = walk.add(&base_name);
        walk.out.bases.push(Base {
            derived_name: name,
            derived: None,
            base_name,
            base: None,
            kind: BaseKind::Derived,
            access: Access::Public,
            is_virtual: false,
            file: 0,
            line: line(base),
        });
    }
    let row = walk.type_(name, TypeKind::Derived, at, node);
    if let Some(base) = walk.out.bases.last_mut().filter(|base| base.derived_name == name) {
        base.derived = Some(row);
    }
}

fn enumeration(walk: &mut Walk<'_>, node: Node<'_>) {
    let statement = child(node, &["enumeration_type_statement"]);
    let at = statement.and_then(|statement| child(statement, &["name", "type_name"]));
    let name = at.map_or("(anonymous enum)".into(), |at| walk.str(at));
    let name = walk.full(&name);
    walk.type_(name, TypeKind::Enum, at.unwrap_or(node), node);
}

/// The name that a declarator declares.
fn declared(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    // Initialised, pointed to, sized, with codimensions: more than can be written.
    for _ in 0..8 {
        match node.child_by_field_name("left").or_else(|| node.named_child(0)) {
            Some(inner) if node.kind() != "identifier" => node = inner,
            _ => break,
        }
    }
    node
}

fn variables(walk: &mut Walk<'_>, node: Node<'_>) {
    let type_node = node.child_by_field_name("type");
    let type_name = type_node.map_or_else(String::new, |node| walk.str(node).into_owned());
    let mut access = walk.context().access;
    let mut is_array = type_name.to_ascii_lowercase().starts_with("character");
    let mut cursor = node.walk();
    for attribute in node.children_by_field_name("attribute", &mut cursor) {
        match walk.str(attribute).to_ascii_lowercase().as_str() {
            "private" => access = Access::Private,
            "public" => access = Access::Public,
            attribute if attribute.starts_with("dimension") => is_array = true,
            _ => {}
        }
    }
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let at = declared(declarator);
        match walk.context().of {
            Some(of) => {
                let name = walk.str(at);
                member(walk, of, &name, MemberKind::Field, access, Attributes::default(), &type_name, at);
            }
            None if is_array => array(walk, at),
            None => {}
        }
    }
}

fn array(walk: &mut Walk<'_>, name: Node<'_>) {
    let name = walk.str(name).to_ascii_lowercase();
    let name = walk.add(&name);
    let scope = walk.context().scope;
    walk.arrays.insert((scope, name));
}

fn members(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(of) = walk.context().of else { return };
    let mut access = walk.context().access;
    let mut attributes = Attributes::default();
    let mut cursor = node.walk();
    for attribute in node.named_children(&mut cursor).filter(|it| it.kind() == "procedure_attribute") {
        match walk.str(attribute).to_ascii_lowercase().as_str() {
            "private" => access = Access::Private,
            "public" => access = Access::Public,
            word => attributes.add_word(word),
        }
    }
    let kind = match node.kind() {
        "final_statement" => MemberKind::Destructor,
        "enumerator_statement" => MemberKind::Value,
        _ => MemberKind::Method,
    };
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let at = match node.kind() {
            "enumerator_statement" => declared(declarator),
            // `name => procedure`, `operator(+) => procedure`.
            _ => child(declarator, &["binding_name"]).unwrap_or(declarator),
        };
        let name = walk.str(at);
        let is_operator = ["operator", "assignment"].iter().any(|word| {
            name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) && name.contains('(')
        });
        let kind = if is_operator { MemberKind::Operator } else { kind };
        member(walk, of, &name, kind, access, attributes, "", at);
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
    let line = line(at);
    walk.out.members.push(Member {
        of,
        name,
        kind,
        access,
        attributes,
        type_name,
        file: 0,
        line,
        function: None,
    });
}

fn do_kind(node: Node<'_>) -> LoopKind {
    let control = child(node, &["do_statement"]).and_then(|statement| {
        child(statement, &["loop_control_expression", "while_statement", "concurrent_statement"])
    });
    match control.map(|control| control.kind()) {
        Some("while_statement") => LoopKind::While,
        Some("concurrent_statement") => LoopKind::DoConcurrent,
        Some(_) => LoopKind::Do,
        None => LoopKind::Endless,
    }
}

fn whole(walk: &mut Walk<'_>, node: Node<'_>, kind: LoopKind) {
    let lines = walk.lines(node);
    walk.loop_(kind, lines, None);
    if walk.has_images {
        references::variables(walk, node, true);
    }
}

/// A call by a name, or by a component of an object.
fn call(walk: &mut Walk<'_>, callee: Node<'_>) {
    let (at, kind) = named(callee);
    let name = walk.str(at);
    walk.call(&name, kind, line(at));
    if let Some(model) = constructs::of_fortran_call(&name) {
        walk.construct(model, &name, Lines { first: line(at), last: line(at) });
    }
}

fn named(callee: Node<'_>) -> (Node<'_>, CallKind) {
    let member = callee.kind() == "derived_type_member_expression";
    match child(callee, &["type_member"]).filter(|_| member) {
        Some(member) => (member, CallKind::Member),
        None => (callee, CallKind::Direct),
    }
}

/// What is a call, or an element of an array.
fn reference(walk: &mut Walk<'_>, node: Node<'_>) {
    // What is assigned to is an element.
    let is_assigned = walk.marked.take().is_some_and(|start| u32::try_from(node.start_byte()) == Ok(start));
    let Some(callee) = node.named_child(0).filter(|_| !is_assigned) else { return };
    let (at, kind) = named(callee);
    if !matches!(at.kind(), "identifier" | "type_member") {
        return;
    }
    let name = walk.str(at).into_owned();
    if constructs::of_fortran_call(&name).is_some() && kind == CallKind::Direct {
        return call(walk, callee);
    }
    let small = walk.add(&name.to_ascii_lowercase());
    let is_array = |scope: Text| walk.arrays.contains(&(scope, small));
    if kind == CallKind::Direct && walk.contexts().any(|context| is_array(context.scope)) {
        return;
    }
    let name = walk.add(&name);
    let context = walk.context();
    let (caller, within) = (context.function, context.within);
    walk.out.references.push(Call { name, kind, file: 0, line: line(at), caller, within });
}

fn coarray(walk: &mut Walk<'_>, node: Node<'_>) {
    let lines = walk.lines(node);
    let text = match node.kind() {
        "coarray_expression" => walk.text.get(references::begins(node)..node.end_byte()).unwrap_or_default(),
        _ => walk.text.get(node.byte_range()).unwrap_or_default(),
    };
    let text = String::from_utf8_lossy(text);
    let first = text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    walk.construct(Model::Coarray, &first, lines);
    if node.kind() == "coarray_expression" {
        references::elsewhere(walk, node);
    }
}

/// A comment that is a directive.
fn directive(walk: &mut Walk<'_>, node: Node<'_>) {
    let text = walk.str(node);
    let Some(text) = text.strip_prefix("!$").map(str::trim_end) else { return };
    let line = line(node);
    // The line before ends with a sign that this one continues it.
    if let Some(last) = walk.out.constructs.last().filter(|last| last.lines.last.saturating_add(1) == line) {
        let before = walk.out.texts.get(last.text);
        if let Some(before) = before.strip_suffix('&') {
            let sentinel = |c: char| c.is_alphabetic();
            let rest = text.trim_start_matches(sentinel).trim_start().trim_start_matches('&').trim_start();
            let joined = format!("{} {rest}", before.trim_end());
            let joined = walk.add(&joined);
            if let Some(last) = walk.out.constructs.last_mut() {
                last.text = joined;
                last.lines.last = line;
            }
            return;
        }
    }
    if let Some((model, words)) = constructs::of_directive(text) {
        walk.construct(model, &words, Lines { first: line, last: line });
    }
}
