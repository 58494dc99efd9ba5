//! What nodes of a tree of C or C++ mean.
//!
//! The one idea: both grammars name their nodes alike, so that C is what C++ leaves when its own nodes never come.
//!
//! Nothing is preprocessed: a macro is a call of its name, and what it stands for is not seen.

use tree_sitter::Node;

use super::constructs;
use super::declarator::{Declared, declared, path};
use super::facts::{
    Access, Attribute, Attributes, Base, BaseKind, Bytes, CallKind, Function, FunctionKind, LoopKind,
    MarkKind, Member, MemberKind, Model, TypeKind,
};
use super::walk::{Context, Walk, bytes_of, line};

/// Kinds of nodes that [`enter`] looks at.
pub(super) const KINDS: &[&str] = &[
    "namespace_definition",
    "class_specifier",
    "struct_specifier",
    "union_specifier",
    "enum_specifier",
    "type_definition",
    "field_declaration",
    "enumerator",
    "access_specifier",
    "base_class_clause",
    "friend_declaration",
    "function_definition",
    "declaration",
    "for_statement",
    "while_statement",
    "do_statement",
    "for_range_loop",
    "call_expression",
    "preproc_call",
    "switch_statement",
    "case_statement",
    "labeled_statement",
    "goto_statement",
    "co_await_expression",
    "co_yield_statement",
    "co_return_statement",
];

/// Takes what a node says.
pub(super) fn enter(walk: &mut Walk<'_>, node: Node<'_>) {
    let whole = |walk: &mut Walk<'_>, kind| {
        let lines = walk.lines(node);
        walk.loop_(kind, lines, Some(bytes_of(node)));
    };
    match node.kind() {
        "namespace_definition" => {
            let name = node.child_by_field_name("name");
            let name =
                name.map_or("(anonymous namespace)".to_owned(), |name| walk.str(name).replace(' ', ""));
            let scope = walk.full(&name);
            let context = walk.context();
            walk.enter(Context { scope, ..context });
        }
        "class_specifier" => type_(walk, node, TypeKind::Class),
        "struct_specifier" => type_(walk, node, TypeKind::Struct),
        "union_specifier" => type_(walk, node, TypeKind::Union),
        "enum_specifier" => type_(walk, node, TypeKind::Enum),
        "type_definition" => typedef(walk, node),
        "base_class_clause" => bases(walk, node),
        "access_specifier" => {
            if let Some(access) = access(&walk.str(node)) {
                walk.context_mut().access = access;
            }
        }
        "friend_declaration" => {
            let context = walk.context();
            walk.enter(Context { of: None, ..context });
        }
        "enumerator" => {
            if let (Some(of), Some(at)) = (walk.context().of, node.child_by_field_name("name")) {
                let name = walk.str(at);
                member(walk, of, &name, MemberKind::Value, Attributes::default(), "", at);
            }
        }
        "field_declaration" => fields(walk, node),
        "declaration" => declaration(walk, node),
        "function_definition" => function(walk, node),
        "for_statement" => whole(walk, LoopKind::For),
        "for_range_loop" => whole(walk, LoopKind::ForEach),
        "while_statement" => whole(walk, LoopKind::While),
        "do_statement" => whole(walk, LoopKind::DoWhile),
        "call_expression" => call(walk, node),
        "switch_statement" => {
            let context = walk.context();
            walk.enter(Context { switch: bytes_of(node).first, ..context });
        }
        "case_statement"
        | "labeled_statement"
        | "goto_statement"
        | "co_await_expression"
        | "co_yield_statement"
        | "co_return_statement" => mark(walk, node),
        _ => directive(walk, node),
    }
}

/// What says how a loop around it can be entered, or that its function may be left for a while.
fn mark(walk: &mut Walk<'_>, node: Node<'_>) {
    let label = node.child_by_field_name("label");
    let label = label.map_or("".into(), |label| walk.str(label));
    let label = walk.add(&label);
    let kind = match node.kind() {
        "case_statement" => MarkKind::Case(walk.context().switch),
        "labeled_statement" => MarkKind::Label(label),
        "goto_statement" => MarkKind::Jump(label),
        _ => MarkKind::Pause,
    };
    walk.mark(kind, node.start_byte(), line(node));
}

fn access(word: &str) -> Option<Access> {
    match word.split_whitespace().next()? {
        "public" => Some(Access::Public),
        "protected" => Some(Access::Protected),
        "private" => Some(Access::Private),
        _ => None,
    }
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>, kind: TypeKind) {
    if node.child_by_field_name("body").is_none() {
        // It is only named here; what is inside belongs to nobody.
        return;
    }
    let at = node.child_by_field_name("name");
    // A typedef around it has left a name for a type that has none.
    let alias = walk.marked_name.take();
    let name = match (at, alias) {
        (Some(at), _) => path(walk, at).0,
        (None, Some(alias)) => alias,
        (None, None) => match kind {
            TypeKind::Class => "(anonymous class)".to_owned(),
            TypeKind::Union => "(anonymous union)".to_owned(),
            TypeKind::Enum => "(anonymous enum)".to_owned(),
            _ => "(anonymous struct)".to_owned(),
        },
    };
    let name = walk.full(&name);
    walk.type_(name, kind, at.unwrap_or(node), node);
}

/// Leaves the name of a typedef for the type without a name that it is made for.
fn typedef(walk: &mut Walk<'_>, node: Node<'_>) {
    walk.marked_name = None;
    let of = node.child_by_field_name("type");
    let is_anonymous = of.is_some_and(|of| {
        of.kind().ends_with("_specifier")
            && of.child_by_field_name("name").is_none()
            && of.child_by_field_name("body").is_some()
    });
    let Some(declarator) = node.child_by_field_name("declarator").filter(|_| is_anonymous) else { return };
    if declarator.kind() == "type_identifier" {
        walk.marked_name = Some(walk.str(declarator).into_owned());
    }
}

fn bases(walk: &mut Walk<'_>, node: Node<'_>) {
    let context = walk.context();
    // What is said of bases is not said of members.
    walk.enter(Context { of: None, ..context });
    let Some(derived) = context.of else { return };
    let (mut said, mut is_virtual) = (None, false);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "access_specifier" => said = access(&walk.str(child)),
            "virtual" => is_virtual = true,
            "," => (said, is_virtual) = (None, false),
            "type_identifier" | "qualified_identifier" | "template_type" => {
                let (name, at) = path(walk, child);
                let base_name = walk.add(&name);
                walk.out.bases.push(Base {
                    derived_name: context.scope,
                    derived: Some(derived),
                    base_name,
                    base: None,
                    kind: BaseKind::Derived,
                    access: said.unwrap_or(context.access),
                    is_virtual,
                    file: 0,
                    line: line(at),
                });
            }
            _ => {}
        }
    }
}

/// What is written around a declarator.
fn attributes(walk: &Walk<'_>, node: Node<'_>, function: Option<Node<'_>>) -> Attributes {
    let mut attributes = Attributes::default();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "storage_class_specifier" | "explicit_function_specifier" | "virtual" | "inline" => {
                attributes
                    .add_word(walk.str(child).split(|c: char| !c.is_alphabetic()).next().unwrap_or_default());
            }
            "pure_virtual_clause" => attributes.add(Attribute::Pure),
            "default_method_clause" => attributes.add(Attribute::Defaulted),
            "delete_method_clause" => attributes.add(Attribute::Deleted),
            "number_literal" if function.is_some() => attributes.add(Attribute::Pure),
            _ => {}
        }
    }
    let mut cursor = node.walk();
    for child in function.iter().flat_map(|function| function.children(&mut cursor).collect::<Vec<_>>()) {
        match child.kind() {
            "type_qualifier" | "virtual_specifier" => attributes.add_word(&walk.str(child)),
            _ => {}
        }
    }
    attributes
}

/// The last name of a scope, without arguments of templates.
fn last(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

fn method_kind(walk: &Walk<'_>, name: &str) -> MemberKind {
    let scope = walk.out.texts.get(walk.context().scope);
    match name {
        _ if name.starts_with('~') => MemberKind::Destructor,
        _ if name == last(scope) => MemberKind::Constructor,
        _ if name.starts_with("operator")
            && !name[8..].starts_with(|c: char| c.is_alphanumeric() || c == '_') =>
        {
            MemberKind::Operator
        }
        _ => MemberKind::Method,
    }
}

/// Fields and methods that are declared together.
fn fields(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(of) = walk.context().of else { return };
    let type_node = node.child_by_field_name("type");
    // A type that is defined here is told by itself.
    let told = type_node.filter(|node| node.child_by_field_name("body").is_none());
    let type_name = told.map_or_else(String::new, |node| walk.str(node).into_owned());
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let Declared { at, function } = declared(declarator);
        let attributes = attributes(walk, node, function);
        let name = path(walk, at).0;
        let kind = match function {
            Some(_) => method_kind(walk, &name),
            None if attributes.has(Attribute::Static) => MemberKind::StaticField,
            None => MemberKind::Field,
        };
        member(walk, of, &name, kind, attributes, &type_name, at);
    }
}

/// Constructors and destructors that are declared, and threads that are made.
fn declaration(walk: &mut Walk<'_>, node: Node<'_>) {
    if let Some(of) = walk.context().of
        && let Some(declarator) = node.child_by_field_name("declarator")
    {
        let Declared { at, function } = declared(declarator);
        if function.is_some() {
            let name = path(walk, at).0;
            let kind = method_kind(walk, &name);
            let attributes = attributes(walk, node, function);
            member(walk, of, &name, kind, attributes, "", at);
        }
        return;
    }
    let of = node.child_by_field_name("type").filter(|of| of.kind() == "qualified_identifier");
    let is_made = node.child_by_field_name("declarator").is_some_and(|it| it.kind() == "init_declarator");
    if let Some(of) = of.filter(|_| is_made) {
        let name = path(walk, of).0;
        if let Some(model @ Model::Thread) = constructs::of_call(&name) {
            let lines = walk.lines(node);
            walk.construct(model, &name, lines);
        }
    }
}

fn member(
    walk: &mut Walk<'_>,
    of: u32,
    name: &str,
    kind: MemberKind,
    attributes: Attributes,
    type_name: &str,
    at: Node<'_>,
) {
    let (name, type_name) = (walk.add(name), walk.add(type_name));
    let access = walk.context().access;
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

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(declarator) = node.child_by_field_name("declarator") else { return };
    let Declared { at, function } = declared(declarator);
    let (short, at) = path(walk, at);
    // What a grammar makes of code that a macro has torn.
    const NO_NAMES: [&str; 9] = ["if", "for", "while", "switch", "else", "do", "return", "catch", "__catch"];
    if function.is_none() || NO_NAMES.contains(&short.as_str()) {
        return;
    }
    let context = walk.context();
    let attributes = attributes(walk, node, function);
    let returned = node.child_by_field_name("type").map_or_else(String::new, |of| walk.str(of).into_owned());
    let mut kind = FunctionKind::Function;
    let has_body =
        ![Attribute::Defaulted, Attribute::Deleted, Attribute::Pure].iter().any(|it| attributes.has(*it));
    if !has_body {
        // The compiler makes it, or nobody does.
        if let Some(of) = context.of {
            let kind = method_kind(walk, &short);
            member(walk, of, &short, kind, attributes, &returned, at);
        }
        return;
    }
    if let Some(of) = context.of {
        let member_kind = method_kind(walk, &short);
        kind = match member_kind {
            MemberKind::Constructor => FunctionKind::Constructor,
            MemberKind::Destructor => FunctionKind::Destructor,
            _ => FunctionKind::Method,
        };
        member(walk, of, &short, member_kind, attributes, &returned, at);
        let row = super::walk::number(walk.out.functions.len());
        if let Some(member) = walk.out.members.last_mut() {
            member.function = Some(row);
        }
    }
    // Behind a macro a block within a function may look like one.
    let is_block =
        context.function.is_some() && context.of.is_none() && node.child_by_field_name("type").is_none();
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
            body: body(node).filter(|_| !is_block),
            of: context.of,
            access: context.access,
            attributes,
        },
    );
}

/// What stands within the braces of a function, or within those of the `try` that it consists of.
fn body(node: Node<'_>) -> Option<Bytes> {
    let mut body = node.child_by_field_name("body");
    if body.is_none() {
        // A constructor's is no field.
        let mut cursor = node.walk();
        body = node.named_children(&mut cursor).find(|child| child.kind().ends_with("try_statement"));
    }
    let mut body = body?;
    if body.kind().ends_with("try_statement") {
        body = body.child_by_field_name("body")?;
    }
    let Bytes { first, end } = bytes_of(body);
    (body.kind() == "compound_statement" && first + 2 <= end)
        .then_some(Bytes { first: first + 1, end: end - 1 })
}

/// `std::execution::parallel_policy()` is not longer.
const LONGEST_POLICY: usize = 40;

fn call(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(callee) = node.child_by_field_name("function") else { return };
    let (name, at, kind) = match callee.kind() {
        "identifier" | "qualified_identifier" | "template_function" => {
            let (name, at) = path(walk, callee);
            (name, at, CallKind::Direct)
        }
        "field_expression" => match callee.child_by_field_name("field") {
            Some(field) => {
                let (name, at) = path(walk, field);
                (name, at, CallKind::Member)
            }
            None => (String::new(), callee, CallKind::Unknown),
        },
        // It makes a number of another type, or hands on what it is given.
        "primitive_type" | "sized_type_specifier" | "decltype" => return,
        _ => (String::new(), callee, CallKind::Unknown),
    };
    walk.call(&name, kind, line(at));
    if kind != CallKind::Direct {
        return;
    }
    let policy = || {
        let first = node.child_by_field_name("arguments")?.named_child(0)?;
        let text = walk.bytes(first);
        // Calls in arguments of calls: only the start is looked at, or else nests would be looked at from each level.
        let start = String::from_utf8_lossy(&text[..text.len().min(LONGEST_POLICY)]);
        let is_parallel = start.contains("execution::par");
        is_parallel.then_some(Model::Std)
    };
    let lines = walk.lines(node);
    if name == "_Pragma" {
        let arguments = node.child_by_field_name("arguments").map(|it| walk.str(it).into_owned());
        let text = arguments.unwrap_or_default();
        let text = text.trim_matches(|c| matches!(c, '(' | ')' | '"' | ' '));
        if let Some((model, words)) = constructs::of_directive(text) {
            walk.construct(model, &words, lines);
        }
    } else if let Some(model) = constructs::of_call(&name).or_else(policy) {
        walk.construct(model, &name, lines);
    }
}

fn directive(walk: &mut Walk<'_>, node: Node<'_>) {
    let directive = node.child_by_field_name("directive").map(|it| walk.str(it).into_owned());
    if directive.is_none_or(|it| !it.ends_with("pragma")) {
        return;
    }
    let Some(argument) = node.child_by_field_name("argument") else { return };
    if let Some((model, words)) = constructs::of_directive(&walk.str(argument)) {
        let lines = walk.lines(node);
        walk.construct(model, &words, lines);
        if !constructs::stands_alone(&words) {
            walk.govern_next();
        }
    }
}
